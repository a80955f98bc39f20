//! Runs of a text's words in a file, and the format strings that compete with them.

use std::ops::Range;

use memchr::memmem;

use super::alignment::{Alignment, begins_with_value, is_literal};
use super::format_string::FilledFormat;
use super::{
    ANCHOR_PLACES_MAX, Agreement, LINE_BYTES_MAX, LiteralMatch, PastedText, has_values, is_question, is_whole,
};
use crate::token::words;

/// Maximum of words of a text from which runs grow: the rarest ones in a file.
const ANCHORS_MAX: usize = 4;
/// Words of a text that are tried as such.
const ANCHORS_TRIED_MAX: usize = 16;
/// Maximum of places of a text's words that are tried for a format string in a file.
const FORMAT_PLACES_MAX: usize = 64;
const VALUE_WORDS_OF_MESSAGE_MAX: usize = 8;
/// Words of a value in any other text.
const VALUE_WORDS_MAX: usize = 2;
/// Minimum of words that a format string must share with a message, unless it continues after a value and explains the
/// whole text. Then all its words but one must be rare, or, if they are half of the text, two.
const FORMAT_WORDS_MIN: usize = 3;
/// The same of any other text.
const FORMAT_WORDS_OF_PLAIN_TEXT_MIN: usize = 4;
/// Rare words that a whole literal must have to explain a text.
const RARE_WORDS_MIN: usize = 2;
/// Share of the weight of a text's values that a format string may lack.
const VALUES_SHARE: f32 = 0.75;

/// Minimums for the parts of a text that a format string and its values explain.
#[derive(Clone, Copy)]
struct FormatLimits {
    value_words_max: usize,
    words_min: usize,
}

impl PastedText<'_> {
    /// The best alignment of the text's words: a run of them, or a format string.
    pub(super) fn longest_run(&self, file: &str) -> Option<LiteralMatch> {
        let limits = self.format_limits();
        let (mut best, mut formats): (Option<Alignment>, usize) = (None, 0);
        for (known, anchor) in self.anchors(file, limits.is_some()).into_iter().enumerate() {
            for place in self.places_of(anchor, file) {
                if let Some(limits) = limits.filter(|_| formats < FORMAT_PLACES_MAX) {
                    formats += 1;
                    keep_better(&mut best, self.format_string_at(file, &place, limits));
                }
                if known < ANCHORS_MAX {
                    let run = self.run_at(anchor, file, place, best.as_ref());
                    keep_better(&mut best, run);
                }
            }
        }
        let all: f32 = self.weights.iter().sum();
        best.map(|best| LiteralMatch {
            words: best.words,
            // Of two literals, the one that takes fewer of the words for values is more specific.
            share: if all > 0.0 { (best.weight / (all - best.of_values * VALUES_SHARE)).min(1.0) } else { 0.0 },
            is_same: best.is_same,
            is_before_value: best.is_before_value,
            is_literal: best.is_literal && !self.is_flag(),
            made_from: best.made_from,
            ..self.all_at(if best.words == self.len() { Agreement::Words } else { Agreement::Run }, best.place.start)
        })
    }

    /// The rarest words in the file. The rarest words of a message may be its values, which occur elsewhere or nowhere,
    /// so more of them are tried for a format string.
    fn anchors(&self, file: &str, may_be_format: bool) -> Vec<usize> {
        let mut anchors: Vec<usize> = (0..self.len()).filter(|i| self.weights[*i] > 0.0).collect();
        anchors.sort_by(|a, b| self.weights[*b].total_cmp(&self.weights[*a]).then(a.cmp(b)));
        let contains = |word: &str| memmem::find(file.as_bytes(), word.as_bytes()).is_some();
        let occurs = |i: &usize| contains(self.word(*i)) || contains(&self.word(*i).to_lowercase());
        let max = if may_be_format { ANCHORS_TRIED_MAX } else { ANCHORS_MAX };
        anchors.into_iter().take(ANCHORS_TRIED_MAX).filter(occurs).take(max).collect()
    }

    /// The places of a word as typed, then in lower case.
    fn places_of(&self, word: usize, file: &str) -> Vec<Range<usize>> {
        let (typed, lower) = (self.word(word), self.word(word).to_lowercase());
        let is_other = typed.len() == lower.len() && typed != lower;
        let spellings = [Some(typed), is_other.then_some(lower.as_str())];
        let places = |own: &str| -> Vec<usize> {
            memmem::find_iter(file.as_bytes(), own.as_bytes()).take(ANCHOR_PLACES_MAX).collect()
        };
        let places = spellings.into_iter().flatten().flat_map(places).map(|at| at..at + typed.len());
        places.filter(|place| is_whole(file, place.clone())).collect()
    }

    /// The run of words around an anchor's place, unless it can't be better than the best alignment so far.
    fn run_at(&self, anchor: usize, file: &str, place: Range<usize>, best: Option<&Alignment>) -> Option<Alignment> {
        let (run, place) = self.run_around(anchor, file, place);
        let weight: f32 = self.weights[run.clone()].iter().sum();
        let least = best.map_or((0, 0.0), |best| (best.reach(), best.weight));
        if (run.len(), weight) < least || best.is_some_and(|best| best.place == place) {
            return None;
        }
        let typed = &self.text[self.words[run.start].start..self.words[run.end - 1].end];
        let opens = || file[..place.start].ends_with(['"', '\'', '`']);
        let is_before_value = run.end < self.len() && opens() && begins_with_value(&file[place.end..]);
        let there = &file[place.clone()];
        let is_literal = typed.eq_ignore_ascii_case(there) && is_literal(file, place.clone());
        let made_from = match is_before_value {
            true => self.made_of_front(file, &place, run.end),
            false if is_literal && run.end == self.len() && self.has_rare_words(&run) => Some(run.start),
            false => None,
        };
        let values: &[f32] = if made_from.is_some() { &self.weights[run.end..] } else { &[] };
        Some(Alignment {
            words: run.len(),
            weight,
            of_values: values.iter().sum(),
            beside: self.weight_beside(file, &place),
            lacking: 0,
            is_same: typed == there,
            is_before_value,
            is_literal,
            made_from,
            value_words: values.len(),
            place,
        })
    }

    /// [`LiteralMatch::made_from`] of a literal of few words whose only value is at its end.
    fn made_of_front(&self, file: &str, place: &Range<usize>, end: usize) -> Option<usize> {
        let is_value = || has_values(self.text) || self.weights[end..].iter().all(|weight| *weight <= 0.0);
        let filled = self.filled_around(file, place, VALUE_WORDS_MAX)?;
        let is_sure = filled.rare >= RARE_WORDS_MIN && filled.longest_value <= VALUE_WORDS_MAX;
        filled.from.filter(|_| is_sure && is_value())
    }

    /// Whether enough words of a run are rare.
    fn has_rare_words(&self, run: &Range<usize>) -> bool {
        run.clone().filter(|i| self.is_rare(*i)).count() >= RARE_WORDS_MIN
    }

    /// Whether a word is selective; a single letter occurs anywhere.
    pub(super) fn is_rare(&self, i: usize) -> bool {
        self.weights[i] > 0.0 && self.word(i).len() > 1
    }

    /// The limits of a format string that may have made the text; `None` for a question.
    fn format_limits(&self) -> Option<FormatLimits> {
        let limits = match has_values(self.text) {
            true => FormatLimits { value_words_max: VALUE_WORDS_OF_MESSAGE_MAX, words_min: FORMAT_WORDS_MIN },
            false => FormatLimits { value_words_max: VALUE_WORDS_MAX, words_min: FORMAT_WORDS_OF_PLAIN_TEXT_MIN },
        };
        (self.len() > RARE_WORDS_MIN && !is_question(self.text)).then_some(limits)
    }

    /// The format string around a word, if the text has all of its words.
    fn format_string_at(&self, file: &str, place: &Range<usize>, limits: FormatLimits) -> Option<Alignment> {
        let FormatLimits { value_words_max, words_min } = limits;
        let filled = self.filled_around(file, place, value_words_max)?;
        let is_long = self.len() > words_min && filled.words >= words_min;
        let is_most = || filled.words >= FORMAT_WORDS_MIN && filled.rare >= RARE_WORDS_MIN;
        let is_short = || {
            let is_sure = filled.from == Some(0)
                && (filled.rare + 1 >= words_min || (is_most() && 2 * filled.words >= self.len()));
            is_sure && filled.is_around_value && filled.longest_value <= VALUE_WORDS_MAX
        };
        if !is_long && !is_short() {
            return None;
        }
        let FilledFormat { words, weight, of_values, rare, from, lacking, place, .. } = filled;
        let made_from = from.filter(|_| rare >= RARE_WORDS_MIN);
        let value_words = made_from.map_or(0, |from| (self.len() - from).saturating_sub(words));
        Some(Alignment {
            words,
            weight,
            of_values,
            beside: self.weight_beside(file, &place),
            lacking,
            is_same: true,
            is_before_value: true,
            is_literal: true,
            made_from,
            value_words,
            place,
        })
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

    /// Whether the word before a run is the same as in the text; `None` if it is not ASCII.
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
        // Other scripts can't be read backwards: read the words of a piece that is certainly long enough.
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

/// Keeps the better of two alignments, the earlier one of equals.
fn keep_better(best: &mut Option<Alignment>, found: Option<Alignment>) {
    if let Some(found) = found
        && best.as_ref().is_none_or(|best| best.rank() < found.rank())
    {
        *best = Some(found);
    }
}
