//! Names: the definitions that a query asks for by name, and who calls them.

use std::collections::HashSet;

use colgrep_core::clue::{Certainty, Clues, Declaration, Pointer};
use colgrep_core::code_line::{announces, calls, is_definition_keyword, is_use, naming_line, word_at};
use colgrep_core::query::{Query, last_segment};
use colgrep_core::token::is_word_char;
use colgrep_core::{UnitKind, UnitRole};
use colgrep_syntax::language;

use super::Search;
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{CodeName, UnitHit, run_of};
use crate::source::read_text;

/// Lines behind a unit's first among which its name is looked for: attributes and decorators stand in front.
const NAME_LINES_MAX: usize = 20;
/// Units that one name points at, at most.
const UNITS_POINTED_MAX: usize = 50;
/// Definitions that a name may have for each of them to be what is meant. With more, the ranking decides.
const DEFINITIONS_MAX: usize = 3;
/// Files that are read for lines that announce or call a name.
const FILES_READ_MAX: usize = 64;
/// Bytes of all files that are read.
const BYTES_READ_MAX: u64 = 8 << 20;

impl Search<'_> {
    /// The definitions of the name that the whole query is, and whether it has any. Where it has only a few, they are
    /// pointed at.
    pub(super) fn named(&mut self, query: &Query) -> Result<bool> {
        let Some(identifier) = query.identifiers.iter().find(|i| i.whole_query) else { return Ok(false) };
        if language::facts().is_file_name(query.text.trim()) {
            return Ok(false);
        }
        let name = identifier.name.as_str();
        let units = self.defining(name, &query.text)?;
        if units.is_empty() {
            let places = self.announced(name, None)?;
            if places.len() <= DEFINITIONS_MAX {
                for (file, line) in &places {
                    self.point(*file, *line, Certainty::Exact, 1.0)?;
                }
            }
            return Ok(!places.is_empty());
        }
        if units.len() <= DEFINITIONS_MAX {
            self.point_at_names(&units, name);
        }
        Ok(true)
    }

    /// The units that define a name, written so. Of one that is defined, those that only announce it are left out, of a
    /// type's file its constructors, and of a written path (`Session.get`) those that lie elsewhere.
    fn defining(&self, name: &str, written: &str) -> Result<Vec<UnitHit>> {
        let mut units = Vec::new();
        let path: Vec<&str> = written.split(|c: char| !is_word_char(c)).filter(|part| !part.is_empty()).collect();
        let owner = path.len().checked_sub(2).map(|i| path[i]);
        for unit in self.snapshot.lexical.definitions(name, self.filter)? {
            // The index compares a hash of eight bits.
            let stored = self.snapshot.lexical.unit(unit.key)?;
            if last_segment(&stored.name) == name {
                let is_owned = owner.is_some_and(|owner| stored.parent.split('.').next_back() == Some(owner));
                units.push((unit, is_owned));
            }
        }
        let best = |keep: &dyn Fn(&(UnitHit, bool)) -> bool, units: &mut Vec<(UnitHit, bool)>| {
            if units.iter().any(keep) {
                units.retain(keep);
            }
        };
        best(&|(unit, _)| unit.role == UnitRole::Definition, &mut units);
        best(&|(_, is_owned)| *is_owned, &mut units);
        let types: HashSet<FileId> =
            units.iter().filter(|(unit, _)| unit.kind == UnitKind::Class).map(|(unit, _)| unit.file).collect();
        units.retain(|(unit, _)| unit.kind == UnitKind::Class || !types.contains(&unit.file));
        // Fields and members of an enum bear the names of types and functions.
        best(&|(unit, _)| unit.kind != UnitKind::Constant, &mut units);
        Ok(units.into_iter().map(|(unit, _)| unit).collect())
    }

    /// The definition that keyword and name announce.
    pub(super) fn declared(&mut self, clues: &Clues) -> Result<()> {
        let Some(Declaration { keyword, name }) = &clues.declaration else { return Ok(()) };
        let mut units = Vec::new();
        for unit in self.snapshot.lexical.definitions(name, self.filter)?.into_iter().take(UNITS_POINTED_MAX) {
            let stored = self.snapshot.lexical.unit(unit.key)?;
            let front = &stored.signature[..word_at(&stored.signature, name).unwrap_or(stored.signature.len())];
            let mut words = front.split(|c: char| !is_word_char(c));
            if last_segment(&stored.name) == name && words.any(|word| word == keyword) {
                units.push(unit);
            }
        }
        if units.iter().any(|unit| unit.role == UnitRole::Definition) {
            units.retain(|unit| unit.role == UnitRole::Definition);
        }
        if units.is_empty() {
            for (file, line) in self.announced(name, Some(keyword))? {
                self.point(file, line, Certainty::Exact, 0.5)?;
            }
        }
        self.point_at_names(&units, name);
        Ok(())
    }

    /// Lines that announce a name with a keyword in front, in units that have other names: functions inside functions,
    /// what stands in a text of another language.
    fn announced(&mut self, name: &str, keyword: Option<&str>) -> Result<Vec<(FileId, u32)>> {
        let facts = language::facts();
        let is_wanted = |word: &&str| keyword.map_or_else(|| is_definition_keyword(word, facts), |k| k == *word);
        let mut files = Vec::new();
        for keyword in facts.declaration_keywords().filter(is_wanted) {
            let run = run_of(&format!("{keyword} {name}"), self.tokenizer);
            if run.len() > 1 {
                files.extend(self.snapshot.lexical.files_with_run(&run)?);
            }
        }
        files.sort_unstable();
        files.dedup();
        let records = self.records(&files, FILES_READ_MAX, BYTES_READ_MAX);
        let lines = self.look_into(&records, |record, text| {
            let numbered = text.lines().zip(1u32..).filter(|(line, _)| announces(line, name, facts));
            Some(numbered.map(|(_, number)| (record.id, number)).collect::<Vec<_>>())
        });
        Ok(lines.concat())
    }

    /// Who calls the name that is asked about, each with the line of the call.
    pub(super) fn callers(&mut self, clues: &Clues) -> Result<()> {
        let Some(asked) = clues.callers_of.as_deref() else { return Ok(()) };
        let (name, facts) = (last_segment(asked), language::facts());
        let mut units = self.snapshot.lexical.callers_of(&CodeName::new(asked, false), self.filter)?;
        units.truncate(UNITS_POINTED_MAX);
        self.point_at_lines(&units, |lines| {
            let call = lines.clone().position(|line| calls(line, name, facts));
            call.or_else(|| lines.clone().position(|line| is_use(line, name, facts)))
        });
        // Calls outside of units, and those that a grammar does not show.
        let Some(term) = crate::lexical::term_of_word(name, self.tokenizer) else { return Ok(()) };
        let Some(files) = self.snapshot.lexical.files_with(&term, FILES_READ_MAX as u64 * 8)? else { return Ok(()) };
        let records = self.records(&files, FILES_READ_MAX, BYTES_READ_MAX);
        let places = self.look_into(&records, |record, text| {
            let numbered = text.lines().zip(1u32..).filter(|(line, _)| calls(line, name, facts));
            Some(numbered.map(|(_, number)| (record.id, number)).collect::<Vec<_>>())
        });
        for (file, line) in places.concat() {
            let Some(unit) = self.snapshot.lexical.unit_around(file, line, self.filter)? else { continue };
            let is_own = last_segment(&self.snapshot.lexical.unit(unit.key)?.name) == name;
            if is_own && line < unit.line + NAME_LINES_MAX as u32 {
                continue;
            }
            let pointer = Pointer { certainty: Certainty::Exact, strength: 0.5, line };
            self.found.units.entry(unit.key).or_insert(pointer);
        }
        Ok(())
    }

    /// Points at units, each by the line that names it.
    fn point_at_names(&mut self, units: &[UnitHit], name: &str) {
        self.point_at_lines(units, |lines| naming_line(lines.clone().take(NAME_LINES_MAX), name));
    }

    /// Points at units, each by the one of its lines, from 0, that `choose` gives, else by its own line.
    fn point_at_lines(&mut self, units: &[UnitHit], choose: impl Fn(&mut Lines<'_>) -> Option<usize>) {
        let root = std::path::Path::new(&self.snapshot.files.root);
        let mut read: Option<(FileId, String)> = None;
        for unit in units {
            if read.as_ref().is_none_or(|(file, _)| *file != unit.file) {
                let record = self.snapshot.files.indexed().find(|f| f.id == unit.file);
                let text = record.and_then(|record| read_text(root, &record.path).ok()).unwrap_or_default();
                read = Some((unit.file, text));
            }
            let text = read.as_ref().map_or("", |(_, text)| text);
            let end = self.snapshot.lexical.end_of(unit.key).unwrap_or(unit.line);
            let (skipped, wanted) = (unit.line.saturating_sub(1) as usize, 1 + end.saturating_sub(unit.line));
            let mut own = text.lines().skip(skipped).take(wanted as usize);
            let line = unit.line + choose(&mut own).unwrap_or_default() as u32;
            self.point_at(unit.key, Pointer { certainty: Certainty::Exact, strength: 0.5, line });
        }
    }
}

/// The lines of a unit.
type Lines<'t> = std::iter::Take<std::iter::Skip<std::str::Lines<'t>>>;
