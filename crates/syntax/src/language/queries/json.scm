; Language: JSON. Top-level keys whose value has lines of its own; one-line keys stay in blocks.

((document
  (object
    (pair key: (string (string_content) @name) value: [(object) (array)]) @section))
  (#match? @section "\n"))

; The second level of the keys that list named things (definitions of a schema, paths of an API).
((document
  (object
    (pair
      key: (string (string_content) @_list)
      value: (object
        (pair key: (string (string_content) @name) value: (object)) @section))))
  (#any-of? @_list "definitions" "$defs" "paths" "components" "services" "targets" "configurations")
  (#match? @section "\n"))

(comment) @comment
