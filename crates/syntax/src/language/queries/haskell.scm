; Haskell: signatures and equations (the engine joins those of one name), types, classes, instances.

; What has a function's type is a function; of the rest the equation decides (`main :: IO ()`).
(signature name: (variable) @name type: [(function) (context) (forall)] @return) @function
(signature name: (prefix_id (operator) @name) type: (_) @return) @function
(signature names: (binding_list name: (variable) @name) type: (_) @return) @function
(signature name: (variable) @name type: (_) @return) @constant

(function name: (variable) @name) @function
(function name: (variable) @name patterns: (patterns (_) @parameters)) @function
(function name: (prefix_id (operator) @name)) @function
(function (infix operator: (operator) @name)) @function
(function (infix operator: (infix_id (variable) @name))) @function
(bind name: (variable) @name match: (match expression: (literal))) @constant
(bind name: (variable) @name) @function
(bind pattern: (_) @names) @constant
(bind name: (prefix_id (operator) @name)) @function

(foreign_import signature: (signature name: (variable) @name type: (_) @return)) @function
(pattern_synonym [(signature synonym: (_) @name) (equation synonym: (_) @name)]) @constant

(data_type name: (_) @name) @class
(newtype name: (_) @name) @class
; A constructor without fields' names is its line; of a record each field is a unit, so the constructor is its name.
(data_constructor constructor: (prefix name: (constructor) @name)) @constant
(data_constructor constructor: (record name: (constructor) @name @constant))
(gadt_constructor name: (constructor) @name) @constant
(field name: (field_name (variable) @name)) @constant

; The comment of the first member stands outside the body node.
(class name: (_) @name [(haddock) (comment)] @body) @class
(class name: (_) @name declarations: (_) @body) @class
(class name: (_) @name) @class
(class context: (context context: (apply constructor: (_) @extends)) name: (_) @name) @class
(class context: (context context: (tuple (apply constructor: (_) @extends))) name: (_) @name) @class

; An instance goes by its type, as an implementation elsewhere does.
(instance name: (_) @extends patterns: (type_patterns) @name declarations: (_)? @body) @class.extension
(deriving_instance name: (_) @extends patterns: (type_patterns) @name) @class.extension

(type_synonym name: (_) @name) @constant
(type_family name: (_) @name) @constant
(data_family name: (_) @name) @constant

((haddock) @comment
  (#not-match? @comment "^(--|\\{-) *\\^"))
; `-- ^ …` belongs to what stands before it.
((haddock) @doc
  (#match? @doc "^(--|\\{-) *\\^"))
(comment) @comment

(import) @import

(apply function: (variable) @call)
(apply function: (qualified id: (variable) @call))
((infix left_operand: [(variable) @call (qualified id: (variable) @call)] operator: (operator) @_operator)
  (#any-of? @_operator "$" "<$>" "<$!>" "." "=<<" ">=>" "<=<" ">>>" "<<<" "$!"))
((infix operator: (operator) @_operator right_operand: [(variable) @call (qualified id: (variable) @call)])
  (#any-of? @_operator "." ">>=" ">=>" "<=<" ">>>" "<<<" "&" "<&>"))
; Statements without arguments.
(do (exp [(variable) @call.bare (qualified id: (variable) @call)]))
(do (bind expression: [(variable) @call.bare (qualified id: (variable) @call)]))
; a `f` b, (a `f`), (`f` b)
(infix operator: (infix_id [(variable) @call (qualified id: (variable) @call)]))
(left_section operator: (infix_id [(variable) @call (qualified id: (variable) @call)]))
(right_section (infix_id [(variable) @call (qualified id: (variable) @call)]))

(local_binds (bind name: (variable) @variable))
(local_binds (function name: (variable) @variable))
(bind pattern: (variable) @variable)
