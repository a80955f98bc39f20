//! The texts of indexed units, put together again without a parser: from what the index keeps of a unit, and the lines
//! of its file. A text that comes out differently shows by its hash.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use colgrep_core::UnitKind;
use rayon::prelude::*;

use super::text::{text_hash, unit_text};
use crate::error::Result;
use crate::lexical::{UnitHit, UnitSpan};
use crate::parse::{BLOCK_LINES, BODY_BYTES_MAX, SECTION_LINES_MAX};
use crate::store::{FileRecord, Snapshot};
use crate::update::read_text;

/// The texts of those units that can be restored, by their hash ([`text_hash`]). What is left out are units whose file
/// changed or is gone, and a few whose body is not made of whole lines or was joined of several.
///
/// # Errors
/// When the index can't be read.
pub(crate) fn restore(snapshot: &Snapshot, units: &[UnitHit]) -> Result<HashMap<u64, String>> {
    let mut of_file: HashMap<u32, Vec<&UnitHit>> = HashMap::new();
    for unit in units {
        of_file.entry(unit.file).or_default().push(unit);
    }
    let records = snapshot.files.files.iter();
    let wanted: Vec<(&FileRecord, Vec<&UnitHit>)> = records.filter_map(|r| Some((r, of_file.remove(&r.id)?))).collect();
    let parts: Vec<Vec<(u64, String)>> = wanted
        .par_iter()
        .with_max_len(1)
        .map(|(record, units)| of_one(snapshot, record, units))
        .collect::<Result<_>>()?;
    Ok(parts.into_iter().flatten().collect())
}

/// Texts of units of one file.
fn of_one(snapshot: &Snapshot, record: &FileRecord, units: &[&UnitHit]) -> Result<Vec<(u64, String)>> {
    let Ok(source) = read_text(Path::new(&snapshot.files.root), &record.path) else { return Ok(Vec::new()) };
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let spans = snapshot.lexical.spans_of(record.id)?;
    let wanted: HashSet<u64> = units.iter().map(|u| u.key).collect();
    let mut texts = Vec::new();
    for span in spans.iter().filter(|s| wanted.contains(&s.key)) {
        let mut unit = snapshot.lexical.unit(span.key)?;
        unit.body = body(&lines, span, &spans);
        let text = unit_text(&record.path, &unit);
        let hash = text_hash(&text);
        if hash == snapshot.lexical.text_of(span.key) {
            texts.push((hash, text));
        }
    }
    Ok(texts)
}

/// A unit's lines but for those of the units inside it, of which the first lines stay: what the parser makes its body.
fn body(lines: &[&str], unit: &UnitSpan, all: &[UnitSpan]) -> String {
    let inside = |s: &&UnitSpan| s.key != unit.key && s.line >= unit.line && s.end <= unit.end;
    let is_member = |s: &&UnitSpan| !matches!(s.kind, UnitKind::Constant | UnitKind::RawCode | UnitKind::Document);
    let members = all.iter().filter(inside).filter(is_member);
    let mut gaps: Vec<(u32, u32)> = members.map(|member| (member.line + 1, member.end)).collect();
    gaps.sort_unstable();
    let (mut own, mut at): (Vec<u32>, u32) = (Vec::new(), unit.line);
    for (first, end) in gaps {
        own.extend(at..first.min(unit.end + 1));
        at = at.max(end + 1);
    }
    own.extend(at..=unit.end);
    if unit.kind == UnitKind::Section && own.len() > SECTION_LINES_MAX as usize {
        own.truncate(BLOCK_LINES as usize);
    }
    let mut body = String::new();
    for line in own.iter().filter_map(|line| lines.get((*line as usize).checked_sub(1)?)) {
        let room = BODY_BYTES_MAX.saturating_sub(body.len());
        body.push_str(&line[..line.floor_char_boundary(room)]);
        if line.len() >= room {
            break;
        }
    }
    body
}
