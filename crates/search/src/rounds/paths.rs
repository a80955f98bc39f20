//! The files at paths.

use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the allowed file at each path of the corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathsRequest {
    pub paths: Vec<String>,
}

impl Round for PathsRequest {
    type Answer = Vec<Option<FilePlace>>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Option<FilePlace>>> {
        let at = |path: &String| {
            let record = search.snapshot.files.at(search.shard.own_path(path)?)?;
            (record.skip.is_none() && search.shard.allows(record.id)).then(|| search.shard.place(record.id))
        };
        Ok(self.paths.iter().map(at).collect())
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Option<FilePlace>>> {
        let mut all = vec![None; self.paths.len()];
        for (shard, found) in corpus.each(self)?.into_iter().enumerate() {
            for (all, file) in all.iter_mut().zip(found) {
                *all = all.or_else(|| Some(corpus.file(shard, file?)));
            }
        }
        Ok(all)
    }

    fn is_valid(&self, answer: &Vec<Option<FilePlace>>, extent: &ShardExtent) -> bool {
        answer.len() == self.paths.len() && answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }
}
