//! Text → units. Parsing never fails: text that can't be parsed becomes plain blocks and a note.
//!
//! A language's query (`language/queries/<name>.scm`) defines what is a definition; nesting, documentation, bodies, and
//! the blocks of uncovered lines are the same for all languages.

mod blocks;
mod build;
mod collect;
mod doc;
mod features;
mod headings;
#[cfg(feature = "language-pack")]
pub mod language_pack;
mod lines;
pub(crate) mod notebook;
mod outline;
mod records;
mod statements;
mod stored;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod unread;

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use colgrep_core::enrich::enrich;
use colgrep_core::{Unit, UnitKind, UnitRole};
use tree_sitter::Range;

use crate::budget::{Budget, Spent};
use crate::language::{self, Category, Compiled, Language, Reader};
use blocks::{add_blocks, blocks_only};
use build::Builder;
pub(crate) use collect::parse_tree;
use collect::{FileCaptures, collect};
use lines::Lines;
pub use lines::{OwnLines, body_lines, takes_lines};
pub use stored::StoredUnit;
use text::fold_space;
pub use types::textual_types;

/// Lines in a block of text that no definition covers. The prototypes' value; 30 to 80 lines rank alike.
const BLOCK_LINES: u32 = 50;
/// Longest signature kept, in bytes.
const SIGNATURE_BYTES_MAX: usize = 600;
/// Maximum documentation of a unit, in bytes. Less of it is shown (`stored.rs`).
const DOCSTRING_BYTES_MAX: usize = 1 << 20;
/// Longest name kept, in bytes.
const NAME_BYTES_MAX: usize = 160;
/// Longest body, in bytes. Definitions rarely share lines, so bodies together are hardly larger than their file.
const BODY_BYTES_MAX: usize = 16 << 20;
/// Largest text that is parsed, in bytes: a syntax tree takes many times its text's memory.
pub(crate) const PARSED_BYTES_MAX: usize = 4 << 20;
/// Maximum number of units in a file. Generated headers of 1 MiB stay below; a file of 80,000 headings took 13 s to index.
const UNITS_MAX: usize = 20_000;
/// The note for a file that is too large.
pub const TOO_LARGE: &str = "is too large to parse";
/// In a line longer than this, in bytes (minified code), a unit's body is only the unit's own part.
const LINE_BYTES_MAX: usize = 1_000;
/// A section with more lines of its own leaves all but the first [`BLOCK_LINES`] to blocks.
const SECTION_LINES_MAX: u32 = 200;
/// A function of this many lines encloses units as a class does: functions with at least the minimum of lines, which a
/// factory or a closure makes.
pub const LARGE_FUNCTION_LINES: u32 = 150;
const INNER_FUNCTION_LINES_MIN: u32 = 5;
/// Definitions nested deeper belong to the one around them.
const DEPTH_MAX: usize = 32;
/// Calls, variables, parameters and bases kept per unit.
const LIST_LEN_MAX: usize = 64;
/// Maximum bytes of the texts of a file's units together: a base, and an amount per byte of the file. Names of one
/// statement (`let a = 1, b = 2`) each have its whole text.
const UNIT_BYTES_BASE: usize = 16 << 20;
const UNIT_BYTES_PER_BYTE: usize = 8;
/// A file may have this many definitions, and one more per [`BYTES_PER_DEFINITION`].
const DEFINITIONS_BASE: usize = 1_024;
const BYTES_PER_DEFINITION: usize = 8;

/// The result of parsing one file.
#[derive(Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Parsed {
    /// The units, by first line, an enclosing unit before its members.
    pub units: Vec<Unit>,
    /// The file's import statements, as written, white space folded.
    pub imports: Vec<String>,
    /// What went wrong, if anything, in a few words.
    pub note: Option<String>,
}

impl std::fmt::Display for Parsed {
    /// One line per unit (lines, kind, qualified name) with its facts indented below, for tests and inspection.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for import in &self.imports {
            writeln!(f, "import {import}")?;
        }
        for unit in &self.units {
            let role = match unit.role {
                UnitRole::Definition => "",
                UnitRole::Declaration => ".declaration",
                UnitRole::Extension => ".extension",
                UnitRole::Test => ".test",
            };
            let (span, name) = (unit.span, unit.qualified_name());
            writeln!(f, "{}-{} {}{role} {name}", span.line, span.end, unit.kind.name())?;
            for (what, text) in [
                ("signature", unit.signature.clone()),
                ("doc", unit.docstring.replace('\n', " / ")),
                ("parameters", unit.parameters.join(" | ")),
                ("returns", unit.return_type.clone()),
                ("extends", unit.extends.join(" | ")),
                ("calls", unit.calls.join(" ")),
                ("variables", unit.variables.join(" ")),
                ("features", unit.features.join(" ")),
                ("tags", unit.tags.join(" | ")),
            ] {
                if !text.is_empty() {
                    writeln!(f, "    {what} {text}")?;
                }
            }
        }
        if let Some(note) = &self.note {
            writeln!(f, "note {note}")?;
        }
        Ok(())
    }
}

/// The note of a file whose parser panicked.
pub const PANICKED: &str = "the parser failed inside, which is a fault of colgrep; indexed as plain blocks";

/// The beginning of the note of a file whose parser crashed.
pub const CRASHED: &str = "crashed the parser";

/// Cuts `text` into units by `language`, in a worker process if the program [enabled](crate::worker::enable) them. A
/// panic, or the crash of a worker, costs this file its definitions, but affects no other file.
pub fn parse(text: &str, language: &'static Language) -> Parsed {
    let has_grammar = language.grammar.is_some() || language.reader == Some(Reader::Notebook);
    match ELSEWHERE.get() {
        Some(elsewhere) if has_grammar => elsewhere(text, language),
        _ => parse_in_process(text, language),
    }
}

/// A function that parses outside of this process.
pub(crate) type Elsewhere = fn(&str, &'static Language) -> Parsed;

static ELSEWHERE: OnceLock<Elsewhere> = OnceLock::new();

/// Has [`parse`] leave texts that need a grammar to `elsewhere`.
pub(crate) fn parse_elsewhere(elsewhere: Elsewhere) {
    ELSEWHERE.get_or_init(|| elsewhere);
}

/// As [`parse`], in this process, which a grammar's scanner may crash.
pub fn parse_in_process(text: &str, language: &'static Language) -> Parsed {
    let mut parsed = contained(text, language, || read(text, language));
    if language.category == Category::Prose {
        for section in parsed.units.iter_mut().filter(|unit| unit.kind == UnitKind::Section) {
            (section.keywords, section.entities) = enrich(&section.body, language::facts());
        }
    }
    parsed
}

/// Runs `read`, and falls back to blocks of the text's lines if it panics, or if the text has more than [`UNITS_MAX`].
fn contained(text: &str, language: &'static Language, read: impl FnOnce() -> Parsed) -> Parsed {
    let blocks = |note: String| Parsed { units: blocks_only(text, language), note: Some(note), ..Parsed::default() };
    // Nothing that the work changes outlives a panic.
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(parsed) if parsed.units.len() > UNITS_MAX => blocks(format!("{}; indexed as plain blocks", Spent::Units)),
        Ok(parsed) => parsed,
        Err(_) => blocks(PANICKED.to_string()),
    }
}

fn read(text: &str, language: &'static Language) -> Parsed {
    if language.reader == Some(Reader::Records)
        && let Some(parsed) = records::parse(text, language)
    {
        return parsed;
    }
    match (language.compiled(), language.reader) {
        (Some(compiled), _) => parse_with(text, language, compiled),
        (None, Some(_)) if text.len() > PARSED_BYTES_MAX => plain(text, language, TOO_LARGE),
        (None, Some(Reader::Records)) => Parsed { units: blocks_only(text, language), ..Parsed::default() },
        (None, Some(Reader::Outline(_))) => match language.outline() {
            Some(compiled) => outline::parse(text, language, compiled),
            None => Parsed { units: blocks_only(text, language), ..Parsed::default() },
        },
        (None, Some(Reader::Notebook)) => notebook::parse(text, language),
        (None, Some(reader)) => headings::parse(text, language, reader),
        (None, None) => Parsed { units: blocks_only(text, language), ..Parsed::default() },
    }
}

/// As [`parse`], or by another grammar for the path if the table has none; also returns the language's name.
pub fn parse_file(_path: &str, text: &str, language: &'static Language) -> (String, Parsed) {
    #[cfg(feature = "language-pack")]
    if let Some(tail) = language::is_unknown(language).then(|| language_pack::parse(_path, text)).flatten() {
        return tail;
    }
    (language.name.to_string(), parse(text, language))
}

/// As [`parse_file`], for a file that was parsed before and got this note: one that crashed its parser or took too long is
/// not parsed again.
pub fn parse_file_again(path: &str, text: &str, language: &'static Language, note: Option<&str>) -> Parsed {
    let too_slow = Spent::Time.to_string();
    let failure = [CRASHED, &too_slow].into_iter().find(|failure| note.is_some_and(|note| note.starts_with(failure)));
    match failure {
        Some(failure) => parse_failed(text, language, failure),
        None => parse_file(path, text, language).1,
    }
}

/// As [`parse`], with a query of the caller's (the `units` example tries queries with it).
pub fn parse_with(text: &str, language: &'static Language, compiled: &Compiled) -> Parsed {
    if text.len() > PARSED_BYTES_MAX {
        return plain(text, language, TOO_LARGE);
    }
    parse_within(text, language, compiled).unwrap_or_else(|spent| plain(text, language, &spent.to_string()))
}

/// The units of a text whose worker failed: see [`plain`].
pub(crate) fn parse_failed(text: &str, language: &'static Language, reason: &str) -> Parsed {
    contained(text, language, || plain(text, language, reason))
}

/// Definitions by their first lines, and blocks of all other lines, with a note that gives the reason.
fn plain(text: &str, language: &'static Language, reason: &str) -> Parsed {
    let note = Some(format!("{reason}; indexed as plain blocks"));
    let (lines, budget) = (Lines::new(text), Budget::new());
    let mut found = FileCaptures::default();
    match language.reader {
        Some(Reader::Statements) => statements::add(&mut found, text),
        _ => unread::add(&mut found, &lines, language),
    }
    let room = UNIT_BYTES_BASE + UNIT_BYTES_PER_BYTE * text.len();
    let units = Builder { text, lines: &lines, language, found: &mut found, budget: &budget, room }.units();
    let units = units.map(|mut units| {
        add_blocks(&mut units, &lines, language);
        units
    });
    Parsed { units: units.unwrap_or_else(|_| blocks_only(text, language)), note, ..Parsed::default() }
}

/// The text as the grammar reads it, perhaps with a line break more.
pub(crate) fn prepared<'t>(text: &'t str, language: &'static Language) -> Cow<'t, str> {
    let prepared = language.prepare.and_then(|prepare| prepare(text)).filter(|p| p.len() == text.len());
    let mut read = prepared.map_or(Cow::Borrowed(text), Cow::Owned);
    // Some scanners never return from an unterminated last line (Perl's from `word # comment`).
    if !read.ends_with('\n') {
        read.to_mut().push('\n');
    }
    read
}

/// Where a text has code of other languages, by their names.
///
/// # Errors
/// The exceeded limit.
pub(crate) fn embedded(
    text: &str,
    language: &'static Language,
    budget: &Budget,
) -> Result<HashMap<String, Vec<Range>>, Spent> {
    let mut found = FileCaptures::default();
    if let Some(compiled) = language.compiled() {
        collect(&prepared(text, language), text, compiled, &[], budget, &mut found)?;
    }
    Ok(found.embedded)
}

/// As [`parse_with`], unless the text takes too much of something.
fn parse_within(text: &str, language: &'static Language, compiled: &Compiled) -> Result<Parsed, Spent> {
    let budget = Budget::new();
    let lines = Lines::new(text);
    let mut found = FileCaptures::default();
    let read = prepared(text, language);
    let has_error = collect(&read, text, compiled, &[], &budget, &mut found)?;
    let mut note = has_error.then(|| "parsed with syntax errors".to_string());
    // Before the definitions of embedded code are added.
    if language.has_markdown_headings {
        headings::nest(&mut found.definitions, text);
    }
    for (name, ranges) in std::mem::take(&mut found.embedded) {
        let Some(inner) = language::by_name(&name).and_then(Language::compiled) else { continue };
        if let Err(spent) = collect(&read, text, inner, &ranges, &budget, &mut found) {
            note = Some(format!("embedded {name} {spent}"));
        }
    }
    match language.reader {
        Some(Reader::Statements) => statements::add(&mut found, text),
        _ if has_error => unread::add(&mut found, &lines, language),
        _ => {}
    }
    if has_error && language.indents_locals {
        unread::drop_locals(&mut found, &lines);
    }
    if language.category == Category::Data {
        // In minified data, what begins and ends on one line stays with what is around it.
        found.definitions.retain(|definition| {
            let line = lines.line_of(definition.bytes.start);
            lines.line(line).len() <= LINE_BYTES_MAX || lines.end_line(&definition.bytes) > line
        });
    }
    if language.reader == Some(Reader::Pod) {
        headings::add_pod(&mut found, &lines);
    }
    let imports = imports(text, &mut found);
    let room = UNIT_BYTES_BASE + UNIT_BYTES_PER_BYTE * text.len();
    let mut units = Builder { text, lines: &lines, language, found: &mut found, budget: &budget, room }.units()?;
    add_blocks(&mut units, &lines, language);
    Ok(Parsed { units, imports, note })
}

/// The distinct import statements, in order.
fn imports(text: &str, found: &mut FileCaptures) -> Vec<String> {
    found.imports.sort_by_key(|b| (b.start, b.end));
    let mut imports: Vec<String> = Vec::new();
    for range in &found.imports {
        if imports.len() == 4 * LIST_LEN_MAX {
            break;
        }
        let import = fold_space(&text[range.clone()], SIGNATURE_BYTES_MAX);
        if !imports.contains(&import) {
            imports.push(import);
        }
    }
    imports
}
