//! colgrep-index: the index of a project on disk. It walks the tree, keeps units and their vectors in a store, and
//! brings that up to date.
//!
//! ```
//! use colgrep_index::store::Store;
//! use colgrep_index::update::Updater;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let root = folder.path().join("project");
//! std::fs::create_dir(&root)?;
//! std::fs::write(root.join("http.rs"), "/// Reads a request from a socket.\nfn read_request() {}\n")?;
//!
//! let store = Store::new(folder.path().join("index"));
//! let (snapshot, report) = Updater::new(&store, &root).run()?;
//! println!("{} files, {} units", report.files, report.units);
//! # Ok(())
//! # }
//! ```
//!
//! Modules use only those before them in this list, which a test enforces: [`error`], [`ids`], [`moment`], [`units`]
//! (the text of a unit that is encoded), [`signature`] (what a file can't contain), [`mode`], [`source`] (reading
//! files), [`walk`], [`worktree`], [`vector`] (independent of the store), [`lexical`] (the only user of tantivy),
//! [`store`] (both, under one commit point), [`update`], [`history`] (another source of documents: commits and
//! transcripts of agents).

pub mod beneath;
pub mod disk;
pub mod error;
pub mod history;
pub mod ids;
pub mod lexical;
pub mod mode;
pub mod moment;
pub mod signature;
pub mod source;
pub mod store;
pub mod units;
pub mod update;
pub mod vector;
pub mod walk;
pub mod worktree;

pub use error::{Error, ErrorKind, Result};
pub use ids::{FileId, TextHash};
