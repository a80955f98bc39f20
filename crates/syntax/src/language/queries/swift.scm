; Swift: types, extensions, functions, initializers, subscripts, properties, enum cases, macros.

; The return type is a `name:` here too; the name is what follows `func`, an operator's included.
(function_declaration "func" . name: _ @name body: (_) @body) @function
(function_declaration "func" . name: _ @name (parameter) @parameters) @function
(function_declaration "func" . name: _ @name "->" . (_) @return) @function

(protocol_function_declaration "func" . name: _ @name) @function
(protocol_function_declaration "func" . name: _ @name (parameter) @parameters) @function
(protocol_function_declaration "func" . name: _ @name "->" . (_) @return) @function

(init_declaration name: "init" @name body: (_)? @body) @function
(init_declaration name: "init" @name (parameter) @parameters) @function
(deinit_declaration "deinit" @name body: (_) @body) @function
(subscript_declaration "subscript" @name name: (_)? @return (computed_property) @body) @function
(subscript_declaration "subscript" @name (parameter) @parameters) @function
(macro_declaration (simple_identifier) @name definition: (_)? @body) @function
(macro_declaration (simple_identifier) @name (parameter) @parameters) @function

(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @class.extension
(class_declaration
  name: (_) @name
  (inheritance_specifier inherits_from: (_) @extends)) @class
(class_declaration name: (_) @name body: (_) @body) @class
(protocol_declaration name: (type_identifier) @name body: (_) @body) @class
(protocol_declaration
  name: (type_identifier) @name
  (inheritance_specifier inherits_from: (_) @extends)) @class

; A property that computes is a method, any other a constant.
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  (type_annotation (_) @return)?
  computed_value: (computed_property) @body) @function
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @constant
(property_declaration name: (pattern . (pattern)) @names) @constant
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @constant
(enum_entry name: (simple_identifier) @name) @constant
(typealias_declaration name: (type_identifier) @name) @constant
(associatedtype_declaration name: (type_identifier) @name) @constant
(operator_declaration (custom_operator) @name) @constant
(precedence_group_declaration (simple_identifier) @name) @constant

[(comment) (multiline_comment)] @comment
(modifiers (attribute) @attribute)

(import_declaration) @import

(call_expression . (simple_identifier) @call)
(call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call)))
(constructor_expression constructed_type: (user_type (type_identifier) @call))
(selector_expression [
  (simple_identifier) @call
  (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call))
])
(macro_invocation (simple_identifier) @call)

(statements (property_declaration name: (pattern bound_identifier: (simple_identifier) @variable)))
(statements (property_declaration name: (pattern (pattern (simple_identifier) @variable))))
