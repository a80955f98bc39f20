//! Prints the matches of one file.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use colgrep_engine::pattern::{line_end, places};
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::escape::escape_line;
use super::json::Line;
use super::path::plain;
use super::style::{self, paint};
use super::{Format, Options};

/// What a plain grep gives of lines.
#[derive(Clone, Debug, Default)]
pub struct LineOptions {
    /// Lines that do not match.
    pub invert: bool,
    /// Only what matches, each match on a line.
    pub only_matching: bool,
    /// Lines of each file, at most.
    pub max_count: Option<u64>,
    /// Only the names of files in which nothing matches.
    pub files_without_match: bool,
    /// No messages about files that can't be read.
    pub no_messages: bool,
    /// Files, at most.
    pub files: Option<usize>,
}

/// A file to search.
pub struct Target {
    /// Path to open; none for standard input.
    pub full: Option<PathBuf>,
    /// Path to show: as it was given.
    pub shown: PathBuf,
}

/// The output of one file.
#[derive(Default)]
pub struct Lines {
    /// Whether anything matched.
    pub any: bool,
    /// Whether a match lies behind a NUL byte.
    pub binary: bool,
    /// Whether it could not be read to its end.
    pub failed: bool,
    /// Whether its name has a line of its own.
    pub heading: bool,
    /// Whether lines are shown, and not only the name or a number.
    pub shows_lines: bool,
    /// What is printed.
    pub text: Vec<u8>,
    /// Rows of JSON.
    pub rows: Vec<Line>,
}

/// Writes one file's matches.
pub struct Printer<'a> {
    options: &'a Options,
    of_lines: &'a LineOptions,
    matcher: &'a RegexMatcher,
    file: &'a Target,
    /// Absolute path, once it is asked for.
    full: OnceLock<String>,
    count: u64,
    binary_from: Option<u64>,
    /// Whether this file is finished. With `-v` the searcher may still call.
    ended: bool,
    lines: Lines,
}

impl<'a> Printer<'a> {
    /// For one file.
    pub fn new(
        options: &'a Options,
        of_lines: &'a LineOptions,
        matcher: &'a RegexMatcher,
        file: &'a Target,
    ) -> Printer<'a> {
        let (full, lines) = (OnceLock::new(), Lines::default());
        Printer { options, of_lines, matcher, file, full, count: 0, binary_from: None, ended: false, lines }
    }

    /// The file's absolute path.
    fn full(&self) -> &str {
        self.full.get_or_init(|| {
            let Some(path) = &self.file.full else { return self.file.shown.to_string_lossy().into_owned() };
            let full = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_default();
            plain(&full.to_string_lossy(), std::path::MAIN_SEPARATOR)
        })
    }

    /// What was found.
    pub fn into_lines(mut self) -> Lines {
        let counted = self.options.wish.count && self.count > 0;
        let without = self.of_lines.files_without_match && !self.lines.any;
        if counted || without {
            if self.options.wish.format.is_json() {
                let count = if counted { Some(self.count) } else { None };
                self.lines.rows.push(Line::of_file(self.full().to_string(), count));
            } else {
                let end = if counted { format!("{}\n", self.count) } else { String::new() };
                let separator = if self.options.wish.null {
                    "\0"
                } else if counted {
                    ":"
                } else {
                    "\n"
                };
                let _ = self.name(1);
                let _ = write!(self.lines.text, "{separator}{end}");
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
        let bytes = self.trim_end(bytes);
        self.lines.shows_lines = true;
        if self.options.look.heading {
            if !self.lines.heading {
                self.lines.heading = true;
                self.name(number)?;
                self.lines.text.write_all(if self.options.wish.null { b"\0" } else { b"\n" })?;
            }
        } else {
            self.name(number)?;
            let separator = if self.options.wish.null { '\0' } else { separator };
            write!(self.lines.text, "{separator}")?;
        }
        paint(&mut self.lines.text, style::LINE, self.options.look.color, number.to_string())?;
        write!(self.lines.text, "{separator}")?;
        if let Some(column) = column {
            write!(self.lines.text, "{column}{separator}")?;
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
        self.lines.text.write_all(b"\n")
    }

    /// Takes a match; returns whether to go on.
    fn take(&mut self, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.lines.any = true;
        self.count += 1;
        if self.options.wish.silent || self.of_lines.files_without_match {
            return Ok(false);
        }
        if self.options.wish.count {
            return Ok(true);
        }
        if self.options.wish.names_only {
            if self.options.wish.format.is_json() {
                self.lines.rows.push(Line::of_file(self.full().to_string(), None));
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
        let line = self.trim_end(found.bytes());
        let vimgrep = self.options.wish.format == Format::Vimgrep;
        // Column and text of each row: one row a line, or one a match.
        let rows: Vec<(usize, &[u8])> = match (self.of_lines.only_matching, vimgrep && !self.of_lines.invert) {
            (true, _) => places(self.matcher, line).into_iter().map(|p| (p.start, &line[p])).collect(),
            (_, true) => places(self.matcher, line).into_iter().map(|p| (p.start, line)).collect(),
            _ => Vec::new(),
        };
        let whole = [(0, line)];
        for &(start, text) in if rows.is_empty() && !self.of_lines.only_matching { &whole[..] } else { &rows } {
            if self.options.wish.format.is_json() {
                let text = Some(String::from_utf8_lossy(text).into_owned());
                let row = Line { line: Some(number), text, ..Line::of_file(self.full().to_string(), None) };
                self.lines.rows.push(row);
            } else {
                self.line(number, ':', text, vimgrep.then_some(start + 1))?;
            }
        }
        Ok(true)
    }

    /// A line without its end.
    fn trim_end<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line_end(self.matcher).is_crlf() { line.strip_suffix(b"\r").unwrap_or(line) } else { line }
    }
}

impl Sink for &mut Printer<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.ended = self.ended || !self.take(found)?;
        Ok(!self.ended)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let only_names = self.options.wish.names_only || self.of_lines.files_without_match || self.options.wish.silent;
        let is_binary = self.binary_from.is_some_and(|from| context.absolute_byte_offset() >= from);
        if !only_names && !is_binary {
            self.line(context.line_number().unwrap_or(0), '-', context.bytes(), None)?;
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.lines.shows_lines && !self.of_lines.only_matching {
            writeln!(self.lines.text, "--")?;
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> io::Result<bool> {
        self.binary_from.get_or_insert(offset);
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> io::Result<()> {
        Ok(())
    }
}
