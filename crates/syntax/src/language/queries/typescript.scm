; Language: TypeScript: what `javascript.scm` takes, plus types, signatures, enums and namespaces.

(function_declaration
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  return_type: (_ (_) @return)?
  body: (statement_block) @body) @function
(generator_function_declaration
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  return_type: (_ (_) @return)?
  body: (statement_block) @body) @function

(class_declaration name: (type_identifier) @name body: (class_body) @body) @class
(abstract_class_declaration name: (type_identifier) @name body: (class_body) @body) @class
; Bases, one match each.
(class_declaration name: (type_identifier) @name (class_heritage (extends_clause value: (_) @extends))) @class
(class_declaration name: (type_identifier) @name (class_heritage (implements_clause (_) @extends))) @class
(abstract_class_declaration name: (type_identifier) @name (class_heritage (extends_clause value: (_) @extends))) @class
(abstract_class_declaration name: (type_identifier) @name (class_heritage (implements_clause (_) @extends))) @class

(interface_declaration name: (type_identifier) @name body: (interface_body) @body) @class
(interface_declaration name: (type_identifier) @name (extends_type_clause type: (_) @extends)) @class
(enum_declaration name: (identifier) @name body: (enum_body) @body) @class
(enum_assignment name: (_) @name) @constant
(enum_body name: (property_identifier) @name @constant)
; A type alias for an object type is as good as an interface.
(type_alias_declaration name: (type_identifier) @name value: (object_type) @body) @class
(type_alias_declaration name: (type_identifier) @name) @constant
(internal_module name: (_) @name) @namespace
(module name: (_) @name) @namespace

; Signatures: overloads, ambient functions, members of interfaces.
(function_signature
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  return_type: (_ (_) @return)?) @function.declaration
(method_signature
  name: (_) @name
  parameters: (formal_parameters) @parameters
  return_type: (_ (_) @return)?) @method
(abstract_method_signature
  name: (_) @name
  parameters: (formal_parameters) @parameters
  return_type: (_ (_) @return)?) @method
(interface_body
  (property_signature
    name: (_) @name
    type: (type_annotation
      (function_type parameters: (formal_parameters) @parameters return_type: (_) @return))) @method)
(interface_body (property_signature name: (_) @name) @constant)
(type_alias_declaration
  value: (object_type
    (property_signature
      name: (_) @name
      type: (type_annotation
        (function_type parameters: (formal_parameters) @parameters return_type: (_) @return))) @method))
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @constant))

(method_definition
  name: (_) @name
  parameters: (formal_parameters) @parameters
  return_type: (_ (_) @return)?
  body: (statement_block) @body) @method
(public_field_definition
  name: (_) @name
  value: [
    (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
  ]) @method
(public_field_definition name: (_) @name) @constant

; Exported declarations.
(export_statement declaration: (function_declaration name: (identifier) @name)) @function
(export_statement declaration: (generator_function_declaration name: (identifier) @name)) @function
(export_statement declaration: (class_declaration name: (type_identifier) @name)) @class
(export_statement declaration: (abstract_class_declaration name: (type_identifier) @name)) @class
(export_statement declaration: (interface_declaration name: (type_identifier) @name)) @class
(export_statement declaration: (enum_declaration name: (identifier) @name)) @class
(export_statement declaration: (type_alias_declaration name: (type_identifier) @name)) @constant
(export_statement declaration: (function_signature name: (identifier) @name)) @function.declaration
(ambient_declaration (function_signature name: (identifier) @name)) @function.declaration
(ambient_declaration (class_declaration name: (type_identifier) @name)) @class
(ambient_declaration (abstract_class_declaration name: (type_identifier) @name)) @class
(ambient_declaration (enum_declaration name: (identifier) @name)) @class
(ambient_declaration
  [
    (lexical_declaration (variable_declarator name: (identifier) @name))
    (variable_declaration (variable_declarator name: (identifier) @name))
  ]) @constant
(export_statement
  "default" @name
  value: [
    (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
    (function_expression !name parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
    (generator_function !name parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
  ]) @function
(export_statement
  "default" @name
  value: (class !name (class_heritage (extends_clause value: (_) @extends))? body: (class_body) @body)) @class
(export_statement
  "default" @name
  value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])])) @class
(export_statement
  "default" @name
  value: (call_expression
    arguments: (arguments (object [(method_definition) (pair value: [(arrow_function) (function_expression)])])))) @class
(export_statement "default" @name value: [(object) (array) (call_expression) (new_expression)]) @constant

; Functions and classes bound to a variable.
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
    (generator_function parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
  ]) @function
; Wrapped: `const List = memo((props) => …)`.
(variable_declarator
  name: (identifier) @name
  value: (call_expression
    function: [(identifier) @_wrapper (member_expression property: (property_identifier) @_wrapper)]
    arguments: (arguments . [
      (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
      (function_expression parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
    ]))
  (#any-of? @_wrapper
    "memo" "forwardRef" "observer" "lazy" "debounce" "throttle" "memoize" "once" "promisify" "asyncHandler")) @function
(variable_declarator
  name: (identifier) @name
  value: (class (class_heritage (extends_clause value: (_) @extends))? body: (class_body) @body)) @class
; The whole statement, where it binds one name.
([
  (lexical_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) .)
  (variable_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) .)
]) @function

; Object literals that hold functions.
(program
  [
    (lexical_declaration
      (variable_declarator
        name: (identifier) @name
        value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body) @class)
    (variable_declaration
      (variable_declarator
        name: (identifier) @name
        value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body) @class)
  ])
(export_statement
  declaration: (lexical_declaration
    (variable_declarator
      name: (identifier) @name
      value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body) @class))
(program
  (expression_statement
    (assignment_expression
      left: (member_expression) @name
      right: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body)) @class)
(pair
  key: [(property_identifier) (string)] @name
  value: [
    (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
  ]) @function

; `Owner.prototype.name = function …`, then `exports.name = …`, then `owner.name = …`.
(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @parent property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [
    (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
  ]
  (#eq? @_prototype "prototype")) @function
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  right: [
    (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
  ]
  (#any-of? @_exports "exports" "module.exports" "this")) @function
(assignment_expression
  left: (member_expression object: (_) @parent property: (property_identifier) @name)
  right: [
    (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
  ]
  (#not-any-of? @parent "exports" "module.exports" "module" "this" "self" "window" "globalThis")) @function
; `module.exports = function …`.
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports) @name
  right: [
    (arrow_function parameters: (formal_parameters)? @parameters return_type: (_ (_) @return)? body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters return_type: (_ (_) @return)? body: (_) @body)
  ]
  (#eq? @_module "module") (#eq? @_exports "exports")) @function
(assignment_expression
  left: (member_expression) @name
  right: (class (class_heritage (extends_clause value: (_) @extends))? body: (class_body) @body)) @class
; `req.get = req.header = function …`: both names.
(assignment_expression
  left: (member_expression object: (_) @parent property: (property_identifier) @name)
  right: (assignment_expression right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (#not-any-of? @parent "exports" "module.exports" "module")) @function
(assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: (assignment_expression right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (#eq? @_exports "exports")) @function
(assignment_expression
  right: (assignment_expression
    left: (member_expression property: (property_identifier) @name)
    right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function
(program (expression_statement (assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)])) @function)
(program
  (expression_statement
    (assignment_expression left: [(member_expression) (identifier)] @name right: [(object) (array) (string) (number) (template_string) (call_expression) (new_expression)])) @constant)

; A function with a name of its own, given to a call.
(arguments
  (function_expression
    name: (identifier) @name
    parameters: (formal_parameters) @parameters
    return_type: (_ (_) @return)?
    body: (_) @body) @function)

; `… as const`, `… satisfies Handlers`.
(export_statement
  declaration: (lexical_declaration
    (variable_declarator
      name: (identifier) @name
      value: [
        (as_expression . (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body)
        (satisfies_expression . (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body)
      ]) @class))
(variable_declarator
  name: (identifier) @name
  value: [
    (as_expression . (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body))
    (satisfies_expression . (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body))
  ]) @function

; Module-level names. One statement may bind several; what `require` gives is an import.
(program
  [
    (lexical_declaration (variable_declarator name: (identifier) @name value: (_)? @_value) @constant)
    (variable_declaration (variable_declarator name: (identifier) @name value: (_)? @_value) @constant)
  ]
  (#not-match? @_value "^require\\("))
(program
  [
    (lexical_declaration . (variable_declarator name: (identifier) @name value: (_)? @_value) .)
    (variable_declaration . (variable_declarator name: (identifier) @name value: (_)? @_value) .)
  ] @constant
  (#not-match? @_value "^require\\("))
(export_statement
  declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @constant))
(export_statement
  declaration: (lexical_declaration . (variable_declarator name: (identifier) @name) .)) @constant
(export_statement
  declaration: (lexical_declaration
    (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name)))) @constant

(internal_module body: (statement_block (lexical_declaration (variable_declarator name: (identifier) @name)) @constant))
(module body: (statement_block (lexical_declaration (variable_declarator name: (identifier) @name)) @constant))

; `describe("…", () => …)` holds tests; `it.each(table)("…", …)` is one.
(expression_statement
  (call_expression
    function: [
      (identifier) @_suite
      (member_expression object: (identifier) @_suite)
      (call_expression function: (member_expression object: (identifier) @_suite))
    ]
    arguments: (arguments . [(string) (template_string)] @name [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (#any-of? @_suite "describe" "suite" "context")) @section.test
(expression_statement
  (call_expression
    function: [
      (identifier) @_test
      (member_expression object: (identifier) @_test)
      (call_expression function: (member_expression object: (identifier) @_test))
    ]
    arguments: (arguments . [(string) (template_string)] @name [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (#any-of? @_test "it" "test" "specify")) @function.test

(comment) @comment
(decorator) @attribute

(import_statement) @import
(export_statement source: (string)) @import
([
  (lexical_declaration (variable_declarator value: (call_expression function: (identifier) @_require)))
  (variable_declaration (variable_declarator value: (call_expression function: (identifier) @_require)))
] @import
  (#eq? @_require "require"))

(call_expression function: [
  (identifier) @call
  (member_expression property: [(property_identifier) (private_property_identifier)] @call)
  (non_null_expression [(identifier) @call (member_expression property: (property_identifier) @call)])
])
(new_expression constructor: [
  (identifier) @call
  (member_expression property: (property_identifier) @call)
])
(statement_block [
  (lexical_declaration (variable_declarator name: (identifier) @variable))
  (variable_declaration (variable_declarator name: (identifier) @variable))
])
