//! The nearest texts, with their units.

use colgrep_index::error::Result;
use colgrep_index::ids::TextHash;
use colgrep_index::vector::Scored;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Choice, ChooseRequest, Coordinator, Cut, LocalSearch, Round, ScoreOutline, Validate};
use crate::shard::{ShardExtent, TextCutoff, UnitFound};

/// Asks for the texts that were last chosen by their vectors. They stay chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NearestRequest {
    /// Only texts that reach it.
    pub bar: Option<TextCutoff>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextNear {
    pub hash: TextHash,
    /// Its similarity to the question.
    pub score: f32,
    pub units: Vec<UnitFound>,
}

impl Round for NearestRequest {
    type Answer = Vec<TextNear>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<TextNear>> {
        let Some((vectors, _)) = search.vectors.question()? else { return Ok(Vec::new()) };
        let mut best = search.vectors.selection().chosen.clone();
        if let Some(bar) = self.bar {
            best.retain(|(place, score)| vectors.hash(*place).is_some_and(|hash| bar.lets(*score, hash)));
        }
        best.sort_unstable_by(|a, b| vectors.order(a, b));
        let mut units = search.units_of(vectors, &best);
        let mut near = |(place, score): &Scored| {
            let units = units.remove(place).unwrap_or_default();
            let hits = units.iter().filter_map(|unit| search.snapshot.lexical.hit(*unit));
            let units = hits.map(|hit| search.shard.found(&hit)).collect();
            Some(TextNear { hash: vectors.hash(*place)?, score: *score, units })
        };
        Ok(best.iter().filter_map(&mut near).collect())
    }

    /// The nearest first, each text once with the units of all shards.
    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<TextNear>> {
        let request = NearestRequest { bar: self.bar.or(corpus.selection().bar) };
        let mut merged: FxHashMap<TextHash, TextNear> = FxHashMap::default();
        for (shard, found) in corpus.each(&request)?.into_iter().enumerate() {
            for text in found {
                let units: Vec<UnitFound> = text.units.iter().map(|unit| corpus.found(shard, *unit)).collect();
                merged.entry(text.hash).or_insert_with(|| TextNear { units: Vec::new(), ..text }).units.extend(units);
            }
        }
        let mut near: Vec<TextNear> = merged.into_values().collect();
        near.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.hash.cmp(&b.hash)));
        Ok(near)
    }

    fn is_valid(&self, answer: &Vec<TextNear>, extent: &ShardExtent) -> bool {
        answer.iter().all(|text| text.score.is_valid(extent) && text.units.is_valid(extent))
    }
}

impl Coordinator<'_> {
    /// The `n` nearest texts by their vectors, among those chosen before that reach the bar.
    pub(crate) fn nearest(&self, bar: Option<TextCutoff>, n: usize) -> Result<Vec<TextNear>> {
        let cut = Cut { bar, best: n, is_alone: self.is_alone() };
        let chosen = self.each(&ChooseRequest { by: Choice::Vectors, cut })?;
        if cut.is_alone {
            return self.ask(&NearestRequest { bar: None });
        }
        let mut wanted = n;
        loop {
            let least = ScoreOutline::least(chosen.iter().map(|chosen| &chosen.outline), wanted);
            let mut near = self.ask(&NearestRequest { bar: least.map(TextCutoff::of_all) })?;
            if near.len() < n && least.is_some() {
                // A text that several shards have counts once.
                wanted += 2 * (n - near.len());
                continue;
            }
            near.truncate(n);
            return Ok(near);
        }
    }
}
