//! What the index stores of units.

use colgrep_core::{Unit, UnitId};
use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredUnitsRequest {
    pub units: Vec<UnitId>,
}

impl Round for StoredUnitsRequest {
    type Answer = Vec<Unit>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Unit>> {
        search.snapshot.units(&self.units)
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Unit>> {
        corpus.scatter_units(&self.units, |units| StoredUnitsRequest { units })
    }

    fn is_valid(&self, answer: &Vec<Unit>, extent: &ShardExtent) -> bool {
        answer.len() == self.units.len() && answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}
