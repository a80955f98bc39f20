package relay;

import haxe.ds.StringMap;

/** A queue of events. **/
class Queue {
    public static inline var LIMIT = 64;

    public function new() {}

    // Adds an event.
    public function push(event:String):Void {
        grow(event);
    }
}

enum Level {
    Low;
    High;
}
