; What C, C++ and Objective-C share.

(enum_specifier name: (type_identifier) @name body: (enumerator_list) @body) @class
(enumerator name: (identifier) @name) @constant

(type_definition declarator: (_ declarator: (type_identifier) @name)) @constant
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @constant

; Macros; one without a value is a switch or an include guard.
(preproc_function_def name: (identifier) @name parameters: (preproc_params) @parameters value: (_)? @body) @function
(preproc_def name: (identifier) @name value: (_)) @constant

(comment) @comment

(preproc_include) @import

; Conditions of compiling; `#ifndef` begins include guards.
(preproc_ifdef "#ifdef" name: (identifier) @feature) @conditional
(preproc_if condition: (_) @feature) @conditional
