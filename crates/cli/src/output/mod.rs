//! What is printed: for people, for programs, and how scores came about.

pub mod explain;
pub mod human;
pub mod json;
pub mod style;
pub mod trace;
