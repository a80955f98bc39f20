//! Results for people: `path:line:text`, as grep prints them, with more of each unit on demand.

use std::collections::HashSet;
use std::io::{self, Write};

use anyhow::Result;
use colgrep_core::rank::Candidate;
use colgrep_core::token::{Tokenizer, is_stop_word};
use colgrep_core::{Unit, UnitKind};
use colgrep_index::update::read_text;

use super::style::{self, paint};
use crate::args::{Color, SearchArgs};
use crate::command::Found;

/// Longest line of source that is printed whole, in characters.
const LINE_CHARS_MAX: usize = 300;

/// Whether to colour: the flag, else the environment, else only a terminal.
pub fn wants_color(flag: Color, environment: Option<bool>, terminal: bool) -> bool {
    match flag {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => environment.unwrap_or(terminal),
    }
}

/// `text` with control characters written as escapes, so that a file's name can't drive the terminal.
pub fn escape_control(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

/// Prints `hits`.
///
/// # Errors
/// When `out` refuses or the index can't be read.
pub fn print(
    out: &mut impl Write,
    found: &[Found],
    hits: &[(usize, usize)],
    args: &SearchArgs,
    query: &str,
    color: bool,
) -> Result<()> {
    let mut words = QueryWords::new(query);
    for &(f, h) in hits {
        let one = &found[f];
        let hit = &one.answer.hits[h];
        let path = &one.answer.pool.files[hit.file].path;
        let shown = escape_control(&shown_path(&one.project.root, path));
        if args.files_only {
            paint(out, style::PATH, color, &shown)?;
            writeln!(out)?;
            continue;
        }
        // A file that changed or went since the index was made shows what the index knows.
        let text = read_text(&one.project.root, path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        for candidate in &hit.units {
            let unit = one.snapshot.lexical.unit(candidate.unit)?;
            print_unit(out, &shown, &lines, candidate, &unit, args, &mut words, color)?;
            if let Some(explanation) = &one.explanation {
                paint(out, style::DIM, color, &explanation.line(candidate.unit))?;
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "one row's worth of facts")]
fn print_unit(
    out: &mut impl Write,
    path: &str,
    lines: &[&str],
    candidate: &Candidate,
    unit: &Unit,
    args: &SearchArgs,
    words: &mut QueryWords,
    color: bool,
) -> io::Result<()> {
    let (first, end) = (unit.span.line as usize, (unit.span.end as usize).min(lines.len()));
    let line = match candidate.kind {
        UnitKind::RawCode | UnitKind::Document | UnitKind::Section => words.best_line(lines, first, end),
        _ => own_line(lines, unit, end),
    };
    let text = lines.get(line.saturating_sub(1)).copied().unwrap_or(&unit.signature);
    paint(out, style::PATH, color, path)?;
    write!(out, ":")?;
    paint(out, style::LINE, color, &line.to_string())?;
    write!(out, ":")?;
    let text = cut(text);
    if color && !unit.name.is_empty() && text.contains(&unit.name) {
        let at = text.find(&unit.name).unwrap_or_default();
        write!(out, "{}", &text[..at])?;
        paint(out, style::NAME, true, &unit.name)?;
        writeln!(out, "{}", &text[at + unit.name.len()..])?;
    } else {
        writeln!(out, "{text}")?;
    }
    let (from, to) = if args.content {
        (first, end)
    } else {
        // So many lines in all, the one above among them.
        let Some(count) = args.lines else { return Ok(()) };
        (line, end.min(line + count.saturating_sub(1)))
    };
    for number in (from..=to).filter(|n| *n != line || args.content && *n < line) {
        let Some(text) = lines.get(number - 1) else { break };
        paint(out, style::PATH, color, path)?;
        write!(out, "-")?;
        paint(out, style::LINE, color, &number.to_string())?;
        writeln!(out, "-{}", cut(text))?;
    }
    Ok(())
}

/// The line on which the unit's name stands: behind attributes, decorators and templates.
fn own_line(lines: &[&str], unit: &Unit, end: usize) -> usize {
    let first = unit.span.line as usize;
    let named = (first..=end.min(first + 20)).find(|n| lines.get(n - 1).is_some_and(|l| l.contains(&unit.name)));
    named.filter(|_| !unit.name.is_empty()).unwrap_or(first)
}

fn cut(line: &str) -> String {
    let line = escape_control(&line.trim_end().replace('\t', "    "));
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((i, _)) => format!("{}…", &line[..i]),
        None => line,
    }
}

/// The path as it would be typed from here: relative if it lies below the current folder.
fn shown_path(root: &std::path::Path, path: &str) -> String {
    let full = root.join(path);
    let here = std::env::current_dir().and_then(|d| d.canonicalize());
    match here.ok().and_then(|h| full.strip_prefix(h).ok().map(|p| p.display().to_string())) {
        Some(relative) if !relative.is_empty() => relative,
        _ => full.display().to_string(),
    }
}

/// The query's terms, for choosing the line that shows a match best.
struct QueryWords {
    terms: HashSet<String>,
    tokenizer: Tokenizer,
}

impl QueryWords {
    fn new(query: &str) -> QueryWords {
        let mut tokenizer = Tokenizer::default();
        let terms = tokenizer.terms(query).into_iter().filter(|t| !is_stop_word(t)).collect();
        QueryWords { terms, tokenizer }
    }

    /// The line among `first..=end` with the most distinct terms; the first of equals.
    fn best_line(&mut self, lines: &[&str], first: usize, end: usize) -> usize {
        let mut best = (first, 0);
        for number in first..=end {
            let Some(line) = lines.get(number - 1) else { break };
            let mut seen = HashSet::new();
            self.tokenizer.tokenize(line, |t| {
                if let Some(term) = self.terms.get(t.term) {
                    seen.insert(term);
                }
            });
            if seen.len() > best.1 {
                best = (number, seen.len());
            }
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_by_flag_then_environment_then_terminal() {
        for (flag, environment, terminal, expected) in [
            (Color::Auto, None, true, true),
            (Color::Auto, None, false, false),
            (Color::Auto, Some(false), true, false),
            (Color::Auto, Some(true), false, true),
            (Color::Always, Some(false), false, true),
            (Color::Never, Some(true), true, false),
        ] {
            assert_eq!(wants_color(flag, environment, terminal), expected);
        }
    }

    #[test]
    fn the_best_line_holds_most_of_the_query() {
        let lines = ["# Title", "how to parse", "parse a request body", "request"];
        assert_eq!(QueryWords::new("parse request").best_line(&lines, 1, 4), 3);
        assert_eq!(QueryWords::new("nothing").best_line(&lines, 2, 4), 2);
    }

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(escape_control("a\x1b[31mb\nc"), "a\\u{1b}[31mb\\nc");
    }
}
