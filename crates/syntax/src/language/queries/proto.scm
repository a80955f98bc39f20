; Language: Protocol Buffers. Messages, enums and services with their fields, values and calls.

(message (message_name) @name (message_body) @body) @class
(enum (enum_name) @name (enum_body) @body) @class
(service (service_name) @name "{" @body) @class
(extend (full_ident) @name (message_body) @body) @class.extension
(oneof (identifier) @name "{" @body) @section

(rpc (rpc_name) @name "{" @body) @function
(rpc (rpc_name) @name . (message_or_enum_type) @parameters . (message_or_enum_type) @return) @function

(field (identifier) @name) @constant
(map_field (identifier) @name) @constant
(oneof_field (identifier) @name) @constant
(enum_field . (identifier) @name) @constant

(comment) @comment
(import) @import

; Others name a message with the package: relay.v1.Event.
(source_file (package (full_ident) @name)) @namespace
