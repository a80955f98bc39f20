; Scala 2 and 3: classes, objects, traits, enums, givens, extensions, defs, vals, type members.

(function_definition
  name: (_) @name
  return_type: (_)? @return
  body: (_)? @body) @function
(function_declaration name: (_) @name return_type: (_)? @return) @function
; One match a parameter list. (By field, only the first would be found.)
(function_definition name: (_) @name (parameters) @parameters) @function
(function_declaration name: (_) @name (parameters) @parameters) @function

(class_definition
  name: (_) @name
  class_parameters: (class_parameters)? @parameters
  body: (_)? @body) @class
(class_definition name: (_) @name extend: (extends_clause [(type_identifier) (generic_type) (stable_type_identifier) (compound_type)] @extends)) @class
(object_definition name: (_) @name body: (_)? @body) @class
(object_definition name: (_) @name extend: (extends_clause [(type_identifier) (generic_type) (stable_type_identifier) (compound_type)] @extends)) @class
(trait_definition name: (_) @name body: (_)? @body) @class
(trait_definition name: (_) @name extend: (extends_clause [(type_identifier) (generic_type) (stable_type_identifier) (compound_type)] @extends)) @class
(enum_definition
  name: (_) @name
  class_parameters: (class_parameters)? @parameters
  body: (_) @body) @class
(enum_definition name: (_) @name extend: (extends_clause [(type_identifier) (generic_type) (stable_type_identifier) (compound_type)] @extends)) @class
(package_object name: (_) @name body: (_) @body) @class

; A given without a name goes by its type.
(given_definition name: (_) @name return_type: (_)? @extends body: (with_template_body) @body) @class.extension
(given_definition !name return_type: (_) @name body: (with_template_body) @body) @class.extension
(given_definition name: (_) @name) @constant
(given_definition !name return_type: (_) @name) @constant

; An extension goes by the type it extends.
(extension_definition
  . (parameters . (parameter type: (_) @name))
  body: (_) @body) @class.extension
(extension_definition
  . (type_parameters)
  . (parameters . (parameter type: (_) @name))
  body: (_) @body) @class.extension

(val_definition pattern: (identifier) @name) @constant
(val_definition pattern: (identifiers (identifier) @name)) @constant
(val_definition pattern: [(tuple_pattern) (case_class_pattern)] @names) @constant
(var_definition pattern: (identifier) @name) @constant
(var_definition pattern: (identifiers (identifier) @name)) @constant
(val_declaration name: (identifier) @name) @constant
(var_declaration name: (identifier) @name) @constant
(type_definition name: (type_identifier) @name) @constant
(simple_enum_case name: (identifier) @name) @constant
(full_enum_case name: (identifier) @name) @constant

; test("…") { … } of munit and ScalaTest.
((call_expression
  function: (call_expression
    function: (identifier) @_function
    arguments: (arguments . (string) @name))
  arguments: [(block) (arguments)] @body) @function.test
  (#any-of? @_function "test" "testAsync" "it" "property"))

[(comment) (block_comment)] @comment
(annotation) @attribute

(import_declaration) @import

(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (field_expression field: (identifier) @call)))
(infix_expression operator: (identifier) @call)
((postfix_expression (identifier) @call .) (#not-eq? @call "_"))
((postfix_expression . (identifier) @call . (identifier) @_all) (#eq? @_all "_"))
; A member without arguments.
((field_expression field: (identifier) @call) (#match? @call "^[a-z]"))
(instance_expression (type_identifier) @call)
(instance_expression (generic_type type: (type_identifier) @call))

(block (val_definition pattern: (identifier) @variable))
(block (var_definition pattern: (identifier) @variable))
(indented_block (val_definition pattern: (identifier) @variable))
(indented_block (var_definition pattern: (identifier) @variable))
