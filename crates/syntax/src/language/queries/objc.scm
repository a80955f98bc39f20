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

; `typedef NS_ENUM(NSInteger, Name) {…}` does not parse; the name at least.
(ERROR (macro_type_specifier (ERROR (identifier) @name))) @class
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator (block_pointer_declarator declarator: (type_identifier) @name)))) @constant

(function_definition
  type: (_) @return
  declarator: [
    (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)
    (function_declarator declarator: (parenthesized_declarator (identifier) @name) parameters: (parameter_list) @parameters)
    (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters))
    (pointer_declarator
      declarator: (pointer_declarator
        declarator: (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)))
    (function_declarator
      declarator: (parenthesized_declarator
        (pointer_declarator
          declarator: (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters))))
  ]
  body: (compound_statement) @body) @function

(declaration
  type: (_) @return
  declarator: [
    (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)
    (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters))
    (pointer_declarator
      declarator: (pointer_declarator
        declarator: (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)))
  ]
  ";" @body) @function.declaration

; Types. A typedef that names its struct anew gives both names the whole statement.
(struct_specifier name: (type_identifier) @name body: (field_declaration_list) @body) @class
(declaration type: (struct_specifier name: (type_identifier) @name body: (field_declaration_list))) @class
(type_definition type: (struct_specifier name: (type_identifier) @name body: (field_declaration_list))) @class
(type_definition type: (struct_specifier !name body: (field_declaration_list) @body) declarator: (type_identifier) @name) @class
((type_definition
  type: (struct_specifier name: (type_identifier) @_tag body: (field_declaration_list) @body)
  declarator: (type_identifier) @name) @class
  (#not-eq? @name @_tag))
(union_specifier name: (type_identifier) @name body: (field_declaration_list) @body) @class
(declaration type: (union_specifier name: (type_identifier) @name body: (field_declaration_list))) @class
(type_definition type: (union_specifier name: (type_identifier) @name body: (field_declaration_list))) @class
(type_definition type: (union_specifier !name body: (field_declaration_list) @body) declarator: (type_identifier) @name) @class
((type_definition
  type: (union_specifier name: (type_identifier) @_tag body: (field_declaration_list) @body)
  declarator: (type_identifier) @name) @class
  (#not-eq? @name @_tag))
(enum_specifier name: (type_identifier) @name body: (enumerator_list) @body) @class
(declaration type: (enum_specifier name: (type_identifier) @name body: (enumerator_list))) @class
(type_definition type: (enum_specifier name: (type_identifier) @name body: (enumerator_list))) @class
(type_definition type: (enum_specifier !name body: (enumerator_list) @body) declarator: (type_identifier) @name) @class
((type_definition
  type: (enum_specifier name: (type_identifier) @_tag body: (enumerator_list) @body)
  declarator: (type_identifier) @name) @class
  (#not-eq? @name @_tag))

(enumerator name: (identifier) @name) @constant

; `struct name;`
(translation_unit [(struct_specifier name: (_) @name !body) (union_specifier name: (_) @name !body)] @class.declaration)
(preproc_ifdef [(struct_specifier name: (_) @name !body) (union_specifier name: (_) @name !body)] @class.declaration)

(type_definition
  type: [
    (primitive_type)
    (sized_type_specifier)
    (type_identifier)
    (struct_specifier !body)
    (union_specifier !body)
    (enum_specifier !body)
    (macro_type_specifier)
  ]
  declarator: (type_identifier) @name) @constant
(type_definition declarator: (_ declarator: (type_identifier) @name)) @constant
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @constant

; Variables; those of functions are dropped.
(declaration
  (storage_class_specifier) @_storage
  declarator: [(identifier) @name (_ declarator: (identifier) @name)]
  (#eq? @_storage "extern")) @constant.declaration
(declaration declarator: (identifier) @name) @constant
(declaration declarator: (_ declarator: (identifier) @name)) @constant
(declaration declarator: (_ declarator: (_ declarator: (identifier) @name))) @constant
(declaration declarator: (init_declarator declarator: (_ declarator: (_ declarator: (identifier) @name)))) @constant
(declaration
  declarator: [
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
    (init_declarator
      declarator: (function_declarator
        declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))))
  ]) @constant

; Macros; one without a value is a switch or an include guard.
(preproc_function_def name: (identifier) @name parameters: (preproc_params) @parameters value: (_)? @body) @function
(preproc_def name: (identifier) @name value: (_)) @constant

(comment) @comment

(preproc_include) @import
(module_import) @import

(call_expression function: [
  (identifier) @call
  (field_expression field: (field_identifier) @call)
])
(message_expression receiver: (_) . method: (identifier) @call)

(compound_statement (declaration declarator: [
  (identifier) @variable
  (_ declarator: (identifier) @variable)
  (_ declarator: (_ declarator: (identifier) @variable))
]))
(for_statement (pointer_declarator declarator: (identifier) @variable))
