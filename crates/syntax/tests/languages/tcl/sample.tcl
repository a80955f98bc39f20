package require Tcl 8.6

set limit 64

# Adds an event.
proc relay::push {queue event} {
    if {$event ne ""} {
        check $event
    }
}

oo::class create Queue {
    constructor {size} {
        my reset
    }

    method push {event} {
        lappend items $event
    }
}

oo::define Queue method $name {event} {
    check $event
}
