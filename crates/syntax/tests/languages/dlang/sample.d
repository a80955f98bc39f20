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

extern(C) void relay_close(const(char)[] name, bool now = true)
{
    store(name);
}

shared struct Buffer(size_t size = 64)
{
    @safe pure this(size_t n)
    {
        store(n);
    }
}

private mixin template Counted(bool isShared)
{
    size_t count() { return size(this); }
}

static if (is(size_t == ulong))
{
    int widen() { return store(1); }
}
