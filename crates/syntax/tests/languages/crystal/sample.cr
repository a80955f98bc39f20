require "json"

# A queue of events.
module Relay
  LIMIT = 64

  abstract class Sink
    abstract def open?

    # Adds an event.
    def push(event : String)
      if full?
        grow(event)
      end
    end

    private def full?
      @items.size >= LIMIT
    end
  end

  macro delegate_to(name)
    {{name}}
  end
end
