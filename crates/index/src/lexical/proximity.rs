//! Finds files where neighbouring terms of a query are close together.

use colgrep_core::bm25::Field as UnitField;
use colgrep_core::query::Query;
use rustc_hash::FxHashMap;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, TERMINATED, Term};

use super::read::{Lexical, LexicalSegment};
use crate::error::Result;
use crate::ids::FileId;

/// Distance, in tokens, within which two terms count as near. Prototype: 8 of 4, 8, 16, 32.
const NEAR_TOKENS: u32 = 8;

/// How often a pair of neighbouring query terms occurs close together and adjacent: in the wanted files, and in a
/// sample of all files that estimates how many have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairFound {
    /// Files of the sample with the pair close together, and adjacent.
    pub sample: (u64, u64),
    /// For each wanted file with the pair close together, how often: close, and adjacent.
    pub files: Vec<(FileId, (u32, u32))>,
}

/// Which files a pair is counted in.
pub struct PairSample<'a> {
    /// Whether the evidence of a file is wanted.
    pub is_wanted: &'a dyn Fn(FileId) -> bool,
    /// For each pair, the sampling rate: one in this many files is counted, a power of two.
    pub parts: &'a [u32],
    /// A pseudo-random number of the file that depends only on its path.
    pub lot: &'a dyn Fn(FileId) -> u64,
}

impl std::fmt::Debug for PairSample<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sample").field("parts", &self.parts).finish_non_exhaustive()
    }
}

/// For each file, how often a pair of terms occurs close together, and adjacent.
type Counts = FxHashMap<FileId, (u32, u32)>;

impl Lexical {
    /// Counts the query's pairs of neighbouring terms.
    pub fn pairs(&self, query: &Query, sample: &PairSample<'_>) -> Result<Vec<PairFound>> {
        let mut all = Vec::new();
        for ((first, second), part) in query.pairs().into_iter().zip(sample.parts) {
            let is_sampled = |file| *part <= 1 || (sample.lot)(file) & u64::from(part - 1) == 0;
            let is_counted = |file| is_sampled(file) || (sample.is_wanted)(file);
            let mut counts = Counts::default();
            for segment in &self.segments {
                for field in self.positioned() {
                    count_pair(segment, field, (first, second), &is_counted, &mut counts)?;
                }
            }
            let mut found = PairFound::default();
            for (file, (near, adjacent)) in counts {
                if is_sampled(file) {
                    found.sample.0 += 1;
                    found.sample.1 += u64::from(adjacent > 0);
                }
                if (sample.is_wanted)(file) {
                    found.files.push((file, (near, adjacent)));
                }
            }
            all.push(found);
        }
        Ok(all)
    }

    fn positioned(&self) -> [Field; 2] {
        [UnitField::Doc, UnitField::Body]
            .map(|f| self.fields.unit[UnitField::ALL.iter().position(|x| *x == f).unwrap_or_default()])
    }
}

fn count_pair(
    segment: &LexicalSegment,
    field: Field,
    (first, second): (&str, &str),
    is_counted: &dyn Fn(FileId) -> bool,
    counts: &mut Counts,
) -> Result<()> {
    let open = |text| segment.postings(&Term::from_field_text(field, text), IndexRecordOption::WithFreqsAndPositions);
    let (Some(mut a), Some(mut b)) = (open(first)?, open(second)?) else { return Ok(()) };
    let (mut here, mut there) = (Vec::new(), Vec::new());
    while a.doc() != TERMINATED && b.doc() != TERMINATED {
        let (x, y) = (a.doc(), b.doc());
        if x < y {
            a.seek(y);
        } else if y < x {
            b.seek(x);
        } else {
            let file = segment.file(x);
            if !segment.reader.is_deleted(x) && is_counted(file) {
                a.positions(&mut here);
                b.positions(&mut there);
                let (near, adjacent) = near_counts(&here, &there);
                if near > 0 {
                    let count = counts.entry(file).or_default();
                    count.0 += near;
                    count.1 += adjacent;
                }
            }
            a.advance();
            b.advance();
        }
    }
    Ok(())
}

/// The number of sorted positions `here` with one of `there` within 8 tokens, and with one right after them.
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
    use xxhash_rust::xxh3::xxh3_64;

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
    fn a_sample_is_near_what_it_stands_for() {
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
            let document =
                FileDocument { id: FileId(file), path: &format!("f{file}.c"), parsed, ..FileDocument::default() };
            writer.add(&document).expect("added");
        }
        writer.commit("colgrep 0 0").expect("committed");
        writer.finish().expect("finished");
        let lexical = Lexical::open(folder.path()).expect("an index");
        let query = Query::new("open socket", "/project", &LanguageFacts::default(), &mut Tokenizer::default());
        let is_wanted = |file: FileId| file.0.is_multiple_of(50);
        let lot = |file: FileId| xxh3_64(&file.0.to_le_bytes());
        let counted = |part| {
            let sample = PairSample { is_wanted: &is_wanted, parts: &[part], lot: &lot };
            lexical.pairs(&query, &sample).expect("counts").remove(0)
        };
        let sorted = |mut found: PairFound| {
            found.files.sort_unstable();
            found.files
        };
        let exact = counted(1);
        assert_eq!(exact.sample, (300, 300));
        for part in [2, 8] {
            let sampled = counted(part);
            let share = sampled.sample.0 as f32 * part as f32 / 300.0;
            assert!(sampled.sample.0 < 300 && (share - 1.0).abs() < 0.4, "{share}");
            assert_eq!(sorted(sampled), sorted(exact.clone()), "wanted files are counted, not sampled");
        }
        let files: Vec<u32> = sorted(exact).iter().map(|(file, _)| file.0).collect();
        assert_eq!(files, [0, 150, 300, 450, 600, 750], "files that 3 and 50 divide");
    }
}
