//! Results for programs: one JSON array, described by a JSON Schema.

use std::io::Write;

use anyhow::Result;
use colgrep_index::source::read_text;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::SearchArgs;
use crate::command::Found;
use crate::output::budget::Budget;
use crate::output::explain::Step;
use crate::output::path::absolute;

/// Version of the output's shape: raised when a field changes its meaning or goes.
const SCHEMA_VERSION: u32 = 1;

/// One file of the answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Hit")]
struct Hit {
    /// The best unit; its lines cover every matched unit of the file.
    unit: JsonUnit,
    /// The file's score. Comparable within one answer and one project only.
    score: f32,
    /// The matched units, best first.
    matches: Vec<Match>,
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
        Line { file, line: None, text: None, count }
    }
}

/// A row of the array.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes the two shapes of output")]
enum Row {
    Hit(Box<Hit>),
    Line(Line),
}

/// A unit of code or text.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Unit")]
struct JsonUnit {
    /// Name as written; empty for raw code.
    name: String,
    /// Name with the names that enclose it.
    qualified_name: String,
    /// Absolute path.
    file: String,
    /// First line, from 1.
    line: u32,
    /// Last line.
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
pub struct Refused<'q> {
    /// Its beginning; bytes that are not UTF-8 are replaced.
    query: &'q str,
    /// Its number, from 1.
    line: usize,
    /// Why it is no query.
    error: String,
    /// None.
    hits: [(); 0],
}

impl Refused<'_> {
    /// A line's beginning, its number, and why it is refused.
    pub fn new(query: &str, line: usize, error: String) -> Refused<'_> {
        Refused { query, line, error, hits: [] }
    }
}

/// Prints the row of a line that is no query.
///
/// # Errors
/// When `out` refuses.
pub fn print_refused(out: &mut impl Write, row: &Refused<'_>) -> Result<()> {
    writeln!(out, "{}", serde_json::to_string(row)?)?;
    Ok(out.flush()?)
}

/// The JSON Schema of the output: `--json` prints such an array, `--jsonl` its rows one a line, `--queries-from` rows
/// as `$defs.Answers` and `$defs.Refused` describe them.
pub fn schema() -> serde_json::Value {
    let mut generator = schemars::generate::SchemaSettings::default().into_generator();
    generator.subschema_for::<Answers<'static>>();
    generator.subschema_for::<Refused<'static>>();
    let mut schema = generator.into_root_schema_for::<Vec<Row>>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".into(), "colgrep --json".into());
        object.insert("x-version".into(), SCHEMA_VERSION.into());
    }
    schema
}

/// Prints `hits` as one array on one line, or with --jsonl one a line, each as soon as it is there; gives how many of
/// them fitted.
///
/// # Errors
/// When `out` refuses or the index can't be read.
pub fn print(
    out: &mut impl Write,
    found: &[Found<'_>],
    hits: &[(usize, usize)],
    args: &SearchArgs,
    budget: &mut Budget,
) -> Result<usize> {
    if args.json {
        // The brackets and the line's end.
        budget.take(3);
        write!(out, "[")?;
    }
    let mut shown = 0;
    for &(f, h) in hits {
        let Some(row) = fitting(&found[f], h, args, budget, shown == 0)? else { break };
        if args.json {
            write!(out, "{}{row}", if shown > 0 { "," } else { "" })?;
        } else {
            writeln!(out, "{row}")?;
            out.flush()?;
        }
        shown += 1;
    }
    if args.json {
        writeln!(out, "]")?;
    }
    Ok(shown)
}

/// Prints a query with its hits on one line and says how many of them; `max_tokens` holds for each line.
///
/// # Errors
/// When `out` refuses or the index can't be read.
pub fn print_answers(
    out: &mut impl Write,
    query: &str,
    found: &[Found<'_>],
    hits: &[(usize, usize)],
    max_tokens: Option<usize>,
) -> Result<usize> {
    let mut budget = Budget::new(max_tokens);
    budget.take(query.len() + 24);
    let mut rows = Vec::new();
    for &(f, h) in hits {
        let mut row = hit(&found[f], h)?;
        if fit(&mut row, &mut budget, rows.is_empty())?.is_none() {
            break;
        }
        rows.push(row);
    }
    let shown = rows.len();
    writeln!(out, "{}", serde_json::to_string(&Answers { query, hits: rows })?)?;
    Ok(shown)
}

/// A row as text, if it fits.
fn fitting(one: &Found<'_>, h: usize, args: &SearchArgs, budget: &mut Budget, first: bool) -> Result<Option<String>> {
    if !args.names_only() {
        return fit(&mut hit(one, h)?, budget, first);
    }
    let file = absolute(&one.place.project.root, one.path(h));
    let text = serde_json::to_string(&Line::of_file(file, args.count.then(|| one.units_in_file(h))))?;
    Ok(budget.take(text.len() + 1).then_some(text))
}

/// Spends a row's bytes. The first row is worth a part of it: it gives up its lists, then lines of its code.
fn fit(row: &mut Hit, budget: &mut Budget, first: bool) -> Result<Option<String>> {
    let mut text = serde_json::to_string(row)?;
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
        text = serde_json::to_string(row)?;
        if budget.take(text.len() + 1) {
            return Ok(Some(text));
        }
        let Some((shorter, _)) = row.unit.code.rsplit_once('\n') else { return Ok(None) };
        row.unit.code.truncate(shorter.len());
    }
}

fn hit(one: &Found<'_>, h: usize) -> Result<Hit> {
    let hit = &one.answer.hits[h];
    let path = &one.answer.files[hit.file].path;
    let record = one.place.snapshot.files.files.iter().find(|f| f.path == *path);
    let lexical = &one.place.snapshot.lexical;
    let text = read_text(&one.place.project.root, path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut matches = Vec::new();
    let mut best = None;
    for candidate in &hit.units {
        let unit = lexical.unit(candidate.unit)?;
        matches.push(Match {
            line: unit.span.line,
            end_line: unit.span.end,
            name: unit.qualified_name(),
            score: candidate.score,
        });
        best.get_or_insert(unit);
    }
    let best = best.unwrap_or_default();
    let first = best.span.line.saturating_sub(1) as usize;
    let code =
        lines.get(first.min(lines.len())..(best.span.end as usize).min(lines.len())).unwrap_or_default().join("\n");
    let called_by = if best.name.is_empty() { Vec::new() } else { lexical.callers(&best.name)? };
    let imports = record.map(|r| lexical.imports(r.id)).transpose()?.unwrap_or_default();
    Ok(Hit {
        unit: JsonUnit {
            qualified_name: best.qualified_name(),
            file: absolute(&one.place.project.root, path),
            line: matches.iter().map(|m| m.line).min().unwrap_or_default(),
            end_line: matches.iter().map(|m| m.end_line).max().unwrap_or_default(),
            language: record.map(|r| r.language.clone()).unwrap_or_default(),
            unit_type: best.kind.name(),
            return_type: Some(best.return_type).filter(|r| !r.is_empty()),
            parent_class: Some(best.parent).filter(|p| !p.is_empty()),
            name: best.name,
            signature: best.signature,
            docstring: best.docstring,
            parameters: best.parameters,
            extends: best.extends,
            calls: best.calls,
            called_by,
            imports,
            variables: best.variables,
            code,
        },
        score: hit.score,
        explain: one
            .explanation
            .as_ref()
            .and_then(|e| hit.units.first().map(|u| e.steps(u.unit).into_iter().map(Step::from).collect())),
        matches,
    })
}
