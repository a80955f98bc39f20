//! Entries of a history: for people, one a line, as `git log --oneline` has them; for programs, JSON.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use colgrep_engine::Env;
use colgrep_engine::history::HistoryEntry;
use colgrep_engine::settings::Settings;
use schemars::JsonSchema;
use serde::Serialize;

use super::budget::TokenBudget;
use super::escape::{escape_control, escape_text, json_text};
use super::explain::{self, Step};
use super::line::COLUMNS_MAX;
use super::path::typed;
use super::style::{self, paint};
use super::{Format, When, wants_color};
use crate::words::counted;

/// Options of the output, as the user gave them.
#[derive(Clone, Debug, Default)]
pub struct EntryArgs {
    /// How entries are written.
    pub format: Format,
    pub ids: bool,
    /// Number of lines of each message or turn.
    pub lines: Option<usize>,
    /// Maximum number of tokens.
    pub max_tokens: Option<usize>,
    /// No output.
    pub silent: bool,
    pub quiet: bool,
    pub color: Option<When>,
}

/// Options of the output, with settings, environment and terminal applied.
#[derive(Clone, Debug, Default)]
pub struct EntryOptions {
    wish: EntryArgs,
    color: bool,
    /// Whether control characters would reach a terminal.
    terminal: bool,
}

impl EntryArgs {
    /// Fills in open options from settings, environment and terminal.
    pub fn with(self, settings: &Settings, env: &Env, terminal: bool) -> EntryOptions {
        let flag = self.color.or(settings.text("color").map(When::from_name));
        let color = self.format == Format::Text && wants_color(flag, env.color, terminal && !env.dumb_terminal);
        EntryOptions { wish: self, color, terminal }
    }
}

/// A row of `log`: a commit or a turn of a session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub(super) struct EntryRow<'a> {
    /// `commit` or `session`.
    source: &'static str,
    /// The commit's full name, or PATH:LINE of the turn.
    id: &'a str,
    /// The commit's subject, or the first line of the request.
    subject: &'a str,
    /// The files that it mentions, from the project's root, sorted.
    files: &'a [String],
    /// The day, `2026-01-01`.
    date: &'a str,
    /// Comparable within one answer only; 0 where nothing was looked for.
    score: f32,
    /// The whole message or turn, with -c; its first lines with -n.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// How the score came about, with --explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Vec<Step>>,
}

fn row(entry: &HistoryEntry, wish: &EntryArgs) -> Result<String> {
    let text = entry.text.as_ref().zip(wish.lines);
    let row = EntryRow {
        source: entry.source.name(),
        id: &entry.id,
        subject: &entry.subject,
        files: &entry.files,
        date: &entry.date,
        score: entry.score,
        text: text.map(|(text, lines)| text.lines().take(lines).collect::<Vec<_>>().join("\n")),
        explain: entry.steps.as_ref().map(|steps| steps.iter().cloned().map(Step::from).collect()),
    };
    Ok(json_text(&row)?)
}

/// Prints entries on standard output.
///
/// # Errors
/// When that refuses.
pub fn print(entries: &[HistoryEntry], options: &EntryOptions) -> Result<()> {
    let wish = &options.wish;
    if wish.silent {
        return Ok(());
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let shown = write(&mut out, entries, options)?;
    out.flush()?;
    if shown < entries.len() && !wish.quiet {
        let found = counted(entries.len() as u64, "result");
        remark!("colgrep: {shown} of {found} fit into --max-tokens {}", wish.max_tokens.unwrap_or_default());
    }
    Ok(())
}

fn write(out: &mut impl Write, entries: &[HistoryEntry], options: &EntryOptions) -> Result<usize> {
    let wish = &options.wish;
    let mut budget = TokenBudget::new(wish.max_tokens);
    let is_array = wish.format == Format::Json;
    if is_array {
        // The brackets and the line's end.
        budget.take(3);
        write!(out, "[")?;
    }
    let mut shown = 0;
    for entry in entries {
        if wish.format.is_json() {
            let row = row(entry, wish)?;
            if !budget.take(row.len() + 1) {
                break;
            }
            match is_array {
                true => write!(out, "{}{row}", if shown > 0 { "," } else { "" })?,
                false => writeln!(out, "{row}")?,
            }
        } else {
            let block = block(entry, options)?;
            // Of the best entry, a part is printed if the whole does not fit.
            let part: &[u8] = match shown {
                0 => budget.take_lines(&block),
                _ if budget.take(block.len()) => &block,
                _ => &[],
            };
            out.write_all(part)?;
            if part.len() < block.len() {
                shown += usize::from(!part.is_empty());
                break;
            }
        }
        shown += 1;
    }
    if is_array {
        writeln!(out, "]")?;
    }
    Ok(shown)
}

/// An entry as text: its line, then as much of its text as is wanted.
fn block(entry: &HistoryEntry, options: &EntryOptions) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    if options.wish.ids {
        writeln!(out, "{}", escape_control(&entry.id))?;
        return Ok(out);
    }
    let name = match &entry.place {
        Some((path, line)) => format!("{}:{line}:", typed(Path::new("/"), &path.to_string_lossy())),
        None => entry.short.clone(),
    };
    paint(&mut out, style::PATH, options.color, escape_control(&name))?;
    let subject: String = escape_control(&entry.subject).chars().take(COLUMNS_MAX).collect();
    match entry.place {
        Some(_) => writeln!(out, " {subject}")?,
        None => writeln!(out, " {} {subject}", entry.date)?,
    }
    if let Some((text, lines)) = entry.text.as_ref().zip(options.wish.lines) {
        let text = if options.terminal { escape_text(text).to_string() } else { text.clone() };
        for line in text.lines().take(lines) {
            writeln!(out, "{}", if line.is_empty() { String::new() } else { format!("    {line}") })?;
        }
    }
    if let Some(steps) = &entry.steps {
        paint(&mut out, style::DIM, options.color, explain::line(steps, entry.score))?;
        writeln!(out)?;
    }
    Ok(out)
}
