//! How many files have a term among their topics.

use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the number of files that have each term among the topics of their path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicsRequest {
    pub terms: Vec<String>,
}

impl Round for TopicsRequest {
    type Answer = Vec<u64>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<u64>> {
        search.snapshot.lexical.topic_frequency(&self.terms)
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<u64>> {
        let mut sums = vec![0; self.terms.len()];
        for counts in corpus.each(self)? {
            sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }

    fn is_valid(&self, answer: &Vec<u64>, extent: &ShardExtent) -> bool {
        answer.len() == self.terms.len() && answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}
