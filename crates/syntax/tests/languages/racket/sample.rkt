#lang racket

(require racket/list)

(define limit 64)

;; One event.
(struct event (name size))

;; Adds an event.
(define (push-event queue e)
  (check e)
  (cons e queue))

(define-syntax-rule (unless! test body)
  (if test (void) body))
