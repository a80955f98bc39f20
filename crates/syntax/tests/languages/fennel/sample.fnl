(local limit 64)

;; Adds an event.
(fn push-event [queue event]
  (check event)
  (table.insert queue event))

(macro unless! [test ...]
  `(if (not ,test) (do ,...)))
