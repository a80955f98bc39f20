import Mathlib.Data.List.Basic

/-- One event. -/
structure Event where
  name : String
  size : Nat

/-- Weighs all events. -/
def total (events : List Event) : Nat :=
  match events with
  | [] => 0
  | e :: rest => e.size + total rest

theorem total_nil : total [] = 0 := by
  rfl
