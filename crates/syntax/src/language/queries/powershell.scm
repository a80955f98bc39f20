; Language: PowerShell. Functions, filters, classes, enums, variables of the script, Pester tests.

(function_statement (function_name) @name.unscoped "{" @body) @function
(function_statement
  (function_name) @name.unscoped
  (function_parameter_declaration (parameter_list (script_parameter) @parameters))) @function
(function_statement
  (function_name) @name.unscoped
  (script_block (param_block (parameter_list (script_parameter) @parameters)))) @function

; Configurations of DSC.
((command
  command_name: (command_name) @_configuration
  command_elements: (command_elements
    . (command_argument_sep) . (generic_token) @name
    (array_literal_expression (unary_expression (script_block_expression) @body)))) @function
  (#match? @_configuration "^(?i:configuration)$"))

; Set-Alias ll Get-ChildItem; New-Alias -Name ll -Value Get-ChildItem
((command
  command_name: (command_name) @_alias
  command_elements: (command_elements
    . (command_argument_sep)
    . [
      (generic_token) @name
      (array_literal_expression (unary_expression (string_literal) @name))
    ])) @constant
  (#match? @_alias "^(?i:(Set|New)-Alias)$"))
((command
  command_name: (command_name) @_alias
  command_elements: (command_elements
    (command_parameter) @_parameter
    . (command_argument_sep)
    . [
      (generic_token) @name
      (array_literal_expression (unary_expression (string_literal) @name))
    ])) @constant
  (#match? @_alias "^(?i:(Set|New)-Alias)$")
  (#match? @_parameter "^(?i:-Name)$"))

(class_statement . (simple_name) @name "{" @body) @class
(class_statement . (simple_name) @name (simple_name) @extends) @class
(enum_statement . (simple_name) @name "{" @body) @class
(enum_member (simple_name) @name) @constant

(class_method_definition (simple_name) @name "{" @body) @function
(class_method_definition (type_literal) @return . (simple_name) @name) @function
(class_method_definition
  (simple_name) @name
  (class_method_parameter_list (class_method_parameter) @parameters)) @function
(class_property_definition (variable) @name) @constant

; Pester.
((command
  command_name: (command_name) @_word
  command_elements: (command_elements
    . (command_argument_sep) . (array_literal_expression (unary_expression (string_literal) @name)))) @namespace
  (#match? @_word "^(?i:Describe|Context)$"))
((command
  command_name: (command_name) @_word
  command_elements: (command_elements
    . (command_argument_sep) . (array_literal_expression (unary_expression (string_literal) @name)))) @function.test
  (#match? @_word "^(?i:It)$"))
((command
  command_name: (command_name) @_word
  command_elements: (command_elements
    . (command_argument_sep) . (array_literal_expression (unary_expression (string_literal) @name))
    (array_literal_expression (unary_expression (script_block_expression) @body)))) @function.test
  (#match? @_word "^(?i:It)$"))

; The grammar puts every expression into all levels of precedence.
(program (statement_list (pipeline
  (assignment_expression
    (left_assignment_expression
      (logical_expression (bitwise_expression (comparison_expression (additive_expression (multiplicative_expression
        (format_expression (range_expression (array_literal_expression (unary_expression
          (variable) @name))))))))))) @constant)))
(program (statement_list (pipeline
  (assignment_expression
    (left_assignment_expression
      (logical_expression (bitwise_expression (comparison_expression (additive_expression (multiplicative_expression
        (format_expression (range_expression (array_literal_expression (unary_expression
          (expression_with_unary_operator (cast_expression (unary_expression (variable) @name)))))))))))))) @constant)))

(comment) @comment

((command command_name: (command_name) @_word) @import
  (#match? @_word "^(?i:using|Import-Module)$"))
((command (command_invokation_operator) @_dot) @import
  (#match? @_dot "^\\.\\s*$"))

((command command_name: (command_name) @call)
  (#not-match? @call "^(?i:It|Describe|Context|Configuration)$"))
((command command_name: (command_name_expr [(command_name) @call (path_command_name (path_command_name_token) @call)]))
  (#not-match? @call "[\\\\/.]"))
(invokation_expression (member_name (simple_name) @call))

; Variables of blocks; those of the script are constants.
(script_block_body (statement_list (pipeline
  (assignment_expression
    (left_assignment_expression
      (logical_expression (bitwise_expression (comparison_expression (additive_expression (multiplicative_expression
        (format_expression (range_expression (array_literal_expression (unary_expression
          (variable) @variable))))))))))))))
(script_block_body (statement_list (pipeline
  (assignment_expression
    (left_assignment_expression
      (logical_expression (bitwise_expression (comparison_expression (additive_expression (multiplicative_expression
        (format_expression (range_expression (array_literal_expression (unary_expression
          (expression_with_unary_operator (cast_expression (unary_expression (variable) @variable)))))))))))))))))
(statement_block (statement_list (pipeline
  (assignment_expression
    (left_assignment_expression
      (logical_expression (bitwise_expression (comparison_expression (additive_expression (multiplicative_expression
        (format_expression (range_expression (array_literal_expression (unary_expression
          (variable) @variable))))))))))))))
(statement_block (statement_list (pipeline
  (assignment_expression
    (left_assignment_expression
      (logical_expression (bitwise_expression (comparison_expression (additive_expression (multiplicative_expression
        (format_expression (range_expression (array_literal_expression (unary_expression
          (expression_with_unary_operator (cast_expression (unary_expression (variable) @variable)))))))))))))))))
