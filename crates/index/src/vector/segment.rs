//! A segment: vectors of some units in one file, written once and then mapped; a small one is copied into memory before
//! a search ([`Bytes`]).
//!
//! Layout (all numbers little-endian; docs/index-format.md has the table): header, keys, starts unless all units have
//! codes of one length, sums, directory, lists, codes. Keys are sorted, and a unit's ordinal is the position of its
//! key.

use std::borrow::Cow;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::bytes::Bytes;
use super::codebook::{CodeLayout, Codebook};
use crate::disk::{Disk, open_regular};
use crate::error::{Error, Result};
use crate::ids::TextHash;

/// First bytes of a segment; the last is the version of its layout.
const MAGIC: &[u8; 8] = b"colgvec4";
const HEADER_BYTES: usize = 80;
/// Bytes of a key: the upper ones of a [`TextHash`].
const KEY_BYTES: usize = TextHash::BITS as usize / 8;
/// Bits of a hash below its key.
const KEY_SHIFT: u32 = u64::BITS - TextHash::BITS;
/// Units under one checksum.
const GROUP: usize = 16;

/// A segment of unused texts, kept in case they come back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpareSegment {
    /// Its file's name.
    pub name: String,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The day of the last build that copied from it, counted from 1970.
    pub day: u32,
}

/// Model, codebook and code layout of a segment; segments of different formats are never searched or merged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFormat {
    /// The model's fingerprint.
    pub(crate) fingerprint: u64,
    pub(crate) codebook: u64,
    pub(crate) centroids: u32,
    /// Byte layout of a unit's codes.
    pub(crate) layout: CodeLayout,
}

impl SegmentFormat {
    /// Number of possible lists: for each centroid one per head, and one for other rows.
    fn lists(&self) -> usize {
        self.centroids as usize * (self.layout.heads + 1)
    }
}

/// Number of the inverted list of a centroid (of `centroids`) for one head; for other rows if `head` is `None`.
pub(crate) fn list_of(centroid: usize, head: Option<usize>, centroids: usize) -> usize {
    head.map_or(0, |head| head + 1) * centroids + centroid
}

/// Collects units and writes them as a segment.
#[derive(Debug, Default)]
pub(crate) struct SegmentBuilder<'a> {
    /// Key and codes, row after row; codes may borrow from mapped segments.
    units: Vec<(u64, Cow<'a, [u8]>)>,
}

impl<'a> SegmentBuilder<'a> {
    /// Adds a unit by its [`TextHash`]. One of several units with the same key is written.
    pub(crate) fn add(&mut self, key: u64, codes: Cow<'a, [u8]>) {
        self.units.push((key, codes));
    }

    /// Adds the units of `segment` that `keep` accepts and that are not damaged; returns the number of damaged ones.
    pub(crate) fn absorb(&mut self, segment: &'a VectorSegment, keep: impl Fn(u64) -> bool) -> usize {
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
    /// When the disk refuses, or the codes take 4 GiB: starts and lengths are u32.
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
        let first = self.units.first().map_or(0, |(_, codes)| codes.len());
        let is_even = first > 0 && self.units.iter().all(|(_, codes)| codes.len() == first);
        let (directory, lists) = self.lists(format);
        let mut table = Vec::with_capacity(KEY_BYTES * self.units.len() + directory.len());
        table.extend(self.units.iter().flat_map(|(key, _)| key.to_le_bytes().into_iter().skip(8 - KEY_BYTES)));
        if !is_even {
            table.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
        }
        for group in self.units.chunks(GROUP) {
            let codes: Vec<u8> = group.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
            table.extend(group_sum(group[0].0, &codes).to_le_bytes());
        }
        table.extend(&directory);
        let mut header = MAGIC.to_vec();
        header.extend(format.fingerprint.to_le_bytes());
        header.extend(format.codebook.to_le_bytes());
        header.extend(format.centroids.to_le_bytes());
        let CodeLayout { heads, head_bytes, row_bytes } = format.layout;
        header.extend([row_bytes, head_bytes, heads].map(|n| (n as u32).to_le_bytes()).as_flattened());
        let even_bytes = if is_even { first } else { 0 };
        let counts = [self.units.len(), even_bytes, directory.len(), end as usize, lists.len()];
        header.extend(counts.map(|n| (n as u32).to_le_bytes()).as_flattened());
        header.extend([0; 4]);
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
            // Each attempt has its own name: on a full disk they would pile up.
            let _ = disk.remove(path);
            Error::io("write", path, e)
        })
    }

    /// The directory (of each list the distance of its number, its length, its sum) and the inverted lists. A list
    /// ([`list_of`]) has the ordinals of the units with such a row, as differences in LEB128.
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
        let (mut directory, mut lists, mut next) = (Vec::new(), Vec::new(), 0);
        for (number, (list, _)) in postings.iter().enumerate().filter(|(_, (list, _))| !list.is_empty()) {
            write_number(&mut directory, (number - next) as u32);
            write_number(&mut directory, list.len() as u32);
            directory.extend(list_sum(number, list).to_le_bytes());
            lists.extend(list);
            next = number + 1;
        }
        (directory, lists)
    }
}

/// Checksum of the codes of a group of units, seeded with the first one's key, so that another group's codes fail it.
fn group_sum(key: u64, codes: &[u8]) -> u32 {
    xxh3_64_with_seed(codes, key) as u32
}

/// Checksum of an inverted list, seeded with its number.
fn list_sum(number: usize, list: &[u8]) -> u32 {
    xxh3_64_with_seed(list, number as u64) as u32
}

/// LEB128: seven bits per byte, lowest first.
fn write_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the front of `bytes`; `None` if it is truncated or too large.
fn read_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u32;
    for shift in (0..u32::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7F).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// An inverted list's entry in the directory.
#[derive(Clone, Copy, Debug)]
struct ListEntry {
    number: usize,
    /// First byte and end, among the bytes of lists.
    from: usize,
    to: usize,
    sum: u32,
}

/// Parses a directory; `None` if it does not describe `lists_bytes` of lists.
fn entries(mut directory: &[u8], lists_bytes: usize) -> Option<Vec<ListEntry>> {
    let (mut entries, mut next, mut from) = (Vec::new(), 0usize, 0usize);
    while !directory.is_empty() {
        let number = next + read_number(&mut directory)? as usize;
        let to = from + read_number(&mut directory)? as usize;
        let (sum, rest) = directory.split_first_chunk()?;
        directory = rest;
        entries.push(ListEntry { number, from, to, sum: u32::from_le_bytes(*sum) });
        (next, from) = (number + 1, to);
    }
    (from == lists_bytes).then_some(entries)
}

/// A segment, open for reading.
#[derive(Debug)]
pub(crate) struct VectorSegment {
    map: Bytes,
    name: String,
    units: usize,
    /// Number of possible lists ([`SegmentFormat::lists`]).
    numbers: usize,
    /// Bytes of every unit's codes; 0 if they differ, and `starts` gives their offsets.
    even_bytes: usize,
    starts_at: usize,
    sums_at: usize,
    entries: Vec<ListEntry>,
    lists_at: usize,
    codes_at: usize,
    /// A bit per group of units: its codes have passed their checksum.
    sound: Vec<AtomicU64>,
}

impl VectorSegment {
    /// Opens the segment at `path` and verifies its length, its format, and the checksum of its table (6 bytes per
    /// unit). Lists are verified when read, codes on first read.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if it is missing, truncated, damaged, or of another format.
    pub(crate) fn open(path: &Path, format: &SegmentFormat) -> Result<VectorSegment> {
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
        let layout = CodeLayout { heads, head_bytes, row_bytes };
        let found = SegmentFormat { fingerprint: long(8), codebook: long(16), centroids: word(24), layout };
        if found != *format || row_bytes < 3 || head_bytes < 3 {
            return Err(unusable("is of another model or codec"));
        }
        let [units, even_bytes, directory_bytes, codes_bytes, lists_bytes] =
            [40, 44, 48, 52, 56].map(|at| word(at) as usize);
        let starts_at = HEADER_BYTES + KEY_BYTES * units;
        let sums_at = starts_at + if even_bytes > 0 { 0 } else { 4 * (units + 1) };
        let directory_at = sums_at + 4 * units.div_ceil(GROUP);
        let lists_at = directory_at + directory_bytes;
        let codes_at = lists_at + lists_bytes;
        if map.len() != codes_at + codes_bytes || (even_bytes > 0 && even_bytes * units != codes_bytes) {
            return Err(unusable("is cut"));
        }
        if xxh3_64(&map[HEADER_BYTES..lists_at]) != long(64) {
            return Err(unusable("has a damaged table"));
        }
        let entries =
            entries(&map[directory_at..lists_at], lists_bytes).ok_or_else(|| unusable("has a damaged table"))?;
        Ok(VectorSegment {
            name,
            units,
            numbers: format.lists(),
            even_bytes,
            starts_at,
            sums_at,
            entries,
            lists_at,
            codes_at,
            sound: (0..units.div_ceil(64 * GROUP)).map(|_| AtomicU64::new(0)).collect(),
            map,
        })
    }

    /// Checks that all of its bytes can be read, and copies a small file into memory ([`Bytes::secure`]).
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the file was truncated since it was opened.
    pub(crate) fn secure(&self) -> Result<()> {
        if self.map.secure() { Ok(()) } else { Err(self.damaged("its end, which was cut off,")) }
    }

    /// Checks that what was read since was all of the file.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the file was cut meanwhile.
    pub(crate) fn check_read(&self) -> Result<()> {
        if self.map.is_cut() { Err(self.damaged("its end, which was cut off,")) } else { Ok(()) }
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

    pub(crate) fn key(&self, ordinal: usize) -> u64 {
        // The table after the last key is longer than the two extra bytes that are read.
        let bytes = self.map.get(HEADER_BYTES + KEY_BYTES * ordinal..).and_then(|b| b.first_chunk());
        bytes.map_or(0, |b| u64::from_le_bytes(*b) << KEY_SHIFT)
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

    /// The codes of a unit, row after row, verified on first read.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if they are damaged.
    pub(crate) fn codes(&self, ordinal: usize) -> Result<&[u8]> {
        let group = ordinal / GROUP;
        let (at, bit) = (group / 64, 1 << (group % 64));
        if self.sound.get(at).is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0) {
            return self.bytes_of(ordinal).ok_or_else(|| self.damaged("a unit"));
        }
        self.check(group)?;
        if let Some(word) = self.sound.get(at) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        self.bytes_of(ordinal).ok_or_else(|| self.damaged("a unit"))
    }

    /// First byte of a unit's codes; for the ordinal after the last, their end.
    fn start(&self, ordinal: usize) -> usize {
        let start = match self.even_bytes {
            0 => self.word(self.starts_at + 4 * ordinal) as usize,
            even => even * ordinal,
        };
        self.codes_at + start
    }

    fn bytes_of(&self, ordinal: usize) -> Option<&[u8]> {
        if ordinal >= self.units {
            return None;
        }
        self.map.get(self.start(ordinal)..self.start(ordinal + 1))
    }

    /// Checks the codes of a group of units.
    fn check(&self, group: usize) -> Result<()> {
        let (first, end) = (group * GROUP, self.units.min((group + 1) * GROUP));
        let codes = (first < end).then(|| self.map.get(self.start(first)..self.start(end))).flatten();
        let is_sound =
            codes.is_some_and(|codes| group_sum(self.key(first), codes) == self.word(self.sums_at + 4 * group));
        if is_sound { Ok(()) } else { Err(self.damaged("a unit")) }
    }

    /// Calls `visit` with the ordinals of the units in a list, by its number ([`list_of`]).
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the list is damaged.
    pub(crate) fn list(&self, number: usize, mut visit: impl FnMut(usize)) -> Result<()> {
        let Ok(at) = self.entries.binary_search_by_key(&number, |entry| entry.number) else { return Ok(()) };
        let ListEntry { from, to, sum, .. } = self.entries[at];
        let list = self.map.get(self.lists_at + from..self.lists_at + to);
        let Some(list) = list.filter(|list| list_sum(number, list) == sum) else {
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
            self.bytes_of(ordinal).ok_or_else(|| self.damaged("a unit"))?;
        }
        (0..self.units.div_ceil(GROUP)).try_for_each(|group| self.check(group))?;
        let mut postings = 0;
        for ListEntry { number, .. } in self.entries.iter().copied() {
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
