; Dart: classes, mixins, extensions, enums, functions, constructors, accessors, fields, type aliases.

; A body is the next sibling of its signature, so the two together are the unit.
(program
  (function_signature name: (identifier) @name (formal_parameter_list) @parameters) @function
  . (function_body) @function @body)
(program (getter_signature name: (identifier) @name) @function . (function_body) @function @body)
(program
  (setter_signature name: (identifier) @name (formal_parameter_list) @parameters) @function
  . (function_body) @function @body)
((method_signature
    [
      (function_signature name: (identifier) @name (formal_parameter_list) @parameters)
      (getter_signature name: (identifier) @name)
      (setter_signature name: (identifier) @name (formal_parameter_list) @parameters)
      (constructor_signature name: (identifier) @name . parameters: (_) @parameters)
      (factory_constructor_signature (identifier) @name . (formal_parameter_list) @parameters)
      (operator_signature "operator" . _ @name . (formal_parameter_list) @parameters)
    ]) @method
  . (function_body) @method @body)
(declaration
  [
    (function_signature name: (identifier) @name (formal_parameter_list) @parameters)
    (getter_signature name: (identifier) @name)
    (setter_signature name: (identifier) @name (formal_parameter_list) @parameters)
    (constructor_signature name: (identifier) @name . parameters: (_) @parameters)
    (constant_constructor_signature (identifier) @name . (formal_parameter_list) @parameters)
    (factory_constructor_signature (identifier) @name . (formal_parameter_list) @parameters)
    (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list) @parameters)
    (operator_signature "operator" . _ @name . (formal_parameter_list) @parameters)
  ]) @method

; Type arguments are siblings of their type: only a plain type is the whole return type.
(program
  (function_signature . [(type_identifier) (void_type)] @return . name: (identifier) @name) @function)
(method_signature
  (function_signature . [(type_identifier) (void_type)] @return . name: (identifier) @name)) @method
(method_signature
  (getter_signature . (type_identifier) @return . name: (identifier) @name)) @method
(declaration
  (function_signature . [(type_identifier) (void_type)] @return . name: (identifier) @name)) @method

(class_definition name: (identifier) @name body: (_) @body) @class
(class_definition name: (identifier) @name superclass: (superclass (type_identifier) @extends)) @class
(class_definition name: (identifier) @name superclass: (superclass (mixins (type_identifier) @extends))) @class
(class_definition name: (identifier) @name interfaces: (interfaces (type_identifier) @extends)) @class
(mixin_application_class (identifier) @name) @class
(mixin_declaration (mixin) . (identifier) @name (class_body) @body) @class
(mixin_declaration (mixin) . (identifier) @name (type_identifier) @extends) @class
(enum_declaration name: (identifier) @name body: (_) @body) @class
(enum_declaration name: (identifier) @name (interfaces (type_identifier) @extends)) @class
(extension_declaration name: (identifier) @name class: (type_identifier) @extends body: (_) @body) @class.extension
(extension_declaration !name class: (type_identifier) @name body: (_) @body) @class.extension
(extension_type_declaration name: (identifier) @name body: (_) @body) @class

(enum_constant name: (identifier) @name) @constant
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @constant
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @constant
; The type and `const` of a variable of the file are its siblings; they stand on its line.
(program (static_final_declaration_list (static_final_declaration . (identifier) @name)) @constant)
(program (initialized_identifier_list (initialized_identifier . (identifier) @name)) @constant)
(type_alias (type_identifier) @name . (type_parameters)? . "=") @constant
(type_alias (type_identifier) @name . (formal_parameter_list)) @constant

[(comment) (documentation_comment)] @comment
(annotation) @attribute

(import_or_export) @import
(part_directive) @import

((identifier) @call . (selector (argument_part)))
((selector (unconditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
(cascade_section (cascade_selector (identifier) @call) . (argument_part))
(new_expression [(type_identifier) (identifier)] @call . (type_arguments)? . (arguments))
(const_object_expression [(type_identifier) (identifier)] @call . (type_arguments)? . (arguments))

(local_variable_declaration (initialized_variable_definition name: (identifier) @variable))
