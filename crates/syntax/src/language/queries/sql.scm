; Language: SQL. What CREATE makes and ALTER TABLE changes; a schema lends its name.

; The `;` makes the statement wider than the definition in it.
(program
  (statement (_ (object_reference schema: (identifier) @name))) @namespace
  . ";" @namespace)

(create_table (object_reference name: (identifier) @name) (column_definitions)? @body) @class
(create_view (object_reference name: (identifier) @name) . (keyword_as)? @body) @class
(create_materialized_view (object_reference name: (identifier) @name) . (keyword_as)? @body) @class
(create_type (object_reference name: (identifier) @name)) @class
(create_schema (identifier) @name) @class
(alter_table (object_reference name: (identifier) @name)) @class.extension

(create_function
  (object_reference name: (identifier) @name)
  (function_arguments) @parameters
  (function_body)? @body) @function
(create_function
  (object_reference name: (identifier) @name)
  (keyword_returns) . (keyword_setof) . (_) @return) @function
(create_function
  (object_reference name: (identifier) @name)
  (keyword_returns) . (keyword_table) . (column_definitions) @return) @function
(create_function
  (object_reference name: (identifier) @name)
  (keyword_returns) . (_) @return) @function

(create_trigger (keyword_trigger) . (object_reference name: (identifier) @name)) @function

(create_index column: (identifier) @name) @constant
(create_sequence (object_reference name: (identifier) @name)) @constant

[(comment) (marginalia)] @comment

(invocation (object_reference name: (identifier) @call))
(create_trigger (keyword_function) . (object_reference name: (identifier) @call))
