; Language: Markdown. A heading with all that stands under it; text above the first heading stays a block.

; Headings in block quotes and list items are not sections of the document.
(document (section (atx_heading heading_content: (inline) @name)) @section)
(section (section (atx_heading heading_content: (inline) @name)) @section)

; The grammar does not nest what an underlined heading heads: it goes to the next heading.
(section
  (setext_heading heading_content: (paragraph (inline) @name)) @section
  . [(paragraph) (list) (fenced_code_block) (indented_code_block) (html_block) (block_quote) (pipe_table) (thematic_break) (link_reference_definition)]* @section)
