package relay

import rego.v1

default allow := false

# Who may push.
allow if {
    input.method == "push"
    is_member(input.user)
}

is_member(user) if {
    user in data.members
}
