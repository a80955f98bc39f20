; R: functions however they are assigned, S4 and R6 classes with their methods, the variables of the file, tests.

(binary_operator
  lhs: [(identifier) (string)] @name
  operator: ["<-" "=" "<<-"]
  rhs: (function_definition parameters: (_) @parameters body: (_) @body)) @function
; plots$theme <- function(…) …
(binary_operator
  lhs: (extract_operator lhs: (_) @parent rhs: (identifier) @name)
  operator: ["<-" "=" "<<-"]
  rhs: (function_definition parameters: (_) @parameters body: (_) @body)) @function

; Gauge <- R6Class("Gauge", …)
((binary_operator
  lhs: (identifier) @name
  operator: ["<-" "="]
  rhs: (call function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)])) @class
  (#any-of? @_class "R6Class" "setRefClass" "setClass" "new_class"))
((binary_operator
  lhs: (identifier) @name
  rhs: (call
    function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
    arguments: (arguments argument: (argument name: (identifier) @_inherit value: (_) @extends)))) @class
  (#any-of? @_class "R6Class" "setRefClass" "setClass" "new_class")
  (#any-of? @_inherit "inherit" "contains" "parent"))
((program
  (call
    function: (identifier) @_function
    arguments: (arguments . argument: (argument value: (string) @name))) @class)
  (#any-of? @_function "setClass" "setRefClass"))
; The methods of such a class: list(pour = function(…) …).
((call
  function: (identifier) @_list
  arguments: (arguments
    argument: (argument
      name: (identifier) @name
      value: (function_definition parameters: (_) @parameters body: (_) @body)) @function))
  (#eq? @_list "list"))

((call
  function: (identifier) @_function
  arguments: (arguments . argument: (argument value: (string) @name))) @function
  (#any-of? @_function "setGeneric" "setValidity"))
((call
  function: (identifier) @_function
  arguments: (arguments
    . argument: (argument value: (string) @name)
    . (comma)
    . argument: (argument value: (string) @parent))) @function
  (#any-of? @_function "setMethod" "setReplaceMethod"))
((call
  function: (identifier) @_function
  arguments: (arguments . argument: (argument value: (string) @name))) @function
  (#any-of? @_function "setMethod" "setReplaceMethod"))
((call
  function: (identifier) @_function
  arguments: (arguments
    . argument: (argument value: (string) @name)
    argument: (argument value: (function_definition body: (_) @body)))) @function
  (#any-of? @_function "setMethod" "setReplaceMethod"))

((call
  function: (identifier) @_function
  arguments: (arguments . argument: (argument value: (string) @name))) @function.test
  (#any-of? @_function "test_that" "it"))
((call
  function: (identifier) @_function
  arguments: (arguments
    . argument: (argument value: (string) @name)
    . (comma) . argument: (argument value: (braced_expression) @body))) @function.test
  (#any-of? @_function "test_that" "it"))
((call
  function: (identifier) @_function
  arguments: (arguments . argument: (argument value: (string) @name))) @section.test
  (#eq? @_function "describe"))

(program
  (binary_operator lhs: (identifier) @name operator: ["<-" "=" "<<-"]) @constant)

(comment) @comment

((call function: (identifier) @_function) @import
  (#any-of? @_function "library" "require" "requireNamespace" "loadNamespace" "source"))

((call function: (identifier) @call)
  (#not-any-of? @call
    "library" "require" "requireNamespace" "source" "setClass" "setGeneric" "setMethod" "test_that" "c" "list" "return"))
(binary_operator operator: "special" rhs: (identifier) @call)
(call function: (namespace_operator rhs: (identifier) @call))
(call function: (extract_operator rhs: (identifier) @call))

(braced_expression (binary_operator lhs: (identifier) @variable operator: ["<-" "="]))
