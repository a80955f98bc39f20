//! What the index stores of units that are compared with each other.

use colgrep_core::UnitId;
use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the traits of units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraitsRequest {
    pub units: Vec<UnitId>,
}

/// Largest accepted number of calls of a unit; an index keeps fewer.
const CALLS_MAX: usize = 1000;

/// What a unit is called, what it calls, and how much is written about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitTraits {
    /// Its name without parents.
    pub name: String,
    /// The language of its file, as in the table.
    pub language: String,
    /// Names that it calls, each once.
    pub calls: Vec<String>,
    /// Bytes of its documentation.
    pub documentation: u32,
}

impl Validate for UnitTraits {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.calls.len() <= CALLS_MAX && self.documentation.is_valid(extent)
    }
}

impl Round for TraitsRequest {
    type Answer = Vec<UnitTraits>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<UnitTraits>> {
        let units = search.snapshot.units(&self.units)?.into_iter().zip(&self.units);
        let language = |unit: UnitId| {
            let hit = search.snapshot.lexical.hit(unit);
            hit.map_or("", |hit| search.snapshot.language(hit.file)).to_string()
        };
        Ok(units
            .map(|(unit, key)| UnitTraits {
                documentation: u32::try_from(unit.docstring.len()).unwrap_or(u32::MAX),
                language: language(*key),
                name: unit.name,
                calls: unit.calls,
            })
            .collect())
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<UnitTraits>> {
        corpus.scatter_units(&self.units, |units| TraitsRequest { units })
    }

    fn is_valid(&self, answer: &Vec<UnitTraits>, extent: &ShardExtent) -> bool {
        answer.len() == self.units.len() && answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}
