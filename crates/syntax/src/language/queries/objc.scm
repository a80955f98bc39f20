; Language: Objective-C: what `c.scm` takes, plus interfaces, categories, protocols, their methods and properties.
; A method goes by the first part of its selector.

(class_interface "@interface" . (identifier) @name superclass: (_) @extends) @class
(class_interface
  "@interface" . (identifier) @name
  superclass: (_)
  . (parameterized_arguments (type_name (type_identifier) @extends))) @class
(class_interface "@interface" . (identifier) @name category: (_)) @class.extension
; `@interface Name ()`.
(class_interface "@interface" . (identifier) @name !superclass !category) @class.extension
(protocol_declaration
  "@protocol" . (identifier) @name
  (protocol_reference_list (identifier) @extends)?) @class
(class_implementation "@implementation" . (identifier) @name) @class.extension

(method_definition
  (method_type (type_name) @return)
  . (identifier) @name
  (compound_statement) @body) @method
(method_definition (method_type) . (identifier) @name (method_parameter) @parameters) @method
; What an interface announces, its implementation defines; protocols have nothing but this.
(class_interface
  (method_declaration (method_type (type_name) @return) . (identifier) @name ";" @body) @method.declaration)
(class_interface (method_declaration (method_type) . (identifier) @name (method_parameter) @parameters) @method.declaration)
(method_declaration (method_type (type_name) @return) . (identifier) @name ";" @body) @method
(method_declaration (method_type) . (identifier) @name (method_parameter) @parameters) @method

(property_declaration
  (struct_declaration
    (struct_declarator [
      (identifier) @name
      (pointer_declarator declarator: (identifier) @name)
      (function_declarator
        declarator: (parenthesized_declarator (block_pointer_declarator declarator: (identifier) @name)))
    ]))) @constant

(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator (block_pointer_declarator declarator: (type_identifier) @name)))) @constant

(module_import) @import

(message_expression receiver: (_) . method: (identifier) @call)

(for_statement (pointer_declarator declarator: (identifier) @variable))

; inherits: c_base
