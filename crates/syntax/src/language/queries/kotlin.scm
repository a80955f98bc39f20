; Language: Kotlin: functions, types, properties. A companion object's members count as the class's own.
; The grammar names no fields but the receiver; local declarations stand in `statements`.

(function_declaration
  (simple_identifier) @name
  (function_value_parameters) @parameters
  (function_body)? @body) @function
(function_declaration
  (simple_identifier) @name
  (function_value_parameters)
  . [(user_type) (nullable_type) (function_type) (parenthesized_type)] @return) @function
; Extensions belong to their receiver.
(function_declaration
  receiver: (receiver_type [
    (user_type . (type_identifier) @parent)
    (nullable_type (user_type . (type_identifier) @parent))
  ])
  (simple_identifier) @name) @function
(secondary_constructor "constructor" @name (function_value_parameters) @parameters "{"? @body) @method

(class_declaration
  (type_identifier) @name
  (primary_constructor)? @parameters
  [(class_body) (enum_class_body)]? @body) @class
(class_declaration
  (type_identifier) @name
  (delegation_specifier [
    (user_type) @extends
    (constructor_invocation . (user_type) @extends)
    (explicit_delegation . (user_type) @extends)
  ])) @class
(object_declaration (type_identifier) @name (class_body)? @body) @class
(object_declaration
  (type_identifier) @name
  (delegation_specifier [
    (user_type) @extends
    (constructor_invocation . (user_type) @extends)
    (explicit_delegation . (user_type) @extends)
  ])) @class
(enum_entry (simple_identifier) @name (class_body) @body) @class
(enum_entry (simple_identifier) @name) @constant
(class_parameter (binding_pattern_kind) (simple_identifier) @name) @constant
(type_alias (type_identifier) @name) @constant

; Properties that compute are methods or functions, others are data.
(property_declaration
  (variable_declaration (simple_identifier) @name [(user_type) (nullable_type) (function_type)]? @return)
  (getter) @body) @function
; Accessors on lines of their own stand beside their property.
([
  (source_file
    (property_declaration (variable_declaration (simple_identifier) @name [(user_type) (nullable_type) (function_type)]? @return)) @function
    . (getter (function_body) @body) @function)
  (class_body
    (property_declaration (variable_declaration (simple_identifier) @name [(user_type) (nullable_type) (function_type)]? @return)) @function
    . (getter (function_body) @body) @function)
  (class_body
    (property_declaration (variable_declaration (simple_identifier) @name)) @function
    . (setter (function_body) @body) @function)
])
([
  (source_file (property_declaration (variable_declaration (simple_identifier) @name)) @function . (getter) . (setter) @function)
  (class_body (property_declaration (variable_declaration (simple_identifier) @name)) @function . (getter) . (setter) @function)
])
([
  (source_file
    (property_declaration
      (variable_declaration (simple_identifier) @name)
      [(anonymous_function (function_value_parameters) @parameters (function_body) @body) (lambda_literal) @body]) @function)
  (class_body
    (property_declaration
      (variable_declaration (simple_identifier) @name)
      [(anonymous_function (function_value_parameters) @parameters (function_body) @body) (lambda_literal) @body]) @function)
])
([
  (source_file (property_declaration (variable_declaration (simple_identifier) @name)) @constant)
  (source_file (property_declaration (multi_variable_declaration) @names) @constant)
  (class_body (property_declaration (variable_declaration (simple_identifier) @name)) @constant)
  (enum_class_body (property_declaration (variable_declaration (simple_identifier) @name)) @constant)
])
([
  (source_file (property_declaration (variable_declaration (simple_identifier) @name)) @constant . (setter) @constant)
  (class_body (property_declaration (variable_declaration (simple_identifier) @name)) @constant . (setter) @constant)
])
(property_declaration
  receiver: (receiver_type [
    (user_type . (type_identifier) @parent)
    (nullable_type (user_type . (type_identifier) @parent))
  ])
  (variable_declaration (simple_identifier) @name)) @constant

[(line_comment) (multiline_comment)] @comment
(modifiers . (annotation) @attribute)
(modifiers (annotation) . (annotation) @attribute)

; A header may run on into the comment after it.
(import_header (identifier) @import)

(call_expression . [
  (simple_identifier) @call
  (navigation_expression (navigation_suffix (simple_identifier) @call) .)
])

(infix_expression . (_) . (simple_identifier) @call)
(callable_reference (simple_identifier) @call .)

(statements (property_declaration [
  (variable_declaration (simple_identifier) @variable)
  (multi_variable_declaration (variable_declaration (simple_identifier) @variable))
]))
(for_statement (variable_declaration (simple_identifier) @variable))
