%event = type { i32, i8* }
@limit = constant i32 64

declare i32 @weigh(i32)

; Adds an event.
define i32 @push(i32 %size) {
entry:
  %w = call i32 @weigh(i32 %size)
  ret i32 %w
}
