//! Prints the matches of one file.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use colgrep_engine::request::pattern::{line_end, places, places_and_empty};
use colgrep_index::beneath::TreeFolder;
use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::escape::escape_line;
use super::json::Line;
use super::path::absolute_name;
use super::style::{self, paint};
use super::{Format, LineLocation, OutputOptions};

/// Bytes that a row of JSON counts besides its text.
const ROW_BYTES: usize = 256;

/// Options of a plain grep.
#[derive(Clone, Debug, Default)]
pub struct LineOptions {
    /// Lines that do not match.
    pub invert: bool,
    /// Only the matching parts of lines, each on a line.
    pub only_matching: bool,
    /// Maximum number of lines of each file.
    pub max_count: Option<u64>,
    /// Only the names of files in which nothing matches.
    pub files_without_match: bool,
    /// No binary files, unless they were named.
    pub text_only: bool,
    /// No messages about files that can't be read.
    pub no_messages: bool,
    /// Maximum number of files.
    pub files: Option<usize>,
}

/// A folder whose files are searched, open.
#[derive(Debug)]
pub struct WalkedFolder {
    pub path: PathBuf,
    pub tree: TreeFolder,
}

pub struct SearchedFile {
    /// Path to open; none for standard input.
    pub full: Option<PathBuf>,
    /// The folder that it has to lie in, if it was found below one: it is opened there, through no link.
    pub around: Option<Arc<WalkedFolder>>,
    /// Path to show: as it was given.
    pub shown: PathBuf,
    /// Whether it was named itself, rather than a folder around it.
    pub is_named: bool,
}

impl SearchedFile {
    /// Opens the file at its path.
    ///
    /// # Errors
    /// When it can't be opened, or is no longer in the folder around it.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        let Some(around) = &self.around else { return File::open(path) };
        let full;
        let inside = match path.strip_prefix(&around.path) {
            Ok(inside) => inside,
            Err(_) => {
                full = std::path::absolute(path)?;
                full.strip_prefix(&around.path).map_err(io::Error::other)?
            }
        };
        around.tree.file(inside)
    }
}

impl WalkedFolder {
    /// Opens a folder.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn open(path: &Path) -> io::Result<Arc<WalkedFolder>> {
        Ok(Arc::new(WalkedFolder { path: path.to_path_buf(), tree: TreeFolder::open(path)? }))
    }
}

/// The output of one file, or a part of it.
#[derive(Default)]
pub struct FileOutput {
    /// Whether an earlier part precedes it.
    pub continued: bool,
    /// Whether a later part follows it.
    pub goes_on: bool,
    /// Whether anything matched.
    pub any: bool,
    /// Whether a match follows a NUL byte.
    pub binary: bool,
    /// Whether it could not be read to its end.
    pub failed: bool,
    /// Whether its name has a line of its own.
    pub heading: bool,
    /// Whether lines are shown, and not only the name or a number.
    pub shows_lines: bool,
    pub text: Vec<u8>,
    pub rows: Vec<Line>,
    rows_bytes: usize,
}

impl FileOutput {
    /// Whether there is something to print or to say, or it is the last of several parts.
    pub fn tells_something(&self) -> bool {
        self.continued || self.any || self.failed || self.binary || !self.text.is_empty() || !self.rows.is_empty()
    }

    /// Bytes that it occupies.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.rows_bytes
    }

    fn add_row(&mut self, row: Line) {
        self.rows_bytes += ROW_BYTES + row.text.as_ref().map_or(0, String::len);
        self.rows.push(row);
    }
}

/// Takes a part of the output; returns whether more is wanted.
type PartSink<'a> = dyn FnMut(FileOutput) -> bool + 'a;

/// Writes one file's matches.
pub struct MatchPrinter<'a, M> {
    options: &'a OutputOptions,
    of_lines: &'a LineOptions,
    matcher: &'a M,
    file: &'a SearchedFile,
    /// Absolute path, once it is asked for.
    full: OnceLock<String>,
    count: u64,
    /// Matches that the searcher gave.
    given: u64,
    binary_from: Option<u64>,
    /// Whether this file is finished. With `-v` the searcher may still call.
    ended: bool,
    /// The size at which a part is handed over, in bytes, and what takes it.
    parts: Option<(usize, &'a mut PartSink<'a>)>,
    lines: FileOutput,
}

impl<'a, M: Matcher> MatchPrinter<'a, M> {
    /// A printer for one file.
    pub fn new(
        options: &'a OutputOptions,
        of_lines: &'a LineOptions,
        matcher: &'a M,
        file: &'a SearchedFile,
    ) -> MatchPrinter<'a, M> {
        let (full, lines) = (OnceLock::new(), FileOutput::default());
        MatchPrinter {
            options,
            of_lines,
            matcher,
            file,
            full,
            count: 0,
            given: 0,
            binary_from: None,
            ended: false,
            parts: None,
            lines,
        }
    }

    /// The same, but what is printed is handed over whenever it is more than `bytes`.
    pub fn in_parts(self, bytes: usize, sink: &'a mut PartSink<'a>) -> MatchPrinter<'a, M> {
        MatchPrinter { parts: Some((bytes, sink)), ..self }
    }

    /// Hands over what is printed so far, if it is enough for a part.
    fn hand_over(&mut self) {
        let Some((bytes, sink)) = &mut self.parts else { return };
        if self.lines.bytes() <= *bytes {
            return;
        }
        let FileOutput { any, heading, shows_lines, .. } = self.lines;
        let rest = FileOutput { continued: true, any, heading, shows_lines, ..FileOutput::default() };
        let part = FileOutput { goes_on: true, ..std::mem::replace(&mut self.lines, rest) };
        self.ended = !sink(part);
    }

    /// The file's absolute path.
    fn full(&self) -> &str {
        self.full.get_or_init(|| {
            let Some(path) = &self.file.full else { return self.file.shown.to_string_lossy().into_owned() };
            absolute_name(path)
        })
    }

    /// Whether the file is left out if it contains a NUL byte. As in ripgrep, this applies to unnamed files where only
    /// names or numbers are printed; also where only text is wanted, since images can match anything.
    fn skips_binary(&self) -> bool {
        let wish = &self.options.wish;
        let tells_no_line = wish.names_only || wish.count || wish.silent || self.of_lines.files_without_match;
        (tells_no_line || self.of_lines.text_only) && !self.file.is_named
    }

    /// Ends the file and returns its output.
    pub fn into_lines(mut self) -> FileOutput {
        if self.binary_from.is_some() && self.skips_binary() {
            return FileOutput { continued: self.lines.continued, ..FileOutput::default() };
        }
        let counted = self.options.wish.count && self.count > 0;
        let without = self.of_lines.files_without_match && !self.lines.any;
        if counted || without {
            if self.options.wish.format.is_json() {
                let count = if counted { Some(self.count) } else { None };
                let row = Line::of_file(self.full().to_string(), count);
                self.lines.add_row(row);
            } else {
                // As in ripgrep, a list of names has names whatever else is asked for.
                if without || !self.options.wish.no_name {
                    let _ = self.name(1);
                    let separator = match (self.options.wish.null, counted) {
                        (true, _) => "\0",
                        (false, true) => ":",
                        (false, false) => "\n",
                    };
                    self.lines.text.extend(separator.as_bytes());
                }
                if counted {
                    let _ = writeln!(self.lines.text, "{}", self.count);
                }
            }
        }
        if let (true, Some(offset)) = (self.lines.binary && !self.options.wish.format.is_json(), self.binary_from) {
            // Ripgrep's wording; on stdout, as in grep.
            let _ = self.name(1);
            let told = format!(": binary file matches (found \"\\0\" byte around offset {offset})\n");
            self.lines.text.extend(told.as_bytes());
        }
        if self.of_lines.files_without_match {
            self.lines.any = without;
        }
        self.lines
    }

    fn name(&mut self, line: u64) -> io::Result<()> {
        let mut name = Vec::new();
        if self.options.wish.null {
            name.extend(self.file.shown.as_os_str().as_encoded_bytes());
        } else {
            self.options.look.write_name(&mut name, &self.file.shown, self.full(), line as usize)?;
        }
        self.lines.text.write_all(&name)
    }

    /// Writes a part of a line: its own bytes, or, for a terminal, text with control characters escaped.
    fn text(&mut self, style: anstyle::Style, color: bool, bytes: &[u8]) -> io::Result<()> {
        match self.options.look.width {
            Some(_) => paint(&mut self.lines.text, style, color, escape_line(&String::from_utf8_lossy(bytes))),
            None => paint(&mut self.lines.text, style, color, bytes),
        }
    }

    fn line(&mut self, number: u64, separator: char, bytes: &[u8], column: Option<usize>) -> io::Result<()> {
        let whole = without_newline(bytes);
        let bytes = self.trim_end(whole);
        self.lines.shows_lines = true;
        if self.options.look.heading && !self.lines.heading {
            self.lines.heading = true;
            self.name(number)?;
            self.lines.text.write_all(if self.options.wish.null { b"\0" } else { b"\n" })?;
        }
        let full = if self.options.look.links.are_none() { String::new() } else { self.full().to_string() };
        let spot = LineLocation { name: &self.file.shown, full: &full, line: number as usize, column, separator };
        self.options.write_spot(&mut self.lines.text, &spot)?;
        if self.options.wish.line_bytes_max.is_some_and(|most| bytes.len() > most) {
            // Ripgrep's wording.
            let what = if separator == ':' { "matching" } else { "context" };
            return writeln!(self.lines.text, "[Omitted long {what} line]");
        }
        let mut at = 0;
        if separator == ':' && self.options.look.color {
            for place in places(self.matcher, bytes) {
                self.text(style::MATCH, false, &bytes[at..place.start])?;
                self.text(style::MATCH, true, &bytes[place.clone()])?;
                at = place.end;
            }
        }
        self.text(style::MATCH, false, &bytes[at..])?;
        if self.options.look.width.is_none() {
            // A line is printed verbatim; on a terminal its `\r` would show as an escape.
            self.lines.text.write_all(&whole[bytes.len()..])?;
        }
        self.lines.text.write_all(b"\n")
    }

    /// Prints a line of context; returns whether to go on.
    fn around(&mut self, number: Option<u64>, offset: u64, line: &[u8]) -> io::Result<bool> {
        let only_names = self.options.wish.names_only || self.of_lines.files_without_match || self.options.wish.silent;
        let is_binary = self.binary_from.is_some_and(|from| offset >= from);
        if !only_names && !is_binary && !self.ended {
            self.line(number.unwrap_or(0), '-', line, None)?;
            self.hand_over();
        }
        Ok(!self.ended)
    }

    /// Takes a match; returns whether to go on.
    fn take(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.lines.any = true;
        // Where matches cross lines, the searcher gives those that touch each other as one.
        let crosses = searcher.multi_line_with_matcher(self.matcher);
        let whole = if crosses { found.bytes() } else { self.trim_end(found.bytes()) };
        let counts_matches = self.of_lines.only_matching || crosses && !self.of_lines.invert;
        self.count += if counts_matches { places_and_empty(self.matcher, whole).len() as u64 } else { 1 };
        if self.options.wish.silent || self.of_lines.files_without_match {
            return Ok(false);
        }
        if self.options.wish.count {
            return Ok(true);
        }
        if self.options.wish.names_only {
            if self.options.wish.format.is_json() {
                let row = Line::of_file(self.full().to_string(), None);
                self.lines.add_row(row);
            } else {
                self.name(found.line_number().unwrap_or(1))?;
                self.lines.text.write_all(if self.options.wish.null { b"\0" } else { b"\n" })?;
            }
            return Ok(false);
        }
        if self.binary_from.is_some_and(|from| found.absolute_byte_offset() + found.bytes().len() as u64 > from) {
            self.lines.binary = true;
            return Ok(false);
        }
        let number = found.line_number().unwrap_or(0);
        let bytes = without_newline(found.bytes());
        let mut rows = self.rows(whole, bytes);
        if rows.is_empty() && !self.of_lines.only_matching {
            rows = MatchedText::of(bytes).lines(0..bytes.len()).collect();
        }
        let shows_column =
            self.options.wish.format == Format::Vimgrep || (self.options.wish.column && !self.of_lines.invert);
        for MatchRow { line, start, text } in rows {
            let number = number + line as u64;
            let column = shows_column.then(|| start.unwrap_or(0) + 1);
            if self.options.wish.format.is_json() {
                let text = Some(String::from_utf8_lossy(self.trim_end(text)).into_owned());
                let column = column.filter(|_| self.options.wish.column);
                let row = Line::of_file(self.full().to_string(), None);
                self.lines.add_row(Line { line: Some(number), column, text, ..row });
            } else {
                self.line(number, ':', text, column)?;
            }
            self.hand_over();
            if self.ended {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The rows of a match, which may be of several lines: one for each line, or for each match. `bytes` is what the
    /// pattern sees of `lines`.
    fn rows<'l>(&self, bytes: &'l [u8], lines: &'l [u8]) -> Vec<MatchRow<'l>> {
        let vimgrep = self.options.wish.format == Format::Vimgrep;
        if !(self.of_lines.only_matching || (vimgrep || self.options.wish.column) && !self.of_lines.invert) {
            return Vec::new();
        }
        if self.of_lines.only_matching {
            let shown = |place: Range<usize>| place.start..place.start + self.trim_end(&bytes[place]).len();
            let mut text = MatchedText::of(bytes);
            return places(self.matcher, bytes).into_iter().flat_map(|place| text.lines(shown(place))).collect();
        }
        let places = places_and_empty(self.matcher, bytes);
        let mut rows: Vec<MatchRow<'l>> = Vec::new();
        for whole in MatchedText::of(lines).lines(0..lines.len()) {
            let from = whole.text.as_ptr() as usize - lines.as_ptr() as usize;
            let end = from + whole.text.len();
            let begins = places.partition_point(|p| p.start < from)..places.partition_point(|p| p.start <= end);
            let begins = places[begins].iter();
            let mut own: Vec<MatchRow<'l>> =
                begins.map(|p| MatchRow { start: Some(p.start - from), ..whole }).collect();
            if !vimgrep {
                own.truncate(1);
                // A line that continues a match has its column at its own beginning.
                own = if own.is_empty() { vec![whole] } else { own };
            }
            rows.append(&mut own);
        }
        rows
    }

    fn trim_end<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let line = without_newline(line);
        if line_end(self.matcher).is_crlf() { line.strip_suffix(b"\r").unwrap_or(line) } else { line }
    }
}

/// A line without `\n`; a `\r` before it stays.
fn without_newline(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// A line of a match, or the part of the match in it.
#[derive(Clone, Copy)]
struct MatchRow<'l> {
    /// Lines from the first of the match.
    line: usize,
    /// Where in the line a match begins, in bytes.
    start: Option<usize>,
    text: &'l [u8],
}

/// A text whose matches are visited in order, so that lines before each are counted only once.
struct MatchedText<'l> {
    bytes: &'l [u8],
    /// How far lines are counted.
    at: usize,
    /// Lines that end before that.
    line: usize,
    /// Where the line there begins.
    begin: usize,
}

impl<'l> MatchedText<'l> {
    fn of(bytes: &'l [u8]) -> MatchedText<'l> {
        MatchedText { bytes, at: 0, line: 0, begin: 0 }
    }

    /// The parts of `range` in each line; ranges must come in order.
    fn lines(&mut self, range: Range<usize>) -> impl Iterator<Item = MatchRow<'l>> + use<'l> {
        let bytes = self.bytes;
        let passed = &bytes[self.at..range.start];
        if let Some(last) = passed.iter().rposition(|b| *b == b'\n') {
            self.line += passed.iter().filter(|b| **b == b'\n').count();
            self.begin = self.at + last + 1;
        }
        self.at = range.start;
        let (first, column) = (self.line, range.start - self.begin);
        let parts = bytes[range].split(|b| *b == b'\n').enumerate();
        parts.map(move |(i, text)| MatchRow { line: first + i, start: Some(if i == 0 { column } else { 0 }), text })
    }
}

impl<M: Matcher> Sink for &mut MatchPrinter<'_, M> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.given += 1;
        // Behind the last one that is wanted, a match is context like other lines.
        if self.of_lines.max_count.is_some_and(|most| self.given > most) {
            return self.around(found.line_number(), found.absolute_byte_offset(), found.bytes());
        }
        self.ended = self.ended || !self.take(searcher, found)?;
        Ok(!self.ended)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.around(context.line_number(), context.absolute_byte_offset(), context.bytes())
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.lines.shows_lines {
            writeln!(self.lines.text, "--")?;
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> io::Result<bool> {
        self.binary_from.get_or_insert(offset);
        Ok(!self.skips_binary())
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same for one match, counted from the beginning of the text.
    fn from_the_beginning(bytes: &[u8], range: Range<usize>) -> Vec<(usize, usize, &[u8])> {
        let mut rows = Vec::new();
        let (mut line, mut begin) = (0, 0);
        for text in bytes.split(|b| *b == b'\n') {
            let (from, to) = (range.start.max(begin), range.end.min(begin + text.len()));
            if from <= to {
                rows.push((line, from - begin, &bytes[from..to]));
            }
            (line, begin) = (line + 1, begin + text.len() + 1);
        }
        rows
    }

    #[test]
    fn matches_one_after_the_other_are_placed_as_each_alone() {
        let text = "ab\ncd ef\n\n\nx\ny z ab ab ab\nend".as_bytes();
        let all = |step: usize, length: usize| {
            (0..text.len()).step_by(step).map(move |from| from..text.len().min(from + length))
        };
        for (step, length) in [(1, 0), (1, 1), (2, 2), (3, 2), (5, 5), (7, 7), (40, 40)] {
            let mut later = MatchedText::of(text);
            for range in all(step, length) {
                let rows: Vec<_> = later.lines(range.clone()).map(|row| (row.line, row.start, row.text)).collect();
                let expected = from_the_beginning(text, range.clone());
                let expected: Vec<_> = expected.into_iter().map(|(line, at, text)| (line, Some(at), text)).collect();
                assert_eq!(rows, expected, "{range:?}");
            }
        }
    }
}
