include "time.thrift"
namespace py relay

const i32 LIMIT = 64

// One event.
struct Event {
  1: required string name
  2: optional map<string, i32> sizes
}

enum Level {
  LOW = 0
  HIGH = 1
}

service Relay {
  bool push(1: Event event)
  oneway void clear()
}
