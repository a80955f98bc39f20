; What C and Objective-C share.

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

; Macros that define a function: `TEST_IMPL(name) {…}`. The preparation of the text leaves one name in their brackets.
(function_definition
  type: (type_identifier) @_macro
  declarator: (parenthesized_declarator (identifier) @name)
  body: (compound_statement) @body
  (#match? @_macro "^[A-Z0-9_]*TEST[A-Z0-9_]*$|^SCENARIO$|Test$|^Ensure$")) @function.test
(function_definition
  type: (type_identifier) @_macro
  declarator: (parenthesized_declarator (identifier) @name)
  body: (compound_statement) @body
  (#match? @_macro "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$|^[A-Z][a-zA-Z]*[a-z]|^DEFUN$|^BENCHMARK$")) @function
; A function without a type, or a macro that defines one, and parameters that the grammar takes for the function's end:
; `main(argc, argv) {…}`, `static char *f(a) char *a; {…}`. A semicolon after the brackets ends a call or a declaration.
(translation_unit
  (expression_statement
    (call_expression function: (identifier) @name arguments: (argument_list) @parameters)) @function
  . (compound_statement "{" @body) @function
  (#not-match? @function "\\)\\s*;$"))
(translation_unit
  (declaration
    type: (_) @return
    declarator: [
      (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)
      (pointer_declarator
        declarator: (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters))
    ]) @function
  . (compound_statement "{" @body) @function
  (#not-match? @function "\\)\\s*;$"))

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
(declaration type: (enum_specifier name: (type_identifier) @name body: (enumerator_list))) @class
(type_definition type: (enum_specifier name: (type_identifier) @name body: (enumerator_list))) @class
(type_definition type: (enum_specifier !name body: (enumerator_list) @body) declarator: (type_identifier) @name) @class
((type_definition
  type: (enum_specifier name: (type_identifier) @_tag body: (enumerator_list) @body)
  declarator: (type_identifier) @name) @class
  (#not-eq? @name @_tag))

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
  ; `typedef unsigned char uint8_t;`
  declarator: [(type_identifier) (primitive_type)] @name) @constant
; `static DEFINE_MUTEX(name);`
(declaration
  type: (type_identifier) @_macro
  declarator: (parenthesized_declarator (identifier) @name)
  (#match? @_macro "^DEFINE_|_HEAD$")) @constant
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

(call_expression function: [
  (identifier) @call
  (field_expression field: (field_identifier) @call)
  (parenthesized_expression (identifier) @call)
])

(compound_statement (declaration declarator: [
  (identifier) @variable
  (_ declarator: (identifier) @variable)
  (_ declarator: (_ declarator: (identifier) @variable))
]))

; inherits: c_family
