//! colgrep-share: indexes that a team shares through an object store or a folder.
//!
//! An index is sent as its files, each under the SHA-256 of its bytes, and named by a manifest that moves by one
//! conditional put, so concurrent pushes all survive. Fetched files are verified before they are used
//! (docs/index-format.md).

mod address;
mod bucket;
mod credentials;
mod error;
mod hash;
mod manifest;
mod open;
mod pace;
mod prune;
mod pull;
mod push;
mod remote;
mod shelf;
mod takes;
mod watch;

pub use address::StoreAddress;
pub use error::{Error, Result};
pub use manifest::{ManifestSnapshot, VectorFacts};
pub use open::{Access, StoreTimeouts};
pub use pull::{Pulled, RemoteIndex, Wanted};
pub use push::{Pushed, Sent};
pub use remote::{Remote, RemoteState};
pub use takes::Takes;
pub use watch::{TransferPhase, TransferWatch};
