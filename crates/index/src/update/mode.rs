//! Changing the vector mode of an existing index.

use crate::error::Result;
use crate::mode::VectorMode;
use crate::store::{FileTable, Store};

/// Sets the vector mode of the index in `store`, and drops the vectors that the mode has no place for. Waits for another
/// writer. Returns whether anything changed.
///
/// # Errors
/// When there is no index that can be read, or the disk refuses.
pub fn set_mode(store: &Store, mode: VectorMode) -> Result<bool> {
    let is_so = |files: &FileTable| files.mode == mode && (mode == VectorMode::Full || files.vectors.is_none());
    if is_so(&store.open()?.files) {
        return Ok(false);
    }
    let _lock = store.lock(true)?;
    let mut table = store.open()?.files;
    if is_so(&table) {
        return Ok(false);
    }
    table.mode = mode;
    if mode != VectorMode::Full {
        table.vectors = None;
    }
    store.commit_table(&table)?;
    Ok(true)
}
