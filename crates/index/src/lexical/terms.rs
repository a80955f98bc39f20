//! Looks up the terms of a query and their posting lists.

use std::ops::Range;

use colgrep_core::bm25::{Bm25, FIELD_COUNT, Field as UnitField};
use colgrep_core::query::QueryTerm;
use colgrep_core::statistics::TermCount;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Term};

use super::read::{Lexical, LexicalSegment};
use crate::error::Result;

/// The posting lists of a term in a segment: position of the field, place of the list.
pub(super) type Lists = Vec<(usize, TermInfo)>;

/// A term of the query with its posting lists, looked up once for all readers.
pub(super) struct ScoredTerm<'a> {
    pub(super) term: &'a QueryTerm,
    /// For each segment, the lists of the fields that count.
    pub(super) lists: Vec<Lists>,
    /// The lists of the other fields.
    pub(super) aside: Vec<Lists>,
    /// Entries of all lists that count.
    pub(super) postings: u64,
}

/// A term's contribution to scores, by the statistics of the corpus.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    pub(super) idf: f32,
    /// Upper bound of the term's contribution to a score.
    pub(super) most: f32,
}

impl Lexical {
    /// Finds the posting lists of a term.
    pub(super) fn term<'a>(&self, term: &'a QueryTerm, bm25: &Bm25) -> Result<ScoredTerm<'a>> {
        let (mut lists, mut aside) = (Vec::new(), Vec::new());
        for segment in &self.segments {
            let (mut counted, mut others) = (Lists::new(), Lists::new());
            for (f, field) in self.fields.unit.into_iter().enumerate() {
                let Some(index) = segment.terms_of(field)? else { continue };
                let info = index.get_term_info(&Term::from_field_text(field, &term.text));
                // The name field is read even with weight 0, to know which units have a term in their name.
                let counts = bm25.weights[f] != 0.0 || UnitField::ALL[f] == UnitField::Name;
                let lists = if counts { &mut counted } else { &mut others };
                lists.extend(info.map_err(tantivy::TantivyError::from)?.map(|info| (f, info)));
            }
            lists.push(counted);
            aside.push(others);
        }
        let postings = lists.iter().flatten().map(|(_, info)| u64::from(info.doc_freq)).sum();
        Ok(ScoredTerm { term, lists, aside, postings })
    }

    /// Opens a list of segment `s`.
    pub(super) fn list(
        &self,
        s: usize,
        (f, info): &(usize, TermInfo),
        option: IndexRecordOption,
    ) -> Result<BlockSegmentPostings> {
        let index = self.segments[s].reader.inverted_index(self.fields.unit[*f])?;
        Ok(index.read_block_postings_from_terminfo(info, option).map_err(tantivy::TantivyError::from)?)
    }

    /// Counts the live documents in a range of segment `s` with a term. Deleted ones would count in an updated index
    /// but not in a new one.
    pub(super) fn count(&self, s: usize, term: &ScoredTerm<'_>, range: &Range<DocId>) -> Result<TermCount> {
        let reader = &self.segments[s].reader;
        let mut count = TermCount::default();
        if !reader.has_deletes() && range.start == 0 {
            for (f, info) in term.lists[s].iter().chain(&term.aside[s]) {
                count.in_field[*f] = info.doc_freq.into();
            }
        }
        match term.lists[s].as_slice() {
            [(_, info)] if !reader.has_deletes() && range.len() == reader.max_doc() as usize => {
                count.units = info.doc_freq.into();
                return Ok(count);
            }
            _ => {}
        }
        let has_deletes = reader.has_deletes();
        let mut seen = vec![0u64; if term.lists[s].is_empty() { 0 } else { range.len().div_ceil(64) }];
        let lists = term.lists[s].iter().map(|list| (list, true));
        let aside = term.aside[s].iter().filter(|_| has_deletes).map(|list| (list, false));
        for (list, counts) in lists.chain(aside) {
            let mut living = 0;
            each_block(self.list(s, list, IndexRecordOption::Basic)?, range, |docs, _| {
                for doc in docs.iter().filter(|doc| !(has_deletes && reader.is_deleted(**doc))) {
                    living += 1;
                    if counts {
                        let at = doc - range.start;
                        seen[at as usize / 64] |= 1 << (at % 64);
                    }
                }
            });
            if has_deletes {
                count.in_field[list.0] += living;
            }
        }
        count.units = seen.iter().map(|word| u64::from(word.count_ones())).sum();
        Ok(count)
    }
}

pub(super) struct FrequencyReader<'a> {
    pub(super) lexical: &'a Lexical,
    pub(super) bm25: &'a Bm25,
    /// For each field, [`Bm25::length_normal`] by the code that a length is stored as.
    normals: [[f32; 256]; FIELD_COUNT],
}

impl<'a> FrequencyReader<'a> {
    /// A reader, given the average length of each field.
    pub(super) fn new(lexical: &'a Lexical, bm25: &'a Bm25, averages: [f32; FIELD_COUNT]) -> FrequencyReader<'a> {
        let normal =
            |field, id| bm25.length_normal(field, FieldNormReader::id_to_fieldnorm(id as u8) as f32, averages[field]);
        let normals = std::array::from_fn(|field| std::array::from_fn(|id| normal(field, id)));
        FrequencyReader { lexical, bm25, normals }
    }

    fn frequency(&self, segment: &LexicalSegment, f: usize, doc: DocId, tf: u32) -> f32 {
        let code = segment.norms[f].as_ref().map_or(0, |n| n.fieldnorm_id(doc));
        self.bm25.field_frequency(f, tf as f32, self.normals[f][usize::from(code)])
    }

    /// Calls `visit` with the live documents in a range of segment `s`, and what each of the term's lists adds to their
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
            each_block(self.lexical.list(s, list, IndexRecordOption::WithFreqs)?, range, |docs, tfs| {
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
            let mut block = self.lexical.list(s, list, IndexRecordOption::WithFreqs)?;
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

/// Calls `visit` with the documents of a list that are in `range`, a block at a time, with their frequencies if these
/// are read.
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
