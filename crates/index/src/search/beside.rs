//! What brings candidates beside the two rankings: what the query points at, where the reader stands, and past changes.

use std::collections::HashMap;

use colgrep_core::UnitId;
use colgrep_core::query::Query;
use colgrep_core::rank::{Context, Retrieved};

use super::Request;
use super::near::contexts;
use super::past::past;
use super::pointed::Pointers;
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::UnitHit;
use crate::store::Snapshot;

/// Files and units that are candidates whatever rank words or meaning give them.
pub(super) struct Beside {
    /// What the query points at.
    pub pointers: Pointers,
    /// Files by how they stand to the one where the reader is (`--near`).
    contexts: HashMap<FileId, Context>,
    /// Files that past commits like the question changed, with their shares.
    past: HashMap<FileId, f32>,
}

impl Beside {
    /// Looks up where the reader stands and what the past says, beside the `pointers` of the query.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn new(snapshot: &Snapshot, request: &Request<'_>, query: &Query, pointers: Pointers) -> Result<Beside> {
        let contexts = request.background.near.map(|near| contexts(snapshot, request, near, query)).transpose()?;
        Ok(Beside { pointers, contexts: contexts.unwrap_or_default(), past: past(snapshot, request) })
    }

    /// Iterates over the files of all three kinds; a file may come twice.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.pointers.files.keys().chain(self.contexts.keys()).chain(self.past.keys()).copied()
    }

    /// True if the unit is a candidate for this alone.
    pub fn brings(&self, unit: &UnitHit) -> bool {
        self.pointers.units.contains_key(&unit.key)
            || self.pointers.files.contains_key(&unit.file)
            || self.contexts.contains_key(&unit.file)
            || self.past.contains_key(&unit.file)
    }

    /// False for a file that lacks a phrase which the query holds in quotes, unless the query names the file.
    pub fn allows(&self, file: FileId) -> bool {
        let Pointers { files, only, .. } = &self.pointers;
        only.as_ref().is_none_or(|only| only.contains(&file) || files.contains_key(&file))
    }

    /// Writes into candidates and files why they are here. `units` are those that the candidates were made of.
    pub fn mark(&self, retrieved: &mut Retrieved, units: &[UnitHit]) {
        if self.pointers.units.is_empty() && self.files().next().is_none() {
            return;
        }
        let file_of: HashMap<UnitId, FileId> = units.iter().map(|unit| (unit.key, unit.file)).collect();
        for candidate in &mut retrieved.candidates {
            candidate.pointer = self.pointers.units.get(&candidate.unit).copied();
            let Some(id) = file_of.get(&candidate.unit) else { continue };
            let file = &mut retrieved.files[candidate.file];
            file.mentioned = self.pointers.files.get(id).copied().unwrap_or_default();
            file.context = self.contexts.get(id).copied().unwrap_or_default();
            file.past = self.past.get(id).copied().unwrap_or_default();
        }
    }
}
