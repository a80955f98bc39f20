; Language: YAML. Top-level keys whose value has lines of its own; one-line keys stay in blocks.

(document
  (block_node
    (block_mapping
      (block_mapping_pair key: (_) @name value: (block_node)) @section)))

; The second level of the keys that list named things (jobs of a workflow, services, paths of an API).
(document
  (block_node
    (block_mapping
      (block_mapping_pair
        key: (_) @_list
        value: (block_node
          (block_mapping
            (block_mapping_pair key: (_) @name value: (block_node)) @section)))))
  (#any-of? @_list "jobs" "services" "paths" "definitions" "components" "Resources" "stages" "tasks"))

(comment) @comment
