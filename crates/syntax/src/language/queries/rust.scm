; Language: Rust: items of modules, impls and traits; `mod` lends its name.

(function_item
  name: (identifier) @name
  parameters: (parameters) @parameters
  return_type: (_)? @return
  body: (block) @body) @function

; Foreign functions are defined elsewhere, those of traits nowhere else.
(foreign_mod_item body: (declaration_list (function_signature_item name: (identifier) @name) @function.declaration))
(function_signature_item
  name: (identifier) @name
  parameters: (parameters) @parameters
  return_type: (_)? @return) @function

(struct_item name: (type_identifier) @name body: (_)? @body) @class
(union_item name: (type_identifier) @name body: (_) @body) @class
(enum_item name: (type_identifier) @name body: (_) @body) @class
(enum_variant name: (identifier) @name body: (_)? @body) @constant
(trait_item
  name: (type_identifier) @name
  bounds: (trait_bounds (_) @extends)?
  body: (_) @body) @class
(impl_item
  trait: (_)? @extends
  type: (_) @name
  body: (_) @body) @class.extension

(mod_item name: (identifier) @name body: (_)) @namespace
(macro_definition name: (identifier) @name ["{" "(" "["] @body) @function

(const_item name: (identifier) @name (#not-eq? @name "_")) @constant
(static_item name: (identifier) @name) @constant
(type_item name: (type_identifier) @name) @constant

[(line_comment) (block_comment) (line_outer_doc_comment) (block_outer_doc_comment)] @comment
(attribute_item) @attribute

(use_declaration) @import
(extern_crate_declaration) @import
(mod_item name: (identifier) !body) @import

(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (scoped_identifier name: (identifier) @call))
(call_expression function: (generic_function function: [(identifier) @call (scoped_identifier name: (identifier) @call) (field_expression field: (field_identifier) @call)]))
(call_expression function: (parenthesized_expression (identifier) @call))
; `Tank { .. }`, `Tank::new(3)`
((struct_expression name: [
  (type_identifier) @call
  (scoped_type_identifier name: (type_identifier) @call)
  (generic_type_with_turbofish type: (type_identifier) @call)
]) (#not-eq? @call "Self"))
((call_expression function: (scoped_identifier
  path: [
    (identifier) @call
    (scoped_identifier name: (identifier) @call)
    (generic_type type: (type_identifier) @call)
  ]
  name: (identifier) @_new))
  (#eq? @_new "new")
  (#not-eq? @call "Self"))
; `map(Self::parse)`
((arguments (scoped_identifier name: (identifier) @call)) (#match? @call "^[a-z_]"))
(macro_invocation macro: (identifier) @call)
; What macros are given is words alone. In attributes the outermost brackets hold no calls.
(macro_invocation (token_tree (identifier) @call . (token_tree . "(") @arguments))
(macro_rule right: (token_tree (identifier) @call . (token_tree . "(") @arguments))
(token_tree
  (token_tree (identifier) @call . (token_tree . "(") @arguments)
  (#not-any-of? @call "all" "any" "cfg" "not"))

(let_declaration pattern: (identifier) @variable)
(let_declaration pattern: (tuple_pattern) @variables)

; Conditions of compiling; one inside holds for what is around it, at the top for the whole file.
(attribute
  (identifier) @_cfg
  arguments: (token_tree) @feature
  (#eq? @_cfg "cfg")
  (#match? @feature "feature"))
((source_file (inner_attribute_item (attribute (identifier) @_cfg arguments: (token_tree) @feature))) @conditional
  (#eq? @_cfg "cfg")
  (#match? @feature "feature"))
; Of `cfg_attr` the condition alone, not the attributes behind it.
(attribute
  (identifier) @_cfg
  arguments: (token_tree (identifier) @_feature . "=" . (string_literal) @feature)
  (#eq? @_cfg "cfg_attr")
  (#eq? @_feature "feature"))
(attribute
  (identifier) @_cfg
  arguments: (token_tree (token_tree (identifier) @_feature . "=" . (string_literal) @feature))
  (#eq? @_cfg "cfg_attr")
  (#eq? @_feature "feature"))
