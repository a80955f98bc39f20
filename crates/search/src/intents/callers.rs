//! Questions for the callers of a name, and for the subtypes of a type.

use colgrep_core::UnitKind;
use colgrep_core::code_line::NAME_LINES_MAX;
use colgrep_core::identifier_style::is_name_in_question;
use colgrep_core::query::intents::{Certainty, Pointer};
use colgrep_core::query::{base_name, last_segment};

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
/// Maximum of files that are read for subtypes: of a common base, most uses are elsewhere.
const SUBTYPE_FILES_MAX: usize = 8 * FILES_READ_MAX;
/// Maximum of bytes in all of them.
const SUBTYPE_BYTES_MAX: u64 = 4 * BYTES_READ_MAX;

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
    resolve: |lookup, found, asked| callers(lookup, found, asked).and_then(|found| below_title(lookup, found)),
    settles: &[],
    yields_to: &[],
};

pub(super) const SUBTYPES: Intent = Intent {
    name: "subtypes",
    doc: "The types whose definitions extend or implement the name, and extensions that do, at the line that names it.",
    examples: &[
        ("what extends Socket", "Socket"),
        ("implementations of Socket", "Socket"),
        ("which classes implement Socket", "Socket"),
        ("extends Socket", "Socket"),
    ],
    parse: |query| query.intents.subtypes_of.iter().cloned().collect(),
    resolve: |lookup, found, asked| subtypes(lookup, found, asked).and_then(|found| below_title(lookup, found)),
    settles: &[],
    yields_to: &[],
};

/// A heading that is the question, word for word, comes before what answers it.
fn below_title(lookup: &mut IntentLookup<'_>, mut found: Resolved) -> Result<Resolved> {
    if !lookup.query.is_everywhere() && !lookup.written()?.units.is_empty() {
        found.pointers.units.values_mut().for_each(|pointer| pointer.certainty = Certainty::Words);
    }
    Ok(found)
}

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

fn subtypes(lookup: &mut IntentLookup<'_>, _: &ResolvedSoFar, asked: &[String]) -> Result<Resolved> {
    let name = base_name(&asked[0]);
    let mut pointers = Pointers::default();
    let Some(term) = term_of_word(name, lookup.tokenizer) else { return Ok(Resolved::open(pointers)) };
    let files = lookup.rounds.ask(&FilesWithAllRequest { terms: vec![term] })?;
    let files = lookup.readable(&files, SUBTYPE_FILES_MAX, SUBTYPE_BYTES_MAX)?;
    let mut found = units_at(lookup, &files, ScanTarget::Uses(name.to_string()))?;
    found.retain(|(unit, _)| unit.kind == UnitKind::Class);
    found.dedup_by_key(|(unit, _)| unit.unit);
    let units = found.iter().map(|(unit, _)| unit.unit).collect();
    for ((unit, line), stored) in found.into_iter().zip(lookup.rounds.ask(&StoredUnitsRequest { units })?) {
        if stored.extends.iter().any(|base| base_name(base) == name) {
            let pointer = Pointer { certainty: Certainty::Exact, strength: 0.5, line };
            pointers.units.entry(unit.unit).or_insert(pointer);
        }
    }
    Ok(Resolved::open(pointers))
}

/// Points at the units around the lines that `look` finds, except for the definition of the name.
fn add_lines(
    lookup: &IntentLookup<'_>,
    files: &[FilePlace],
    name: &str,
    look: ScanTarget,
    strength: f32,
    pointers: &mut Pointers,
) -> Result<()> {
    let found = units_at(lookup, files, look)?;
    let units = found.iter().map(|(unit, _)| unit.unit).collect();
    for ((unit, line), stored) in found.into_iter().zip(lookup.rounds.ask(&StoredUnitsRequest { units })?) {
        let is_definition = last_segment(&stored.name) == name && line < unit.line + NAME_LINES_MAX as u32;
        if !is_definition {
            pointers.units.entry(unit.unit).or_insert(Pointer { certainty: Certainty::Exact, strength, line });
        }
    }
    Ok(())
}

/// The units around the lines that `look` finds, each with its line. What a document contains is an example.
fn units_at(lookup: &IntentLookup<'_>, files: &[FilePlace], look: ScanTarget) -> Result<Vec<(UnitFound, u32)>> {
    let seen = lookup.rounds.scan(files, look)?.into_iter().filter(|(_, seen)| !seen.is_text);
    let lines: Vec<(FilePlace, u32)> = seen.map(|(file, seen)| (file, seen.line)).collect();
    let around = lookup.rounds.ask(&EnclosingRequest { lines: lines.clone() })?.into_iter().zip(&lines);
    Ok(around.filter_map(|(unit, (_, line))| Some((unit?, *line))).collect())
}
