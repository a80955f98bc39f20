; Language: R Markdown and Quarto: headings, and the definitions of chunks of code.

; A chunk, "```{r name}", by its own language; other code stays in the text.
((fenced_code_block (info_string . "{" . (language) @_language) (code_fence_content) @embedded.r)
  (#match? @_language "^[rR]$"))
((fenced_code_block (info_string . "{" . (language) @_language) (code_fence_content) @embedded.python)
  (#match? @_language "^python$"))
((fenced_code_block (info_string . "{" . (language) @_language) (code_fence_content) @embedded.julia)
  (#match? @_language "^julia$"))
((fenced_code_block (info_string . "{" . (language) @_language) (code_fence_content) @embedded.bash)
  (#match? @_language "^(bash|sh)$"))
((fenced_code_block (info_string . "{" . (language) @_language) (code_fence_content) @embedded.javascript)
  (#match? @_language "^(js|ojs)$"))
((fenced_code_block (info_string . "{" . (language) @_language) (code_fence_content) @embedded.sql)
  (#match? @_language "^sql$"))

; inherits: markdown
