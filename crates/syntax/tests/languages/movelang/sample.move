module relay::queue {
    use std::vector;

    const LIMIT: u64 = 64;

    /// One event.
    struct Event has store {
        size: u64,
    }

    /// Adds an event.
    public fun push(queue: &mut vector<Event>, event: Event) {
        check(&event);
    }

    public(friend) entry fun clear(queue: &mut vector<Event>) {
        drain(queue);
    }
}
