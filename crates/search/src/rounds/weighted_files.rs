//! The files with the highest weight of terms.

use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, FilePlace};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the allowed files with a minimum weight of terms, highest weight first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WeightedFilesRequest {
    pub terms: Vec<(String, f32)>,
    /// The lowest sum of weights.
    pub least: f32,
    /// Maximum number of files.
    pub files_max: usize,
}

impl Round for WeightedFilesRequest {
    type Answer = Vec<(FilePlace, f32)>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<(FilePlace, f32)>> {
        let mut held: FxHashMap<FileId, f32> = FxHashMap::default();
        for (term, weight) in &self.terms {
            search.files_with(term, |files| {
                for file in files.iter().filter(|file| search.shard.allows(**file)) {
                    *held.entry(*file).or_default() += weight;
                }
            })?;
        }
        let enough = held.into_iter().filter(|(_, weight)| *weight >= self.least);
        Ok(self.cut(enough.map(|(file, weight)| (search.shard.place(file), weight)).collect()))
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<(FilePlace, f32)>> {
        let mut all = Vec::new();
        for (shard, files) in corpus.each(self)?.into_iter().enumerate() {
            all.extend(files.into_iter().map(|(file, weight)| (corpus.file(shard, file), weight)));
        }
        Ok(self.cut(all))
    }

    fn is_valid(&self, answer: &Vec<(FilePlace, f32)>, extent: &ShardExtent) -> bool {
        answer.is_valid(extent)
    }
}

impl WeightedFilesRequest {
    fn cut(&self, mut files: Vec<(FilePlace, f32)>) -> Vec<(FilePlace, f32)> {
        files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        files.truncate(self.files_max);
        files
    }
}
