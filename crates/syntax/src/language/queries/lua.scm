; Lua: functions however they are assigned, tables that hold functions, the variables of the file.

(function_declaration
  name: (identifier) @name
  parameters: (parameters) @parameters
  body: (block)? @body) @function
(function_declaration
  name: (dot_index_expression table: (_) @parent field: (identifier) @name)
  parameters: (parameters) @parameters
  body: (block)? @body) @function
(function_declaration
  name: (method_index_expression table: (_) @parent method: (identifier) @name)
  parameters: (parameters) @parameters
  body: (block)? @body) @function

; local trim = function(…) … end, with `local` and without
(variable_declaration
  (assignment_statement
    (variable_list . name: (identifier) @name)
    (expression_list . value: (function_definition)))) @function
(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition
    parameters: (parameters) @parameters
    body: (block)? @body))) @function
; M.trim = function(…) … end
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @parent field: (identifier) @name))
  (expression_list . value: (function_definition
    parameters: (parameters) @parameters
    body: (block)? @body))) @function
; M["trim"] = function(…) … end
(assignment_statement
  (variable_list
    . name: (bracket_index_expression table: (_) @parent field: (string content: (string_content) @name)))
  (expression_list . value: (function_definition
    parameters: (parameters) @parameters
    body: (block)? @body))) @function
; { trim = function(…) … end }
(field
  name: (identifier) @name
  value: (function_definition parameters: (parameters) @parameters body: (block)? @body)) @function
(field
  name: (string content: (string_content) @name)
  value: (function_definition parameters: (parameters) @parameters body: (block)? @body)) @function

; A table with functions in it.
(variable_declaration
  (assignment_statement
    (variable_list . name: (identifier) @name)
    (expression_list . value: (table_constructor (field value: (function_definition)))))) @class
(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (table_constructor (field value: (function_definition))))) @class
(field name: (identifier) @name value: (table_constructor (field value: (function_definition)))) @class
(variable_declaration
  (assignment_statement
    (variable_list . name: (identifier) @name)
    (expression_list
      . value: (table_constructor (field value: (table_constructor (field value: (function_definition)))))))) @class
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @parent field: (identifier) @name))
  (expression_list . value: (table_constructor (field value: (function_definition))))) @class

; busted
((function_call
  name: (identifier) @_function
  arguments: (arguments . (string content: (string_content) @name) . (function_definition) @body)) @section.test
  (#any-of? @_function "describe" "context" "insulate"))
((function_call
  name: (identifier) @_function
  arguments: (arguments . (string content: (string_content) @name) . (function_definition) @body)) @function.test
  (#any-of? @_function "it" "test"))

; What `require` gives is an import.
((chunk
  (variable_declaration
    (assignment_statement
      (variable_list name: (identifier) @name)
      (expression_list . (_) @_value))) @constant)
  (#not-match? @_value "^require\\b"))
; Luau: `type Name = …`, `export type Name = …`.
((assignment_statement (variable_list . name: (identifier) @_type) . (ERROR . (identifier) @name)) @constant
  (#eq? @_type "type"))
((assignment_statement
  (variable_list . name: (identifier) @_export)
  . (ERROR . (identifier) @_type . (identifier) @name)) @constant
  (#eq? @_export "export")
  (#eq? @_type "type"))
(chunk (assignment_statement (variable_list name: (identifier) @name) . "=") @constant)
(chunk
  (assignment_statement
    (variable_list name: (dot_index_expression table: (_) @parent field: (identifier) @name))) @constant)

(comment) @comment

((function_call name: (identifier) @_function) @import
  (#eq? @_function "require"))

((function_call name: (identifier) @call)
  (#not-any-of? @call "require" "describe" "it"))
(function_call name: (parenthesized_expression (identifier) @call))
(function_call name: (dot_index_expression field: (identifier) @call))
(function_call name: (method_index_expression method: (identifier) @call))

(block (variable_declaration (assignment_statement (variable_list name: (identifier) @variable))))
