//! Questions for the callers of a name.

use colgrep_core::code_line::NAME_LINES_MAX;
use colgrep_core::identifier_style::is_name_in_question;
use colgrep_core::query::intents::{Certainty, Pointer};
use colgrep_core::query::last_segment;

use super::lookup::{BYTES_READ_MAX, FILES_READ_MAX, IntentLookup, UNITS_MAX};
use super::{Intent, Pointers, Resolved, ResolvedSoFar};
use crate::rounds::{
    DefinitionsRequest, EnclosingRequest, FilesWithAllRequest, LineOf, ScanTarget, StoredUnitsRequest,
};
use crate::shard::UnitFound;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::term_of_word;

/// Maximum of units with a name for its files to be read.
const UNITS_WITH_NAME_MAX: u64 = 8 * FILES_READ_MAX as u64;

pub(super) const CALLERS: Intent = Intent {
    name: "callers",
    doc: "The code that calls the name, at the line of the call: outside comments and literals if there is such a line; \
          of a name without calls, its uses. For all places of a name, callers precede its definition.",
    examples: &[
        ("who calls open", "open"),
        ("find all callers of open_socket", "open_socket"),
        ("where is open_socket used in src", "open_socket"),
        ("open_socket callers", "open_socket"),
    ],
    parse: |query| query.intents.callers_of.iter().cloned().collect(),
    resolve: callers,
    settles: &[],
    yields_to: &[],
};

fn callers(lookup: &mut IntentLookup<'_>, _: &ResolvedSoFar, asked: &[String]) -> Result<Resolved> {
    let IntentLookup { rounds, query, .. } = *lookup;
    let strength = if query.is_everywhere() { 1.0 } else { 0.5 };
    let name = last_segment(&asked[0]);
    let mut units = rounds.callers(&asked[0])?;
    units.truncate(UNITS_MAX);
    let mut pointers = lookup.point_at_lines(&units, &LineOf::Call(name.to_string()), strength)?;
    // Calls outside units, and those that a grammar does not mark.
    let Some(term) = term_of_word(name, lookup.tokenizer) else { return Ok(Resolved::open(pointers)) };
    let terms = vec![term];
    if rounds.term_counts(&terms, 0)?.iter().any(|count| count.units.most() > UNITS_WITH_NAME_MAX) {
        return Ok(Resolved::open(pointers));
    }
    let files = lookup.readable(&rounds.ask(&FilesWithAllRequest { terms })?, FILES_READ_MAX, BYTES_READ_MAX)?;
    add_lines(lookup, &files, name, ScanTarget::Calls(name.to_string()), strength, &mut pointers)?;
    // Nothing calls a constant or a type, but code uses it.
    let defined = DefinitionsRequest { name: name.to_string(), ..DefinitionsRequest::default() };
    let is_known = || -> Result<bool> {
        Ok(is_name_in_question(name) || rounds.ask(&defined)?.iter().any(|found| found.is_named))
    };
    if pointers.units.is_empty() && is_known()? {
        add_lines(lookup, &files, name, ScanTarget::Uses(name.to_string()), strength, &mut pointers)?;
    }
    Ok(Resolved::open(pointers))
}

/// Points at the units around the lines that `look` finds, except for the definition of the name. Calls in a document are
/// examples.
fn add_lines(
    lookup: &IntentLookup<'_>,
    files: &[FilePlace],
    name: &str,
    look: ScanTarget,
    strength: f32,
    pointers: &mut Pointers,
) -> Result<()> {
    let rounds = lookup.rounds;
    let seen = rounds.scan(files, look)?.into_iter().filter(|(_, seen)| !seen.is_text);
    let lines: Vec<(FilePlace, u32)> = seen.map(|(file, seen)| (file, seen.line)).collect();
    let around = rounds.ask(&EnclosingRequest { lines: lines.clone() })?.into_iter().zip(&lines);
    let found: Vec<(UnitFound, u32)> = around.filter_map(|(unit, (_, line))| Some((unit?, *line))).collect();
    let keys: Vec<_> = found.iter().map(|(unit, _)| unit.unit).collect();
    for ((unit, line), stored) in found.into_iter().zip(rounds.ask(&StoredUnitsRequest { units: keys })?) {
        let is_definition = last_segment(&stored.name) == name && line < unit.line + NAME_LINES_MAX as u32;
        if !is_definition {
            pointers.units.entry(unit.unit).or_insert(Pointer { certainty: Certainty::Exact, strength, line });
        }
    }
    Ok(())
}
