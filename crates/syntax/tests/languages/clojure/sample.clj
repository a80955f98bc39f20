(ns relay.core
  (:require [clojure.string :as str]))

(def limit 64)

;; Where events go.
(defprotocol Sink
  (push [this event])
  (close [this]))

(defrecord Queue [items]
  Sink
  (push [this event]
    (swap! items conj event))
  (close [this] nil))

;; Sends all events.
(defn send-all
  "Sends each event once."
  [sink events]
  (doseq [e events]
    (push sink e)))

(deftest sends-everything
  (is (= 1 1)))
