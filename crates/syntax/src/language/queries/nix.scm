; Language: Nix. Bindings: functions, attribute sets with what is in them, other values.

; The outputs of a flake are a function, but what one looks for is in it.
((binding attrpath: (_) @name expression: (function_expression)) @section
  (#eq? @name "outputs"))

(binding
  attrpath: (_) @name
  expression: (function_expression body: (function_expression body: (_) @body))) @function
(binding attrpath: (_) @name expression: (function_expression body: (_) @body)) @function
(binding
  attrpath: (_) @name
  expression: (function_expression formals: (formals (formal name: (identifier) @parameters)))) @function
(binding
  attrpath: (_) @name
  expression: (function_expression
    universal: (identifier) @parameters
    body: (function_expression universal: (identifier) @parameters)?)) @function

(binding attrpath: (_) @name expression: [(attrset_expression) (rec_attrset_expression)] @body) @section

(binding attrpath: (_) @name) @constant

(comment) @comment

((apply_expression
  function: (variable_expression name: (identifier) @_import)
  argument: (path_expression)) @import
  (#eq? @_import "import"))

(apply_expression function: (variable_expression name: (identifier) @call))
(apply_expression function: (select_expression attrpath: (attrpath attr: (identifier) @call .)))
