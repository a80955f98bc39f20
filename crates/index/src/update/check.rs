//! Verification of an index: every checksum, and stray files in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::lexical::Lexical;
use crate::store::{ATTEMPTS, Store};
use crate::vector::Vectors;

/// Result of verifying an index.
#[derive(Debug, Default)]
pub struct Checked {
    /// Files that the commit point names.
    pub files: u64,
    /// Total size of these files, in bytes.
    pub bytes: u64,
    /// One error for each damaged part.
    pub damage: Vec<Error>,
    /// Files in the folder that the commit does not name: leftovers of a killed build, which the next one removes.
    pub stray: Vec<PathBuf>,
}

/// Reads the whole index in `store` and verifies every checksum. Of an index from elsewhere, also reads all that searches
/// read. Changes nothing and takes no lock.
///
/// # Errors
/// [`ErrorKind::Missing`] if there is no index, [`ErrorKind::Io`] if it can't be read.
pub fn check(store: &Store) -> Result<Checked> {
    for _ in 0..ATTEMPTS {
        let before = store.point().ok();
        let checked = read_through(store);
        // A commit in between removes files of the previous one, which are not damaged then.
        if checked.as_ref().is_ok_and(|checked| checked.damage.is_empty()) || store.point().ok() == before {
            // If the index was removed meanwhile, report that, not the files that could not be read.
            let removed = || store.open().err().filter(|error| error.kind() == ErrorKind::Missing);
            return checked.map_err(|error| removed().unwrap_or(error));
        }
    }
    Err(Error::Changing)
}

fn read_through(store: &Store) -> Result<Checked> {
    let mut checked = Checked { damage: Lexical::damage(&store.lexical_folder())?, ..Checked::default() };
    let opened = match store.open() {
        Err(error) if error.kind() == ErrorKind::Unusable => {
            // The files of the lexical index may be sound but belong to another version, or to no table.
            if checked.damage.is_empty() {
                checked.damage.push(error);
            }
            return Ok(checked);
        }
        opened => opened?,
    };
    if checked.damage.is_empty() && !opened.files.pulled.is_empty() {
        checked.damage.extend(opened.read_through().err());
    }
    if let Some(manifest) = &opened.files.vectors {
        checked.damage.extend(Vectors::damage(&store.vectors_folder(), manifest));
    }
    for folder in [store.folder(), &store.lexical_folder(), &store.vectors_folder()] {
        look_through(store, folder, &opened.files, &mut checked)?;
    }
    Ok(checked)
}

fn look_through(store: &Store, folder: &Path, table: &crate::store::FileTable, checked: &mut Checked) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|e| Error::io("read", folder, e))?,
    };
    let named = store.named_in(folder, table)?;
    for entry in entries.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if named(&entry.path()) {
            checked.files += u64::from(metadata.is_file());
            checked.bytes += if metadata.is_file() { metadata.len() } else { 0 };
        } else {
            checked.stray.push(entry.path());
        }
    }
    Ok(())
}
