//! The candidates by words with at least a certain score, after their outline.

use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::{Extent, UnitFound};

/// Asks for the withheld candidates, best first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestUnitsRequest {
    /// The lowest score.
    pub least: f32,
}

impl Round for BestUnitsRequest {
    type Answer = Vec<UnitFound>;

    const NAME: &'static str = "best";

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<UnitFound>> {
        Ok(search.withheld.best(self.least))
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<UnitFound>> {
        Ok(corpus.withheld.best(self.least))
    }

    fn is_valid(&self, answer: &Vec<UnitFound>, extent: &Extent) -> bool {
        answer.is_valid(extent)
    }
}
