//! Which units contain which terms of the query.

use colgrep_core::UnitId;
use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round};
use crate::shard::ShardExtent;

/// Asks, for each term of the query, for the positions of the units that contain it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldersRequest {
    pub units: Vec<UnitId>,
}

impl Round for HoldersRequest {
    type Answer = Vec<Vec<u32>>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Vec<u32>>> {
        search.looked_up.holders(&self.units)
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Vec<u32>>> {
        let mut requests = vec![HoldersRequest::default(); corpus.count()];
        let mut positions: Vec<Vec<u32>> = vec![Vec::new(); corpus.count()];
        for (unit, at) in self.units.iter().zip(0..) {
            let (shard, unit) = corpus.of_unit(*unit);
            requests[shard].units.push(unit);
            positions[shard].push(at);
        }
        let mut all: Vec<Vec<u32>> = Vec::new();
        for (positions, terms) in positions.iter().zip(corpus.each_own(&requests)?) {
            all.resize(all.len().max(terms.len()), Vec::new());
            for (all, own) in all.iter_mut().zip(terms) {
                all.extend(own.into_iter().filter_map(|at| positions.get(at as usize)));
            }
        }
        Ok(all)
    }

    fn is_valid(&self, answer: &Vec<Vec<u32>>, _: &ShardExtent) -> bool {
        answer.iter().flatten().all(|at| (*at as usize) < self.units.len())
    }

    fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}
