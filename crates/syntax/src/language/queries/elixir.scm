; Elixir: modules, protocols, implementations, functions, macros, guards, types, attributes, ExUnit tests.

((call
  target: (identifier) @_def
  (arguments . [(alias) (atom) (dot) (identifier)] @name)
  (do_block) @body) @class
  (#any-of? @_def "defmodule" "defprotocol"))

; defimpl Protocol, for: Type: named by the type, as an implementation elsewhere is. `for: [A, B]` names both, and
; `for: __MODULE__` nothing but the protocol.
((call
  target: (identifier) @_def
  (arguments . (alias) @extends (keywords . (pair value: [(alias) @name (dot) @name (list (alias) @name)])))
  (do_block) @body) @class.extension
  (#eq? @_def "defimpl"))
((call
  target: (identifier) @_def
  (arguments . (alias) @name (keywords . (pair value: [(identifier) (tuple) (map) (call)])))
  (do_block) @body) @class.extension
  (#eq? @_def "defimpl"))
((call
  target: (identifier) @_def
  (arguments . (alias) @name .)
  (do_block) @body) @class.extension
  (#eq? @_def "defimpl"))

; def name, def name(…), either with `when`
((call
  target: (identifier) @_def
  (arguments
    . [
      (identifier) @name
      (call target: (_) @name (arguments) @parameters)
      (binary_operator left: (identifier) @name operator: "when")
      (binary_operator left: (call target: (_) @name (arguments) @parameters) operator: "when")
    ])
  (do_block)? @body) @function
  (#any-of? @_def
    "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defn" "defnp"))
; What only passes on to a function elsewhere.
((call
  target: (identifier) @_def
  (arguments . [(identifier) @name (call target: (_) @name (arguments) @parameters)])) @function.declaration
  (#eq? @_def "defdelegate"))
; def a <~> b
((call
  target: (identifier) @_def
  (arguments . (binary_operator operator: _ @name))
  (do_block)? @body) @function
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")
  (#not-any-of? @name "when" "="))
((call
  target: (identifier) @_def
  (arguments . (binary_operator left: (binary_operator operator: _ @name) operator: "when"))
  (do_block)? @body) @function
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop"))

; These have no name of their own.
((call target: (identifier) @name (arguments)) @constant
  (#any-of? @name "defstruct" "defexception"))
((call
  target: (identifier) @_schema
  (arguments . (string) @name)
  (do_block)) @constant
  (#eq? @_schema "schema"))

((unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments
      (binary_operator
        left: [(identifier) @name (call target: (identifier) @name)]
        operator: "::")))) @constant
  (#any-of? @_attribute "type" "typep" "opaque"))
((unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_attribute
    (arguments
      [
        (binary_operator
          left: (call target: (identifier) @name (arguments) @parameters)
          operator: "::"
          right: (_) @return)
        (binary_operator
          left: (binary_operator
            left: (call target: (identifier) @name (arguments) @parameters)
            operator: "::"
            right: (_) @return)
          operator: "when")
      ]))) @function
  (#any-of? @_attribute "callback" "macrocallback"))
((unary_operator
  operator: "@"
  operand: (call target: (identifier) @name (arguments))) @constant
  (#not-any-of? @name
    "doc" "moduledoc" "typedoc" "shortdoc" "spec" "impl" "behaviour" "derive" "type" "typep" "opaque" "callback"
    "macrocallback" "optional_callbacks" "deprecated" "dialyzer" "compile" "before_compile" "after_compile"
    "external_resource" "tag" "moduletag" "describetag" "enforce_keys" "since"))

((call
  target: (identifier) @_describe
  (arguments . (string) @name)
  (do_block) @body) @section.test
  (#eq? @_describe "describe"))
((call
  target: (identifier) @_test
  (arguments . (string) @name)
  (do_block) @body) @function.test
  (#any-of? @_test "test" "property"))

(comment) @comment
((unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute (arguments [(string) (sigil)]))) @comment
  (#any-of? @_attribute "doc" "typedoc"))
((unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute (arguments [(string (quoted_content) @doc) (sigil (quoted_content) @doc)])))
  (#any-of? @_attribute "moduledoc" "shortdoc"))
((unary_operator
  operator: "@"
  operand: (call target: (identifier) @_attribute)) @attribute
  (#any-of? @_attribute "spec" "impl" "deprecated" "dialyzer" "tag" "since"))

((call target: (identifier) @_import (arguments)) @import
  (#any-of? @_import "use" "import" "alias" "require"))

((call target: (identifier) @call (arguments))
  ; Neither definitions, module attributes nor control flow.
  (#not-any-of? @call
    "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defmodule" "defprotocol" "defimpl"
    "defstruct" "defexception" "use" "import" "alias" "require" "doc" "moduledoc" "typedoc" "spec" "impl" "type"
    "typep" "opaque" "callback" "macrocallback" "behaviour" "derive" "quote" "unquote" "if" "unless" "case" "cond"
    "with" "for" "test" "describe" "schema"))
(call target: (dot right: (identifier) @call) (arguments))
; M.f, without parentheses
(call target: (dot left: (alias) right: (identifier) @call))
; x |> f, x |> m.f, &f/1
(binary_operator operator: "|>" right: [(identifier) @call (call target: (dot right: (identifier) @call))])
(unary_operator operator: "&" operand: (binary_operator left: [(identifier) @call (call target: (dot right: (identifier) @call))] operator: "/"))

((binary_operator left: (identifier) @variable operator: "=")
  (#not-match? @variable "^_"))
((binary_operator left: (tuple (identifier) @variable) operator: "=")
  (#not-match? @variable "^_"))
