//! Scores of units by their stored vectors.

use colgrep_core::UnitId;
use colgrep_index::error::Result;
use colgrep_index::ids::TextHash;
use colgrep_index::vector::VectorPlace;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the scores of units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LikenessRequest {
    pub units: Vec<UnitId>,
}

/// The similarity of a unit to the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Likeness {
    pub hash: Option<TextHash>,
    /// The score, if the index has vectors of the question's model.
    pub score: Option<f32>,
}

impl Round for LikenessRequest {
    type Answer = Vec<Likeness>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<Likeness>> {
        let of_text = |unit: &UnitId| Likeness { hash: search.snapshot.lexical.text_of(*unit), score: None };
        let mut all: Vec<Likeness> = self.units.iter().map(of_text).collect();
        let Some((vectors, question)) = search.vectors.question()? else { return Ok(all) };
        let placed = |(at, one): (usize, &Likeness)| Some((at, vectors.place(one.hash?)?));
        let (at, places): (Vec<usize>, Vec<VectorPlace>) = all.iter().enumerate().filter_map(placed).unzip();
        for (at, score) in at.into_iter().zip(question.exact(&places)?) {
            all[at].score = Some(score);
        }
        Ok(all)
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<Likeness>> {
        corpus.scatter_units(&self.units, |units| LikenessRequest { units })
    }

    fn is_valid(&self, answer: &Vec<Likeness>, extent: &ShardExtent) -> bool {
        answer.len() == self.units.len() && answer.iter().all(|one| one.score.is_valid(extent))
    }

    fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}
