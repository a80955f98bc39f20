//! Lookups in the corpus that intents share.

use colgrep_core::query::Query;
use colgrep_core::query::intents::{Certainty, Pointer};
use colgrep_core::statistics::Statistics;
use colgrep_core::token::Tokenizer;
use colgrep_syntax::language;

use super::{ALONE, Intent, Pointers, ResolvedSoFar, resolve_all};
use crate::rounds::{
    Coordinator, EnclosingRequest, FilesWithAllRequest, LineOf, LinesRequest, ScanTarget, ScannedLine, SizesRequest,
};
use crate::shard::UnitFound;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::run_of;

/// Maximum of units that one name points at.
pub(super) const UNITS_MAX: usize = 50;
/// Maximum of files that are read for a name or a text.
pub(super) const FILES_READ_MAX: usize = 64;
/// Maximum of bytes in all files that are read.
pub(super) const BYTES_READ_MAX: u64 = 8 << 20;

/// A query, and the corpus where its intents are looked up.
pub(crate) struct IntentLookup<'a> {
    pub(super) rounds: &'a Coordinator<'a>,
    pub(super) statistics: &'a Statistics,
    pub(super) query: &'a Query,
    /// The reader's folder, relative to the root.
    pub(super) here: &'a str,
    /// The name of the program; empty if unknown.
    pub(super) program: &'a str,
    pub(super) tokenizer: &'a mut Tokenizer,
}

pub(crate) struct Point {
    pub file: FilePlace,
    pub line: u32,
    pub certainty: Certainty,
    pub strength: f32,
}

impl Point {
    /// Points at lines that contain a name.
    pub fn at_all(seen: &[(FilePlace, ScannedLine)], strength: f32) -> Vec<Point> {
        let point = |(file, seen): &(FilePlace, ScannedLine)| Point {
            file: *file,
            line: seen.line,
            certainty: Certainty::Exact,
            strength,
        };
        seen.iter().map(point).collect()
    }
}

impl IntentLookup<'_> {
    /// Pointers to the units around lines.
    pub(super) fn point(&self, points: &[Point]) -> Result<Pointers> {
        let mut pointers = Pointers::default();
        if points.is_empty() {
            return Ok(pointers);
        }
        let lines: Vec<(FilePlace, u32)> = points.iter().map(|point| (point.file, point.line)).collect();
        for (unit, point) in self.rounds.ask(&EnclosingRequest { lines: lines.clone() })?.into_iter().zip(points) {
            let Point { line, certainty, strength, .. } = *point;
            if let Some(unit) = unit {
                pointers.point_at(unit.unit, Pointer { certainty, strength, line });
            }
        }
        Ok(pointers)
    }

    /// Pointers to units, each at the requested line of it.
    pub(super) fn point_at_lines(&self, units: &[UnitFound], line: &LineOf, strength: f32) -> Result<Pointers> {
        let mut pointers = Pointers::default();
        let keys: Vec<_> = units.iter().map(|unit| unit.unit).collect();
        for (unit, line) in keys.iter().zip(self.rounds.ask(&LinesRequest { units: keys.clone(), line: line.clone() })?)
        {
            pointers.point_at(*unit, Pointer { certainty: Certainty::Exact, strength, line });
        }
        Ok(pointers)
    }

    /// The first `files_max` of the files that the filter allows, up to `bytes_max` in all.
    pub(super) fn readable(&self, files: &[FilePlace], files_max: usize, bytes_max: u64) -> Result<Vec<FilePlace>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let allowed = files
            .iter()
            .zip(self.rounds.ask(&SizesRequest { files: files.to_vec() })?)
            .filter_map(|(file, size)| Some((*file, size?)));
        let mut bytes = 0;
        let is_within = |(_, size): &(FilePlace, u64)| {
            bytes += size;
            bytes <= bytes_max
        };
        Ok(allowed.take(files_max).filter(is_within).map(|(file, _)| file).collect())
    }

    /// The files that contain the words of a text in a row; all of its words, if those have no positions.
    pub(super) fn files_with_run(&mut self, text: &str) -> Result<Vec<FilePlace>> {
        let run = run_of(text, self.tokenizer);
        if run.is_empty() { self.files_with_words(text) } else { self.rounds.files_with_phrase(&run) }
    }

    /// The files that contain all words of a text, stop words too.
    pub(super) fn files_with_words(&mut self, text: &str) -> Result<Vec<FilePlace>> {
        let terms = self.tokenizer.terms(text);
        self.rounds.ask(&FilesWithAllRequest { terms })
    }

    /// Where files contain a text regardless of case and Unicode normalisation, a name in any spelling. Reads what may
    /// contain it, up to 256 MiB in each index.
    pub(super) fn spelled(&self, text: &str) -> Result<Vec<(FilePlace, ScannedLine)>> {
        self.in_all_files(ScanTarget::Spelled(text.to_string()))
    }

    /// The same for a text that must occur as it is, but for its case.
    pub(super) fn in_any_case(&self, text: &str) -> Result<Vec<(FilePlace, ScannedLine)>> {
        self.in_all_files(ScanTarget::AnyCase(text.to_string()))
    }

    fn in_all_files(&self, target: ScanTarget) -> Result<Vec<(FilePlace, ScannedLine)>> {
        let files: Vec<FilePlace> = (0..self.rounds.places()).map(FilePlace).collect();
        let files = self.readable(&files, usize::MAX, u64::MAX)?;
        self.rounds.scan(&files, target)
    }

    /// Resolves a name or a text inside the query by itself.
    pub(super) fn alone(&mut self, text: &str, found: &ResolvedSoFar) -> Result<Pointers> {
        self.resolve(ALONE, text, found)
    }

    /// The same with only these intents. Files that the query names still apply.
    pub(super) fn resolve(&mut self, intents: &[Intent], text: &str, found: &ResolvedSoFar) -> Result<Pointers> {
        let query = Query::new(text, "", language::facts(), self.tokenizer);
        let IntentLookup { rounds, statistics, here, program, .. } = *self;
        let mut lookup = IntentLookup { rounds, statistics, query: &query, here, program, tokenizer: self.tokenizer };
        let named = Pointers { units: Default::default(), ..found.pointers.clone() };
        let found = resolve_all(intents, &mut lookup, ResolvedSoFar { pointers: named, ..ResolvedSoFar::default() })?;
        Ok(found.pointers)
    }
}
