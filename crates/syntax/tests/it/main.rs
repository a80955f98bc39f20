//! Languages: units of samples and of other forms, tables, bombs, arbitrary bytes.

mod any_bytes;
mod bombs;
mod forms;
mod languages;
mod table;
