; What C, C++ and Objective-C share.

(enum_specifier name: (type_identifier) @name body: (enumerator_list) @body) @class
(enumerator name: (identifier) @name) @constant

(type_definition declarator: [(pointer_declarator) (function_declarator) (array_declarator)] @name.last) @constant

; Macros that define a variable: `DEFINE_bool(name, …);`.
((expression_statement
  (call_expression function: (identifier) @_macro arguments: (argument_list . (identifier) @name))) @constant
  (#match? @_macro "^DEFINE_|_HEAD$"))
((expression_statement
  (call_expression function: (identifier) @_macro arguments: (argument_list . (identifier) @name))) @constant.declaration
  (#match? @_macro "^DECLARE_"))

; Macros; one without a value is a switch or an include guard.
(preproc_function_def name: (identifier) @name parameters: (preproc_params) @parameters value: (_)? @body) @function
(preproc_def name: (identifier) @name value: (_)) @constant

(comment) @comment

(preproc_include) @import

; Conditions of compiling, each for its own branch; `#ifndef` begins include guards, and its `#else` has the name.
(preproc_ifdef "#ifdef" name: (identifier) @feature alternative: (_)? @otherwise) @conditional
(preproc_ifdef "#ifndef" name: (identifier) @feature alternative: (preproc_else) @conditional)
(preproc_if condition: (_) @feature alternative: (_)? @otherwise) @conditional
(preproc_elif condition: (_) @feature alternative: (_)? @otherwise) @conditional
(preproc_elifdef "#elifdef" name: (identifier) @feature alternative: (_)? @otherwise) @conditional
