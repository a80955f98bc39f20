//! Which files hold neighbouring terms of a query close together.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use colgrep_core::bm25::{Field as UnitField, idf};
use colgrep_core::query::Query;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, TERMINATED, Term};

use super::read::{Lexical, Segment};
use crate::error::Result;
use crate::ids::FileId;

/// Distance, in tokens, within which two terms count as near. Prototype: 8 of 4, 8, 16, 32.
const NEAR_TOKENS: u32 = 8;
/// Up to this many documents with both terms of a pair, each is looked at. Above it, the number of files with the pair
/// is estimated from a sample.
const PAIR_DOCS: u64 = 50_000;
/// The sample takes the first documents of every stripe of this many, since a file's documents lie side by side.
const STRIPE_DOCS: DocId = 1 << 14;

/// Proximity evidence of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nearness {
    /// Neighbouring query terms within 8 tokens.
    pub near: f32,
    /// Neighbouring query terms side by side, in order.
    pub adjacent: f32,
}

/// For each file, how often a pair of terms stands near each other, and side by side.
type Counts = HashMap<FileId, (u32, u32)>;

impl Lexical {
    /// Proximity evidence of those of the files `wanted` that hold neighbouring query terms close together.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn nearness(
        &self,
        query: &Query,
        files_total: u64,
        wanted: &HashSet<FileId>,
    ) -> Result<HashMap<FileId, Nearness>> {
        self.nearness_in(query, files_total, wanted, PAIR_DOCS, STRIPE_DOCS)
    }

    fn nearness_in(
        &self,
        query: &Query,
        files_total: u64,
        wanted: &HashSet<FileId>,
        pair_docs: u64,
        stripe_docs: DocId,
    ) -> Result<HashMap<FileId, Nearness>> {
        let mut evidence: HashMap<FileId, Nearness> = HashMap::new();
        // The documents of the wanted files, once they are needed.
        let mut documents: Option<Vec<Vec<DocId>>> = None;
        for (first, second) in query.pairs() {
            let both = self.documents_with_both(first, second)?;
            let part = both.div_ceil(pair_docs).max(1).next_power_of_two().min(stripe_docs.into()) as DocId;
            let sample = self.pair_counts(first, second, |_, end| {
                let stripes = (0..end).step_by(if part == 1 { end.max(1) } else { stripe_docs } as usize);
                stripes.map(|from| from..if part == 1 { end } else { from + stripe_docs / part }).collect()
            })?;
            let mut df_near = sample.len() as u64 * u64::from(part);
            let mut df_adjacent = sample.values().filter(|c| c.1 > 0).count() as u64 * u64::from(part);
            let counts = if part == 1 {
                sample
            } else {
                let documents = match &mut documents {
                    Some(documents) => documents,
                    none => none.insert(self.documents_of_all(wanted)?),
                };
                self.pair_counts(first, second, |s, _| documents[s].iter().map(|doc| *doc..doc + 1).collect())?
            };
            // An estimate is at least what was counted.
            df_near = df_near.max(counts.len() as u64);
            df_adjacent = df_adjacent.max(counts.values().filter(|c| c.1 > 0).count() as u64);
            for (file, (near, adjacent)) in counts.into_iter().filter(|(file, _)| wanted.contains(file)) {
                let saturated = |tf: u32, df| idf(files_total, df) * tf as f32 / (tf as f32 + 1.2);
                let sum = evidence.entry(file).or_default();
                sum.near += saturated(near, df_near);
                sum.adjacent += saturated(adjacent, df_adjacent);
            }
        }
        Ok(evidence)
    }

    /// The fields with positions.
    fn positioned(&self) -> [Field; 2] {
        [UnitField::Doc, UnitField::Body]
            .map(|f| self.fields.unit[UnitField::ALL.iter().position(|x| *x == f).unwrap_or_default()])
    }

    /// How many documents have both terms in one field, at most.
    fn documents_with_both(&self, first: &str, second: &str) -> Result<u64> {
        let mut most = 0;
        for segment in &self.segments {
            for field in self.positioned() {
                let index = segment.reader.inverted_index(field)?;
                let frequency = |text| index.doc_freq(&Term::from_field_text(field, text));
                let (a, b) = (frequency(first), frequency(second));
                let both = a.and_then(|a| Ok(a.min(b?))).map_err(tantivy::TantivyError::from)?;
                most += u64::from(both);
            }
        }
        Ok(most)
    }

    /// The living documents of files, ascending, for each segment.
    fn documents_of_all(&self, files: &HashSet<FileId>) -> Result<Vec<Vec<DocId>>> {
        let mut documents = vec![Vec::new(); self.segments.len()];
        for file in files {
            for (s, doc) in self.documents_of(*file)? {
                documents[s].push(doc);
            }
        }
        documents.iter_mut().for_each(|of_segment| of_segment.sort_unstable());
        Ok(documents)
    }

    /// Counts a pair in ranges of documents, which ascend; `ranges` gives them for a segment and its size.
    fn pair_counts(
        &self,
        first: &str,
        second: &str,
        ranges: impl Fn(usize, DocId) -> Vec<Range<DocId>>,
    ) -> Result<Counts> {
        let mut counts = Counts::new();
        for (s, segment) in self.segments.iter().enumerate() {
            for field in self.positioned() {
                count_pair(segment, field, first, second, ranges(s, segment.reader.max_doc()), &mut counts)?;
            }
        }
        Ok(counts)
    }
}

fn count_pair(
    segment: &Segment,
    field: Field,
    first: &str,
    second: &str,
    ranges: Vec<Range<DocId>>,
    counts: &mut Counts,
) -> Result<()> {
    let open = |text| segment.postings(&Term::from_field_text(field, text), IndexRecordOption::WithFreqsAndPositions);
    let (Some(mut a), Some(mut b)) = (open(first)?, open(second)?) else { return Ok(()) };
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for range in ranges {
        if a.doc() < range.start {
            a.seek(range.start);
        }
        while a.doc() < range.end && b.doc() != TERMINATED {
            let (x, y) = (a.doc(), b.doc());
            if x < y {
                a.seek(y);
            } else if y < x {
                b.seek(x);
            } else {
                if !segment.reader.is_deleted(x) {
                    a.positions(&mut here);
                    b.positions(&mut there);
                    let (near, adjacent) = near_counts(&here, &there);
                    if near > 0 {
                        let count = counts.entry(segment.file(x)).or_default();
                        count.0 += near;
                        count.1 += adjacent;
                    }
                }
                a.advance();
                b.advance();
            }
        }
    }
    Ok(())
}

/// How many of the (sorted) positions `here` have one of `there` within 8 tokens, and how many right behind them.
fn near_counts(here: &[u32], there: &[u32]) -> (u32, u32) {
    let (mut near, mut adjacent) = (0, 0);
    let mut low = 0;
    for &position in here {
        while low < there.len() && there[low] + NEAR_TOKENS < position {
            low += 1;
        }
        let window = there[low..].iter().take_while(|p| **p <= position + NEAR_TOKENS);
        let mut any = false;
        for &other in window {
            any = true;
            adjacent += u32::from(other == position + 1);
        }
        near += u32::from(any);
    }
    (near, adjacent)
}

#[cfg(test)]
mod tests {
    use colgrep_core::token::Tokenizer;
    use colgrep_core::{LanguageFacts, Unit};
    use colgrep_syntax::parse::Parsed;

    use super::*;
    use crate::disk::Disk;
    use crate::lexical::{FileDocument, Writer};

    #[test]
    fn pairs_are_counted_within_their_window() {
        for (here, there, expected) in [
            (&[5][..], &[6][..], (1, 1)),
            (&[5], &[4], (1, 0)),
            (&[5], &[13], (1, 0)),
            (&[5], &[14], (0, 0)),
            (&[20], &[12], (1, 0)),
            (&[20], &[11], (0, 0)),
            (&[1, 5, 50], &[2, 6, 100], (2, 2)),
            (&[], &[1], (0, 0)),
        ] {
            assert_eq!(near_counts(here, there), expected, "{here:?} {there:?}");
        }
    }

    #[test]
    fn estimates_are_near_what_they_stand_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = Writer::open(folder.path(), &Disk::default()).expect("a writer");
        for file in 0..900u32 {
            let body = if file % 3 == 0 {
                "open socket"
            } else {
                "a socket for one two three four five six seven eight nine that is open"
            };
            let unit = |_| Unit { body: body.to_string(), ..Unit::default() };
            let parsed = Parsed { units: (0..3).map(unit).collect(), ..Parsed::default() };
            let document = FileDocument {
                id: FileId(file),
                path: &format!("f{file}.c"),
                parsed,
                textual_types: Vec::new(),
                entries: Vec::new(),
            };
            writer.add(&document).expect("added");
        }
        writer.commit("colgrep 0 0").expect("committed");
        writer.finish().expect("finished");
        let lexical = Lexical::open(folder.path()).expect("an index");
        let query = Query::new("open socket", "/project", &LanguageFacts::default(), &mut Tokenizer::default());
        let wanted: HashSet<FileId> = (0..900).step_by(50).map(FileId).collect();
        let exact = lexical.nearness_in(&query, 900, &wanted, 3_000, 64).expect("evidence");
        assert_eq!(exact.len(), 6, "files that 3 and 50 divide");
        assert_eq!(exact, lexical.nearness(&query, 900, &wanted).expect("evidence"));
        for pair_docs in [1_000, 200] {
            let estimated = lexical.nearness_in(&query, 900, &wanted, pair_docs, 64).expect("evidence");
            assert_eq!(estimated.len(), exact.len());
            for (file, nearness) in &exact {
                assert!((estimated[file].near / nearness.near - 1.0).abs() < 0.2, "{nearness:?} {estimated:?}");
                assert!((estimated[file].adjacent / nearness.adjacent - 1.0).abs() < 0.2);
            }
        }
    }
}
