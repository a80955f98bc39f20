module Relay where

import Prelude

-- | One event.
data Event = Event String Int

-- | Weighs all events.
total :: Array Event -> Int
total events = sum (map size events)

foreign import now :: Effect Int

class Weighs a where
  weigh :: a -> Int
