//! Frames of traces whose line has moved: the file has the frame's function at another place now.

use std::collections::HashSet;

use colgrep_core::literal_match::{TraceFrame, messages_behind_prefix, messages_of};
use colgrep_core::query::last_segment;
use colgrep_core::{Unit, UnitKind};
use colgrep_syntax::language;

use super::lookup::IntentLookup;
use crate::rounds::{
    DefinitionFound, DefinitionsRequest, EnclosingRequest, LineOf, LinesRequest, ScanTarget, ScannedLine,
    StoredUnitsRequest,
};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

impl IntentLookup<'_> {
    /// A line that is named in a file; if nothing is there any more, the line with the message beside it, or the one that
    /// defines what its frame calls or a name beside it, else the nearest with something, if the file is so long.
    pub(super) fn line_with_content(&self, file: FilePlace, line: u32, called: Option<&str>) -> Result<u32> {
        let near = self.rounds.scan(&[file], ScanTarget::Near(line))?.pop().map_or(line, |(_, seen)| seen.line);
        if near == line {
            return Ok(line);
        }
        if let Some(place) = self.line_of_message(file, std::iter::empty(), |_| true)? {
            return Ok(place);
        }
        let named = self.query.identifiers.iter().map(|identifier| identifier.name.as_str());
        for name in called.into_iter().chain(named) {
            let units = self.defining(name, &[name], Some(&HashSet::from([file])))?.units;
            if let Some(pointer) =
                self.point_at_names(&units, name)?.units.values().min_by_key(|p| p.line.abs_diff(line))
            {
                return Ok(pointer.line);
            }
        }
        Ok(if near == 0 { line } else { near })
    }

    /// The first line of a file with one of these texts, or with a message of the query, that `is_meant`.
    fn line_of_message<'t>(
        &'t self,
        file: FilePlace,
        texts: impl Iterator<Item = &'t str>,
        is_meant: impl Fn(u32) -> bool,
    ) -> Result<Option<u32>> {
        let messages = messages_of(&self.query.text).into_iter().chain([self.query.text.as_str()]);
        let said = messages.flat_map(|text| [text].into_iter().chain(messages_behind_prefix(text, self.program)));
        for text in texts.chain(said) {
            let seen = self.rounds.scan(&[file], ScanTarget::typed(text))?.pop().map(|(_, seen)| seen);
            let is_made = |seen: &ScannedLine| seen.standing.is_some_and(|found| found.made_from.is_some());
            let place = seen.filter(|seen| seen.holds_all() || is_made(seen)).map(|seen| seen.line);
            if place.is_some_and(&is_meant) {
                return Ok(place);
            }
        }
        Ok(None)
    }

    /// The line that a frame means in a file: its own, unless its function is elsewhere. Then it is, in this order, the
    /// line of code below the frame, the one that made a message of the trace, or the one that names the function.
    pub(super) fn line_of_frame(&self, file: FilePlace, line: u32, frame: &TraceFrame<'_>) -> Result<u32> {
        let name = last_segment(frame.function);
        let around = match self.rounds.ask(&EnclosingRequest { lines: vec![(file, line)] })?.pop().flatten() {
            Some(unit) => self.rounds.ask(&StoredUnitsRequest { units: vec![unit.unit] })?.pop(),
            None => None,
        };
        if around.as_ref().is_some_and(|unit| last_segment(&unit.name) == name && contains(unit, line)) {
            return Ok(line);
        }
        let owner = frame.owner.map(String::from);
        let asked = DefinitionsRequest { name: name.to_string(), owner, ..DefinitionsRequest::default() };
        let is_here = |found: &DefinitionFound| {
            let is_function = matches!(found.unit.kind, UnitKind::Function | UnitKind::Method);
            found.is_named && is_function && found.unit.file == file
        };
        let found: Vec<DefinitionFound> = self.rounds.ask(&asked)?.into_iter().filter(is_here).collect();
        let keys: Vec<_> = found.iter().map(|found| found.unit.unit).collect();
        let stored = self.rounds.ask(&StoredUnitsRequest { units: keys.clone() })?;
        let is_in_one = |line: u32| stored.iter().any(|unit| contains(unit, line));
        if found.is_empty() || is_in_one(line) {
            return Ok(line);
        }
        // A function inside another is not a unit.
        let keywords = language::facts().declaration_keywords().map(String::from).collect();
        let announced = self.rounds.scan(&[file], ScanTarget::Announces { name: name.to_string(), keywords })?;
        let first = around.map_or(line, |unit| unit.span.first);
        if announced.iter().any(|(_, seen)| (first..=line).contains(&seen.line) && !is_in_one(seen.line)) {
            return Ok(line);
        }
        let is_owned = found.iter().any(|found| found.is_owned);
        let meant: Vec<(DefinitionFound, &Unit)> =
            found.into_iter().zip(&stored).filter(|(found, _)| found.is_owned || !is_owned).collect();
        let is_meant = |place: u32| meant.iter().any(|(_, unit)| contains(unit, place));
        if let Some(place) = self.line_of_message(file, frame.code.into_iter(), is_meant)? {
            return Ok(place);
        }
        let Some((nearest, unit)) = meant.into_iter().min_by_key(|(_, unit)| unit.span.line.abs_diff(line)) else {
            return Ok(line);
        };
        let named = self
            .rounds
            .ask(&LinesRequest { units: vec![nearest.unit.unit], line: LineOf::Name(name.to_string()) })?
            .pop();
        Ok(named.filter(|named| *named > 0).unwrap_or(unit.span.line))
    }
}

fn contains(unit: &Unit, line: u32) -> bool {
    (unit.span.first..=unit.span.end).contains(&line)
}
