; Language: Svelte. The scripts and styles by their own languages; of the markup snippets and elements with an id.

((script_element (start_tag) @_tag (raw_text) @embedded.javascript)
  (#not-match? @_tag "\\slang\\s*=\\s*[\"']?(ts|typescript)")
  (#not-match? @_tag "\\stype\\s*=\\s*[\"']?(application/(ld\\+)?json|text/(x-)?template|text/typescript)"))
((script_element (start_tag) @_tag (raw_text) @embedded.typescript)
  (#match? @_tag "\\s(lang|type)\\s*=\\s*[\"']?(text/)?(ts|typescript)[\"'\\s>]"))

; Sass and its like have no grammar here.
((style_element (start_tag) @_tag (raw_text) @embedded.css)
  (#not-match? @_tag "\\s(lang|type)\\s*=\\s*[\"']?(text/)?(s[ac]ss|less|styl|postcss)"))

(snippet_statement
  (snippet_start (snippet_name) @name (svelte_raw_text)? @parameters)
  . (_)? @body) @function

; An element on one line stays with what is around it.
((element
  (start_tag
    (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)))) @section
  (#eq? @_id "id")
  (#match? @section "\n"))

(comment) @comment

; Other components.
((start_tag (tag_name) @call) (#match? @call "^[A-Z]"))
((self_closing_tag (tag_name) @call) (#match? @call "^[A-Z]"))
