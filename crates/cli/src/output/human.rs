//! Results for people: `path:line:text`, as grep prints them, with more of each unit on demand.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use colgrep_core::rank::RankedUnit;
use colgrep_core::{Unit, UnitKind};
use colgrep_engine::line::{QueryWords, own_line};
use colgrep_index::source::read_text;
use grep_regex::RegexMatcher;

use super::Look;
use super::budget::Budget;
use super::explain;
use super::highlight::{Styled, Syntaxes};
use super::line::write;
use super::path::absolute;
use super::style::{self, paint};
use crate::args::SearchArgs;
use crate::command::{Found, grep};

/// Prints `hits`, and gives how many of them fitted.
///
/// # Errors
/// When `out` refuses or the index can't be read.
pub fn print(
    out: &mut impl Write,
    found: &[Found<'_>],
    hits: &[(usize, usize)],
    args: &SearchArgs,
    query: &str,
    look: &Look,
    budget: &mut Budget,
) -> Result<usize> {
    let mut words: HashMap<usize, QueryWords> = HashMap::new();
    let pattern = if args.vimgrep && !args.regexp.is_empty() { Some(grep::matcher(args)?) } else { None };
    let mut printer = Printer { args, look, pattern, syntaxes: None, last_heading: None, printed: false };
    for (shown, &(f, h)) in hits.iter().enumerate() {
        let one = &found[f];
        let words = match words.entry(f) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => new.insert(QueryWords::new(query, &one.place.snapshot)?),
        };
        let mut block = Vec::new();
        printer.hit(&mut block, one, h, words)?;
        if budget.take(block.len()) {
            out.write_all(&block)?;
        } else {
            // The best result is worth a part of it.
            let part = if shown == 0 { budget.take_lines(&block) } else { &[] };
            out.write_all(part)?;
            return Ok(shown + usize::from(!part.is_empty()));
        }
    }
    Ok(hits.len())
}

/// A line of a file, and why it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    number: usize,
    /// `:` for the line that answers, `=` for the one that names its unit, `-` for the others; as `git grep -p` has it.
    separator: char,
}

struct Printer<'a> {
    args: &'a SearchArgs,
    look: &'a Look,
    /// What a column is that of, where a pattern is given.
    pattern: Option<RegexMatcher>,
    syntaxes: Option<Syntaxes>,
    /// The file whose name was printed last, where names have lines of their own.
    last_heading: Option<String>,
    /// Whether any lines were printed yet.
    printed: bool,
}

/// What is needed of a file to print its lines.
struct Source<'a> {
    /// Its name as shown.
    name: PathBuf,
    /// Its absolute path.
    full: String,
    /// Its path from the root.
    path: &'a str,
    lines: Vec<&'a str>,
    /// The lines that match a pattern, where one is given.
    matching: Option<&'a [u32]>,
}

impl Printer<'_> {
    fn hit(&mut self, out: &mut Vec<u8>, one: &Found<'_>, h: usize, words: &QueryWords) -> Result<()> {
        let hit = &one.answer.hits[h];
        let path = one.path(h);
        let root = &one.place.project.root;
        let name = one.place.shown(path);
        if self.args.names_only() {
            self.name(out, &name, &absolute(root, path), 1)?;
            if self.args.count {
                write!(out, "{}{}", if self.args.null { "" } else { ":" }, one.units_in_file(h))?;
            }
            if self.args.count || !self.args.null {
                writeln!(out)?;
            }
            return Ok(());
        }
        // A file that changed or went since the index was made shows what the index knows.
        let text = read_text(root, path).unwrap_or_default();
        let (lines, matching) = (text.lines().collect(), one.matching_lines(h));
        let source = Source { name, full: absolute(root, path), path, lines, matching };
        for candidate in &hit.units {
            let unit = one.place.snapshot.lexical.unit(candidate.unit)?;
            self.unit(out, &source, candidate, &unit, words)?;
            if let Some(explanation) = &one.explanation {
                paint(out, style::DIM, self.look.color, explain::line(explanation, candidate.unit))?;
                writeln!(out)?;
            }
        }
        Ok(())
    }

    /// A file's name, and the NUL byte where that is asked for.
    fn name(&self, out: &mut Vec<u8>, name: &Path, full: &str, line: usize) -> io::Result<()> {
        if self.args.null {
            out.write_all(name.as_os_str().as_encoded_bytes())?;
            return out.write_all(b"\0");
        }
        self.look.write_name(out, name, full, line)
    }

    fn unit(
        &mut self,
        out: &mut Vec<u8>,
        source: &Source<'_>,
        candidate: &RankedUnit,
        unit: &Unit,
        words: &QueryWords,
    ) -> Result<()> {
        let best = words.best_line(&source.lines, unit, source.matching);
        let text = source.lines.get(best.wrapping_sub(1)).copied();
        let text = text.or_else(|| unit.signature.lines().next()).unwrap_or_default();
        if self.args.vimgrep {
            let places = match &self.pattern {
                Some(pattern) => grep::places(pattern, text.as_bytes()),
                None => words.places(text),
            };
            let column = places.first().map_or(0, |p| p.start) + 1;
            self.look.write_name(out, &source.name, &source.full, best)?;
            write!(out, "{}{best}:{column}:", if self.args.null { '\0' } else { ':' })?;
            write(out, text, self.look.width.map(|_| usize::MAX), false, &[], &[])?;
            writeln!(out)?;
            return Ok(());
        }
        if self.look.heading && self.last_heading.as_deref() != Some(&source.full) {
            if self.last_heading.is_some() {
                writeln!(out)?;
            }
            self.name(out, &source.name, &source.full, best)?;
            if !self.args.null {
                writeln!(out)?;
            }
            self.last_heading = Some(source.full.clone());
        }
        let rows = self.rows(source.lines.len(), candidate, unit, best, &source.lines);
        let begin = rows.first().map_or(best, |r| r.number).min(unit.span.line as usize).max(1);
        let end = rows.last().map_or(best, |r| r.number).min(source.lines.len());
        let styles = self.styles(source, begin, end);
        let (before, behind) = self.args.around();
        // As in grep: a mark between groups of lines that are no neighbours.
        if before + behind > 0 && self.printed && !self.look.heading {
            writeln!(out, "--")?;
        }
        self.printed = true;
        let mut last = None;
        for row in rows {
            if last.is_some_and(|l| row.number > l + 1) && before + behind > 0 {
                writeln!(out, "--")?;
            }
            last = Some(row.number);
            let line = if row.number == best { text } else { source.lines.get(row.number - 1).copied().unwrap_or("") };
            let styled = row.number.checked_sub(begin).and_then(|i| styles.get(i)).map_or(&[][..], Vec::as_slice);
            self.row(out, source, row, line, styled, words)?;
        }
        Ok(())
    }

    fn row(
        &self,
        out: &mut Vec<u8>,
        source: &Source<'_>,
        row: Row,
        line: &str,
        styled: &[(anstyle::Style, usize)],
        words: &QueryWords,
    ) -> Result<()> {
        let number = row.number.to_string();
        let mut taken = number.len() + 1;
        if !self.look.heading {
            self.name(out, &source.name, &source.full, row.number)?;
            if !self.args.null {
                write!(out, "{}", row.separator)?;
            }
            taken += source.name.to_string_lossy().chars().count() + 1;
        }
        let (before, behind) = self.look.links.around(&source.full, row.number);
        write!(out, "{before}")?;
        paint(out, style::LINE, self.look.color, &number)?;
        write!(out, "{behind}{}", row.separator)?;
        let marks = if self.look.color && row.separator == ':' { words.places(line) } else { Vec::new() };
        // A terminal too narrow for the name and the number still shows a little of the line.
        let columns = self.look.width.map(|w| w.saturating_sub(taken).max(20));
        write(out, line, columns, self.look.color, styled, &marks)?;
        writeln!(out)?;
        Ok(())
    }

    fn styles(&mut self, source: &Source<'_>, begin: usize, end: usize) -> Vec<Styled> {
        if !self.look.color || begin > end {
            return Vec::new();
        }
        let syntaxes = self.syntaxes.get_or_insert_with(Syntaxes::load);
        syntaxes.styles(source.path, source.lines.first().unwrap_or(&""), &source.lines[begin - 1..end])
    }

    /// The lines that are shown of a unit, in order.
    fn rows(&self, lines: usize, candidate: &RankedUnit, unit: &Unit, best: usize, text: &[&str]) -> Vec<Row> {
        let (first, end) = (unit.span.line as usize, (unit.span.end as usize).min(lines));
        let (from, to) = match self.args.lines {
            _ if self.args.content => (first, end),
            // So many lines in all, the best one among them.
            Some(count) => (best, end.min(best + count.saturating_sub(1))),
            None => (best, best),
        };
        let (before, behind) = self.args.around();
        let (from, to) = (from.min(best.saturating_sub(before)), to.max((best + behind).min(lines)));
        let mut rows: Vec<Row> = (from.max(1)..=to.max(best))
            .filter(|n| *n == best || *n <= lines)
            .map(|number| Row { number, separator: if number == best { ':' } else { '-' } })
            .collect();
        let named = candidate.kind != UnitKind::RawCode && !unit.name.is_empty();
        let own = own_line(text, unit, end);
        if self.look.heading && named && own < from && own <= lines {
            rows.insert(0, Row { number: own, separator: '=' });
        }
        rows
    }
}
