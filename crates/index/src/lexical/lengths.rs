//! Number of units, lengths of their fields, and which fields have terms. Summing reads every unit, so a writer saves
//! the sums of each segment in a cache file, which a reader recomputes if it is missing, damaged or stale.

use std::collections::HashMap;
use std::path::Path;

use colgrep_core::bm25::FIELD_COUNT;
use serde::{Deserialize, Serialize};
use tantivy::SegmentReader;
use xxhash_rust::xxh3::xxh3_64;

use crate::disk::{Disk, read_regular};

/// Its name in the folder.
pub(super) const NAME: &str = "lengths.bin";

/// The live units of a segment, the sum of each field's lengths over them in tokens, and which fields have terms, those
/// of deleted units included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FieldLengths {
    pub(super) units: u64,
    pub(super) sums: [u64; FIELD_COUNT],
    pub(super) has_terms: [bool; FIELD_COUNT],
}

/// Identity of a segment's content: its id and the stamp of its last deletion.
type Version = (String, Option<u64>);

fn version(reader: &SegmentReader) -> Version {
    (reader.segment_id().uuid_string(), reader.delete_opstamp())
}

pub(super) struct SavedSums(HashMap<Version, FieldLengths>);

impl SavedSums {
    pub(super) fn get(&self, reader: &SegmentReader) -> Option<FieldLengths> {
        self.0.get(&version(reader)).copied()
    }
}

impl FieldLengths {
    /// Reads the sums that the writer of the index in `folder` saved.
    pub(super) fn load(folder: &Path) -> SavedSums {
        let bytes = read_regular(&folder.join(NAME), u64::MAX).unwrap_or_default();
        let sound = bytes.split_last_chunk::<8>().filter(|(body, sum)| xxh3_64(body) == u64::from_le_bytes(**sum));
        SavedSums(sound.and_then(|(body, _)| postcard::from_bytes(body).ok()).unwrap_or_default())
    }

    /// Saves `all` for later readers of the index in `folder`. A failure only costs later readers time.
    pub(super) fn save<'a>(folder: &Path, disk: &Disk, all: impl Iterator<Item = (&'a SegmentReader, FieldLengths)>) {
        let all: HashMap<Version, FieldLengths> = all.map(|(reader, lengths)| (version(reader), lengths)).collect();
        let Ok(mut bytes) = postcard::to_stdvec(&all) else { return };
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let _ = disk.replace(&folder.join(NAME), &bytes);
    }
}
