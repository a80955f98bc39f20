namespace Relay

open System

/// One event.
type Event =
    { Name: string
      Size: int }

type Queue(limit: int) =
    member this.Push(event: Event) =
        check event

    static member Create() = Queue(64)

module Events =
    let limit = 64

    /// Weighs all events.
    let rec total (events: Event list) =
        match events with
        | [] -> 0
        | e :: rest -> e.Size + total rest

    let inline twice x = x * 2
