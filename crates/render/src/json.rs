//! Results for programs: one JSON array, described by a JSON Schema.

use std::io::Write;

use anyhow::Result;
use colgrep_engine::Detail;
use colgrep_engine::answer::results::Results;
use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_syntax::read::lines_between;
use schemars::JsonSchema;
use serde::Serialize;

use super::budget::TokenBudget;
use super::entries::EntryRow;
use super::escape::json_text;
use super::explain::Step;
use super::outline::Outlined;
use super::path::absolute;
use super::related::{JsonAffected, JsonCallRow};
use super::{Format, FormatFlag, OutputRequest};

/// The flag of [`Format::Json`].
pub const ARRAY: FormatFlag = FormatFlag {
    name: "json",
    help: "Print a JSON array",
    excludes: &[],
    detail: Detail::Relations,
    example: ("RingBuffer --json -l -k 1", r#"[{"file":"ROOT/src/queue/ring.rs"}]"#),
};

/// The flag of [`Format::JsonLines`].
pub const LINES: FormatFlag = FormatFlag {
    name: "jsonl",
    help: "Print one JSON object per line, as soon as it is ready",
    excludes: &[],
    detail: Detail::Relations,
    example: (
        "RingBuffer --jsonl -l -k 2",
        r#"{"file":"ROOT/src/queue/ring.rs"} | {"file":"ROOT/src/http/server.rs"}"#,
    ),
};

/// Version of the output's shape: raised when a field changes its meaning or goes.
const SCHEMA_VERSION: u32 = 1;

/// One file of the answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Hit")]
struct Hit {
    /// The best unit; `line` to `end_line` cover every unit of the file that was ranked and holds a word of the query.
    unit: JsonUnit,
    /// The file's score. Comparable within one answer and one project only.
    score: f32,
    /// How likely the file is right, 0 to 1, on one scale for all questions and projects.
    strength: f32,
    /// Number, from 1, of the line that text output shows of the best unit.
    line_shown: usize,
    /// Column, in bytes from 1, of the first word of the query in that line (of the first match of -e, with one).
    column: usize,
    /// That line.
    text: String,
    /// The matched units, best first.
    matches: Vec<Match>,
    /// How many more of the file's units match: definitions and sections with half the score of the best.
    also_here: u64,
    /// How the score came about, with --explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Vec<Step>>,
}

/// A matching line, with `-e` and no query; or a file, with -l, -L or --count.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Line")]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Absolute path. Bytes of a name that are not UTF-8 are replaced.
    pub file: String,
    /// Its number, from 1; absent with -l, -L and --count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Column of its first match in bytes, from 1; with --column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Its text; absent with -l, -L and --count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Number of matching lines (with a query, of units), with --count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl Line {
    /// A file's row.
    pub fn of_file(file: String, count: Option<u64>) -> Line {
        Line { file, line: None, column: None, text: None, count }
    }
}

/// A row of the array.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes the shapes of output")]
enum Row {
    Hit(Box<Hit>),
    Line(Line),
    Packed(super::pack::Packed),
    Reached(JsonCallRow<'static>),
}

/// A unit of code or text.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Unit")]
struct JsonUnit {
    /// Its id, of the best unit's path and lines: 16 hexadecimal digits, the same in every build of the index.
    id: String,
    /// Name as written; empty for raw code.
    name: String,
    /// Name with the names that enclose it.
    qualified_name: String,
    /// Absolute path.
    file: String,
    /// First line, from 1, of what matches in the file; the best unit's own lines are those of the first match.
    line: u32,
    /// Last line of what matches in the file.
    end_line: u32,
    /// Language of the file.
    language: String,
    /// function, method, class, constant, document, section or rawcode.
    unit_type: &'static str,
    /// Text from the beginning of the definition to its body.
    signature: String,
    /// Documentation.
    docstring: String,
    /// Parameters as written.
    parameters: Vec<String>,
    /// Declared return type; null where there is none.
    return_type: Option<String>,
    /// Name of the class, module or heading around it; null at the top.
    parent_class: Option<String>,
    /// Base classes and implemented interfaces.
    extends: Vec<String>,
    /// Names called inside.
    calls: Vec<String>,
    /// Qualified names of units that call this name, at most 20.
    called_by: Vec<String>,
    /// Imports of the file.
    imports: Vec<String>,
    /// Local variables.
    variables: Vec<String>,
    /// The best unit's lines.
    code: String,
}

/// A matched unit.
#[derive(Debug, Serialize, JsonSchema)]
struct Match {
    /// First line, from 1.
    line: u32,
    /// Last line.
    end_line: u32,
    /// Qualified name.
    name: String,
    /// Its score.
    score: f32,
}

/// One line of `--queries-from`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Answers")]
struct Answers<'q> {
    /// The query, as read.
    query: &'q str,
    /// Its hits, best first.
    hits: Vec<Hit>,
}

/// A line of `--queries-from` that is no query.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Refused")]
pub struct RefusedQuery<'q> {
    /// The beginning of the line; bytes that are not UTF-8 are replaced.
    query: &'q str,
    /// Its number, from 1.
    line: usize,
    /// Why it is no query.
    error: String,
    /// None.
    hits: [(); 0],
}

impl RefusedQuery<'_> {
    /// A line's beginning, its number, and why it is refused.
    pub fn new(query: &str, line: usize, error: String) -> RefusedQuery<'_> {
        RefusedQuery { query, line, error, hits: [] }
    }
}

/// Prints the row of a line that is no query.
pub fn print_refused(out: &mut impl Write, row: &RefusedQuery<'_>) -> Result<()> {
    writeln!(out, "{}", json_text(row)?)?;
    Ok(out.flush()?)
}

/// The JSON Schema of the output: `--json` prints such an array, `--jsonl` its rows one a line, `--queries-from` rows
/// as `$defs.Answers` and `$defs.RefusedQuery` describe them. The rows of commands are `$defs.Affected` (`impact`),
/// `$defs.Entry` (`log`) and `$defs.Outlined` (`outline`).
pub fn schema() -> serde_json::Value {
    let mut generator = schemars::generate::SchemaSettings::default().for_serialize().into_generator();
    generator.subschema_for::<Answers<'static>>();
    generator.subschema_for::<RefusedQuery<'static>>();
    generator.subschema_for::<JsonAffected<'static>>();
    generator.subschema_for::<EntryRow<'static>>();
    generator.subschema_for::<Outlined>();
    let mut schema = generator.into_root_schema_for::<Vec<Row>>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".into(), "colgrep --json".into());
        object.insert("x-version".into(), SCHEMA_VERSION.into());
    }
    schema
}

/// Prints results as one array on one line, or one per line as soon as it is ready. Returns how many of them fitted.
pub fn print(
    out: &mut impl Write,
    results: &Results<'_>,
    wish: &OutputRequest,
    budget: &mut TokenBudget,
) -> Result<usize> {
    let is_array = wish.format == Format::Json;
    if is_array {
        // The brackets and the line's end.
        budget.take(3);
        write!(out, "[")?;
    }
    let mut shown = 0;
    let mut rows = 0;
    'files: for file in results.iter() {
        for file in rows_of(file?, results.is_list && !wish.names_only) {
            let Some(row) = fitting(file, wish, budget, rows == 0)? else { break 'files };
            if is_array {
                write!(out, "{}{row}", if rows > 0 { "," } else { "" })?;
            } else {
                writeln!(out, "{row}")?;
                out.flush()?;
            }
            rows += 1;
        }
        shown += 1;
    }
    if is_array {
        writeln!(out, "]")?;
    }
    Ok(shown)
}

/// The rows of a file: one for the file, or in a list one for each of its units.
fn rows_of(mut file: FileAnswer, each_unit: bool) -> Vec<FileAnswer> {
    if !each_unit {
        return vec![file];
    }
    let units = std::mem::take(&mut file.units);
    let alone = |unit: UnitAnswer| {
        let mut alone = file.clone();
        alone.units.push(unit);
        alone
    };
    units.into_iter().map(alone).collect()
}

/// Prints a query with its hits on one line and returns their number; `max_tokens` limits each line.
pub fn print_answers(out: &mut impl Write, results: &Results<'_>, max_tokens: Option<usize>) -> Result<usize> {
    let mut budget = TokenBudget::new(max_tokens);
    let query = results.query.as_str();
    budget.take(query.len() + 24);
    let mut rows = Vec::new();
    for file in results.iter() {
        let mut row = hit(file?);
        if fit(&mut row, &mut budget, rows.is_empty())?.is_none() {
            break;
        }
        rows.push(row);
    }
    let shown = rows.len();
    writeln!(out, "{}", json_text(&Answers { query, hits: rows })?)?;
    Ok(shown)
}

/// A row as text, if it fits.
fn fitting(file: FileAnswer, wish: &OutputRequest, budget: &mut TokenBudget, first: bool) -> Result<Option<String>> {
    if !wish.names_only {
        return fit(&mut hit(file), budget, first);
    }
    let full = absolute(&file.root, &file.path);
    let text = json_text(&Line::of_file(full, wish.count.then_some(file.matches)))?;
    Ok(budget.take(text.len() + 1).then_some(text))
}

/// Spends a row's bytes. Of the first row, a part is printed if the whole does not fit: its lists are dropped, then
/// lines of its code.
fn fit(row: &mut Hit, budget: &mut TokenBudget, first: bool) -> Result<Option<String>> {
    let mut text = json_text(row)?;
    // One byte for the comma or the line's end.
    if budget.take(text.len() + 1) {
        return Ok(Some(text));
    }
    if !first {
        return Ok(None);
    }
    let unit = &mut row.unit;
    for list in [&mut unit.imports, &mut unit.variables, &mut unit.called_by, &mut unit.calls] {
        list.clear();
    }
    // Escapes only lengthen it: what is longer than the budget can't fit.
    let longest = budget.bytes_left().unwrap_or(usize::MAX).min(unit.code.len());
    unit.code.truncate(unit.code.floor_char_boundary(longest));
    loop {
        text = json_text(row)?;
        if budget.take(text.len() + 1) {
            return Ok(Some(text));
        }
        let Some((shorter, _)) = row.unit.code.rsplit_once('\n') else { return Ok(None) };
        row.unit.code.truncate(shorter.len());
    }
}

fn hit(file: FileAnswer) -> Hit {
    let matches: Vec<Match> = file
        .units
        .iter()
        .map(|one| Match {
            line: one.unit.span.line,
            end_line: one.unit.span.end,
            name: one.unit.qualified_name(),
            score: one.score,
        })
        .collect();
    let shown = matches.iter().map(|m| (m.line, m.end_line)).chain(file.matched_lines);
    let (line, end_line) = shown.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
    let one = file.units.into_iter().next().unwrap_or_default();
    let best = one.unit;
    let (first, end) = (best.span.line as usize, best.span.end as usize);
    let lines = lines_between(&file.text, first, end, str::lines);
    let code = lines.get(first.saturating_sub(1)..).unwrap_or_default().join("\n");
    Hit {
        unit: JsonUnit {
            id: one.id.to_string(),
            qualified_name: best.qualified_name(),
            file: absolute(&file.root, &file.path),
            line,
            end_line,
            language: file.language,
            unit_type: best.kind.name(),
            return_type: Some(best.return_type).filter(|r| !r.is_empty()),
            parent_class: Some(best.parent).filter(|p| !p.is_empty()),
            name: best.name,
            signature: best.signature,
            docstring: best.docstring,
            parameters: best.parameters,
            extends: best.extends,
            calls: best.calls,
            called_by: one.called_by,
            imports: file.imports,
            variables: best.variables,
            code,
        },
        score: file.score,
        strength: file.strength,
        line_shown: one.line.number,
        column: one.line.column(),
        text: one.line.text,
        also_here: file.also_here,
        explain: one.steps.map(|steps| steps.into_iter().map(Step::from).collect()),
        matches,
    }
}
