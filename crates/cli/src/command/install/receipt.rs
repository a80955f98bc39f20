//! What was written where, so that it can be taken back byte for byte: the changed bytes alone, never the whole file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// One file's change: `written[at..at + put.len()] == put` replaced `was`.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    path: PathBuf,
    /// Whether the file was there before.
    existed: bool,
    /// Where the change begins, in bytes.
    at: usize,
    /// What stood there.
    was: String,
    /// What stands there now.
    put: String,
    /// Length of the file as written.
    length: usize,
    /// Hash of the file as written.
    hash: String,
    /// Folders that were made for it, innermost first.
    folders: Vec<PathBuf>,
}

/// The folder of receipts.
pub struct Receipt {
    folder: PathBuf,
}

fn hash(text: &str) -> String {
    format!("{:032x}", colgrep_index::store::hash(text.as_bytes()))
}

impl Receipt {
    /// Receipts in `folder`, which need not exist.
    pub fn new(folder: PathBuf) -> Receipt {
        Receipt { folder }
    }

    fn file(&self, path: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", hash(&path.to_string_lossy())))
    }

    fn entry(&self, path: &Path) -> Option<Entry> {
        serde_json::from_str(&fs::read_to_string(self.file(path)).ok()?).ok()
    }

    /// The text before the change, where `text` is just what was written: `Some(None)` if there was no file.
    pub fn undo(&self, path: &Path, text: &str) -> Result<Option<Option<String>>> {
        let Some(entry) = self.entry(path) else { return Ok(None) };
        let end = entry.at + entry.put.len();
        if entry.length != text.len() || entry.hash != hash(text) || text.get(entry.at..end) != Some(&entry.put) {
            return Ok(None);
        }
        let before = format!("{}{}{}", &text[..entry.at], entry.was, &text[end..]);
        Ok(Some(entry.existed.then_some(before)))
    }

    /// Keeps what changed `before` into `after`.
    ///
    /// # Errors
    /// When the receipt can't be written.
    pub fn keep(&self, path: &Path, before: Option<&str>, after: &str, mut folders: Vec<PathBuf>) -> Result<()> {
        let old = before.unwrap_or_default();
        let mut at = old.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        while !old.is_char_boundary(at) || !after.is_char_boundary(at) {
            at -= 1;
        }
        let rest = old.len().min(after.len()) - at;
        let mut end = old.bytes().rev().zip(after.bytes().rev()).take(rest).take_while(|(a, b)| a == b).count();
        while !old.is_char_boundary(old.len() - end) || !after.is_char_boundary(after.len() - end) {
            end -= 1;
        }
        // Folders made by an earlier installation are still ours.
        folders.extend(self.entry(path).map(|e| e.folders).unwrap_or_default());
        let entry = Entry {
            path: path.to_path_buf(),
            existed: before.is_some(),
            at,
            was: old[at..old.len() - end].to_string(),
            put: after[at..after.len() - end].to_string(),
            length: after.len(),
            hash: hash(after),
            folders,
        };
        let write = || -> Result<()> {
            fs::create_dir_all(&self.folder)?;
            Ok(fs::write(self.file(path), serde_json::to_string_pretty(&entry)?)?)
        };
        write().with_context(|| format!("could not write into {}", self.folder.display()))
    }

    /// Forgets a file; gives the folders that were made for it.
    ///
    /// # Errors
    /// When the receipt can't be removed.
    pub fn forget(&self, path: &Path) -> Result<Vec<PathBuf>> {
        let folders = self.entry(path).map(|e| e.folders).unwrap_or_default();
        match fs::remove_file(self.file(path)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => {
                let _ = fs::remove_dir(&self.folder);
                Ok(folders)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_undone_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let receipts = Receipt::new(folder.path().join("installs"));
        let path = Path::new("/some/file");
        for (before, after) in [
            (Some("a\r\nb"), "a\r\nb\n\nours\n"),
            (Some("{\"é\":1}"), "{\"é\":1,\"ö\":2}\n"),
            (Some("{\"ö\":1}"), "{\"é\":1,\"ö\":1}"),
            (Some("aaa"), "aaaa"),
            (Some(""), "x"),
            (None, "x"),
        ] {
            receipts.keep(path, before, after, Vec::new()).unwrap();
            assert_eq!(receipts.undo(path, after).unwrap(), Some(before.map(str::to_string)), "{before:?} → {after:?}");
            assert_eq!(receipts.undo(path, &format!("{after}!")).unwrap(), None, "touched since");
        }
        receipts.forget(path).unwrap();
        assert_eq!(receipts.undo(path, "x").unwrap(), None);
        assert!(!folder.path().join("installs").exists());
    }
}
