//! Files that can't match, by their signatures.

use std::path::Path;

use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use tantivy::columnar::{Column, ColumnIndex, ColumnarReader, DynamicColumnHandle};
use tantivy::fastfield::AliveBitSet;
use tantivy::index::{Segment, SegmentComponent};
use tantivy::{DocId, Index, TantivyError};

use super::commit::CommitPoint;
use super::fields::{SIGNATURE, SIGNED, Signed};
use super::read::{Lexical, index_at};
use crate::error::Result;
use crate::signature::{Gram, STRIPS, Sought};

/// Documents whose signatures one core asks at once.
const ASKED_AT_ONCE: usize = 1 << 10;

impl Lexical {
    /// The numbers of the files whose signatures say that they hold nothing of what is sought. A file without a signature is
    /// not among them.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn without(&self, sought: &Sought) -> Result<FixedBitSet> {
        without(self.searcher.index(), sought)
    }

    /// The same of the commit in `folder` whose point was read before; nothing is opened but what tells it.
    ///
    /// # Errors
    /// As [`Lexical::open_at`].
    pub(crate) fn without_at(folder: &Path, point: &CommitPoint, sought: &Sought) -> Result<FixedBitSet> {
        without(&index_at(folder, point)?.0, sought)
    }
}

fn without(index: &Index, sought: &Sought) -> Result<FixedBitSet> {
    // Reading the signatures is most of the work, so the segments go first.
    let segments = index.searchable_segments()?;
    let refused: Vec<tantivy::Result<Vec<usize>>> =
        segments.par_iter().map(|segment| refused_in(segment, sought)).collect();
    let mut files = FixedBitSet::new();
    for refused in refused {
        refused?.into_iter().for_each(|file| files.grow_and_insert(file));
    }
    Ok(files)
}

/// Opens a segment's columns alone: its other files take several times as long.
fn refused_in(segment: &Segment, sought: &Sought) -> tantivy::Result<Vec<usize>> {
    let open = |part: SegmentComponent| segment.open_read(part).map_err(TantivyError::from);
    let columns = ColumnarReader::open(open(SegmentComponent::FastFields)?)?;
    let column = |name: &str| -> tantivy::Result<Option<Column<u64>>> {
        Ok(columns.read_columns(name)?.first().map(DynamicColumnHandle::open_u64_lenient).transpose()?.flatten())
    };
    let deleted = match segment.meta().has_deletes() {
        true => Some(AliveBitSet::open(open(SegmentComponent::Delete)?.read_bytes()?)),
        false => None,
    };
    let Some(files) = column(SIGNED)? else { return Ok(Vec::new()) };
    let strip = |strip: usize| if sought.asks(strip) { column(SIGNATURE[strip]) } else { Ok(None) };
    let strips: Vec<Option<Column<u64>>> = (0..STRIPS).map(strip).collect::<tantivy::Result<_>>()?;
    // Of many documents few stand for files.
    let signed: Vec<DocId> = match &files.index {
        ColumnIndex::Empty { .. } => Vec::new(),
        ColumnIndex::Full => (0..segment.meta().max_doc()).collect(),
        ColumnIndex::Optional(index) => index.iter_non_null_docs().collect(),
        ColumnIndex::Multivalued(index) => index.iter_non_null_docs().collect(),
    };
    let refused = |doc: &DocId| -> Option<usize> {
        let is_set = |gram: Gram| {
            let Some(strip) = &strips[gram.strip] else { return true };
            let rows = strip.index.value_row_ids(*doc);
            let (word, bit) = gram.bit(rows.len());
            rows.is_empty() || strip.values.get_val(rows.start + word as u32) & bit != 0
        };
        let Signed { file, is_long } = Signed::unpacked(files.first(*doc)?);
        let is_deleted = deleted.as_ref().is_some_and(|deleted| deleted.is_deleted(*doc));
        (!is_deleted && !sought.may_match(is_long, is_set)).then_some(file.0 as usize)
    };
    Ok(signed.par_chunks(ASKED_AT_ONCE).flat_map_iter(|docs| docs.iter().filter_map(refused)).collect())
}
