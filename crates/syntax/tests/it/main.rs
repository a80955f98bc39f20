//! Languages: units of samples, tables, bombs, arbitrary bytes.

mod any_bytes;
mod bombs;
mod languages;
mod table;
