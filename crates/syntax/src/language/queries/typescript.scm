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

(internal_module body: (statement_block (lexical_declaration (variable_declarator name: (identifier) @name)) @constant))
(module body: (statement_block (lexical_declaration (variable_declarator name: (identifier) @name)) @constant))

(call_expression function: [
  (identifier) @call
  (member_expression property: [(property_identifier) (private_property_identifier)] @call)
  (non_null_expression [(identifier) @call (member_expression property: (property_identifier) @call)])
])

; inherits: ecmascript
