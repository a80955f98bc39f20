fs = require 'fs'

LIMIT = 64

# A queue of events.
class Queue
  constructor: (@items) ->
    @count = 0

  push: (event) ->
    grow(@items)

# Sends what is left.
flush = (queue, done) ->
  drain(queue)
