(defpackage :relay
  (:use :cl))

(defparameter *limit* 64)

;; A queue of events.
(defclass queue ()
  ((items :initform nil)))

;; Puts an event at the end.
(defun push-event (queue event)
  (check-event event)
  (setf (items queue) event))

(defmethod (setf limit) (value (q queue))
  value)

(defmacro with-queue ((name) &body body)
  `(let ((,name (make-instance 'queue))) ,@body))
