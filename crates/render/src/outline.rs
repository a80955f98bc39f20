//! The units of one file, read from the file itself.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use colgrep_core::Unit;
use colgrep_core::enrich::enriched;
use colgrep_core::entity::Entities;
use colgrep_syntax::language;
use colgrep_syntax::parse::parse;
use colgrep_syntax::read::{Skip, decode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::escape::{escape_control, escape_text, in_json};

/// Bytes at the front that tell a file's language.
const HEAD_BYTES: usize = 64 << 10;

/// A row of `outline`: a unit of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outlined {
    /// Name as written; empty for raw code.
    pub name: String,
    /// Name with the names that enclose it.
    pub qualified_name: String,
    /// function, method, class, constant, document, section or rawcode.
    pub unit_type: &'static str,
    /// First line, from 1.
    pub line: u32,
    /// Last line.
    pub end_line: u32,
    /// Text from the beginning of the definition to its body.
    pub signature: String,
    /// The first line of its documentation; of its text, where it has no name.
    pub summary: String,
    /// Keywords of a section of prose, best first; of other units none.
    pub keywords: Vec<String>,
    /// Its entities by label: code, name, path, command, version, url, quantity.
    #[schemars(with = "std::collections::BTreeMap<String, Vec<String>>")]
    pub entities: Entities,
    /// With `--enriched`: keywords and entities in one line, an empty line, the unit's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enriched: Option<String>,
    /// Its first line, including a comment before it.
    #[serde(skip)]
    pub first: u32,
    /// How many names enclose it.
    #[serde(skip)]
    pub depth: usize,
}

/// The units of the file at `path`, by line.
///
/// # Errors
/// When it can't be read or is not text.
pub fn outline(path: &Path) -> Result<Vec<Outlined>> {
    Ok(units(path)?.iter().map(|unit| outlined(unit, false)).collect())
}

/// Fails for what can't have an outline.
///
/// # Errors
/// When there is something that is no file.
pub fn check_file(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("{} is a folder; name a file", path.display());
    }
    if path.exists() && !path.is_file() {
        bail!("{} is neither a file nor a folder, and is not read", path.display());
    }
    Ok(())
}

/// As [`outline`], as they are parsed.
fn units(path: &Path) -> Result<Vec<Unit>> {
    check_file(path)?;
    let bytes = std::fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    Ok(units_in(path, bytes)?.1)
}

/// The units of a file whose text is known, as [`outline`] gives them.
///
/// # Errors
/// When it is not text.
pub fn outline_of(path: &Path, text: &str) -> Result<Vec<Outlined>> {
    Ok(text_and_units(path, text.as_bytes().to_vec())?.1)
}

/// The text of a file and its units, as [`outline`] gives them.
///
/// # Errors
/// When it is not text.
pub fn text_and_units(path: &Path, bytes: Vec<u8>) -> Result<(String, Vec<Outlined>)> {
    let (text, units) = units_in(path, bytes)?;
    Ok((text, units.iter().map(|unit| outlined(unit, false)).collect()))
}

fn units_in(path: &Path, bytes: Vec<u8>) -> Result<(String, Vec<Unit>)> {
    let language = language::detect(path, &bytes[..bytes.len().min(HEAD_BYTES)]);
    let name = path.to_string_lossy();
    let text = match decode(&name, bytes) {
        Ok(text) => text.text,
        Err(Skip::Empty) => return Ok(Default::default()),
        Err(skip) => bail!("{} is {}", path.display(), skip.reason()),
    };
    let mut units = parse(&text, language).units;
    units.sort_by_key(|u| (u.span.line, std::cmp::Reverse(u.span.end)));
    Ok((text, units))
}

fn outlined(unit: &Unit, with_text: bool) -> Outlined {
    let text = if unit.name.is_empty() { &unit.body } else { &unit.docstring };
    let summary = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    Outlined {
        name: unit.name.clone(),
        qualified_name: unit.qualified_name(),
        unit_type: unit.kind.name(),
        line: unit.span.line,
        first: unit.span.first,
        end_line: unit.span.end,
        signature: unit.signature.clone(),
        summary: summary.trim().to_string(),
        keywords: unit.keywords.clone(),
        entities: unit.entities.clone(),
        enriched: with_text.then(|| enriched(&unit.keywords, &unit.entities, unit.body.trim_end()).into_owned()),
        depth: if unit.parent.is_empty() { 0 } else { 1 + unit.parent.matches('.').count() },
    }
}

/// How an outline is printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutlineOptions {
    /// Constants and raw code too.
    pub all: bool,
    /// With the text of each unit, preceded by its keywords and entities.
    pub enriched: bool,
    /// As JSON.
    pub json: bool,
}

/// Prints the outline of a file and returns whether it has units.
///
/// # Errors
/// When the file can't be read or is not text, or `out` can't be written.
pub fn print(out: &mut impl Write, file: &Path, options: OutlineOptions) -> Result<bool> {
    let units: Vec<Outlined> = units(file)?.iter().map(|unit| outlined(unit, options.enriched)).collect();
    let all = options.all || options.enriched;
    // A program may want the keywords of prose outside any heading.
    let shown = if options.json { named_first(&units, all, &LITTLE[..2]) } else { shown(&units, all) };
    if options.json {
        writeln!(out, "{}", in_json(serde_json::to_string_pretty(&shown)?))?;
    } else {
        for (i, unit) in shown.iter().enumerate() {
            match &unit.enriched {
                Some(text) => writeln!(out, "{}{}", if i > 0 { "\n" } else { "" }, escape_text(text))?,
                None => write!(out, "{}", row(unit))?,
            }
        }
    }
    out.flush()?;
    Ok(!units.is_empty())
}

/// Kinds of units that say little about a file; the last are the paragraphs outside any heading.
const LITTLE: [&str; 3] = ["constant", "rawcode", "document"];

/// The units shown: functions, types and headings, or all, also if the file has none of these.
pub fn shown(units: &[Outlined], all: bool) -> Vec<&Outlined> {
    named_first(units, all, &LITTLE)
}

/// All units but those of the kinds `little`, unless `all` are wanted or there are no others.
fn named_first<'u>(units: &'u [Outlined], all: bool, little: &[&str]) -> Vec<&'u Outlined> {
    let is_main = |unit: &&Outlined| !little.contains(&unit.unit_type);
    let main: Vec<&Outlined> = units.iter().filter(is_main).collect();
    if all || main.is_empty() { units.iter().collect() } else { main }
}

/// A unit as a line: lines, kind and name, indented by nesting.
pub fn row(unit: &Outlined) -> String {
    let what = [&unit.signature, &unit.name, &unit.summary].into_iter().find(|t| !t.is_empty());
    let what = escape_control(what.map_or("", String::as_str));
    let lines = format!("{}-{}", unit.line, unit.end_line);
    format!("{lines:>11}  {:<8}  {}{what}\n", unit.unit_type, "  ".repeat(unit.depth))
}
