//! How many units an index has and how long their fields are. Summing that up goes through every unit, so the writer of
//! an index does it once a segment and leaves the sums beside it. They are a help, not a part of the index: where they
//! are missing, damaged, or of other segments, a reader sums up itself and gets the same.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tantivy::SegmentReader;
use xxhash_rust::xxh3::xxh3_64;

use super::read::{Lexical, Segment};

const NAME: &str = "lengths.bin";

/// The units of a segment that are not deleted, and the sum of each field's lengths over them, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lengths {
    units: u64,
    sums: [u64; 6],
}

/// What a segment is known by: deleting a document changes the second.
type Version = (String, Option<u64>);

fn version(reader: &SegmentReader) -> Version {
    (reader.segment_id().uuid_string(), reader.delete_opstamp())
}

/// The sums that a writer left.
pub(super) struct Kept(HashMap<Version, Lengths>);

impl Kept {
    pub(super) fn get(&self, reader: &SegmentReader) -> Option<Lengths> {
        self.0.get(&version(reader)).copied()
    }
}

impl Lengths {
    /// Reads what the writer of the index in `folder` left.
    pub(super) fn load(folder: &Path) -> Kept {
        let bytes = fs::read(folder.join(NAME)).unwrap_or_default();
        let sound = bytes.split_last_chunk::<8>().filter(|(body, sum)| xxh3_64(body) == u64::from_le_bytes(**sum));
        Kept(sound.and_then(|(body, _)| postcard::from_bytes(body).ok()).unwrap_or_default())
    }

    fn of(segment: &Segment) -> Lengths {
        let mut lengths = Lengths::default();
        for doc in segment.reader.doc_ids_alive().filter(|doc| !segment.info(*doc).is_file()) {
            lengths.units += 1;
            for (sum, norm) in lengths.sums.iter_mut().zip(&segment.norms) {
                *sum += u64::from(norm.as_ref().map_or(0, |n| n.fieldnorm(doc)));
            }
        }
        lengths
    }
}

impl Lexical {
    /// Number of units and the average length of each field over them, in tokens.
    pub(super) fn statistics(&self) -> (u64, [f32; 6]) {
        let mut all = Lengths::default();
        for segment in &self.segments {
            let lengths = segment.lengths.get_or_init(|| Lengths::of(segment));
            all.units += lengths.units;
            for (sum, more) in all.sums.iter_mut().zip(lengths.sums) {
                *sum += more;
            }
        }
        (all.units, all.sums.map(|s| s as f32 / all.units.max(1) as f32))
    }

    /// Leaves the sums for the next readers. Failing is no loss but of time.
    pub(crate) fn keep_lengths(&self, folder: &Path) {
        if self.segments.iter().all(|s| s.lengths.get().is_some()) {
            return;
        }
        let lengths = |s: &Segment| (version(&s.reader), *s.lengths.get_or_init(|| Lengths::of(s)));
        let all: HashMap<Version, Lengths> = self.segments.iter().map(lengths).collect();
        let Ok(mut bytes) = postcard::to_stdvec(&all) else { return };
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let new = folder.join(format!("{NAME}.new"));
        if fs::write(&new, bytes).is_ok() {
            let _ = fs::rename(&new, folder.join(NAME));
        }
    }
}
