import QtQuick 2.15

Item {
    property int limit: 64
    signal pushed(string event)

    // Adds an event.
    function push(event) {
        grow(event)
    }

    Rectangle {
        width: 10
    }
}
