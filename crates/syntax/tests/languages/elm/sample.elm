module Relay exposing (..)

import Html exposing (text)


type alias Event =
    { name : String
    , size : Int
    }


type Msg
    = Push Event
    | Clear


{-| Adds an event. -}
update : Msg -> List Event -> List Event
update msg events =
    case msg of
        Push event ->
            event :: events

        Clear ->
            []


port sendEvent : String -> Cmd msg


limit =
    64
