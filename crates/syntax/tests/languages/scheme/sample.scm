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
