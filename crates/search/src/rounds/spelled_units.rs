//! The units of files that hold a word or a name, in any spelling.

use std::path::Path;

use colgrep_core::spelling::{NameFit, Spelling};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::file_kind::is_text;
use crate::shard::{ShardExtent, UnitFound};

/// Maximum of lines of a file that hold the name in one way.
const LINES_MAX: usize = 128;
/// Maximum length of a spelling, in bytes.
const FORM_BYTES_MAX: usize = 256;

/// Asks which allowed units of files hold a name, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpelledUnitsRequest {
    pub files: Vec<FilePlace>,
    pub name: String,
}

/// How a file holds a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpelledUnits {
    /// The units with the name, as a whole word before others, by line.
    pub units: Vec<(UnitFound, NameFit)>,
    /// How the first whole-word match spells the name; empty without a match.
    pub form: String,
}

impl Round for SpelledUnitsRequest {
    type Answer = Vec<SpelledUnits>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<SpelledUnits>> {
        let spelling = Spelling::new(&self.name);
        self.files.par_iter().map(|file| spelled(search, *file, &spelling)).collect()
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<SpelledUnits>> {
        let mut found =
            corpus.scatter_files(&self.files, |files| SpelledUnitsRequest { files, name: self.name.clone() })?;
        for (own, file) in found.iter_mut().zip(&self.files) {
            let shard = corpus.of_file(*file).0;
            own.units.iter_mut().for_each(|(unit, _)| *unit = corpus.found(shard, *unit));
        }
        Ok(found)
    }

    fn is_valid(&self, answer: &Vec<SpelledUnits>, extent: &ShardExtent) -> bool {
        let is_valid = |own: &SpelledUnits| {
            own.form.len() <= FORM_BYTES_MAX && own.units.iter().all(|(unit, _)| unit.is_valid(extent))
        };
        answer.len() == self.files.len() && answer.iter().all(is_valid)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// How one file holds a name; a file that can't be read any more does not.
fn spelled(search: &LocalSearch<'_>, file: FilePlace, spelling: &Spelling) -> Result<SpelledUnits> {
    let mut found = SpelledUnits::default();
    let Some(record) = search.shard.record(file) else { return Ok(found) };
    let root = Path::new(&search.snapshot.files.root);
    let Ok(text) = search.snapshot.texts.text(root, &record.path) else { return Ok(found) };
    let (mut wholes, mut parts): (Vec<u32>, Vec<u32>) = Default::default();
    // A dot in a program is the access to a member.
    let is_program = !is_text(&record.language);
    spelling.each(&text, |line, form, fit| {
        let lines = match fit {
            NameFit::Inside => return true,
            NameFit::Apart if is_program && form.contains('.') => return true,
            NameFit::Whole => &mut wholes,
            NameFit::Part | NameFit::Apart => &mut parts,
        };
        if fit == NameFit::Whole && found.form.is_empty() && form.len() <= FORM_BYTES_MAX {
            found.form = form.to_string();
        }
        if lines.len() < LINES_MAX && lines.last() != Some(&line) {
            lines.push(line);
        }
        wholes.len() < LINES_MAX
    });
    let lines = [wholes.as_slice(), &parts].concat();
    let units = search.snapshot.lexical.units_around(record.id, &lines, search.filter())?;
    let mut seen = FxHashSet::default();
    for (at, hit) in units.into_iter().enumerate().filter_map(|(at, hit)| Some((at, hit?))) {
        if seen.insert(hit.key) {
            let fit = if at < wholes.len() { NameFit::Whole } else { NameFit::Part };
            found.units.push((search.shard.found(&hit), fit));
        }
    }
    Ok(found)
}
