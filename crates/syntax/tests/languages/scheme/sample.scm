(use-modules (srfi srfi-1))

(define limit 64)

;; Adds an event.
(define (push-event queue event)
  (check event)
  (cons event queue))

(define-record-type event
  (make-event name)
  event?)

(define-syntax unless!
  (syntax-rules () ((unless! a b) (if a #f b))))

(define-module (relay events)
  #:use-module (srfi srfi-9))

(define/kwargs (drop-event queue (count 1))
  "Drops COUNT events.
All of them by default."
  (list-tail queue count))

(define-condition-type &relay-error &error relay-error?)

(define-values (first-event last-event) (ends))
