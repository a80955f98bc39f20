extends Node
class_name RelayQueue

signal pushed(event)

const LIMIT = 64
@export var speed: float = 1.0

enum Level {
	LOW,
	HIGH,
}

# Adds an event.
func push(event) -> void:
	grow(event)
	emit_signal("pushed", event)

static func make():
	return RelayQueue.new()

class Slot:
	var at = 0

	func clear():
		at = reset(at)
