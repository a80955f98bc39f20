; Language: Vue. The scripts and styles by their own languages; of the template the elements with an id.

((script_element (start_tag) @_tag (raw_text) @embedded.javascript)
  (#not-match? @_tag "\\slang\\s*=\\s*[\"']?ts")
  (#not-match? @_tag "\\stype\\s*=\\s*[\"']?(application/(ld\\+)?json|text/(x-)?template)"))
((script_element (start_tag) @_tag (raw_text) @embedded.typescript)
  (#match? @_tag "\\slang\\s*=\\s*[\"']?ts[\"'\\s>]"))
((script_element (start_tag) @_tag (raw_text) @embedded.tsx)
  (#match? @_tag "\\slang\\s*=\\s*[\"']?tsx"))

; Sass and its like have no grammar here.
((style_element (start_tag) @_tag (raw_text) @embedded.css)
  (#not-match? @_tag "\\slang\\s*=\\s*[\"']?(s[ac]ss|less|styl)"))

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
