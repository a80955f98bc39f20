; Language: Java: types, methods and constructors, fields, enum constants. Annotations stand among the modifiers.

(class_declaration name: (identifier) @name body: (class_body) @body) @class
(class_declaration name: (identifier) @name superclass: (superclass (_) @extends)) @class
(class_declaration name: (identifier) @name interfaces: (super_interfaces (type_list (_) @extends))) @class
(interface_declaration name: (identifier) @name body: (interface_body) @body) @class
(interface_declaration name: (identifier) @name (extends_interfaces (type_list (_) @extends))) @class
(enum_declaration name: (identifier) @name body: (enum_body) @body) @class
(enum_declaration name: (identifier) @name interfaces: (super_interfaces (type_list (_) @extends))) @class
(record_declaration
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  body: (class_body) @body) @class
(record_declaration name: (identifier) @name interfaces: (super_interfaces (type_list (_) @extends))) @class
(annotation_type_declaration name: (identifier) @name body: (annotation_type_body) @body) @class

(method_declaration
  type: (_) @return
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  body: (block)? @body) @method
(constructor_declaration
  name: (identifier) @name
  parameters: (formal_parameters) @parameters
  body: (constructor_body) @body) @method
(compact_constructor_declaration name: (identifier) @name body: (block) @body) @method
(annotation_type_element_declaration type: (_) @return name: (identifier) @name) @method

(field_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
; A constant with a body of its own holds methods.
(enum_constant name: (identifier) @name body: (class_body) @body) @class
(enum_constant name: (identifier) @name) @constant

[(line_comment) (block_comment)] @comment
(modifiers . [(annotation) (marker_annotation)] @attribute)
(modifiers [(annotation) (marker_annotation)] . [(annotation) (marker_annotation)] @attribute)

(import_declaration) @import

(method_invocation name: (identifier) @call)
(object_creation_expression type: [
  (type_identifier) @call
  (generic_type (type_identifier) @call)
  (scoped_type_identifier (type_identifier) @call .)
])
(method_reference (identifier) @call .)
(method_reference . [(identifier) (type_identifier)] @call "new")

(local_variable_declaration declarator: (variable_declarator name: (identifier) @variable))
(enhanced_for_statement name: (identifier) @variable)
(resource name: (identifier) @variable)
