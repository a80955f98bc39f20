; Language: Python: functions, classes, assignments at module or class level.
; Signatures end at the colon: a comment may stand between it and the block.

(decorated_definition
  definition: (function_definition name: (identifier) @name)) @function

(function_definition
  name: (identifier) @name
  parameters: (parameters) @parameters
  return_type: (type)? @return
  ":" @body) @function

(decorated_definition
  definition: (class_definition name: (identifier) @name)) @class

(class_definition
  name: (identifier) @name
  superclasses: (argument_list [(identifier) (attribute) (subscript) (call)] @extends)?
  ":" @body) @class

(assignment left: (identifier) @name right: (lambda body: (_) @body)) @function
(assignment left: (identifier) @name) @constant
(assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @names) @constant
; `A = B = 3`: `B` too has the whole statement.
(assignment right: (assignment left: (identifier) @name)) @constant
(assignment right: (assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @names)) @constant
; Build rules: `cc_library(name = "core")`.
(module (call
  arguments: (argument_list (keyword_argument name: (identifier) @_name value: (string) @name))
  (#eq? @_name "name")) @constant)

(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)])) @constant

; Docstrings.
(function_definition body: (block . (string) @doc))
(class_definition body: (block . (string) @doc))

(comment) @comment
(decorator) @decorator

(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import

(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(call function: (parenthesized_expression (identifier) @call))
((decorator [(identifier) @call (attribute attribute: (identifier) @call)])
  (#not-any-of? @call "property" "staticmethod" "classmethod" "setter" "getter" "deleter"))

(block (assignment left: [(identifier) (pattern_list) (tuple_pattern) (list_pattern)] @variables))
(for_statement left: [(identifier) (pattern_list) (tuple_pattern)] @variables)
(as_pattern alias: (as_pattern_target (identifier) @variable))
(named_expression name: (identifier) @variable)
