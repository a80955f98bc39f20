//! The file table and its file format.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use colgrep_syntax::read::Skip;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;
use zstd::bulk::{Decompressor, compress};
use zstd::zstd_safe::get_frame_content_size;

use crate::disk::{Room, open_regular};
use crate::error::{Error, Result, Source};
use crate::ids::FileId;
use crate::mode::VectorMode;
use crate::vector::VectorManifest;
use crate::walk::{DirCache, KnownTree, LeftOut, WalkOptions, Walked, walk_to_remember};

/// Compression level: paths repeat each other, hashes and times do not.
const LEVEL: i32 = 3;
/// Minimum of bytes of a [`FileIdentity`] in a part.
const VIEW_BYTES_MIN: usize = 4;
/// Maximum of unpacked bytes per file in each part of a table. Real tables stay far below it; a forged one must not
/// exhaust memory.
const SPREAD_MAX: u64 = 256;

/// Maximum of file numbers: searches have a list of as many entries. A table that really got there is rebuilt, with new
/// numbers.
const NUMBERS_MAX: u32 = 1 << 24;

/// A file's entry in the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    pub language: String,
    /// Whether it says that it is generated.
    pub generated: bool,
    pub units: u32,
    /// Why it has no units.
    pub skip: Option<Skip>,
    /// The parser's note.
    pub note: Option<String>,
}

/// The part of a [`FileRecord`] that identifies a file in the tree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FileIdentity<'a> {
    pub id: FileId,
    pub path: &'a str,
    pub size: u64,
    pub mtime_ns: i64,
}

impl FileIdentity<'_> {
    fn of(file: &FileRecord) -> FileIdentity<'_> {
        FileIdentity { id: file.id, path: &file.path, size: file.size, mtime_ns: file.mtime_ns }
    }
}

/// The other part of a [`FileRecord`].
#[derive(Serialize, Deserialize)]
struct FileRest<'a> {
    hash: u128,
    language: &'a str,
    generated: bool,
    units: u32,
    skip: Option<Skip>,
    note: Option<&'a str>,
}

impl FileRest<'_> {
    fn of(file: &FileRecord) -> FileRest<'_> {
        let FileRecord { hash, generated, units, skip, .. } = *file;
        FileRest { hash, language: &file.language, generated, units, skip, note: file.note.as_deref() }
    }

    /// Both parts together.
    fn with(self, view: FileIdentity<'_>) -> FileRecord {
        let FileRest { hash, language, generated, units, skip, note } = self;
        let FileIdentity { id, path, size, mtime_ns } = view;
        let [path, language] = [path, language].map(str::to_string);
        FileRecord { id, path, size, mtime_ns, hash, language, generated, units, skip, note: note.map(str::to_string) }
    }
}

/// The table of files of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTable<File = FileRecord> {
    /// The project's root, absolute.
    pub root: String,
    /// The limit of file sizes in the walk.
    pub filesize_max: u64,
    /// Whether hidden files are included.
    pub hidden: bool,
    /// Whether files named like keys and passwords are included.
    pub secrets: bool,
    /// Whether ignore files were disregarded.
    pub no_ignore: bool,
    /// The next unused file number.
    pub next_id: u32,
    /// Whether the last build was completed.
    pub complete: bool,
    /// The files, by path. They are written last.
    #[serde(skip)]
    pub files: Vec<File>,
    /// Unreadable entries, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// The vectors of this generation, if it has any.
    pub vectors: Option<VectorManifest>,
    /// The source of its documents: 0 for the files of a tree, else the version of another source. The index stores the
    /// texts of other sources, since reading them again is expensive.
    pub source: u32,
    /// The state of the source when it was listed, in its own format, for the next listing.
    pub state: Vec<String>,
    /// The folders and rules of the walk when the files were listed; valid only if the last build was completed.
    pub tree: KnownTree,
    /// Identifies the index that this one was pulled from; empty for one built here.
    pub pulled: String,
    /// The vector mode, stored in the commit point.
    #[serde(skip)]
    pub mode: VectorMode,
    /// Whether `init` made or updated it, stored in the commit point.
    #[serde(skip)]
    pub by_init: bool,
}

impl<File> FileTable<File> {
    /// The walk's options that the table was made with.
    pub fn walk_options(&self) -> WalkOptions {
        let FileTable { hidden, secrets, no_ignore, filesize_max, .. } = *self;
        WalkOptions { hidden, secrets, no_ignore, filesize_max }
    }

    /// Whether the index stores the texts of its units.
    pub fn keeps_texts(&self) -> bool {
        self.source != 0
    }
}

impl FileTable {
    /// Walks the tree below `root`, and lists only the folders that differ from those of the table.
    pub fn walk_again(&self, root: &Path, left_out: &LeftOut<'_>, options: &WalkOptions) -> Result<Walked> {
        if !self.complete || self.tree.is_empty() {
            return walk_to_remember(root, left_out, options, None);
        }
        let path = |place: usize| self.files[place].path.as_str();
        let Self { tree, unreadable, .. } = self;
        let known = DirCache { tree, files: self.files.len(), path: &path, unreadable, skips: None };
        walk_to_remember(root, left_out, options, Some(&known))
    }

    /// Skipped files: paths by reason.
    pub fn skipped(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let files = self.files.iter().filter_map(|f| Some((f.skip?.reason(), f.path.as_str())));
        for (reason, path) in files.chain(self.unreadable.iter().map(|(path, reason)| (reason.as_str(), path.as_str())))
        {
            paths.entry(reason).or_default().push(path);
        }
        paths
    }

    /// The languages of the indexed files, most frequent first.
    pub fn languages(&self) -> Vec<&str> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for file in self.indexed() {
            *counts.entry(&file.language).or_default() += 1;
        }
        let mut languages: Vec<(&str, u64)> = counts.into_iter().collect();
        languages.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        languages.into_iter().map(|(language, _)| language).collect()
    }

    /// The record of the file at a path, indexed or skipped.
    pub fn at(&self, path: &str) -> Option<&FileRecord> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| &self.files[at])
    }

    /// Iterates over the indexed files, without skipped ones.
    pub fn indexed(&self) -> impl Iterator<Item = &FileRecord> {
        self.files.iter().filter(|f| f.skip.is_none())
    }

    /// Number of units in all files.
    pub fn units(&self) -> u64 {
        self.indexed().map(|file| u64::from(file.units)).sum()
    }
}

/// Parts of a table's file: the table with a [`FileIdentity`] of each file, and the rest of each file. The first suffices
/// to compare a tree.
const PARTS: usize = 2;
/// Bytes before the parts: the length of the first, and a checksum of each.
const HEAD: usize = 8 * (1 + PARTS);

/// A part's checksum, which also binds it to its generation.
fn sum(generation: u64, part: &[u8]) -> u64 {
    xxh3_64_with_seed(part, generation)
}

/// Serializes a table's file.
///
/// # Errors
/// When the table can't be serialized.
pub fn sealed_table(generation: u64, table: &FileTable) -> Result<Vec<u8>> {
    let views: Vec<FileIdentity<'_>> = table.files.iter().map(FileIdentity::of).collect();
    let rest: Vec<FileRest<'_>> = table.files.iter().map(FileRest::of).collect();
    let plain = [postcard::to_stdvec(&(table, views)), postcard::to_stdvec(&rest)];
    let mut parts = Vec::new();
    for plain in plain {
        let plain = plain.map_err(|e| Error::Table(e.into()))?;
        parts.push(compress(&plain, LEVEL).map_err(|e| Error::Table(e.into()))?);
    }
    let sums = parts.iter().map(|part| sum(generation, part));
    let head: Vec<u8> = [parts[0].len() as u64].into_iter().chain(sums).flat_map(u64::to_le_bytes).collect();
    Ok([head, parts.concat()].concat())
}

/// Parses a table's file.
pub fn opened_table(generation: u64, bytes: &[u8]) -> std::result::Result<FileTable, Source> {
    let [own, rest] = [unpacked(generation, bytes, 0)?, unpacked(generation, bytes, 1)?];
    let (mut table, views): (FileTable, Vec<FileIdentity<'_>>) = postcard::from_bytes(&own)?;
    let rest: Vec<FileRest<'_>> = postcard::from_bytes(&rest)?;
    if views.len() != rest.len() {
        return Err("is no table".into());
    }
    table.files.extend(rest.into_iter().zip(views).map(|(rest, view)| rest.with(view)));
    if table.next_id > NUMBERS_MAX || table.files.iter().any(|file| file.id.0 > NUMBERS_MAX) {
        return Err("has numbers of files that no table has".into());
    }
    Ok(table)
}

/// The first part of a table, read in place.
///
/// # Errors
/// If it is not one.
pub(super) fn table_of_views(part: &[u8]) -> postcard::Result<FileTable<FileIdentity<'_>>> {
    let ((mut table, count), mut rest): ((FileTable<FileIdentity<'_>>, usize), _) = postcard::take_from_bytes(part)?;
    // postcard would grow a vector several times.
    table
        .files
        .try_reserve_exact(count.min(rest.len() / VIEW_BYTES_MIN))
        .map_err(|_| postcard::Error::DeserializeBadEncoding)?;
    for _ in 0..count {
        let (file, behind) = postcard::take_from_bytes(rest)?;
        table.files.push(file);
        rest = behind;
    }
    Ok(table)
}

/// The first part of a table's file, with everything before it.
pub(super) fn read_first_part(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    let mut bytes = vec![0; HEAD];
    file.read_exact(&mut bytes)?;
    let length = number(&bytes, 0).min(file.metadata()?.len());
    bytes.try_reserve_exact(length as usize)?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A number before the parts.
fn number(head: &[u8], at: usize) -> u64 {
    head.get(8 * at..).and_then(|head| head.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// A part of a table's file, verified and decompressed; the others are not read.
pub(super) fn unpacked(generation: u64, bytes: &[u8], part: usize) -> std::result::Result<Room, Source> {
    let (head, parts) = bytes.split_first_chunk::<HEAD>().ok_or("is damaged")?;
    let (first, second) = parts.split_at_checked(number(head, 0) as usize).ok_or("is damaged")?;
    let packed = if part == 0 { first } else { second };
    if sum(generation, packed) != number(head, 1 + part) {
        return Err("is damaged".into());
    }
    let length = get_frame_content_size(packed).ok().flatten();
    let length = length.filter(|length| *length <= SPREAD_MAX * bytes.len() as u64).ok_or("is no table")?;
    let mut table = Room::new(length as usize)?;
    let unpacked = Decompressor::new()?.decompress_to_buffer(packed, &mut *table)?;
    if unpacked == table.len() { Ok(table) } else { Err("is no table".into()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    /// A file of arbitrary parts with valid checksums.
    fn forged(parts: [&[u8]; PARTS]) -> Vec<u8> {
        let head = [parts[0].len() as u64, sum(7, parts[0]), sum(7, parts[1])].map(u64::to_le_bytes);
        [head.as_flattened(), parts[0], parts[1]].concat()
    }

    #[test]
    fn a_table_comes_back_smaller() {
        let file = |i: u32| FileRecord { path: format!("crates/index/src/store/table{i}.rs"), ..FileRecord::default() };
        let table = FileTable { files: (0..300).map(file).collect(), ..FileTable::default() };
        let bytes = sealed_table(7, &table).expect("bytes");
        assert!(bytes.len() < table.files.iter().map(|file| file.path.len()).sum::<usize>() / 4, "{}", bytes.len());
        assert_eq!(opened_table(7, &bytes).expect("a table"), table);
        let unpacked = unpacked(7, &bytes, 0).expect("bytes");
        let view = table_of_views(&unpacked).expect("a table");
        let same = |(one, other): (&FileIdentity<'_>, &FileRecord)| {
            (one.path, one.size, one.id) == (other.path.as_str(), other.size, other.id)
        };
        assert!(view.files.iter().zip(&table.files).all(same) && view.files.len() == 300);
        for (next_id, id) in [(u32::MAX, 0), (0, u32::MAX), (NUMBERS_MAX + 1, 7)] {
            let files = vec![FileRecord { id: FileId(id), ..file(1) }];
            let forged = sealed_table(7, &FileTable { next_id, files, ..FileTable::default() }).expect("bytes");
            opened_table(7, &forged).expect_err("gigabytes of numbers");
        }
        opened_table(8, &bytes).expect_err("of another generation");
        for at in 0..bytes.len() {
            opened_table(7, &bytes[..at]).expect_err("cut");
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            opened_table(7, &damaged).expect_err("damaged");
        }
        let length = number(&bytes, 0) as usize;
        let (own, rest) = bytes[HEAD..].split_at(length);
        assert_eq!(forged([own, rest]), bytes);
        let plain = postcard::to_stdvec(&(&view, &view.files)).expect("bytes");
        opened_table(7, &forged([&plain, rest])).expect_err("not compressed");
        let none = compress(&postcard::to_stdvec(&Vec::<u8>::new()).expect("bytes"), LEVEL).expect("bytes");
        assert_eq!(opened_table(7, &forged([own, &none])).expect_err("no rest").to_string(), "is no table");
        let bomb = compress(&vec![0; 64 << 20], LEVEL).expect("bytes");
        assert!(bomb.len() < 64 << 10);
        // Repeated values take next to no space compared with the paths.
        let alike = FileTable { files: (0..20_000).map(file).collect(), ..FileTable::default() };
        assert_eq!(opened_table(7, &sealed_table(7, &alike).expect("bytes")).expect("a table"), alike);
        assert_eq!(opened_table(7, &forged([&bomb, rest])).expect_err("too much").to_string(), "is no table");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn a_table_of_any_bytes_is_read_or_refused(
            changes in proptest::collection::vec(any::<(bool, Index, u8)>(), 0..6),
            cut in any::<Index>(), is_cut in any::<bool>(),
        ) {
            let file = |i: u32| FileRecord {
                id: FileId(i),
                path: format!("src/part{i}.rs"),
                size: u64::from(i) << 40,
                mtime_ns: -i64::from(i),
                language: "rust".into(),
                note: i.is_multiple_of(2).then(|| "parsed with syntax errors".into()),
                ..FileRecord::default()
            };
            let unreadable = vec![("a".to_string(), "no permission".to_string())];
            let table = FileTable { files: (0..9).map(file).collect(), unreadable, ..FileTable::default() };
            let whole = sealed_table(7, &table).expect("bytes");
            let mut plain = [0, 1].map(|part| unpacked(7, &whole, part).expect("bytes").to_vec());
            for (part, at, value) in changes {
                let part = &mut plain[usize::from(part)];
                let at = at.index(part.len());
                part[at] = value;
            }
            if is_cut {
                let part = &mut plain[usize::from(cut.index(2) == 1)];
                part.truncate(cut.index(part.len()));
            }
            if let Ok(views) = table_of_views(&plain[0]) {
                prop_assert!(views.files.len() <= plain[0].len() / VIEW_BYTES_MIN);
            }
            let [own, rest] = plain.map(|part| compress(&part, LEVEL).expect("bytes"));
            if let Ok(table) = opened_table(7, &forged([&own, &rest])) {
                let _ = (table.skipped(), table.indexed().count(), table.walk_options());
            }
        }

        #[test]
        fn a_table_of_noise_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (table_of_views(&bytes), opened_table(7, &bytes), opened_table(7, &forged([&bytes, &bytes])));
        }
    }
}
