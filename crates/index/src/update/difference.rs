//! The difference between the file table and the tree on disk: files to read, and missing paths.

use std::collections::HashSet;
use std::path::Path;

use colgrep_syntax::read::Skip;

use crate::beneath::open_beneath;
use crate::store::FileTable;
use crate::walk::{Walked, WalkedFile};

/// The difference between a file table and the tree on disk.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// Files to read: new, or with another size or time.
    pub(super) stale: Vec<WalkedFile>,
    /// Missing paths.
    pub(super) gone: Vec<String>,
    /// Whether the list of unreadable entries differs.
    pub(super) unreadable_differs: bool,
}

impl Difference {
    pub(super) fn is_none(&self) -> bool {
        self.stale.is_empty() && self.gone.is_empty() && !self.unreadable_differs
    }
}

/// Compares the table with the walked tree below `root`.
pub(super) fn difference(table: &FileTable, root: &Path, walked: &Walked) -> Difference {
    let mut difference =
        Difference { unreadable_differs: table.unreadable != walked.unreadable, ..Difference::default() };
    let replaced: HashSet<&str> = table.tree.replaced(&walked.tree).into_iter().collect();
    let is_replaced =
        |path: &str| !replaced.is_empty() && replaced.contains(path.rsplit_once('/').map_or("", |(folder, _)| folder));
    // Both lists are sorted by path.
    let mut known = table.files.iter().peekable();
    for found in &walked.files {
        while let Some(gone) = known.next_if(|k| k.path < found.path) {
            difference.gone.push(gone.path.clone());
        }
        match known.next_if(|k| k.path == found.path) {
            // On some systems a change of permissions moves no time stamp (`changed_ns`).
            Some(k) if k.skip == Some(Skip::Unreadable) && open_beneath(root, &k.path).is_ok() => {
                difference.stale.push(found.clone());
            }
            Some(k) if k.size == found.size && k.mtime_ns == found.mtime_ns && !is_replaced(&k.path) => {}
            _ => difference.stale.push(found.clone()),
        }
    }
    difference.gone.extend(known.map(|k| k.path.clone()));
    difference
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FileId;
    use crate::store::FileRecord;

    #[test]
    fn a_difference_is_what_changed() {
        let record = |path: &str, mtime_ns| FileRecord {
            id: FileId(0),
            path: path.into(),
            size: 1,
            mtime_ns,
            hash: 0,
            language: String::new(),
            generated: false,
            units: 0,
            skip: None,
            note: None,
        };
        let found = |path: &str, mtime_ns| WalkedFile { path: path.into(), size: 1, mtime_ns };
        let table = FileTable { files: vec![record("a", 1), record("b", 1), record("d", 1)], ..FileTable::default() };
        let walked = Walked { files: vec![found("a", 1), found("b", 2), found("c", 1)], ..Walked::default() };
        let result = difference(&table, Path::new("/"), &walked);
        let stale: Vec<&str> = result.stale.iter().map(|f| f.path.as_str()).collect();
        assert_eq!((stale, result.gone.clone()), (vec!["b", "c"], vec!["d".to_string()]));
        assert!(
            difference(
                &table,
                Path::new("/"),
                &Walked { files: vec![found("a", 1), found("b", 1), found("d", 1)], ..Walked::default() }
            )
            .is_none()
        );
    }
}
