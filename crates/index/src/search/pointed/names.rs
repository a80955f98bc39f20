//! Names: the definitions that a query asks for by name, and who calls them.

use std::collections::HashSet;

use colgrep_core::clue::{Certainty, Clues, Declaration, Pointer};
use colgrep_core::code_line::{LAMBDAS, is_binding};
use colgrep_core::query::{Query, last_segment};
use colgrep_core::token::{is_word_char, parts};
use colgrep_core::{UnitKind, UnitRole};
use colgrep_syntax::language;

use super::{Point, Search};
use crate::error::Result;
use crate::ids::FilePlace;
use crate::lexical::{Run, run_of};
use crate::search::local::NAME_LINES_MAX;
use crate::search::shard::{DefinitionFound, DefinitionsAsked, LineOf, Look, UnitFound};

/// Units that one name points at, at most.
const UNITS_POINTED_MAX: usize = 50;
/// Definitions that a name may have for each of them to be what is meant. With more, the ranking decides.
const DEFINITIONS_MAX: usize = 3;
/// Files that are read for lines that announce or call a name.
const FILES_READ_MAX: usize = 64;
/// Bytes of all files that are read.
const BYTES_READ_MAX: u64 = 8 << 20;

/// How code calls what it stands in: they own no name.
const SELVES: &[&str] = &["Self", "cls", "crate", "self", "super", "this"];

impl Search<'_> {
    /// The definitions of the name that the whole query is, and whether it has any. Where it has only a few, they are
    /// pointed at.
    pub(super) fn named(&mut self, query: &Query) -> Result<bool> {
        let Some(identifier) = query.identifiers.iter().find(|i| i.whole_query) else { return Ok(false) };
        if language::facts().is_file_name(query.text.trim()) {
            return Ok(false);
        }
        let name = identifier.name.as_str();
        let (units, is_owned) = self.defining(name, &query.text)?;
        // `@expires.setter` is no setter of others.
        let stands = !is_owned && self.stands_in_few(&query.text)?;
        if units.is_empty() {
            return Ok(stands || self.named_inside(name)?);
        }
        if units.len() <= DEFINITIONS_MAX {
            self.point_at_names(&units, name)?;
        }
        Ok(true)
    }

    /// Points at a written path of names where it stands as typed, in a few units, and tells whether it does.
    fn stands_in_few(&mut self, written: &str) -> Result<bool> {
        let path: Vec<&str> = path_of(written).collect();
        if path.len() < 2 || (path.len() == 2 && SELVES.contains(&path[0])) {
            return Ok(false);
        }
        let known = self.found.clone();
        let stands = self.text(written)? && self.found.units.len() <= known.units.len() + DEFINITIONS_MAX;
        if !stands {
            self.found = known;
        }
        Ok(stands)
    }

    /// The same for a name that no unit has: functions and types inside others, else what is bound to the name, which may
    /// be a function. A plain word is bound to values in any code.
    fn named_inside(&mut self, name: &str) -> Result<bool> {
        let (bindings, others): (Vec<&str>, Vec<&str>) =
            language::facts().declaration_keywords().partition(|word| is_binding(word));
        let places = self.announced(name, &others)?;
        if places.len() <= DEFINITIONS_MAX {
            self.point(&points(&places, 1.0))?;
        }
        if !places.is_empty() || is_plain(name) {
            return Ok(!places.is_empty());
        }
        let places = self.announced(name, &bindings)?;
        let are_few = (1..=DEFINITIONS_MAX).contains(&places.len());
        if are_few {
            self.point(&points(&places, 1.0))?;
        }
        Ok(are_few)
    }

    /// The units that define a name, written so. Of one that is defined, those that only announce it are left out, of a
    /// type's file its constructors, and of a written path (`Session.get`) those that lie elsewhere. And whether they lie
    /// in what the path names.
    fn defining(&self, name: &str, written: &str) -> Result<(Vec<UnitFound>, bool)> {
        let path: Vec<&str> = path_of(written).collect();
        let owner = path.len().checked_sub(2).map(|i| path[i].to_string());
        let asked = DefinitionsAsked { name: name.to_string(), owner, ..DefinitionsAsked::default() };
        let mut units: Vec<DefinitionFound> =
            self.rounds.definitions(&asked)?.into_iter().filter(|found| found.is_named).collect();
        let best = |keep: &dyn Fn(&DefinitionFound) -> bool, units: &mut Vec<DefinitionFound>| {
            if units.iter().any(keep) {
                units.retain(keep);
            }
        };
        best(&|found| found.unit.role == UnitRole::Definition, &mut units);
        best(&|found| found.is_owned, &mut units);
        let is_owned = units.iter().any(|found| found.is_owned);
        let mut units: Vec<UnitFound> = units.into_iter().map(|found| found.unit).collect();
        let types: HashSet<FilePlace> =
            units.iter().filter(|unit| unit.kind == UnitKind::Class).map(|unit| unit.file).collect();
        units.retain(|unit| unit.kind == UnitKind::Class || !types.contains(&unit.file));
        // Fields and members of an enum bear the names of types and functions.
        if units.iter().any(|unit| unit.kind != UnitKind::Constant) {
            units.retain(|unit| unit.kind != UnitKind::Constant);
        }
        Ok((units, is_owned))
    }

    /// The definition that keyword and name announce.
    pub(super) fn declared(&mut self, clues: &Clues) -> Result<()> {
        let Some(Declaration { keyword, name }) = &clues.declaration else { return Ok(()) };
        let asked = DefinitionsAsked {
            name: name.clone(),
            owner: None,
            keyword: Some(keyword.clone()),
            max: Some(UNITS_POINTED_MAX),
        };
        let found = self.rounds.definitions(&asked)?.into_iter();
        let mut units: Vec<UnitFound> =
            found.filter(|found| found.is_named && found.is_announced).map(|found| found.unit).collect();
        if units.iter().any(|unit| unit.role == UnitRole::Definition) {
            units.retain(|unit| unit.role == UnitRole::Definition);
        }
        // "Static files" is no binding.
        if units.is_empty() && !(is_binding(keyword) && is_plain(name)) {
            let places = self.announced(name, &[keyword])?;
            self.point(&points(&places, 0.5))?;
        }
        self.point_at_names(&units, name)
    }

    /// Lines that announce a name with one of some keywords in front, in units that have other names: functions inside
    /// functions, what stands in a text of another language.
    fn announced(&mut self, name: &str, keywords: &[&str]) -> Result<Vec<(FilePlace, u32)>> {
        let announced = keywords.iter().map(|keyword| format!("{keyword} {name}"));
        let bound = LAMBDAS.iter().map(|lambda| format!("{name} {lambda}"));
        let runs: Vec<Run> =
            announced.chain(bound).map(|text| run_of(&text, self.tokenizer)).filter(|run| run.len() > 1).collect();
        let mut files = if runs.is_empty() { Vec::new() } else { self.rounds.runs(&runs)?.concat() };
        files.sort_unstable();
        files.dedup();
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let keywords = keywords.iter().map(|keyword| (*keyword).to_string()).collect();
        let seen = self.rounds.look(&files, &Look::Announces { name: name.to_string(), keywords })?;
        Ok(seen.into_iter().map(|(file, seen)| (file, seen.line)).collect())
    }

    /// Who calls the name that is asked about, each with the line of the call.
    pub(super) fn callers(&mut self, clues: &Clues) -> Result<()> {
        let Some(asked) = clues.callers_of.as_deref() else { return Ok(()) };
        let name = last_segment(asked);
        let mut units = self.rounds.callers(asked)?;
        units.truncate(UNITS_POINTED_MAX);
        self.point_at_lines(&units, &LineOf::Call(name.to_string()))?;
        // Calls outside of units, and those that a grammar does not show.
        let Some(term) = crate::lexical::term_of_word(name, self.tokenizer) else { return Ok(()) };
        let terms = [term];
        if self.rounds.counts(&terms, 0)?.iter().any(|count| count.units.most() > FILES_READ_MAX as u64 * 8) {
            return Ok(());
        }
        let files = self.rounds.holding_all(&terms)?;
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        // What a text shows of a call calls nothing.
        let seen = self.rounds.look(&files, &Look::Calls(name.to_string()))?.into_iter().filter(|(_, s)| !s.is_text);
        let lines: Vec<(FilePlace, u32)> = seen.map(|(file, seen)| (file, seen.line)).collect();
        let around = self.rounds.around(&lines)?;
        let found: Vec<(UnitFound, u32)> =
            around.into_iter().zip(&lines).filter_map(|(unit, (_, line))| Some((unit?, *line))).collect();
        let keys: Vec<_> = found.iter().map(|(unit, _)| unit.unit).collect();
        for ((unit, line), stored) in found.into_iter().zip(self.rounds.stored(&keys)?) {
            if last_segment(&stored.name) == name && line < unit.line + NAME_LINES_MAX as u32 {
                continue;
            }
            let pointer = Pointer { certainty: Certainty::Exact, strength: 0.5, line };
            self.found.units.entry(unit.unit).or_insert(pointer);
        }
        Ok(())
    }

    /// Points at units, each by the line that names it.
    fn point_at_names(&mut self, units: &[UnitFound], name: &str) -> Result<()> {
        self.point_at_lines(units, &LineOf::Name(name.to_string()))
    }

    /// Points at units, each by the line that is wanted of it, else by its own.
    fn point_at_lines(&mut self, units: &[UnitFound], line: &LineOf) -> Result<()> {
        let keys: Vec<_> = units.iter().map(|unit| unit.unit).collect();
        for (unit, line) in keys.iter().zip(self.rounds.lines(&keys, line)?) {
            self.point_at(*unit, Pointer { certainty: Certainty::Exact, strength: 0.5, line });
        }
        Ok(())
    }
}

/// The names in a written path of them.
fn path_of(written: &str) -> impl Iterator<Item = &str> {
    written.split(|c: char| !is_word_char(c)).filter(|part| !part.is_empty())
}

/// Whether a name has one part, as a word of a sentence has.
fn is_plain(name: &str) -> bool {
    parts(name).nth(1).is_none()
}

/// Lines that are pointed at as the places of a name.
fn points(places: &[(FilePlace, u32)], strength: f32) -> Vec<Point> {
    let point =
        |(file, line): &(FilePlace, u32)| Point { file: *file, line: *line, certainty: Certainty::Exact, strength };
    places.iter().map(point).collect()
}
