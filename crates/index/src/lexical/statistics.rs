//! Number of units and lengths of their fields: the averages for BM25F.

use std::path::Path;

use colgrep_core::bm25::FIELD_COUNT;

use super::lengths::FieldLengths;
use super::read::{Lexical, LexicalSegment};
use crate::disk::Disk;

/// Sums up a segment, unit by unit.
fn sum_up(segment: &LexicalSegment) -> FieldLengths {
    let mut lengths = FieldLengths::default();
    for doc in segment.reader.doc_ids_alive().filter(|doc| !segment.info(*doc).is_file()) {
        lengths.units += 1;
        for (sum, norm) in lengths.sums.iter_mut().zip(&segment.norms) {
            *sum += u64::from(norm.as_ref().map_or(0, |n| n.fieldnorm(doc)));
        }
    }
    // If it can't be read, a caller that can report the error will open it again.
    let has_terms = |field| segment.reader.inverted_index(field).map_or(true, |index| index.terms().num_terms() > 0);
    lengths.has_terms = segment.fields.map(has_terms);
    lengths
}

impl Lexical {
    /// Number of units, and for each field the sum of its lengths over them, in tokens.
    pub(super) fn lengths(&self) -> (u64, [u64; FIELD_COUNT]) {
        let mut all = FieldLengths::default();
        for segment in &self.segments {
            let lengths = segment.lengths.get_or_init(|| sum_up(segment));
            all.units += lengths.units;
            for (sum, more) in all.sums.iter_mut().zip(lengths.sums) {
                *sum += more;
            }
        }
        (all.units, all.sums)
    }

    /// Saves the sums for later readers.
    pub(crate) fn keep_lengths(&self, folder: &Path, disk: &Disk) {
        if self.segments.iter().any(|s| s.lengths.get().is_none()) {
            let lengths = |s: &LexicalSegment| *s.lengths.get_or_init(|| sum_up(s));
            FieldLengths::save(folder, disk, self.segments.iter().map(|s| (&s.reader, lengths(s))));
        }
    }
}
