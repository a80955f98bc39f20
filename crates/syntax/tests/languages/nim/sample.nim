import std/tables

const limit* = 64

type
  Event* = object
    name: string
  Level = enum
    low, high

## Adds an event.
proc push*(queue: var seq[Event], event: Event) =
  check(event)
  queue.add(event)

template twice(x: untyped): untyped =
  x * 2
