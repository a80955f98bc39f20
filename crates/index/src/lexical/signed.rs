//! Files that can't match, by their signatures.

use std::path::Path;

use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use tantivy::columnar::ColumnIndex;
use tantivy::{DocId, SegmentReader};

use super::commit::CommitPoint;
use super::fields::SIGNATURE;
use super::read::{Lexical, reader_at};
use crate::error::Result;
use crate::signature::Sought;

/// Documents whose signatures one core asks at once.
const ASKED_AT_ONCE: usize = 1 << 10;

impl Lexical {
    /// The numbers of the files whose signatures say that they hold nothing of what is sought. A file without a signature is
    /// not among them.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn without(&self, sought: &Sought) -> Result<FixedBitSet> {
        without(self.searcher.segment_readers(), sought)
    }

    /// The same of the commit in `folder` whose point was read before; nothing is opened but what tells it.
    ///
    /// # Errors
    /// As [`Lexical::open_at`].
    pub(crate) fn without_at(folder: &Path, point: &CommitPoint, sought: &Sought) -> Result<FixedBitSet> {
        let (reader, _) = reader_at(folder, point)?;
        without(reader.searcher().segment_readers(), sought)
    }
}

fn without(segments: &[SegmentReader], sought: &Sought) -> Result<FixedBitSet> {
    // Reading the signatures is most of the work, so the segments go first.
    let refused: Vec<Result<Vec<usize>>> = segments.par_iter().map(|segment| refused_in(segment, sought)).collect();
    let mut files = FixedBitSet::new();
    for refused in refused {
        refused?.into_iter().for_each(|file| files.grow_and_insert(file));
    }
    Ok(files)
}

fn refused_in(segment: &SegmentReader, sought: &Sought) -> Result<Vec<usize>> {
    let columns = segment.fast_fields();
    let Some(signatures) = columns.column_opt::<u64>(SIGNATURE)? else { return Ok(Vec::new()) };
    let files = columns.u64("file")?;
    // Of many documents few stand for files.
    let signed: Vec<DocId> = match &signatures.index {
        ColumnIndex::Empty { .. } => Vec::new(),
        ColumnIndex::Full => (0..segment.max_doc()).collect(),
        ColumnIndex::Optional(index) => index.iter_non_null_docs().collect(),
        ColumnIndex::Multivalued(index) => index.iter_non_null_docs().collect(),
    };
    let is_refused = |doc: &DocId| {
        let rows = signatures.index.value_row_ids(*doc);
        let word = |at: usize| signatures.values.get_val(rows.start + at as u32);
        !segment.is_deleted(*doc) && !sought.may_match(rows.len(), word)
    };
    let of_some = |docs: &[DocId]| -> Vec<usize> {
        docs.iter().filter(|doc| is_refused(doc)).filter_map(|doc| Some(files.first(*doc)? as usize)).collect()
    };
    Ok(signed.par_chunks(ASKED_AT_ONCE).flat_map_iter(of_some).collect())
}
