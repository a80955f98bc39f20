//! The note on the unit around a shown line: kind, qualified name, lines, and how many others of the file match.

use colgrep_core::UnitKind;
use colgrep_engine::answer::UnitAnswer;

use super::escape::escape_control;
use crate::words::counted;

/// The unit around a line, as `[method Queue.push 6-9; also 3 units]`, and in a shorter form without the others; none
/// where the line itself names the unit, and outside any named unit.
pub fn enclosing(answered: &UnitAnswer, also: u64) -> Vec<String> {
    let unit = &answered.unit;
    if unit.kind == UnitKind::RawCode || unit.name.is_empty() || answered.line.number == answered.name_line {
        return Vec::new();
    }
    let lines = format!("{}-{}", unit.span.line, answered.last_line.max(unit.span.line as usize));
    let named = format!("{} {} {lines}", unit.kind.name(), escape_control(&unit.qualified_name()));
    let others = (also > 0).then(|| format!("[{named}; also {}]", counted(also, "unit")));
    others.into_iter().chain([format!("[{named}]")]).collect()
}
