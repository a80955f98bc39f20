(import spork/json)

(def limit 64)

# Adds an event.
(defn push-event
  [queue event]
  (check event)
  (array/push queue event))

(defmacro unless [test & body]
  ~(if (not ,test) (do ,;body)))
