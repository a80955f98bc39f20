; Language: Make. Rules as functions, variables as constants, `define` as either.

; A rule goes to its last recipe line: the node takes the conditionals after it as well.
((rule (targets (_) @name) @function (recipe (recipe_line) @function) @body)
  (#not-match? @name "^\\.[A-Z_]+$"))
; A conditional of recipe lines is part of the recipe.
((rule (targets (_) @name) @function (recipe (conditional (recipe_line)) @function))
  (#not-match? @name "^\\.[A-Z_]+$"))
((rule (targets (_) @name) @function (prerequisites) @function)
  (#not-match? @name "^\\.[A-Z_]+$"))
; A rule that others add to: `pre-build::`.
((rule (targets (_) @name) @function)
  (#not-match? @name "^\\.[A-Z_]+$"))

; A macro takes arguments; other definitions are text.
((define_directive name: (word) @name value: (raw_text) @_text @body) @function
  (#match? @_text "\\$[({]?[0-9]"))
(define_directive name: (word) @name) @constant

; The grammar reads `OBJ+=d` as an assignment to `OBJ+`.
(variable_assignment name: (word) @name operator: "+=" !target_or_pattern) @constant.extension
(variable_assignment name: (word) @name.word !target_or_pattern
  (#match? @name.word "[+]$")) @constant.extension
(variable_assignment name: (word) @name.word !target_or_pattern) @constant
(export_directive (variable_assignment name: (word) @name.word)) @constant
(shell_assignment name: (word) @name) @constant

(comment) @comment
(include_directive) @import

; What a rule needs.
(function_call function: "call" (arguments argument: (text) @call.word))
(rule normal: (prerequisites (word) @call))
