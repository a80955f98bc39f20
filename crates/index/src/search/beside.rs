//! What brings candidates beside the two rankings: what the query points at, where the reader stands, past changes, and
//! the parts of a long query.

use colgrep_core::path::PathClass;
use colgrep_core::query::Query;
use colgrep_core::rank::{Context, LongFacts, Retrieved};
use rustc_hash::FxHashMap;

use super::long::long_facts;
use super::past::past;
use super::pointed::Pointers;
use super::rounds::Rounds;
use super::shard::{ContextsAsked, UnitFound};
use super::{Corpus, Request};
use crate::error::Result;
use crate::ids::FilePlace;

/// Files and units that are candidates whatever rank words or meaning give them.
pub(super) struct Beside {
    /// What the query points at.
    pub pointers: Pointers,
    /// Files by how they stand to the one where the reader is (`--near`).
    contexts: FxHashMap<FilePlace, Context>,
    /// Files that past commits like the question changed, with their shares.
    past: FxHashMap<FilePlace, f32>,
    /// Files by what the parts of a long query say of them.
    long: FxHashMap<FilePlace, LongFacts>,
}

impl Beside {
    /// Looks up where the reader stands, what the past says and what the parts of a long query do, beside the `pointers`
    /// of the query.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn new(
        (corpus, rounds): (&Corpus<'_>, &Rounds<'_>),
        request: &Request<'_>,
        query: &Query,
        pointers: Pointers,
    ) -> Result<Beside> {
        let contexts = request.background.near.map(|near| {
            let wants_tests = near.tests_only || query.asks_for.contains(&PathClass::TEST);
            rounds.contexts(&ContextsAsked { near, wants_tests })
        });
        let contexts = contexts.transpose()?.into_iter().flatten().collect();
        let long = long_facts((corpus, rounds), request, query)?;
        Ok(Beside { pointers, contexts, past: past(rounds, request)?, long })
    }

    /// Iterates over the files of all kinds; a file may come twice.
    pub fn files(&self) -> impl Iterator<Item = FilePlace> + '_ {
        self.pointers.files.keys().chain(self.contexts.keys()).chain(self.past.keys()).chain(self.long.keys()).copied()
    }

    /// True if the unit is a candidate for this alone.
    pub fn brings(&self, unit: &UnitFound) -> bool {
        self.pointers.units.contains_key(&unit.unit)
            || self.pointers.files.contains_key(&unit.file)
            || self.contexts.contains_key(&unit.file)
            || self.past.contains_key(&unit.file)
            || self.long.contains_key(&unit.file)
    }

    /// False for a file that lacks a phrase which the query holds in quotes, unless the query names the file.
    pub fn allows(&self, file: FilePlace) -> bool {
        let Pointers { files, only, .. } = &self.pointers;
        only.as_ref().is_none_or(|only| only.contains(&file) || files.contains_key(&file))
    }

    /// Writes into candidates and files why they are here.
    pub fn mark(&self, retrieved: &mut Retrieved) {
        if self.pointers.units.is_empty() && self.files().next().is_none() {
            return;
        }
        for candidate in &mut retrieved.candidates {
            candidate.pointer = self.pointers.units.get(&candidate.unit).copied();
        }
        for file in &mut retrieved.files {
            let place = FilePlace(file.place);
            file.mentioned = self.pointers.files.get(&place).copied().unwrap_or_default();
            file.meant = self.pointers.meant.contains(&place);
            file.context = self.contexts.get(&place).copied().unwrap_or_default();
            file.past = self.past.get(&place).copied().unwrap_or_default();
            file.long = self.long.get(&place).copied().unwrap_or_default();
        }
    }
}
