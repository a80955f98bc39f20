//! A segment: vectors of some units in one file. It is written once, then mapped; a small one is copied into memory
//! before a search ([`Bytes`]).
//!
//! Layout (all numbers little-endian; docs/index-format.md has the table): header, keys, starts, sums, directory,
//! lists, codes. A unit's ordinal is the position of its key, since keys are sorted.

use std::borrow::Cow;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::bytes::Bytes;
use super::codebook::{Codebook, Layout};
use crate::disk::{Disk, open_regular};
use crate::error::{Error, Result};

/// First bytes of a segment; the last is the version of its layout.
const MAGIC: &[u8; 8] = b"colgvec3";
const HEADER_BYTES: usize = 72;
/// Bytes of a list's entry in the directory: its number, its first byte, the checksum of its bytes (u32 each).
const ENTRY_BYTES: usize = 12;

/// Model, codebook and code layout of a segment; segments of different formats are never searched or merged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFormat {
    /// The model's fingerprint.
    pub(crate) fingerprint: u64,
    /// [`Codebook::id`].
    pub(crate) codebook: u64,
    /// Number of centroids.
    pub(crate) centroids: u32,
    /// Byte layout of a unit's codes.
    pub(crate) layout: Layout,
}

impl SegmentFormat {
    /// Number of possible lists: for each centroid one a head, and one for other rows.
    fn lists(&self) -> usize {
        self.centroids as usize * (self.layout.heads + 1)
    }
}

/// Number of the inverted list of a centroid (of `centroids`) for one head; for other rows where `head` is `None`.
pub(crate) fn list_of(centroid: usize, head: Option<usize>, centroids: usize) -> usize {
    head.map_or(0, |head| head + 1) * centroids + centroid
}

/// Collects units and writes them as a segment.
#[derive(Debug, Default)]
pub(crate) struct SegmentBuilder<'a> {
    /// Key and codes, row after row; codes may lie in mapped segments.
    units: Vec<(u64, Cow<'a, [u8]>)>,
}

impl<'a> SegmentBuilder<'a> {
    /// Adds a unit. Of units with the same key one is written.
    pub(crate) fn add(&mut self, key: u64, codes: Cow<'a, [u8]>) {
        self.units.push((key, codes));
    }

    /// Adds the units of `segment` that `keep` accepts and that are not damaged; returns the number of damaged ones.
    pub(crate) fn absorb(&mut self, segment: &'a Segment, keep: impl Fn(u64) -> bool) -> usize {
        if segment.secure().is_err() {
            return segment.len();
        }
        let mut damaged = 0;
        for ordinal in 0..segment.len() {
            let key = segment.key(ordinal);
            match segment.codes(ordinal) {
                Ok(codes) if keep(key) => self.add(key, Cow::Borrowed(codes)),
                Ok(_) => {}
                Err(_) => damaged += 1,
            }
        }
        damaged
    }

    /// Number of units added.
    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    /// Writes the segment and flushes it to the disk.
    ///
    /// # Errors
    /// When the disk refuses, or the codes take 4 GiB: starts are u32.
    pub(crate) fn write(mut self, path: &Path, format: &SegmentFormat, disk: &Disk) -> Result<()> {
        self.units.sort_unstable_by_key(|u| u.0);
        self.units.dedup_by_key(|u| u.0);
        if self.units.iter().map(|(_, codes)| codes.len()).sum::<usize>() > u32::MAX as usize {
            return Err(Error::TooManyVectors(path.to_path_buf()));
        }
        let (mut starts, mut end) = (Vec::with_capacity(self.units.len() + 1), 0u32);
        for (_, codes) in &self.units {
            starts.push(end);
            end += codes.len() as u32;
        }
        starts.push(end);
        let (directory, lists) = self.lists(format);
        let mut table = Vec::with_capacity(14 * self.units.len() + directory.len() + 4);
        table.extend(self.units.iter().flat_map(|(key, _)| key.to_le_bytes()));
        table.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
        table.extend(self.units.iter().flat_map(|(key, codes)| unit_sum(*key, codes).to_le_bytes()));
        table.extend(directory);
        let mut header = MAGIC.to_vec();
        header.extend(format.fingerprint.to_le_bytes());
        header.extend(format.codebook.to_le_bytes());
        header.extend(format.centroids.to_le_bytes());
        let Layout { heads, head_bytes, row_bytes } = format.layout;
        header.extend([row_bytes, head_bytes, heads].map(|n| (n as u32).to_le_bytes()).as_flattened());
        header.extend((self.units.len() as u32).to_le_bytes());
        header.extend(((table.len() - 14 * self.units.len() - 4) as u32 / ENTRY_BYTES as u32).to_le_bytes());
        header.extend(end.to_le_bytes());
        header.extend((lists.len() as u32).to_le_bytes());
        header.extend(xxh3_64(&table).to_le_bytes());
        header.extend(xxh3_64(&header).to_le_bytes());
        let file = disk.create_new(path).map_err(|e| Error::io("write", path, e))?;
        let write = || -> std::io::Result<()> {
            let mut file = BufWriter::with_capacity(1 << 20, file);
            file.write_all(&header)?;
            file.write_all(&table)?;
            file.write_all(&lists)?;
            for (_, codes) in &self.units {
                file.write_all(codes)?;
            }
            file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync()
        };
        write().map_err(|e| {
            // Each try has a name of its own: on a full disk they would heap up.
            let _ = disk.remove(path);
            Error::io("write", path, e)
        })
    }

    /// The directory and the inverted lists. A list ([`list_of`]) holds the ordinals of the units with such a row, as
    /// differences in LEB128.
    fn lists(&self, format: &SegmentFormat) -> (Vec<u8>, Vec<u8>) {
        // Bytes of each list, and the ordinal it ends with.
        let mut postings: Vec<(Vec<u8>, u32)> = vec![(Vec::new(), 0); format.lists()];
        for (ordinal, (_, codes)) in self.units.iter().enumerate() {
            for (code, head) in format.layout.rows(codes) {
                let (list, last) = &mut postings[list_of(Codebook::centroid_of(code), head, format.centroids as usize)];
                if list.is_empty() || *last != ordinal as u32 {
                    write_number(list, ordinal as u32 - *last);
                    *last = ordinal as u32;
                }
            }
        }
        let (mut directory, mut lists) = (Vec::new(), Vec::new());
        for (number, (list, _)) in postings.iter().enumerate().filter(|(_, (list, _))| !list.is_empty()) {
            directory.extend((number as u32).to_le_bytes());
            directory.extend((lists.len() as u32).to_le_bytes());
            directory.extend(list_sum(number, list).to_le_bytes());
            lists.extend(list);
        }
        (directory, lists)
    }
}

/// Checksum of a unit's codes, seeded with its key, so that codes of another unit do not pass either.
fn unit_sum(key: u64, codes: &[u8]) -> u16 {
    xxh3_64_with_seed(codes, key) as u16
}

/// Checksum of an inverted list, seeded with its number.
fn list_sum(number: usize, list: &[u8]) -> u32 {
    xxh3_64_with_seed(list, number as u64) as u32
}

/// LEB128: seven bits a byte, lowest first.
fn write_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A segment, open for reading.
#[derive(Debug)]
pub(crate) struct Segment {
    map: Bytes,
    name: String,
    units: usize,
    /// Number of possible lists ([`SegmentFormat::lists`]).
    numbers: usize,
    keys_at: usize,
    starts_at: usize,
    sums_at: usize,
    directory_at: usize,
    lists_at: usize,
    codes_at: usize,
    /// A bit a unit: its codes have passed their checksum.
    sound: Vec<AtomicU64>,
}

impl Segment {
    /// Opens the segment at `path` and checks its length, its format, and the checksum of its table (14 bytes a unit).
    /// Lists and codes are checked when they are read, codes once.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where it is missing, cut, damaged, or of another format.
    pub(crate) fn open(path: &Path, format: &SegmentFormat) -> Result<Segment> {
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let unusable = |what: &str| Error::damaged(format!("vectors {}: {what}", path.display()));
        let file = open_regular(path).map_err(|e| unusable(&e.to_string()))?;
        let map = Bytes::of(file).map_err(|e| unusable(&e.to_string()))?;
        let header = map.get(..HEADER_BYTES).ok_or_else(|| unusable("is cut"))?;
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if !header.starts_with(MAGIC) || xxh3_64(&header[..HEADER_BYTES - 8]) != long(HEADER_BYTES - 8) {
            return Err(unusable("has a damaged header"));
        }
        let [row_bytes, head_bytes, heads] = [28, 32, 36].map(|at| word(at) as usize);
        let layout = Layout { heads, head_bytes, row_bytes };
        let found = SegmentFormat { fingerprint: long(8), codebook: long(16), centroids: word(24), layout };
        if found != *format || row_bytes < 3 || head_bytes < 3 {
            return Err(unusable("is of another model or codec"));
        }
        let (units, lists, codes_bytes, lists_bytes) =
            (word(40) as usize, word(44) as usize, word(48) as usize, word(52) as usize);
        let keys_at = HEADER_BYTES;
        let starts_at = keys_at + 8 * units;
        let sums_at = starts_at + 4 * (units + 1);
        let directory_at = sums_at + 2 * units;
        let lists_at = directory_at + ENTRY_BYTES * lists;
        let codes_at = lists_at + lists_bytes;
        if map.len() != codes_at + codes_bytes {
            return Err(unusable("is cut"));
        }
        if xxh3_64(&map[keys_at..lists_at]) != long(56) {
            return Err(unusable("has a damaged table"));
        }
        Ok(Segment {
            name,
            units,
            numbers: format.lists(),
            keys_at,
            starts_at,
            sums_at,
            directory_at,
            lists_at,
            codes_at,
            sound: (0..units.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            map,
        })
    }

    /// Checks that all of its bytes can be read, and copies a small file into memory ([`Bytes::secure`]).
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where the file was cut since it was opened.
    pub(crate) fn secure(&self) -> Result<()> {
        if self.map.secure() { Ok(()) } else { Err(self.damaged("its end, which was cut off,")) }
    }

    /// Its file's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Number of units.
    pub(crate) fn len(&self) -> usize {
        self.units
    }

    /// Its size, in bytes.
    pub(crate) fn bytes_on_disk(&self) -> u64 {
        self.map.len() as u64
    }

    fn word(&self, at: usize) -> u32 {
        self.map.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b))
    }

    /// The key of a unit.
    pub(crate) fn key(&self, ordinal: usize) -> u64 {
        self.map.get(self.keys_at + 8 * ordinal..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
    }

    /// The ordinal of a key, by interpolation search: keys are hashes and so evenly distributed.
    pub(crate) fn find(&self, key: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.units);
        let guess = ((u128::from(key) * self.units as u128) >> 64) as usize;
        // Gallop from the guess until the key is enclosed.
        let mut step = 16;
        if guess < high && self.key(guess) <= key {
            low = guess;
            while low + step < high {
                if self.key(low + step) > key {
                    high = low + step;
                    break;
                }
                low += step;
                step *= 2;
            }
        } else {
            high = guess.min(high);
            while high > step {
                if self.key(high - step) <= key {
                    low = high - step;
                    break;
                }
                high -= step;
                step *= 2;
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(middle).cmp(&key) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn damaged(&self, what: &str) -> Error {
        Error::damaged(format!("vectors {}: {what} is damaged", self.name))
    }

    /// The codes of a unit, row after row, checked when they are first read.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where they are damaged.
    pub(crate) fn codes(&self, ordinal: usize) -> Result<&[u8]> {
        let (at, bit) = (ordinal / 64, 1 << (ordinal % 64));
        if self.sound.get(at).is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0) {
            return self.bytes_of(ordinal).ok_or_else(|| self.damaged("a unit"));
        }
        let codes = self.checked(ordinal)?;
        if let Some(word) = self.sound.get(at) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(codes)
    }

    fn bytes_of(&self, ordinal: usize) -> Option<&[u8]> {
        let [from, to] = [ordinal, ordinal + 1].map(|i| self.codes_at + self.word(self.starts_at + 4 * i) as usize);
        self.map.get(from..to)
    }

    fn checked(&self, ordinal: usize) -> Result<&[u8]> {
        let sum =
            self.map.get(self.sums_at + 2 * ordinal..).and_then(|b| b.first_chunk()).copied().map(u16::from_le_bytes);
        let codes = self.bytes_of(ordinal).filter(|codes| sum == Some(unit_sum(self.key(ordinal), codes)));
        codes.ok_or_else(|| self.damaged("a unit"))
    }

    /// Calls `visit` with the ordinals of the units in a list, by its number ([`list_of`]).
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where the list is damaged.
    pub(crate) fn list(&self, number: usize, mut visit: impl FnMut(usize)) -> Result<()> {
        let lists = (self.lists_at - self.directory_at) / ENTRY_BYTES;
        let entry = |i: usize, word: usize| self.word(self.directory_at + ENTRY_BYTES * i + 4 * word) as usize;
        let (mut low, mut high) = (0, lists);
        while low < high {
            let middle = low + (high - low) / 2;
            if entry(middle, 0) < number {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low == lists || entry(low, 0) != number {
            return Ok(());
        }
        let from = self.lists_at + entry(low, 1);
        let to = if low + 1 < lists { self.lists_at + entry(low + 1, 1) } else { self.codes_at };
        let list = self.map.get(from..to).filter(|_| to <= self.codes_at);
        let Some(list) = list.filter(|l| list_sum(number, l) as usize == entry(low, 2)) else {
            return Err(self.damaged("a list"));
        };
        let (mut ordinal, mut step, mut shift) = (0usize, 0usize, 0);
        for byte in list {
            step |= usize::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                ordinal += step;
                if ordinal >= self.units {
                    return Err(self.damaged("a list"));
                }
                visit(ordinal);
                (step, shift) = (0, 0);
            }
        }
        Ok(())
    }

    /// Checks everything: the order of the keys, every list, every unit.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where anything is damaged.
    pub(crate) fn verify(&self) -> Result<()> {
        let mut last = None;
        for ordinal in 0..self.units {
            let key = self.key(ordinal);
            if last.is_some_and(|l| l >= key) {
                return Err(self.damaged("the order of its keys"));
            }
            last = Some(key);
            self.checked(ordinal)?;
        }
        let lists = (self.lists_at - self.directory_at) / ENTRY_BYTES;
        let mut postings = 0;
        for i in 0..lists {
            let number = self.word(self.directory_at + ENTRY_BYTES * i) as usize;
            if number >= self.numbers {
                return Err(self.damaged("a list"));
            }
            let before = postings;
            self.list(number, |_| postings += 1)?;
            if postings == before {
                return Err(self.damaged("a list"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
