//! Places of a text's words in a file, and the literals around them.

use std::ops::Range;

use crate::token::is_word_char;

/// Words of a value for which one counts where two places hold different words of a text.
const WORDS_OF_VALUES_FOR_ONE: usize = 4;

/// A place of a run of words, or of the pieces of a literal with values.
pub(super) struct Place {
    pub words: usize,
    pub weight: f32,
    /// Weight of the text's words that stand where a literal has its values.
    pub of_values: f32,
    /// Weight of all of the text's words on its lines.
    pub beside: f32,
    /// Whether it agrees to the character.
    pub is_same: bool,
    /// [`Standing::is_before_value`](super::Standing::is_before_value).
    pub is_before_value: bool,
    /// [`Standing::is_literal`](super::Standing::is_literal).
    pub is_literal: bool,
    /// [`Standing::made_from`](super::Standing::made_from).
    pub made_from: Option<usize>,
    /// Words of the text that are the values of a literal of which all of the text was made.
    pub value_words: usize,
    pub place: Range<usize>,
}

impl Place {
    /// The more the better; a value that stands elsewhere is no evidence against the literal that has it.
    pub(super) fn rank(&self) -> (usize, f32, bool, f32, bool) {
        let is_of_literal = self.is_before_value || self.is_literal;
        (self.reach(), self.weight, is_of_literal, self.beside, self.is_same)
    }

    /// Words that agree, with a share of those of its values.
    pub(super) fn reach(&self) -> usize {
        self.words + self.value_words / WORDS_OF_VALUES_FOR_ONE
    }
}

/// Whether nothing that is written in one piece goes on beyond either end of `place`: no `-beta` behind a version, no
/// folder in front of a path.
pub(super) fn is_alone(file: &str, place: Range<usize>) -> bool {
    let glue = |c: char| matches!(c, '-' | '.');
    let mut before = file[..place.start].chars().rev();
    let mut behind = file[place.end..].chars();
    let is_glued = |chars: &mut dyn Iterator<Item = char>| {
        chars.next().is_some_and(glue) && chars.next().is_some_and(is_word_char)
    };
    !is_glued(&mut before) && !is_glued(&mut behind)
}

/// Whether a value comes next in a literal or behind it: `%s`, `{name}`, `\\(name)`, `" + name`, `", name`.
pub(super) fn begins_with_value(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let next = line.trim_start_matches([' ', ':', '=', '(', '[', '#', '-', '\\', '`', '"', '\'']);
    let front = &line[..line.len() - next.len()];
    let is_behind = front.contains(['"', '\'', '`']) && next.starts_with(['+', ',', '.', '&', '<']);
    is_behind || front.contains("\\(") || next.starts_with(['%', '{', '$'])
}

/// Whether `place` is all that a literal holds, but for punctuation and escapes (`\\n`) around it.
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
