//! Facts for the stages about candidates and their files.

use colgrep_core::UnitId;
use colgrep_core::rank::NamedDefinition;
use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, FilePlace};
use colgrep_index::lexical::PairSample;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for facts of candidates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FactsRequest {
    /// Files with candidates, ascending.
    pub files: Vec<FilePlace>,
    pub units: Vec<UnitId>,
    /// For each pair of neighbouring terms, the sampling rate of files when the files with the pair are counted: one in
    /// this many, a power of two.
    pub parts: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FactsResponse {
    /// For each file, its facts.
    pub files: Vec<FileFound>,
    /// For each unit, whether its name contains a content term of the query.
    pub name_hits: Vec<bool>,
    /// For each pair, the number of files in the sample where its terms are close together, and where they are
    /// adjacent.
    pub pairs: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFound {
    /// [`RepositoryExtent::front`](crate::shard::RepositoryExtent::front) of its repository. It follows from the file's place and is
    /// not sent.
    #[serde(skip)]
    pub front: String,
    /// Its path in the repository.
    pub path: String,
    pub language: String,
    pub hash: u128,
    /// True if the file is generated.
    pub is_generated: bool,
    pub definitions: Vec<NamedDefinition>,
    /// Positions of the query's names that the file's text defines as types.
    pub textual_types: Vec<u32>,
    /// The highest 1/√n among plain words of the query that name one of n definitions, one of them in this file.
    pub word_definitions: f32,
    /// For each pair, how often its terms are close together in the file, and how often adjacent.
    pub pairs: Vec<(u32, u32)>,
}

impl Round for FactsRequest {
    type Answer = FactsResponse;

    fn local(&self, search: &LocalSearch<'_>) -> Result<FactsResponse> {
        let name_hits = search.looked_up.name_hits(&self.units)?;
        let wanted: FxHashSet<FileId> = self.files.iter().map(|file| search.shard.number(*file)).collect();
        let is_wanted = |file: FileId| wanted.contains(&file);
        let sample = PairSample { is_wanted: &is_wanted, parts: &self.parts, lot: &|file| search.shard.lot(file) };
        let found = search.snapshot.lexical.pairs(search.query, &sample)?;
        let pairs = found.iter().map(|pair| pair.sample).collect();
        let counts: Vec<FxHashMap<FileId, (u32, u32)>> =
            found.into_iter().map(|pair| pair.files.into_iter().collect()).collect();
        let facts = |file: &FilePlace| {
            let Some(record) = search.shard.record(*file) else { return FileFound::default() };
            let (front, path) = search.shard.path_of(record);
            let mut found = FileFound {
                front: front.to_string(),
                path: path.to_string(),
                language: record.language.clone(),
                hash: record.hash,
                is_generated: record.generated,
                pairs: counts.iter().map(|of_file| of_file.get(&record.id).copied().unwrap_or_default()).collect(),
                ..FileFound::default()
            };
            if let Some(named) = search.named.get().and_then(|named| named.get(&record.id)) {
                found.definitions.clone_from(&named.definitions);
                found.textual_types = named.textual_types.iter().map(|at| *at as u32).collect();
                found.word_definitions = named.word_definitions;
            }
            found
        };
        Ok(FactsResponse { files: self.files.iter().map(facts).collect(), name_hits, pairs })
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<FactsResponse> {
        let empty = FactsRequest { parts: self.parts.clone(), ..FactsRequest::default() };
        let mut requests = vec![empty; corpus.count()];
        let files: Vec<(usize, FilePlace)> = self.files.iter().map(|file| corpus.of_file(*file)).collect();
        let units: Vec<(usize, UnitId)> = self.units.iter().map(|unit| corpus.of_unit(*unit)).collect();
        files.iter().for_each(|(shard, file)| requests[*shard].files.push(*file));
        units.iter().for_each(|(shard, unit)| requests[*shard].units.push(*unit));
        let mut all = FactsResponse { pairs: vec![(0, 0); self.parts.len()], ..FactsResponse::default() };
        let mut parts = Vec::new();
        for (shard, mut found) in corpus.each_own(&requests)?.into_iter().enumerate() {
            for (sum, more) in all.pairs.iter_mut().zip(&found.pairs) {
                *sum = (sum.0 + more.0, sum.1 + more.1);
            }
            for definition in found.files.iter_mut().flat_map(|file| &mut file.definitions) {
                definition.unit = corpus.unit(shard, definition.unit);
            }
            parts.push((found.files.into_iter(), found.name_hits.into_iter()));
        }
        all.files = files.iter().map(|(shard, _)| parts[*shard].0.next().unwrap_or_default()).collect();
        all.name_hits = units.iter().map(|(shard, _)| parts[*shard].1.next().unwrap_or_default()).collect();
        Ok(all)
    }

    fn is_valid(&self, answer: &FactsResponse, extent: &ShardExtent) -> bool {
        let is_valid = |file: &FileFound| {
            file.definitions.iter().all(|one| one.unit.is_valid(extent))
                && file.word_definitions.is_valid(extent)
                && file.pairs.len() <= self.parts.len()
        };
        answer.files.len() == self.files.len()
            && answer.name_hits.len() == self.units.len()
            && answer.pairs.len() == self.parts.len()
            && answer.pairs.is_valid(extent)
            && answer.files.iter().all(is_valid)
    }

    fn complete(&self, answer: &mut FactsResponse, extent: &ShardExtent) {
        let repositories = &extent.repositories;
        for (place, file) in self.files.iter().zip(&mut answer.files) {
            let after = repositories.partition_point(|one| one.first <= *place);
            if let Some(own) = after.checked_sub(1).and_then(|at| repositories.get(at)) {
                file.front.clone_from(&own.front);
            }
        }
    }
}
