//! The remarks behind an answer: the number of files left out as too weak, of files that hold all words, and words to
//! reword the question with.

use std::collections::{HashMap, HashSet};

use colgrep_core::UnitId;
use colgrep_core::clue::Clues;
use colgrep_core::query::Query;
use colgrep_core::statistics::TermCount;
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
    /// What a ranking itself tells: nothing is looked up.
    pub fn of((query, weak): (&Query, usize)) -> End {
        End { is_tokens: query.clues.is_tokens, weak, ..End::default() }
    }
}

/// A word of a question, and for each place the files that hold it; `None` where too many units do.
struct Word {
    written: String,
    files: Option<Vec<HashSet<FileId>>>,
}

impl Word {
    /// Looks up a word in all places.
    fn new(places: &[&Place], written: String) -> Result<Word> {
        let mut count = TermCount::default();
        for place in places {
            count.add(&place.snapshot.lexical.count_of_word(&written)?);
        }
        if count.most() > UNITS_OF_A_WORD_MAX {
            return Ok(Word { written, files: None });
        }
        let of_place = |place: &&Place| {
            let units = place.snapshot.lexical.units_with_word(&written)?;
            Ok(units.into_iter().map(|unit| unit.1).collect())
        };
        let files = places.iter().map(of_place).collect::<Result<Vec<HashSet<FileId>>>>()?;
        Ok(Word { written, files: Some(files) })
    }

    /// Number of files that hold it.
    fn count(&self) -> usize {
        self.files.as_ref().map_or(usize::MAX, |files| files.iter().map(HashSet::len).sum())
    }
}

/// The remarks behind a ranking of places together. Words are looked up only where they could matter: `is_weak` is whether
/// no result is likely right. `best` are the best units, each with its place.
///
/// # Errors
/// When an index can't be read.
pub fn end(all: &[(&Place, &Ranked)], best: &[(usize, UnitId)], is_weak: bool) -> Result<End> {
    let Some((_, first)) = all.first() else { return Ok(End::default()) };
    let (query, places) = (&first.answer.query, all.iter().map(|(place, _)| *place).collect::<Vec<_>>());
    let weak = all.iter().map(|(_, ranked)| ranked.answer.weak).sum();
    let mut end = End { is_tokens: query.clues.is_tokens, weak, ..End::default() };
    let written = written(query);
    // The index knows that the parts of `1.2.3` stand in a row, not what stands between them.
    let are_words = written.iter().all(|word| words(word).nth(1).is_none());
    let is_counted = points_nowhere(&query.clues) && are_words && written.len() <= WORDS_COUNTED_MAX;
    if !is_counted && !is_weak {
        return Ok(end);
    }
    let words: Vec<Word> = written.into_iter().map(|written| Word::new(&places, written)).collect::<Result<_>>()?;
    if is_counted {
        count(&places, &words, &mut end);
    }
    if !is_weak {
        return Ok(end);
    }
    end.unknown = words.iter().filter(|word| word.count() == 0).map(|word| word.written.clone()).collect();
    if !end.unknown.is_empty() {
        end.near = near(&places, query, best, &end.unknown)?;
    }
    Ok(end)
}

/// Counts the files that hold all words and that the scope allows.
fn count(places: &[&Place], words: &[Word], end: &mut End) {
    let mut held: Vec<&Word> = words.iter().collect();
    held.sort_by_key(|word| word.count());
    let Some((rarest, others)) = held.split_first() else { return };
    let Some(files) = &rarest.files else { return };
    for (at, (place, files)) in places.iter().zip(files).enumerate() {
        let is_allowed = |file: &FileId| place.filter().is_none_or(|filter| filter.allows_file(*file));
        // A word that hardly a file lacks is taken to stand in all.
        let holds_all =
            |file: &&FileId| others.iter().all(|word| word.files.as_ref().is_none_or(|all| all[at].contains(*file)));
        end.holders += files.iter().filter(holds_all).filter(|file| is_allowed(file)).count();
    }
    end.patterns = held.iter().map(|word| pattern(&word.written)).collect();
}

/// Suggestions: words of the corpus that are spelled like the unknown ones, then words from the names of the best units.
fn near(places: &[&Place], query: &Query, best: &[(usize, UnitId)], unknown: &[String]) -> Result<Vec<String>> {
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
        for term in terms_like(places, &term)? {
            if let Some(word) = spelled(places, &term)? {
                add(word, &mut near);
            }
        }
    }
    // Another name is no answer to a code.
    let named = if query.clues.is_tokens { 0 } else { UNITS_NAMED };
    for (place, unit) in best.iter().take(named) {
        let name = places[*place].snapshot.lexical.unit(*unit)?.name;
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
fn terms_like(places: &[&Place], term: &str) -> Result<Vec<String>> {
    let letters = term.chars().count();
    if letters < LETTERS_OF_ALIKE_MIN {
        return Ok(Vec::new());
    }
    let changes_max = letters.div_ceil(LETTERS_A_CHANGE).min(letters - 2);
    let mut near: HashMap<String, (usize, u32)> = HashMap::new();
    for place in places {
        place.snapshot.lexical.each_term(|known, units| {
            let is_word = known.len().abs_diff(term.len()) <= changes_max && known.chars().all(char::is_alphabetic);
            let changes = if is_word { strsim::levenshtein(known, term) } else { usize::MAX };
            if (1..=changes_max).contains(&changes) {
                near.entry(known.to_string()).or_insert((changes, 0)).1 += units;
            }
        })?;
    }
    let mut near: Vec<(String, (usize, u32))> = near.into_iter().collect();
    near.sort_by(|(a, (changes, units)), (b, than)| changes.cmp(&than.0).then(than.1.cmp(units)).then(a.cmp(b)));
    Ok(near.into_iter().take(ALIKE_MAX).map(|(term, _)| term).collect())
}

/// The word behind a term, as the first file of a project that has it spells it, in lower case.
fn spelled(places: &[&Place], term: &str) -> Result<Option<String>> {
    for place in places {
        let Some(unit) = place.snapshot.lexical.unit_with_term(term, None)? else { continue };
        let Some(record) = place.snapshot.files.indexed().find(|record| record.id == unit.file) else { continue };
        let text = read_text(&place.project.root, &record.path).unwrap_or_default();
        let mut found = None;
        Tokenizer::default().tokenize(&text, |token| {
            if found.is_none() && token.term == term {
                found = Some(text[token.start..token.end].to_lowercase());
            }
        });
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
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
}
