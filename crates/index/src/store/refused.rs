//! Indexes that turned out to be unreadable although all their checksums are right. They are rebuilt once, and never
//! pulled again.

use std::path::PathBuf;

use super::{FORMAT_VERSION, Snapshot, Store};
use crate::disk::read_regular;
use crate::error::{Error, Result};

/// Maximum number of refused indexes that are remembered; the oldest are forgotten.
const REFUSED_MAX: usize = 64;
const REFUSED_BYTES_MAX: u64 = 64 << 10;

impl Store {
    /// A file beside the folder, since a rebuild empties the folder and a pull replaces it.
    pub(super) fn refused_path(&self) -> PathBuf {
        let mut name = self.folder().file_name().unwrap_or_default().to_os_string();
        name.push(".refused");
        self.folder().with_file_name(name)
    }

    fn refused(&self) -> Vec<String> {
        let bytes = read_regular(&self.refused_path(), REFUSED_BYTES_MAX).unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
    }

    /// Whether an index was refused; `origin` as in [`FileTable::pulled`](super::FileTable::pulled), empty for the one
    /// that was built here.
    pub fn refuses(&self, origin: &str) -> bool {
        self.refused().contains(&line(origin))
    }

    /// Remembers that an index is unreadable.
    pub fn refuse(&self, origin: &str) -> Result<()> {
        let (path, mut all) = (self.refused_path(), self.refused());
        all.retain(|known| *known != line(origin));
        all.push(line(origin));
        let newest = all.len().saturating_sub(REFUSED_MAX);
        let text = all[newest..].join("\n") + "\n";
        self.disk().replace(&path, text.as_bytes()).map_err(|e| Error::io("write", &path, e))
    }

    /// Whether a snapshot that can't be read is still what is in the store: a commit keeps most segments, a rebuild
    /// keeps none.
    pub(crate) fn still_has(&self, snapshot: &Snapshot) -> bool {
        let point = self.point().ok();
        let is_kept = |id: &String| point.iter().any(|point| point.segments.iter().any(|(known, _)| known == id));
        snapshot.point.segments.iter().any(|(id, _)| is_kept(id))
    }
}

/// What the file says of an index. One that was built here is refused only for this format, whose reader failed.
fn line(origin: &str) -> String {
    if origin.is_empty() { format!("built here, format {FORMAT_VERSION}") } else { origin.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_indexes_are_remembered_beside_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().join("index-0"));
        assert!(!store.refuses("a") && !store.refuses(""));
        store.refuse("a").expect("written");
        store.refuse("").expect("written");
        store.refuse("a").expect("written");
        assert!(store.refuses("a") && store.refuses("") && !store.refuses("b"));
        assert_eq!(store.refused().len(), 2);
        (0..2 * REFUSED_MAX).for_each(|i| store.refuse(&i.to_string()).expect("written"));
        assert!(store.refuses(&(2 * REFUSED_MAX - 1).to_string()) && !store.refuses("a"));
        assert_eq!(store.refused().len(), REFUSED_MAX);
    }
}
