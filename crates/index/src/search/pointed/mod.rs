//! What a query points at beside its words: a line of a file, a file by name, a definition, text that stands as typed.

mod names;
mod text;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use colgrep_core::UnitId;
use colgrep_core::clue::{Certainty, Clues, Pointer};
use colgrep_core::query::Query;
use colgrep_core::token::Tokenizer;
use rayon::prelude::*;

use super::locate::{Called, Fit, files_called, files_named, files_spelled};
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::UnitFilter;
use crate::source::read_text;
use crate::store::{FileRecord, Snapshot};

/// Frames of a pasted trace that are looked up.
const FRAMES_MAX: usize = 128;
/// Places of a pasted trace that are followed.
const LOCATIONS_MAX: usize = 16;

/// What a file that is named gets of its share where another one is the place that is asked about.
const SHARE_BESIDE_A_PLACE: f32 = 0.5;

/// All that a query points at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pointers {
    /// Units, by what points best at each.
    pub units: HashMap<UnitId, Pointer>,
    /// Files that are named, with a share of 1: several of one name share.
    pub files: HashMap<FileId, f32>,
    /// Where phrases stand in quotes: the files that hold them all. Nothing else is an answer.
    pub only: Option<HashSet<FileId>>,
}

impl Pointers {
    /// True if a phrase in quotes stands nowhere and no file is named either: there is no answer then.
    pub fn allow_nothing(&self) -> bool {
        self.only.as_ref().is_some_and(HashSet::is_empty) && self.files.is_empty()
    }
}

/// Looks at what a query points at.
///
/// # Errors
/// When the index can't be read.
pub fn pointers(
    snapshot: &Snapshot,
    query: &Query,
    tokenizer: &mut Tokenizer,
    filter: Option<&dyn UnitFilter>,
) -> Result<Pointers> {
    let clues = &query.clues;
    let mut search = Search { snapshot, filter, tokenizer, found: Pointers::default() };
    search.locations(clues)?;
    search.mentions(clues, &query.text);
    search.declared(clues)?;
    search.callers(clues)?;
    // What a name defines says more than the places where it stands.
    let stands_whole = !search.named(query)? && search.typed(query)?;
    // A pasted line may hold quotes of its own.
    if !clues.phrases.is_empty() && !stands_whole {
        search.phrases(&clues.phrases)?;
    }
    Ok(search.found)
}

struct Search<'a> {
    snapshot: &'a Snapshot,
    filter: Option<&'a dyn UnitFilter>,
    tokenizer: &'a mut Tokenizer,
    found: Pointers,
}

impl Search<'_> {
    /// Whether the query means one file by its name: what stands in it is what is asked for, where all else is equal.
    fn means(&self, file: FileId) -> bool {
        self.found.files.get(&file).is_some_and(|share| *share >= 1.0)
    }

    fn allows(&self, file: FileId) -> bool {
        self.filter.is_none_or(|f| f.allows_file(file))
    }

    fn point(&mut self, file: FileId, line: u32, certainty: Certainty, strength: f32) -> Result<()> {
        if let Some(unit) = self.snapshot.lexical.unit_around(file, line, self.filter)? {
            self.point_at(unit.key, Pointer { certainty, strength, line });
        }
        Ok(())
    }

    /// Keeps what points best at a unit.
    fn point_at(&mut self, unit: UnitId, pointer: Pointer) {
        let known = self.found.units.entry(unit).or_insert(pointer);
        if (known.certainty, known.strength) < (pointer.certainty, pointer.strength) {
            *known = pointer;
        }
    }

    /// The records of those of the files that are allowed, in their order: the first `files_max`, of `bytes_max` at most.
    fn records(&self, files: &[FileId], files_max: usize, bytes_max: u64) -> Vec<&FileRecord> {
        let allowed = files.iter().filter(|file| self.allows(**file)).take(files_max);
        let wanted: HashMap<FileId, usize> = allowed.enumerate().map(|(i, file)| (*file, i)).collect();
        let mut records: Vec<&FileRecord> =
            self.snapshot.files.indexed().filter(|f| wanted.contains_key(&f.id)).collect();
        records.sort_by_key(|record| wanted[&record.id]);
        let mut bytes = 0;
        records.retain(|record| {
            bytes += record.size;
            bytes <= bytes_max
        });
        records
    }

    /// What `look` finds in the texts of files, side by side. One that can't be read any more has none.
    fn look_into<T: Send>(
        &self,
        files: &[&FileRecord],
        look: impl Fn(&FileRecord, &str) -> Option<T> + Sync,
    ) -> Vec<T> {
        let root = Path::new(&self.snapshot.files.root);
        files.par_iter().filter_map(|record| look(record, &read_text(root, &record.path).ok()?)).collect()
    }

    /// Lines that are named. Where a path fits well, those of which nothing but the file's name fits are of other
    /// projects: a library's frames in a trace.
    fn locations(&mut self, clues: &Clues) -> Result<()> {
        let mut found: Vec<(Fit, FileId, u32)> = Vec::new();
        for location in clues.locations.iter().take(FRAMES_MAX) {
            let Some((fit, files)) = files_named(&self.snapshot.files, &location.path) else { continue };
            let files: Vec<FileId> = files.iter().map(|f| f.id).filter(|file| self.allows(*file)).collect();
            // The last part of a foreign path alone is hardly more than a name.
            if fit > Fit::Name || files.len() == 1 {
                found.extend(files.into_iter().map(|file| (fit, file, location.line)));
            }
        }
        if found.iter().any(|place| place.0 > Fit::Name) {
            found.retain(|place| place.0 > Fit::Name);
        }
        for (i, (_, file, line)) in found.into_iter().take(LOCATIONS_MAX).enumerate() {
            self.point(file, line, Certainty::Location, 1.0 / (1 + i) as f32)?;
        }
        Ok(())
    }

    /// Files that are named. Where several are and one of them ends the question behind "in", that one is meant.
    fn mentions(&mut self, clues: &Clues, text: &str) {
        let table = &self.snapshot.files;
        let by_path = clues.mentions.iter().filter_map(|mention| {
            let (fit, files) = files_named(table, mention)?;
            (fit > Fit::Name).then_some((mention.as_str(), files))
        });
        let meant: Vec<Called<'_, '_>> =
            by_path.chain(files_called(table, &clues.names)).chain(files_spelled(table, text)).collect();
        let place = clues.place.as_deref().filter(|place| meant.iter().any(|(written, _)| written == place));
        for (written, files) in meant {
            let files: Vec<FileId> = files.iter().map(|f| f.id).filter(|file| self.allows(*file)).collect();
            let part = if place.is_none_or(|place| place == written) { 1.0 } else { SHARE_BESIDE_A_PLACE };
            let share = part / (files.len() as f32).sqrt();
            for file in files {
                let known = self.found.files.entry(file).or_default();
                *known = known.max(share);
            }
        }
    }
}
