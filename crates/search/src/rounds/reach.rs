//! The number of units that the semantic search may return.

use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::{Reach, ShardExtent, ShardOverview};

/// Asks for the units that the semantic search may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachRequest;

impl Round for ReachRequest {
    type Answer = Reach;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Reach> {
        search.reach()
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Reach> {
        let sum = |sum: Reach, more: Reach| Reach {
            units: sum.units + more.units,
            is_placed: sum.is_placed && more.is_placed,
        };
        Ok(corpus.each(self)?.into_iter().fold(Reach { units: 0, is_placed: true }, sum))
    }

    fn is_valid(&self, answer: &Reach, extent: &ShardExtent) -> bool {
        answer.units.is_valid(extent)
    }

    fn known(&self, overview: &ShardOverview) -> Option<Reach> {
        Some(overview.reach)
    }
}
