; Language: C: functions and prototypes, types with a body, typedefs, file-level variables, macros.
; Struct members stay in their struct's body.

; inherits: c_base

(for_statement initializer: (declaration declarator: (init_declarator declarator: (identifier) @variable)))
