//! Checks of values in the answers of other processes: files and units that the shard has, and numbers that can be
//! summed, sorted and shown.

use colgrep_core::strength::Tokens;
use colgrep_core::{Unit, UnitId};
use colgrep_index::ids::{FilePlace, TextHash};

use crate::shard::{ShardExtent, UnitFound};

/// The largest accepted count: the counts of all shards can be summed and multiplied.
pub const COUNT_MAX: u64 = 1 << 40;
/// The largest accepted line number.
pub const LINE_MAX: u32 = 1 << 30;
/// The largest accepted number of files of a shard: the places of all shards' files fit into 32 bits.
pub const PLACES_MAX: u32 = u32::MAX >> 10;

/// A value that can be checked without its request.
pub trait Validate {
    /// True if a shard of this extent can have sent it.
    fn is_valid(&self, extent: &ShardExtent) -> bool;
}

impl<T: Validate> Validate for [T] {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.iter().all(|one| one.is_valid(extent))
    }
}

impl<T: Validate> Validate for Vec<T> {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.as_slice().is_valid(extent)
    }
}

impl<T: Validate> Validate for Option<T> {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.as_ref().is_none_or(|one| one.is_valid(extent))
    }
}

impl<A: Validate, B: Validate> Validate for (A, B) {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.0.is_valid(extent) && self.1.is_valid(extent)
    }
}

/// Types whose values are all valid.
macro_rules! always_valid {
    ($($type:ty),*) => {
        $(impl Validate for $type {
            fn is_valid(&self, _: &ShardExtent) -> bool {
                true
            }
        })*
    };
}

always_valid!(bool, String, Tokens, TextHash);

/// A score, weight or share.
impl Validate for f32 {
    fn is_valid(&self, _: &ShardExtent) -> bool {
        self.is_finite()
    }
}

/// A count.
impl Validate for u64 {
    fn is_valid(&self, _: &ShardExtent) -> bool {
        *self <= COUNT_MAX
    }
}

/// A line number, or something smaller.
impl Validate for u32 {
    fn is_valid(&self, _: &ShardExtent) -> bool {
        *self <= LINE_MAX
    }
}

impl Validate for FilePlace {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.0 < extent.places
    }
}

impl Validate for UnitId {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.segment() < extent.segments
    }
}

impl Validate for UnitFound {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        let UnitFound { unit, file, line, end, score, .. } = self;
        unit.is_valid(extent) && file.is_valid(extent) && [*line, *end].is_valid(extent) && score.is_valid(extent)
    }
}

impl Validate for Unit {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        [self.span.first, self.span.line, self.span.end].is_valid(extent)
    }
}
