//! colgrep-share: indexes that a team shares through an object store or a folder.
//!
//! An index is sent as its files, each under the SHA-256 of its bytes, and a manifest of the repository that names them.
//! The manifest moves by one conditional put, so of two who push at once one begins again, and both are found after. What
//! comes back is checked byte by byte before it takes the place of anything. docs/index-format.md has the layout.
//!
//! Nothing here runs unless somebody pushes, pulls, or searches with a remote.

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
