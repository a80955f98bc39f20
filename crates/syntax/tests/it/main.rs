//! Languages: units of samples, tables, bombs, arbitrary bytes.

mod any_bytes;
mod bombs;
mod languages;
#[path = "../languages/mod.rs"]
mod samples;
mod table;
