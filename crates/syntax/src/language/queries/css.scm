; Language: CSS. Rules by selector, at-rules with a block, custom properties.

; Minified files are not indexed.
(rule_set (selectors) @name (block) @body) @section

(media_statement . "@media" . (_) @name (block) @body) @section
(supports_statement . "@supports" . (_) @name (block) @body) @section
(keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @section
(at_rule (at_keyword) @name (block) @body) @section

((rule_set (block (declaration (property_name) @name) @constant))
  (#match? @name "^--"))

(import_statement) @import
(comment) @comment
