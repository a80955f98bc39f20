import gleam/list

pub const limit = 64

/// One event.
pub type Event {
  Event(name: String, size: Int)
}

/// Adds an event.
pub fn push(events: List(Event), event: Event) -> List(Event) {
  check(event)
  [event, ..events]
}

fn check(event: Event) -> Bool {
  event.size > 0
}
