//! The request of a search: the question, its background, its scope, how to rank, and what the answer contains.
//!
//! Plain data, built by the command line, the server or a program. `None` leaves a field to the settings, then to the
//! default.

mod facts;
pub mod filter;
pub mod like;
pub mod near;
pub mod operators;
pub mod pattern;
pub(crate) mod required_literals;
pub mod rules;
pub mod structure;
pub mod terms;

use std::collections::HashSet;
use std::path::PathBuf;

use colgrep_core::expand::TermTable;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::Profile;
use colgrep_core::tag::Hint;
use colgrep_core::token::{Tokenizer, is_stop_word, words};
use colgrep_index::ids::StableId;
use serde::{Deserialize, Serialize};

use crate::error::{Refused, Result};
pub use facts::Facts;
pub use rules::{Changes, Scope, Tests};

/// Longest query, in bytes: far more than anybody types. Each of its words is looked up and kept.
pub const QUERY_BYTES_MAX: usize = 64 << 10;
/// Distinct terms of a query that are searched: each costs a lookup in the index and in every ranked unit, about half a
/// millisecond in a project of a few thousand files.
pub const QUERY_TERMS_MAX: usize = 1_000;
/// Number of files up to which an answer is read; more are a list.
const FILES_READ_MAX: usize = 100;

#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SearchRequest {
    pub question: Question,
    /// What the caller knows besides the question's words.
    pub background: Background,
    pub scope: Scope,
    pub ranking: RankingOptions,
    /// What the answer carries.
    pub shape: Shape,
}

impl SearchRequest {
    /// Whether the answer has an end of its own: a question in words that no pattern limits, and that leaves the ranking
    /// by words its say.
    pub fn has_end(&self) -> bool {
        let is_open = !self.scope.has_pattern() && self.scope.facts.calls.is_empty();
        let is_asked = matches!(self.question, Question::Text(_)) && self.ranking.by != RankBy::Meaning;
        is_open && self.scope.facts.called_by.is_empty() && is_asked && !self.shape.every_match
    }

    /// Whether the answer is complete only if every file was read: a list or a count of all that matches, or more files
    /// than anybody reads.
    pub(crate) fn needs_all(&self) -> bool {
        let is_list = self.shape.files.is_some_and(|files| files > FILES_READ_MAX);
        self.question == Question::Every || self.shape.every_match || is_list
    }

    /// Beginnings of the question's words as they occur in texts, in lower case.
    pub fn words(&self) -> Vec<String> {
        let Question::Text(query) = &self.question else { return Vec::new() };
        let content = words(query).map(|word| &query[word]).filter(|word| !is_stop_word(word));
        let terms = Tokenizer::default().terms(&content.collect::<Vec<_>>().join(" "));
        // A stem in `i` is of a word in `y` too.
        terms.iter().map(|term| term.trim_end_matches('i').to_string()).collect()
    }

    /// A question in words or names, everything else left to settings and defaults.
    pub fn new(query: impl Into<String>) -> SearchRequest {
        SearchRequest { question: Question::Text(query.into()), ..SearchRequest::default() }
    }

    /// Looks in this file or folder too.
    #[must_use]
    pub fn within(mut self, path: impl Into<PathBuf>) -> SearchRequest {
        self.scope.paths.push(path.into());
        self
    }

    /// Asks for this many files.
    #[must_use]
    pub fn files(mut self, files: usize) -> SearchRequest {
        self.shape.files = Some(files);
        self
    }

    /// Ranks by words, by meaning, or by both.
    #[must_use]
    pub fn by(mut self, by: RankBy) -> SearchRequest {
        self.ranking.by = by;
        self
    }

    /// Asks for this much of each file.
    #[must_use]
    pub fn detail(mut self, detail: Detail) -> SearchRequest {
        self.shape.detail = detail;
        self
    }
}

/// The subject of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Question {
    /// Words or names.
    Text(String),
    /// Nothing: every unit of the scope is listed, by path and line.
    Every,
    /// Units like the one on a line of a file.
    Like {
        file: PathBuf,
        /// The line, from 1.
        line: u32,
    },
    LikeUnit(StableId),
}

impl Default for Question {
    fn default() -> Question {
        Question::Text(String::new())
    }
}

/// What the caller knows besides the question's words: evidence for the ranking. It never excludes a unit.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Background {
    /// Tags that the wanted units are expected to have.
    pub hints: Vec<Hint>,
    /// Terms for words of the question, in addition to those of the settings.
    pub terms: TermTable,
    /// The terms of the settings are left out.
    pub no_settings_terms: bool,
    /// The reader's position: what belongs to that file is preferred.
    pub near: Option<Standpoint>,
}

/// A reader's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standpoint {
    pub file: PathBuf,
    /// The line, from 1.
    pub line: Option<u32>,
}

impl Standpoint {
    /// Reads `FILE[:LINE]`. What can't be a file with a line is a file.
    pub fn read(text: &str) -> Standpoint {
        let whole = PathBuf::from(text);
        match (split_line(text), text.strip_suffix(":0")) {
            _ if whole.is_file() => Standpoint { file: whole, line: None },
            (Some((file, line)), _) => Standpoint { file: file.into(), line: Some(line) },
            // The line is refused, not the file.
            (_, Some(file)) if !file.is_empty() => Standpoint { file: file.into(), line: Some(0) },
            _ => Standpoint { file: whole, line: None },
        }
    }
}

/// Whether a query has no letter and no digit, so that no word of an index matches: `!=`, `->`, `(<|>)`.
pub fn has_no_word(query: &str) -> bool {
    !query.contains(char::is_alphanumeric)
}

/// Splits `FILE:LINE` into the file and its line, the first of several. `None` where no line is named.
pub fn split_line(written: &str) -> Option<(&str, u32)> {
    split_lines(written).map(|(file, (first, _))| (file, first))
}

/// Splits `FILE:LINE` or `FILE:FROM-TO` into the file and its first and last line, ignoring a column after a line, as
/// compilers print it; `FILE#L3` and `FILE#L3-L9` too, as in links of code hosts. None where no lines are named.
pub fn split_lines(written: &str) -> Option<(&str, (u32, u32))> {
    let numbered = |text| {
        let (before, number) = str::rsplit_once(text, ':')?;
        Some((before, number.parse::<u32>().ok()?))
    };
    let one = || {
        let last = numbered(written)?;
        let (file, line) = numbered(last.0).unwrap_or(last);
        Some((file, (line, line)))
    };
    let several = || {
        let (file, lines) = written.rsplit_once(':')?;
        let (first, last) = lines.split_once('-')?;
        Some((file, (first.parse().ok()?, last.parse().ok()?)))
    };
    let linked = || {
        let (file, lines) = written.rsplit_once("#L")?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let last = last.strip_prefix('L').unwrap_or(last);
        Some((file, (first.parse().ok()?, last.parse().ok()?)))
    };
    let is_place = |(file, (first, last)): &(&str, (u32, u32))| !file.is_empty() && *first > 0 && first <= last;
    one().filter(is_place).or_else(several).or_else(linked).filter(is_place)
}

/// The file and the text after its name, where that is in the place of lines but is not a line: `FILE:0`, `FILE:2-1`,
/// `FILE:12x`. A sentence that begins with a file's name doesn't count, nor does a test's name (`FILE::test`), nor a
/// word after a folder (`docs:typo`), which a subject may begin with.
pub fn unread_line(
    written: &str,
    is_there: impl Fn(&str) -> bool,
    is_file: impl Fn(&str) -> bool,
) -> Option<(&str, &str)> {
    if is_there(written) || split_lines(written).is_some_and(|(file, _)| is_there(file)) {
        return None;
    }
    let is_of_lines = |c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | ',' | '+' | 'L');
    let is_word = |behind: &str| !behind.starts_with(':') && !behind.contains(char::is_whitespace);
    let split = written.match_indices(':').map(|(at, _)| (&written[..at], &written[at + 1..]));
    let is_unread = |(file, behind): &(&str, &str)| match behind.chars().all(is_of_lines) {
        true => is_there(file),
        false => is_word(behind) && is_file(file),
    };
    split.filter(|(file, _)| !file.is_empty()).find(is_unread)
}

/// Refuses a query that is too long.
///
/// # Errors
/// When it is longer than [`QUERY_BYTES_MAX`].
pub fn check_length(query: &[u8]) -> Result<()> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(Refused::TooLong { bytes_max: QUERY_BYTES_MAX }.into());
    }
    Ok(())
}

/// The part of a query that is searched: its beginning, up to [`QUERY_TERMS_MAX`] distinct terms. A byte order mark at
/// its front comes from the file that it was copied from.
pub fn searched_part(query: &str) -> &str {
    let query = query.strip_prefix('\u{feff}').unwrap_or(query);
    // A word has at least one byte, and something follows it.
    if query.len() < 2 * QUERY_TERMS_MAX {
        return query;
    }
    let (mut terms, mut end) = (HashSet::new(), query.len());
    Tokenizer::default().tokenize(query, |token| {
        if terms.len() < QUERY_TERMS_MAX {
            terms.insert(token.term.to_string());
        } else if end == query.len() && !terms.contains(token.term) {
            end = token.start;
        }
    });
    query[..end].trim_end()
}

/// Regular expressions over single lines; one of them has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Pattern {
    /// The expressions, in ripgrep's syntax.
    pub expressions: Vec<String>,
    /// They are plain text.
    pub fixed: bool,
    /// They match whole words.
    pub word: bool,
    /// They match whole lines.
    pub line: bool,
    /// Upper and lower case match alike.
    pub ignore_case: bool,
    /// Upper and lower case match alike unless an expression has an upper case letter.
    pub smart_case: bool,
    /// They match across lines.
    pub multiline: bool,
    /// Bytes that the compiled pattern may take, which bounds the time to compile it; ripgrep's limit if `None`.
    pub size_max: Option<u32>,
}

/// Bytes that a pattern may take which others ask a server for: compiling it takes about 0.2 s at most.
pub const SERVED_PATTERN_BYTES_MAX: u32 = 8 << 20;

impl Pattern {
    /// One expression that somebody else asks for.
    pub fn served(expression: impl Into<String>) -> Pattern {
        Pattern { size_max: Some(SERVED_PATTERN_BYTES_MAX), ..Pattern::new(expression) }
    }

    pub fn new(expression: impl Into<String>) -> Pattern {
        Pattern { expressions: vec![expression.into()], ..Pattern::default() }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RankingOptions {
    /// Which rankings count.
    pub by: RankBy,
    /// How they become one.
    pub fusion: Option<Fusion>,
    /// The set of constants.
    pub profile: Option<Profile>,
    /// Weight of meaning against words, 0 to 1, where the query's words are trusted.
    pub alpha: Option<f64>,
}

/// Which rankings count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankBy {
    /// Words and meaning.
    #[default]
    Both,
    /// Words and structure alone.
    Words,
    Meaning,
}

/// What an answer carries.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// Number of files (15 if not given): exactly this many if as many match.
    pub files: Option<usize>,
    /// Units in each file, at most (1).
    pub units_per_file: Option<usize>,
    /// `files` counts units: each is a result of its own, and a file may come again.
    pub single_units: bool,
    /// All units with a word of the query are counted, not only those that could be among the best. Meaning does not
    /// count then: by meaning, everything is near by some measure.
    pub every_match: bool,
    /// The steps of each score.
    pub explain: bool,
    /// For a unit that was found by its calls, the line of the call.
    pub call_lines: bool,
    /// Where the answer ends.
    pub weakest: Weakest,
    /// How much of each file.
    pub detail: Detail,
}

/// The weakest file that is an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Weakest {
    /// Every one, unless the settings say otherwise.
    #[default]
    Any,
    /// What the settings say, else the floor below which files are hardly ever right. A request that asks for more than
    /// what is right has none: for all that match a pattern, that call a name, that are like something, for meaning alone.
    Floor,
    /// One of this strength, 0 to 1.
    Strength(f32),
}

/// How much of each file an answer carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Detail {
    /// Its name and its score; each file comes once.
    Names,
    /// Its text, its units, and of each the line that answers best.
    #[default]
    Lines,
    /// As `Lines`, and which lines members leave to the unit around them: for a pack.
    Parts,
    /// Its text, its units, its imports, and the callers of the best unit.
    Relations,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_counts_need_every_file() {
        let asked = SearchRequest::new("who listens");
        assert!(!asked.needs_all() && !asked.clone().files(100).needs_all() && asked.clone().files(101).needs_all());
        let listed = SearchRequest { question: Question::Every, ..asked.clone() };
        let counted = SearchRequest { shape: Shape { every_match: true, ..Shape::default() }, ..asked };
        assert!(listed.needs_all() && counted.needs_all());
    }

    #[test]
    fn a_line_stands_behind_a_path() {
        for (written, expected) in [
            ("a.rs:12", Some(("a.rs", 12))),
            ("src/a.rs:12:5", Some(("src/a.rs", 12))),
            ("a.rs", None),
            ("a.rs:", None),
            ("a.rs:0", None),
            ("a:b.rs:3", Some(("a:b.rs", 3))),
            ("a.rs:3-7", Some(("a.rs", 3))),
            ("a.rs#L3-L9", Some(("a.rs", 3))),
            (":3", None),
        ] {
            assert_eq!(split_line(written), expected, "{written}");
        }
    }

    #[test]
    fn lines_stand_behind_a_path() {
        for (written, expected) in [
            ("a.rs:12", Some(("a.rs", (12, 12)))),
            ("a.rs:12:5", Some(("a.rs", (12, 12)))),
            ("a.rs:3-7", Some(("a.rs", (3, 7)))),
            ("a.rs:3-3", Some(("a.rs", (3, 3)))),
            ("a-b.rs", None),
            ("a.rs:7-3", None),
            ("a.rs:0-3", None),
            ("a.rs:3-", None),
            (":3-7", None),
            ("a.rs#L12", Some(("a.rs", (12, 12)))),
            ("a.rs#L3-L9", Some(("a.rs", (3, 9)))),
            ("a.rs#L3-9", Some(("a.rs", (3, 9)))),
            ("a.rs#L9-L3", None),
            ("a.rs#List", None),
            ("#L3", None),
        ] {
            assert_eq!(split_lines(written), expected, "{written}");
        }
    }

    #[test]
    fn what_looks_like_a_line_of_a_file_and_is_none_is_told() {
        for (written, expected) in [
            ("a.rs:0", Some(("a.rs", "0"))),
            ("a.rs:2-1", Some(("a.rs", "2-1"))),
            ("a.rs:1-2", None),
            ("a.rs:L3", Some(("a.rs", "L3"))),
            ("a.rs:0:5", Some(("a.rs", "0:5"))),
            ("a.rs:", Some(("a.rs", ""))),
            ("a.rs:99999999999", Some(("a.rs", "99999999999"))),
            ("a.rs", None),
            ("a.rs:12", None),
            ("a.rs:12:5", None),
            ("a.rs: why does it stop", None),
            ("a.rs:12x", Some(("a.rs", "12x"))),
            ("a.rs:open", Some(("a.rs", "open"))),
            ("a.rs::open", None),
            ("docs:typo", None),
            ("docs:0", Some(("docs", "0"))),
            ("gone.rs:0", None),
            ("b:0", None),
        ] {
            let is_file = |path: &str| path == "a.rs" || path == "b:0";
            let found = unread_line(written, |path| is_file(path) || path == "docs", is_file);
            assert_eq!(found, expected, "{written}");
        }
    }
}
