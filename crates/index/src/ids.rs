//! Id types of files and texts.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// The number of a file in an index. A path keeps its number as long as it is in the table; a number that has become
/// free is given out again only when the index is built anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileId(pub u32);

impl FileId {
    /// The number as documents of the lexical index hold it.
    pub(crate) fn in_index(self) -> u64 {
        u64::from(self.0)
    }
}

/// Hash (XXH3, 64 bits) of the text that is encoded of a unit ([`crate::units::unit_text`]): the address of its
/// vectors. Units with the same text share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextHash(NonZeroU64);

impl TextHash {
    /// The hash with this value; `None` for 0, which stands for no text.
    pub fn new(value: u64) -> Option<TextHash> {
        NonZeroU64::new(value).map(TextHash)
    }

    /// Its value, as the files of the index hold it.
    pub fn value(self) -> u64 {
        self.0.get()
    }
}
