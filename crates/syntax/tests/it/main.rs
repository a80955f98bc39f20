//! Languages: units of samples and of other forms, tables, bombs, arbitrary bytes.

mod any_bytes;
mod bombs;
mod forms;
mod languages;
#[path = "../languages/mod.rs"]
mod samples;
mod structure;
mod table;
