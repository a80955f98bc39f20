//! colgrep-core: tokens, query analysis, fusion, ranking stages and collapse, as pure functions.
//!
//! `.clippy.toml` next to the manifest forbids access to disks, the clock, the environment and threads.
//!
#![doc = include_str!("../README.md")]

pub mod beginnings;
pub mod bm25;
pub mod code_line;
pub mod collapse;
pub mod enrich;
pub mod entity;
pub mod expand;
pub mod filler;
pub mod fold;
pub mod fuse;
pub mod identifier_style;
pub mod import;
pub mod keyword;
pub mod knob;
pub mod language;
pub mod literal_match;
pub mod long;
pub mod mistyped;
pub mod named;
pub mod partner;
pub mod path;
pub mod query;
pub mod rank;
pub mod spelling;
pub mod statistics;
pub mod strength;
pub mod tag;
pub mod token;
pub mod unit;
pub mod variant;
pub mod written_name;

pub use language::{LanguageFacts, LanguagePaths};
pub use unit::{Span, Unit, UnitId, UnitKind, UnitRole};
