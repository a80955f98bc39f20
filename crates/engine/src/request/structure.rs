//! Structural patterns (`--ast`) over files: which texts match, and which could not be searched.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use colgrep_index::beneath::TreeFolder;
use colgrep_index::signature::Needed;
use colgrep_index::store::FileRecord;
use colgrep_search::Stops;
use colgrep_syntax::language::{self, Language};
use colgrep_syntax::read::decoded;
use colgrep_syntax::structure::{self, StructureMatches};
use grep_matcher::{LineTerminator, Match, Matcher, NoCaptures, NoError};
use rayon::prelude::*;

use crate::error::{Refused, Result};
use crate::request::pattern::{LineMatcher, line_end, places_and_empty};

/// Most bytes that are read of a file: more than twice what is parsed, for UTF-16.
const FILE_BYTES_MAX: u64 = 9 << 20;

/// Matches a structural pattern, in each language as that reads it.
#[derive(Debug)]
pub struct StructureMatcher {
    pattern: String,
    /// What the pattern means, by language, once a file of that was met.
    known: Mutex<HashMap<&'static str, std::result::Result<StructureMatches, String>>>,
    coverage: Mutex<StructureCoverage>,
}

/// Which files a structural pattern was not matched in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructureCoverage {
    /// Whether the pattern is code in the language of a file.
    pub is_code: bool,
    /// Files of languages without a grammar, or in which the pattern is not code, by language.
    pub other: BTreeMap<&'static str, u64>,
    /// Files that could not be parsed.
    pub failed: u64,
    /// One of them, and why.
    pub first_failed: Option<(String, String)>,
}

impl StructureCoverage {
    /// Adds what is known of other files.
    pub fn add(&mut self, other: StructureCoverage) {
        self.is_code |= other.is_code;
        other.other.into_iter().for_each(|(name, files)| *self.other.entry(name).or_default() += files);
        self.failed += other.failed;
        self.first_failed = self.first_failed.take().or(other.first_failed);
    }

    fn fail(&mut self, path: &str, why: String) {
        self.failed += 1;
        self.first_failed.get_or_insert_with(|| (path.to_string(), why));
    }

    /// Whether there is something to say of it; `is_all`: nothing was found.
    pub fn tells(&self, is_all: bool) -> bool {
        self.failed > 0 || (is_all && !self.other.is_empty())
    }

    /// Refuses a pattern that no file at hand can match: it is code in none of their languages.
    ///
    /// # Errors
    /// When there are files, and all of them are of other languages.
    pub fn check(&self, pattern: &str) -> Result<()> {
        if self.is_code || self.failed > 0 || self.other.is_empty() {
            return Ok(());
        }
        let languages = self.other.keys().map(|name| name.to_string()).collect();
        Err(Refused::NoCode { pattern: pattern.to_string(), languages }.into())
    }
}

/// A text with the places that match in it.
#[derive(Debug)]
pub struct PlacedMatches {
    pub text: String,
    /// Where it matches, in order and apart from each other.
    places: Vec<Range<usize>>,
    /// How lines end, if no place goes beyond one.
    line_end: Option<LineTerminator>,
}

impl PlacedMatches {
    /// The numbers of the lines on which places begin.
    fn lines(&self) -> Vec<u32> {
        let (mut lines, mut at, mut line) = (Vec::new(), 0, 1);
        for place in &self.places {
            line += self.text.as_bytes()[at..place.start].iter().filter(|byte| **byte == b'\n').count() as u32;
            at = place.start;
            lines.push(line);
        }
        lines.dedup();
        lines
    }
}

/// Finds the places in a part of the text; the part's address says which part it is. A place that goes beyond the part is
/// cut to it.
impl Matcher for PlacedMatches {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, haystack: &[u8], at: usize) -> std::result::Result<Option<Match>, NoError> {
        let begin = (haystack.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let (from, end) = (begin.wrapping_add(at), begin.wrapping_add(haystack.len()));
        if begin > self.text.len() || end > self.text.len() {
            return Ok(None);
        }
        let first = self.places.partition_point(|place| place.start < from && place.end <= from);
        let is_here =
            |place: &&Range<usize>| (place.start < end && from < end) || (place.is_empty() && place.end <= end);
        let found = self.places.get(first).filter(is_here);
        Ok(found.map(|place| Match::new(place.start.max(from) - begin, place.end.min(end) - begin)))
    }

    fn new_captures(&self) -> std::result::Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.line_end
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StructureMatcher {
    /// The matcher of a pattern.
    ///
    /// # Errors
    /// When the pattern is too long, or has no text.
    pub fn new(pattern: &str) -> Result<StructureMatcher> {
        structure::check(pattern)
            .map_err(|source| Refused::Structure { pattern: pattern.to_string(), source: source.into() })?;
        Ok(StructureMatcher { pattern: pattern.to_string(), known: Mutex::default(), coverage: Mutex::default() })
    }

    /// The pattern as written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Which files were not searched so far.
    pub fn coverage(&self) -> StructureCoverage {
        lock(&self.coverage).clone()
    }

    /// What the pattern means in a language. Each is asked for once.
    fn meaning<T>(
        &self,
        language: &'static Language,
        get: impl FnOnce(&StructureMatches) -> T,
    ) -> std::result::Result<T, String> {
        let mut known = lock(&self.known);
        let meaning =
            known.entry(language.name).or_insert_with(|| structure::find("", language, &self.pattern)).as_ref();
        let meaning = meaning.map_err(Clone::clone)?;
        // Elsewhere the text says what it is code of.
        let is_known = structure::languages_in(language).next().is_some();
        lock(&self.coverage).is_code |= is_known && !meaning.readings.is_empty();
        Ok(get(meaning))
    }

    /// Keeps in mind that a file is left out of the index for this reason, if the pattern is code in its language.
    pub(crate) fn leave_out(&self, path: &str, why: &str) {
        let language = language::of_file(path, &[]);
        if self.meaning(language, |meaning| !meaning.readings.is_empty()) == Ok(true) {
            lock(&self.coverage).fail(path, why.to_string());
        }
    }

    /// The text that a file of one of these languages needs.
    pub(crate) fn needed<'l>(&self, languages: impl Iterator<Item = &'l str>) -> Needed {
        let of_reading = |literals: &Vec<String>| {
            Needed::All(literals.iter().map(|literal| Needed::Text(literal.clone().into_bytes())).collect())
        };
        let readings = languages.filter_map(language::by_name).flat_map(|language| {
            let all = |meaning: &StructureMatches| meaning.readings.iter().map(of_reading).collect::<Vec<_>>();
            self.meaning(language, all).unwrap_or_else(|_| vec![Needed::Nothing])
        });
        Needed::Any(readings.collect())
    }

    /// The matches in a file; if `lines` is given, its matches inside them. `None` if the file was not searched, which
    /// is kept in mind.
    pub fn search(
        &self,
        path: &str,
        language: Option<&'static Language>,
        lines: Option<&LineMatcher>,
        file: impl Read,
    ) -> io::Result<Option<PlacedMatches>> {
        let mut bytes = Vec::new();
        let is_cut = file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)? as u64 == FILE_BYTES_MAX;
        let language = language.unwrap_or_else(|| language::of_file(path, &bytes));
        let Some(text) = decoded(bytes) else { return Ok(None) };
        let found = self.meaning(language, |meaning| (!meaning.readings.is_empty()).then(|| meaning.may_match(&text)));
        let found = found.and_then(|may_match| match may_match {
            Some(_) if is_cut => Err(structure::TOO_LARGE.to_string()),
            Some(true) => structure::find(&text, language, &self.pattern)
                .map(|found| (!found.readings.is_empty()).then_some(found.places)),
            Some(false) => Ok(Some(Vec::new())),
            None => Ok(None),
        });
        let mut coverage = lock(&self.coverage);
        Ok(match found {
            Ok(Some(places)) => {
                coverage.is_code = true;
                Some(placed(text, &places, lines))
            }
            Ok(None) => {
                *coverage.other.entry(language.name).or_default() += 1;
                None
            }
            Err(why) => {
                coverage.fail(path, why);
                None
            }
        })
    }

    /// The numbers of the lines in each file on which matches begin, until `stops` is true; none for a file that can't be
    /// read.
    pub(crate) fn lines_in_files(
        &self,
        lines: Option<&LineMatcher>,
        root: &Path,
        files: &[&FileRecord],
        stops: Stops<'_>,
    ) -> Vec<Vec<u32>> {
        let tree = TreeFolder::open(root).ok();
        let of_file = |record: &&FileRecord| {
            if stops() {
                return None;
            }
            let file = tree.as_ref()?.file(Path::new(&record.path)).ok()?;
            let found = self.search(&record.path, language::by_name(&record.language), lines, file).ok()??;
            Some(found.lines())
        };
        files.par_iter().map(|record| of_file(record).unwrap_or_default()).collect()
    }
}

/// The outermost of these places, or the matches of `lines` in them.
fn placed(text: String, places: &[(u32, u32)], lines: Option<&LineMatcher>) -> PlacedMatches {
    let mut outer: Vec<Range<usize>> = Vec::new();
    for (start, end) in places {
        let place = *start as usize..*end as usize;
        let is_apart = outer.last().is_none_or(|last| last.end <= place.start);
        outer.extend(Some(place).filter(|place| is_apart && text.get(place.clone()).is_some()));
    }
    let Some(lines) = lines else { return PlacedMatches { text, places: outer, line_end: None } };
    let is_inside = |place: &Range<usize>| {
        let around = outer.partition_point(|outer| outer.end < place.end);
        outer.get(around).is_some_and(|outer| outer.start <= place.start)
    };
    let mut found = places_and_empty(&**lines, text.as_bytes());
    found.retain(is_inside);
    PlacedMatches { text, places: found, line_end: (!lines.is_multiline()).then(|| line_end(&**lines)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Pattern;
    use crate::request::pattern::{matcher, places};

    #[test]
    fn places_are_found_in_parts_of_the_text() {
        let text = "a(b)\nc(\nd)\ne".to_string();
        let found = placed(text, &[(0, 4), (2, 3), (5, 10)], None);
        assert_eq!(found.lines(), [1, 2]);
        let bytes = found.text.as_bytes();
        assert_eq!(places(&found, bytes), [0..4, 5..10]);
        assert_eq!(places(&found, &bytes[5..7]).first(), Some(&(0..2)));
        assert_eq!(places(&found, &bytes[8..]).first(), Some(&(0..2)));
        assert_eq!(places(&found, &bytes[11..]), [0..0; 0]);
        assert_eq!(places(&found, b"a(b)"), [0..0; 0], "another text");
    }

    #[test]
    fn lines_count_inside_matches_alone() {
        let lines = matcher(&Pattern::new("[bd]|^c")).expect("a pattern");
        let found = placed("b\na(b)\nc(\nd) b\n".to_string(), &[(2, 6), (9, 12)], Some(&lines));
        assert_eq!((found.lines(), found.places), (vec![2, 4], vec![4..5, 10..11]));
    }

    #[test]
    fn what_was_not_searched_is_counted() {
        let matcher = StructureMatcher::new("foo($A, $$$)").expect("a pattern");
        let search = |path: &str, text: &str| {
            let found = matcher.search(path, None, None, text.as_bytes()).expect("memory can be read");
            found.map(|found| found.lines())
        };
        assert_eq!(search("a.txt", "foo(1, 2)"), None);
        assert!(matcher.coverage().check("foo($A, $$$)").is_err());
        assert_eq!(search("a.rs", "fn f() {\n    foo(1, 2);\n}"), Some(vec![2]));
        assert_eq!(search("b.rs", "fn f() {}"), Some(Vec::new()));
        let coverage = matcher.coverage();
        assert_eq!((coverage.is_code, coverage.failed), (true, 0));
        assert_eq!(coverage.other, BTreeMap::from([("text", 1)]));
        assert_eq!(search("c.rs", &"foo(1, 2);\n".repeat(1 << 19)), None);
        assert_eq!(matcher.coverage().failed, 1);
        assert!(coverage.check("").is_ok());
        let named = StructureMatcher::new("zebra($A)").expect("a pattern");
        assert!(named.needed(["rust", "text"].into_iter()).is_selective());
        assert!(!matcher.needed(["rust"].into_iter()).is_selective(), "three bytes");
    }
}
