//! The hashes of texts that were returned in short.

use colgrep_index::error::Result;
use colgrep_index::ids::TextHash;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Marks, Round};
use crate::shard::ShardExtent;

/// Asks for the hashes of the texts chosen last that have certain marks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MarkedRequest {
    pub marks: Marks,
    /// The lowest score of the texts.
    pub sure: f32,
}

impl Round for MarkedRequest {
    type Answer = Vec<TextHash>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<TextHash>> {
        let Some((vectors, _)) = search.vectors.question()? else { return Ok(Vec::new()) };
        let selection = search.vectors.selection();
        let sure = selection.chosen.iter().filter(|text| text.1.total_cmp(&self.sure).is_ge());
        Ok(self.of(sure.filter_map(|(place, _)| vectors.hash(*place))))
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<TextHash>> {
        let selection = corpus.selection();
        let sure = selection.texts.iter().filter(|text| text.1.total_cmp(&self.sure).is_ge());
        Ok(self.of(sure.map(|text| text.0)))
    }

    fn is_valid(&self, _: &Vec<TextHash>, _: &ShardExtent) -> bool {
        true
    }

    fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }
}

impl MarkedRequest {
    fn of(&self, hashes: impl Iterator<Item = TextHash>) -> Vec<TextHash> {
        let marks: FxHashSet<u32> = self.marks.iter().collect();
        hashes.filter(|hash| marks.contains(&Marks::of(*hash))).collect()
    }
}
