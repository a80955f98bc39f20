//! The files that contain all of some terms.

use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, FilePlace};
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the files, ascending, that contain all terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesWithAllRequest {
    pub terms: Vec<String>,
}

impl Round for FilesWithAllRequest {
    type Answer = Vec<FilePlace>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<FilePlace>> {
        let mut holders: Option<Vec<FileId>> = None;
        for term in &self.terms {
            holders = Some(search.files_with(term, |files| match holders.take() {
                None => files.to_vec(),
                Some(known) => known.into_iter().filter(|file| files.binary_search(file).is_ok()).collect(),
            })?);
        }
        Ok(search.shard.places(holders.unwrap_or_default()))
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<FilePlace>> {
        Ok(corpus.all_files(corpus.each(self)?))
    }

    fn is_valid(&self, answer: &Vec<FilePlace>, extent: &ShardExtent) -> bool {
        answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}
