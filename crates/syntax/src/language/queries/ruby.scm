; Ruby: modules, classes, methods, constants; the definitions that class-level calls make; Rake tasks; RSpec and test blocks.

; A comment between head and body stands outside the body node: there, too, ends the signature.
(method name: (_) @name (comment) @body) @function
(method
  name: (_) @name
  parameters: (_)? @parameters
  body: (_)? @body) @function
(singleton_method name: (_) @name (comment) @body) @function
(singleton_method
  name: (_) @name
  parameters: (_)? @parameters
  body: (_)? @body) @function
(singleton_method object: (constant) @parent name: (_) @name) @function

; private def a … end
(call arguments: (argument_list . (method name: (_) @name) .)) @function
(call arguments: (argument_list . (singleton_method name: (_) @name) .)) @function

(alias name: (_) @name) @function
((call
  method: (identifier) @_method
  arguments: (argument_list . [(simple_symbol) (string)] @name)) @function
  (#any-of? @_method "define_method" "define_singleton_method" "alias_method" "alias_attribute" "scope"))
((call
  method: (identifier) @_method
  arguments: (argument_list . [(simple_symbol) (string)] @name)
  block: [(do_block body: (_) @body) (block body: (_) @body)]) @function
  (#any-of? @_method "define_method" "define_singleton_method"))

(class name: (_) @name (comment) @body) @class
(class
  name: (_) @name
  superclass: (superclass (_) @extends)?
  body: (_)? @body) @class
(module name: (_) @name (comment) @body) @class
(module name: (_) @name body: (_)? @body) @class

; Mixins.
((class
  name: (_) @name
  body: (body_statement
    (call method: (identifier) @_method arguments: (argument_list [(constant) (scope_resolution)] @extends)))) @class
  (#any-of? @_method "include" "extend" "prepend"))
((module
  name: (_) @name
  body: (body_statement
    (call method: (identifier) @_method arguments: (argument_list [(constant) (scope_resolution)] @extends)))) @class
  (#any-of? @_method "include" "extend" "prepend"))

; Point = Struct.new(:x, :y) do … end
((assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_class
    method: (identifier) @_method
    block: (_)? @body)) @class
  (#any-of? @_class "Class" "Module" "Struct" "Data")
  (#any-of? @_method "new" "define"))
((assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_class
    method: (identifier) @_method
    arguments: (argument_list . [(constant) (scope_resolution)] @extends))) @class
  (#eq? @_class "Class")
  (#eq? @_method "new"))

(assignment left: [(constant) (global_variable) (class_variable)] @name) @constant
(assignment left: (scope_resolution scope: (_) @parent name: (constant) @name)) @constant
(assignment left: (left_assignment_list [(constant) @name (rest_assignment (constant) @name)])) @constant
(assignment right: (assignment left: (constant) @name)) @constant
(operator_assignment left: [(constant) (global_variable)] @name) @constant

; attr_reader :a, :b: one symbol is the whole call; of several, each is its own line.
((call
  method: (identifier) @_method
  arguments: (argument_list . (simple_symbol) @name .)) @constant
  (#match? @_method "^((thread_)?[cm]?attr)_(reader|writer|accessor)$"))
((call
  method: (identifier) @_method
  arguments: (argument_list (simple_symbol) @name @constant))
  (#match? @_method "^((thread_)?[cm]?attr)_(reader|writer|accessor)$"))
((call
  method: (identifier) @_method
  arguments: (argument_list . (simple_symbol) @name)) @constant
  (#any-of? @_method
    "belongs_to" "has_one" "has_many" "has_and_belongs_to_many" "has_one_attached" "has_many_attached"
    "attribute" "class_attribute" "enum"))

; Rake. What `desc` says is the task's documentation.
((call
  method: (identifier) @_method
  arguments: (argument_list . [(simple_symbol) (string)] @name)
  block: (_)) @namespace
  (#eq? @_method "namespace"))
((call
  method: (identifier) @_method
  arguments: (argument_list . [(simple_symbol) (string)] @name)
  block: (_) @body) @function
  (#any-of? @_method "task" "multitask"))
((call
  method: (identifier) @_method
  arguments: (argument_list . (pair key: [(hash_key_symbol) (simple_symbol) (string)] @name))
  block: (_) @body) @function
  (#any-of? @_method "task" "multitask" "file"))
((call method: (identifier) @_method) @comment
  (#eq? @_method "desc"))

; RSpec and Active Support tests.
((call
  method: (identifier) @_method
  arguments: (argument_list . [(string) (constant) (scope_resolution) (simple_symbol)] @name)
  block: (do_block) @body) @section.test
  (#any-of? @_method "describe" "context" "feature" "shared_examples" "shared_examples_for" "shared_context"))
((call
  method: (identifier) @_method
  arguments: (argument_list . (string) @name)
  block: (do_block) @body) @function.test
  (#any-of? @_method "it" "test" "specify" "scenario" "example"))

(comment) @comment

((call method: (identifier) @_method) @import
  (#any-of? @_method "require" "require_relative" "autoload"))

((call method: [(identifier) (constant)] @call)
  ; What only frames a definition says nothing about it.
  (#not-any-of? @call
    "require" "require_relative" "autoload" "include" "extend" "prepend" "private" "protected" "public" "module_function"
    "private_class_method" "attr_reader" "attr_writer" "attr_accessor" "alias_method" "define_method"
    "namespace" "desc" "task" "describe" "context" "it" "test"))

; `Tank.new(3)` calls the class.
((call receiver: [(constant) @call (scope_resolution name: (constant) @call)] method: (identifier) @_new)
  (#eq? @_new "new"))

; A word that no local has.
((identifier) @call.bare
  (#not-any-of? @call.bare
    "require" "require_relative" "autoload" "include" "extend" "prepend" "private" "protected" "public" "module_function"
    "private_class_method" "attr_reader" "attr_writer" "attr_accessor" "alias_method" "define_method"
    "namespace" "desc" "task" "describe" "context" "it" "test"))
; map(&:name), send(:name), before_action :name
(block_argument (simple_symbol) @call.unscoped)
((call method: (identifier) @_through arguments: (argument_list . (simple_symbol) @call.unscoped))
  (#any-of? @_through "send" "public_send" "__send__" "method"))
((call method: (identifier) @_hook arguments: (argument_list (simple_symbol) @call.unscoped))
  (#match? @_hook "^((prepend_|append_)?(before|after|around)_|validate$|helper_method$)"))

(assignment left: (identifier) @variable)
(operator_assignment left: (identifier) @variable)
(block_parameters) @variables
(lambda_parameters) @variables
(exception_variable (identifier) @variable)
(for pattern: (_) @variables)
(assignment left: (left_assignment_list (identifier) @variable))
