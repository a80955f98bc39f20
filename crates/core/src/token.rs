//! The identifier-aware tokenizer, shared by indexing and queries.
//!
//! A word is a run of letters, digits and underscores, split into parts at underscores, case changes, acronym ends and
//! digits; a word of several parts also gives a compound of them all. A number at the beginning of a word stays whole.
//! An index also has joins: neighbouring parts that people write as one word (`inet6` of `AF_INET6`, `grpc` of
//! `gRPCDial`). Runs of CJK text give bigrams. Alphabetic tokens longer than three letters are stemmed with Porter2 (M.
//! Porter, "The English (Porter2) stemming algorithm", snowballstem.org).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashSet;

use crate::fold::{folded, is_mark, push_folded};

/// Words longer than this are data (hashes, base64), not names. In bytes.
const WORD_BYTES_MAX: usize = 256;
/// Maximum of stems that one [`Tokenizer`] caches; then the cache is cleared.
const CACHE_LEN_MAX: usize = 50_000;
/// Maximum of parts in a segment with joins: longer segments are data.
const PARTS_OF_A_SEGMENT_MAX: usize = 8;
/// Maximum of parts in a join, unless it is a whole segment.
const PARTS_OF_A_JOIN_MAX: usize = 4;
/// A part of at most this many letters may belong to its neighbour: `My|SQL`, `O|Auth`, `mac|OS`.
const LETTERS_OF_A_SHORT_PART: usize = 2;

/// English words that carry no information about code: glue and question words, no technical words.
static STOP_WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    "a an and are as at be by do does for from has have how if in into is it its not of on or that the their them \
     then this these those to via using use uses used was were what when where which who why with between"
        .split_whitespace()
        .collect()
});

/// Whether a lower-case word is a stop word.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The normalised term.
    pub term: &'a str,
    /// Byte offset of its text.
    pub start: usize,
    /// Byte offset of the end of its text.
    pub end: usize,
    /// Position: parts count up, a compound or join shares its first part's.
    pub position: usize,
    /// Whether it is made of several parts: a whole word, or a join.
    pub compound: bool,
}

/// Turns text into tokens. Caches stems, so keep one per thread.
pub struct Tokenizer {
    stemmer: Stemmer,
    /// For each word its position among the stems.
    known: HashMap<Box<str>, usize, RandomState>,
    stems: Vec<Box<str>>,
    lower: String,
    /// The parts of the current word.
    parts: Vec<Range<usize>>,
}

/// Whether to include joins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joins {
    With,
    Without,
}

impl Default for Tokenizer {
    fn default() -> Self {
        let (known, stems, lower, parts) = (HashMap::default(), Vec::new(), String::new(), Vec::new());
        Tokenizer { stemmer: Stemmer::create(Algorithm::English), known, stems, lower, parts }
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tokenizer({} stems known)", self.stems.len())
    }
}

impl Tokenizer {
    /// Calls `sink` with the compounds and parts of `text`, in order, a compound before its parts. For queries; a text is
    /// indexed with joins too ([`Tokenizer::tokenize_text`]).
    pub fn tokenize(&mut self, text: &str, sink: impl FnMut(Token<'_>)) {
        self.tokenize_some(text, Joins::Without, |_| true, sink);
    }

    /// Calls `sink` with every token of `text` for an index, in order of position.
    pub fn tokenize_text(&mut self, text: &str, sink: impl FnMut(Token<'_>)) {
        self.tokenize_some(text, Joins::With, |_| true, sink);
    }

    /// The same for tokens that may be one of these terms, and some others; avoids stemming the rest.
    pub fn tokenize_among(&mut self, text: &str, terms: &Initials, sink: impl FnMut(Token<'_>)) {
        self.tokenize_some(text, Joins::With, |word| terms.may_begin(word), sink);
    }

    fn tokenize_some(
        &mut self,
        text: &str,
        joins: Joins,
        is_wanted: impl Fn(&str) -> bool,
        mut sink: impl FnMut(Token<'_>),
    ) {
        let mut position = 0;
        for word in words(text) {
            let offset = word.start;
            let word = &text[word];
            if word.len() > WORD_BYTES_MAX {
                position += 1;
                continue;
            }
            // Most words have one part, and need no look for others.
            if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                if is_wanted(word) {
                    let term = self.normal(word);
                    sink(Token { term, start: offset, end: offset + word.len(), position, compound: false });
                }
                position += 1;
                continue;
            }
            if word.chars().next().is_some_and(is_cjk) {
                for bigram in bigrams(word) {
                    let (start, end) = (offset + bigram.start, offset + bigram.end);
                    let term = self.normal(&word[bigram]);
                    sink(Token { term, start, end, position, compound: false });
                    position += 1;
                }
                continue;
            }
            let mut parts = std::mem::take(&mut self.parts);
            parts.clear();
            parts.extend(parts_of_word(word));
            let mut send = |at: Range<usize>, position: usize, compound: bool| {
                if is_wanted(&word[at.clone()]) {
                    let (start, end) = (offset + at.start, offset + at.end);
                    let term = self.normal(&word[at]);
                    sink(Token { term, start, end, position, compound });
                }
            };
            let is_compound = parts.len() > 1;
            let whole = trimmed(word);
            if is_compound {
                send(whole.clone(), position, true);
            }
            for (at, part) in parts.iter().enumerate() {
                if is_compound && joins == Joins::With {
                    each_join(word, &parts, at, |join| {
                        if join != whole {
                            send(join, position + at, true);
                        }
                    });
                }
                send(part.clone(), position + at, false);
            }
            position += parts.len();
            self.parts = parts;
        }
    }

    /// The term for one part or compound: lower case, stemmed if it is alphabetic and longer than three letters.
    pub fn normal(&mut self, word: &str) -> &str {
        self.lower.clear();
        if word.is_ascii() {
            self.lower.push_str(word);
            self.lower.make_ascii_lowercase();
            if self.lower.len() <= 3 || !self.lower.bytes().all(|b| b.is_ascii_lowercase()) {
                return &self.lower;
            }
        } else {
            push_folded(word, &mut self.lower);
            if self.lower.chars().count() <= 3 || !self.lower.chars().all(char::is_alphabetic) {
                return &self.lower;
            }
        }
        if let Some(at) = self.known.get(self.lower.as_str()) {
            return &self.stems[*at];
        }
        if self.stems.len() >= CACHE_LEN_MAX {
            self.known.clear();
            self.stems.clear();
        }
        self.known.insert(self.lower.as_str().into(), self.stems.len());
        self.stems.push(self.stemmer.stem(&self.lower).into_owned().into_boxed_str());
        &self.stems[self.stems.len() - 1]
    }

    /// Every term of `text`, compounds included, in order.
    pub fn terms(&mut self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.tokenize(text, |t| terms.push(t.term.to_string()));
        terms
    }

    /// The terms of the parts of `text`, compounds left out, in order.
    pub fn part_terms(&mut self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.tokenize(text, |t| {
            if !t.compound {
                terms.push(t.term.to_string());
            }
        });
        terms
    }
}

/// The letters that some terms begin with. A term begins like its word, in lower case, since stemming changes only
/// ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Initials {
    /// A bit per ASCII character.
    ascii: u128,
}

impl Initials {
    pub fn of<'t>(terms: impl Iterator<Item = &'t str>) -> Initials {
        let firsts = terms.filter_map(|term| term.bytes().next()).filter(u8::is_ascii);
        Initials { ascii: firsts.fold(0, |ascii, first| ascii | 1 << first) }
    }

    /// Whether the term of a word may be one of the terms. Always true for words with non-ASCII letters, where stripped
    /// marks may change the first letter.
    fn may_begin(self, word: &str) -> bool {
        let begins = |first: u8| first.is_ascii() && self.ascii >> first.to_ascii_lowercase() & 1 == 1;
        word.bytes().next().is_none_or(begins) || !word.is_ascii()
    }
}

/// Whether it can be part of a word: a letter with its marks, a digit or an underscore, in any script.
pub fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric() || is_mark(c)
}

/// Scripts written without spaces: Han, Hiragana, Katakana, Hangul.
fn is_cjk(c: char) -> bool {
    matches!(c as u32,
        0x1100..=0x11FF | 0x2E80..=0x2FDF | 0x3040..=0x30FF | 0x3130..=0x318F | 0x31F0..=0x31FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0xFF66..=0xFFDC | 0x20000..=0x3FFFF)
}

/// For each byte whether it is a word character of ASCII.
const IS_WORD: [bool; 256] = {
    let mut is_word = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        is_word[byte] = byte as u8 == b'_' || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    is_word
};

/// A text of two or three words as one name, in lower case: `threadpool`, `thread_pool` and `thread-pool` for "thread
/// pool". Empty for any other text.
pub fn spellings(text: &str) -> Vec<String> {
    let words: Vec<String> = words(text).map(|word| folded(&text[word]).into_owned()).collect();
    match words.len() {
        2 | 3 => ["", "_", "-"].map(|between| words.join(between)).to_vec(),
        _ => Vec::new(),
    }
}

/// The words of `text`: runs of word characters, cut where CJK begins or ends.
pub fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        while at < bytes.len() {
            let b = bytes[at];
            if IS_WORD[usize::from(b)] {
                break;
            }
            if b.is_ascii() {
                at += 1;
            } else {
                let c = text[at..].chars().next()?;
                if is_word_char(c) {
                    break;
                }
                at += c.len_utf8();
            }
        }
        let start = at;
        let cjk = !bytes.get(at)?.is_ascii() && text[at..].chars().next().is_some_and(is_cjk);
        while at < bytes.len() {
            let b = bytes[at];
            if !cjk && IS_WORD[usize::from(b)] {
                at += 1;
            } else if b.is_ascii() {
                break;
            } else {
                let c = text[at..].chars().next()?;
                if !is_word_char(c) || is_cjk(c) != cjk {
                    break;
                }
                at += c.len_utf8();
            }
        }
        Some(start..at)
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Upper,
    Lower,
    Digit,
    /// Belongs to the character that it follows.
    Mark,
    Other,
}

fn class_of(c: char) -> CharClass {
    if c.is_ascii() {
        match c {
            'a'..='z' => CharClass::Lower,
            'A'..='Z' => CharClass::Upper,
            '0'..='9' => CharClass::Digit,
            _ => CharClass::Other,
        }
    } else if c.is_uppercase() {
        CharClass::Upper
    } else if c.is_alphabetic() {
        CharClass::Lower
    } else if c.is_numeric() {
        CharClass::Digit
    } else if is_mark(c) {
        CharClass::Mark
    } else {
        CharClass::Other
    }
}

/// Where a word is without the underscores around it.
fn trimmed(word: &str) -> Range<usize> {
    let start = word.len() - word.trim_start_matches('_').len();
    start..word.trim_end_matches('_').len().max(start)
}

/// The parts of a word of a text: those of [`parts`], but for a word that begins with a digit, the whole word if it is
/// a number, else its first segment if that is one.
fn parts_of_word(word: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let segment = word.find('_').unwrap_or(word.len());
    let number = match is_number(&word[..segment]) {
        true if word[segment..].bytes().all(|byte| byte == b'_' || byte.is_ascii_hexdigit()) => word.len(),
        true => segment,
        false => 0,
    };
    let first = (number > 0).then_some(0..number);
    first.into_iter().chain(parts(&word[number..]).map(move |part| number + part.start..number + part.end))
}

/// Whether a segment is one number rather than a mix of letters and digits: `0x81ceb32c`, `3d`, `10u32`, but not
/// `3dModel`.
fn is_number(segment: &str) -> bool {
    let is_hexadecimal = || segment.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'X'));
    let is_hump =
        |bytes: &[u8]| bytes[0].is_ascii_alphabetic() && bytes[1].is_ascii_uppercase() && bytes[2].is_ascii_lowercase();
    let begins = segment.starts_with(|c: char| c.is_ascii_digit());
    begins && (is_hexadecimal() || !segment.as_bytes().windows(3).any(is_hump))
}

/// Calls `visit` with each join that begins with the part at `first`: the rest of a segment between underscores, where
/// it begins with this part, and neighbours that may be one word.
fn each_join(word: &str, parts: &[Range<usize>], first: usize, mut visit: impl FnMut(Range<usize>)) {
    let is_joined = |at: usize| parts[at - 1].end == parts[at].start;
    let mut begin = first;
    while begin > 0 && is_joined(begin) {
        begin -= 1;
    }
    let mut end = first + 1;
    while end < parts.len() && is_joined(end) {
        end += 1;
    }
    if end - first < 2 || end - begin > PARTS_OF_A_SEGMENT_MAX {
        return;
    }
    let mut is_loose = true;
    for last in first + 1..end {
        is_loose &= may_be_one(&word[parts[last - 1].clone()], &word[parts[last].clone()]);
        let is_segment = first == begin && last + 1 == end;
        if is_segment || (is_loose && last - first < PARTS_OF_A_JOIN_MAX) {
            let join = parts[first].start..parts[last].end;
            // Stems of acronyms keep their plural.
            let acronym =
                word[join.clone()].strip_suffix('s').filter(|one| one.bytes().all(|b| b.is_ascii_uppercase()));
            visit(join.clone());
            if acronym.is_some() {
                visit(join.start..join.end - 1);
            }
        }
    }
}

/// Whether case and digits allow two neighbouring parts to be one word: one of them is short or a number, or the second
/// is an acronym.
fn may_be_one(first: &str, second: &str) -> bool {
    let is_number = |part: &str| part.starts_with(char::is_numeric);
    let is_short = |part: &str| part.chars().nth(LETTERS_OF_A_SHORT_PART).is_none();
    let is_acronym = second.chars().nth(1).is_some() && second.chars().all(char::is_uppercase);
    is_number(first) || is_number(second) || is_short(first) || is_short(second) || is_acronym
}

/// Whether a part of an identifier may begin at `at`: at case changes, digits, and before the `s` of several acronyms
/// (`PDFs`).
pub(crate) fn is_cut(text: &str, at: usize) -> bool {
    let (Some(before), Some(behind)) = (text[..at].chars().next_back(), text[at..].chars().next()) else { return true };
    let mut rest = text[at..].chars().skip(1);
    let next = rest.next().map_or(CharClass::Other, class_of);
    match (class_of(before), class_of(behind)) {
        (CharClass::Other, _) | (_, CharClass::Other) => true,
        (_, CharClass::Mark) => false,
        (CharClass::Mark, class) => class != CharClass::Lower,
        (CharClass::Upper, CharClass::Upper) => next == CharClass::Lower,
        (CharClass::Upper, CharClass::Lower) => behind == 's' && next != CharClass::Lower,
        (a, b) => a != b,
    }
}

/// The parts of a word: `parseHTTPRequest2` → `parse` `HTTP` `Request` `2`.
pub fn parts(word: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut chars = word.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) =
            chars.by_ref().find(|(_, c)| !matches!(class_of(*c), CharClass::Other | CharClass::Mark))?;
        let mut end = start + first.len_utf8();
        let class = class_of(first);
        let mut run = class;
        let mut upper_len = usize::from(class == CharClass::Upper);
        while let Some(&(i, c)) = chars.peek() {
            let next = class_of(c);
            match (run, next) {
                (_, CharClass::Mark) => {}
                (a, b) if a == b => {
                    if b == CharClass::Upper {
                        // The last capital of an acronym belongs to the word that follows it.
                        let mut ahead = chars.clone();
                        ahead.next();
                        if upper_len >= 1 && ahead.peek().is_some_and(|(_, c)| class_of(*c) == CharClass::Lower) {
                            break;
                        }
                        upper_len += 1;
                    }
                }
                (CharClass::Upper, CharClass::Lower) if upper_len == 1 => run = CharClass::Lower,
                _ => break,
            }
            end = i + c.len_utf8();
            chars.next();
        }
        Some(start..end)
    })
}

/// Overlapping pairs of characters, each with its marks; a single character gives itself.
fn bigrams(word: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    // The vowels and final consonants of a decomposed Hangul syllable belong to its first consonant.
    let is_first = |c: char| !is_mark(c) && !matches!(c as u32, 0x1160..=0x11FF);
    let firsts = word.char_indices().filter(|(i, c)| *i == 0 || is_first(*c)).map(|(i, _)| i);
    let bounds: Vec<usize> = firsts.chain([word.len()]).collect();
    let width = 2.min(bounds.len() - 1);
    (0..bounds.len() - width).map(move |i| bounds[i]..bounds[i + width])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Only tokens that are not among the terms are left out, and the others keep their positions.
        #[test]
        fn tokens_among_some_terms(text in "([a-zA-Z0-9_ .ÀÉßKéΑδ語]|dying|skies|Youth|[a-z]{3,9}){0,30}", seed in any::<prop::sample::Index>()) {
            let mut tokenizer = Tokenizer::default();
            let mut all = Vec::new();
            tokenizer.tokenize_text(&text, |t| all.push(t.term.to_string()));
            let wanted: Vec<&str> = if all.is_empty() { Vec::new() } else { all.iter().skip(seed.index(all.len())).take(3).map(String::as_str).collect() };
            let mut of = |among: bool| {
                let mut tokens = Vec::new();
                let keep = |t: Token<'_>| if wanted.contains(&t.term) { tokens.push((t.term.to_string(), t.start, t.end, t.position, t.compound)) };
                match among {
                    true => tokenizer.tokenize_among(&text, &Initials::of(wanted.iter().copied()), keep),
                    false => tokenizer.tokenize_text(&text, keep),
                }
                tokens
            };
            prop_assert_eq!(of(true), of(false));
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(Tokenizer::default().terms(text).join(" "), expected, "terms of {text:?}");
    }

    #[test]
    fn identifiers_split_into_parts_and_compounds() {
        for (text, expected) in [
            ("parseRequest", "parserequest pars request"),
            ("parse_request", "parse_request pars request"),
            ("HTTPServer", "httpserver http server"),
            ("parseHTTPRequest2", "parsehttprequest2 pars http request 2"),
            ("utf8", "utf8 utf 8"),
            ("__init__", "init"),
            ("_private", "privat"),
            ("MAX_LEN", "max_len max len"),
            ("a.b->c", "a b c"),
            ("dependency dependencies", "depend depend"),
            ("X", "x"),
            ("iOS", "ios i os"),
            ("", ""),
            ("___", ""),
            ("größeÄndern", "größeändern größe ändern"),
            ("搜索引擎", "搜索 索引 引擎"),
            ("abc搜", "abc 搜"),
            ("running-tests", "run test"),
            ("0x81ceB32c 1_000 3d", "0x81ceb32c 1_000 3d"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn texts_have_joins_of_parts_that_people_write_as_one_word() {
        let joins = |text: &str| {
            let (mut tokenizer, mut found) = (Tokenizer::default(), Vec::new());
            let own = tokenizer.terms(text);
            tokenizer.tokenize_text(text, |token| found.push(token.term.to_string()));
            found.retain(|term| !own.contains(term));
            found.join(" ")
        };
        for (text, expected) in [
            ("AF_INET6", "inet6"),
            ("API_V2_handler", "v2"),
            ("toMP3", "tomp mp3"),
            ("my_2nd_try", "2nd"),
            ("USE_LIBSSH2", "libssh2"),
            ("isIPv4", "isi isipv ipv ipv4 pv4"),
            ("is_3d", "3d"),
            ("retry_4xx", "4xx"),
            ("SHA_256", ""),
            ("gRPCDial", "grpc"),
            ("OAuthToken", "oauth"),
            ("open2FADialog", "open2 open2fa 2fa 2fadialog fadialog"),
            ("MySQLConnect", "mysql"),
            ("GraphQLClient", "graphql qlclient"),
            ("my_exportPDFs", "exportpd exportpdf pdfs pdf"),
            ("listVMs", "listv vms vm"),
            ("URLs", ""),
            ("useMacOS", "maco"),
            ("parse_httpRequest_now", "httprequest"),
            ("WebSocketServer", ""),
            ("max_open_files", ""),
            ("3dModel", "3d dmodel"),
            ("parseRequest", ""),
            ("a1b2c3d4e5f6_x", ""),
        ] {
            let joins = joins(text);
            assert_eq!(joins, expected, "{text}");
        }
    }

    #[test]
    fn a_text_gives_the_same_terms_in_every_unicode_form() {
        for (one, other) in [
            ("café_menu", "cafe\u{301}_menu"),
            ("größeÄndern", "gro\u{308}ßeA\u{308}ndern"),
            ("οδος", "ΟΔΟΣ"),
            ("한글날", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}\u{1102}\u{1161}\u{11af}"),
            ("ガラス", "カ\u{3099}ラス"),
        ] {
            let mut tokenizer = Tokenizer::default();
            assert_eq!(tokenizer.terms(one), tokenizer.terms(other), "{one}");
        }
    }

    #[test]
    fn words_are_stemmed_and_short_ones_and_names_with_digits_are_not() {
        check("scaling scaled scales", "scale scale scale");
        check("policies policy", "polici polici");
        check("pods has v1beta1s", "pod has v1beta1s v 1 beta 1 s");
    }

    #[test]
    fn words_over_256_bytes_are_left_out() {
        let word = |length: usize| "x".repeat(length);
        check(&word(256), &word(256));
        check(&format!("{} y", word(257)), "y");
    }

    #[test]
    fn a_compound_shares_the_position_of_its_first_part() {
        let mut seen = Vec::new();
        Tokenizer::default().tokenize("aB cd eF", |t| seen.push((t.term.to_string(), t.position, t.start..t.end)));
        let expected = [
            ("ab", 0, 0..2),
            ("a", 0, 0..1),
            ("b", 1, 1..2),
            ("cd", 2, 3..5),
            ("ef", 3, 6..8),
            ("e", 3, 6..7),
            ("f", 4, 7..8),
        ];
        assert_eq!(seen, expected.map(|(t, p, r)| (t.to_string(), p, r)));
    }

    #[test]
    fn a_few_words_are_spelled_as_one_name() {
        assert_eq!(spellings("Thread pool"), ["threadpool", "thread_pool", "thread-pool"]);
        assert_eq!(spellings("read to end?")[1], "read_to_end");
        for text in ["", "pool", "how does a pool work"] {
            assert!(spellings(text).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn tokens_lie_in_the_text_and_positions_never_fall(text in "\\PC{0,60}") {
            let mut last = 0;
            Tokenizer::default().tokenize(&text, |t| {
                assert!(t.start < t.end && t.end <= text.len());
                assert!(text.is_char_boundary(t.start) && text.is_char_boundary(t.end));
                assert!(t.position >= last && !t.term.is_empty());
                last = t.position;
            });
        }

        #[test]
        fn snake_and_camel_have_the_same_parts(a in "[a-z]{2,8}", b in "[a-z]{2,8}") {
            let camel = format!("{a}{}{}", b[..1].to_uppercase(), &b[1..]);
            let mut t = Tokenizer::default();
            prop_assert_eq!(t.part_terms(&format!("{a}_{b}")), t.part_terms(&camel));
        }

        #[test]
        fn parts_hold_every_letter_and_digit(word in "[A-Za-z0-9_]{0,30}") {
            let joined: String = parts(&word).map(|r| &word[r]).collect();
            prop_assert_eq!(joined, word.replace('_', ""));
        }
    }
}
