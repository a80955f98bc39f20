//! Alignments of a text with a file, and how they compete.

use std::cmp::Reverse;
use std::ops::Range;

use crate::token::is_word_char;

/// Words of values that count as one word in comparisons of alignments.
const WORDS_OF_VALUES_FOR_ONE: usize = 4;

/// A run of words, or the pieces of a format string, at a place of a file.
pub(super) struct Alignment {
    pub words: usize,
    pub weight: f32,
    /// Weight of the text's words that are values.
    pub of_values: f32,
    /// Weight of the text's words on the same lines.
    pub beside: f32,
    /// Words of the literal's next sentences that contradict the text.
    pub lacking: usize,
    /// Whether it agrees to the character.
    pub is_same: bool,
    /// [`LiteralMatch::is_before_value`](super::LiteralMatch::is_before_value).
    pub is_before_value: bool,
    /// [`LiteralMatch::is_literal`](super::LiteralMatch::is_literal).
    pub is_literal: bool,
    /// [`LiteralMatch::made_from`](super::LiteralMatch::made_from).
    pub made_from: Option<usize>,
    /// Words of the text that are values, if the literal made the whole text.
    pub value_words: usize,
    pub place: Range<usize>,
}

impl Alignment {
    /// The score of an alignment, higher is better. A value that also occurs elsewhere does not count against its
    /// literal.
    pub(super) fn rank(&self) -> (usize, f32, bool, f32, Reverse<usize>, bool) {
        let is_of_literal = self.is_before_value || self.is_literal;
        (self.reach(), self.weight, is_of_literal, self.beside, Reverse(self.lacking), self.is_same)
    }

    /// Words that agree, with a share of the words of values.
    pub(super) fn reach(&self) -> usize {
        self.words + self.value_words / WORDS_OF_VALUES_FOR_ONE
    }
}

/// Whether `place` is not part of something longer: no `-beta` after a version, no folder before a path.
pub(super) fn is_alone(file: &str, place: Range<usize>) -> bool {
    let glue = |c: char| matches!(c, '-' | '.');
    let mut before = file[..place.start].chars().rev();
    let mut behind = file[place.end..].chars();
    let is_glued = |chars: &mut dyn Iterator<Item = char>| {
        chars.next().is_some_and(glue) && chars.next().is_some_and(is_word_char)
    };
    !is_glued(&mut before) && !is_glued(&mut behind)
}

/// Whether a literal continues with a value, or a value is appended to it: `%s`, `{name}`, `\\(name)`, `" + name`,
/// `", name`.
pub(super) fn begins_with_value(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let next = line.trim_start_matches([' ', ':', '=', '(', '[', '#', '-', '\\', '`', '"', '\'']);
    let front = &line[..line.len() - next.len()];
    let is_behind = front.contains(['"', '\'', '`']) && next.starts_with(['+', ',', '.', '&', '<']);
    is_behind || front.contains("\\(") || next.starts_with(['%', '{', '$'])
}

/// Whether `place` is a whole literal, except for punctuation and escapes (`\\n`) around it.
pub(super) fn is_literal(file: &str, place: Range<usize>) -> bool {
    let is_mark = |c: char| matches!(c, '"' | '\'' | '`');
    let Some(opening) = file[..place.start].chars().next_back().filter(|c| is_mark(*c)) else { return false };
    let mut behind = file[place.end..].chars();
    while let Some(c) = behind.next() {
        match c {
            '\\' => drop(behind.next()),
            _ if c == opening => return true,
            '\n' => return false,
            _ if is_mark(c) || c.is_alphanumeric() => return false,
            _ => {}
        }
    }
    false
}
