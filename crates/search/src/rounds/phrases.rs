//! The files that contain terms in a row.

use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::Run;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks, for each phrase, for the files, ascending, with a unit that contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhrasesRequest {
    pub phrases: Vec<Run>,
}

impl Round for PhrasesRequest {
    type Answer = Vec<Vec<FilePlace>>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Vec<FilePlace>>> {
        let files = |phrase: &Run| Ok(search.shard.places(search.snapshot.lexical.files_with_run(phrase)?));
        self.phrases.iter().map(files).collect()
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Vec<FilePlace>>> {
        let mut found = corpus.each(self)?;
        let files = |at: usize| corpus.all_files(found.iter_mut().map(|lists| std::mem::take(&mut lists[at])));
        Ok((0..self.phrases.len()).map(files).collect())
    }

    fn is_valid(&self, answer: &Vec<Vec<FilePlace>>, extent: &ShardExtent) -> bool {
        answer.len() == self.phrases.len() && answer.is_valid(extent)
    }

    fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }
}

impl Coordinator<'_> {
    /// The files, ascending, with a unit that contains the phrase.
    pub(crate) fn files_with_phrase(&self, phrase: &Run) -> Result<Vec<FilePlace>> {
        Ok(self.ask(&PhrasesRequest { phrases: vec![phrase.clone()] })?.concat())
    }
}
