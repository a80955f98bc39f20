; PHP: functions, classes and their kin, members, constants; a namespace lends no name (nobody writes it out).

(function_definition
  name: (name) @name
  parameters: (formal_parameters) @parameters
  return_type: (_)? @return
  body: (compound_statement) @body) @function

(method_declaration
  name: (name) @name
  parameters: (formal_parameters) @parameters
  return_type: (_)? @return
  body: (compound_statement)? @body) @method

; $format = function (…) { … };
(expression_statement
  (assignment_expression
    left: (variable_name (name) @name)
    right: (anonymous_function
      parameters: (formal_parameters) @parameters
      return_type: (_)? @return
      body: (_) @body))) @function
(expression_statement
  (assignment_expression
    left: (variable_name (name) @name)
    right: (arrow_function
      parameters: (formal_parameters) @parameters
      return_type: (_)? @return))) @function

(class_declaration name: (name) @name body: (declaration_list) @body) @class
(class_declaration name: (name) @name (base_clause (_) @extends)) @class
(class_declaration name: (name) @name (class_interface_clause (_) @extends)) @class
(class_declaration
  name: (name) @name
  body: (declaration_list (use_declaration [(name) (qualified_name)] @extends))) @class
(interface_declaration name: (name) @name body: (declaration_list) @body) @class
(interface_declaration name: (name) @name (base_clause (_) @extends)) @class
(trait_declaration name: (name) @name body: (declaration_list) @body) @class
(enum_declaration name: (name) @name body: (enum_declaration_list) @body) @class
(enum_declaration name: (name) @name (class_interface_clause (_) @extends)) @class

(enum_case name: (name) @name) @constant
(const_declaration (const_element . (name) @name)) @constant
(property_declaration (property_element name: (variable_name (name) @name))) @constant
; A constructor's promoted parameters are part of the constructor.

((expression_statement
  (function_call_expression
    function: (name) @_function
    arguments: (arguments . (argument (string) @name)))) @constant
  (#eq? @_function "define"))
(program
  (expression_statement
    (assignment_expression left: [(variable_name (name) @name) (list_literal) @names])) @constant)

(comment) @comment
(attribute_list) @attribute

(namespace_use_declaration) @import
(include_expression) @import
(include_once_expression) @import
(require_expression) @import
(require_once_expression) @import

(function_call_expression function: (name) @call)
(function_call_expression function: (qualified_name (name) @call))
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression (name) @call)
(object_creation_expression (qualified_name (name) @call))

(assignment_expression left: (variable_name (name) @variable))
(foreach_statement (variable_name (name) @variable))
