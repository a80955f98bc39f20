$version: "2"
namespace relay

use aws.api#service

/// Takes events.
service Relay {
    operations: [Push]
}

operation Push {
    input: PushInput
}

structure PushInput {
    name: String
}
