; Language: GraphQL. Types with their fields and values, directives, operations, fragments.

(schema_definition "schema" @name "{" @body) @class
(object_type_definition (name) @name (fields_definition)? @body) @class
(interface_type_definition (name) @name (fields_definition)? @body) @class
(input_object_type_definition (name) @name (input_fields_definition)? @body) @class
(enum_type_definition (name) @name (enum_values_definition)? @body) @class
(union_type_definition (name) @name) @class
(scalar_type_definition (name) @name) @class

(object_type_extension (name) @name (fields_definition)? @body) @class.extension
(interface_type_extension (name) @name (fields_definition)? @body) @class.extension
(input_object_type_extension (name) @name (input_fields_definition)? @body) @class.extension
(enum_type_extension (name) @name (enum_values_definition)? @body) @class.extension
(union_type_extension (name) @name) @class.extension
(scalar_type_extension (name) @name) @class.extension

; `A & B & C` nests to the left.
(object_type_definition
  (name) @name
  (implements_interfaces (implements_interfaces (implements_interfaces (named_type) @extends)))) @class
(object_type_definition (name) @name (implements_interfaces (implements_interfaces (named_type) @extends))) @class
(object_type_definition (name) @name (implements_interfaces (named_type) @extends)) @class
(interface_type_definition (name) @name (implements_interfaces (named_type) @extends)) @class

(field_definition (name) @name (arguments_definition)? @parameters (type) @return) @constant
(input_fields_definition (input_value_definition (name) @name (type) @return) @constant)
(enum_value_definition (enum_value) @name) @constant

(directive_definition (name) @name (arguments_definition)? @parameters) @function

(operation_definition
  (name) @name
  (variable_definitions)? @parameters
  (selection_set) @body) @function
(fragment_definition
  (fragment_name) @name
  (type_condition (named_type) @extends)
  (selection_set) @body) @section

(comment) @comment
; A description stands first in what it describes.
(description) @comment

(fragment_spread (fragment_name) @call)
