//! Units that belong together, as text and JSON: calls over several levels, and what a change affects.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use colgrep_core::Unit;
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::relations::impact::{AffectedFile, ImpactAnswer, ImpactReason, ReasonKind};
use colgrep_engine::session::related::CallRow;
use colgrep_engine::{CallDirection, CallLevelsAnswer};
use schemars::JsonSchema;
use serde::Serialize;

use crate::budget::RowBudget;
use crate::console::Console;
use crate::escape::escape_control;
use crate::human::{RowLayout, ShownRow, has_long_name, location_columns};
use crate::line::{self, shortened};
use crate::path::{absolute, from_here, shown, typed};
use crate::remarks::RemarkKind;
use crate::rows::write_rows;
use crate::style::{self, paint};
use crate::words::counted;
use crate::{LineLocation, OutputOptions};

/// Reasons of a file in text; JSON has all.
const REASONS_SHOWN: usize = 3;
/// Columns of a signature that come before a note, which says as much.
const CODE_COLUMNS: usize = 20;
/// Common names that a remark lists.
const COMMON_SHOWN: usize = 5;

/// A unit that is reached by calls, with --depth.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CallRow")]
pub(crate) struct JsonCallRow<'a> {
    /// Absolute path.
    file: String,
    /// Its first line, from 1.
    line: u32,
    end_line: u32,
    unit_type: &'static str,
    qualified_name: String,
    /// The number of calls on the way to it.
    level: usize,
    /// `certain` where every call on the way is resolved, else `by name`.
    certainty: &'static str,
    /// The name that is called in the last step.
    callee: &'a str,
    is_test: bool,
}

/// A row of `impact`: a file that a change affects.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Affected")]
pub(crate) struct JsonAffected<'a> {
    /// Absolute path.
    file: String,
    /// The unit that is affected the most: its lines, kind and name; absent where the reasons are about the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qualified_name: Option<String>,
    /// The chance by the weights of the reasons, 0 to 1.
    score: f32,
    is_test: bool,
    /// The strongest first.
    reasons: Vec<JsonReason<'a>>,
}

/// Why a file is affected.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reason")]
struct JsonReason<'a> {
    /// calls, implements, overrides, imports, tests, names, called, together or changed (a test that changed itself).
    kind: &'static str,
    /// The name of a changed unit, or the path of a changed file from the project's root.
    what: &'a str,
    /// The path of a changed unit's file from the project's root.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_file: Option<&'a str>,
    /// For calls: whether they are resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    certainty: Option<&'static str>,
    /// For calls: the number of levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u32>,
    /// For changes together: the number of commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    commits: Option<u32>,
    weight: f32,
}

/// Prints units that are reached by calls, and leaves remarks to `console`.
pub fn print_levels(
    out: &mut impl Write,
    answer: &CallLevelsAnswer,
    direction: CallDirection,
    options: &OutputOptions,
    console: &Console,
) -> Result<()> {
    if options.wish.format.is_json() {
        return write_rows(out, answer.rows.iter().map(json_call), options.wish.format);
    }
    let rows = answer.rows.iter().map(|row| RelatedRow {
        file: &row.file,
        line: row.name_line,
        unit: Some(&row.unit),
        notes: vec![format!("[{}]", level_text(row, direction))],
    });
    let found = answer.rows.len();
    let more = answer.is_cut.then(|| "there are more units; a lower --depth or a path limits the list".to_string());
    let told = |shown: usize| {
        let fitting = (shown < found)
            .then(|| format!("{} fit on the screen; a pager shows {found}", counted(shown as u64, "unit")));
        let remarks: Vec<String> = [fitting, more.clone(), common_names(answer)].into_iter().flatten().collect();
        remarks.join("; ")
    };
    let shown = write_fitting(out, rows, options, &[format!("colgrep: {}", told(0))])?;
    out.flush()?;
    let told = told(shown);
    if !told.is_empty() {
        console.hold(if shown < found || answer.is_cut { RemarkKind::Cut } else { RemarkKind::Quality }, told);
    }
    Ok(())
}

/// A unit that is reached by calls as one line of text: the name of its file, its signature, and how it is reached.
pub fn level_line(name: &str, row: &CallRow, direction: CallDirection) -> String {
    format!("{name}:{}: {}  [{}]\n", row.name_line, unit_text(&row.unit), level_text(row, direction))
}

/// How a unit is reached, in words.
fn level_text(row: &CallRow, direction: CallDirection) -> String {
    let level = format!("level {}", row.level);
    let certainty = if row.is_certain { "" } else { " by name" };
    let call = match direction {
        CallDirection::Callers => format!("calls {}{certainty}", escape_control(&row.callee)),
        CallDirection::Callees => format!("called as {}{certainty}", escape_control(&row.callee)),
    };
    let test = row.is_test.then(|| "test".to_string());
    [Some(level), Some(call), test].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The remark on names that were not followed by name alone; none where all were.
pub fn common_names(answer: &CallLevelsAnswer) -> Option<String> {
    let names = answer.common.iter().take(COMMON_SHOWN);
    let names: Vec<String> = names.map(|(name, count)| format!("{} ({count})", escape_control(name))).collect();
    let more = if answer.common.len() > COMMON_SHOWN { ", …" } else { "" };
    let why = "not followed by name alone, since many units define them";
    (!names.is_empty()).then(|| format!("{why}: {}{more}", names.join(", ")))
}

/// Prints what a change affects.
pub fn print_impact(out: &mut impl Write, answer: &ImpactAnswer, options: &OutputOptions) -> Result<()> {
    if options.wish.format.is_json() {
        return write_rows(out, answer.affected.iter().map(json_affected), options.wish.format);
    }
    let rows = answer.affected.iter().map(|one| {
        let name = |path: &str| from_here(&one.file.root, path).to_string_lossy().into_owned();
        let forms = (1..=one.reasons.len().clamp(1, REASONS_SHOWN)).rev();
        let first = one.reasons.first().map(|reason| reason_text(reason, &name, one.is_test));
        let short = one
            .reasons
            .first()
            .map(|reason| reason_text(&ImpactReason { file: None, ..reason.clone() }, &name, one.is_test));
        let notes = forms.map(|most| reasons_text(one, &name, most)).chain(first).chain(short);
        let notes = notes.map(|note| format!("[{note}]")).collect();
        RelatedRow { file: &one.file, line: one.name_line, unit: one.unit.as_ref(), notes }
    });
    let (changed, found) = (&answer.changed, answer.affected.len());
    let units = counted(changed.units.len() as u64, "changed unit");
    let files = counted(changed.files.len() as u64, "file");
    let told = |shown: usize| match shown < found {
        true => format!(
            "colgrep: {units} in {files}; {} fit on the screen; -k {found} or a pager shows {found}",
            counted(shown as u64, "result")
        ),
        false => format!("colgrep: {units} in {files}"),
    };
    let shown = write_fitting(out, rows, options, &[told(0)])?;
    out.flush()?;
    // Of an empty change the caller knows more to say.
    if !options.wish.quiet && !changed.files.is_empty() {
        remark!("{}", told(shown));
    }
    Ok(())
}

/// What a change is of which only modes of files are left.
pub fn of_modes(files: &[String]) -> String {
    let others = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    format!("only the mode of {}{others} changed", escape_control(&files.first().cloned().unwrap_or_default()))
}

/// An affected file as one line of text: its name, the unit that is affected the most, and the reasons.
pub fn affected_line(one: &AffectedFile) -> String {
    let named = |path: &str| typed(&one.file.root, path);
    let (name, reasons) = (escape_control(&named(&one.file.path)), reasons_text(one, &named, REASONS_SHOWN));
    match &one.unit {
        Some(unit) => format!("{name}:{}: {}  [{reasons}]\n", one.name_line, unit_text(unit)),
        None => format!("{name}  [{reasons}]\n"),
    }
}

/// The strongest reasons of a file in words, at most `most`; `named` names files by their paths from the root.
fn reasons_text(one: &AffectedFile, named: &dyn Fn(&str) -> String, most: usize) -> String {
    let shown = one.reasons.iter().take(most).map(|reason| reason_text(reason, named, one.is_test));
    let mut notes: Vec<String> = shown.collect();
    if one.reasons.len() > most {
        notes.push(format!("{} more", one.reasons.len() - most));
    }
    notes.join("; ")
}

/// A unit as its signature, or else its name.
fn unit_text(unit: &Unit) -> String {
    let text = if unit.signature.is_empty() { unit.qualified_name() } else { unit.signature.clone() };
    shortened(&text)
}

fn reason_text(reason: &ImpactReason, named: &dyn Fn(&str) -> String, is_test: bool) -> String {
    let what = if reason.kind.is_of_file() { named(&reason.what) } else { reason.what.clone() };
    let what = escape_control(&what);
    let of_file = reason.file.as_ref().map(|file| format!(" in {}", escape_control(&named(file)))).unwrap_or_default();
    match reason.kind {
        ReasonKind::Calls => {
            let far = if reason.count > 1 { " indirectly" } else { "" };
            let certainty = if reason.is_certain { "" } else { " by name" };
            format!("calls {what}{of_file}{far}{certainty}")
        }
        ReasonKind::Implements => format!("extends {what}{of_file}"),
        ReasonKind::Overrides => format!("overrides {what}{of_file}"),
        ReasonKind::Imports => format!("imports {what}"),
        ReasonKind::Tests if is_test => format!("tests {what}"),
        ReasonKind::Tests => format!("is tested by {what}"),
        ReasonKind::Names => format!("names {what}{of_file}"),
        ReasonKind::Called => format!("called by {what}{of_file}"),
        ReasonKind::Together => {
            format!("changed with {what} in {}", counted(u64::from(reason.count), "commit"))
        }
        ReasonKind::Changed => "changed itself".to_string(),
    }
}

/// A unit and why it is listed, or a file.
struct RelatedRow<'a> {
    file: &'a FileAnswer,
    line: u32,
    unit: Option<&'a Unit>,
    /// The forms of the note, longest first.
    notes: Vec<String>,
}

/// Writes rows as far as the terminal has room for them and one of the remarks, and returns how many.
fn write_fitting<'a>(
    out: &mut impl Write,
    rows: impl Iterator<Item = RelatedRow<'a>>,
    options: &OutputOptions,
    remarks: &[String],
) -> Result<usize> {
    let mut room = RowBudget::new(&options.look, remarks);
    let mut shown = 0;
    for row in rows {
        let mut block = Vec::new();
        write_row(&mut block, &row, options)?;
        if !room.take(&block) && shown > 0 {
            break;
        }
        out.write_all(&block)?;
        shown += 1;
    }
    Ok(shown)
}

/// Writes `path:line:` and the signature of a unit, then a note.
fn write_row(out: &mut Vec<u8>, row: &RelatedRow<'_>, options: &OutputOptions) -> Result<()> {
    let (name, full) = (shown(row.file), absolute(&row.file.root, &row.file.path));
    let line = row.line as usize;
    let mut options = options.clone();
    // Rows of a file are not next to each other.
    options.look.heading = false;
    if has_long_name(&options, &name, line) {
        options.look.write_name(out, &name, &full, line)?;
        writeln!(out)?;
        options.look.heading = true;
    }
    let text = row.unit.map(unit_text).unwrap_or_default();
    let beside = (!options.look.heading && !options.wish.no_name).then_some(name.as_path());
    let rows = [ShownRow { number: line, separator: ':' }];
    let width = options.look.width;
    let room = width.map(|width| width.saturating_sub(location_columns(beside, line)).max(CODE_COLUMNS));
    let code_columns = room.map_or(CODE_COLUMNS, |room| CODE_COLUMNS.min(room / 2));
    let mut notes = row.notes.clone();
    if let (Some(room), Some(shortest)) = (room, row.notes.last()) {
        let inside = shortest.strip_prefix('[').and_then(|note| note.strip_suffix(']')).unwrap_or(shortest);
        notes.push(format!("[{}]", line::cut(inside, room.saturating_sub(code_columns + "  []".len()))));
    }
    let layout = RowLayout::new((width, code_columns), beside, &rows, |_| text.as_str(), &notes);
    // Reasons about a whole file are about none of its lines.
    options.wish.no_number |= row.unit.is_none();
    match row.unit.is_none() && beside.is_some() && !options.wish.null {
        true => options.look.write_name(out, &name, &full, line)?,
        false => {
            options.write_spot(out, &LineLocation { name: &name, full: &full, line, column: None, separator: ':' })?;
        }
    }
    line::write(out, &text, layout.code, false, &[], &[])?;
    if let Some(note) = layout.note {
        write!(out, "  ")?;
        paint(out, style::DIM, options.look.color, note)?;
    }
    Ok(writeln!(out)?)
}

fn json_call(row: &CallRow) -> JsonCallRow<'_> {
    JsonCallRow {
        file: absolute(&row.file.root, &row.file.path),
        line: row.unit.span.line,
        end_line: row.unit.span.end,
        unit_type: row.unit.kind.name(),
        qualified_name: row.unit.qualified_name(),
        level: row.level,
        certainty: certainty(row.is_certain),
        callee: &row.callee,
        is_test: row.is_test,
    }
}

fn json_affected(one: &AffectedFile) -> JsonAffected<'_> {
    let unit = one.unit.as_ref();
    let reasons = one.reasons.iter().map(|one| {
        let (is_call, is_together) = (one.kind == ReasonKind::Calls, one.kind == ReasonKind::Together);
        JsonReason {
            kind: one.kind.name(),
            what: &one.what,
            of_file: one.file.as_deref(),
            certainty: is_call.then(|| certainty(one.is_certain)),
            level: is_call.then_some(one.count),
            commits: is_together.then_some(one.count),
            weight: one.weight,
        }
    });
    JsonAffected {
        file: absolute(&one.file.root, &one.file.path),
        line: unit.map(|unit| unit.span.line),
        end_line: unit.map(|unit| unit.span.end),
        unit_type: unit.map(|unit| unit.kind.name()),
        qualified_name: unit.map(Unit::qualified_name),
        score: one.score,
        is_test: one.is_test,
        reasons: reasons.collect(),
    }
}

fn certainty(is_certain: bool) -> &'static str {
    if is_certain { "certain" } else { "by name" }
}

/// The files of rows, each once, for `-l`.
pub fn files_of<'a>(files: impl Iterator<Item = &'a FileAnswer>) -> Vec<FileAnswer> {
    let mut seen = HashSet::new();
    files.filter(|file| seen.insert((&file.root, Path::new(&file.path)))).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_in_words() {
        let reason = |kind, is_certain, count| ImpactReason {
            kind,
            what: "Ring.push".into(),
            file: Some("ring.py".into()),
            is_certain,
            count,
            weight: 0.5,
        };
        for (reason, is_test, expected) in [
            (reason(ReasonKind::Calls, true, 1), false, "calls Ring.push in a/ring.py"),
            (reason(ReasonKind::Calls, false, 2), false, "calls Ring.push in a/ring.py indirectly by name"),
            (reason(ReasonKind::Tests, true, 1), true, "tests a/Ring.push"),
            (reason(ReasonKind::Tests, true, 1), false, "is tested by a/Ring.push"),
            (reason(ReasonKind::Together, true, 1), false, "changed with a/Ring.push in 1 commit"),
            (reason(ReasonKind::Together, true, 3), false, "changed with a/Ring.push in 3 commits"),
        ] {
            assert_eq!(reason_text(&reason, &|path| format!("a/{path}"), is_test), expected);
        }
    }
}
