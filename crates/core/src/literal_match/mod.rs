//! Aligns pasted text with files: a whole query, or the longest run of its words.
//!
//! Words are compared in the order typed, ignoring case; what stands between them (punctuation, line ends, comment marks)
//! may differ. So a message finds its literal although it has values where the source has placeholders: both have the words
//! between two values. Alignments of one file compete by [`Alignment::rank`].

mod advice;
mod alignment;
mod flag;
mod format_string;
mod frame;
mod log_prefix;
mod patch;
mod trace;

use std::ops::Range;

use advice::ends_in_question;
pub use advice::split_advice;
use alignment::{Alignment, begins_with_value, is_alone, is_literal};
use format_string::FilledFormat;
pub use frame::{TraceFrame, frame_of};
pub use log_prefix::{has_sure_prefix, message_behind_prefix, messages_behind_prefix};
use memchr::memmem;
use serde::{Deserialize, Serialize};
pub use trace::{is_trace, messages_of};

use crate::identifier_style::is_piece;
use crate::token::{is_stop_word, is_word_char, parts, words};

/// Words of a text from which runs grow, at most: the rarest ones that a file contains.
const ANCHORS_MAX: usize = 4;
/// Words of a text that are tried as such.
const ANCHORS_TRIED_MAX: usize = 16;
/// Places of one anchor in a file that are tried.
const ANCHOR_PLACES_MAX: usize = 200;
/// Words of a text that are compared; a longer text is a file.
const WORDS_MAX: usize = 400;
/// Places of a text's words in a file that are tried for a format string.
const TEMPLATE_PLACES_MAX: usize = 64;
/// Words of a value in a message.
const VALUE_WORDS_OF_A_MESSAGE_MAX: usize = 8;
/// Words of a value in any other text.
const VALUE_WORDS_MAX: usize = 2;
/// Words that a format string must share with a message: any text has fewer of them, unless the format goes on behind a value
/// and explains all of the text. Of such a short one, all words but one must be rare.
const WORDS_OF_A_TEMPLATE_MIN: usize = 3;
/// The same of any other text.
const WORDS_OF_A_PLAIN_TEMPLATE_MIN: usize = 4;
/// Rare words that a whole literal must have to explain a text.
const TELLING_WORDS_MIN: usize = 2;
/// Share of the weight of a text's values that a format string need not have.
const VALUES_SHARE: f32 = 0.75;
/// Parts of whole words that a text must have besides a word that is cut off.
const PARTS_BESIDE_A_CUT_MIN: usize = 2;
/// Bytes of a line on either side of a place that are searched for more of the text's words.
const LINE_BYTES_MAX: usize = 400;

/// How well a text and a file agree, the best last.
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
    /// For each word how rare it is; 0 if no file is known to have it, or nearly all have.
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
    /// Whether it is no part of something longer written as one: `1.0.0` in `1.0.0-beta`. A run that is not alone is all of
    /// the text, whose first or last word is cut off.
    pub is_alone: bool,
    /// Whether case and punctuation agree too.
    pub is_same: bool,
    /// Whether these words are all of a literal, but for punctuation and escapes.
    pub is_literal: bool,
    /// Whether a literal begins with these words and has a value behind them, where the text goes on; or they are all words of
    /// a format string.
    pub is_before_value: bool,
    /// The number of the word from which on a literal may have made all of the text: the text has all words of the literal,
    /// two of them rare, and the others are values. What stands in front may be a prefix.
    pub made_from: Option<usize>,
}

/// First words of questions.
const INTERROGATIVES: &[&str] = &["how", "what", "when", "where", "which", "who", "why"];
/// The same, of a query with no sign of a message; "could not open: 3" is one.
const REQUESTS: &[&str] = &["are", "can", "could", "do", "does", "find", "is", "locate", "should", "show", "would"];

/// Whether a text is a question: its words are people's own, and occur together elsewhere by chance.
pub fn is_question(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric());
    let begins = |words: &[&str]| words.contains(&first.to_lowercase().as_str());
    begins(INTERROGATIVES) || (!has_values(text) && (begins(REQUESTS) || ends_in_question(text)))
}

/// Whether a text has what programs put into their messages: numbers, quotes, paths, something behind a colon.
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

    /// The weight of each of its words.
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

    /// Whether it, as a single piece, is written as no word of a sentence is.
    pub fn is_token(&self) -> bool {
        is_piece(self.text)
    }

    /// Whether it ends in punctuation that belongs to it: `operator==`, `empty?` does not.
    pub fn is_operator(&self) -> bool {
        self.text.ends_with(['=', '<', '>', '+', '-', '*', '/', '%', '&', '|', '^', '~', '!'])
    }

    /// Whether it has punctuation alone, doubled, or inside a word: ` - `, `, ,`, `codes.ok`.
    pub fn is_marked(&self) -> bool {
        let is_mark = |c: char| !is_word_char(c) && !c.is_whitespace() && !matches!(c, '-' | '\'');
        self.text.split_whitespace().any(|piece| {
            let inside = piece.trim_matches(|c: char| !is_word_char(c));
            inside.is_empty() || inside.contains(is_mark) || inside.contains('_')
        })
    }

    fn word(&self, i: usize) -> &'t str {
        &self.text[self.words[i].clone()]
    }

    /// Where the text, or the longest run of its words, occurs in `file`; none if not even a rare word does.
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
            is_same: true,
            is_literal: false,
            is_before_value: false,
            made_from: None,
        }
    }

    /// The first place of every character where the first or the last word goes on, as where a terminal cut the text off.
    /// `rror in par` is nobody's text, and in a sentence "server" is no "servers", unless what is cut occurs nowhere as a
    /// word.
    fn cut(&self, file: &str) -> Option<LiteralMatch> {
        // `sink.write(addr` is cut off whatever stands there.
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
            // Of a single word that both ends cut nothing is left.
            let whole = usize::from(front)..self.len() - usize::from(back);
            let parts_whole: usize = whole.map(|i| of_letters(self.word(i))).sum();
            // Of `path_and_ste` nothing but its last part is cut.
            let parts_beside: usize =
                cut().filter(|i| is_unknown(*i)).map(|i| of_letters(self.word(i)).saturating_sub(1)).sum();
            let is_sure = is_no_sentence || cut().all(is_unknown);
            (front || back) && is_sure && parts_whole + parts_beside >= PARTS_BESIDE_A_CUT_MIN
        };
        let start = memmem::find_iter(file.as_bytes(), self.text.as_bytes()).take(ANCHOR_PLACES_MAX).find(is_cut)?;
        Some(LiteralMatch { is_alone: false, ..self.all_at(Agreement::Run, start) })
    }

    /// Words of a value at most and of a format string at least, if one may have made the text.
    fn of_a_template(&self) -> Option<(usize, usize)> {
        let (value_words_max, words_min) = match has_values(self.text) {
            true => (VALUE_WORDS_OF_A_MESSAGE_MAX, WORDS_OF_A_TEMPLATE_MIN),
            false => (VALUE_WORDS_MAX, WORDS_OF_A_PLAIN_TEMPLATE_MIN),
        };
        (self.len() > TELLING_WORDS_MIN && !is_question(self.text)).then_some((value_words_max, words_min))
    }

    /// The format string around a word, if the text has all of its words.
    fn template(&self, file: &str, place: &Range<usize>, of_a_template: (usize, usize)) -> Option<Alignment> {
        let (value_words_max, words_min) = of_a_template;
        let filled = self.filled_around(file, place, value_words_max)?;
        let is_long = self.len() > words_min && filled.words >= words_min;
        let is_short = || {
            let is_sure = filled.from == Some(0) && filled.telling + 1 >= words_min;
            is_sure && filled.is_around_value && filled.longest_value <= VALUE_WORDS_MAX
        };
        if !is_long && !is_short() {
            return None;
        }
        let FilledFormat { words, weight, of_values, telling, from, place, .. } = filled;
        let made_from = from.filter(|_| telling >= TELLING_WORDS_MIN);
        let value_words = made_from.map_or(0, |from| (self.len() - from).saturating_sub(words));
        let beside = self.weight_beside(file, &place);
        let (is_same, is_before_value, is_literal) = (true, true, true);
        Some(Alignment {
            words,
            weight,
            of_values,
            beside,
            is_same,
            is_before_value,
            is_literal,
            made_from,
            value_words,
            place,
        })
    }

    /// The first place of every character: as a whole literal if the text has several words, else alone, else as whole words.
    fn exact(&self, file: &str) -> Option<LiteralMatch> {
        let found = |start: usize, is_alone: bool| {
            let is_literal = !self.is_flag() && is_literal(file, start..start + self.text.len());
            LiteralMatch { is_alone, is_literal, ..self.all_at(Agreement::Exact, start) }
        };
        let (mut alone, mut whole, mut first) = (None, None, None);
        for at in memmem::find_iter(file.as_bytes(), self.text.as_bytes()).take(ANCHOR_PLACES_MAX) {
            let place = at..at + self.text.len();
            if !is_whole(file, place.clone()) {
                first.get_or_insert(at);
            } else if !is_alone(file, place.clone()) {
                whole.get_or_insert(at);
            } else if self.len() == 1 || is_literal(file, place) {
                return Some(found(at, true));
            } else {
                alone.get_or_insert(at);
            }
        }
        // `rror in par` is nobody's text: a part of a word counts only if the text itself ends in no word.
        let ends_in_words = |c: Option<char>| c.is_some_and(is_word_char);
        let is_cut = ends_in_words(self.text.chars().next()) || ends_in_words(self.text.chars().next_back());
        let part = whole.or(first.filter(|_| !is_cut)).map(|at| found(at, false));
        alone.map(|at| found(at, true)).or(part)
    }

    /// The best run of the text's words, or format string.
    fn longest_run(&self, file: &str) -> Option<LiteralMatch> {
        let mut anchors: Vec<usize> = (0..self.len()).filter(|i| self.weights[*i] > 0.0).collect();
        anchors.sort_by(|a, b| self.weights[*b].total_cmp(&self.weights[*a]).then(a.cmp(b)));
        // The rarest words of a message may be its values, which occur elsewhere or nowhere: others lead to its literal.
        let holds = |word: &str| memmem::find(file.as_bytes(), word.as_bytes()).is_some();
        let stands = |i: &usize| holds(self.word(*i)) || holds(&self.word(*i).to_lowercase());
        let mut best: Option<Alignment> = None;
        let (of_a_template, mut templates) = (self.of_a_template(), 0);
        let anchors_max = if of_a_template.is_some() { ANCHORS_TRIED_MAX } else { ANCHORS_MAX };
        let anchors = anchors.into_iter().take(ANCHORS_TRIED_MAX).filter(stands).take(anchors_max);
        for (known, anchor) in anchors.enumerate() {
            // As typed, and as in the middle of a sentence.
            let (typed, lower) = (self.word(anchor), self.word(anchor).to_lowercase());
            let as_lower = (typed.len() == lower.len() && typed != lower).then_some(lower);
            let places = memmem::find_iter(file.as_bytes(), typed.as_bytes()).take(ANCHOR_PLACES_MAX);
            let more =
                as_lower.iter().flat_map(|l| memmem::find_iter(file.as_bytes(), l.as_bytes()).take(ANCHOR_PLACES_MAX));
            for at in places.chain(more) {
                let place = at..at + self.word(anchor).len();
                if !is_whole(file, place.clone()) {
                    continue;
                }
                if let Some(of_a_template) = of_a_template.filter(|_| templates < TEMPLATE_PLACES_MAX) {
                    templates += 1;
                    let found = self.template(file, &place, of_a_template);
                    if let Some(found) = found.filter(|found| best.as_ref().is_none_or(|b| b.rank() < found.rank())) {
                        best = Some(found);
                    }
                }
                if known >= ANCHORS_MAX {
                    continue;
                }
                let (run, place) = self.run_around(anchor, file, place);
                let weight: f32 = self.weights[run.clone()].iter().sum();
                let least = best.as_ref().map_or((0, 0.0), |known| (known.reach(), known.weight));
                if (run.len(), weight) < least || best.as_ref().is_some_and(|known| known.place == place) {
                    continue;
                }
                // Of two of one length, the one with more of the other words beside it counts, then the one typed so.
                let found =
                    Alignment { beside: self.weight_beside(file, &place), ..self.place(run, weight, file, place) };
                if best.as_ref().is_none_or(|known| known.rank() < found.rank()) {
                    best = Some(found);
                }
            }
        }
        let all: f32 = self.weights.iter().sum();
        best.map(|best| LiteralMatch {
            agreement: if best.words == self.len() { Agreement::Words } else { Agreement::Run },
            words: best.words,
            // Of two literals, the one that takes fewer of the words for values says more.
            share: if all > 0.0 { (best.weight / (all - best.of_values * VALUES_SHARE)).min(1.0) } else { 0.0 },
            start: best.place.start,
            is_alone: true,
            is_same: best.is_same,
            is_before_value: best.is_before_value,
            is_literal: best.is_literal && !self.is_flag(),
            made_from: best.made_from,
        })
    }

    fn place(&self, run: Range<usize>, weight: f32, file: &str, place: Range<usize>) -> Alignment {
        let typed = &self.text[self.words[run.start].start..self.words[run.end - 1].end];
        let opens = || file[..place.start].ends_with(['"', '\'', '`']);
        let is_before_value = run.end < self.len() && opens() && begins_with_value(&file[place.end..]);
        let there = &file[place.clone()];
        let is_literal = typed.eq_ignore_ascii_case(there) && is_literal(file, place.clone());
        let made_from = match is_before_value {
            true => self.made_of_front(file, &place, run.end),
            false if is_literal && run.end == self.len() && self.tells(&run) => Some(run.start),
            false => None,
        };
        let values: &[f32] = if made_from.is_some() { &self.weights[run.end..] } else { &[] };
        Alignment {
            words: run.len(),
            weight,
            of_values: values.iter().sum(),
            beside: 0.0,
            is_same: typed == there,
            is_before_value,
            is_literal,
            made_from,
            value_words: values.len(),
            place,
        }
    }

    /// [`LiteralMatch::made_from`] of a literal whose only value is at its end, behind few words.
    fn made_of_front(&self, file: &str, place: &Range<usize>, end: usize) -> Option<usize> {
        let is_value = || has_values(self.text) || self.weights[end..].iter().all(|weight| *weight <= 0.0);
        let filled = self.filled_around(file, place, VALUE_WORDS_MAX)?;
        let is_sure = filled.telling >= TELLING_WORDS_MIN && filled.longest_value <= VALUE_WORDS_MAX;
        filled.from.filter(|_| is_sure && is_value())
    }

    /// Whether enough words of a run are rare.
    fn tells(&self, run: &Range<usize>) -> bool {
        run.clone().filter(|i| self.is_telling(*i)).count() >= TELLING_WORDS_MIN
    }

    /// Whether a word leads to files; a single letter occurs anywhere.
    fn is_telling(&self, i: usize) -> bool {
        self.weights[i] > 0.0 && self.word(i).len() > 1
    }

    /// For each prefix that the text may have, the number of the first word behind it; a `program` puts its name there.
    pub fn messages_behind_prefix(&self, program: &str) -> Vec<usize> {
        let begin = self.text.as_ptr() as usize;
        let first = |rest: &str| self.words.partition_point(|word| begin + word.start < rest.as_ptr() as usize);
        messages_behind_prefix(self.text, program).into_iter().map(first).collect()
    }

    /// The weight of the text's words on the lines of `place`.
    fn weight_beside(&self, file: &str, place: &Range<usize>) -> f32 {
        let from = file[..place.start].rfind('\n').map_or(0, |at| at + 1);
        let from = file.floor_char_boundary(from.max(place.start.saturating_sub(LINE_BYTES_MAX)));
        let to = file[place.end..].find('\n').map_or(file.len(), |at| place.end + at);
        let to = file.floor_char_boundary(to.min(place.end + LINE_BYTES_MAX));
        let lines = &file[from..to];
        let beside: Vec<&str> = words(lines).map(|word| &lines[word]).collect();
        let holds = |i: &usize| beside.iter().any(|word| word.eq_ignore_ascii_case(self.word(*i)));
        (0..self.len()).filter(holds).map(|i| self.weights[i]).sum()
    }

    /// Whether the word in front of a run is the one that the text has there; none if it is not ASCII.
    fn is_behind_another(&self, run: &Range<usize>, front: &str) -> Option<bool> {
        if run.start == 0 {
            return Some(false);
        }
        let is_of_word = |byte: &u8| *byte == b'_' || byte.is_ascii_alphanumeric();
        let bytes = front.as_bytes();
        let end = bytes.iter().rposition(|byte| is_of_word(byte) || !byte.is_ascii()).map_or(0, |last| last + 1);
        let first = bytes[..end].iter().rposition(|byte| !is_of_word(byte)).map_or(0, |before| before + 1);
        let is_ascii = end == 0 || (bytes[end - 1].is_ascii() && (first == 0 || bytes[first - 1].is_ascii()));
        is_ascii.then(|| front[first..end].eq_ignore_ascii_case(self.word(run.start - 1)))
    }

    /// The run of words around the word `anchor`, which occurs at `place`, and its place in the file.
    fn run_around(&self, anchor: usize, file: &str, place: Range<usize>) -> (Range<usize>, Range<usize>) {
        let mut run = anchor..anchor + 1;
        let mut end = place.end;
        for word in words(&file[place.end..]) {
            let text = &file[place.end..][word.clone()];
            if run.end == self.len() || !text.eq_ignore_ascii_case(self.word(run.end)) {
                break;
            }
            run.end += 1;
            end = place.end + word.end;
        }
        let mut start = place.start;
        let reach = 2 * self.words[anchor].start + 256;
        let from = file.floor_char_boundary(place.start.saturating_sub(reach));
        // Other scripts can't be read backwards: read the words of a piece that is surely long enough.
        let before: Vec<Range<usize>> = match self.is_behind_another(&run, &file[from..place.start]) {
            Some(false) => Vec::new(),
            _ => words(&file[from..place.start]).collect(),
        };
        for word in before.into_iter().rev() {
            let text = &file[from..][word.clone()];
            if run.start == 0 || !text.eq_ignore_ascii_case(self.word(run.start - 1)) {
                break;
            }
            run.start -= 1;
            start = from + word.start;
        }
        (run, start..end)
    }
}

/// Whether two neighbouring characters belong to one word.
fn joins(a: Option<char>, b: Option<char>) -> bool {
    a.is_some_and(is_word_char) && b.is_some_and(is_word_char)
}

/// Whether no word goes on beyond either end of `place`.
pub(crate) fn is_whole(file: &str, place: Range<usize>) -> bool {
    let (inside, before) = (&file[place.clone()], &file[..place.start]);
    let behind = &file[place.end..];
    !joins(before.chars().next_back(), inside.chars().next())
        && !joins(inside.chars().next_back(), behind.chars().next())
}

#[cfg(test)]
mod tests;
