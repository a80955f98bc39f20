//! The lexical candidates with at least a certain score, after their outline.

use std::sync::OnceLock;

use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::{ShardExtent, UnitFound};

/// Asks for the withheld candidates, best first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestUnitsRequest {
    /// The lowest score.
    pub least: f32,
}

impl Round for BestUnitsRequest {
    type Answer = Vec<UnitFound>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<UnitFound>> {
        Ok(self.of(&search.withheld))
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<UnitFound>> {
        Ok(self.of(&corpus.withheld))
    }

    fn is_valid(&self, answer: &Vec<UnitFound>, extent: &ShardExtent) -> bool {
        answer.is_valid(extent)
    }
}

impl BestUnitsRequest {
    fn of(&self, withheld: &OnceLock<Vec<UnitFound>>) -> Vec<UnitFound> {
        let units = withheld.get().into_iter().flatten();
        units.filter(|unit| unit.score.total_cmp(&self.least).is_ge()).copied().collect()
    }
}
