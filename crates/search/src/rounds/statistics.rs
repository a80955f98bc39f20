//! The counts of the corpus, from which all scores are computed.

use colgrep_core::bm25::FIELD_COUNT;
use colgrep_core::statistics::{Statistics, TermCount};
use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::{ShardExtent, ShardOverview};

/// Asks for the counts of the query's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatisticsRequest;

impl Round for StatisticsRequest {
    type Answer = Statistics;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Statistics> {
        let mut statistics = search.looked_up.statistics()?;
        statistics.files = search.snapshot.files.indexed().count() as u64;
        search.names.count(&mut statistics);
        Ok(statistics)
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Statistics> {
        let mut sum = Statistics::default();
        corpus.each(self)?.iter().for_each(|of_shard| sum.add(of_shard));
        Ok(sum)
    }

    fn is_valid(&self, answer: &Statistics, extent: &ShardExtent) -> bool {
        answer.is_valid(extent)
    }

    fn known(&self, overview: &ShardOverview) -> Option<Statistics> {
        Some(overview.statistics.clone())
    }
}

impl Validate for Statistics {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        let Statistics { units, lengths, files, terms, words, topics } = self;
        let counts = [units, files].into_iter().chain(lengths).chain(words).chain(topics);
        terms.is_valid(extent) && counts.into_iter().all(|count| count.is_valid(extent))
    }
}

impl Validate for TermCount {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        let fields: &[u64; FIELD_COUNT] = &self.in_field;
        self.units.is_valid(extent) && fields.is_valid(extent)
    }
}
