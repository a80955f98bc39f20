; Language: Go: functions, methods by receiver, types, package-level constants and variables.
; Struct fields stay in their struct's body.

(function_declaration
  name: (identifier) @name
  parameters: (parameter_list) @parameters
  result: (_)? @return
  body: (block)? @body) @function

(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @parent
        (generic_type type: (type_identifier) @parent)
        (pointer_type [(type_identifier) @parent (generic_type type: (type_identifier) @parent)])
      ]))
  name: (field_identifier) @name
  parameters: (parameter_list) @parameters
  result: (_)? @return
  body: (block)? @body) @method

(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @class
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @class
(type_spec name: (type_identifier) @name) @constant
(type_alias name: (type_identifier) @name) @constant
; The whole statement, where it declares one type.
(type_declaration . [(type_spec name: (type_identifier) @name) (type_alias name: (type_identifier) @name)] .) @constant

; Embedded types.
(type_spec
  name: (type_identifier) @name
  type: (struct_type (field_declaration_list (field_declaration !name type: (_) @extends)))) @class
(type_spec
  name: (type_identifier) @name
  type: (interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @extends .))) @class

(interface_type
  (method_elem
    name: (field_identifier) @name
    parameters: (parameter_list) @parameters
    result: (_)? @return) @method)

(var_spec
  name: (identifier) @name
  value: (expression_list .
    (func_literal parameters: (parameter_list) @parameters result: (_)? @return body: (block) @body))) @function
; `A, B = 1, 2`: the grammar names only the first.
(const_spec (identifier) @name (#not-eq? @name "_")) @constant
(var_spec name: (identifier) @name (#not-eq? @name "_")) @constant
((const_declaration . (const_spec (identifier) @name) .) @constant (#not-eq? @name "_"))
((var_declaration . (var_spec name: (identifier) @name) .) @constant (#not-eq? @name "_"))

(comment) @comment

(import_spec) @import

(call_expression function: [
  (identifier) @call
  (selector_expression field: (field_identifier) @call)
  (index_expression operand: [(identifier) @call (selector_expression field: (field_identifier) @call)])
  (parenthesized_expression [(identifier) @call (selector_expression field: (field_identifier) @call)])
])
(composite_literal type: [
  (type_identifier) @call
  (qualified_type name: (type_identifier) @call)
  (generic_type type: [(type_identifier) @call (qualified_type name: (type_identifier) @call)])
])
; `Map[int](1)`: without types, a call of one value looks like a conversion to a generic type.
(type_conversion_expression type: (generic_type type: [
  (type_identifier) @call
  (qualified_type name: (type_identifier) @call)
]))

(short_var_declaration left: (expression_list (identifier) @variable))
(range_clause left: (expression_list (identifier) @variable))
(statement_list (var_declaration (var_spec name: (identifier) @variable)))

; Build tags hold for the whole file.
((source_file (comment) @feature) @conditional (#match? @feature "^//(go:build|\\s*\\+build) "))
