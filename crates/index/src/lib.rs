//! colgrep-index: the world on disk. Walking, parsing into units, the lexical store and its updates.

pub mod error;
pub mod language;
pub mod lexical;
pub mod mode;
pub mod parse;
pub mod read;
pub mod search;
pub mod source;
pub mod store;
pub mod units;
pub mod update;
pub mod vector;
pub mod walk;

pub use error::{Error, ErrorKind, Result};
