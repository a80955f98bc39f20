//! Updates an index: reads and parses changed files on all cores, and commits them in checkpoints.

mod check;
mod difference;
mod files;
mod mode;
mod order;
mod repair;
mod source;
mod texts;
mod updater;
mod vectors;

pub use crate::error::caught;
pub use check::{Checked, check};
pub use mode::set_mode;
pub use order::ReadFirst;
pub use repair::{UnreadableIndex, repair};
pub(crate) use source::wait_for_new_stamp;
pub use source::{Content, Document, DocumentBatch, DocumentRequest, Source};
pub use updater::{UpdateBudget, Updater};
pub use vectors::Encoding;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Files in the table after the update.
    pub files: u64,
    /// Files read and indexed (or found to have no units).
    pub changed: u64,
    pub removed: u64,
    pub units: u64,
    pub in_tree: u64,
    /// Files that an update left unread at its time limit.
    pub unread: u64,
    /// Bytes of source read.
    pub bytes: u64,
    /// Whether anything was written to disk.
    pub wrote: bool,
    /// Texts turned into vectors.
    pub encoded: u64,
    /// Units that had vectors already, here or in another worktree, or share their text with another unit. Counted only
    /// if vectors were requested and had to be updated.
    pub reused: u64,
    /// Units without requested vectors: time ran out, files changed meanwhile, or another process is still encoding
    /// them.
    pub without_vectors: u64,
}

/// Receives progress; called from many threads.
pub trait Progress: Sync {
    /// This many files will be read.
    fn begin(&self, files: u64);
    /// One more file is done, with this many units.
    fn file_done(&self, units: u64);
    /// This many units will get vectors.
    fn vectors_begin(&self, _units: u64) {}
    /// This many more units have vectors.
    fn vectors_done(&self, _units: u64) {}
    /// Ignore files that are disregarded, with the reason; called once, before the work begins.
    fn unheeded(&self, _files: &[(String, String)]) {}
    /// Called when the update has to wait for another process that writes the index.
    fn waits(&self) {}
}

impl Progress for () {
    fn begin(&self, _: u64) {}
    fn file_done(&self, _: u64) {}
}
