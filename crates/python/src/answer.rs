//! Answers as the package reads them: JSON whose fields are those of its result classes.

use std::collections::BTreeMap;

use colgrep_engine::answer::{Answer, FileAnswer, Step, UnitAnswer};
use colgrep_engine::history::HistoryAnswer;
use colgrep_engine::project::Project;
use colgrep_index::ErrorKind;
use colgrep_index::store::Snapshot;
use colgrep_index::update::UpdateReport;
use serde::Serialize;
use serde_json::json;

use crate::failure::Result;

#[derive(Serialize)]
struct File<'a> {
    root: String,
    path: &'a str,
    language: &'a str,
    score: f32,
    strength: f32,
    units: Vec<Unit<'a>>,
    also_here: u64,
    imports: &'a [String],
    matching_lines: Option<&'a [u32]>,
}

#[derive(Serialize)]
struct Unit<'a> {
    id: String,
    kind: &'static str,
    name: &'a str,
    qualified_name: String,
    signature: &'a str,
    docstring: &'a str,
    parameters: &'a [String],
    return_type: &'a str,
    extends: &'a [String],
    calls: &'a [String],
    called_by: &'a [String],
    first_line: u32,
    line: u32,
    last_line: u32,
    code: String,
    score: f32,
    best_line: usize,
    best_line_text: &'a str,
    best_line_column: usize,
    steps: Option<&'a [Step]>,
}

impl<'a> File<'a> {
    fn new(file: &'a FileAnswer) -> File<'a> {
        File {
            root: file.root.display().to_string(),
            path: &file.path,
            language: &file.language,
            score: file.score,
            strength: file.strength,
            units: file.units.iter().map(|unit| Unit::new(unit, &file.text)).collect(),
            also_here: file.also_here,
            imports: &file.imports,
            matching_lines: file.matching_lines.as_deref(),
        }
    }
}

impl<'a> Unit<'a> {
    fn new(answer: &'a UnitAnswer, text: &str) -> Unit<'a> {
        let unit = &answer.unit;
        let lines = (unit.span.end + 1).saturating_sub(unit.span.first) as usize;
        let code: Vec<&str> = text.lines().skip(unit.span.first.saturating_sub(1) as usize).take(lines).collect();
        Unit {
            id: answer.id.to_string(),
            kind: unit.kind.name(),
            name: &unit.name,
            qualified_name: unit.qualified_name(),
            signature: &unit.signature,
            docstring: &unit.docstring,
            parameters: &unit.parameters,
            return_type: &unit.return_type,
            extends: &unit.extends,
            calls: &unit.calls,
            called_by: &answer.called_by,
            first_line: unit.span.first,
            line: unit.span.line,
            last_line: unit.span.end,
            code: code.join("\n"),
            score: answer.score,
            best_line: answer.line.number,
            best_line_text: &answer.line.text,
            best_line_column: answer.line.column(),
            steps: answer.steps.as_deref(),
        }
    }
}

pub fn search(answer: &Answer, notices: Vec<String>) -> Result<String> {
    let files: Vec<File<'_>> = answer.files.iter().map(File::new).collect();
    Ok(serde_json::to_string(&json!({ "query": answer.query, "files": files, "notices": notices }))?)
}

pub fn history(answer: &HistoryAnswer, mut notices: Vec<String>) -> Result<String> {
    notices.extend(answer.earlier.iter().map(ToString::to_string));
    notices.extend(answer.absent.iter().map(ToString::to_string));
    let entries = answer.entries.iter().map(|entry| {
        let (transcript, line) = entry.place.as_ref().map(|(path, line)| (path.display().to_string(), *line)).unzip();
        json!({
            "source": entry.source.name(),
            "id": entry.id,
            "short": entry.short,
            "transcript": transcript,
            "line": line,
            "subject": entry.subject,
            "files": entry.files,
            "date": entry.date,
            "score": entry.score,
            "text": entry.text,
            "steps": entry.steps,
        })
    });
    let entries: Vec<serde_json::Value> = entries.collect();
    Ok(json!({ "entries": entries, "uncommitted": answer.uncommitted, "notices": notices }).to_string())
}

pub fn update(snapshot: &Snapshot, report: &UpdateReport, notices: Vec<String>) -> Result<String> {
    let answer = json!({
        "files": snapshot.files.indexed().count(),
        "changed": report.changed,
        "removed": report.removed,
        "units": report.units,
        "bytes": report.bytes,
        "encoded": report.encoded,
        "without_vectors": report.without_vectors,
        "complete": snapshot.files.complete,
        "notices": notices,
    });
    Ok(answer.to_string())
}

/// The state of an index.
pub fn status(project: &Project) -> Result<String> {
    let snapshot = match project.store.open() {
        Ok(snapshot) => Some(snapshot),
        Err(error) if error.kind() == ErrorKind::Missing => None,
        Err(error) => return Err(error.into()),
    };
    let table = snapshot.as_ref().map(|snapshot| &snapshot.files);
    let mut languages: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut files, mut units, mut source_bytes) = (0u64, 0u64, 0u64);
    for file in table.into_iter().flat_map(|table| table.indexed()) {
        files += 1;
        units += u64::from(file.units);
        source_bytes += file.size;
        *languages.entry(&file.language).or_default() += 1;
    }
    let skipped = table.map(|table| table.skipped().values().map(Vec::len).sum()).unwrap_or(0usize);
    let answer = json!({
        "root": project.root.display().to_string(),
        "index": project.store.folder().display().to_string(),
        "indexed": snapshot.is_some(),
        "complete": table.is_some_and(|table| table.complete),
        "files": files,
        "units": units,
        "skipped": skipped,
        "source_bytes": source_bytes,
        "index_bytes": project.store.bytes_on_disk(),
        "index_mode": table.map(|table| table.mode.name()),
        "model": snapshot.as_ref().and_then(|s| Some(s.vectors.as_ref()?.manifest().model.clone())),
        "languages": languages,
    });
    Ok(answer.to_string())
}
