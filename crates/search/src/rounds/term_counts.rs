//! How many units and files contain a term.

use colgrep_core::statistics::TermCount;
use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the number of units and files that contain each term.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermCountsRequest {
    pub terms: Vec<String>,
    /// Files are not counted for a term that more units contain.
    pub units_max: u64,
}

/// How many units and files contain a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderCount {
    /// Units, for each field ([`TermCount::in_field`]).
    pub units: TermCount,
    pub files: u64,
}

impl Round for TermCountsRequest {
    type Answer = Vec<HolderCount>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<HolderCount>> {
        let count = |term: &String| {
            let units = search.snapshot.lexical.count_of(term)?;
            let is_counted = units.most() <= self.units_max;
            let files = if is_counted { search.files_with(term, |files| files.len() as u64)? } else { 0 };
            Ok(HolderCount { units, files })
        };
        self.terms.iter().map(count).collect()
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<HolderCount>> {
        let mut sums = vec![HolderCount::default(); self.terms.len()];
        for counts in corpus.each(self)? {
            for (sum, more) in sums.iter_mut().zip(counts) {
                sum.units.add(&more.units);
                sum.files += more.files;
            }
        }
        Ok(sums)
    }

    fn is_valid(&self, answer: &Vec<HolderCount>, extent: &ShardExtent) -> bool {
        let is_valid = |count: &HolderCount| count.units.is_valid(extent) && count.files.is_valid(extent);
        answer.len() == self.terms.len() && answer.iter().all(is_valid)
    }

    fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

impl Coordinator<'_> {
    /// How many units and files contain each term. Files are not counted for a term that more than `units_max` units
    /// contain.
    pub(crate) fn term_counts(&self, terms: &[String], units_max: u64) -> Result<Vec<HolderCount>> {
        self.ask(&TermCountsRequest { terms: terms.to_vec(), units_max })
    }
}
