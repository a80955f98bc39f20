//! Settings that `init` changes in an existing index: its vector mode, and the mark of `init`.

use crate::error::{ErrorKind, Result};
use crate::mode::VectorMode;
use crate::store::{FileTable, Store};

/// Sets the vector mode of the index in `store`, drops vectors that the mode does not keep, and marks the index as made
/// by `init`. Waits for another writer. Returns whether the mode or the vectors changed; false if the index was removed
/// meanwhile.
///
/// # Errors
/// When the index can't be read, or the disk refuses.
pub fn set_mode(store: &Store, mode: VectorMode) -> Result<bool> {
    let is_so = |files: &FileTable| files.mode == mode && (mode == VectorMode::Full || files.vectors.is_none());
    let open = || match store.open() {
        Err(error) if error.kind() == ErrorKind::Missing => Ok(None),
        snapshot => snapshot.map(|snapshot| Some(snapshot.files).filter(|files| !is_so(files) || !files.by_init)),
    };
    if open()?.is_none() {
        return Ok(false);
    }
    let _lock = store.lock(true)?;
    let Some(mut table) = open()? else { return Ok(false) };
    let differs = !is_so(&table);
    (table.mode, table.by_init) = (mode, true);
    if mode != VectorMode::Full {
        table.vectors = None;
    }
    store.commit_table(&table)?;
    Ok(differs)
}
