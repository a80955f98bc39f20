//! The texts chosen last.

use colgrep_index::error::Result;
use colgrep_index::ids::TextHash;
use colgrep_index::vector::Scored;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::ShardExtent;

/// Asks for the texts chosen last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenRequest {
    /// Texts with at least this score are returned in short; with `None`, no text is.
    pub sure: Option<f32>,
    /// Other texts with at least this score are returned with their scores.
    pub least: f32,
    /// Of these, only those below this score.
    pub below: Option<f32>,
}

/// The texts chosen last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChosenResponse {
    /// Texts that are certainly among the best of all.
    pub sure: Marks,
    /// Texts that may be, with their scores, in no order.
    pub open: Vec<(TextHash, f32)>,
}

impl Round for ChosenRequest {
    type Answer = ChosenResponse;

    fn local(&self, search: &LocalSearch<'_>) -> Result<ChosenResponse> {
        let Some((vectors, _)) = search.vectors.question()? else { return Ok(ChosenResponse::default()) };
        let selection = search.vectors.selection();
        // Texts below it are skipped without reading their hashes.
        let is_wanted = |text: &&Scored| {
            let least = self.sure.filter(|sure| sure.total_cmp(&self.least).is_lt()).unwrap_or(self.least);
            text.1.total_cmp(&least).is_ge()
        };
        let with_hash = |(place, score): &Scored| Some((vectors.hash(*place)?, *score));
        Ok(self.of(selection.chosen.iter().filter(is_wanted).filter_map(with_hash)))
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<ChosenResponse> {
        Ok(self.of(corpus.selection().texts.iter().copied()))
    }

    fn is_valid(&self, answer: &ChosenResponse, extent: &ShardExtent) -> bool {
        answer.open.is_valid(extent)
    }
}

impl ChosenRequest {
    /// Selects the requested texts.
    pub(super) fn of(&self, texts: impl Iterator<Item = (TextHash, f32)>) -> ChosenResponse {
        let (mut sure, mut open) = (Vec::new(), Vec::new());
        for (hash, score) in texts {
            if self.sure.is_some_and(|sure| score.total_cmp(&sure).is_ge()) {
                sure.push(Marks::of(hash));
            } else if score.total_cmp(&self.least).is_ge()
                && self.below.is_none_or(|below| score.total_cmp(&below).is_lt())
            {
                open.push((hash, score));
            }
        }
        ChosenResponse { sure: Marks::new(sure), open }
    }
}

/// Texts in short: the first bits of their hashes, ascending, as differences. Texts with different marks differ; texts with
/// the same mark may be equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks(Vec<u32>);

impl Marks {
    /// Bits of a hash in a mark: of 8,192 texts, two pairs share a mark.
    const BITS: u32 = 24;

    pub fn of(hash: TextHash) -> u32 {
        (hash.value() >> (u64::BITS - Marks::BITS)) as u32
    }

    pub fn new(mut marks: Vec<u32>) -> Marks {
        marks.sort_unstable();
        let mut last = 0;
        marks.iter_mut().for_each(|mark| *mark -= std::mem::replace(&mut last, *mark));
        Marks(marks)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().scan(0u32, |last, more| {
            *last = last.wrapping_add(*more);
            Some(*last)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_packed_as_differences() {
        let hashes = [7u64 << 40, 3 << 40, 3 << 40 | 1, u64::MAX, 1];
        let hashes = hashes.map(|value| TextHash::new(value).expect("no zero"));
        let marks = Marks::new(hashes.iter().map(|hash| Marks::of(*hash)).collect());
        assert_eq!(marks.iter().collect::<Vec<_>>(), [0, 3, 3, 7, (1 << 24) - 1]);
        assert!(Marks::default().is_empty() && Marks::default().iter().next().is_none());
    }
}
