; Language: HCL (Terraform and the like). Top-level blocks by their labels, locals, top-level attributes.

; What holds one value.
((config_file (body
  (block . (identifier) @parent . (string_lit (template_literal) @name) . (block_start) @body) @constant))
  (#any-of? @parent "variable" "output"))

; `resource "type" "name"` is `type.name`, `module "name"` is `module.name`.
(config_file (body
  (block
    . (identifier)
    . (string_lit (template_literal) @parent)
    . (string_lit (template_literal) @name)
    . (block_start) @body) @section))
(config_file (body
  (block . (identifier) @parent . (string_lit (template_literal) @name) . (block_start) @body) @section))
(config_file (body
  (block . (identifier) @name . (block_start) @body) @section))

; Blocks that are named inside another.
((block . (identifier) @_kind . (string_lit (template_literal) @name) . (block_start) @body) @section
  (#any-of? @_kind "group" "task" "stage"))

((config_file (body
  (block . (identifier) @_locals (body (attribute . (identifier) @name) @constant))))
  (#eq? @_locals "locals"))
(config_file (body (attribute . (identifier) @name) @constant))

((attribute . (identifier) @_key (expression (literal_value (string_lit (template_literal) @doc))))
  (#eq? @_key "description"))
(comment) @comment

((block . (identifier) @_module (body (attribute . (identifier) @_key) @import))
  (#eq? @_module "module")
  (#eq? @_key "source"))

(function_call (identifier) @call)
