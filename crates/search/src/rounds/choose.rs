//! Chooses texts by meaning, step by step: by the inverted lists, by centroids, by vectors. Each step keeps the best of
//! all shards.

use colgrep_index::error::Result;
use colgrep_index::ids::TextHash;
use colgrep_index::vector::in_store;
use serde::{Deserialize, Serialize};

use super::top_k::{TextLists, TopTexts, top_k};
use super::{
    ChosenRequest, ChosenResponse, Coordinator, LocalSearch, MarkedRequest, Marks, Replay, Round, ScoreOutline,
    Validate,
};
use crate::shard::{ShardExtent, TextCutoff};

/// Asks a shard to choose texts, which it remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChooseRequest {
    /// The score that decides.
    pub by: Choice,
    /// How many texts to keep and to choose.
    pub cut: Cut,
}

/// The score by which texts are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// None: all allowed texts.
    All,
    /// The inverted lists of the question's nearest centroids. Texts in none of the lists are left out.
    Lists,
    /// Centroids, among the texts chosen before.
    Centroids,
    /// Vectors, among the texts chosen before.
    Vectors,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// Drops the previously chosen texts below it; `None` drops nothing.
    pub bar: Option<TextCutoff>,
    /// Number of texts to choose now.
    pub best: usize,
    /// True if there is no other shard to compare scores with.
    pub is_alone: bool,
}

/// What a shard chose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChooseResponse {
    /// Number of texts.
    pub count: u64,
    /// The outline of their scores; empty for a single shard, and for [`Choice::All`].
    pub outline: ScoreOutline,
}

impl Round for ChooseRequest {
    type Answer = ChooseResponse;

    fn local(&self, search: &LocalSearch<'_>) -> Result<ChooseResponse> {
        let cut = self.cut;
        let Some((vectors, question)) = search.vectors.question()? else { return Ok(ChooseResponse::default()) };
        let chosen = match self.by {
            Choice::All => search.allowed_units(vectors).1.iter().map(|place| (place, 0.0)).collect(),
            Choice::Lists => search.listed(vectors, question, cut.best)?,
            Choice::Centroids => {
                vectors.best_of(question.rough(&in_store(search.vectors.take(vectors, cut.bar)))?, cut.best)
            }
            Choice::Vectors => {
                let places = in_store(search.vectors.take(vectors, cut.bar));
                let scores = question.exact(&places)?;
                vectors.best_of(places.into_iter().zip(scores).collect(), cut.best)
            }
        };
        let answer = self.answer(chosen.len(), chosen.iter().map(|text| text.1));
        search.vectors.selection().chosen = chosen;
        Ok(answer)
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<ChooseResponse> {
        // The bar of the whole corpus, or else the one chosen by this coordinator.
        let bar = self.cut.bar.or(corpus.selection().bar);
        let top = corpus.choose(self.by, &Cut { bar, ..self.cut }, true)?;
        let answer = self.answer(top.count, top.texts.iter().map(|text| text.1));
        *corpus.selection() = top;
        Ok(answer)
    }

    fn is_valid(&self, answer: &ChooseResponse, extent: &ShardExtent) -> bool {
        let ChooseResponse { count, outline } = answer;
        let shown = outline.scores.len() as u64 * u64::from(outline.step);
        count.is_valid(extent) && outline.is_valid(self.cut.best) && shown <= *count
    }

    fn replay(&self) -> Replay {
        Replay::Chain { starts: matches!(self.by, Choice::All | Choice::Lists) }
    }

    fn own_name(&self) -> Option<&'static str> {
        Some(match self.by {
            Choice::All => "choose all",
            Choice::Lists => "choose by lists",
            Choice::Centroids => "choose by centroids",
            Choice::Vectors => "choose by vectors",
        })
    }
}

impl ChooseRequest {
    fn answer(&self, count: usize, scores: impl Iterator<Item = f32>) -> ChooseResponse {
        let outline = match self.cut.is_alone || self.by == Choice::All {
            true => ScoreOutline::default(),
            false => ScoreOutline::of(scores.collect(), self.cut.best),
        };
        ChooseResponse { count: count as u64, outline }
    }
}

impl Coordinator<'_> {
    /// Chooses texts in every shard. Of several shards, returns the best of all, each text once, with the last of them as
    /// the bar if some are left out; with all scores if `is_whole`.
    pub(crate) fn choose(&self, by: Choice, cut: &Cut, is_whole: bool) -> Result<TopTexts> {
        let cut = Cut { is_alone: cut.is_alone && self.is_alone(), ..*cut };
        let chosen = self.each(&ChooseRequest { by, cut })?;
        let all: u64 = chosen.iter().map(|chosen| chosen.count).sum();
        if cut.is_alone || by == Choice::All || all == 0 {
            return Ok(TopTexts { count: all as usize, bar: None, texts: Vec::new() });
        }
        top_k(self, &chosen, cut.best, self.is_far() && !is_whole)
    }
}

impl TextLists for Coordinator<'_> {
    fn chosen(&self, request: &ChosenRequest) -> Result<Vec<ChosenResponse>> {
        self.each(request)
    }

    fn marked(&self, marks: Vec<Marks>, sure: f32) -> Result<Vec<TextHash>> {
        let requests: Vec<MarkedRequest> = marks.into_iter().map(|marks| MarkedRequest { marks, sure }).collect();
        Ok(self.each_own(&requests)?.into_iter().flatten().collect())
    }
}
