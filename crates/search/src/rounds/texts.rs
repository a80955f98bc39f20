//! The texts of units, as encoded by a model.

use colgrep_core::UnitId;
use colgrep_index::error::Result;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round};
use crate::restore::restore;
use crate::shard::ShardExtent;

/// Asks for the texts of units. A unit of a changed or deleted file has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextsRequest {
    pub units: Vec<UnitId>,
}

impl Round for TextsRequest {
    type Answer = Vec<Option<String>>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Option<String>>> {
        let lexical = &search.snapshot.lexical;
        let hits: Vec<_> = self.units.iter().filter_map(|unit| lexical.hit(*unit)).collect();
        let texts = restore(search.snapshot, &hits)?;
        let text = |unit: &UnitId| texts.get(&lexical.text_of(*unit)?).cloned();
        Ok(self.units.iter().map(text).collect())
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Option<String>>> {
        corpus.scatter_units(&self.units, |units| TextsRequest { units })
    }

    fn is_valid(&self, answer: &Vec<Option<String>>, _: &ShardExtent) -> bool {
        answer.len() == self.units.len()
    }

    fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}
