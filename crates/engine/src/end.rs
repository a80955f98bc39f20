//! The remarks behind an answer: the number of files left out as too weak, of files that hold all words, and words to
//! reword the question with.

use std::collections::{HashMap, HashSet};

use colgrep_core::UnitId;
use colgrep_core::clue::Clues;
use colgrep_core::query::Query;
use colgrep_core::token::{Tokenizer, is_stop_word, parts, words};
use colgrep_index::ids::FileId;
use colgrep_index::source::read_text;

use crate::error::Result;
use crate::place::{Place, Ranked};

/// Longest question, in words, for which files with all its words are counted: no file is expected to hold all of a
/// long one.
const WORDS_COUNTED_MAX: usize = 4;
/// A word in more units than this is not looked up; it counts as one that stands everywhere.
const UNITS_OF_A_WORD_MAX: u64 = 200_000;
/// Maximum number of suggestions: words spelled like one unknown word, and words in all.
const ALIKE_MAX: usize = 2;
const NEAR_MAX: usize = 8;
/// Shortest unknown word, in letters, for which words of similar spelling are looked for: shorter ones resemble too
/// many.
const LETTERS_OF_ALIKE_MIN: usize = 4;
/// A word of similar spelling may differ in one letter for each this many of the word (edit distance).
const LETTERS_A_CHANGE: usize = 4;
/// Number of best units whose names give suggestions.
const UNITS_NAMED: usize = 20;
/// Shortest suggestion, in letters.
const LETTERS_MIN: usize = 3;

/// The remarks behind the last result.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct End {
    /// The question, as typed.
    pub query: String,
    /// Whether it consists of exact tokens alone (names, codes, numbers), which stand somewhere as written or nowhere.
    pub is_tokens: bool,
    /// [`SearchRequest::has_end`](crate::request::SearchRequest::has_end): whether weak results are told from the
    /// others.
    pub is_ruled: bool,
    /// Number of results.
    pub shown: usize,
    /// Strength of the strongest result; 0 without any.
    pub strongest: f32,
    /// Number of judged files that were left out as too weak.
    pub weak: usize,
    /// Number of files that hold all words of the question; 0 where they were not counted.
    pub holders: usize,
    /// Patterns that find these files where all of them match: the words of the question, the rarest first, each cut to
    /// the part that all its forms share.
    pub patterns: Vec<String>,
    /// Words of the question that stand nowhere in the project; looked up only where no result is likely right.
    pub unknown: Vec<String>,
    /// Suggestions: words of the project near to the question.
    pub near: Vec<String>,
}

impl End {
    /// Merges the remarks of two projects: numbers add up; a word is unknown where neither project knows it.
    #[must_use]
    pub fn with(mut self, other: End) -> End {
        self.is_tokens |= other.is_tokens;
        (self.weak, self.holders) = (self.weak + other.weak, self.holders + other.holders);
        self.unknown.retain(|word| other.unknown.contains(word));
        if self.patterns.is_empty() {
            self.patterns = other.patterns;
        }
        for word in other.near {
            if !self.near.contains(&word) && self.near.len() < NEAR_MAX {
                self.near.push(word);
            }
        }
        self
    }
}

/// A word of a question, and the units that hold it, with their files; `None` where they are too many.
struct Word {
    written: String,
    units: Option<Vec<(UnitId, FileId)>>,
}

impl Place {
    /// The remarks behind a ranking. Words are looked up only where they could matter: `is_weak` is whether no result
    /// is likely right.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn end(&self, ranked: &Ranked, is_weak: bool) -> Result<End> {
        let (query, lexical) = (&ranked.answer.query, &self.snapshot.lexical);
        let mut end = End { is_tokens: query.clues.is_tokens, weak: ranked.answer.weak, ..End::default() };
        let written = written(query);
        // The index knows that the parts of `1.2.3` stand in a row, not what stands between them.
        let are_words = written.iter().all(|word| words(word).nth(1).is_none());
        let is_counted = points_nowhere(&query.clues) && are_words && written.len() <= WORDS_COUNTED_MAX;
        if !is_counted && !is_weak {
            return Ok(end);
        }
        let mut words = Vec::with_capacity(written.len());
        for written in written {
            let units = lexical.units_with_word(&written, UNITS_OF_A_WORD_MAX)?;
            words.push(Word { written, units });
        }
        if is_counted {
            self.count(&words, &mut end);
        }
        if !is_weak {
            return Ok(end);
        }
        let is_unknown = |word: &&Word| word.units.as_ref().is_some_and(Vec::is_empty);
        end.unknown = words.iter().filter(is_unknown).map(|word| word.written.clone()).collect();
        if !end.unknown.is_empty() {
            end.near = self.near(ranked, &end.unknown)?;
        }
        Ok(end)
    }

    /// Counts the files that hold all words and that the scope allows.
    fn count(&self, words: &[Word], end: &mut End) {
        let is_allowed = |file: &FileId| self.filter().is_none_or(|filter| filter.allows_file(*file));
        let files_of = |units: &[(UnitId, FileId)]| units.iter().map(|unit| unit.1).collect::<HashSet<FileId>>();
        let mut held: Vec<(&Word, Option<HashSet<FileId>>)> =
            words.iter().map(|word| (word, word.units.as_deref().map(files_of))).collect();
        held.sort_by_key(|(_, files)| files.as_ref().map_or(usize::MAX, HashSet::len));
        let Some((rarest, others)) = held.split_first() else { return };
        let Some(files) = &rarest.1 else { return };
        // A word that hardly a file lacks is taken to stand in all.
        let holds_all =
            |file: &&FileId| others.iter().all(|(_, all)| all.as_ref().is_none_or(|all| all.contains(*file)));
        end.holders = files.iter().filter(holds_all).filter(|file| is_allowed(file)).count();
        end.patterns = held.iter().map(|(word, _)| pattern(&word.written)).collect();
    }

    /// Suggestions: words of the project that are spelled like the unknown ones, then words from the names of the best
    /// units.
    fn near(&self, ranked: &Ranked, unknown: &[String]) -> Result<Vec<String>> {
        let (query, lexical) = (&ranked.answer.query, &self.snapshot.lexical);
        let mut tokenizer = Tokenizer::default();
        let mut near: Vec<String> = Vec::new();
        let mut add = |word: String, near: &mut Vec<String>| {
            let is_said = tokenizer.terms(&word).iter().all(|term| query.terms.iter().any(|t| t.text == *term));
            if !is_said && !is_stop_word(&word) && word.chars().count() >= LETTERS_MIN && !near.contains(&word) {
                near.push(word);
            }
        };
        for word in unknown {
            let term = Tokenizer::default().normal(word).to_string();
            for term in self.terms_like(&term)? {
                if let Some(word) = self.spelled(&term)? {
                    add(word, &mut near);
                }
            }
        }
        // Another name is no answer to a code.
        let named = if query.clues.is_tokens { 0 } else { UNITS_NAMED };
        for unit in ranked.answer.units.iter().take(named) {
            let name = lexical.unit(unit.unit)?.name;
            for word in words(&name) {
                let word = &name[word];
                parts(word).for_each(|part| add(word[part].to_lowercase(), &mut near));
            }
            if near.len() >= NEAR_MAX {
                break;
            }
        }
        near.truncate(NEAR_MAX);
        Ok(near)
    }

    /// Terms at a small edit distance from `term`, the nearest first, then the most common.
    fn terms_like(&self, term: &str) -> Result<Vec<String>> {
        let letters = term.chars().count();
        if letters < LETTERS_OF_ALIKE_MIN {
            return Ok(Vec::new());
        }
        let changes_max = letters.div_ceil(LETTERS_A_CHANGE).min(letters - 2);
        let mut near: HashMap<String, (usize, u32)> = HashMap::new();
        self.snapshot.lexical.each_term(|known, units| {
            let is_word = known.len().abs_diff(term.len()) <= changes_max && known.chars().all(char::is_alphabetic);
            let changes = if is_word { strsim::levenshtein(known, term) } else { usize::MAX };
            if (1..=changes_max).contains(&changes) {
                near.entry(known.to_string()).or_insert((changes, 0)).1 += units;
            }
        })?;
        let mut near: Vec<(String, (usize, u32))> = near.into_iter().collect();
        near.sort_by(|(a, (changes, units)), (b, than)| changes.cmp(&than.0).then(than.1.cmp(units)).then(a.cmp(b)));
        Ok(near.into_iter().take(ALIKE_MAX).map(|(term, _)| term).collect())
    }

    /// The word behind a term, as a file of the project spells it, in lower case.
    fn spelled(&self, term: &str) -> Result<Option<String>> {
        let Some(unit) = self.snapshot.lexical.unit_with_term(term, None)? else { return Ok(None) };
        let Some(record) = self.snapshot.files.indexed().find(|record| record.id == unit.file) else { return Ok(None) };
        let text = read_text(&self.project.root, &record.path).unwrap_or_default();
        let mut found = None;
        Tokenizer::default().tokenize(&text, |token| {
            if found.is_none() && token.term == term {
                found = Some(text[token.start..token.end].to_lowercase());
            }
        });
        Ok(found)
    }
}

/// Whether a query has words alone: no place, no file, no definition, no callers, nothing in quotes.
fn points_nowhere(clues: &Clues) -> bool {
    let Clues { locations, mentions, phrases, declaration, callers_of, .. } = clues;
    locations.is_empty() && mentions.is_empty() && phrases.is_empty() && declaration.is_none() && callers_of.is_none()
}

/// The words of a question, as typed, each once and without stop words; its tokens where it consists of these.
fn written(query: &Query) -> Vec<String> {
    if query.clues.is_tokens {
        return query.clues.tokens.clone();
    }
    let mut seen = HashSet::new();
    let all = words(&query.text).map(|word| query.text[word].to_string());
    all.filter(|word| !is_stop_word(&word.to_lowercase()) && seen.insert(word.to_lowercase())).collect()
}

/// A pattern for all forms of a word that the index takes for one: the beginning that they share.
fn pattern(word: &str) -> String {
    let lower = word.to_lowercase();
    let mut tokenizer = Tokenizer::default();
    let stem = tokenizer.normal(&lower);
    let same = lower.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
    // `queri` stands for `query` and `queries`.
    let same = if stem.ends_with('i') && same == stem.len() { same - 1 } else { same };
    match lower.chars().all(char::is_alphabetic) {
        true => lower[..lower.floor_char_boundary(same)].to_string(),
        false => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_finds_every_form() {
        for (word, expected) in [
            ("session", "session"),
            ("Parsing", "pars"),
            ("queries", "quer"),
            ("MAX_LEN", "MAX_LEN"),
            ("1.2.3", "1.2.3"),
        ] {
            assert_eq!(pattern(word), expected, "{word}");
        }
    }

    #[test]
    fn of_several_projects_a_word_is_unknown_where_none_knows_it() {
        let of = |holders, unknown: &[&str], near: &[&str]| End {
            holders,
            unknown: unknown.iter().map(ToString::to_string).collect(),
            near: near.iter().map(ToString::to_string).collect(),
            ..End::default()
        };
        let both = of(2, &["halt", "daemon"], &["stop"]).with(of(3, &["daemon"], &["stop", "server"]));
        assert_eq!(both, of(5, &["daemon"], &["stop", "server"]));
    }
}
