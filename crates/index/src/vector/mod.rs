//! The vector store: token vectors of units, kept by what their text is.

mod build;
mod codebook;
mod math;
mod maxsim;
mod memory;
mod panel;
mod pool;
mod read;
mod restore;
mod segment;
mod sibling;
mod sink;
#[cfg(test)]
mod tests;
mod text;
mod train;

pub use build::Encoding;
pub(crate) use build::{Built, Job};
pub use codebook::{Codebook, Codec, Lengths};
pub(crate) use maxsim::Whole;
pub use maxsim::maxsim;
pub use memory::Memory;
pub use read::{Allowed, Effort, Manifest, Place, Vectors};
pub(crate) use restore::restore;
pub(crate) use sibling::sibling_roots;
pub use text::{text_hash, unit_text};
pub use train::train_codebook;
