//! Results for people: `path:line:text`, as grep prints them, with more of each unit on demand.

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Result;
use colgrep_core::UnitKind;
use colgrep_engine::answer::results::Results;
use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_index::source::read;
use colgrep_syntax::read::lines_between;

use super::budget::TokenBudget;
use super::enclosing::enclosing;
use super::end::write_rule;
use super::highlight::{Styled, Syntaxes};
use super::line::{shown_from, write};
use super::path::{absolute, shown};
use super::style::{self, paint};
use super::{Format, LineLocation, OutputOptions, explain};

/// Prints results and returns how many of them fitted.
///
/// # Errors
/// When `out` refuses or an index can't be read.
pub fn print(
    out: &mut impl Write,
    results: &Results<'_>,
    options: &OutputOptions,
    budget: &mut TokenBudget,
) -> Result<usize> {
    let mut printer =
        HumanPrinter { options, syntaxes: None, last_heading: None, printed: false, is_list: results.is_list };
    // Rows left on the terminal, less one for the remark on the results left out and one for the prompt.
    let mut rows = options.look.height.map(|height| height.saturating_sub(2));
    let certain = results.certain();
    for (at, file) in results.iter().enumerate() {
        let mut block = Vec::new();
        if at == certain {
            write_rule(&mut block, options)?;
        }
        printer.file(&mut block, &file?)?;
        if let Some(rows) = &mut rows {
            let taken = block.iter().filter(|byte| **byte == b'\n').count();
            if at > 0 && taken > *rows {
                return Ok(at);
            }
            *rows = rows.saturating_sub(taken);
        }
        if budget.take(block.len()) {
            out.write_all(&block)?;
        } else {
            // Of the best result, a part is printed if the whole does not fit.
            let part = if at == 0 { budget.take_lines(&block) } else { &[] };
            out.write_all(part)?;
            return Ok(at + usize::from(!part.is_empty()));
        }
    }
    Ok(results.len())
}

/// A line of a file, and why it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShownRow {
    number: usize,
    /// `:` for the line that answers, `=` for the one that names its unit, `-` for the others; as `git grep -p` has it.
    separator: char,
}

struct HumanPrinter<'a> {
    options: &'a OutputOptions,
    syntaxes: Option<Syntaxes>,
    /// The file whose name was printed last, where names have lines of their own.
    last_heading: Option<String>,
    /// Whether any lines were printed yet.
    printed: bool,
    /// Whether it is a list, whose lines are the definitions themselves.
    is_list: bool,
}

/// A file whose lines are printed.
struct PrintedFile<'a> {
    /// Its name as shown.
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
    /// The bytes of a line of which `text` has invalid ones replaced.
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
            self.name(out, &name, &full, 1)?;
            if wish.count {
                write!(out, "{}{}", if wish.null { "" } else { ":" }, file.matches)?;
            }
            if wish.count || !wish.null {
                writeln!(out)?;
            }
            return Ok(());
        }
        let (first, end) = self.wanted_lines(file);
        let lines = lines_between(&file.text, first, end, str::lines);
        // In a pipe, lines are printed unchanged; of files elsewhere, only the text is here.
        let is_raw = self.options.look.width.is_none() && file.text.contains(char::REPLACEMENT_CHARACTER);
        let bytes = if is_raw { read(&file.root, &file.path).ok() } else { None };
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
            match source.raw(best, &unit.line.text) {
                Some(raw) => out.write_all(raw)?,
                None => write(out, &unit.line.text, look.width.map(|_| usize::MAX), false, &[], &[])?,
            }
            writeln!(out)?;
            return Ok(());
        }
        let is_new = self.last_heading.as_deref() != Some(&source.full);
        if look.heading && is_new {
            if self.last_heading.is_some() {
                writeln!(out)?;
            }
            self.name(out, &source.name, &source.full, best)?;
            if !wish.null {
                writeln!(out)?;
            }
            self.last_heading = Some(source.full.clone());
        }
        let rows = self.rows(source.lines.len(), unit);
        let begin = rows.first().map_or(best, |r| r.number).min(unit.unit.span.line as usize).max(1);
        let end = rows.last().map_or(best, |r| r.number).min(source.lines.len());
        let styles = self.styles(source, begin, end);
        let around = if self.is_list { None } else { enclosing(unit, also) };
        let (before, behind) = self.around();
        let is_one_line = rows.len() == 1 && before.max(behind) == 0 && !wish.content && !look.heading;
        // As in grep, a mark separates groups of lines that are not adjacent; between files, a heading does.
        if before.max(behind) > 0 && self.printed && !(look.heading && is_new) {
            writeln!(out, "--")?;
        }
        self.printed = true;
        let mut last = None;
        for row in rows {
            if last.is_some_and(|l| row.number > l + 1) && before.max(behind) > 0 {
                writeln!(out, "--")?;
            }
            last = Some(row.number);
            let line = match row.number == best {
                true => &unit.line.text,
                false => source.lines.get(row.number - 1).copied().unwrap_or(""),
            };
            let styled = row.number.checked_sub(begin).and_then(|i| styles.get(i)).map_or(&[][..], Vec::as_slice);
            let column = spot.column.filter(|_| wish.column && row.separator == ':');
            let spot = LineLocation { line: row.number, column, separator: row.separator, ..spot };
            let around = around.as_deref().filter(|_| is_one_line && wish.lines.is_none());
            let raw = source.raw(row.number, line).filter(|_| !look.color);
            self.row(out, &spot, (line, raw, around), styled, &unit.line.marks)?;
        }
        Ok(())
    }

    fn row(
        &self,
        out: &mut Vec<u8>,
        spot: &LineLocation<'_>,
        (line, raw, around): (&str, Option<&[u8]>, Option<&str>),
        styled: &[(anstyle::Style, usize)],
        marks: &[Range<usize>],
    ) -> Result<()> {
        let OutputOptions { wish, look } = self.options;
        self.options.write_spot(out, spot)?;
        let mut taken = spot.line.to_string().len() + 1;
        if !look.heading && !wish.no_name {
            taken += spot.name.to_string_lossy().chars().count() + 1;
        }
        let found = if spot.separator == ':' { marks } else { &[] };
        // A terminal too narrow for the name and the number still shows a little of the line.
        taken += around.map_or(0, |around| around.chars().count() + 2);
        let columns = look.width.map(|w| w.saturating_sub(taken).max(20));
        let end = wish.line_bytes_max.map_or(line.len(), |most| line.floor_char_boundary(most));
        // Of a cut line, the match is shown, with the colours from there on.
        let from = columns.map_or(0, |columns| shown_from(&line[..end], columns, found));
        let (styled, marks) = (behind(styled, from), if look.color { found } else { &[] });
        let marks: Vec<Range<usize>> =
            marks.iter().map(|mark| mark.start.saturating_sub(from)..mark.end.saturating_sub(from)).collect();
        let columns = columns.map(|columns| columns - usize::from(from > 0));
        write!(out, "{}", if from > 0 { "…" } else { "" })?;
        match raw.filter(|_| from == 0 && end == line.len()) {
            Some(raw) => out.write_all(raw)?,
            None => write(out, &line[from..end], columns, look.color, &styled, &marks)?,
        }
        write!(out, "{}", if end < line.len() { "…" } else { "" })?;
        if let Some(around) = around {
            write!(out, "  ")?;
            paint(out, style::DIM, look.color, around)?;
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
