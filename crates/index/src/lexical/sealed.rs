//! Files of the lexical index with a checksum for each block, so that any part of a file is checked when it is read.
//!
//! tantivy keeps one sum a file, which only reading all of it can check. A sealed file is the bytes that tantivy wrote,
//! then the low half of the XXH3-64 of each block of [`BLOCK`] of them, then the [`TRAILER`]: a magic number, the length
//! of the bytes and the XXH3-64 of the file's name, the sums, and the trailer before it. tantivy sees the bytes alone.
//!
//! Reads are copies, not maps: a file cut under a server then ends in an error, not in a signal.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use tantivy::HasLen;
use tantivy::directory::{AntiCallToken, FileHandle, OwnedBytes, TerminatingWrite};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::disk::{DiskFile, open_regular};

/// Bytes under one sum: what a lookup reads at least.
const BLOCK: usize = 4 << 10;
/// Bytes of a sum.
const SUM: usize = 4;
const MAGIC: &[u8; 8] = b"colgseal";
/// Magic, length, sum.
const TRAILER: usize = 24;
/// A file up to this size is kept in memory and takes no handle.
const KEPT_BYTES_MAX: usize = 64 << 10;
/// Of a file up to this size, parts that were read stay in memory: a search comes back to most of them, some 300 times.
const CACHED_BYTES_MAX: usize = 1 << 20;
/// Bytes of such a part.
const PART: usize = 4 * BLOCK;

fn block_sum(block: &[u8]) -> [u8; SUM] {
    (xxh3_64(block) as u32).to_le_bytes()
}

/// The sum over the sums, bound to the file's name: no file can stand in for another.
fn whole_sum(name: &str, sums: &[u8], length: [u8; 8]) -> [u8; 8] {
    let mut hasher = Xxh3::new();
    [name.as_bytes(), sums, MAGIC, &length].into_iter().for_each(|part| hasher.update(part));
    hasher.digest().to_le_bytes()
}

/// A file name as it is bound to a content.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes a sealed file.
pub(super) struct SealedWriter {
    file: DiskFile,
    name: String,
    /// What is written behind the last whole block.
    block: Vec<u8>,
    sums: Vec<u8>,
    length: u64,
}

impl SealedWriter {
    pub(super) fn new(file: DiskFile, path: &Path) -> SealedWriter {
        SealedWriter { file, name: name_of(path), block: Vec::new(), sums: Vec::new(), length: 0 }
    }

    fn take(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.block.len()));
            self.block.extend(now);
            bytes = later;
            if self.block.len() == BLOCK {
                self.sums.extend(block_sum(&self.block));
                self.block.clear();
            }
        }
    }
}

impl Write for SealedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.take(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TerminatingWrite for SealedWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        if !self.block.is_empty() {
            self.sums.extend(block_sum(&self.block));
        }
        let length = self.length.to_le_bytes();
        let sum = whole_sum(&self.name, &self.sums, length);
        let end = [&self.sums, MAGIC.as_slice(), &length, &sum].concat();
        self.file.write_all(&end)?;
        self.file.sync()
    }
}

/// A sealed file, open for reading.
pub(super) struct Sealed {
    name: String,
    bytes: Bytes,
    sums: Vec<u8>,
    length: usize,
}

/// Where a file's bytes are.
enum Bytes {
    Kept(OwnedBytes),
    /// With the parts that were read and checked; none of a large file.
    On(File, Vec<OnceLock<OwnedBytes>>),
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({}, {} bytes)", self.name, self.length)
    }
}

impl Sealed {
    /// Opens the file at `path` and checks its trailer; a small one is read and checked whole.
    ///
    /// # Errors
    /// Of kind `InvalidData` where it is cut or damaged, of kind `NotFound` where it is missing.
    pub(super) fn open(path: &Path) -> io::Result<Sealed> {
        let name = name_of(path);
        let file = open_regular(path)?;
        let size = file.metadata()?.len();
        // Of a large file as much as the sums of its blocks can take.
        let end =
            if size <= KEPT_BYTES_MAX as u64 { size } else { (size / BLOCK as u64 + 1) * SUM as u64 + TRAILER as u64 };
        let from = size - end;
        let tail = read_at(&file, from, (size - from) as usize, &name)?;
        let cut = || damaged(&name, "is cut");
        let (rest, trailer) = tail.split_last_chunk::<TRAILER>().ok_or_else(cut)?;
        let (magic, numbers) = trailer.split_at(MAGIC.len());
        let (length, sum) = numbers.split_at(8);
        if magic != MAGIC {
            return Err(cut());
        }
        let length: [u8; 8] = length.try_into().map_err(|_| cut())?;
        let bytes = u64::from_le_bytes(length);
        let sums_bytes = bytes.div_ceil(BLOCK as u64).saturating_mul(SUM as u64);
        if bytes.saturating_add(sums_bytes).saturating_add(TRAILER as u64) != size {
            return Err(cut());
        }
        let (bytes, sums_bytes) = (bytes as usize, sums_bytes as usize);
        let sums = match rest.len().checked_sub(sums_bytes) {
            Some(at) => rest[at..].to_vec(),
            None => read_at(&file, bytes as u64, sums_bytes, &name)?,
        };
        if whole_sum(&name, &sums, length) != *sum {
            return Err(damaged(&name, "is damaged"));
        }
        let parts = if bytes <= CACHED_BYTES_MAX { bytes.div_ceil(PART) } else { 0 };
        let parts = (0..parts).map(|_| OnceLock::new()).collect();
        let mut sealed = Sealed { name, bytes: Bytes::On(file, parts), sums, length: bytes };
        if from == 0 {
            sealed.check(0, &tail[..bytes])?;
            sealed.bytes = Bytes::Kept(OwnedBytes::new(tail).slice(0..bytes));
        }
        Ok(sealed)
    }

    /// Checks blocks that were read, the first of which has the number `first`.
    fn check(&self, first: usize, blocks: &[u8]) -> io::Result<()> {
        let sums = self.sums[first * SUM..].chunks_exact(SUM);
        let sound = blocks.chunks(BLOCK).zip(sums).all(|(block, sum)| block_sum(block) == *sum);
        if sound { Ok(()) } else { Err(damaged(&self.name, "is damaged")) }
    }

    /// Reads the blocks of a range, which begins with one, and checks them.
    fn blocks(&self, file: &File, range: Range<usize>) -> io::Result<OwnedBytes> {
        let to = range.end.next_multiple_of(BLOCK).min(self.length);
        let blocks = read_at(file, range.start as u64, to - range.start, &self.name)?;
        self.check(range.start / BLOCK, &blocks)?;
        Ok(OwnedBytes::new(blocks))
    }

    /// Reads everything and checks it.
    ///
    /// # Errors
    /// As [`Sealed::open`].
    pub(super) fn verify(&self) -> io::Result<()> {
        const AT_ONCE: usize = 256 * BLOCK;
        (0..self.length).step_by(AT_ONCE).try_for_each(|from| {
            self.read_bytes(from..self.length.min(from + AT_ONCE))?;
            Ok(())
        })
    }
}

impl HasLen for Sealed {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for Sealed {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.length {
            return Err(damaged(&self.name, "is shorter than what points into it"));
        }
        let (file, parts) = match &self.bytes {
            Bytes::Kept(bytes) => return Ok(bytes.slice(range)),
            Bytes::On(file, parts) => (file, parts),
        };
        if range.is_empty() {
            return Ok(OwnedBytes::empty());
        }
        let (number, within) = (range.start / PART, range.start % PART);
        let Some(part) = parts.get(number).filter(|_| within + range.len() <= PART) else {
            let from = range.start / BLOCK * BLOCK;
            let blocks = self.blocks(file, from..range.end)?;
            return Ok(blocks.slice(range.start - from..range.end - from));
        };
        let bytes = match part.get() {
            Some(bytes) => bytes.clone(),
            None => {
                let from = number * PART;
                let bytes = self.blocks(file, from..self.length.min(from + PART))?;
                // Another thread may have been faster.
                part.get_or_init(|| bytes).clone()
            }
        };
        Ok(bytes.slice(within..within + range.len()))
    }
}

fn damaged(name: &str, how: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{name} {how}"))
}

#[cfg(unix)]
fn read_at(file: &File, at: u64, len: usize, name: &str) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, at).map_err(|e| short(e, name))?;
    Ok(bytes)
}

#[cfg(windows)]
fn read_at(file: &File, at: u64, len: usize, name: &str) -> io::Result<Vec<u8>> {
    use std::os::windows::fs::FileExt as _;
    let mut bytes = vec![0; len];
    let mut read = 0;
    while read < len {
        match file.seek_read(&mut bytes[read..], at + read as u64)? {
            0 => return Err(short(io::ErrorKind::UnexpectedEof.into(), name)),
            n => read += n,
        }
    }
    Ok(bytes)
}

/// A file that ends early was cut since it was opened.
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
        for (i, length) in
            [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, KEPT_BYTES_MAX, 5 * KEPT_BYTES_MAX + 7, CACHED_BYTES_MAX + 9]
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
            // What is not damaged can be read as it was.
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
        let path = folder.path().join("a.idx");
        written(&path, &content(3 * KEPT_BYTES_MAX));
        let sealed = Sealed::open(&path).expect("sound");
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("a file");
        file.set_len(1_000).expect("cut");
        let error = sealed.read_bytes(0..20_000).expect_err("cut");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
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
