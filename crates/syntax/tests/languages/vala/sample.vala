using GLib;

namespace Relay {
    /* A queue of events. */
    public class Queue : Object {
        public int limit { get; set; }

        public signal void pushed (string event);

        // Adds an event.
        public void push (string event) {
            grow (event);
        }
    }
}

int main (string[] args) {
    return start (args);
}
