//! The units that define a name.

use colgrep_core::code_line::word_at;
use colgrep_core::path::stem_of;
use colgrep_core::query::last_segment;
use colgrep_core::token::is_word_char;
use colgrep_core::{Unit, UnitId};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::store::FileRecord;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::scan::seen_in;
use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::{ShardExtent, UnitFound};

/// Asks for the allowed units that define a name, by file and line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionsRequest {
    pub name: String,
    /// The enclosing name, as written.
    pub owner: Option<String>,
    /// A keyword before the name.
    pub keyword: Option<String>,
    /// Maximum number of definitions.
    pub max: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefinitionFound {
    pub unit: UnitFound,
    /// True if the name matches: the index compares short hashes.
    pub is_named: bool,
    /// True if the owner encloses it.
    pub is_owned: bool,
    /// True if its signature has the keyword before the name.
    pub is_announced: bool,
    /// True if its file is prose, data, a test, benchmark or example, or vendored.
    pub is_aside: bool,
}

impl Round for DefinitionsRequest {
    type Answer = Vec<DefinitionFound>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<DefinitionFound>> {
        let DefinitionsRequest { name, owner, keyword, max } = self;
        let lexical = &search.snapshot.lexical;
        let mut units = search.shard.in_order(&lexical.definitions(name, search.filter())?);
        units.truncate(max.unwrap_or(usize::MAX));
        let keys: Vec<UnitId> = units.iter().map(|unit| unit.unit).collect();
        // Signatures are read from files.
        let stored = match keyword {
            Some(_) => search.snapshot.units(&keys)?,
            None => keys.iter().map(|key| Ok(lexical.unit(*key)?.unit(&[]))).collect::<Result<_>>()?,
        };
        let is_enclosed =
            |stored: &Unit| owner.as_deref().is_some_and(|owner| stored.parent.split('.').next_back() == Some(owner));
        // A file named after its type also contains members of other types, such as nested ones.
        let enclosed = units.iter().zip(&stored).filter(|(_, stored)| is_enclosed(stored));
        let of_owner: FxHashSet<FilePlace> = enclosed.map(|(unit, _)| unit.file).collect();
        let is_in_module = |unit: &UnitFound| {
            let record = search.shard.record(unit.file);
            let is_module = |owner: &String| record.is_some_and(|record| is_module(record, owner));
            owner.as_ref().is_some_and(is_module) && !of_owner.contains(&unit.file)
        };
        let definition = |(unit, stored): (UnitFound, Unit)| {
            let signature = &stored.signature;
            let before = &signature[..word_at(signature, name).unwrap_or(signature.len())];
            let mut words = before.split(|c: char| !is_word_char(c));
            let record = search.shard.record(unit.file);
            DefinitionFound {
                unit,
                is_named: last_segment(&stored.name) == name,
                is_owned: is_enclosed(&stored) || is_in_module(&unit),
                is_announced: keyword.as_ref().is_some_and(|keyword| words.any(|word| word == keyword)),
                is_aside: record.is_some_and(|record| seen_in(record, unit.line).is_aside),
            }
        };
        Ok(units.into_iter().zip(stored).map(definition).collect())
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<DefinitionFound>> {
        let mut all = Vec::new();
        for (shard, found) in corpus.each(self)?.into_iter().enumerate() {
            let found = found.into_iter();
            all.extend(found.map(|one| DefinitionFound { unit: corpus.found(shard, one.unit), ..one }));
        }
        all.sort_by_key(|one| one.unit.place());
        all.truncate(self.max.unwrap_or(usize::MAX));
        Ok(all)
    }

    fn is_valid(&self, answer: &Vec<DefinitionFound>, extent: &ShardExtent) -> bool {
        answer.iter().all(|one| one.unit.is_valid(extent))
    }
}

/// True if a file or one of its folders has the name of a module.
fn is_module(record: &FileRecord, name: &str) -> bool {
    let mut parts = record.path.rsplit('/');
    parts.next().map(stem_of) == Some(name) || parts.any(|folder| folder == name)
}
