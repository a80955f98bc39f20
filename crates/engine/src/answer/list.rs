//! A list instead of a ranking: every unit that a filter allows, by path and line.

use colgrep_core::code_line::calling_line;
use colgrep_core::collapse::FileHit;
use colgrep_core::rank::{FileFacts, RankedUnit};
use colgrep_index::lexical::{UnitFilter, UnitHit};
use colgrep_index::store::Snapshot;
use colgrep_syntax::language;

use crate::error::Result;
use crate::request::Facts;

/// How much is listed.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Files, at most; units, where `single_units`.
    pub results: usize,
    /// Units of each file, at most.
    pub units_per_file: usize,
    /// Whether units are counted instead of files.
    pub single_units: bool,
}

/// The units that a filter allows, a result for each file.
pub fn list(
    snapshot: &Snapshot,
    filter: Option<&dyn UnitFilter>,
    length: Length,
) -> Result<colgrep_search::CorpusAnswer> {
    let mut answer = colgrep_search::CorpusAnswer::default();
    for record in snapshot.files.indexed() {
        let left = match length.single_units {
            true => length.results - answer.units.len(),
            false if answer.hits.len() < length.results => usize::MAX,
            false => 0,
        };
        if left == 0 {
            break;
        }
        if filter.is_some_and(|f| !f.allows_file(record.id)) {
            continue;
        }
        let mut units = snapshot.lexical.units_of(record.id, filter)?;
        units.truncate(length.units_per_file.min(left));
        if units.is_empty() {
            continue;
        }
        let file = answer.files.len();
        let units: Vec<RankedUnit> = units.iter().map(|unit| listed(unit, file)).collect();
        answer.files.push(FileFacts { path: record.path.clone(), ..FileFacts::default() });
        answer.units.extend_from_slice(&units);
        answer.hits.push(FileHit { file, score: 0.0, strength: 1.0, units });
    }
    Ok(answer)
}

fn listed(unit: &UnitHit, file: usize) -> RankedUnit {
    let UnitHit { key, kind, role, line, .. } = *unit;
    RankedUnit { unit: key, file, kind, role, line, ..RankedUnit::default() }
}

/// The first line of a unit, from `first` to `end`, that calls a name of `facts`; `lines` are the file's, whose
/// comments begin with `marks`.
pub fn call_line(lines: &[&str], first: u32, end: u32, facts: &Facts, marks: &[&str]) -> Option<u32> {
    let cased = |text: &str| if facts.ignore_case { text.to_lowercase() } else { text.to_string() };
    let names: Vec<String> = facts.calls.iter().map(|name| cased(colgrep_core::query::last_segment(name))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let from = (first as usize).saturating_sub(1).min(lines.len());
    let end = (end as usize).clamp(from, lines.len());
    let own: Vec<String> = lines[from..end].iter().copied().map(cased).collect();
    let at = calling_line(own.iter().map(String::as_str), &names, marks, language::facts())?;
    Some((from + at + 1) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_call_is_neither_a_definition_nor_a_comment() {
        let lines =
            ["fn push() {", "    // push(x) waits", "    ring.pushed(1);", "    Ring::push(1);", "    PUSH", "}"];
        for (name, ignore_case, expected) in [
            ("push", false, Some(4)),
            ("Ring.push()", false, Some(4)),
            ("PUSH", false, Some(5)),
            ("PUSH", true, Some(4)),
            ("pop", false, None),
        ] {
            let facts = Facts { calls: vec![name.to_string()], ignore_case, ..Facts::default() };
            assert_eq!(call_line(&lines, 1, 9, &facts, &["//"]), expected, "{name}");
        }
    }
}
