; Perl: packages, subs, package variables, `use constant`, Moose attributes.

(subroutine_declaration_statement
  name: (bareword) @name
  (signature)? @parameters
  body: (block) @body) @function
(method_declaration_statement
  name: (bareword) @name
  (signature)? @parameters
  body: (block) @body) @method

; Modifiers of Moose and tests: around save => sub { … };
((expression_statement
  (ambiguous_function_call_expression
    function: (function) @_modifier
    arguments: (list_expression
      . [(autoquoted_bareword) (string_literal) (interpolated_string_literal)] @name
      (anonymous_subroutine_expression (signature)? @parameters body: (block) @body)))) @function
  (#any-of? @_modifier "around" "before" "after" "override" "augment" "helper"))
((expression_statement
  (ambiguous_function_call_expression
    function: (function) @_modifier
    arguments: (list_expression
      . (quoted_word_list content: (string_content) @words)
      (anonymous_subroutine_expression body: (block) @body)))) @function
  (#any-of? @_modifier "around" "before" "after" "override" "augment"))
((expression_statement
  (ambiguous_function_call_expression
    function: (function) @_test
    arguments: (list_expression
      . [(autoquoted_bareword) (string_literal) (interpolated_string_literal)] @name
      (anonymous_subroutine_expression body: (block) @body)))) @function.test
  (#any-of? @_test "subtest" "describe" "it" "test"))

; my $format = sub { … };
(expression_statement
  (assignment_expression
    left: (variable_declaration variable: (scalar (varname) @name))
    right: (anonymous_subroutine_expression body: (block) @body))) @function

(package_statement name: (package) @name (block)? @body) @class
(class_statement name: (package) @name (block)? @body) @class
((class_statement
  name: (package) @name
  attributes: (attrlist (attribute name: (attribute_name) @_isa value: (attribute_value) @extends))) @class
  (#eq? @_isa "isa"))
(class_statement
  (block
    (expression_statement
      [
        (assignment_expression
          left: (variable_declaration variable: [(scalar (varname) @name) (array (varname) @name) (hash (varname) @name)]))
        (variable_declaration variable: [(scalar (varname) @name) (array (varname) @name) (hash (varname) @name)])
      ]) @constant))

(source_file
  (expression_statement
    (assignment_expression
      left: (variable_declaration variable: [(scalar (varname) @name) (array (varname) @name) (hash (varname) @name)]))) @constant)
(package_statement
  (block
    (expression_statement
      (assignment_expression
        left: (variable_declaration variable: [(scalar (varname) @name) (array (varname) @name) (hash (varname) @name)]))) @constant))
(source_file
  (expression_statement
    (assignment_expression
      left: (variable_declaration [(scalar (varname) @name) (array (varname) @name) (hash (varname) @name)]))) @constant)
(source_file
  (expression_statement
    (variable_declaration variable: [(scalar (varname) @name) (array (varname) @name) (hash (varname) @name)])) @constant)

((use_statement
  module: (package) @_module
  (list_expression . (autoquoted_bareword) @name)) @constant
  (#eq? @_module "constant"))
; use constant { A => 1, B => 2 }: each on its own line.
((use_statement
  module: (package) @_module
  (anonymous_hash_expression (list_expression (autoquoted_bareword) @name @constant)))
  (#eq? @_module "constant"))
((use_statement
  module: (package) @_module
  (anonymous_hash_expression (list_expression (list_expression (autoquoted_bareword) @name @constant))))
  (#eq? @_module "constant"))

; has name => (is => 'ro'); has [qw(a b)]; has ['c', 'd'];
((expression_statement
  (ambiguous_function_call_expression
    function: (function) @_has
    arguments: [
      (string_literal) @name
      (interpolated_string_literal) @name
      (quoted_word_list content: (string_content) @words)
      (anonymous_array_expression [
        (string_literal) @name
        (quoted_word_list content: (string_content) @words)
        (list_expression [(string_literal) (interpolated_string_literal)] @name)
      ])
      (list_expression . [
        (autoquoted_bareword) @name
        (string_literal) @name
        (interpolated_string_literal) @name
        (quoted_word_list content: (string_content) @words)
        (anonymous_array_expression [
          (string_literal) @name
          (quoted_word_list content: (string_content) @words)
          (list_expression [(string_literal) (interpolated_string_literal)] @name)
        ])
      ])
    ])) @constant
  (#eq? @_has "has"))

((comment) @comment
  (#not-match? @comment "^#!"))

((use_statement module: (package) @_module) @import
  (#not-any-of? @_module "strict" "warnings" "constant" "utf8" "feature" "vars" "lib"))
(require_expression) @import

((function_call_expression function: (function) @call) (#not-match? @call "^&"))
(function "&" (varname) @call)
(ambiguous_function_call_expression function: (function) @call)
(method_call_expression method: (method) @call)
([
  (expression_statement (bareword) @call)
  (return_expression (bareword) @call)
  (assignment_expression right: (bareword) @call)
]
  (#match? @call "(^|::)[a-z_]\\w*$"))

(block (expression_statement
  (assignment_expression left: (variable_declaration variable: [(scalar (varname) @variable) (array (varname) @variable) (hash (varname) @variable)]))))
(block (expression_statement
  (assignment_expression left: (variable_declaration [(scalar (varname) @variable) (array (varname) @variable) (hash (varname) @variable)]))))
