; Language: TOML. Tables, and the keys above the first table.

; The span goes to the last pair: the node itself takes the comment above the next table with it.
(table . "[" @section . [(bare_key) (quoted_key) (dotted_key)] @name . "]" @section)
(table . "[" @section . [(bare_key) (quoted_key) (dotted_key)] @name (pair) @section)

; `[[package]]` is a lock file's entry: hundreds of them; they stay blocks.
((table_array_element . "[[" @section . [(bare_key) (quoted_key) (dotted_key)] @name . "]]" @section)
  (#not-eq? @name "package"))
((table_array_element . "[[" @section . [(bare_key) (quoted_key) (dotted_key)] @name (pair) @section)
  (#not-eq? @name "package"))

(document (pair . [(bare_key) (quoted_key) (dotted_key)] @name) @constant)

(comment) @comment
