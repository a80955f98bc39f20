//! Which files contain the tokens of the query.

use std::path::Path;

use colgrep_core::strength::Tokens;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round};
use crate::shard::ShardExtent;

/// Asks which tokens the text of each file, as far as units of it are allowed, and its path contain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokensRequest {
    pub files: Vec<FilePlace>,
    pub tokens: Vec<String>,
}

impl Round for TokensRequest {
    type Answer = Vec<Tokens>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Tokens>> {
        let root = Path::new(&search.snapshot.files.root);
        let held = |file: &FilePlace| {
            let Some(record) = search.shard.record(*file) else { return Ok(Tokens::default()) };
            // A deleted file is empty.
            let text = search.snapshot.texts.text(root, &record.path).unwrap_or_default();
            let text = search.snapshot.allowed_text(record.id, &text, search.filter())?;
            Ok(Tokens::held(search.shard.path_of(record).1, &text, &self.tokens))
        };
        self.files.par_iter().map(held).collect()
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Tokens>> {
        corpus.scatter_files(&self.files, |files| TokensRequest { files, tokens: self.tokens.clone() })
    }

    fn is_valid(&self, answer: &Vec<Tokens>, _: &ShardExtent) -> bool {
        answer.len() == self.files.len()
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
