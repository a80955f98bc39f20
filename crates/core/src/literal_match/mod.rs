//! Aligns pasted text with files: a whole query, or the longest run of its words.
//!
//! Words are compared in order, ignoring case and the marks between them. So a message finds its literal although it
//! has values where the source has placeholders: both have the words between two values.

mod advice;
mod alignment;
mod asked;
mod flag;
mod format_string;
mod frame;
mod log_prefix;
mod log_record;
mod patch;
mod runs;
mod trace;

use std::ops::Range;

use advice::ends_in_question;
pub use advice::split_advice;
use alignment::{is_alone, is_literal};
pub use asked::{messages_asked_about, quoted_messages};
pub(crate) use frame::is_of_no_name;
pub use frame::{TraceFrame, called_by_frame, frame_of};
pub use log_prefix::{has_sure_prefix, message_behind_prefix, messages_behind_prefix};
pub use log_record::message_of_record;
use memchr::memmem;
use serde::{Deserialize, Serialize};
pub use trace::{is_trace, messages_of};

use crate::identifier_style::is_piece;
use crate::token::{is_stop_word, is_word_char, parts, words};

/// Maximum of places of one anchor that are tried in a file.
const ANCHOR_PLACES_MAX: usize = 200;
/// Words of a text that are compared; a longer text is a file.
const WORDS_MAX: usize = 400;
/// Minimum of whole-word parts that a text must have besides a cut word.
const PARTS_BESIDE_A_CUT_MIN: usize = 2;
/// Bytes of a line on either side of a place that are searched for more of the text's words.
const LINE_BYTES_MAX: usize = 400;

/// How well a text and a file agree, best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Agreement {
    /// A run of the text's words.
    Run,
    /// All of the text's words, with other punctuation, spaces or case between them.
    Words,
    /// Every character.
    Exact,
}

/// A text as typed, prepared for a search in files.
#[derive(Clone, Debug)]
pub struct PastedText<'t> {
    text: &'t str,
    words: Vec<Range<usize>>,
    /// For each word its rarity; 0 if no file is known to have it, or nearly all have.
    weights: Vec<f32>,
}

/// How a text occurs in a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiteralMatch {
    /// How well they agree.
    pub agreement: Agreement,
    /// Words in a row that agree; of a format string, those in its pieces.
    pub words: usize,
    /// Share, 0 to 1, of the text's weight that these words have, apart from values.
    pub share: f32,
    /// Byte offset of the first character that agrees.
    pub start: usize,
    /// Whether it is not part of something longer: `1.0.0` in `1.0.0-beta`. A run that is not alone is the whole text
    /// with its first or last word cut off.
    pub is_alone: bool,
    /// Whether it is a whole line, without the blanks around it.
    pub is_line: bool,
    /// Whether case and punctuation agree too.
    pub is_same: bool,
    /// Whether these words are a whole literal, except for punctuation and escapes.
    pub is_literal: bool,
    /// Whether a literal begins with these words and continues with a value where the text continues; or they are all
    /// words of a format string.
    pub is_before_value: bool,
    /// The first word of the part that a literal may have printed: that part has all words of the literal, two of them
    /// rare, and its other words are values. The words before it may be a prefix.
    pub made_from: Option<usize>,
}

/// First words of questions.
const INTERROGATIVES: &[&str] = &["how", "what", "when", "where", "which", "who", "why"];
/// The same, for a query that shows no sign of a message; "could not open" and "could open: 3" are some.
const AUXILIARIES: &[&str] = &["are", "can", "could", "do", "does", "is", "should", "would"];
const REQUESTS: &[&str] = &["find", "locate", "show"];

/// Whether a text is a question: its words are a person's own, and occur together elsewhere by chance.
pub fn is_question(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric());
    let begins = |words: &[&str]| words.contains(&first.to_lowercase().as_str());
    let denies = words.next().is_some_and(|second| second.eq_ignore_ascii_case("not"));
    let asks = || begins(REQUESTS) || (begins(AUXILIARIES) && !denies) || ends_in_question(text);
    begins(INTERROGATIVES) || (!has_values(text) && asks())
}

/// Whether a text has what programs put into their messages: numbers, quotes, paths, text after a colon.
pub fn has_values(text: &str) -> bool {
    let is_number = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    text.contains(['\'', '`', '"', '/', '%', '{', '[']) || text.contains(": ") || text.split_whitespace().any(is_number)
}

impl<'t> PastedText<'t> {
    /// A text whose words have these weights: 0 for a word that leads to no file.
    pub fn new(text: &'t str, mut weight: impl FnMut(&str) -> f32) -> PastedText<'t> {
        let text = text.trim();
        let words: Vec<Range<usize>> = words(text).take(WORDS_MAX).collect();
        let weights = words.iter().map(|word| weight(&text[word.clone()])).collect();
        PastedText { text, words, weights }
    }

    /// A text whose words have these weights, in their order.
    pub fn weighed(text: &'t str, weights: &[f32]) -> PastedText<'t> {
        let mut weights = weights.iter().copied();
        PastedText::new(text, |_| weights.next().unwrap_or_default())
    }

    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Number of its words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether it has no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether it has punctuation that prose does not: brackets, operators, a semicolon at the end.
    pub fn is_code(&self) -> bool {
        let marks =
            |c: char| matches!(c, '(' | ')' | '{' | '}' | '[' | ']' | ';' | '=' | '<' | '>' | '&' | '|' | '\\' | '$');
        self.text.contains(marks) || self.text.contains("::") || self.text.contains("->")
    }

    /// Whether it, as a single piece, does not look like a plain word.
    pub fn is_token(&self) -> bool {
        is_piece(self.text)
    }

    /// The name that it is: a single piece that is no plain word, without the brackets of a table's head.
    pub fn name(&self) -> Option<&'t str> {
        self.piece().filter(|_| self.is_token())
    }

    /// The same, or a plain word.
    pub fn piece(&self) -> Option<&'t str> {
        let inside = self.text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let name = inside.map_or(self.text, |inside| inside.trim_matches(['[', ']']));
        (!name.contains(char::is_whitespace)).then_some(name)
    }

    /// Whether it ends in punctuation that belongs to it: `operator==`, `empty?` does not.
    pub fn is_operator(&self) -> bool {
        self.text.ends_with(['=', '<', '>', '+', '-', '*', '/', '%', '&', '|', '^', '~', '!'])
    }

    /// Whether it has detached, doubled or inner punctuation: ` - `, `, ,`, `codes.ok`.
    pub fn is_marked(&self) -> bool {
        let is_mark = |c: char| !is_word_char(c) && !c.is_whitespace() && !matches!(c, '-' | '\'');
        self.text.split_whitespace().any(|piece| {
            let inside = piece.trim_matches(|c: char| !is_word_char(c));
            inside.is_empty() || inside.contains(is_mark) || inside.contains('_')
        })
    }

    fn is_one(&self) -> bool {
        self.len() == 1 && !self.text.contains(char::is_whitespace)
    }

    fn word(&self, i: usize) -> &'t str {
        &self.text[self.words[i].clone()]
    }

    /// Where the text, or the longest run of its words, occurs in `file`; `None` if not even a rare word does.
    pub fn find(&self, file: &str) -> Option<LiteralMatch> {
        if self.is_empty() {
            return None;
        }
        let alignments = [Self::flag, Self::exact, Self::cut, Self::longest_run];
        alignments.iter().find_map(|align| align(self, file))
    }

    /// All of the text at a place.
    fn all_at(&self, agreement: Agreement, start: usize) -> LiteralMatch {
        LiteralMatch {
            agreement,
            words: self.len(),
            share: 1.0,
            start,
            is_alone: true,
            is_line: false,
            is_same: true,
            is_literal: false,
            is_before_value: false,
            made_from: None,
        }
    }

    /// The first place of the whole text within longer words, as where a terminal cut it off. Fragments such as
    /// `rror in par` do not count, and in a sentence "server" does not match "servers" unless the cut word occurs
    /// nowhere as a whole.
    fn cut(&self, file: &str) -> Option<LiteralMatch> {
        // `sink.write(addr` is cut in any case.
        let is_open = || self.text.matches('(').count() > self.text.matches(')').count();
        if !self.text.contains(char::is_whitespace) && !is_open() {
            return None;
        }
        let last = self.len() - 1;
        let is_no_sentence = self.is_code() || self.is_marked() || is_piece(self.word(0)) || is_piece(self.word(last));
        let is_digit = |c: char| c.is_ascii_digit();
        let of_letters = |word: &str| parts(word).filter(|part| !word[part.clone()].contains(is_digit)).count();
        let is_unknown = |i: usize| {
            let word = self.word(i);
            self.weights[i] <= 0.0 && !word.contains(is_digit) && !is_stop_word(&word.to_lowercase())
        };
        let is_cut = |at: &usize| {
            let place = *at..*at + self.text.len();
            let front = joins(file[..place.start].chars().next_back(), self.text.chars().next());
            let back = joins(self.text.chars().next_back(), file[place.end..].chars().next());
            let cut = || [(front, 0), (back, last)].into_iter().filter(|(is_cut, _)| *is_cut).map(|(_, i)| i);
            // Nothing is left of a single word that is cut at both ends.
            let whole = usize::from(front)..self.len() - usize::from(back);
            let parts_whole: usize = whole.map(|i| of_letters(self.word(i))).sum();
            // Only the last part of `path_and_ste` is cut.
            let parts_beside: usize =
                cut().filter(|i| is_unknown(*i)).map(|i| of_letters(self.word(i)).saturating_sub(1)).sum();
            let is_sure = is_no_sentence || cut().all(is_unknown);
            (front || back) && is_sure && parts_whole + parts_beside >= PARTS_BESIDE_A_CUT_MIN
        };
        let start = memmem::find_iter(file.as_bytes(), self.text.as_bytes()).take(ANCHOR_PLACES_MAX).find(is_cut)?;
        Some(LiteralMatch { is_alone: false, ..self.all_at(Agreement::Run, start) })
    }

    /// The first place of the exact text: as a whole literal if it has several words, else as a whole line, else alone,
    /// else as whole words.
    fn exact(&self, file: &str) -> Option<LiteralMatch> {
        let found = |start: usize, is_alone: bool| {
            let place = start..start + self.text.len();
            let is_literal = !self.is_flag() && is_literal(file, place.clone());
            let is_line = is_line(file, place);
            LiteralMatch { is_alone, is_literal, is_line, ..self.all_at(Agreement::Exact, start) }
        };
        let (mut line, mut alone, mut whole, mut first) = (None, None, None, None);
        for at in memmem::find_iter(file.as_bytes(), self.text.as_bytes()).take(ANCHOR_PLACES_MAX) {
            let place = at..at + self.text.len();
            if !is_whole(file, place.clone()) {
                first.get_or_insert(at);
            } else if !is_alone(file, place.clone()) {
                whole.get_or_insert(at);
            } else if self.is_one() || is_literal(file, place.clone()) {
                return Some(found(at, true));
            } else if is_line(file, place) {
                line.get_or_insert(at);
            } else {
                alone.get_or_insert(at);
            }
        }
        // `rror in par` is a fragment: a part of a word counts only if the text does not begin or end in a word.
        let ends_in_words = |c: Option<char>| c.is_some_and(is_word_char);
        let is_cut = ends_in_words(self.text.chars().next()) || ends_in_words(self.text.chars().next_back());
        let part = whole.or(first.filter(|_| !is_cut)).map(|at| found(at, false));
        line.or(alone).map(|at| found(at, true)).or(part)
    }

    /// For each prefix that the text may have, the index of the first word after it. `program` is a name that may begin
    /// a prefix.
    pub fn messages_behind_prefix(&self, program: &str) -> Vec<usize> {
        let begin = self.text.as_ptr() as usize;
        let first = |rest: &str| self.words.partition_point(|word| begin + word.start < rest.as_ptr() as usize);
        messages_behind_prefix(self.text, program).into_iter().map(first).collect()
    }
}

/// Whether two neighbouring characters belong to one word.
fn joins(a: Option<char>, b: Option<char>) -> bool {
    a.is_some_and(is_word_char) && b.is_some_and(is_word_char)
}

/// Whether a place is all of its line, without the blanks around it.
fn is_line(file: &str, place: Range<usize>) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| c == '\n');
    let is_blank = |c: char| c != '\n' && c.is_whitespace();
    is_end(file[..place.start].trim_end_matches(is_blank).chars().next_back())
        && is_end(file[place.end..].trim_start_matches(is_blank).chars().next())
}

/// Whether both ends of `place` are word boundaries.
pub(crate) fn is_whole(file: &str, place: Range<usize>) -> bool {
    let (inside, before) = (&file[place.clone()], &file[..place.start]);
    let behind = &file[place.end..];
    !joins(before.chars().next_back(), inside.chars().next())
        && !joins(inside.chars().next_back(), behind.chars().next())
}

#[cfg(test)]
mod tests;
