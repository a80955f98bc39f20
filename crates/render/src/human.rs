//! Results for people: `path:line:text`, as grep prints them, with more of each unit on demand.

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Result;
use colgrep_core::UnitKind;
use colgrep_engine::Detail;
use colgrep_engine::answer::results::Results;
use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_index::source::read_file;
use colgrep_syntax::read::lines_between;

use super::budget::{RowBudget, TokenBudget};
use super::enclosing::enclosing;
use super::end::write_rule;
use super::escape::escape_control;
use super::highlight::{Styled, Syntaxes};
use super::line::{columns, shown_from, write};
use super::path::{absolute, shown};
use super::style::{self, paint};
use super::{Format, FormatFlag, LineLocation, OutputOptions, explain};

pub const VIMGREP: FormatFlag = FormatFlag {
    name: "vimgrep",
    help: "Print path:line:column:text, one line per unit (with -e alone: per match); the column is that of the first \
           match of -e, or else of a query word",
    excludes: &["files_only", "files_without_match", "count", "content", "queries_from", "pack", "files"],
    detail: Detail::Lines,
    example: ("RingBuffer --vimgrep -k 1", "src/queue/ring.rs:3:12:pub struct RingBuffer {"),
};

/// Prints results and returns how many of them fitted, and whether a part of the next one did; one of the `remarks` may
/// follow.
pub fn print(
    out: &mut impl Write,
    results: &Results<'_>,
    options: &OutputOptions,
    budget: &mut TokenBudget,
    remarks: &[String],
) -> Result<(usize, bool)> {
    let mut under_heading = options.clone();
    under_heading.look.heading = true;
    let is_list = results.is_list;
    let mut printer = HumanPrinter {
        options,
        under_heading,
        syntaxes: None,
        last_heading: None,
        heading_end: 0,
        printed: false,
        is_list,
    };
    let mut rows = RowBudget::new(&options.look, remarks);
    let certain = results.certain();
    for (at, file) in results.iter().enumerate() {
        let mut block = Vec::new();
        if at == certain {
            write_rule(&mut block, options)?;
        }
        printer.heading_end = block.len();
        printer.file(&mut block, &file?)?;
        let whole = block.len();
        if is_list {
            // A file of a list has as many lines as it has units.
            let fitting = rows.take_lines(&block).len();
            let head = printer.heading_end;
            let row = block[head..].iter().position(|b| *b == b'\n').map_or(whole, |end| head + end + 1);
            let least = if at == 0 { row } else { 0 };
            block.truncate(if fitting > head { fitting } else { least });
        } else if !rows.take(&block) && at > 0 {
            return Ok((at, false));
        }
        if budget.take(block.len()) {
            out.write_all(&block)?;
            if block.len() < whole {
                return Ok((at, !block.is_empty()));
            }
        } else {
            // Of the best result, a part is printed if the whole does not fit.
            let part = if at == 0 { budget.take_lines(&block) } else { &[] };
            out.write_all(part)?;
            return Ok((at + usize::from(!part.is_empty()), false));
        }
    }
    Ok((results.len(), false))
}

/// Columns of code that come before a long path, the note on the unit and indentation.
const CODE_COLUMNS: usize = 40;

/// A line of a file, and why it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownRow {
    pub number: usize,
    /// `:` for the line that answers, `=` for the one that names its unit, `-` for the others; as `git grep -p` has it.
    pub separator: char,
}

struct HumanPrinter<'a> {
    options: &'a OutputOptions,
    /// The same, for lines whose file is named on a line above.
    under_heading: OutputOptions,
    syntaxes: Option<Syntaxes>,
    /// The file whose name was printed last, where names have lines of their own.
    last_heading: Option<String>,
    /// Where the rows of a file begin in its block, behind its heading.
    heading_end: usize,
    /// Whether any lines were printed yet.
    printed: bool,
    /// Whether it is a list, whose lines are the definitions themselves.
    is_list: bool,
}

struct PrintedFile<'a> {
    name: PathBuf,
    /// Its absolute path.
    full: String,
    /// Its path from the root.
    path: &'a str,
    /// Its first line.
    head: &'a str,
    /// Its bytes, where they are printed as they are and not all of them are UTF-8.
    bytes: Option<Vec<u8>>,
    /// Its lines up to the last one needed, at their number less one; those before the first one needed are empty.
    lines: Vec<&'a str>,
}

impl PrintedFile<'_> {
    /// The raw bytes of a line, if `text` is that line with invalid bytes replaced.
    fn raw(&self, number: usize, text: &str) -> Option<&[u8]> {
        let line = self.bytes.as_ref()?.split(|b| *b == b'\n').nth(number.checked_sub(1)?)?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (text.contains(char::REPLACEMENT_CHARACTER) && String::from_utf8_lossy(line) == text).then_some(line)
    }
}

impl HumanPrinter<'_> {
    fn file(&mut self, out: &mut Vec<u8>, file: &FileAnswer) -> Result<()> {
        let wish = &self.options.wish;
        let (name, full) = (shown(file), absolute(&file.root, &file.path));
        if wish.names_only {
            // As in ripgrep, a list of names has names whatever else is asked for.
            let is_number_alone = wish.count && wish.no_name;
            if !is_number_alone {
                self.name(out, &name, &full, 1)?;
            }
            if wish.count {
                writeln!(out, "{}{}", if wish.null || is_number_alone { "" } else { ":" }, file.matches)?;
            } else if !wish.null {
                writeln!(out)?;
            }
            return Ok(());
        }
        let (first, end) = self.wanted_lines(file);
        let lines = lines_between(&file.text, first, end, str::lines);
        // In a pipe, lines are printed unchanged; of files elsewhere, only the text is here.
        let is_raw = self.options.look.width.is_none() && file.text.contains(char::REPLACEMENT_CHARACTER);
        let bytes = if is_raw { read_file(&file.root, &file.path, u64::MAX).ok() } else { None };
        let head = file.text.lines().next().unwrap_or("");
        let source = PrintedFile { name, full, path: &file.path, head, bytes, lines };
        let mut seen = HashSet::new();
        for (at, unit) in file.units.iter().enumerate() {
            // A unit and one inside it may answer with the same line.
            if !seen.insert(unit.line.number) && !wish.content {
                continue;
            }
            let also = if at == 0 { file.also_here } else { 0 };
            self.unit(out, &source, unit, also)?;
            if let Some(steps) = &unit.steps {
                paint(out, style::DIM, self.options.look.color, explain::line(steps, unit.score))?;
                writeln!(out)?;
            }
        }
        Ok(())
    }

    /// Writes a file's name, with a NUL byte where that is asked for.
    fn name(&self, out: &mut Vec<u8>, name: &Path, full: &str, line: usize) -> io::Result<()> {
        if self.options.wish.null {
            out.write_all(name.as_os_str().as_encoded_bytes())?;
            return out.write_all(b"\0");
        }
        self.options.look.write_name(out, name, full, line)
    }

    fn unit(&mut self, out: &mut Vec<u8>, source: &PrintedFile<'_>, unit: &UnitAnswer, also: u64) -> Result<()> {
        let OutputOptions { wish, look } = self.options;
        let best = unit.line.number;
        let column = unit.line.column();
        let spot =
            LineLocation { name: &source.name, full: &source.full, line: best, column: Some(column), separator: ':' };
        if wish.format == Format::Vimgrep {
            self.options.write_spot(out, &spot)?;
            let text = &unit.line.text;
            let end = wish.line_bytes_max.map_or(text.len(), |most| text.floor_char_boundary(most));
            match source.raw(best, text).filter(|_| end == text.len()) {
                Some(raw) => out.write_all(raw)?,
                None => write(out, &text[..end], look.width.map(|_| usize::MAX), false, &[], &[])?,
            }
            writeln!(out)?;
            return Ok(());
        }
        let is_new = self.last_heading.as_deref() != Some(&source.full);
        let rows = self.rows(source.lines.len(), unit);
        let has_long_name = has_long_name(self.options, &source.name, rows.last().map_or(best, |row| row.number));
        if (look.heading || has_long_name) && is_new {
            if look.heading && self.last_heading.is_some() {
                writeln!(out)?;
            }
            self.name(out, &source.name, &source.full, best)?;
            if !wish.null {
                writeln!(out)?;
            }
            self.last_heading = Some(source.full.clone());
            self.heading_end = out.len();
        }
        let begin = rows.first().map_or(best, |r| r.number).min(unit.unit.span.line as usize).max(1);
        let end = rows.last().map_or(best, |r| r.number).min(source.lines.len());
        let styles = self.styles(source, begin, end);
        let (before, behind) = self.around();
        let is_one_line = rows.len() == 1 && before.max(behind) == 0 && !wish.content && !look.heading;
        // As in grep, a mark separates groups of lines that are not adjacent; between files, a heading does.
        if before.max(behind) > 0 && self.printed && !(look.heading && is_new) {
            writeln!(out, "--")?;
        }
        self.printed = true;
        let notes = match self.is_list || !is_one_line || wish.lines.is_some() {
            true => Vec::new(),
            false => enclosing(unit, also),
        };
        let text = |row: &ShownRow| match row.number == best {
            true => unit.line.text.as_str(),
            false => source.lines.get(row.number - 1).copied().unwrap_or(""),
        };
        let options = if has_long_name { &self.under_heading } else { self.options };
        let name = (!options.look.heading && !wish.no_name).then_some(source.name.as_path());
        let layout = RowLayout::new((self.options.look.width, CODE_COLUMNS), name, &rows, text, &notes);
        let mut last = None;
        for row in rows {
            if last.is_some_and(|l| row.number > l + 1) && before.max(behind) > 0 {
                writeln!(out, "--")?;
            }
            last = Some(row.number);
            let line = text(&row);
            let styled = row.number.checked_sub(begin).and_then(|i| styles.get(i)).map_or(&[][..], Vec::as_slice);
            let column = spot.column.filter(|_| wish.column && row.separator == ':');
            let spot = LineLocation { line: row.number, column, separator: row.separator, ..spot };
            options.write_spot(out, &spot)?;
            let raw = source.raw(row.number, line).filter(|_| !look.color);
            self.row(out, (row.separator, line, raw), &layout, styled, &unit.line.marks)?;
        }
        Ok(())
    }

    /// Writes the text of a row and the note after it, as the layout has room.
    fn row(
        &self,
        out: &mut Vec<u8>,
        (separator, line, raw): (char, &str, Option<&[u8]>),
        layout: &RowLayout<'_>,
        styled: &[(anstyle::Style, usize)],
        marks: &[Range<usize>],
    ) -> Result<()> {
        let OutputOptions { wish, look } = self.options;
        let end = wish.line_bytes_max.map_or(line.len(), |most| line.floor_char_boundary(most));
        let begin = line.floor_char_boundary(layout.indentation.min(indentation(line)).min(end));
        let found = if separator == ':' { marks } else { &[] };
        let after = |from: usize| -> Vec<Range<usize>> {
            found.iter().map(|mark| mark.start.saturating_sub(from)..mark.end.saturating_sub(from)).collect()
        };
        // Of a cut line, the match is shown, with the colours from there on.
        let cut = layout.code.map_or(0, |columns| shown_from(&line[begin..end], columns, &after(begin)));
        let from = begin + cut;
        let marks = if look.color { after(from) } else { Vec::new() };
        let columns = layout.code.map(|columns| columns - usize::from(cut > 0));
        write!(out, "{}", if cut > 0 { "…" } else { "" })?;
        match raw.filter(|_| from == 0 && end == line.len()) {
            Some(raw) => out.write_all(raw)?,
            None => write(out, &line[from..end], columns, look.color, &behind(styled, from), &marks)?,
        }
        write!(out, "{}", if end < line.len() { "…" } else { "" })?;
        if let Some(note) = layout.note {
            write!(out, "  ")?;
            paint(out, style::DIM, look.color, note)?;
        }
        writeln!(out)?;
        Ok(())
    }

    fn styles(&mut self, source: &PrintedFile<'_>, begin: usize, end: usize) -> Vec<Styled> {
        if !self.options.look.color || begin > end {
            return Vec::new();
        }
        let syntaxes = self.syntaxes.get_or_insert_with(Syntaxes::load);
        syntaxes.styles(source.path, source.head, &source.lines[begin - 1..end])
    }

    /// The numbers of the first and the last line of a file that its units may need.
    fn wanted_lines(&self, file: &FileAnswer) -> (usize, usize) {
        let (before, behind) = self.around();
        let firsts = file.units.iter().map(|one| {
            let named = if one.name_line == 0 { one.line.number } else { one.name_line };
            one.line.number.saturating_sub(before).min(one.unit.span.line as usize).min(named)
        });
        let ends = file
            .units
            .iter()
            .map(|one| one.line.number.saturating_add(behind).max(one.unit.span.end as usize).max(one.name_line));
        (firsts.min().unwrap_or(1), ends.max().unwrap_or(0))
    }

    /// Numbers of context lines before and after each line shown.
    fn around(&self) -> (usize, usize) {
        let wish = &self.options.wish;
        let both = wish.around.unwrap_or(0);
        (wish.before.unwrap_or(both), wish.behind.unwrap_or(both))
    }

    /// The lines shown of a unit, in order; `lines` is the number of known lines of the file.
    fn rows(&self, lines: usize, unit: &UnitAnswer) -> Vec<ShownRow> {
        let OutputOptions { wish, look } = self.options;
        let (best, span) = (unit.line.number, unit.unit.span);
        let (first, end) = (span.line as usize, (span.end as usize).min(lines));
        let (from, to) = match wish.lines {
            _ if wish.content => (first, end),
            // This many lines in all, including the best one.
            Some(count) => (best, end.min(best.saturating_add(count.saturating_sub(1)))),
            None => (best, best),
        };
        let (before, behind) = self.around();
        let (from, to) = (from.min(best.saturating_sub(before)), to.max(best.saturating_add(behind).min(lines)));
        let mut rows: Vec<ShownRow> = (from.max(1)..=to.max(best))
            .filter(|n| *n == best || *n <= lines)
            .map(|number| ShownRow { number, separator: if number == best { ':' } else { '-' } })
            .collect();
        let named = unit.unit.kind != UnitKind::RawCode && !unit.unit.name.is_empty();
        if look.heading && named && unit.name_line < from && unit.name_line <= lines {
            rows.insert(0, ShownRow { number: unit.name_line, separator: '=' });
        }
        rows
    }
}

/// Whether a file's name leaves so little room on the terminal that it gets a line of its own.
pub fn has_long_name(options: &OutputOptions, name: &Path, line: usize) -> bool {
    let OutputOptions { wish, look } = options;
    let is_beside = !look.heading && !wish.no_name && !wish.null && wish.heading.is_none();
    let is_long = |width: usize| width.saturating_sub(location_columns(Some(name), line)) < CODE_COLUMNS.min(width / 2);
    is_beside && look.width.is_some_and(is_long)
}

/// How the rows of a unit share the columns of the terminal: code comes first, then the note, then indentation.
pub struct RowLayout<'a> {
    /// Columns for the code; `None` where lines are not cut.
    pub code: Option<usize>,
    /// Bytes of indentation left out of each row.
    indentation: usize,
    /// The note after the line.
    pub note: Option<&'a str>,
}

impl<'a> RowLayout<'a> {
    /// For a terminal of `width` columns, of which `code_columns` come before the note. `name` is the file's where each row
    /// begins with it; `notes` are the forms of the note, longest first.
    pub fn new<'l>(
        (width, code_columns): (Option<usize>, usize),
        name: Option<&Path>,
        rows: &[ShownRow],
        text: impl Fn(&ShownRow) -> &'l str,
        notes: &'a [String],
    ) -> RowLayout<'a> {
        let longest = notes.first().map(String::as_str);
        let last = rows.last().map_or(1, |row| row.number);
        let Some(width) = width else { return RowLayout { code: None, indentation: 0, note: longest } };
        // A terminal too narrow for the name and the number still shows a little of the line.
        let room = width.saturating_sub(location_columns(name, last)).max(CODE_COLUMNS / 2);
        let taken = |note: &str| columns(note) + "  ".len();
        let most = |from: usize| {
            let of = |row: &ShownRow| columns(text(row).get(from..).unwrap_or("").trim_end());
            rows.iter().map(of).max().unwrap_or(0)
        };
        if most(0) + longest.map_or(0, taken) <= room {
            return RowLayout { code: Some(room - longest.map_or(0, taken)), indentation: 0, note: longest };
        }
        let indented = rows.iter().map(&text).filter(|line| !line.trim().is_empty()).map(indentation);
        let common = indented.min().unwrap_or(0);
        let least = most(common).min(code_columns);
        let note = notes.iter().map(String::as_str).find(|note| least + taken(note) <= room);
        let code = room - note.map_or(0, taken);
        RowLayout { code: Some(code), indentation: if most(0) > code { common } else { 0 }, note }
    }
}

/// Columns of a name, if any, and a number, each with its separator.
pub fn location_columns(name: Option<&Path>, line: usize) -> usize {
    name.map_or(0, |name| columns(&escape_control(&name.to_string_lossy())) + 1) + line.to_string().len() + 1
}

/// Bytes of the white space that a line begins with.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The styles of a line from a byte of it on.
fn behind(styled: &[(anstyle::Style, usize)], from: usize) -> Vec<(anstyle::Style, usize)> {
    let mut before = from;
    let left = styled.iter().map(|(style, length)| {
        let gone = before.min(*length);
        before -= gone;
        (*style, length - gone)
    });
    left.filter(|(_, length)| *length > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_the_columns_before_the_note_and_indentation() {
        let notes = ["[method Queue.push 6-9; also 3 units]".to_string(), "[method Queue.push 6-9]".to_string()];
        let row = [ShownRow { number: 7, separator: ':' }];
        let (line, long) = ("        self.items.push(item);", format!("        {}", "x".repeat(90)));
        let long = long.as_str();
        let name = Path::new("src/queue.rs");
        for (width, line, code, indentation, note) in [
            (Some(120), line, 66, 0, Some(0)),
            (Some(80), line, 26, 8, Some(0)),
            (Some(64), line, 24, 8, Some(1)),
            (Some(60), line, 45, 0, None),
            (Some(24), line, 20, 8, None),
            (Some(120), long, 66, 8, Some(0)),
            (Some(80), long, 40, 8, Some(1)),
            (Some(70), long, 55, 8, None),
            (None, line, 0, 0, Some(0)),
        ] {
            let layout = RowLayout::new((width, CODE_COLUMNS), Some(name), &row, |_| line, &notes);
            let expected = (width.map(|_| code), indentation, note.map(|at: usize| notes[at].as_str()));
            assert_eq!((layout.code, layout.indentation, layout.note), expected, "{width:?} {line}");
        }
        let rows = [7, 8, 9].map(|number| ShownRow { number, separator: ':' });
        let text = |row: &ShownRow| ["    if a {", "", long][row.number - 7];
        let layout = RowLayout::new((Some(80), CODE_COLUMNS), None, &rows, text, &[]);
        assert_eq!(layout.indentation, 4, "rows keep their shape");
    }
}
