use v6;

constant $limit = 64;

# A queue of events.
class Queue {
    has @.items;

    method push-event($event) {
        check($event);
    }
}

grammar Route {
    token name { \w+ }
}

sub weigh(@events) {
    total(@events)
}
