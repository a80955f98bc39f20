//! An index follows its project to another place.

use std::fs;
use std::path::{Path, PathBuf};

use super::{FileRecord, FileTable, Store};
use crate::error::{Error, Result};
use crate::walk::changed_ns;

/// Files that are looked at to tell whether a tree is the one that an index was made of.
const SAMPLE: usize = 64;
/// Share of them, in percent, that must be there with size and time of change.
const ALIKE_PERCENT: usize = 90;

impl Store {
    /// Whether the index was made of the tree at `root`, which stood elsewhere then: nearly all of a sample of its files
    /// are there, with their sizes and times of change.
    pub fn is_of_tree(&self, root: &Path) -> bool {
        let Ok(table) = self.generation().and_then(|generation| self.read_table(generation)) else { return false };
        let step = table.files.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<&FileRecord> = table.files.iter().step_by(step).collect();
        let alike = sample.iter().filter(|record| is_alike(record, &root.join(&record.path))).count();
        alike > 0 && 100 * alike >= ALIKE_PERCENT * sample.len()
    }

    /// Moves the whole index into `folder`, which must not be there, as that of `root`.
    ///
    /// # Errors
    /// When another process writes, or the disk refuses. What was moved by then is built anew from its texts' vectors.
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

/// Whether a file is there as it was when it was indexed.
fn is_alike(record: &FileRecord, path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    metadata.is_file() && metadata.len() == record.size && changed_ns(&metadata) == record.mtime_ns
}
