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
            (block_mapping_pair key: (_) @name value: [(block_node) (flow_node (flow_mapping))]) @section)))))
  (#any-of? @_list "jobs" "services" "paths" "definitions" "components" "Resources" "stages" "tasks"
    "volumes" "networks"))

; An object of Kubernetes by its kind and name. Only keys in this order: any two would be a square of pairs.
((document
  (block_node
    (block_mapping
      (block_mapping_pair key: (_) @_kind value: (flow_node) @parent)
      . (block_mapping_pair
          key: (_) @_metadata
          value: [
            (block_node (block_mapping (block_mapping_pair key: (_) @_name value: (flow_node) @name)))
            (flow_node (flow_mapping (flow_pair key: (_) @_name value: (flow_node) @name)))
          ]))) @section)
  (#eq? @_kind "kind")
  (#eq? @_metadata "metadata")
  (#eq? @_name "name"))
((document
  (block_node
    (block_mapping
      . (block_mapping_pair key: (_) @_kind value: (flow_node) @parent)
      . (block_mapping_pair)
      . (block_mapping_pair
          key: (_) @_metadata
          value: (block_node (block_mapping (block_mapping_pair key: (_) @_name value: (flow_node) @name)))))) @section)
  (#eq? @_kind "kind")
  (#eq? @_metadata "metadata")
  (#eq? @_name "name"))

; In a list of objects.
((block_sequence_item
  (block_node
    (block_mapping
      (block_mapping_pair key: (_) @_kind value: (flow_node) @parent)
      . (block_mapping_pair
          key: (_) @_metadata
          value: [
            (block_node (block_mapping (block_mapping_pair key: (_) @_name value: (flow_node) @name)))
            (flow_node (flow_mapping (flow_pair key: (_) @_name value: (flow_node) @name)))
          ])))) @section
  (#eq? @_kind "kind")
  (#eq? @_metadata "metadata")
  (#eq? @_name "name"))

; The same on one line.
((document
  (flow_node
    (flow_mapping
      (flow_pair key: (_) @_kind value: (flow_node) @parent)
      . (flow_pair
          key: (_) @_metadata
          value: (flow_node (flow_mapping (flow_pair key: (_) @_name value: (flow_node) @name)))))) @section)
  (#eq? @_kind "kind")
  (#eq? @_metadata "metadata")
  (#eq? @_name "name"))

; Schemas and operations of OpenAPI.
(document
  (block_node
    (block_mapping
      (block_mapping_pair
        key: (_) @_components
        value: (block_node
          (block_mapping
            (block_mapping_pair
              value: (block_node
                (block_mapping
                  (block_mapping_pair key: (_) @name value: [(block_node) (flow_node (flow_mapping))]) @section))))))))
  (#eq? @_components "components"))
((block_mapping_pair
  value: (block_node (block_mapping (block_mapping_pair key: (_) @_id value: (flow_node) @name)))) @section
  (#eq? @_id "operationId"))
((flow_pair
  value: (flow_node (flow_mapping (flow_pair key: (_) @_id value: (flow_node) @name)))) @section
  (#eq? @_id "operationId"))

(comment) @comment
