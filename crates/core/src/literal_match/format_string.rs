//! Format strings: the source of a program's message consists of pieces with placeholders between them.

use std::ops::Range;

use super::PastedText;
use crate::token::{is_word_char, words};

/// Bytes read on either side of a place for its literal.
const REACH: usize = 600;
/// Lines read before a place for its literal.
const LINES_BEFORE_MAX: usize = 2;
/// Lines read after it.
const LINES_BEHIND_MAX: usize = 3;
/// Bytes of a placeholder, or of an expression between two literals.
const VALUE_BYTES_MAX: usize = 96;
/// Values at the end of a sentence with only punctuation between them: an address and what went wrong there.
const VALUES_AT_THE_END: usize = 2;
/// Words of a value beside a piece of a sentence that is not there as a whole.
const VALUE_WORDS_BESIDE_PIECE_MAX: usize = 2;
/// Quotation marks on either side of a literal of several lines.
const BLOCK_MARKS: usize = 3;
/// Operators that concatenate literals and values.
const ADDERS: &[&str] = &["+", "& ", "<<", "<>", "..", ". "];

struct FormatWord {
    place: Range<usize>,
    /// Whether a value is joined to its beginning: the `s` of `{}s`.
    is_behind_value: bool,
    /// Whether a value is joined to its end: the `0x` of `0x{}`.
    is_before_value: bool,
}

/// Words of a literal between two values.
struct FormatPiece {
    value: Option<Range<usize>>,
    words: Vec<FormatWord>,
}

/// A sentence of a literal.
#[derive(Default)]
struct FormatString {
    pieces: Vec<FormatPiece>,
    /// The value at its end.
    value_behind: Option<Range<usize>>,
    /// Words of the sentences after it in the same literal.
    next: Vec<Range<usize>>,
}

/// How a text agrees with a sentence of a format string.
#[derive(Default)]
pub(super) struct FilledFormat {
    /// Words that agree.
    pub words: usize,
    pub weight: f32,
    /// Weight of the words that are values.
    pub of_values: f32,
    /// Words that agree and are rare.
    pub rare: usize,
    /// The index of the word from which the sentence and its values explain the whole text; `None` if words are left
    /// over.
    pub from: Option<usize>,
    /// Words of the longest value; one piece counts as one word.
    pub longest_value: usize,
    /// Whether the sentence continues after a value, or is between two.
    pub is_around_value: bool,
    /// Words of the literal's next sentences that the text lacks, if it has others of them.
    pub lacking: usize,
    /// From the first of its words to the last.
    pub place: Range<usize>,
}

impl PastedText<'_> {
    /// How the text agrees with the sentence around a place of `file`: the text has all of its words in order, and for
    /// each value one to `value_words_max` words or a longer piece. A text that lacks some may be a part of what was
    /// printed: the piece around the place with short values beside it, and nothing else.
    pub(super) fn filled_around(
        &self,
        file: &str,
        place: &Range<usize>,
        value_words_max: usize,
    ) -> Option<FilledFormat> {
        let format = FormatString::around(file, place)?;
        let filled = |format: &FormatString, value_words_max: usize| {
            (0..self.len()).find_map(|start| self.filled_from(start, file, format, value_words_max))
        };
        filled(&format, value_words_max).or_else(|| {
            let part = filled(&format.piece_at(place.start)?, value_words_max.min(VALUE_WORDS_BESIDE_PIECE_MAX));
            part.filter(|part| part.from == Some(0) && part.longest_value <= VALUE_WORDS_BESIDE_PIECE_MAX)
        })
    }

    fn filled_from(
        &self,
        start: usize,
        file: &str,
        format: &FormatString,
        value_words_max: usize,
    ) -> Option<FilledFormat> {
        let (first, last) = (format.pieces.first()?.words.first()?, format.pieces.last()?.words.last()?);
        let place = first.place.start..last.place.end;
        let is_between_values = format.value_behind.is_some() && format.pieces.first()?.value.is_some();
        let is_around_value = format.pieces.len() > 1 || is_between_values;
        let mut filled = FilledFormat { is_around_value, place, ..FilledFormat::default() };
        let (mut end, mut is_open) = (start, false);
        for (i, piece) in format.pieces.iter().enumerate() {
            let (head, tail) = (piece.words.first()?, piece.words.last()?);
            // A piece joined to a value shares a word with it.
            let least = if i == 0 || is_open || head.is_behind_value { end } else { end + 1 };
            let most = if i == 0 { end } else { self.end_of_value(end, value_words_max) };
            let begin = (least..=most).find(|begin| self.has_piece(*begin, file, &piece.words))?;
            if i > 0 {
                filled.longest_value = filled.longest_value.max(self.words_of_value(end..begin));
                let of_value: f32 = self.weights[end..begin].iter().sum();
                match &piece.value {
                    // A sentence may have brackets of its own: `{amount, unit}`.
                    Some(value) if self.is_written(end..begin, &file[value.clone()]) => {
                        filled.words += begin - end;
                        filled.weight += of_value;
                    }
                    _ => filled.of_values += of_value,
                }
            }
            end = begin + piece.words.len();
            let is_own = |word: &&FormatWord| !word.is_behind_value && !word.is_before_value;
            filled.words += piece.words.iter().filter(is_own).count();
            let is_rare = |(word, i): &(&FormatWord, usize)| is_own(word) && self.is_rare(*i);
            filled.rare += piece.words.iter().zip(begin..end).filter(is_rare).count();
            filled.weight += self.weights[begin..end].iter().sum::<f32>();
            is_open = tail.is_before_value;
        }
        let before = if format.pieces.first()?.value.is_some() { start.min(value_words_max) } else { 0 };
        filled.of_values += self.weights[start - before..start].iter().sum::<f32>();
        let most = match format.value_behind {
            Some(_) => self.end_of_value(end, VALUES_AT_THE_END * value_words_max).min(self.len()),
            None => end,
        };
        filled.of_values += self.weights[end..most].iter().sum::<f32>();
        let of_ends = [start - before..start, end..most].map(|value| self.words_of_value(value));
        filled.longest_value = of_ends.into_iter().fold(filled.longest_value, usize::max);
        filled.from = (most == self.len()).then_some(start - before);
        filled.lacking = self.lacking(file, &format.next, end);
        Some(filled)
    }

    /// How many of the literal's `next` words are not among the text's words from index `end` on; 0 if none is.
    fn lacking(&self, file: &str, next: &[Range<usize>], end: usize) -> usize {
        let has = |word: &str| (end..self.len()).any(|i| self.word(i).eq_ignore_ascii_case(word));
        match next.iter().filter(|place| has(&file[(*place).clone()])).count() {
            0 => 0,
            held => next.len() - held,
        }
    }

    /// The word index at which a value that begins with `word` ends at the latest: after `words_max` words, or after
    /// the piece of text around that word, since `api.acme.com` is one value.
    fn end_of_value(&self, word: usize, words_max: usize) -> usize {
        (word + words_max).max(self.end_of_piece(word))
    }

    /// Words of a value; one piece counts as one word.
    fn words_of_value(&self, value: Range<usize>) -> usize {
        if self.end_of_piece(value.start) >= value.end { value.len().min(1) } else { value.len() }
    }

    /// The index of the first word after the piece of text around a word.
    fn end_of_piece(&self, word: usize) -> usize {
        let Some(place) = self.words.get(word) else { return word };
        let rest = &self.text[place.start..];
        let end = place.start + rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.words.partition_point(|word| word.start < end)
    }

    /// Whether the words from index `begin` on are those of a piece.
    fn has_piece(&self, begin: usize, file: &str, piece: &[FormatWord]) -> bool {
        let agrees = |(i, word): (usize, &FormatWord)| {
            let (there, typed) = (file[word.place.clone()].as_bytes(), self.word(begin + i).as_bytes());
            let typed = match typed.len().checked_sub(there.len()) {
                Some(more) if word.is_behind_value => &typed[more..],
                Some(_) if word.is_before_value => &typed[..there.len()],
                _ => typed,
            };
            typed.eq_ignore_ascii_case(there)
        };
        begin + piece.len() <= self.len() && piece.iter().enumerate().all(agrees)
    }

    /// Whether these of its words spell `text`.
    fn is_written(&self, mut run: Range<usize>, text: &str) -> bool {
        let mut there = words(text);
        let is_same = run.all(|i| there.next().is_some_and(|own| text[own].eq_ignore_ascii_case(self.word(i))));
        is_same && there.next().is_none()
    }
}

impl FormatString {
    /// The sentence around a place, if it is in a literal and has a value.
    fn around(file: &str, place: &Range<usize>) -> Option<FormatString> {
        let least = file.floor_char_boundary(place.start.saturating_sub(REACH));
        let line = file[least..place.start].rmatch_indices('\n').nth(LINES_BEFORE_MAX).map(|(at, _)| least + at + 1);
        let most = file.floor_char_boundary((place.end + REACH).min(file.len()));
        let end = file[place.end..most].match_indices('\n').nth(LINES_BEHIND_MAX).map(|(at, _)| place.end + at);
        let mut reader =
            FormatReader { text: &file[..end.unwrap_or(most)], wanted: place.start, ..FormatReader::default() };
        reader.read(line.unwrap_or(least));
        Some(reader.found).filter(|found| found.holds(place.start) && found.has_value())
    }

    /// One of several pieces, with the values beside it.
    fn piece_at(mut self, at: usize) -> Option<FormatString> {
        let holds = |piece: &FormatPiece| piece.words.iter().any(|word| word.place.start == at);
        let place = self.pieces.iter().position(holds).filter(|_| self.pieces.len() > 1)?;
        let next = self.pieces.get_mut(place + 1);
        let value_behind = next.map_or(self.value_behind, |next| next.value.take());
        Some(FormatString { pieces: vec![self.pieces.swap_remove(place)], value_behind, next: self.next })
    }

    fn has_value(&self) -> bool {
        self.value_behind.is_some() || self.pieces.iter().any(|piece| piece.value.is_some())
    }

    /// Whether one of its words begins at a place.
    fn holds(&self, at: usize) -> bool {
        self.pieces.iter().flat_map(|piece| &piece.words).any(|word| word.place.start == at)
    }
}

/// The code between two literals.
enum Between {
    /// It concatenates them.
    Nothing,
    /// It concatenates them with a value.
    Value,
    /// It is something else.
    Other,
}

/// Reads literals to find the sentence of a word.
#[derive(Default)]
struct FormatReader<'t> {
    text: &'t str,
    /// Where the word begins.
    wanted: usize,
    found: FormatString,
    /// Whether a sentence has ended: the next word begins another one.
    is_over: bool,
    /// Whether the wanted sentence has ended.
    is_done: bool,
}

impl FormatReader<'_> {
    fn read(&mut self, from: usize) {
        let text = self.text;
        let mut end = from;
        while let Some(opening) = opening(text, end).filter(|_| !self.is_done) {
            let between = &text[end..opening];
            match kind_between(between) {
                Between::Nothing => {}
                Between::Value => self.value(end..opening),
                Between::Other => {
                    if end > from && is_added_to(between) {
                        self.value(end..end);
                    }
                    self.begin_anew();
                    if self.is_done {
                        return;
                    }
                    if ADDERS.iter().any(|adder| between.trim_end().ends_with(adder.trim_end())) {
                        self.value(opening..opening);
                    }
                }
            }
            end = self.literal(opening);
        }
        if !self.is_done && end > from && is_added_to(&text[end..]) {
            self.value(end..end);
        }
    }

    /// Reads the literal that opens at a place, and returns its end.
    fn literal(&mut self, opening: usize) -> usize {
        let text = self.text;
        let mark = text[opening..].chars().next();
        let close = &text[opening..opening + if opens_block(text, opening) { BLOCK_MARKS } else { 1 }];
        let mut at = opening + close.len();
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            if rest.starts_with(close) {
                return at + close.len();
            } else if let Some(length) = value_at(rest).or_else(|| named_value(text, at)) {
                self.value(at..at + length);
                at += length;
            } else if c == '\\' {
                self.is_over |= rest[1..].starts_with('n');
                at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
            } else if is_word_char(c) {
                let length = rest.find(|c| !is_word_char(c)).unwrap_or(rest.len());
                self.word(at..at + length);
                at += length;
            } else {
                let ends = |next: char| next.is_whitespace() || next == '\\' || Some(next) == mark;
                // A line of a block is a sentence.
                self.is_over |= c == '\n' || (matches!(c, '.' | '!' | '?') && rest[1..].starts_with(ends));
                at += c.len_utf8();
            }
        }
        text.len()
    }

    fn begin_anew(&mut self) {
        self.is_over = false;
        self.is_done |= self.found.holds(self.wanted);
        if !self.is_done {
            self.found = FormatString::default();
        }
    }

    /// Whether to read on. Begins a new sentence if the last one is over.
    fn goes_on(&mut self) -> bool {
        if self.is_over {
            self.begin_anew();
        }
        !self.is_done
    }

    fn word(&mut self, place: Range<usize>) {
        if !self.goes_on() {
            self.found.next.push(place);
            return;
        }
        let value = self.found.value_behind.take();
        let is_behind_value = value.as_ref().is_some_and(|value| value.end == place.start);
        let word = FormatWord { place, is_behind_value, is_before_value: false };
        let piece = self.found.pieces.last_mut().filter(|_| value.is_none());
        if let Some(piece) = piece {
            piece.words.push(word);
        } else {
            self.found.pieces.push(FormatPiece { value, words: vec![word] });
        }
    }

    fn value(&mut self, place: Range<usize>) {
        if !self.goes_on() {
            return;
        }
        let known = self.found.value_behind.take();
        let last = self.found.pieces.last_mut().and_then(|piece| piece.words.last_mut()).filter(|_| known.is_none());
        if let Some(word) = last {
            word.is_before_value = word.place.end == place.start;
        }
        self.found.value_behind = Some(known.map_or(place.start, |known| known.start)..place.end);
    }
}

/// Where the next literal opens: at a quotation mark that is closed on its line.
fn opening(text: &str, from: usize) -> Option<usize> {
    let is_opening = |at: &usize| {
        let mark = text[*at..].chars().next();
        // An apostrophe follows a letter; so does the quote of `f'…'`.
        let front = text[..*at].trim_end_matches(['r', 'R', 'b', 'B', 'u', 'U', 'f', 'F']);
        let is_apostrophe = mark == Some('\'') && front.ends_with(is_word_char);
        !is_apostrophe && (is_closed(&text[at + 1..], mark) || opens_block(text, *at))
    };
    text[from..].match_indices(['"', '\'', '`']).map(|(at, _)| from + at).find(is_opening)
}

/// Whether the quotation mark at `at` opens a literal of several lines: three marks after something that takes a value.
/// At the beginning of a line they may close one, or enclose documentation.
fn opens_block(text: &str, at: usize) -> bool {
    let is_mark = |mark: &str| text[at..].starts_with(mark);
    let front = text[..at].trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end_matches([' ', '\t']);
    ["\"\"\"", "'''"].into_iter().any(is_mark) && front.ends_with(['=', '(', ',', '[', '+'])
}

/// Whether a quotation mark is on the first line of a text, or on the next if a backslash joins them.
fn is_closed(text: &str, mark: Option<char>) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '\n' => return false,
            _ if Some(c) == mark => return true,
            _ => {}
        }
    }
    false
}

fn kind_between(text: &str) -> Between {
    // The letter of `f"…"`.
    let inner = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let inner = if text.len() - inner.len() <= 2 { inner.trim() } else { text.trim() };
    let is_joint = |c: char| c.is_whitespace() || matches!(c, '+' | '.' | '&' | '<' | '>' | '\\' | '|');
    if inner.chars().all(is_joint) {
        return Between::Nothing;
    }
    let is_between =
        |adder: &&str| inner.starts_with(*adder) && inner.len() > adder.len() && inner.ends_with(adder.trim_end());
    let is_short = inner.len() <= VALUE_BYTES_MAX && !inner.contains(';') && inner.contains(is_word_char);
    if is_short && ADDERS.iter().chain(&[","]).any(is_between) { Between::Value } else { Between::Other }
}

/// Whether the code after a literal appends a value to it.
fn is_added_to(behind: &str) -> bool {
    ADDERS.iter().any(|adder| behind.trim_start().starts_with(*adder))
}

/// Length of the placeholder that a text begins with: `{name}`, `#{name}`, `${name}`, `\(name)`, `$name`, `%s`.
fn value_at(text: &str) -> Option<usize> {
    let opens = ["#{", "${", "\\(", "{"].iter().find(|opens| text.starts_with(**opens));
    if let Some(opens) = opens {
        return closing(text, opens.len() - 1);
    }
    let is_end = |c: char| !is_word_char(c);
    if let Some(name) = text.strip_prefix('$') {
        let length = name.find(is_end).unwrap_or(name.len());
        return (length > 0).then_some(1 + length);
    }
    let spec = text.strip_prefix('%')?;
    let named = if spec.starts_with('(') { closing(spec, 0)? } else { 0 };
    let is_flag = |byte: u8| byte.is_ascii_digit() || b"-+#.*$hlzj".contains(&byte);
    let flags = spec[named..].bytes().take_while(|byte| is_flag(*byte)).count();
    let kind = spec.as_bytes().get(named + flags)?;
    b"sdiuxXofFeEgGcbBpqtTvwrRaA@".contains(kind).then_some(1 + named + flags + 1)
}

/// Length of the placeholder `:name` at a place of a literal, if it begins a word.
fn named_value(text: &str, at: usize) -> Option<usize> {
    let name = text[at..].strip_prefix(':').filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let begins = text[..at].ends_with(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | '['));
    begins.then(|| 1 + name.find(|c| !is_word_char(c)).unwrap_or(name.len()))
}

/// The offset after the bracket that closes the one at `at`, on its line.
fn closing(text: &str, at: usize) -> Option<usize> {
    let open = *text.as_bytes().get(at)?;
    let close = if open == b'{' { b'}' } else { b')' };
    let mut depth = 0usize;
    for (i, byte) in text.bytes().enumerate().skip(at).take(VALUE_BYTES_MAX) {
        match byte {
            b'\n' => return None,
            _ if byte == open => depth += 1,
            _ if byte == close && depth == 1 => return Some(i + 1),
            _ if byte == close => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that agree, and the first matching line.
    fn filled(text: &str, file: &str) -> Option<(usize, String)> {
        let typed = PastedText::new(text, |_| 1.0);
        let places = words(file).filter_map(|place| typed.filled_around(file, &place, 8));
        let best = places.max_by_key(|filled| filled.words)?;
        Some((best.words, file[best.place].lines().next().unwrap_or_default().to_string()))
    }

    #[test]
    fn pieces_on_both_sides_of_a_value_count_together() {
        for (file, text, words) in [
            ("fail(\"Command \\\"%s\\\" is ambiguous.\\nDid you mean %s?\")", "Command \"17\" is ambiguous.", 3),
            (
                "log \"- W #{w.index} (PID: #{pid}) up in #{at}s, phase: #{p}\"",
                "- W 0 (PID: 7) up in 0.02s, phase: 0",
                5,
            ),
            ("log(\"--> END ${r.method} (${b.size()}-byte body)\")", "--> END POST (42-byte body)", 3),
            ("fail('no key ' + name + ' in this map')", "no key foo in this map", 5),
            ("echo 'no key ' . $name . ' in this map';", "no key foo in this map", 5),
            ("\"to be {amount, unit} tuple, \" <>\n  \"got: #{x}\"", "to be {amount, unit} tuple, got: 80", 6),
            ("warn(\n  f\"{name} is not a function.\"\n  f\" Please mend it.\")", "foo is not a function.", 4),
            ("throw E(\"Failed to connect to ${x.y}\").z {", "Failed to connect to example.com", 4),
            ("print(\"bad char \\(c) in name\")", "bad char x in name", 4),
            ("fail(\"bad option: \" + name)", "bad option: foo", 2),
            ("it(\"doesn't\", 'has {} of %d items')", "has 3 of 4 items", 3),
            ("'min' => 'The :name field is at least :min.'", "The size field is at least 3.", 5),
            ("fail(\"no key {} in this map\")", "no key a.b.c/d.e.f/g.h.i in this map", 5),
            ("NO_KEY = \"\"\"\\\nno key {} in: {}\n\nUsage: map\n\"\"\"", "no key foo in: map", 3),
        ] {
            assert_eq!(filled(text, file).map(|found| found.0), Some(words), "{text}");
        }
    }

    #[test]
    fn what_lacks_a_word_of_the_sentence_or_holds_no_value_is_no_agreement() {
        for (file, text) in [
            ("fail(\"no key {} in this map\")", "no key foo in a far away place"),
            ("fail(\"no key {} in this map\")", "no key foo of this map"),
            ("fail(\"no key in this map\")", "no key in this map"),
            ("// no key {} in this map", "no key foo in this map"),
            ("run(\"no key\", \"in this map\")", "no key foo in this map"),
            ("fail(\"no key {} in this map\")", "no key a b c d e f g h i in this map"),
            ("    \"\"\"\n    No key {}\n    in this map.\n    \"\"\"", "no key foo in this map"),
            ("fail(\"no key::name in 10 :30 map\")", "no key foo in 10 12 map"),
        ] {
            assert!(filled(text, file).is_none(), "{text} in {file}");
        }
    }

    #[test]
    fn placeholders_are_told() {
        for (text, length) in [
            ("{} b", 2),
            ("#{a[{}]} b", 8),
            ("${a} b", 4),
            ("\\(a(b)) c", 7),
            ("$a b", 2),
            ("%-3d b", 4),
            ("%(a)s b", 5),
            ("%1$s b", 4),
        ] {
            assert_eq!(value_at(text), Some(length), "{text}");
        }
        for text in ["% b", "100", "$ b", "{ b", "\\n b", "%"] {
            assert_eq!(value_at(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_in_any_file_ends(text in "[a-c0 é漢%]{0,20}", file in "[a-c \"'`%s{}#$+,.\\\\\né漢]{0,80}") {
            if let Some((agreed, _)) = filled(&text, &file) {
                assert!(agreed <= words(&text).count());
            }
        }
    }
}
