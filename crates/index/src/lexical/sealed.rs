//! Files of the lexical index in blocks with a checksum each, so that any part of a file is verified when it is read.
//!
//! A sealed file has tantivy's bytes in blocks of [`BLOCK`], plain or compressed; then for each block its stored length
//! and the low half of its XXH3-64; then the [`TRAILER`]: a magic number, the length of tantivy's bytes and the XXH3-64
//! of the file's name, the table, and the trailer before it. Reads are copies, not maps: a file truncated under a
//! server then causes an error, not a signal.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use tantivy::HasLen;
use tantivy::directory::{AntiCallToken, FileHandle, OwnedBytes, TerminatingWrite};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::block::{BLOCK, BlockCache, pack, unpack};
use crate::disk::{DiskFile, Room, open_regular};

/// Bytes of a block's entry in the table: its length, its checksum.
const ENTRY: usize = 6;
const MAGIC: &[u8; 8] = b"colgpack";
/// Magic, length, checksum.
const TRAILER: usize = 24;
/// A file up to this size is kept in memory and takes no handle.
const KEPT_BYTES_MAX: usize = 64 << 10;
/// Extensions of the files that are compressed, with the bytes a block must save and the maximum number of blocks. Long
/// lists gain little and are read whole, and so are the lengths of many units. The other files are compressed already
/// (`store`), or searches read so much of them that they would slow down (`term`, `fast`).
const PACKED: [(&str, usize, usize); 3] =
    [("idx", BLOCK / 4, usize::MAX), ("pos", BLOCK / 16, usize::MAX), ("fieldnorm", BLOCK / 16, 64)];
/// Bytes that are buffered for one write.
const WRITE_BYTES: usize = 64 << 10;
/// Maximum of blocks that a read takes from the cache; a longer one reads the file and caches nothing.
const SHORT_BLOCKS: usize = 4;

/// Ending of the files of stored documents. tantivy compresses them in blocks that begin with their size, and requests as
/// much memory as it says.
const STORE: &str = ".store";
/// Maximum size of a block of stored documents; a real one is a little larger than its longest document.
const STORE_BLOCK_BYTES_MAX: usize = 16 << 20;
/// tantivy's end of a file (JSON, its length, a magic number), without the JSON.
const FOOTER_END: usize = 8;
/// The end of a document store before that: a version of 4 bytes, where the blocks end (8 bytes), and 16 bytes more.
const STORE_FOOTER: usize = 28;
const STORE_VERSION: usize = 4;

fn block_sum(block: &[u8]) -> [u8; 4] {
    (xxh3_64(block) as u32).to_le_bytes()
}

/// The checksum over the table, bound to the file's name so that files can't be swapped.
fn whole_sum(name: &str, table: &[u8], length: [u8; 8]) -> [u8; 8] {
    let mut hasher = Xxh3::new();
    [name.as_bytes(), table, MAGIC, &length].into_iter().for_each(|part| hasher.update(part));
    hasher.digest().to_le_bytes()
}

/// The file name that a content is bound to.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) struct SealedWriter {
    file: DiskFile,
    name: String,
    /// Bytes that a block must save, and the number of blocks that are tried.
    packed: (usize, usize),
    /// The bytes after the last whole block.
    block: Vec<u8>,
    /// Output that is not written yet.
    out: Vec<u8>,
    table: Vec<u8>,
    length: u64,
}

impl SealedWriter {
    pub(super) fn new(file: DiskFile, path: &Path) -> SealedWriter {
        let name = name_of(path);
        let own = PACKED.iter().find(|(ending, ..)| path.extension().is_some_and(|own| own == *ending));
        let packed = own.map_or((BLOCK, 0), |(_, worth, blocks)| (*worth, *blocks));
        SealedWriter { file, name, packed, block: Vec::new(), out: Vec::new(), table: Vec::new(), length: 0 }
    }

    fn end_block(&mut self) -> io::Result<()> {
        let from = self.out.len();
        let (worth, blocks) = self.packed;
        if self.table.len() / ENTRY < blocks {
            pack(&self.block, worth, &mut self.out)?;
        } else {
            self.out.extend_from_slice(&self.block);
        }
        let stored = &self.out[from..];
        self.table.extend((stored.len() as u16).to_le_bytes());
        self.table.extend(block_sum(stored));
        self.block.clear();
        if self.out.len() >= WRITE_BYTES { self.write_out() } else { Ok(()) }
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.file.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

impl Write for SealedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = bytes;
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(BLOCK - self.block.len()));
            self.block.extend_from_slice(now);
            left = later;
            if self.block.len() == BLOCK {
                self.end_block()?;
            }
        }
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.file.flush()
    }
}

impl TerminatingWrite for SealedWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let length = self.length.to_le_bytes();
        let sum = whole_sum(&self.name, &self.table, length);
        for part in [&self.table, MAGIC.as_slice(), &length, &sum] {
            self.out.extend_from_slice(part);
        }
        self.write_out()?;
        self.file.sync()
    }
}

/// A sealed file, open for reading.
pub(super) struct Sealed {
    name: String,
    bytes: ByteSource,
    blocks: Blocks,
    kept: BlockCache,
    /// Where the blocks of stored documents end, once that was looked up.
    blocks_end: OnceLock<usize>,
}

/// Where a file's bytes are.
enum ByteSource {
    /// A small file, checked.
    Here(OwnedBytes),
    On(File),
}

/// The parsed table of a file.
struct Blocks {
    /// Uncompressed length in bytes.
    length: usize,
    /// First byte of each block in the file, and the end of the last.
    starts: Vec<u64>,
    table: Vec<u8>,
}

impl Blocks {
    /// `None` if the table does not describe `stored` bytes.
    fn new(length: usize, table: Vec<u8>, stored: u64) -> Option<Blocks> {
        let mut starts = Vec::with_capacity(table.len() / ENTRY + 1);
        let mut end = 0;
        starts.push(end);
        for entry in table.chunks_exact(ENTRY) {
            end += u64::from(u16::from_le_bytes([entry[0], entry[1]]));
            starts.push(end);
        }
        (end == stored).then_some(Blocks { length, starts, table })
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Uncompressed bytes of a block.
    fn bytes_of(&self, block: usize) -> usize {
        BLOCK.min(self.length - block * BLOCK)
    }

    /// Where the block is among the stored bytes of blocks from `first` on.
    fn stored(&self, block: usize, first: usize) -> Range<usize> {
        let at = |block: usize| (self.starts[block] - self.starts[first]) as usize;
        at(block)..at(block + 1)
    }

    /// Whether all of the blocks are uncompressed.
    fn are_plain(&self, blocks: Range<usize>) -> bool {
        let bytes = (blocks.end * BLOCK).min(self.length) - blocks.start * BLOCK;
        self.starts[blocks.end] - self.starts[blocks.start] == bytes as u64
    }

    /// Whether the stored bytes of these blocks are sound.
    fn are_sound(&self, blocks: Range<usize>, stored: &[u8]) -> bool {
        blocks.clone().all(|block| {
            let sum = &self.table[block * ENTRY + 2..][..4];
            stored.get(self.stored(block, blocks.start)).is_some_and(|stored| block_sum(stored) == sum)
        })
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({}, {} bytes)", self.name, self.blocks.length)
    }
}

impl Sealed {
    /// Opens the file at `path` and verifies its trailer and table; a small one is read and verified whole.
    ///
    /// # Errors
    /// Of kind `InvalidData` if it is truncated or damaged, of kind `NotFound` if it is missing.
    pub(super) fn open(path: &Path) -> io::Result<Sealed> {
        let name = name_of(path);
        let file = open_regular(path)?;
        let size = file.metadata()?.len();
        // For a large file, the usual size of a table.
        let end = match size <= KEPT_BYTES_MAX as u64 {
            true => size,
            false => (2 * size / BLOCK as u64 + 1) * ENTRY as u64 + TRAILER as u64,
        };
        let from = size.saturating_sub(end);
        let tail = read_at(&file, from, (size - from) as usize, &name)?;
        let cut = || damaged(&name, "is cut");
        let (rest, trailer) = tail.split_last_chunk::<TRAILER>().ok_or_else(cut)?;
        let (magic, numbers) = trailer.split_at(MAGIC.len());
        let (length, sum) = numbers.split_at(8);
        if magic != MAGIC {
            return Err(cut());
        }
        let length: [u8; 8] = length.try_into().map_err(|_| cut())?;
        let table_bytes = u64::from_le_bytes(length).div_ceil(BLOCK as u64).saturating_mul(ENTRY as u64);
        let stored = size.checked_sub(TRAILER as u64).and_then(|size| size.checked_sub(table_bytes)).ok_or_else(cut)?;
        let table = match rest.len().checked_sub(table_bytes as usize) {
            Some(at) => rest[at..].to_vec(),
            None => read_at(&file, stored, table_bytes as usize, &name)?.to_vec(),
        };
        if whole_sum(&name, &table, length) != *sum {
            return Err(damaged(&name, "is damaged"));
        }
        let blocks = Blocks::new(u64::from_le_bytes(length) as usize, table, stored).ok_or_else(cut)?;
        let bytes = if from == 0 {
            if !blocks.are_sound(0..blocks.len(), &tail) {
                return Err(damaged(&name, "is damaged"));
            }
            ByteSource::Here(tail.owned())
        } else {
            ByteSource::On(file)
        };
        Ok(Sealed { name, bytes, blocks, kept: BlockCache::default(), blocks_end: OnceLock::new() })
    }

    /// The stored bytes of blocks, checked.
    fn stored(&self, blocks: Range<usize>) -> io::Result<OwnedBytes> {
        let [from, to] = [blocks.start, blocks.end].map(|block| self.blocks.starts[block]);
        match &self.bytes {
            ByteSource::Here(bytes) => Ok(bytes.slice(from as usize..to as usize)),
            ByteSource::On(file) => {
                let stored = read_at(file, from, (to - from) as usize, &self.name)?;
                let is_sound = self.blocks.are_sound(blocks, &stored);
                if is_sound { Ok(stored.owned()) } else { Err(damaged(&self.name, "is damaged")) }
            }
        }
    }

    /// Blocks as tantivy wrote them.
    fn blocks(&self, blocks: Range<usize>) -> io::Result<OwnedBytes> {
        let stored = self.stored(blocks.clone())?;
        if self.blocks.are_plain(blocks.clone()) {
            return Ok(stored);
        }
        let mut bytes = vec![0; (blocks.end * BLOCK).min(self.blocks.length) - blocks.start * BLOCK];
        for (block, bytes) in blocks.clone().zip(bytes.chunks_mut(BLOCK)) {
            let stored = &stored[self.blocks.stored(block, blocks.start)];
            match stored.len() == self.blocks.bytes_of(block) {
                true => bytes.copy_from_slice(stored),
                false => unpack(stored, bytes).map_err(|_| damaged(&self.name, "is damaged"))?,
            }
        }
        Ok(OwnedBytes::new(bytes))
    }

    /// A block as tantivy wrote it: from the cache, or read.
    fn block(&self, block: usize) -> io::Result<OwnedBytes> {
        self.kept.block(block, self.blocks.len(), || self.blocks(block..block + 1))
    }

    /// Where the blocks of stored documents end.
    fn blocks_end(&self) -> io::Result<usize> {
        if let Some(end) = self.blocks_end.get() {
            return Ok(*end);
        }
        let cut = || damaged(&self.name, "has no end of a document store");
        let footer_at = self.blocks.length.checked_sub(FOOTER_END).ok_or_else(cut)?;
        let footer = *self.read(footer_at..footer_at + 4)?.first_chunk().ok_or_else(cut)?;
        let own =
            footer_at.checked_sub(u32::from_le_bytes(footer) as usize).and_then(|end| end.checked_sub(STORE_FOOTER));
        let at = own.ok_or_else(cut)? + STORE_VERSION;
        let end = u64::from_le_bytes(*self.read(at..at + 8)?.first_chunk().ok_or_else(cut)?) as usize;
        Ok(*self.blocks_end.get_or_init(|| end))
    }

    fn read(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.blocks.length {
            return Err(damaged(&self.name, "is shorter than what points into it"));
        }
        if range.is_empty() {
            return Ok(OwnedBytes::empty());
        }
        let (first, end) = (range.start / BLOCK, (range.end - 1) / BLOCK + 1);
        let within = range.start - first * BLOCK..range.end - first * BLOCK;
        let is_here = matches!(self.bytes, ByteSource::Here(_)) && self.blocks.are_plain(first..end);
        if is_here || end - first > SHORT_BLOCKS {
            return Ok(self.blocks(first..end)?.slice(within));
        }
        if end - first == 1 {
            return Ok(self.block(first)?.slice(within));
        }
        let mut bytes = Vec::with_capacity(range.len());
        for number in first..end {
            let (block, from) = (self.block(number)?, number * BLOCK);
            let part = range.start.max(from) - from..range.end.min(from + BLOCK) - from;
            bytes.extend_from_slice(&block[part]);
        }
        Ok(OwnedBytes::new(bytes))
    }

    /// Reads everything and checks it.
    pub(super) fn verify(&self) -> io::Result<()> {
        const AT_ONCE: usize = 256;
        let blocks = self.blocks.len();
        (0..blocks).step_by(AT_ONCE).try_for_each(|from| self.blocks(from..blocks.min(from + AT_ONCE)).map(|_| ()))
    }
}

impl HasLen for Sealed {
    fn len(&self) -> usize {
        self.blocks.length
    }
}

impl FileHandle for Sealed {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let end = range.end;
        let bytes = self.read(range)?;
        if self.name.ends_with(STORE)
            && let Some(size) = bytes.first_chunk()
            && u32::from_le_bytes(*size) as usize > STORE_BLOCK_BYTES_MAX
            && end <= self.blocks_end()?
        {
            return Err(damaged(&self.name, "has a block that takes too much memory"));
        }
        Ok(bytes)
    }
}

fn damaged(name: &str, how: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{name} {how}"))
}

#[cfg(unix)]
fn read_at(file: &File, at: u64, len: usize, name: &str) -> io::Result<Room> {
    use std::os::unix::fs::FileExt as _;
    let mut bytes = Room::new(len)?;
    file.read_exact_at(&mut bytes, at).map_err(|e| short(e, name))?;
    Ok(bytes)
}

#[cfg(windows)]
fn read_at(file: &File, at: u64, len: usize, name: &str) -> io::Result<Room> {
    use std::os::windows::fs::FileExt as _;
    let mut bytes = Room::new(len)?;
    let mut read = 0;
    while read < len {
        match file.seek_read(&mut bytes[read..], at + read as u64)? {
            0 => return Err(short(io::ErrorKind::UnexpectedEof.into(), name)),
            n => read += n,
        }
    }
    Ok(bytes)
}

/// A file that ends early was truncated since it was opened.
fn short(error: io::Error, name: &str) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { damaged(name, "is cut") } else { error }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::disk::Disk;

    fn written(path: &Path, bytes: &[u8]) {
        let mut writer = SealedWriter::new(Disk::default().create_new(path).expect("a file"), path);
        for part in bytes.chunks(1_000) {
            writer.write_all(part).expect("written");
        }
        writer.terminate().expect("sealed");
    }

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * 31 + i / 251) as u8).collect()
    }

    #[test]
    fn any_range_comes_back() {
        let folder = tempfile::tempdir().expect("a folder");
        for (i, length) in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, KEPT_BYTES_MAX, 5 * KEPT_BYTES_MAX + 7, (1 << 20) + 9]
            .iter()
            .enumerate()
        {
            let (path, bytes) = (folder.path().join(format!("{i}.idx")), content(*length));
            written(&path, &bytes);
            let sealed = Sealed::open(&path).expect("sound");
            sealed.verify().expect("sound");
            assert_eq!(sealed.len(), *length);
            for from in (0..=*length).step_by(977) {
                let to = (from + 3 * from % 9_001).min(*length);
                assert_eq!(sealed.read_bytes(from..to).expect("sound").as_slice(), &bytes[from..to], "{from}..{to}");
            }
            sealed.read_bytes(0..*length + 1).expect_err("beyond the end");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn no_damage_is_read(length in 1usize..200_000, at in any::<prop::sample::Index>(), bit in 0u8..8, cut in any::<bool>()) {
            let folder = tempfile::tempdir().expect("a folder");
            let (path, bytes) = (folder.path().join("a.idx"), content(length));
            written(&path, &bytes);
            let mut file = std::fs::read(&path).expect("a file");
            let at = at.index(file.len());
            if cut { file.truncate(at) } else { file[at] ^= 1 << bit }
            std::fs::write(&path, &file).expect("written");
            let verified = Sealed::open(&path).and_then(|sealed| sealed.verify());
            prop_assert_eq!(verified.expect_err("damaged").kind(), io::ErrorKind::InvalidData);
            // What is not damaged reads back unchanged.
            if let Ok(sealed) = Sealed::open(&path) {
                for from in (0..2 * length).step_by(BLOCK).map(|from| from % length) {
                    let to = length.min(from + BLOCK);
                    if let Ok(read) = sealed.read_bytes(from..to) {
                        prop_assert_eq!(read.as_slice(), &bytes[from..to]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_file_cut_while_it_is_open_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.store");
        written(&path, &content(3 * KEPT_BYTES_MAX));
        let sealed = Sealed::open(&path).expect("sound");
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("a file");
        file.set_len(1_000).expect("cut");
        let error = sealed.read_bytes(0..20_000).expect_err("cut");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    }

    #[test]
    fn a_block_of_documents_that_asks_for_gigabytes_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.store");
        // A block of 100 bytes, the list of blocks, the ends of the store and of the file.
        let store = |size: u32| {
            let end =
                [&1u32.to_le_bytes()[..], &100u64.to_le_bytes(), &[4], &[0; 15], b"{}", &2u32.to_le_bytes(), &[0; 4]];
            [&size.to_le_bytes()[..], &[7; 96], &[0xFF; 20], &end.concat()].concat()
        };
        for (size, is_read) in [(64 << 10, true), (STORE_BLOCK_BYTES_MAX as u32 + 1, false), (u32::MAX, false)] {
            let _ = std::fs::remove_file(&path);
            written(&path, &store(size));
            let sealed = Sealed::open(&path).expect("sound");
            assert_eq!(sealed.read_bytes(0..100).is_ok(), is_read, "{size}");
            assert_eq!(sealed.read_bytes(100..120).expect("the list of blocks").as_slice(), [0xFF; 20]);
        }
    }

    #[test]
    fn no_file_stands_in_for_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let [a, b] = ["a.idx", "b.idx"].map(|name| folder.path().join(name));
        written(&a, &content(10));
        std::fs::rename(&a, &b).expect("another name");
        Sealed::open(&b).expect_err("another file");
    }
}
