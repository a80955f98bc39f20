//! The vector store: token vectors of units, kept by what their text is.

mod codebook;
mod math;
mod maxsim;
mod pool;
mod read;
mod segment;
mod text;
mod train;

pub use codebook::{Codebook, Codec};
pub use maxsim::maxsim;
pub use read::{Allowed, Effort, Manifest, Place, Vectors};
pub use text::{text_hash, unit_text};
