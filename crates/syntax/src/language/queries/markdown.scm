; Language: Markdown. A heading with all that stands under it; text above the first heading stays a block.

; Headings in block quotes and list items are not sections of the document.
(document (section (atx_heading heading_content: (inline) @name)) @section)
(section (section (atx_heading heading_content: (inline) @name)) @section)

; The grammar does not nest what an underlined heading heads: `parse/headings.rs` does, by the row.
(section
  (setext_heading
    heading_content: (paragraph (inline) @name)
    [(setext_h1_underline) (setext_h2_underline)] @body) @section)
