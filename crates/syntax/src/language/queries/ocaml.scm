; OCaml: values and functions of modules, types, modules, module types, functors, classes.

; let f x = …, let f = fun x -> …, let f = function …; each `and` is a definition of its own.
([
  (compilation_unit
    (value_definition
      (let_binding pattern: [(value_name) @name (parenthesized_operator (_) @name)] (parameter) @parameters type: (_)? @return body: (_) @body) @function))
  (structure
    (value_definition
      (let_binding pattern: [(value_name) @name (parenthesized_operator (_) @name)] (parameter) @parameters type: (_)? @return body: (_) @body) @function))
])
([
  (compilation_unit
    (value_definition
      (let_binding pattern: (value_name) @name body: [(fun_expression (parameter) @parameters) (function_expression . "function" . _ @body)]) @function))
  (structure
    (value_definition
      (let_binding pattern: (value_name) @name body: [(fun_expression (parameter) @parameters) (function_expression . "function" . _ @body)]) @function))
])
(compilation_unit (value_definition (let_binding pattern: (value_name) @name type: (_)? @return) @constant))
(structure (value_definition (let_binding pattern: (value_name) @name type: (_)? @return) @constant))
(compilation_unit (value_definition (let_binding pattern: [(parenthesized_pattern) (tuple_pattern)] @names) @constant))
(structure (value_definition (let_binding pattern: [(parenthesized_pattern) (tuple_pattern)] @names) @constant))
; A lone binding takes `let` and attributes in.
(value_definition . (let_binding pattern: [(value_name) @name (parenthesized_operator (_) @name)] (parameter)) .) @function
; let%test "…" = …
(value_definition (attribute_id) (let_binding pattern: (string) @name)) @function.test

(external (value_name) @name type: (_) @return) @function
(value_specification (value_name) @name type: (_) @return) @function.declaration

(exception_definition (constructor_declaration (constructor_name) @name)) @class
(type_binding name: (_) @name body: (_)) @class
(type_binding name: (_) @name) @constant
(constructor_declaration (constructor_name) @name) @constant
(field_declaration (field_name) @name) @constant

(module_definition
  (module_binding
    (module_name) @name
    module_type: (_)? @extends
    body: (_) @body)) @class
(module_definition
  (module_binding
    (module_name) @name
    (module_parameter) @parameters)) @class
(module_type_definition (module_type_name) @name body: (_)? @body) @class

(class_definition (class_binding (class_name) @name body: (_) @body)) @class
(class_definition (class_binding (class_name) @name (parameter) @parameters)) @class
(class_definition
  (class_binding
    (class_name) @name
    body: (object_expression (inheritance_definition class: [
      (class_path (class_name) @extends)
      (class_application class: (class_path (class_name) @extends))
    ])))) @class
(method_definition (method_name) @name body: (_) @body) @method
(method_definition (method_name) @name (parameter) @parameters) @method
(instance_variable_definition (instance_variable_name) @name) @constant

(comment) @comment

(open_module) @import
(include_module) @import

(application_expression function: (value_path (value_name) @call))
((infix_expression operator: (_) @_pipe right: (value_path (value_name) @call)) (#eq? @_pipe "|>"))
((infix_expression left: (value_path (value_name) @call) operator: (_) @_apply) (#eq? @_apply "@@"))
(method_invocation method: (method_name) @call)

(let_expression (value_definition (let_binding pattern: (value_name) @variable)))
