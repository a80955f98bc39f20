//! The vector store: compressed token vectors, addressed by the hash of their text, and nearest-neighbour search.

mod bytes;
mod codebook;
#[cfg(target_os = "linux")]
mod cut_maps;
mod math;
mod maxsim;
mod memory;
mod nearest;
mod panel;
mod pool;
mod read;
mod segment;
mod sink;
mod spare;
#[cfg(test)]
mod tests;
mod train;

pub use codebook::{Codebook, Codec, RowLengths};
pub(crate) use math::Random;
pub use maxsim::QueryKernel;
pub use memory::Memory;
pub use nearest::{Scored, VectorQuery, in_store};
pub(crate) use pool::{SplitRow, pool};
pub use read::{Allowed, Effort, VectorManifest, VectorPlace, Vectors};
pub use segment::SpareSegment;
pub(crate) use sink::{Commit, Sink, is_vector_file, without};
pub(crate) use spare::Spare;
pub use train::train_codebook;
pub(crate) use train::{centroids_for, rows_wanted, train};
