//! Changing the vector mode of an existing index.

use crate::error::{ErrorKind, Result};
use crate::mode::VectorMode;
use crate::store::{FileTable, Store};

/// Sets the vector mode of the index in `store`, and drops the vectors that the mode has no place for. Waits for another
/// writer. Returns whether anything changed: nothing where the index was removed meanwhile.
///
/// # Errors
/// When the index can't be read, or the disk refuses.
pub fn set_mode(store: &Store, mode: VectorMode) -> Result<bool> {
    let is_so = |files: &FileTable| files.mode == mode && (mode == VectorMode::Full || files.vectors.is_none());
    let open = || match store.open() {
        Err(error) if error.kind() == ErrorKind::Missing => Ok(None),
        snapshot => snapshot.map(|snapshot| Some(snapshot.files).filter(|files| !is_so(files))),
    };
    if open()?.is_none() {
        return Ok(false);
    }
    let _lock = store.lock(true)?;
    let Some(mut table) = open()? else { return Ok(false) };
    table.mode = mode;
    if mode != VectorMode::Full {
        table.vectors = None;
    }
    store.commit_table(&table)?;
    Ok(true)
}
