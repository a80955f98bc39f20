//! Moved projects: adopts the index of a tree that is found at another path.

use std::fs;
use std::path::{Path, PathBuf};

use super::{FileRecord, FileTable, Store};
use crate::error::{Error, Result};
use crate::walk::changed_ns;

/// Number of files sampled to decide whether a tree is the indexed one.
const SAMPLE: usize = 64;
/// Percentage of the sample that must exist with the same size and modification time.
const ALIKE_PERCENT: usize = 90;

impl Store {
    /// Whether this index was built from the tree at `root` before that was moved there: nearly all files of a sample
    /// exist with the same size and modification time.
    pub fn is_of_tree(&self, root: &Path) -> bool {
        let Ok(table) = self.generation().and_then(|generation| self.read_table(generation)) else { return false };
        let step = table.files.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<&FileRecord> = table.files.iter().step_by(step).collect();
        let alike = sample.iter().filter(|record| is_alike(record, &root.join(&record.path))).count();
        alike > 0 && 100 * alike >= ALIKE_PERCENT * sample.len()
    }

    /// Moves the whole index to `folder`, which must not exist yet, and commits it as the index of `root`.
    ///
    /// # Errors
    /// When another process writes, or the disk refuses. If the folder was renamed and the commit failed, the next
    /// update rebuilds the index and keeps its vectors.
    pub fn move_to(&self, folder: PathBuf, root: &Path) -> Result<Store> {
        let _lock = self.lock(false)?;
        self.disk().rename_folder(self.folder(), &folder).map_err(|e| Error::io("move", self.folder(), e))?;
        let moved = Store::on(folder, self.disk().clone());
        let snapshot = moved.open()?;
        let root = root.to_string_lossy().into_owned();
        moved.commit_table(&FileTable { root, ..snapshot.files })?;
        Ok(moved)
    }
}

/// Whether the file at `path` has the size and modification time of its record.
fn is_alike(record: &FileRecord, path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    metadata.is_file() && metadata.len() == record.size && changed_ns(&metadata) == record.mtime_ns
}
