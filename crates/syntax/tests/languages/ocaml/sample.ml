(* Shipping rates by zone. *)

open Base
module Map = Stdlib.Map.Make (String)

exception Unknown_zone of string

(** How a parcel travels. *)
type mode =
  | Ground
  | Air of { surcharge : int }
  | Sea of int * string
[@@deriving show, eq]

type 'a rated = { value : 'a; rate : float }
and zone = string

(** Largest weight in grams. *)
let max_weight = 31_500

let ( +. ) a b = Stdlib.( +. ) a b

(** [rate mode weight] is the price of a parcel.

    Raises when it is too heavy. *)
let rate ?express ~zone mode (weight : int) : int =
  let base = match mode with Ground -> 400 | Air { surcharge } -> 900 + surcharge | Sea (p, _) -> p in
  if weight > max_weight then failwith "too heavy";
  let factor = if Option.is_some express then 2 else 1 in
  factor * base * Zone.multiplier zone

let rec even n = n = 0 || odd (n - 1)
and odd n = n <> 0 && even (n - 1)

let describe = function
  | Ground -> "ground"
  | Air _ -> "air"
  | Sea _ -> "sea"

let cheapest = fun parcels -> List.fold ~init:0 ~f:min parcels

external fast_hash : string -> int = "shipping_fast_hash" [@@noalloc]

module type CARRIER = sig
  type t

  (** Books a parcel. *)
  val book : t -> zone -> (int, string) Result.t
end

module Post : CARRIER with type t = int = struct
  type t = int

  let limit = 20

  let book t zone =
    if t > limit then Error zone else Ok (Ledger.append t)
end

module Make (C : CARRIER) (Log : sig val log : string -> unit end) = struct
  include C

  let book_all ts zone = List.map ts ~f:(fun t -> C.book t zone)
end

class virtual depot (name : string) = object (self)
  inherit building name as super
  val mutable parcels = []
  method private count = List.length parcels
  method store p = parcels <- p :: parcels; self#count
  initializer Registry.add name
end

let%test "ground is cheap" = rate ~zone:"a" Ground 10 < 1000

let () =
  let post = 3 in
  ignore (Post.book post "north")

let (low, high) = bounds rows
let first, second = pair
