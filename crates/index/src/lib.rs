//! colgrep-index: the index of a project on disk. It walks the tree, keeps units and their vectors in a store, brings
//! that up to date, and searches it.
//!
//! ```
//! use colgrep_core::collapse::PerFile;
//! use colgrep_core::fuse::Fusion;
//! use colgrep_core::knob::{Knobs, Profile};
//! use colgrep_index::search::{Background, Request, search_one};
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
//!
//! let knobs = Knobs::of(Profile::Default);
//! let query = "where is a request read";
//! let (fusion, background) = (Fusion::default(), Background::default());
//! let request = Request { query, knobs: &knobs, fusion, files: 5, units_per_file: PerFile::Units(3), strength_min: 0.0, semantic: None, background };
//! let answer = search_one(&snapshot, None, &request, None)?;
//! for hit in &answer.hits {
//!     println!("{} {:.2}", answer.files[hit.file].path, hit.score);
//! }
//! # assert_eq!(answer.files[answer.hits[0].file].path, "http.rs");
//! # Ok(())
//! # }
//! ```
//!
//! Modules use those below them alone; a test holds them to it. From the bottom: [`error`], [`ids`], [`moment`], [`units`] (the text
//! that is encoded of a unit), [`signature`] (what a file can't hold), [`mode`], [`source`] (reading files), [`walk`], [`worktree`], [`vector`] (knows nothing of
//! the store), [`lexical`] (the one that knows tantivy), [`store`] (both, under one commit point), [`update`], [`search`],
//! [`history`] (another source of documents: commits, and what agents wrote down).

pub mod disk;
pub mod error;
pub mod history;
pub mod ids;
pub mod lexical;
pub mod mode;
pub mod moment;
pub mod search;
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
