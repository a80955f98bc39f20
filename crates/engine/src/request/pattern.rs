//! Patterns over lines, matched by ripgrep's engine.

use std::io::{self, Cursor, Read};
use std::ops::{Deref, Range};
use std::path::Path;

use colgrep_index::beneath::TreeFolder;
use colgrep_index::signature::Needed;
use colgrep_index::store::FileRecord;
use colgrep_search::Stops;
use colgrep_syntax::read::Utf16Order;
use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, SearcherBuilder, sinks};
use rayon::prelude::*;

use crate::error::{Refused, Result};
use crate::request::Pattern;
use crate::request::required_literals::needed;

/// Bytes at the beginning that identify an encoding.
const HEAD_BYTES: usize = 8 << 10;
/// Longest line that is searched, with its context; a stream without line ends would fill the memory.
const LINE_BYTES_MAX: usize = 1 << 30;

/// The matcher of a pattern, over single lines or across them.
#[derive(Clone, Debug)]
pub struct LineMatcher {
    regex: RegexMatcher,
    multiline: bool,
    needed: Needed,
}

impl LineMatcher {
    /// Whether matches may go across lines.
    pub fn is_multiline(&self) -> bool {
        self.multiline
    }

    /// The text that a file needs for a match.
    pub fn needed(&self) -> &Needed {
        &self.needed
    }
}

impl Deref for LineMatcher {
    type Target = RegexMatcher;

    fn deref(&self) -> &RegexMatcher {
        &self.regex
    }
}

/// The matcher of a pattern.
///
/// # Errors
/// On an invalid pattern, with the place of the fault.
pub fn matcher(pattern: &Pattern) -> Result<LineMatcher> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(pattern.ignore_case)
        .case_smart(pattern.smart_case)
        .whole_line(pattern.line)
        .word(pattern.word)
        .fixed_strings(pattern.fixed)
        // `^` and `$` match at each line, also in a buffer of many lines.
        .multi_line(true)
        // `$` matches before the whole line end, be it \n or \r\n. The engine has no way to it that leaves a lone \r to
        // the text.
        .crlf(true);
    if let Some(bytes) = pattern.size_max {
        builder.size_limit(bytes as usize).dfa_size_limit(bytes as usize);
    }
    if pattern.multiline {
        // No byte ends lines for the matcher.
        builder.line_terminator(None);
    }
    let expressions = &pattern.expressions;
    let built = builder.build_many(expressions).or_else(|error| match error.kind() {
        // If the pattern itself asks for \r, lines end in \n alone and \r is text.
        ErrorKind::NotAllowed(_) => builder.crlf(false).line_terminator(Some(b'\n')).build_many(expressions),
        _ => Err(error),
    });
    let multiline = pattern.multiline;
    built.map(|regex| LineMatcher { regex, multiline, needed: needed(pattern) }).map_err(|error| {
        // Blame the expression that fails by itself; if only the combination fails, report all.
        let like =
            |other: &grep_regex::Error| std::mem::discriminant(other.kind()) == std::mem::discriminant(error.kind());
        let is_at_fault = |one: &&String| builder.build_many(&[one]).is_err_and(|other| like(&other));
        let text = match &expressions[..] {
            [one] => one.clone(),
            several => several.iter().find(is_at_fault).cloned().unwrap_or_else(|| several.join("|")),
        };
        let refused = match error.kind() {
            ErrorKind::NotAllowed(_) => Refused::LineEnd { pattern: text },
            _ if pattern.fixed => Refused::Text { text, source: error.into() },
            _ => Refused::Pattern { pattern: text, source: error.into() },
        };
        refused.into()
    })
}

/// The range of the first match in a line that is not empty.
pub fn first_place(matcher: &RegexMatcher, line: &[u8]) -> Option<Range<usize>> {
    let mut first = None;
    // The matcher itself never fails.
    let _ = matcher.find_iter(line, |found| {
        first = (!found.is_empty()).then(|| found.start()..found.end());
        first.is_none()
    });
    first
}

/// Ranges of matches in a line, without empty matches (`x*`).
pub fn places(matcher: &impl Matcher, line: &[u8]) -> Vec<Range<usize>> {
    let mut places = places_and_empty(matcher, line);
    places.retain(|place| !place.is_empty());
    places
}

/// Ranges of matches in a line, those without text (`$`, `x*`) too.
pub fn places_and_empty(matcher: &impl Matcher, line: &[u8]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let _ = matcher.find_iter(line, |m| {
        places.push(m.start()..m.end());
        true
    });
    places
}

/// The line terminator for a pattern: a byte that the pattern can match does not end lines.
pub fn line_end(matcher: &impl Matcher) -> LineTerminator {
    matcher.line_terminator().unwrap_or_default()
}

/// A searcher of lines for a pattern, numbered, to be built with more options.
pub fn searcher(matcher: &LineMatcher) -> SearcherBuilder {
    searcher_of(line_end(&**matcher), matcher.multiline)
}

/// A searcher of lines that end like this, and of matches across lines.
pub fn searcher_of(line_end: LineTerminator, multiline: bool) -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        .line_number(true)
        .line_terminator(line_end)
        .multi_line(multiline)
        // As in grep: text before a NUL byte is searched; a match after it is only reported.
        .binary_detection(BinaryDetection::convert(0));
    if !multiline {
        builder.heap_limit(Some(LINE_BYTES_MAX));
    }
    builder
}

/// A reader of a file in any encoding that is searched: UTF-16 without a byte order mark gets one, by which a searcher
/// knows it.
pub fn marked<R: Read>(reader: R) -> MarkedReader<R> {
    MarkedReader { reader, front: None }
}

/// See [`marked`].
#[derive(Debug)]
pub struct MarkedReader<R> {
    reader: R,
    /// What is still to be given of the beginning, once that was read.
    front: Option<Cursor<Vec<u8>>>,
}

impl<R: Read> Read for MarkedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let front = match &mut self.front {
            Some(front) => front,
            None => {
                let mut head = vec![0; HEAD_BYTES];
                let length = self.reader.read(&mut head)?;
                head.truncate(length);
                if let Some(order) = Utf16Order::of(&head) {
                    head.splice(0..0, order.mark());
                }
                self.front.insert(Cursor::new(head))
            }
        };
        match front.read(buffer)? {
            0 if !buffer.is_empty() => self.reader.read(buffer),
            length => Ok(length),
        }
    }
}

/// The numbers of matching lines in each file, until `stops` is true; none for a file that can't be read.
pub(crate) fn lines_in_files(
    matcher: &LineMatcher,
    root: &Path,
    files: &[&FileRecord],
    stops: Stops<'_>,
) -> Vec<Vec<u32>> {
    let tree = TreeFolder::open(root).ok();
    let of_file = |record: &&FileRecord| {
        let mut lines = Vec::new();
        if stops() {
            return lines;
        }
        let Some(file) = tree.as_ref().and_then(|tree| tree.file(Path::new(&record.path)).ok()) else { return lines };
        let sink = sinks::Bytes(|line, _| {
            lines.push(line as u32);
            Ok(true)
        });
        let _ = searcher(matcher).build().search_reader(&**matcher, marked(file), sink);
        lines
    };
    files.par_iter().map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use colgrep_index::signature::{Sought, signature};

    use super::*;
    use crate::request::SERVED_PATTERN_BYTES_MAX;

    #[test]
    fn a_pattern_of_others_is_bounded_before_it_is_compiled() {
        let large = r"(\w{100}){100}";
        let refused = matcher(&Pattern::served(large)).expect_err("too large").full();
        assert!(refused.contains(&SERVED_PATTERN_BYTES_MAX.to_string()), "{refused}");
        for usual in [r"fn \w+\(", r"\b[A-Z]\w{3,20}Error\b", r"(?i)todo|fixme", r"\w{20}"] {
            matcher(&Pattern::served(usual)).expect(usual);
        }
    }

    #[test]
    fn whatever_matches_passes() {
        let texts = [
            "fn parse_request(input: &str)",
            "FN PARSE_REQUEST",
            "StraSSe straße STRAẞE",
            "bac\u{212A}off\u{17F} Backoffs",
            "xyz\r\nabc",
            "aaaa bbbb",
            "\u{feff}parse",
            "tab\there",
            "0x1F 0X1f",
            "ＡＢ",
            "ab\0cdparse_request",
            "",
        ];
        let patterns = [
            "parse_request",
            "(?i)parse_request",
            "straße",
            "backoffs",
            r"\w+_request",
            "(parse|lex)_(request|reply)",
            "z$",
            "^abc",
            "a{4}",
            "a{2,} b{3,}",
            r"\x66n",
            "[[:alpha:]]+",
            r"\bparse",
            "0x1f",
            "ｂ",
            ".",
            r"(?-u)\xc3\x9f",
            "(?x) parse _ request",
            "x|y|parse",
            "(parse_(request|reply)){1}",
            "cdparse",
            "b.*c",
        ];
        let mut matched = 0;
        for (expression, case) in patterns.iter().flat_map(|p| (0..5).map(move |case| (p, case))) {
            let pattern = Pattern {
                ignore_case: case == 1,
                smart_case: case == 2,
                word: case == 3,
                line: case == 4,
                ..Pattern::new(*expression)
            };
            let matcher = matcher(&pattern).expect("a pattern");
            let sought = Sought::new(matcher.needed());
            for text in texts.iter().filter(|text| matcher.is_match(text.as_bytes()).expect("an answer")) {
                let signed = signature(text.as_bytes());
                assert!(sought.may_match(signed.is_long, |gram| signed.has(gram)), "{pattern:?} in {text:?}");
                matched += 1;
            }
        }
        assert!(matched > 100, "{matched}");
    }
}
