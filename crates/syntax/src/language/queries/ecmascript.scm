; What JavaScript and TypeScript share. Their functions and classes differ by return types and come first.

; Exported declarations.
(export_statement declaration: (function_declaration name: (identifier) @name)) @function
(export_statement declaration: (generator_function_declaration name: (identifier) @name)) @function
(export_statement
  "default" @name
  value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])])) @class
(export_statement
  "default" @name
  value: (call_expression
    arguments: (arguments (object [(method_definition) (pair value: [(arrow_function) (function_expression)])])))) @class
(export_statement "default" @name value: [(object) (array) (call_expression) (new_expression)]) @constant

; The whole statement, where it binds one name.
([
  (lexical_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) .)
  (variable_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) .)
]) @function

; Object literals that hold functions.
(program
  [
    (lexical_declaration
      (variable_declarator
        name: (identifier) @name
        value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body) @class)
    (variable_declaration
      (variable_declarator
        name: (identifier) @name
        value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body) @class)
  ])
(export_statement
  declaration: (lexical_declaration
    (variable_declarator
      name: (identifier) @name
      value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body) @class))
(program
  (expression_statement
    (assignment_expression
      left: (member_expression) @name
      right: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body)) @class)

; `req.get = req.header = function …`: both names.
(assignment_expression
  left: (member_expression object: (_) @parent property: (property_identifier) @name)
  right: (assignment_expression right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (#not-any-of? @parent "exports" "module.exports" "module")) @function
(assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: (assignment_expression right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (#eq? @_exports "exports")) @function
(assignment_expression
  right: (assignment_expression
    left: (member_expression property: (property_identifier) @name)
    right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @function
(program (expression_statement (assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)])) @function)
(program
  (expression_statement
    (assignment_expression left: [(member_expression) (identifier)] @name right: [(object) (array) (string) (number) (template_string) (call_expression) (new_expression)])) @constant)

; Module-level names. One statement may bind several; what `require` gives is an import.
(program
  [
    (lexical_declaration (variable_declarator name: (identifier) @name value: (_)? @_value) @constant)
    (variable_declaration (variable_declarator name: (identifier) @name value: (_)? @_value) @constant)
  ]
  (#not-match? @_value "^require\\("))
(program
  [
    (lexical_declaration . (variable_declarator name: (identifier) @name value: (_)? @_value) .)
    (variable_declaration . (variable_declarator name: (identifier) @name value: (_)? @_value) .)
  ] @constant
  (#not-match? @_value "^require\\("))
(export_statement
  declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @constant))
(export_statement
  declaration: (lexical_declaration . (variable_declarator name: (identifier) @name) .)) @constant
; Destructured: `const { a, b: c } = …`, `const [d, ...e] = …`.
(program
  [
    (lexical_declaration (variable_declarator name: [(object_pattern) (array_pattern)] @names value: (_)? @_value) @constant)
    (variable_declaration (variable_declarator name: [(object_pattern) (array_pattern)] @names value: (_)? @_value) @constant)
  ]
  (#not-match? @_value "^require\\("))
(program
  [
    (lexical_declaration . (variable_declarator name: [(object_pattern) (array_pattern)] @names value: (_)? @_value) .)
    (variable_declaration . (variable_declarator name: [(object_pattern) (array_pattern)] @names value: (_)? @_value) .)
  ] @constant
  (#not-match? @_value "^require\\("))
(export_statement
  declaration: [
    (lexical_declaration (variable_declarator name: [(object_pattern) (array_pattern)] @names))
    (variable_declaration (variable_declarator name: [(object_pattern) (array_pattern)] @names))
  ]) @constant

; `describe("…", () => …)` holds tests; `it.each(table)("…", …)` is one.
(expression_statement
  (call_expression
    function: [
      (identifier) @_suite
      (member_expression object: (identifier) @_suite)
      (call_expression function: (member_expression object: (identifier) @_suite))
    ]
    arguments: (arguments . [(string) (template_string)] @name [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (#any-of? @_suite "describe" "suite" "context")) @section.test
(expression_statement
  (call_expression
    function: [
      (identifier) @_test
      (member_expression object: (identifier) @_test)
      (call_expression function: (member_expression object: (identifier) @_test))
    ]
    arguments: (arguments . [(string) (template_string)] @name [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))
  (#any-of? @_test "it" "test" "specify")) @function.test

(comment) @comment
(decorator) @decorator

(import_statement) @import
(export_statement source: (string)) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
([
  (lexical_declaration (variable_declarator value: (call_expression function: (identifier) @_require)))
  (variable_declaration (variable_declarator value: (call_expression function: (identifier) @_require)))
] @import
  (#eq? @_require "require"))

; `open.call(this)`, `this.open.apply(this, all)`
(call_expression
  function: (member_expression
    object: [(identifier) @call (member_expression property: [(property_identifier) (private_property_identifier)] @call)]
    property: (property_identifier) @_through)
  (#any-of? @_through "call" "apply"))

(call_expression function: (parenthesized_expression [
  (identifier) @call
  (member_expression property: (property_identifier) @call)
  (sequence_expression [(identifier) @call (member_expression property: (property_identifier) @call)] .)
]))
(decorator [(identifier) @call (member_expression property: (property_identifier) @call)])

(new_expression constructor: [
  (identifier) @call
  (member_expression property: (property_identifier) @call)
])

(statement_block [
  (lexical_declaration (variable_declarator name: (identifier) @variable))
  (variable_declaration (variable_declarator name: (identifier) @variable))
  (lexical_declaration (variable_declarator name: [(object_pattern) (array_pattern)] @variables))
  (variable_declaration (variable_declarator name: [(object_pattern) (array_pattern)] @variables))
])
