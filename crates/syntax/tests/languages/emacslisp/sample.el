(require 'cl-lib)

(defgroup relay nil
  "Events.")

(defcustom relay-limit 64
  "How many events are kept.")

(cl-defstruct relay-event
  name size)

;; Puts an event at the end.
(defun relay-push (event)
  "Push EVENT."
  (relay--check event)
  (push event relay--events))

(defmacro relay-with (name &rest body)
  `(let ((,name 1)) ,@body))

(define-minor-mode relay-mode
  "Show events.")

(define-skeleton relay-insert-event
  "Insert an event."
  nil "event: ")
