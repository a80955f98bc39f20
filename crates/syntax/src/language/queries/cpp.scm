; Language: C++: functions, classes, their members with a body or a value, aliases, variables, macros.
; `template <…>` and the rest of a statement belong to the definition: such patterns widen what another names.
; Functions come in three patterns each: plain, and below one or two of `*` and `&`.

; Macros that define a function, `TEST(Suite, name) {…}` and `TEST_CASE("name") {…}`: parse as functions without a type,
; and the preparation of the text leaves at most two names in their brackets.
(function_definition
  !type
  declarator: (function_declarator
    declarator: (identifier) @_macro
    parameters: (parameter_list
      . (parameter_declaration type: (type_identifier) @parent !declarator)
      . (parameter_declaration type: (type_identifier) @name !declarator) .))
  body: (compound_statement) @body
  (#match? @_macro "^[A-Z][A-Z0-9_]*TEST|^TEST")) @function.test
(function_definition
  !type
  declarator: (function_declarator
    declarator: (identifier) @_macro
    parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name !declarator) .))
  body: (compound_statement) @body
  (#match? @_macro "^[A-Z0-9_]*TEST[A-Z0-9_]*$|^SCENARIO$")) @function.test
(function_definition
  !type
  declarator: (function_declarator
    declarator: (identifier) @_macro
    parameters: (parameter_list
      . (parameter_declaration type: (type_identifier) @parent !declarator)
      . (parameter_declaration type: (type_identifier) @name !declarator) .))
  body: (compound_statement) @body
  (#match? @_macro "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$|^BENCHMARK$")) @function
(function_definition
  !type
  declarator: (function_declarator
    declarator: (identifier) @_macro
    parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name !declarator) .))
  body: (compound_statement) @body
  (#match? @_macro "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$|^BENCHMARK$")) @function

; `class EXPORTED Name {…}` parses as a function that returns a class.
(function_definition
  type: [(class_specifier name: (_) !body) (struct_specifier name: (_) !body)]
  declarator: (identifier) @name
  body: (compound_statement) @body
  (#not-match? @name "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$")) @class
; `class LOCKABLE_MACRO OTHER_MACRO Name {…}`.
(function_definition
  type: [(class_specifier name: (_) !body) (struct_specifier name: (_) !body)]
  declarator: (identifier) @_macro
  (ERROR . (identifier) @name)
  body: (compound_statement) @body
  (#match? @_macro "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$")
  (#not-eq? @name "final")) @class

; `NAMESPACE_BEGIN_MACRO class Name {…}`.
(function_definition
  type: (type_identifier)
  declarator: (identifier) @_keyword
  (ERROR . (identifier) @name)
  body: (compound_statement) @body
  (#any-of? @_keyword "class" "struct")) @class
(function_definition
  type: (type_identifier)
  (comment) @doc
  declarator: (identifier) @_keyword
  (ERROR . (identifier) @name)
  (#any-of? @_keyword "class" "struct")) @class

; `void Lock() EXCLUSIVE_LOCK_MACRO();`: the name goes astray, the macro is no name.
(function_definition
  (ERROR
    (function_declarator
      declarator: [(identifier) (field_identifier)] @name
      parameters: (parameter_list) @parameters))
  body: (compound_statement) @body) @function
([
  (field_declaration
    (ERROR (function_declarator declarator: (field_identifier) @name parameters: (parameter_list) @parameters)))
  (declaration (ERROR (function_declarator declarator: (identifier) @name parameters: (parameter_list) @parameters)))
]) @function.declaration

; `auto name() -> type`.
(function_definition
  declarator: (function_declarator
    declarator: [
    (identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name
    (template_function name: (identifier) @name)
    (qualified_identifier) @name.last
  ]
    (trailing_return_type (_) @return))
  (#not-match? @name "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$")) @function
(function_definition
  type: (_)? @return
  declarator: (function_declarator declarator: [
    (identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name
    (template_function name: (identifier) @name)
    (qualified_identifier) @name.last
  ] parameters: (parameter_list) @parameters)
  body: (compound_statement)? @body
  (#not-any-of? @name "TEST" "BENCHMARK" "SCENARIO")
  (#not-match? @name "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$")) @function
(function_definition
  type: (_)? @return
  declarator: (_ (function_declarator declarator: [
    (identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name
    (template_function name: (identifier) @name)
    (qualified_identifier) @name.last
  ] parameters: (parameter_list) @parameters))
  body: (compound_statement)? @body
  (#not-any-of? @name "TEST" "BENCHMARK" "SCENARIO")
  (#not-match? @name "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$")) @function
(function_definition
  type: (_)? @return
  declarator: (_ (_ (function_declarator declarator: [
    (identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name
    (template_function name: (identifier) @name)
    (qualified_identifier) @name.last
  ] parameters: (parameter_list) @parameters)))
  body: (compound_statement)? @body
  (#not-any-of? @name "TEST" "BENCHMARK" "SCENARIO")
  (#not-match? @name "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$")) @function

(function_definition declarator: (operator_cast) @name body: (compound_statement)? @body) @function
(declaration declarator: (operator_cast) @name ";" @body) @function.declaration
(function_definition declarator: (qualified_identifier) @name.last body: (compound_statement) @body) @function
; `A& A::operator=(A&&) = default;`.
(declaration
  type: (_) @return
  declarator: (init_declarator declarator: [
    (function_declarator declarator: (qualified_identifier) @name.last parameters: (parameter_list) @parameters)
    (_ (function_declarator declarator: (qualified_identifier) @name.last parameters: (parameter_list) @parameters))
  ])) @function
; `A::~A() = default;` parses as an assignment.
((expression_statement
  (assignment_expression
    left: (call_expression function: (qualified_identifier) @name.last arguments: (argument_list) @parameters)
    right: (identifier) @_default)) @function
  (#any-of? @_default "default" "delete"))

; Pure virtual functions are all there is of them; other functions without a body are declarations.
(field_declaration
  type: (_) @return
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (parameter_list) @parameters)
    (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (parameter_list) @parameters))
  ]
  default_value: (number_literal) ";" @body) @function
(field_declaration
  type: (_) @return
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (parameter_list) @parameters)
    (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (parameter_list) @parameters))
    (_ (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name parameters: (parameter_list) @parameters)))
  ]
  ";" @body
  (#not-match? @name "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$")) @function.declaration
(declaration
  type: (_)? @return
  declarator: [
    (function_declarator
      declarator: [(identifier) (operator_name) (destructor_name)] @name
      parameters: (parameter_list) @parameters)
    (_ (function_declarator declarator: [(identifier) (operator_name)] @name parameters: (parameter_list) @parameters))
    (_ (_ (function_declarator declarator: [(identifier) (operator_name)] @name parameters: (parameter_list) @parameters)))
  ]
  ";" @body
  (#not-match? @name "^[A-Z][A-Z0-9]*_[A-Z0-9_]*$")) @function.declaration

(template_declaration (function_definition declarator: (function_declarator declarator: [
    (identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name
    (template_function name: (identifier) @name)
    (qualified_identifier) @name.last
  ]))) @function
(template_declaration (function_definition declarator: (_ (function_declarator declarator: [
    (identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name
    (template_function name: (identifier) @name)
    (qualified_identifier) @name.last
  ])))) @function
(template_declaration (function_definition declarator: (_ (_ (function_declarator declarator: [
    (identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name
    (template_function name: (identifier) @name)
    (qualified_identifier) @name.last
  ]))))) @function
; A member template of a class template, outside it.
(template_declaration
  (template_declaration
    (function_definition
      declarator: [
        (function_declarator declarator: (qualified_identifier) @name.last)
        (_ (function_declarator declarator: (qualified_identifier) @name.last))
      ]))) @function
(template_declaration (declaration declarator: (function_declarator declarator: (_) @name))) @function.declaration
(template_declaration (declaration declarator: (_ (function_declarator declarator: (_) @name)))) @function.declaration

; Types.
(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)] body: (field_declaration_list) @body) @class
(class_specifier
  name: (qualified_identifier) @name.last
  body: (field_declaration_list) @body) @class
(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name) (qualified_identifier) @name.last] (base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @extends) body: (field_declaration_list)) @class
(template_declaration (class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name) (qualified_identifier) @name.last] body: (field_declaration_list))) @class
([
  (declaration type: (class_specifier name: (type_identifier) @name body: (field_declaration_list)))
  (field_declaration type: (class_specifier name: (type_identifier) @name body: (field_declaration_list)))
  (type_definition type: (class_specifier name: (type_identifier) @name body: (field_declaration_list)))
]) @class
(struct_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)] body: (field_declaration_list) @body) @class
(struct_specifier
  name: (qualified_identifier) @name.last
  body: (field_declaration_list) @body) @class
(struct_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name) (qualified_identifier) @name.last] (base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @extends) body: (field_declaration_list)) @class
(template_declaration (struct_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name) (qualified_identifier) @name.last] body: (field_declaration_list))) @class
([
  (declaration type: (struct_specifier name: (type_identifier) @name body: (field_declaration_list)))
  (field_declaration type: (struct_specifier name: (type_identifier) @name body: (field_declaration_list)))
  (type_definition type: (struct_specifier name: (type_identifier) @name body: (field_declaration_list)))
]) @class
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @class
((type_definition
  type: (struct_specifier name: (type_identifier) @_tag body: (_) @body)
  declarator: (type_identifier) @name) @class
  (#not-eq? @name @_tag))
(union_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)] body: (field_declaration_list) @body) @class
(union_specifier
  name: (qualified_identifier) @name.last
  body: (field_declaration_list) @body) @class
(template_declaration (union_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name) (qualified_identifier) @name.last] body: (field_declaration_list))) @class
([
  (declaration type: (union_specifier name: (type_identifier) @name body: (field_declaration_list)))
  (field_declaration type: (union_specifier name: (type_identifier) @name body: (field_declaration_list)))
  (type_definition type: (union_specifier name: (type_identifier) @name body: (field_declaration_list)))
]) @class
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @class
((type_definition
  type: (union_specifier name: (type_identifier) @_tag body: (_) @body)
  declarator: (type_identifier) @name) @class
  (#not-eq? @name @_tag))

([
  (declaration type: (enum_specifier name: (type_identifier) @name body: (enumerator_list)))
  (field_declaration type: (enum_specifier name: (type_identifier) @name body: (enumerator_list)))
  (type_definition type: (enum_specifier name: (type_identifier) @name body: (enumerator_list)))
]) @class
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @class
(enum_specifier name: (qualified_identifier) @name.last body: (enumerator_list) @body) @class
(namespace_definition name: (_) @name body: (declaration_list)) @namespace

; `class Name;`
(declaration_list
  [(class_specifier name: (type_identifier) @name !body) (struct_specifier name: (type_identifier) @name !body)] @class.declaration)

(alias_declaration name: (type_identifier) @name ";" @body) @constant
(template_declaration (alias_declaration name: (type_identifier) @name)) @constant
(concept_definition name: (identifier) @name ";" @body) @constant
(template_declaration (concept_definition name: (identifier) @name)) @constant
(type_definition
  type: [
    (primitive_type)
    (sized_type_specifier)
    (type_identifier)
    (qualified_identifier)
    (template_type)
    (decltype)
    (dependent_type)
    (class_specifier !body)
    (struct_specifier !body)
    (union_specifier !body)
    (enum_specifier !body)
  ]
  declarator: (type_identifier) @name) @constant
; Variables; those of functions are dropped.
(declaration
  declarator: (init_declarator
    declarator: (identifier) @name
    value: (lambda_expression
      declarator: (lambda_declarator parameters: (parameter_list) @parameters)
      body: (compound_statement) @body))) @function
(declaration
  (storage_class_specifier) @_storage
  declarator: [
    (identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)
  ]
  (#eq? @_storage "extern")) @constant.declaration
(declaration declarator: (identifier) @name) @constant
(declaration
  declarator: [
    (init_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)
  ]) @constant
(declaration declarator: (init_declarator declarator: (_ (identifier) @name))) @constant
(declaration declarator: (init_declarator declarator: (_ (_ (identifier) @name)))) @constant
(declaration
  declarator: [
    (qualified_identifier) @name.last
    (init_declarator declarator: (qualified_identifier) @name.last)
    (array_declarator declarator: (qualified_identifier) @name.last)
    (init_declarator declarator: (_ (qualified_identifier) @name.last))
  ]) @constant
(template_declaration
  (declaration declarator: [(identifier) @name (init_declarator declarator: (identifier) @name)])) @constant

; Members with a value, and static ones; other fields stay in the body of their class.
(field_declaration declarator: (field_identifier) @name default_value: (_)) @constant
(field_declaration (storage_class_specifier) declarator: (field_identifier) @name) @constant
(field_declaration
  (storage_class_specifier)
  declarator: [
    (pointer_declarator declarator: (field_identifier) @name)
    (array_declarator declarator: (field_identifier) @name)
    (reference_declarator (field_identifier) @name)
  ]) @constant

(using_declaration) @import

(call_expression function: [
  (identifier) @call
  (field_expression field: [
    (field_identifier) @call
    (template_method name: (field_identifier) @call)
    (dependent_name (template_method name: (field_identifier) @call))
  ])
  (template_function name: (identifier) @call)
  (qualified_identifier) @call.last
  (parenthesized_expression [(identifier) @call (qualified_identifier) @call.last])
])
(compound_literal_expression type: [
  (type_identifier) @call
  (template_type name: (type_identifier) @call)
  (qualified_identifier) @call.last
])
(new_expression type: [
  (type_identifier) @call
  (template_type name: (type_identifier) @call)
  (qualified_identifier) @call.last
])
; `Tank t(3);`, `Tank t{3};`; inside a function, `Tank t(x);` declares no function either.
(declaration
  type: [(type_identifier) @call (template_type name: (type_identifier) @call) (qualified_identifier) @call.last]
  declarator: (init_declarator value: [(argument_list) (initializer_list)]))
(field_declaration
  type: [(type_identifier) @call (template_type name: (type_identifier) @call) (qualified_identifier) @call.last]
  default_value: (initializer_list))
(compound_statement (declaration
  type: [(type_identifier) @call (template_type name: (type_identifier) @call) (qualified_identifier) @call.last]
  declarator: (function_declarator)))

(compound_statement (declaration declarator: [
  (identifier) @variable
  (init_declarator declarator: [(identifier) @variable (_ (identifier) @variable)])
  (_ declarator: (identifier) @variable)
]))
(for_statement initializer: (declaration declarator: (init_declarator declarator: (identifier) @variable)))
(for_range_loop declarator: [(identifier) @variable (_ (identifier) @variable)])

; inherits: c_family
