//! What an index knows of its tree, without the rest of it: for whoever searches the tree itself.

use std::collections::HashSet;
use std::path::Path;

use rayon::prelude::*;

use super::{FileRecord, FileTable, Snapshot, Store};
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{CommitPoint, Lexical};
use crate::signature::{SOURCE_BYTES_MIN, Sought};
use crate::walk::{LeftOut, WalkOptions, Walked, WalkedFile, changed_ns};

/// The files of a complete index, and what their signatures tell.
#[derive(Debug)]
pub struct KnownFiles {
    store: Store,
    point: CommitPoint,
    table: FileTable,
}

/// The tree as it is, without the files that can't match.
#[derive(Debug)]
pub struct Narrowed {
    /// What a walk gives, but for the files that are left out.
    pub walked: Walked,
    /// Number of the files that are left out.
    pub left_out: usize,
}

impl Store {
    /// What the index of the tree at `root` knows of it; `None` where there is none that is complete.
    pub fn known_files(&self, root: &Path) -> Option<KnownFiles> {
        let (point, table) = self.ahead()?;
        let is_of_it = table.complete && !table.keeps_texts() && table.root == root.to_string_lossy();
        is_of_it.then(|| KnownFiles { store: self.clone(), point, table })
    }
}

impl KnownFiles {
    /// The options of the walk that the index was made with.
    pub fn walk_options(&self) -> WalkOptions {
        self.table.walk_options()
    }

    /// Walks the tree, listing only the folders that changed, and leaves out the files that hold nothing of what is
    /// `sought`: those whose signature says so, and that have not changed since.
    ///
    /// # Errors
    /// As [`crate::walk::walk`].
    pub fn narrowed(
        &self,
        root: &Path,
        left_out: &LeftOut<'_>,
        options: &WalkOptions,
        sought: Option<&Sought>,
    ) -> Result<Narrowed> {
        // A smaller tree has none.
        let sizes = self.table.files.iter().map(|file| file.size).filter(|size| *size <= self.table.filesize_max);
        let sought = sought.filter(|_| sizes.sum::<u64>() >= SOURCE_BYTES_MIN);
        let (walked, without) =
            rayon::join(|| self.table.walk_again(root, left_out, options), || sought.map(|s| self.without(s)));
        let (mut walked, without) = (walked?, without.unwrap_or_default());
        let before = walked.files.len();
        if !without.is_empty() {
            // Both are sorted by path.
            let mut known = self.table.files.iter().peekable();
            walked.files.retain(|found| {
                while known.next_if(|record| record.path < found.path).is_some() {}
                !known.peek().is_some_and(|record| is_as_it_was(record, found) && without.contains(&record.id))
            });
        }
        let left_out = before - walked.files.len();
        Ok(Narrowed { walked, left_out })
    }

    /// The files that hold nothing of it; none where the index can't be read.
    fn without(&self, sought: &Sought) -> HashSet<FileId> {
        let lexical = Lexical::open_at(&self.store.lexical_folder(), &self.point);
        lexical.and_then(|lexical| lexical.without(sought)).unwrap_or_default()
    }
}

impl Snapshot {
    /// The files below `root` that hold nothing of what is `sought`: their signatures say so, and they are on the disk as
    /// they were when they were read.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn without(&self, root: &Path, sought: &Sought) -> Result<HashSet<FileId>> {
        let without = self.lexical.without(sought)?;
        let is_as_it_was = |file: &&FileRecord| {
            let about = std::fs::symlink_metadata(root.join(&file.path));
            about.is_ok_and(|about| about.len() == file.size && changed_ns(&about) == file.mtime_ns)
        };
        let files = self.files.files.par_iter().filter(|file| without.contains(&file.id));
        Ok(files.filter(is_as_it_was).map(|file| file.id).collect())
    }
}

fn is_as_it_was(record: &FileRecord, found: &WalkedFile) -> bool {
    record.path == found.path && record.skip.is_none() && record.size == found.size && record.mtime_ns == found.mtime_ns
}
