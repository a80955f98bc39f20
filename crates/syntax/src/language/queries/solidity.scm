; Language: Solidity. Contracts, interfaces, libraries and what they declare.

(contract_declaration name: (identifier) @name body: (_) @body) @class
(contract_declaration name: (identifier) @name (inheritance_specifier ancestor: (_) @extends)) @class
(interface_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name (inheritance_specifier ancestor: (_) @extends)) @class
(library_declaration name: (identifier) @name body: (_) @body) @class
(struct_declaration name: (identifier) @name body: (_) @body) @class
(enum_declaration name: (identifier) @name body: (_) @body) @class

(function_definition name: (identifier) @name body: (_)? @body) @function
(function_definition name: (identifier) @name (parameter) @parameters) @function
; The type alone where there is one, all of `returns (…)` where there are more.
(function_definition
  name: (identifier) @name
  return_type: (return_type_definition "(" . (parameter) @return . ")")) @function
(function_definition
  name: (identifier) @name
  return_type: (return_type_definition "(" . (parameter) . ",") @return) @function

(modifier_definition name: (identifier) @name body: (_)? @body) @function
(modifier_definition name: (identifier) @name (parameter) @parameters) @function
(constructor_definition "constructor" @name body: (_) @body) @function
(constructor_definition "constructor" @name (parameter) @parameters) @function
(fallback_receive_definition ["receive" "fallback"] @name body: (_)? @body) @function
(fallback_receive_definition ["receive" "fallback"] @name (parameter name: (_)) @parameters) @function

(event_definition name: (identifier) @name) @class
(event_definition name: (identifier) @name (event_parameter) @parameters) @class
(error_declaration name: (identifier) @name) @class
(error_declaration name: (identifier) @name (error_parameter) @parameters) @class

(state_variable_declaration name: (identifier) @name) @constant
(constant_variable_declaration name: (identifier) @name) @constant
(user_defined_type_definition name: (identifier) @name) @constant
(struct_member name: (identifier) @name) @constant
(enum_value) @name @constant

(comment) @comment
(import_directive) @import

(call_expression function: (expression (identifier) @call))
(call_expression function: (expression (member_expression property: (identifier) @call)))
(call_expression
  function: (expression (struct_expression type: (expression (member_expression property: (identifier) @call)))))
(call_expression
  function: (expression (new_expression name: (type_name (user_defined_type (identifier) @call .)))))
(call_expression
  function: (expression
    (struct_expression
      type: (expression (new_expression name: (type_name (user_defined_type (identifier) @call .)))))))
(emit_statement name: (expression (identifier) @call))
(revert_statement error: (expression (identifier) @call))
(modifier_invocation (identifier) @call)

(variable_declaration name: (identifier) @variable)
