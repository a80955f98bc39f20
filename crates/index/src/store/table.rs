//! The file table, and the file that holds it.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::Path;

use colgrep_syntax::read::Skip;
use serde::{Deserialize, Deserializer, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;
use zstd::bulk::{Decompressor, compress};
use zstd::zstd_safe::get_frame_content_size;

use crate::disk::Room;
use crate::error::{Error, Result, Source};
use crate::ids::FileId;
use crate::mode::VectorMode;
use crate::vector::Manifest;
use crate::walk::{Known, KnownTree, LeftOut, WalkOptions, Walked, walk, walk_again};

/// Compression: paths repeat each other, hashes and times do not.
const LEVEL: i32 = 3;
/// Most bytes of a table for each of its file. No table comes near it; what somebody forged must not fill the memory.
const SPREAD_MAX: u64 = 256;

/// What the table knows of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its number in the index; kept as long as the path is.
    pub id: FileId,
    /// Path relative to the root, `/` between components.
    pub path: String,
    /// Size in bytes when it was read.
    pub size: u64,
    /// Time of its last change when it was read, in nanoseconds since 1970: [`WalkedFile::mtime_ns`](crate::walk::WalkedFile).
    pub mtime_ns: i64,
    /// Hash of its bytes (XXH3, 128 bits).
    pub hash: u128,
    /// Name of its language.
    pub language: String,
    /// Whether it says that a program wrote it.
    pub generated: bool,
    /// Number of its units.
    pub units: u32,
    /// Why it has none.
    pub skip: Option<Skip>,
    /// What parsing had to say.
    pub note: Option<String>,
}

/// The parts of a [`FileRecord`] that tell the file itself, read without a copy; the others are passed over.
#[derive(Clone, Debug, Deserialize)]
pub struct FileView<'a> {
    /// As in a record.
    pub id: FileId,
    /// As in a record.
    #[serde(borrow)]
    pub path: &'a str,
    /// As in a record.
    pub size: u64,
    /// As in a record.
    pub mtime_ns: i64,
    _hash: Passed<u128>,
    _language: Passed<&'a [u8]>,
    _generated: Passed<bool>,
    _units: Passed<u32>,
    _skip: Passed<Option<Skip>>,
    _note: Passed<Option<&'a [u8]>>,
}

/// What is read and not kept.
#[derive(Clone, Debug)]
struct Passed<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Passed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Passed<T>, D::Error> {
        T::deserialize(deserializer).map(|_| Passed(PhantomData))
    }
}

/// The table of files of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTable<File = FileRecord> {
    /// The project's root, absolute.
    pub root: String,
    /// What the walk took in.
    pub filesize_max: u64,
    /// Hidden files too.
    pub hidden: bool,
    /// Files whose names are those of keys and passwords too.
    pub secrets: bool,
    /// Ignore files did not count.
    pub no_ignore: bool,
    /// The next unused file number.
    pub next_id: u32,
    /// Whether the last build went to its end.
    pub complete: bool,
    /// The files, by path.
    pub files: Vec<File>,
    /// Entries that could not be read at all, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// The vectors of this generation, if it has any.
    pub vectors: Option<Manifest>,
    /// What its documents are made of: 0 for the files of a tree, else the version of another source. The texts of
    /// other sources stand in the index itself, since reading them again is dear.
    pub source: u32,
    /// What the source was like when it was listed, in its own words: the next listing goes on from there.
    pub state: Vec<String>,
    /// The folders of the tree and what rules the walk, as they were when the files were listed; means something where the
    /// last build went to its end.
    pub tree: KnownTree,
    /// What tells the index that this one was taken from, where it came from elsewhere; else empty.
    pub pulled: String,
    /// The vector mode; it stands in the commit point.
    #[serde(skip)]
    pub mode: VectorMode,
    /// Whether `init` made it, or was called on it; it stands in the commit point.
    #[serde(skip)]
    pub by_init: bool,
}

impl<File> FileTable<File> {
    /// The walk's options that the table was made with.
    pub fn walk_options(&self) -> WalkOptions {
        let FileTable { hidden, secrets, no_ignore, filesize_max, .. } = *self;
        WalkOptions { hidden, secrets, no_ignore, filesize_max }
    }

    /// Whether the index itself holds the texts that are encoded of its units.
    pub fn keeps_texts(&self) -> bool {
        self.source != 0
    }
}

impl FileTable {
    /// Walks the tree below `root`, and lists only the folders that differ from those of the table.
    ///
    /// # Errors
    /// As [`walk`].
    pub fn walk_again(&self, root: &Path, left_out: &LeftOut<'_>, options: &WalkOptions) -> Result<Walked> {
        if !self.complete || self.tree.is_empty() {
            return walk(root, left_out, options);
        }
        let files: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        let known = Known { tree: &self.tree, files: &files, unreadable: &self.unreadable, skips: None };
        walk_again(root, left_out, options, Some(&known))
    }

    /// What was left out: paths by reason.
    pub fn skipped(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let files = self.files.iter().filter_map(|f| Some((f.skip?.reason(), f.path.as_str())));
        for (reason, path) in files.chain(self.unreadable.iter().map(|(path, reason)| (reason.as_str(), path.as_str())))
        {
            paths.entry(reason).or_default().push(path);
        }
        paths
    }

    /// Iterates over the files that were indexed rather than skipped.
    pub fn indexed(&self) -> impl Iterator<Item = &FileRecord> {
        self.files.iter().filter(|f| f.skip.is_none())
    }

    /// Number of units in all files.
    pub fn units(&self) -> u64 {
        self.indexed().map(|file| u64::from(file.units)).sum()
    }
}

/// What stands behind a table to tell damage: it also binds the table to its generation.
fn sum(generation: u64, table: &[u8]) -> [u8; 8] {
    xxh3_64_with_seed(table, generation).to_le_bytes()
}

/// The bytes of a table's file.
///
/// # Errors
/// When the table can't be written down.
pub fn sealed_table(generation: u64, table: &FileTable) -> Result<Vec<u8>> {
    let plain = postcard::to_stdvec(table).map_err(|e| Error::Table(e.into()))?;
    let mut bytes = compress(&plain, LEVEL).map_err(|e| Error::Table(e.into()))?;
    bytes.extend(sum(generation, &bytes));
    Ok(bytes)
}

/// The table that a file holds.
///
/// # Errors
/// What is wrong with it.
pub fn opened_table(generation: u64, bytes: &[u8]) -> std::result::Result<FileTable, Source> {
    Ok(postcard::from_bytes(&unpacked_table(generation, bytes)?)?)
}

/// The table that a file holds, as it was before it was compressed.
///
/// # Errors
/// What is wrong with it.
pub(super) fn unpacked_table(generation: u64, bytes: &[u8]) -> std::result::Result<Room, Source> {
    let sealed = bytes.split_last_chunk().filter(|(table, own)| sum(generation, table) == **own);
    let (packed, _) = sealed.ok_or("is damaged")?;
    let length = get_frame_content_size(packed).ok().flatten();
    let length = length.filter(|length| *length <= SPREAD_MAX * packed.len() as u64).ok_or("is no table")?;
    let mut table = Room::new(length as usize)?;
    let unpacked = Decompressor::new()?.decompress_to_buffer(packed, &mut *table)?;
    if unpacked == table.len() { Ok(table) } else { Err("is no table".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_back_smaller() {
        let file = |i: u32| FileRecord { path: format!("crates/index/src/store/table{i}.rs"), ..FileRecord::default() };
        let table = FileTable { files: (0..300).map(file).collect(), ..FileTable::default() };
        let bytes = sealed_table(7, &table).expect("bytes");
        assert!(bytes.len() < postcard::to_stdvec(&table).expect("bytes").len() / 4);
        assert_eq!(opened_table(7, &bytes).expect("a table"), table);
        let unpacked = unpacked_table(7, &bytes).expect("bytes");
        let view: FileTable<FileView<'_>> = postcard::from_bytes(&unpacked).expect("a table");
        let same = |(one, other): (&FileView<'_>, &FileRecord)| {
            (one.path, one.size, one.id) == (other.path.as_str(), other.size, other.id)
        };
        assert!(view.files.iter().zip(&table.files).all(same) && view.files.len() == 300);
        opened_table(8, &bytes).expect_err("of another generation");
        opened_table(7, &bytes[1..]).expect_err("cut");
        // A sum that is right tells nothing of what stands before it.
        let plain = [postcard::to_stdvec(&table).expect("bytes"), Vec::new()].concat();
        let forged = [plain.as_slice(), &sum(7, &plain)].concat();
        opened_table(7, &forged).expect_err("not compressed");
        let bomb = compress(&vec![0; 64 << 20], LEVEL).expect("bytes");
        let bomb = [bomb.as_slice(), &sum(7, &bomb)].concat();
        assert!(bomb.len() < 64 << 10);
        assert_eq!(opened_table(7, &bomb).expect_err("too much").to_string(), "is no table");
    }
}
