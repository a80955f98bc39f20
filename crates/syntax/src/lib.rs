//! colgrep-syntax: source text to units of code. The table of languages, reading bytes into text, and parsing.
//!
#![doc = include_str!("../README.md")]

mod budget;
pub mod language;
pub mod parse;
pub mod read;
mod secrets;
pub mod structure;
pub mod worker;
