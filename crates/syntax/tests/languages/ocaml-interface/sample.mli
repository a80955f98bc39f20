open Result

(** One event. *)
type event = {
  name : string;
  size : int;
}

exception Full of int

(** Adds an event. *)
val push : event list -> event -> event list

module Queue : sig
  type t

  val create : unit -> t
end
