//! Looks up the terms of a query: their posting lists and what these hold.

use std::ops::Range;

use colgrep_core::bm25::{Bm25, FIELD_COUNT, Field as UnitField};
use colgrep_core::query::QueryTerm;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Term};

use super::read::{Lexical, Segment};
use crate::error::Result;

/// The posting lists of a term in a segment: position of the field, place of the list.
pub(super) type Lists = Vec<(usize, TermInfo)>;

/// A term of the query with its posting lists.
pub(super) struct ScoredTerm<'a> {
    pub(super) term: &'a QueryTerm,
    /// For each segment.
    pub(super) lists: Vec<Lists>,
    /// Entries of all lists.
    pub(super) postings: u64,
    /// Units with the term.
    pub(super) df: u64,
    pub(super) idf: f32,
    /// Upper bound of its contribution to a score.
    pub(super) most: f32,
}

/// Reads lists.
pub(super) struct Reader<'a> {
    pub(super) lexical: &'a Lexical,
    pub(super) bm25: &'a Bm25,
    /// For each field, [`Bm25::length_normal`] by the code that a length is stored as.
    normals: [[f32; 256]; FIELD_COUNT],
}

impl<'a> Reader<'a> {
    /// A reader, given the average length of each field.
    pub(super) fn new(lexical: &'a Lexical, bm25: &'a Bm25, averages: [f32; FIELD_COUNT]) -> Reader<'a> {
        let normal =
            |field, id| bm25.length_normal(field, FieldNormReader::id_to_fieldnorm(id as u8) as f32, averages[field]);
        let normals = std::array::from_fn(|field| std::array::from_fn(|id| normal(field, id)));
        Reader { lexical, bm25, normals }
    }

    /// Finds the posting lists of a term. df, idf and the upper bound are filled in later.
    pub(super) fn look_up(&self, term: &'a QueryTerm) -> Result<ScoredTerm<'a>> {
        let lists = self.lexical.segments.iter().map(|s| self.lists(s, term)).collect::<Result<Vec<Lists>>>()?;
        let postings = lists.iter().flatten().map(|(_, info)| u64::from(info.doc_freq)).sum();
        Ok(ScoredTerm { term, lists, postings, df: 0, idf: 0.0, most: 0.0 })
    }

    fn lists(&self, segment: &Segment, term: &QueryTerm) -> Result<Lists> {
        let mut lists = Vec::new();
        for (f, field) in self.lexical.fields.unit.into_iter().enumerate() {
            // The name field is read even with weight 0: it tells which units have a term in their name.
            if self.bm25.weights[f] == 0.0 && UnitField::ALL[f] != UnitField::Name {
                continue;
            }
            let index = segment.reader.inverted_index(field)?;
            let info = index.get_term_info(&Term::from_field_text(field, &term.text));
            lists.extend(info.map_err(tantivy::TantivyError::from)?.map(|info| (f, info)));
        }
        Ok(lists)
    }

    /// Opens a list of segment `s`.
    pub(super) fn postings(
        &self,
        s: usize,
        (f, info): &(usize, TermInfo),
        option: IndexRecordOption,
    ) -> Result<BlockSegmentPostings> {
        let index = self.lexical.segments[s].reader.inverted_index(self.lexical.fields.unit[*f])?;
        Ok(index.read_block_postings_from_terminfo(info, option).map_err(tantivy::TantivyError::from)?)
    }

    /// Number of living documents of a range of segment `s` in any of the term's lists.
    pub(super) fn union(&self, s: usize, term: &ScoredTerm<'_>, range: &Range<DocId>) -> Result<u64> {
        let reader = &self.lexical.segments[s].reader;
        match term.lists[s].as_slice() {
            [] => return Ok(0),
            [(_, info)] if !reader.has_deletes() && range.len() == reader.max_doc() as usize => {
                return Ok(info.doc_freq.into());
            }
            _ => {}
        }
        let mut seen = vec![0u64; range.len().div_ceil(64)];
        for list in &term.lists[s] {
            each_block(self.postings(s, list, IndexRecordOption::Basic)?, range, |docs, _| {
                for doc in docs {
                    let at = doc - range.start;
                    seen[at as usize / 64] |= 1 << (at % 64);
                }
            });
        }
        if reader.has_deletes() {
            for (w, word) in seen.iter_mut().enumerate().filter(|(_, word)| **word != 0) {
                let first = range.start + 64 * w as DocId;
                let dead = |b: &DocId| *word >> b & 1 == 1 && reader.is_deleted(first + b);
                *word &= !(0..64).filter(dead).fold(0, |all, b| all | 1 << b);
            }
        }
        Ok(seen.iter().map(|word| u64::from(word.count_ones())).sum())
    }

    fn frequency(&self, segment: &Segment, f: usize, doc: DocId, tf: u32) -> f32 {
        let code = segment.norms[f].as_ref().map_or(0, |n| n.fieldnorm_id(doc));
        self.bm25.field_frequency(f, tf as f32, self.normals[f][usize::from(code)])
    }

    /// Calls `visit` with the living documents of a range of segment `s`, and what each of the term's lists adds to their
    /// frequency: list after list, ascending in each.
    pub(super) fn frequencies(
        &self,
        s: usize,
        term: &ScoredTerm<'_>,
        range: &Range<DocId>,
        mut visit: impl FnMut(DocId, f32),
    ) -> Result<()> {
        let segment = &self.lexical.segments[s];
        for list in &term.lists[s] {
            each_block(self.postings(s, list, IndexRecordOption::WithFreqs)?, range, |docs, tfs| {
                for (doc, tf) in docs.iter().zip(tfs).filter(|(doc, _)| !segment.reader.is_deleted(**doc)) {
                    visit(*doc, self.frequency(segment, list.0, *doc, *tf));
                }
            });
        }
        Ok(())
    }

    /// The term's summed frequencies at `docs` of segment `s`, which ascend.
    pub(super) fn frequencies_at(&self, s: usize, term: &ScoredTerm<'_>, docs: &[DocId]) -> Result<Vec<f32>> {
        let segment = &self.lexical.segments[s];
        let mut sums = vec![0.0; docs.len()];
        for list in &term.lists[s] {
            let mut block = self.postings(s, list, IndexRecordOption::WithFreqs)?;
            for (sum, doc) in sums.iter_mut().zip(docs) {
                let at = block.seek(*doc);
                if block.doc(at) == *doc {
                    *sum += self.frequency(segment, list.0, *doc, block.freq(at));
                }
            }
        }
        Ok(sums)
    }
}

/// Gives `visit` the documents of a list that lie in `range`, a block at a time, with their frequencies if these are
/// read.
fn each_block(mut block: BlockSegmentPostings, range: &Range<DocId>, mut visit: impl FnMut(&[DocId], &[u32])) {
    let mut from = if range.start > 0 { block.seek(range.start) } else { 0 };
    while let Some(last) = block.docs().last().copied() {
        let docs = block.docs();
        let to = if last < range.end { docs.len() } else { docs.partition_point(|doc| *doc < range.end) };
        if from < to {
            visit(&docs[from..to], block.freqs().get(from..to).unwrap_or_default());
        }
        if last >= range.end {
            return;
        }
        block.advance();
        from = 0;
    }
}
