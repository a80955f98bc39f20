use std log

const limit = 64

# Shows events.
export def "relay show" [path: string] {
    open $path | relay-read
}

def relay-read [] {
    lines
}
