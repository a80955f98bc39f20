; Bash: functions, the variables of the file, aliases, bats tests.

(function_definition name: (word) @name body: (_) @body) @function

; To the grammar `@test "…" {` is a command; only where a block follows is that the test's body.
((command
    name: (command_name (word) @_test)
    argument: [(string) (raw_string)] @name) @function.test
  . (compound_statement) @function.test @body
  (#eq? @_test "@test"))
((command
  name: (command_name (word) @_test)
  argument: [(string) (raw_string)] @name) @function.test
  (#eq? @_test "@test"))

(program (variable_assignment name: (variable_name) @name) @constant)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @constant)
((command
    name: (command_name (word) @_alias)
    argument: [(concatenation . (word) @name.word) (word) @name.word]) @constant
  (#eq? @_alias "alias")
  (#match? @name.word "="))

((comment) @comment
  (#not-match? @comment "^#!"))

((command name: (command_name (word) @_source)) @import
  (#any-of? @_source "source" "."))

((command name: (command_name (word) @call))
  (#not-any-of? @call
    "source" "." "alias" "echo" "printf" "return" "exit" "shift" "set" "cd" "read" "break" "continue" "true" "false" ":"
    "@test" "}" "{"))

; What another command runs.
((command
    name: (command_name (word) @_through)
    . argument: (word) @call)
  (#any-of? @_through "trap" "run" "command" "exec" "builtin" "time"))

(compound_statement (declaration_command (variable_assignment name: (variable_name) @variable)))
(compound_statement (declaration_command (variable_name) @variable))
(compound_statement (variable_assignment name: (variable_name) @variable))
(for_statement variable: (variable_name) @variable)
