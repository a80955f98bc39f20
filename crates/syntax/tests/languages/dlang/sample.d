module relay.queue;

import std.stdio;

enum limit = 64;

/// A queue of events.
class Queue
{
    this(size_t size)
    {
        items = make(size);
    }

    /// Adds an event.
    void push(string event)
    {
        grow(event);
    }

    bool empty() const { return items.length == 0; }
}

struct Slot {
    int at;
}

template Pair(T) {
    T first;
}

int total(int[] values) {
    return sum(values);
}
