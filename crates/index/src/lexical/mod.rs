//! The lexical index, the only module that uses tantivy. Units and files are documents of one index.
//!
//! tantivy keeps terms, frequencies, positions and lengths; the score is our own BM25F (`colgrep_core::bm25`), computed
//! over all postings of the query's terms, so that a term's document frequency counts units with the term in any field.

mod block;
mod commit;
mod directory;
mod entries;
mod facts;
mod fields;
pub mod forge;
mod holders;
mod inside;
mod lengths;
mod named;
mod proximity;
mod read;
mod run;
mod score;
mod sealed;
mod signed;
mod space;
mod statistics;
mod stored;
mod terms;
mod verify;
mod wording;
mod write;

pub use commit::CommitPoint;
pub(crate) use commit::{collect, is_segment_file, named_files};
pub(crate) use entries::kept;
pub use entries::{Entry, EntryHit};
pub use facts::{CodeName, split_callee};
pub use holders::term_of_word;
pub use named::{NamedFile, NamesFound};
pub use proximity::{PairFound, PairSample};
pub use read::{Lexical, UnitFilter, UnitHit, UnitPlace, UnitSpan};
pub use run::{Run, run_of};
pub use score::cut;
pub use score::{LookedUp, Scorer, Scoring};
pub use write::{FileDocument, Writer};
