//! colgrep-index: the world on disk. Walking, the lexical store, the vectors, and their updates.

pub mod error;
pub mod ids;
pub mod lexical;
pub mod mode;
pub mod search;
pub mod source;
pub mod store;
pub mod units;
pub mod update;
pub mod vector;
pub mod walk;

pub use error::{Error, ErrorKind, Result};
pub use ids::{FileId, TextHash};
