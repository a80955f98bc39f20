//! The lexical index: the only place that knows tantivy.
//!
//! Units and files are documents of one tantivy index. tantivy keeps terms, frequencies, positions and
//! lengths; the score is our own BM25F (`colgrep_core::bm25`), computed over all postings of the query's
//! terms, so that a term's document frequency counts units with the term in any field.

mod directory;
mod fields;
mod read;
mod verify;
mod write;

pub use read::{Also, Lexical, NamedFile, Nearness, UnitFilter, UnitHit, WordMass};
pub use write::{FileDocument, Writer};
