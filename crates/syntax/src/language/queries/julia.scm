; Julia: functions in both forms, macros, types and their fields, modules, constants, test sets.

; function f(…) … end, with a return type, with `where`, with both; a method of another module goes by its own name.
(function_definition
  (signature
    [
      (call_expression
        . [(identifier) @name (operator) @name (field_expression (identifier) @name .) (field_expression (quote_expression (operator) @name))
          (parametrized_type_expression . (identifier) @name) (parenthesized_expression (typed_expression (identifier) @name .))]
        (argument_list) @parameters)
      (typed_expression
        . (call_expression
          . [(identifier) @name (operator) @name (field_expression (identifier) @name .) (field_expression (quote_expression (operator) @name))
            (parametrized_type_expression . (identifier) @name)]
          (argument_list) @parameters)
        (_) @return .)
      (where_expression
        . (call_expression
          . [(identifier) @name (operator) @name (field_expression (identifier) @name .) (field_expression (quote_expression (operator) @name))
            (parametrized_type_expression . (identifier) @name)]
          (argument_list) @parameters))
      (where_expression
        . (typed_expression
          . (call_expression
            . [(identifier) @name (operator) @name (field_expression (identifier) @name .) (field_expression (quote_expression (operator) @name))
              (parametrized_type_expression . (identifier) @name)]
            (argument_list) @parameters)
          (_) @return .))
    ])
  (block)? @body) @function
(function_definition (signature (identifier) @name)) @function.declaration

; f(…) = …
(assignment
  . [
    (call_expression
      . [(identifier) @name (operator) @name (field_expression (identifier) @name .) (field_expression (quote_expression (operator) @name))
        (parametrized_type_expression . (identifier) @name) (parenthesized_expression (typed_expression (identifier) @name .))]
      (argument_list) @parameters)
    (typed_expression
      . (call_expression
        . [(identifier) @name (field_expression (identifier) @name .)]
        (argument_list) @parameters)
      (_) @return .)
    (where_expression
      . (call_expression
        . [(identifier) @name (field_expression (identifier) @name .) (field_expression (quote_expression (operator) @name))
          (parametrized_type_expression . (identifier) @name)]
        (argument_list) @parameters))
    (where_expression
      . (typed_expression
        . (call_expression
          . [(identifier) @name (field_expression (identifier) @name .)]
          (argument_list) @parameters)
        (_) @return .))
  ]) @function

(macro_definition
  (signature (call_expression . (identifier) @name (argument_list) @parameters))
  (block)? @body) @function
(const_statement (assignment . (identifier) @name (arrow_function_expression))) @function

(module_definition name: (identifier) @name) @class
(struct_definition
  (type_head
    [
      (identifier) @name
      (parametrized_type_expression . (identifier) @name)
      (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)] (operator) (_) @extends)
    ])
  (block)? @body) @class
(abstract_definition
  (type_head
    [
      (identifier) @name
      (parametrized_type_expression . (identifier) @name)
      (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)] (operator) (_) @extends)
    ])) @class
(primitive_definition
  (type_head
    [
      (identifier) @name
      (binary_expression . (identifier) @name (operator) (_) @extends)
    ])) @class
((macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)])) @class
  (#eq? @_macro "enum"))

(struct_definition (block (typed_expression . (identifier) @name) @constant))
(struct_definition (block (identifier) @name @constant))
(struct_definition (block (assignment . (typed_expression . (identifier) @name)) @constant))

(const_statement (assignment . [(identifier) @name (parametrized_type_expression . (identifier) @name)])) @constant
(const_statement (assignment . (typed_expression . (identifier) @name))) @constant
(const_statement (assignment . [(open_tuple) (tuple_expression)] @names)) @constant
(source_file (assignment . [(open_tuple) (tuple_expression)] @names) @constant)
(module_definition (block (assignment . [(open_tuple) (tuple_expression)] @names) @constant))
(source_file
  (assignment . [(identifier) @name (parametrized_type_expression . (identifier) @name)]) @constant)
(module_definition
  (block (assignment . [(identifier) @name (parametrized_type_expression . (identifier) @name)]) @constant))

((macrocall_expression
  (macro_identifier (identifier) @_macro)
  (macro_argument_list (string_literal) @name (compound_statement) @body)) @section.test
  (#eq? @_macro "testset"))

[(line_comment) (block_comment)] @comment
; A string before a definition documents it.
(source_file (string_literal) @comment)
(module_definition (block (string_literal) @comment))

(using_statement) @import
(import_statement) @import
((call_expression . (identifier) @_include) @import
  (#eq? @_include "include"))

(call_expression . (identifier) @call)
(call_expression . (field_expression (identifier) @call .))
(broadcast_call_expression . [(identifier) @call (field_expression (identifier) @call .)])
((binary_expression (operator) @_pipe . [(identifier) @call (field_expression (identifier) @call .)] .)
  (#any-of? @_pipe "|>" ".|>"))
((macro_identifier (identifier) @call)
  (#not-any-of? @call "test" "testset" "enum" "inline" "kwdef" "inbounds"))

(function_definition (block (assignment . (identifier) @variable)))
(compound_statement (block (assignment . (identifier) @variable)))
(local_statement (assignment . (identifier) @variable))
