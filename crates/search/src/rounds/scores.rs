//! Lexical scores of units and files that must be candidates.

use colgrep_core::UnitId;
use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, FilePlace};
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::{ShardExtent, UnitFound};

/// Asks for the best unit of each file, and for the score of each unit. A file without a term of the query is
/// represented by its first unit, with score 0. The filter applies to files; units are returned regardless of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoresRequest {
    pub files: Vec<FilePlace>,
    pub units: Vec<UnitId>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoresResponse {
    /// At most one unit for each file, in file order.
    pub of_files: Vec<UnitFound>,
    pub units: Vec<UnitFound>,
}

impl Round for ScoresRequest {
    type Answer = ScoresResponse;

    fn local(&self, search: &LocalSearch<'_>) -> Result<ScoresResponse> {
        let scorer = search.looked_up.scorer(search.scoring()?);
        let files: Vec<FileId> = self.files.iter().map(|file| search.shard.number(*file)).collect();
        let (of_files, units) = (scorer.best_of(&files)?, scorer.scores_of(&self.units)?);
        let found = |hits: Vec<_>| hits.iter().map(|hit| search.shard.found(hit)).collect();
        Ok(ScoresResponse { of_files: found(of_files), units: found(units) })
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<ScoresResponse> {
        let mut requests = vec![ScoresRequest::default(); corpus.count()];
        for (shard, file) in self.files.iter().map(|file| corpus.of_file(*file)) {
            requests[shard].files.push(file);
        }
        for (shard, unit) in self.units.iter().map(|unit| corpus.of_unit(*unit)) {
            requests[shard].units.push(unit);
        }
        let (of_files, units) =
            corpus.each_own(&requests)?.into_iter().map(|found| (found.of_files, found.units)).unzip();
        Ok(ScoresResponse { of_files: corpus.all_found(of_files), units: corpus.all_found(units) })
    }

    fn is_valid(&self, answer: &ScoresResponse, extent: &ShardExtent) -> bool {
        answer.of_files.len() <= self.files.len()
            && answer.units.len() <= self.units.len()
            && answer.of_files.is_valid(extent)
            && answer.units.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.units.is_empty()
    }
}
