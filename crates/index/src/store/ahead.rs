//! What an index knows of its tree, read without the rest of the index, for searches of the tree itself.

use std::path::Path;

use fixedbitset::FixedBitSet;
use rayon::prelude::*;

use super::table::{FileIdentity, read_first_part, table_of_views, unpacked};
use super::{FileRecord, FileTable, Snapshot, Store};
use crate::disk::Room;
use crate::error::Result;
use crate::lexical::{CommitPoint, Lexical};
use crate::signature::{SOURCE_BYTES_MIN, Sought};
use crate::walk::{DirCache, LeftOut, WalkOptions, Walked, changed_ns, walk, walk_again};

/// From this size on disk, unpacking a table's first part takes about as long as reading signatures, so both run in
/// parallel.
const LARGE_TABLE_BYTES: usize = 128 << 10;

/// The files of an index, and their signatures.
#[derive(Debug)]
pub struct KnownFiles {
    store: Store,
    point: CommitPoint,
    generation: u64,
    /// The first part of the table, as stored.
    table: Vec<u8>,
}

impl Store {
    /// What the index knows of its tree; `None` if there is no readable index.
    pub fn known_files(&self) -> Option<KnownFiles> {
        let point = self.point().ok()?;
        let generation = self.generation_of(&point).ok()?;
        let table = read_first_part(&self.table_path(generation)).ok()?;
        Some(KnownFiles { store: self.clone(), point, generation, table })
    }
}

impl KnownFiles {
    /// Walks the tree at `root`, listing only the folders that changed, and leaves out unchanged files whose signatures
    /// rule out what is `sought`. An incomplete index, or one of another tree or other options, is not used, and
    /// everything is listed.
    pub fn narrowed(
        &self,
        root: &Path,
        left_out: &LeftOut<'_>,
        options: &WalkOptions,
        sought: Option<&Sought>,
    ) -> Result<Walked> {
        let is_of_it = |table: &FileTable<FileIdentity<'_>>| {
            let WalkOptions { hidden, no_ignore, .. } = table.walk_options();
            (hidden, no_ignore) == (options.hidden, options.no_ignore)
                && (table.complete && !table.keeps_texts() && table.root == root.to_string_lossy())
        };
        // Most of it is names of files that will be skipped, so it is read in place.
        let mut room = Room::default();
        let room = &mut room;
        let table = move || {
            let room = room;
            *room = unpacked(self.generation, &self.table, 0).ok()?;
            table_of_views(room).ok().filter(is_of_it)
        };
        let early = sought.filter(|_| self.table.len() >= LARGE_TABLE_BYTES);
        let (table, early) = rayon::join(table, || early.map(|sought| self.without(sought)));
        let Some(table) = table else { return walk(root, left_out, options) };
        // A smaller tree has no signatures.
        let sizes = table.files.iter().map(|file| file.size).filter(|size| *size <= table.filesize_max);
        let sought = sought.filter(|_| sizes.sum::<u64>() >= SOURCE_BYTES_MIN);
        let without = sought.map(|sought| early.unwrap_or_else(|| self.without(sought))).unwrap_or_default();
        let path = |place: usize| table.files[place].path;
        let skips = |place: usize, size: u64, mtime_ns: i64| {
            let file = &table.files[place];
            (file.size, file.mtime_ns) == (size, mtime_ns) && without.contains(file.id.0 as usize)
        };
        let FileTable { tree, unreadable, .. } = &table;
        let known = DirCache { tree, files: table.files.len(), path: &path, unreadable, skips: Some(&skips) };
        walk_again(root, left_out, options, Some(&known))
    }

    /// The files ruled out by their signatures; none if the index can't be read.
    fn without(&self, sought: &Sought) -> FixedBitSet {
        Lexical::without_at(&self.store.lexical_folder(), &self.point, sought).unwrap_or_default()
    }
}

impl Snapshot {
    /// Numbers of files below `root` that are unchanged on disk and whose signatures rule out what is `sought`.
    pub fn without(&self, root: &Path, sought: &Sought) -> Result<FixedBitSet> {
        let without = self.lexical.without(sought)?;
        let is_as_it_was = |file: &&FileRecord| {
            let about = std::fs::symlink_metadata(root.join(&file.path));
            about.is_ok_and(|about| about.len() == file.size && changed_ns(&about) == file.mtime_ns)
        };
        let files = self.files.files.par_iter().filter(|file| without.contains(file.id.0 as usize));
        Ok(files.filter(is_as_it_was).map(|file| file.id.0 as usize).collect::<Vec<_>>().into_iter().collect())
    }
}
