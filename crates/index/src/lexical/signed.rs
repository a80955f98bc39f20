//! Rules out files by their signatures.

use std::path::Path;

use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use tantivy::columnar::{Column, ColumnIndex, ColumnarReader, DynamicColumnHandle};
use tantivy::fastfield::AliveBitSet;
use tantivy::index::{Segment, SegmentComponent};
use tantivy::{DocId, SegmentReader, TantivyError};

use super::commit::CommitPoint;
use super::fields::{SIGNATURE, SIGNED, Signed};
use super::read::{Lexical, index_at};
use crate::error::Result;
use crate::signature::{Gram, STRIPS, Sought};

/// Documents whose signatures one core tests at a time.
const ASKED_AT_ONCE: usize = 1 << 10;

impl Lexical {
    /// The numbers of the files whose signatures rule out what is sought. A file without a signature is not among them.
    pub fn without(&self, sought: &Sought) -> Result<FixedBitSet> {
        let in_segment = |reader: &SegmentReader| {
            let column = |name: &str| reader.fast_fields().column_opt::<u64>(name);
            refused_in(reader.max_doc(), &column, reader.alive_bitset(), sought)
        };
        joined(self.searcher.segment_readers().par_iter().map(in_segment).collect())
    }

    /// The same for the commit in `folder` whose point was read before. Opens only the columns and deletions of its
    /// segments, since their other files take several times as long.
    pub(crate) fn without_at(folder: &Path, point: &CommitPoint, sought: &Sought) -> Result<FixedBitSet> {
        let segments = index_at(folder, point)?.0.searchable_segments()?;
        let in_segment = |segment: &Segment| {
            let open = |part: SegmentComponent| segment.open_read(part).map_err(TantivyError::from);
            let columns = ColumnarReader::open(open(SegmentComponent::FastFields)?)?;
            let column = |name: &str| -> tantivy::Result<Option<Column<u64>>> {
                let handles = columns.read_columns(name)?;
                Ok(handles.first().map(DynamicColumnHandle::open_u64_lenient).transpose()?.flatten())
            };
            let alive = match segment.meta().has_deletes() {
                true => Some(AliveBitSet::open(open(SegmentComponent::Delete)?.read_bytes()?)),
                false => None,
            };
            refused_in(segment.meta().max_doc(), &column, alive.as_ref(), sought)
        };
        // Reading the signatures is most of the work, so the segments are read side by side.
        joined(segments.par_iter().map(in_segment).collect())
    }
}

/// All files of the segments in one set.
fn joined(refused: Vec<tantivy::Result<Vec<usize>>>) -> Result<FixedBitSet> {
    let mut files = FixedBitSet::new();
    for refused in refused {
        refused?.into_iter().for_each(|file| files.grow_and_insert(file));
    }
    Ok(files)
}

/// Returns the column of that name.
type Columns<'a> = dyn Fn(&str) -> tantivy::Result<Option<Column<u64>>> + 'a;

/// The ruled-out files of a segment with this number of documents.
fn refused_in(
    documents: DocId,
    column: &Columns<'_>,
    alive: Option<&AliveBitSet>,
    sought: &Sought,
) -> tantivy::Result<Vec<usize>> {
    let Some(files) = column(SIGNED)? else { return Ok(Vec::new()) };
    let strip = |strip: usize| if sought.asks(strip) { column(SIGNATURE[strip]) } else { Ok(None) };
    let strips: Vec<Option<Column<u64>>> = (0..STRIPS).map(strip).collect::<tantivy::Result<_>>()?;
    // Few of many documents are files.
    let signed: Vec<DocId> = match &files.index {
        ColumnIndex::Empty { .. } => Vec::new(),
        ColumnIndex::Full => (0..documents).collect(),
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
        let is_deleted = alive.is_some_and(|alive| alive.is_deleted(*doc));
        (!is_deleted && !sought.may_match(is_long, is_set)).then_some(file.0 as usize)
    };
    Ok(signed.par_chunks(ASKED_AT_ONCE).flat_map_iter(|docs| docs.iter().filter_map(refused)).collect())
}
