//! A name in any of its spellings: `max_open_files`, `max-open-files`, `maxOpenFiles`, `MAX_OPEN_FILES`, "max open files";
//! and a path of names (`pool.max.size`) joined in one: `POOL_MAX_SIZE`, `poolMaxSize`.

use std::ops::Range;

use memchr::{memchr_iter, memchr2_iter};
use serde::{Deserialize, Serialize};

use crate::code_line::KeyPath;
use crate::fold::folded;
use crate::token::{is_cut, is_word_char, parts, words};

/// Joiners in a row that are skipped.
const JOINERS_MAX: usize = 2;

/// Minimum of digits in a number whose thousands may be apart: shorter ones are ports, years and the like.
const DIGITS_MIN: usize = 5;
const THOUSAND: usize = 3;
/// Marks between the names of a path.
const DOTS: [char; 2] = ['.', '/'];

/// Whether a mark separates the thousands of a number.
fn is_mark(c: char) -> bool {
    matches!(c, '_' | ',' | '\'')
}

/// A text to search regardless of case, Unicode normalisation and, if it is a name, joiners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The text as typed, folded.
    text: String,
    /// The letters and digits of a name, folded.
    letters: String,
    /// Where its parts begin in `letters`; a blank, a dot or a slash may separate them, too.
    cuts: Vec<usize>,
    /// Where the names of a path begin in `letters`, but for the first: a joiner or a change of case shows it.
    dots: Vec<usize>,
    /// Whether it is a number, whose parts are thousands: `1000000`, `1_000_000`, `1,000,000`, `1'000'000`.
    is_number: bool,
}

/// How exactly a text holds a name, least first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NameFit {
    /// Not at all, or only inside a word: `port` in `import`.
    #[default]
    Inside,
    /// Apart: `max-open` in `max.open`; or joined: `max.open` in `max-open`.
    Apart,
    /// As parts of a longer identifier: `port` in `open_port`.
    Part,
    /// As a whole word, in any spelling: `open-port` in `openPort()`.
    Whole,
}

/// Where a spelling occurs in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelled {
    /// The line, from 1.
    pub line: u32,
    /// Whether it begins and ends where parts of an identifier do: `mysql` in `MySQLConnect`, not `port` in `import`.
    pub is_cut: bool,
}

impl Spelling {
    /// The spellings of a text; only the text itself if it is not a name.
    pub fn new(text: &str) -> Spelling {
        let text = text.trim();
        let is_joiner = |c: char| matches!(c, '_' | '-' | ' ');
        let is_name = |text: &str| {
            let of_names =
                text.chars().all(|c| is_word_char(c) || is_joiner(c)) && text.chars().any(char::is_alphabetic);
            of_names && !text.starts_with(is_joiner) && !text.ends_with(is_joiner)
        };
        let is_path = !text.contains(' ') && text.split(DOTS).all(is_name);
        let mut spelling = Spelling::of_text(text);
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let is_of_number = |c: char| c.is_ascii_digit() || is_mark(c);
        let is_number = digits.len() >= DIGITS_MIN && text.chars().all(is_of_number);
        if is_number && !text.starts_with(is_mark) && !text.ends_with(is_mark) {
            let first = digits.len() % THOUSAND;
            spelling.cuts = (0..digits.len()).filter(|at| at % THOUSAND == first || *at == 0).collect();
            (spelling.letters, spelling.is_number) = (digits, true);
        }
        if is_name(text) || is_path {
            for name in text.split(DOTS) {
                if !spelling.letters.is_empty() {
                    spelling.dots.push(spelling.letters.len());
                }
                for word in words(name).map(|word| &name[word]) {
                    for part in parts(word) {
                        spelling.cuts.push(spelling.letters.len());
                        spelling.letters.push_str(&folded(&word[part]));
                    }
                }
            }
        }
        spelling
    }

    /// The text itself, in any case.
    pub fn of_text(text: &str) -> Spelling {
        Spelling {
            text: folded(text.trim()).into_owned(),
            letters: String::new(),
            cuts: Vec::new(),
            dots: Vec::new(),
            is_number: false,
        }
    }

    /// Whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The parts of a name, or the text: each of them occurs wherever the spelling does.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        let text = if self.letters.is_empty() { &self.text } else { &self.letters };
        let starts = self.cuts.iter().copied().filter(|at| *at > 0);
        let bounds: Vec<usize> = std::iter::once(0).chain(starts).chain([text.len()]).collect();
        (1..bounds.len()).map(move |at| &text[bounds[at - 1]..bounds[at]])
    }

    /// The path of keys that a name of several parts may be.
    pub fn key_path(&self) -> Option<KeyPath> {
        let is_name = !self.is_number && self.cuts.len() > 1;
        is_name.then(|| KeyPath::new(&self.text))
    }

    /// Whether it occurs in a text.
    pub fn stands_in(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// The first line of a text where parts of identifiers are this name, else the first where it is apart, else the first
    /// that contains it.
    pub fn find(&self, text: &str) -> Option<Spelled> {
        let mut best: Option<(NameFit, u32)> = None;
        self.each(text, |line, _, fit| {
            let fit = fit.min(NameFit::Part);
            if best.is_none_or(|(known, _)| fit > known) {
                best = Some((fit, line));
            }
            fit < NameFit::Part
        });
        best.map(|(fit, line)| Spelled { line, is_cut: fit > NameFit::Inside })
    }

    /// How a text holds it at best.
    pub fn fit_in(&self, text: &str) -> NameFit {
        let mut best = NameFit::Inside;
        self.each(text, |_, _, fit| {
            best = best.max(fit);
            best < NameFit::Whole
        });
        best
    }

    /// Calls `visit` with the line, from 1, of each place of a text that holds it, with what is there, and how; until it
    /// returns false.
    pub fn each(&self, text: &str, mut visit: impl FnMut(u32, &str, NameFit) -> bool) {
        if self.is_empty() {
            return;
        }
        // Case shows where parts begin, so a text is folded only if bytes can't be compared.
        let folded = if self.text.is_ascii() { None } else { Some(folded(text)) };
        let text = folded.as_deref().unwrap_or(text);
        let (mut line, mut before) = (1, 0);
        for (place, is_apart) in self.places(text) {
            line += memchr_iter(b'\n', &text.as_bytes()[before..place.start]).count() as u32;
            before = place.start;
            let beside = [text[..place.start].chars().next_back(), text[place.end..].chars().next()];
            let fit = match beside.into_iter().flatten().any(is_word_char) {
                _ if is_apart => NameFit::Apart,
                false => NameFit::Whole,
                true if is_cut(text, place.start) && is_cut(text, place.end) => NameFit::Part,
                true => NameFit::Inside,
            };
            if !visit(line, &text[place], fit) {
                return;
            }
        }
    }

    /// Where it occurs, and whether apart.
    fn places<'s>(&'s self, text: &'s str) -> impl Iterator<Item = (Range<usize>, bool)> + 's {
        let first = self.text.as_bytes().first().copied().unwrap_or_default();
        let starts = memchr2_iter(first, first.to_ascii_uppercase(), text.as_bytes());
        starts.filter_map(move |start| {
            let of_name = || self.end_of_name(text, start);
            let of_text = || Some((self.end_of_text(text, start)?, false));
            // A path as typed is not apart.
            let found = if self.dots.is_empty() { of_name().or_else(of_text) } else { of_text().or_else(of_name) };
            found.map(|(end, is_apart)| (start..end, is_apart))
        })
    }

    /// Where the text ends, if it begins at `start` as typed.
    fn end_of_text(&self, text: &str, start: usize) -> Option<usize> {
        let end = start + self.text.len();
        text.as_bytes().get(start..end)?.eq_ignore_ascii_case(self.text.as_bytes()).then_some(end)
    }

    /// Where the name ends that begins at `start` in some spelling, and whether a blank, a dot or a slash separates its
    /// parts, or it is a path.
    fn end_of_name(&self, text: &str, start: usize) -> Option<(usize, bool)> {
        let (bytes, letters) = (text.as_bytes(), self.letters.as_bytes());
        if letters.is_empty() {
            return None;
        }
        let (mut at, mut next, mut joiners, mut is_apart) = (start, 0, 0, !self.dots.is_empty());
        while next < letters.len() {
            let byte = *bytes.get(at)?;
            if byte.to_ascii_lowercase() == letters[next] {
                if joiners == 0 && self.dots.contains(&next) && !is_cut(text, at) {
                    return None;
                }
                next += 1;
                joiners = 0;
            } else {
                let is_between = self.cuts.contains(&next);
                let is_joiner = match byte {
                    _ if self.is_number => is_between && joiners == 0 && is_mark(byte.into()),
                    b'_' | b'-' => true,
                    // Not the end of a sentence.
                    b' ' => is_between && self.dots.is_empty() && !matches!(bytes[at - 1], b'.' | b'/'),
                    b'.' | b'/' => is_between && joiners == 0,
                    _ => false,
                };
                joiners += 1;
                if joiners > JOINERS_MAX || !is_joiner {
                    return None;
                }
                is_apart |= matches!(byte, b' ' | b'.' | b'/');
            }
            at += 1;
        }
        let is_in_number = || {
            let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
            let is_mark = |at: usize| bytes.get(at).is_some_and(|byte| is_mark((*byte).into()));
            let before = [start.wrapping_sub(2), start.wrapping_sub(1)];
            (is_digit(before[0]) && is_mark(before[1])) || (is_mark(at) && is_digit(at + 1))
        };
        let is_whole = match self.is_number {
            true => at - start == letters.len() || !is_in_number(),
            false => !is_apart || (is_cut(text, start) && is_cut(text, at)),
        };
        is_whole.then_some((at, is_apart))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_found_in_every_spelling() {
        let spellings =
            ["max-open-files", "max_open_files", "maxOpenFiles", "MAX_OPEN_FILES", "max open files", "MaxOpenFiles"];
        for (one, other) in spellings.iter().flat_map(|one| spellings.map(|other| (*one, other))) {
            let found = Spelling::new(one).find(&format!("a\n  {other}: 3\n"));
            assert_eq!(found, Some(Spelled { line: 2, is_cut: true }), "{one} in {other}");
        }
    }

    #[test]
    fn parts_of_identifiers_are_told_from_what_stands_inside_words() {
        for (text, line, expected) in [
            ("inet6", "AF_INET6", Some(true)),
            ("sha256", "SHA-256", Some(true)),
            ("SHA-256", "def sha256sum", Some(true)),
            ("x86-64", "x86_64", Some(true)),
            ("pdf", "exportPDFs", Some(true)),
            ("apis", "listAPIs", Some(true)),
            ("grpc", "gRPCDial", Some(true)),
            ("mysql", "MySQLConnect", Some(true)),
            ("2fa", "open2FADialog", Some(true)),
            ("MISCONF", "misconfigured", Some(false)),
            ("nning", "running", Some(false)),
            ("app.run", "webapp.runner", Some(false)),
            ("app.run", "app_run", Some(true)),
            ("app.run", "my_app_run", Some(true)),
            ("app.run", "apprun", None),
            ("app.run", "the app run", None),
            ("app.run", "webAppRunner", None),
            ("stripe.api.key", "os.environ[\"STRIPE_API_KEY\"]", Some(true)),
            ("spring.datasource.url", "springDatasourceUrl", Some(true)),
            ("spring.data-source.url", "SPRING_DATASOURCE_URL", Some(true)),
            ("spring.datasource.url", "springDatasourceurl", None),
            ("net/tcp", "net_tcp", Some(true)),
            ("é.ß", "É_ß", Some(true)),
            ("1.2", "1_2", None),
            (".env", "_env", None),
            ("app_run", "app.run()", Some(true)),
            ("maxopen", "max open", None),
            ("max_open", "amax open", None),
            ("--line", "__line", None),
            ("1.2", "1,2", None),
            ("1000000", "LIMIT = 1_000_000", Some(true)),
            ("1,000,000", "LIMIT = 1'000'000;", Some(true)),
            ("1_000_000", "LIMIT = 1000000;", Some(true)),
            ("86400", "86,400 s", Some(true)),
            ("86400", "8,64,00", None),
            ("8080", "8_080", None),
            ("12345", "12,345,678", None),
            ("345678", "12,345,678", None),
            ("345678", "f(12,345_678)", None),
            ("max_open_files", "max.open.files=3", Some(true)),
            ("maxOpenFiles", "max.open/files", Some(true)),
            ("max_open", "amax.open", None),
            ("max_open", "max..open", None),
            ("maxopen", "max.open", None),
            ("http2", "HTTP/2", Some(true)),
            ("HTTP2Server", "http/2-server", Some(true)),
            ("tcp_ip", "TCP/IP", Some(true)),
            ("v2", "v.2", Some(true)),
            ("http22", "http/2/2", None),
            ("café_menu", "cafe\u{301}Menu", Some(true)),
            ("cafe\u{301}", "CAFÉ", Some(true)),
            ("οδος", "ΟΔΟΣ", Some(true)),
            ("", "a", None),
        ] {
            assert_eq!(Spelling::new(text).find(line).map(|found| found.is_cut), expected, "{text} in {line}");
        }
        let first = Spelling::new("port").find("import\nsupport\nopen_port\n");
        assert_eq!(first, Some(Spelled { line: 3, is_cut: true }), "a part comes before a match inside a word");
        let first = Spelling::new("app_run").find("app.run()\nx = 1\nmy_app_run()\n");
        assert_eq!(first, Some(Spelled { line: 3, is_cut: true }), "an identifier comes before what is apart");
        assert_eq!(Spelling::new("maxOpen_files").pieces().collect::<Vec<_>>(), ["max", "open", "files"]);
    }

    #[test]
    fn a_whole_word_is_told_from_parts_of_a_longer_one() {
        use NameFit::{Apart, Inside, Part, Whole};
        for (text, line, expected) in [
            ("using", "using System;", Whole),
            ("using", "Using it", Whole),
            ("using", "_charsUsed", Inside),
            ("caring", "scaring", Inside),
            ("port", "open_port(3)", Part),
            ("port", "import openPort", Part),
            ("port", "open_port, port", Whole),
            ("get-value", "getValue()", Whole),
            ("getvalue", "get_value", Whole),
            ("get_value", "getValueOf", Part),
            ("get_value", "the get value", Apart),
            ("get_value", "get.value", Apart),
            ("get_value", "did get. Value is", Inside),
            ("größe", "GRÖSSE Größe", Whole),
            ("pool.size", "pool.size = 3", Whole),
            ("pool.size", "POOL_SIZE, my_pool.size", Part),
            ("pool.size", "POOL_SIZE", Apart),
            ("pool.size", "webpool.size", Inside),
        ] {
            assert_eq!(Spelling::new(text).fit_in(line), expected, "{text} in {line}");
        }
        let mut seen = Vec::new();
        Spelling::new("max_open").each("maxOpen\n\nx MAX-OPEN maxOpens max_open", |line, text, fit| {
            seen.push((line, text.to_string(), fit));
            seen.len() < 3
        });
        let expected = [(1, "maxOpen", Whole), (3, "MAX-OPEN", Whole), (3, "maxOpen", Inside)];
        assert_eq!(seen, expected.map(|(line, text, fit)| (line, text.to_string(), fit)));
    }

    proptest! {
        /// Everything that a case-insensitive text search finds is found.
        #[test]
        fn whatever_stands_there_is_found(text in "[a-zA-Z0-9_ .é-]{0,40}", from in 0..40usize, length in 1..12usize) {
            let chars: Vec<char> = text.chars().collect();
            let (from, to) = (from.min(chars.len()), (from + length).min(chars.len()));
            let part: String = chars[from..to].iter().collect();
            let flipped: String = part.chars().map(|c| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }).collect();
            for typed in [&part, &flipped] {
                let spelling = Spelling::new(typed);
                prop_assert!(spelling.is_empty() || spelling.stands_in(&text), "{:?} in {:?}", typed, text);
            }
        }
    }
}
