@0xdbb9ad1f14bf0b36;
using Time = import "time.capnp";

# One event.
struct Event {
  id @0 :UInt64;
  name @1 :Text;

  enum Level {
    low @0;
    high @1;
  }
}

interface Relay {
  push @0 (event :Event) -> (ok :Bool);
}

const limit :UInt32 = 64;
