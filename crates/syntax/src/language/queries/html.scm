; Language: HTML. Headings, elements with an id, and the scripts and styles by their own languages.

; An element on one line stays with what is around it.
((element
  (start_tag
    (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)))) @section
  (#match? @_id "^[iI][dD]$")
  (#match? @section "\n\\s*\\S"))
((element
  (start_tag
    (attribute (attribute_name) @_id (attribute_value) @name))) @section
  (#match? @_id "^[iI][dD]$")
  (#match? @section "\n\\s*\\S"))

; A heading's text may be in a link or the like.
((element (start_tag (tag_name) @_tag) . (text) @name) @section
  (#match? @_tag "^[hH][1-6]$"))
((element (start_tag (tag_name) @_tag) . (element (start_tag) . (text) @name)) @section
  (#match? @_tag "^[hH][1-6]$"))

; A script is JavaScript unless it says otherwise.
((script_element (start_tag) @_tag (raw_text) @embedded.javascript)
  (#not-match? @_tag "\\s(type|lang)\\s*=")
  (#match? @embedded.javascript "\\S"))
((script_element (start_tag) @_tag (raw_text) @embedded.javascript)
  (#match? @_tag "\\stype\\s*=\\s*[\"']?(module|((text|application)/(x-)?(javascript|ecmascript|jsx|babel)))[\"'\\s>]")
  (#not-match? @_tag "\\slang\\s*="))
((script_element (start_tag) @_tag (raw_text) @embedded.typescript)
  (#match? @_tag "\\slang\\s*=\\s*[\"']?(ts|typescript)[\"'\\s>]"))

(style_element (raw_text) @embedded.css)

(comment) @comment
