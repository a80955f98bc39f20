; Language: JavaScript and JSX: functions and classes however they are bound, module-level names, object
; literals that hold functions, `describe` and `it` blocks.

(function_declaration
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  body: (statement_block) @body) @function
(generator_function_declaration
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  body: (statement_block) @body) @function

(class_declaration
  name: (identifier) @name
  (class_heritage (_) @extends)?
  body: (class_body) @body) @class

(method_definition
  name: (_) @name
  parameters: (formal_parameters) @parameters
  body: (statement_block) @body) @method
(field_definition
  property: (_) @name
  value: [
    (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters body: (_) @body)
  ]) @method
(field_definition property: (_) @name) @constant

(export_statement declaration: (class_declaration name: (identifier) @name)) @class
(export_statement
  "default" @name
  value: [
    (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
    (function_expression !name parameters: (formal_parameters) @parameters body: (_) @body)
    (generator_function !name parameters: (formal_parameters) @parameters body: (_) @body)
  ]) @function
(export_statement
  "default" @name
  value: (class !name (class_heritage (_) @extends)? body: (class_body) @body)) @class
; Functions and classes bound to a variable.
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters body: (_) @body)
    (generator_function parameters: (formal_parameters) @parameters body: (_) @body)
  ]) @function
; Wrapped: `const List = memo((props) => …)`.
(variable_declarator
  name: (identifier) @name
  value: (call_expression
    function: [(identifier) @_wrapper (member_expression property: (property_identifier) @_wrapper)]
    arguments: (arguments . [
      (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
      (function_expression parameters: (formal_parameters) @parameters body: (_) @body)
    ]))
  (#any-of? @_wrapper
    "memo" "forwardRef" "observer" "lazy" "debounce" "throttle" "memoize" "once" "promisify" "asyncHandler")) @function
(variable_declarator
  name: (identifier) @name
  value: (class (class_heritage (_) @extends)? body: (class_body) @body)) @class

(pair
  key: [(property_identifier) (string)] @name
  value: [
    (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters body: (_) @body)
  ]) @function

; `Owner.prototype.name = function …`, then `exports.name = …`, then `owner.name = …`.
(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @parent property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [
    (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters body: (_) @body)
  ]
  (#eq? @_prototype "prototype")) @function
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  right: [
    (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters body: (_) @body)
  ]
  (#any-of? @_exports "exports" "module.exports" "this")) @function
(assignment_expression
  left: (member_expression object: (_) @parent property: (property_identifier) @name)
  right: [
    (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters body: (_) @body)
  ]
  (#not-any-of? @parent "exports" "module.exports" "module" "this" "self" "window" "globalThis")) @function
; `module.exports = function …`.
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports) @name
  right: [
    (arrow_function parameters: (formal_parameters)? @parameters body: (_) @body)
    (function_expression parameters: (formal_parameters) @parameters body: (_) @body)
  ]
  (#eq? @_module "module") (#eq? @_exports "exports")) @function
(assignment_expression
  left: (member_expression) @name
  right: (class (class_heritage (_) @extends)? body: (class_body) @body)) @class

; A function with a name of its own, given to a call.
(arguments
  (function_expression
    name: (identifier) @name
    parameters: (formal_parameters) @parameters
    body: (_) @body) @function)

(call_expression function: [
  (identifier) @call
  (member_expression property: [(property_identifier) (private_property_identifier)] @call)
])

; inherits: ecmascript
; inherits: jsx
