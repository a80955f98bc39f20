//! The units around lines of files.

use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::{ShardExtent, UnitFound};

/// Asks, for each line, for the smallest allowed unit around it, or else for the last one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnclosingRequest {
    pub lines: Vec<(FilePlace, u32)>,
}

impl Round for EnclosingRequest {
    type Answer = Vec<Option<UnitFound>>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Option<UnitFound>>> {
        let enclosing = |(file, line): &(FilePlace, u32)| {
            let file = search.shard.number(*file);
            let unit = search.snapshot.lexical.unit_around(file, *line, search.filter())?;
            Ok(unit.map(|hit| search.shard.found(&hit)))
        };
        self.lines.iter().map(enclosing).collect()
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Option<UnitFound>>> {
        let own = |(file, line): (FilePlace, u32)| {
            let (shard, file) = corpus.of_file(file);
            (shard, (file, line))
        };
        let found = corpus.scatter(&self.lines, own, |lines| EnclosingRequest { lines })?;
        let units = found.into_iter().zip(&self.lines);
        Ok(units.map(|(unit, (file, _))| Some(corpus.found(corpus.of_file(*file).0, unit?))).collect())
    }

    fn is_valid(&self, answer: &Vec<Option<UnitFound>>, extent: &ShardExtent) -> bool {
        answer.len() == self.lines.len() && answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}
