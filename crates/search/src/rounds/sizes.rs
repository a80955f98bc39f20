//! The sizes of files.

use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the sizes of files in bytes. Files that the filter excludes have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizesRequest {
    pub files: Vec<FilePlace>,
}

impl Round for SizesRequest {
    type Answer = Vec<Option<u64>>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Option<u64>>> {
        let size = |file: &FilePlace| {
            let record = search.shard.record(*file)?;
            (record.skip.is_none() && search.shard.allows(record.id)).then_some(record.size)
        };
        Ok(self.files.iter().map(size).collect())
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Option<u64>>> {
        corpus.scatter_files(&self.files, |files| SizesRequest { files })
    }

    fn is_valid(&self, answer: &Vec<Option<u64>>, extent: &ShardExtent) -> bool {
        answer.len() == self.files.len() && answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
