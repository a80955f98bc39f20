//! Second phase: one score per candidate, computed by the fusion and changed by the stages.

use rustc_hash::FxHashMap;

use super::retrieved::{Candidate, Retrieved};
use crate::fuse::{self, Fusion, Ranking, Retriever};
use crate::knob::Knobs;
use crate::unit::UnitId;

/// Scores of the candidates of one [`Retrieved`], which does not change: copying this is enough to rank again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fused {
    /// The score of each candidate, in their order.
    pub scores: Vec<f32>,
    /// Tie-breakers of candidates with equal scores, lowest first, used before their paths. With reciprocal ranks,
    /// which tie often, the semantic rank; empty with relative scores.
    pub ties: Vec<u32>,
    /// The score of each file by its units only, 0 to 1. The stage `multi_unit` sets it; 0 before.
    pub file_scores: Vec<f32>,
    /// Doubt in the query's words, 0 to 1; 0 if they are trusted, or without a semantic ranking. The runner takes this
    /// share off the changes of a doubted stage.
    pub doubt: f32,
}

impl Fused {
    /// Fuses the retrievers' rankings.
    pub fn new(retrieved: &Retrieved, method: Fusion, knobs: &Knobs) -> Fused {
        let weighted = fuse::weigh(&retrieved.rankings, &retrieved.evidence, knobs);
        let fused = fuse::fuse(&weighted, method, retrieved.evidence.rank_constant(knobs));
        let semantic = retrieved.ranking(Retriever::Semantic);
        let ties = match (method, semantic) {
            (Fusion::ReciprocalRank, Some(semantic)) => semantic_ranks(retrieved, semantic),
            _ => Vec::new(),
        };
        Fused {
            scores: retrieved.candidates.iter().map(|c| fused.get(&c.unit).copied().unwrap_or(0.0)).collect(),
            ties,
            file_scores: vec![0.0; retrieved.files.len()],
            doubt: retrieved.doubt(knobs),
        }
    }

    /// Tie-breaker of a candidate among others of its score.
    pub(crate) fn tie(&self, candidate: usize) -> u32 {
        self.ties.get(candidate).copied().unwrap_or_default()
    }

    /// Value of a boost of 1 in the stages of the published pipeline: the best possible base score, 1, or with the knob
    /// `boost_of_best` the best score so far.
    pub(super) fn boost_unit(&self, knobs: &Knobs) -> f32 {
        match knobs.boost_of_best {
            true => self.scores.iter().copied().fold(0.0, f32::max),
            false => 1.0,
        }
    }

    /// Adds the boost of its file to every candidate's score.
    pub(super) fn add_per_file(&mut self, candidates: &[Candidate], boosts: &[f32]) {
        for (score, candidate) in self.scores.iter_mut().zip(candidates) {
            *score += boosts[candidate.file];
        }
    }

    /// Multiplies every candidate's score by its file's factor.
    pub(super) fn scale_per_file(&mut self, candidates: &[Candidate], factors: &[f32]) {
        for (score, candidate) in self.scores.iter_mut().zip(candidates) {
            *score *= factors[candidate.file];
        }
    }

    /// Takes the doubted share off each change since `before`.
    pub(super) fn take_back(&mut self, before: &[f32]) {
        for (score, old) in self.scores.iter_mut().zip(before) {
            *score += self.doubt * (old - *score);
        }
    }
}

/// The rank of each candidate in a sorted ranking; candidates missing from it come last.
fn semantic_ranks(retrieved: &Retrieved, ranking: &Ranking) -> Vec<u32> {
    let ranks: FxHashMap<UnitId, u32> = (0..).zip(&ranking.hits).map(|(rank, hit)| (hit.0, rank)).collect();
    retrieved.candidates.iter().map(|c| ranks.get(&c.unit).copied().unwrap_or(u32::MAX)).collect()
}
