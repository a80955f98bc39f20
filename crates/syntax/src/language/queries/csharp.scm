; Language: C#: types, methods, constructors, operators, properties, events, fields, enum members.
; Namespaces lend no name: most files would only repeat their folder.

(class_declaration name: (identifier) @name body: (declaration_list)? @body) @class
(class_declaration name: (identifier) @name (base_list [(identifier) (generic_name) (qualified_name)] @extends)) @class
(struct_declaration name: (identifier) @name body: (declaration_list)? @body) @class
(struct_declaration name: (identifier) @name (base_list [(identifier) (generic_name) (qualified_name)] @extends)) @class
(interface_declaration name: (identifier) @name body: (declaration_list)? @body) @class
(interface_declaration name: (identifier) @name (base_list [(identifier) (generic_name) (qualified_name)] @extends)) @class
(record_declaration name: (identifier) @name (parameter_list)? @parameters body: (declaration_list)? @body) @class
(record_declaration
  name: (identifier) @name
  (base_list [
    (identifier) @extends
    (generic_name) @extends
    (qualified_name) @extends
    (primary_constructor_base_type type: (_) @extends)
  ])) @class
(class_declaration name: (identifier) @name (parameter_list) @parameters) @class
(struct_declaration name: (identifier) @name (parameter_list) @parameters) @class
(enum_declaration name: (identifier) @name body: (enum_member_declaration_list) @body) @class
(enum_member_declaration name: (identifier) @name) @constant
(delegate_declaration
  type: (_) @return
  name: (identifier) @name
  parameters: (parameter_list) @parameters
  ";" @body) @constant

(method_declaration
  returns: (_) @return
  name: (identifier) @name
  parameters: (parameter_list) @parameters
  body: (_)? @body) @method
(constructor_declaration
  name: (identifier) @name
  parameters: (parameter_list) @parameters
  body: (_)? @body) @method
(destructor_declaration name: (identifier) @name body: (_)? @body) @method
(operator_declaration
  type: (_) @return
  "operator" @name
  operator: _ @name.end
  parameters: (parameter_list) @parameters
  body: (_)? @body) @method
(conversion_operator_declaration
  "operator" @name
  type: (_) @name.end
  parameters: (parameter_list) @parameters
  body: (_)? @body) @method
(indexer_declaration
  type: (_) @return
  "this" @name
  parameters: (bracketed_parameter_list)
  accessors: (accessor_list)? @body) @method
; Functions of a script or of top-level statements.
(global_statement
  (local_function_statement
    type: (_) @return
    name: (identifier) @name
    parameters: (parameter_list) @parameters
    body: (_) @body)) @function

; Properties that compute are methods, others are data.
(property_declaration type: (_) @return name: (identifier) @name value: (arrow_expression_clause) @body) @method
(property_declaration
  type: (_) @return
  name: (identifier) @name
  accessors: (accessor_list (accessor_declaration body: (_))) @body) @method
(property_declaration type: (_) @return name: (identifier) @name) @constant
(event_declaration name: (identifier) @name accessors: (accessor_list) @body) @method
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @constant
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @constant

(comment) @comment
(attribute_list) @attribute

(using_directive) @import

(invocation_expression function: [
  (identifier) @call
  (parenthesized_expression (identifier) @call)
  (generic_name (identifier) @call)
  (member_access_expression name: [(identifier) @call (generic_name (identifier) @call)])
  (conditional_access_expression (member_binding_expression name: [(identifier) @call (generic_name (identifier) @call)]))
])
(object_creation_expression type: [
  (identifier) @call
  (generic_name (identifier) @call)
  (qualified_name name: (identifier) @call)
])

(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @variable)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @variable)))
(local_declaration_statement (variable_declaration (variable_declarator (tuple_pattern) @variables)))
(expression_statement (assignment_expression left: (tuple_expression (argument (declaration_expression name: (identifier) @variable)))))
(foreach_statement left: (identifier) @variable)
(foreach_statement left: (tuple_pattern) @variables)

; Conditions of compiling, each for its own branch.
(preproc_if condition: (_) @feature alternative: (_)? @otherwise) @conditional
(preproc_elif condition: (_) @feature alternative: (_)? @otherwise) @conditional
