; Language: CSS. Rules by selector, at-rules with a block, custom properties.

; A rule on one line stays with what is around it: minified files are one line of them.
((rule_set (selectors) @name (block) @body) @section
  (#match? @section "\n"))

((media_statement . "@media" . (_) @name (block) @body) @section
  (#match? @section "\n"))
((supports_statement . "@supports" . (_) @name (block) @body) @section
  (#match? @section "\n"))
((keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @section
  (#match? @section "\n"))
((at_rule (at_keyword) @name (block) @body) @section
  (#match? @section "\n"))

((rule_set (block (declaration (property_name) @name) @constant)) @_rule
  (#match? @name "^--")
  (#match? @_rule "\n"))

(import_statement) @import
(comment) @comment
