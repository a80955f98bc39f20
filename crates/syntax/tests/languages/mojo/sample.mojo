from memory import memset

alias limit = 64

struct Queue:
    var count: Int

    fn push(inout self, event: Int):
        grow(event)

# Weighs all events.
fn total(events: List[Int]) -> Int:
    return add(events)

def main():
    print(total([1]))
