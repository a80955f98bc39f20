//! Id types of files and texts.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The number of a file in an index. A path keeps its number while it is in the table; a freed number is reused only
/// after a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileId(pub u32);

impl FileId {
    /// The number as stored in the lexical index's documents.
    pub(crate) fn in_index(self) -> u64 {
        u64::from(self.0)
    }
}

/// The position of a file among all of its index by path, from 0. Unlike its number, it does not depend on the order of
/// updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FilePlace(pub u32);

/// The place of each file by its number.
#[derive(Clone, Debug, Default)]
pub struct FileOrder(Vec<FilePlace>);

impl FileOrder {
    /// The order of files whose numbers, all below `next`, come by path.
    pub fn new(next: u32, by_path: impl Iterator<Item = FileId>) -> FileOrder {
        let mut order = FileOrder(vec![FilePlace(u32::MAX); next as usize]);
        for (file, at) in by_path.zip(0..) {
            if let Some(place) = order.0.get_mut(file.0 as usize) {
                *place = FilePlace(at);
            }
        }
        order
    }

    /// The place of a file; an unknown file sorts last.
    pub fn place(&self, file: FileId) -> FilePlace {
        self.0.get(file.0 as usize).copied().unwrap_or(FilePlace(u32::MAX))
    }
}

/// Hash (XXH3-64, its lower 16 bits 0) of the text that is encoded of a unit ([`crate::units::unit_text`]): the address
/// of its vectors. Units with the same text share them. Among ten million texts, a collision occurs in one of five
/// indexes; each bit less saves two bits per unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextHash(NonZeroU64);

impl TextHash {
    /// Sorts after all others.
    pub const LAST: TextHash = TextHash(NonZeroU64::MAX);

    /// Stored bits of a hash, its upper ones.
    pub const BITS: u32 = 48;

    /// The hash with this value; `None` for 0, which means no text.
    pub fn new(value: u64) -> Option<TextHash> {
        NonZeroU64::new(value).map(TextHash)
    }

    /// Its value, as stored in the index.
    pub fn value(self) -> u64 {
        self.0.get()
    }
}

/// A unit's name across builds of an index: XXH3 (64 bits) of its file's path and its lines. Units on the same lines
/// share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StableId(u64);

impl StableId {
    /// The unit defined on `line` of the file at `path` (from the root) that ends on line `end`.
    pub fn new(path: &str, line: u32, end: u32) -> StableId {
        StableId(xxh3_64(format!("{path}:{line}:{end}").as_bytes()))
    }
}

impl fmt::Display for StableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The text is not 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoStableId;

impl FromStr for StableId {
    type Err = NoStableId;

    fn from_str(text: &str) -> Result<StableId, NoStableId> {
        let is_one = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let value = is_one.then(|| u64::from_str_radix(text, 16).ok()).flatten();
        value.map(StableId).ok_or(NoStableId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_ids_are_written_and_read() {
        let id = StableId::new("src/a.rs", 3, 9);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string(), "28032071f6fd52f9", "it must never change");
        assert!(id != StableId::new("src/a.rs", 3, 10) && id != StableId::new("src/b.rs", 3, 9));
        for text in ["", "5fc1", "src/a.rs:3", "+fc1e7c3f6d1d34d", "5fc1e7c3f6d1d34dd"] {
            assert_eq!(text.parse::<StableId>(), Err(NoStableId), "{text}");
        }
    }
}
