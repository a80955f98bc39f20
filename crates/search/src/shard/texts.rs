//! The texts of the search by meaning: how they are chosen, step by step, and what a shard tells of them.

use serde::{Deserialize, Serialize};

use super::UnitFound;
use colgrep_index::ids::TextHash;

/// How much a search by meaning may give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Units that may be given: where they were looked up, those that have vectors.
    pub units: u64,
    /// Whether the vectors of each of them were looked up; not where there are too many.
    pub is_placed: bool,
}

/// By which score texts are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// By none: all that may be given.
    All,
    /// By the inverted lists of the question's nearest centroids; texts in none of the lists are left out.
    Lists,
    /// By centroids, of those that were chosen before.
    Centroids,
    /// By their vectors, of those that were chosen before.
    Vectors,
}

/// A cut-off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// Of the texts that were chosen before, those that are left: none is left out where there is no bar.
    pub bar: Option<Bar>,
    /// So many are chosen now.
    pub best: usize,
    /// There is no other shard: nobody asks for their scores.
    pub is_alone: bool,
}

/// The last of the best: its score, and its hash, by which equal scores are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// The score.
    pub score: f32,
    /// The hash.
    pub hash: TextHash,
}

impl Bar {
    /// The bar that lets all texts with this score.
    pub fn of_all(score: f32) -> Bar {
        Bar { score, hash: TextHash::LAST }
    }

    /// Whether a text is as good or better.
    pub fn lets(&self, score: f32, hash: TextHash) -> bool {
        score.total_cmp(&self.score).then_with(|| self.hash.cmp(&hash)).is_ge()
    }
}

/// Texts that a shard chose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// Their number.
    pub count: u64,
    /// Their scores in outline; empty where the shard is alone, and for [`Choice::All`].
    pub outline: Outline,
}

/// The scores of a list in outline, best first: whoever merges lists learns from it how low to look, and asks for what
/// stands above that alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Every so many scores one is told.
    pub step: u32,
    /// These.
    pub scores: Vec<f32>,
}

/// Scores that an outline tells, at most.
const OUTLINE_LEN: usize = 64;

impl Outline {
    /// The outline of scores, of which about `best` will be wanted.
    pub fn of(mut scores: Vec<f32>, best: usize) -> Outline {
        let step = (best.min(scores.len()) / OUTLINE_LEN).max(1);
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        let told = scores.iter().skip(step - 1).step_by(step).take(2 * OUTLINE_LEN).copied().collect();
        Outline { step: step as u32, scores: told }
    }

    /// A score that `wanted` entries of lists with these outlines reach at least; none where that can't be told.
    pub fn least<'o>(outlines: impl Iterator<Item = &'o Outline>, wanted: usize) -> Option<f32> {
        let mut known: Vec<(f32, usize)> =
            outlines.flat_map(|one| one.scores.iter().map(|score| (*score, one.step as usize))).collect();
        known.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut reached = 0;
        known
            .into_iter()
            .find(|(_, step)| {
                reached += step;
                reached >= wanted
            })
            .map(|(score, _)| score)
    }

    /// The lowest score known that at most `most` entries of lists reach, whose lengths are told with their outlines; none
    /// where that can't be told.
    pub fn sure<'o>(lists: impl Iterator<Item = (&'o Outline, u64)>, most: usize) -> Option<f32> {
        let lists: Vec<(&Outline, usize)> = lists.map(|(outline, length)| (outline, length as usize)).collect();
        let mut told: Vec<(f32, usize)> = Vec::new();
        for (at, (outline, _)) in lists.iter().enumerate() {
            told.extend(outline.scores.iter().map(|score| (*score, at)));
        }
        told.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        // Behind each score that is told, fewer stand untold than a step.
        let at_most = |at: usize, told: usize| {
            let (outline, length) = lists[at];
            length.min(((told + 1) * outline.step as usize).saturating_sub(1))
        };
        let mut counts = vec![0; lists.len()];
        let mut reached: usize = (0..lists.len()).map(|at| at_most(at, 0)).sum();
        let mut sure = None;
        for of_score in told.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            for (_, at) in of_score {
                reached -= at_most(*at, counts[*at]);
                counts[*at] += 1;
                reached += at_most(*at, counts[*at]);
            }
            if reached > most {
                break;
            }
            sure = Some(of_score[0].0);
        }
        sure
    }
}

/// Texts in short: the first bits of their hashes, ascending, each told by how much more it is than the one before. Texts
/// that are told so differently are different; those that are told alike may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks(Vec<u32>);

impl Marks {
    /// Bits of a hash that are told: of 8,192 texts, two pairs look alike.
    const BITS: u32 = 24;

    /// A text in short.
    pub fn of(hash: TextHash) -> u32 {
        (hash.value() >> (u64::BITS - Marks::BITS)) as u32
    }

    /// These texts, as [`Marks::of`] tells them.
    pub fn new(mut marks: Vec<u32>) -> Marks {
        marks.sort_unstable();
        let mut last = 0;
        marks.iter_mut().for_each(|mark| *mark -= std::mem::replace(&mut last, *mark));
        Marks(marks)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().scan(0u32, |last, more| {
            *last = last.wrapping_add(*more);
            Some(*last)
        })
    }
}

/// Question for texts that were chosen last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenAsked {
    /// Texts with this score or a better one are told in short; nobody asks for them where there is none.
    pub sure: Option<f32>,
    /// Others with this score or a better one are given with their scores.
    pub least: f32,
    /// Of these, only those with a lower score than this.
    pub below: Option<f32>,
}

/// Texts that were chosen last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChosenFound {
    /// Those that are certainly among the best of all.
    pub sure: Marks,
    /// Those that may be, with their scores, in no order.
    pub open: Vec<(TextHash, f32)>,
}

impl ChosenFound {
    /// What is asked of texts with their scores.
    pub fn of(texts: impl Iterator<Item = (TextHash, f32)>, asked: &ChosenAsked) -> ChosenFound {
        let (mut sure, mut open) = (Vec::new(), Vec::new());
        for (hash, score) in texts {
            if asked.sure.is_some_and(|sure| score.total_cmp(&sure).is_ge()) {
                sure.push(Marks::of(hash));
            } else if score.total_cmp(&asked.least).is_ge()
                && asked.below.is_none_or(|below| score.total_cmp(&below).is_lt())
            {
                open.push((hash, score));
            }
        }
        ChosenFound { sure: Marks::new(sure), open }
    }
}

/// A near text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextNear {
    /// Its hash.
    pub hash: TextHash,
    /// Its likeness with the question.
    pub score: f32,
    /// Its units.
    pub units: Vec<UnitFound>,
}

/// Likeness of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Likeness {
    /// The hash of its text.
    pub hash: Option<TextHash>,
    /// The score, where there are vectors of the question's model.
    pub score: Option<f32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_tells_how_low_to_look() {
        // Lists of many lengths, the scores of one far above those of another.
        let list = |seed: u64, length: usize, from: f32| -> Vec<f32> {
            (0..length as u64).map(|at| from + (seed.wrapping_mul(at * at + 7) % 1_000) as f32 / 999.0).collect()
        };
        let lists = [list(37, 1_000, 0.0), list(91, 300, 0.5), list(13, 5, 3.0), Vec::new()];
        for wanted in [1, 5, 40, 200, 600] {
            let outlines: Vec<Outline> = lists.iter().map(|list| Outline::of(list.clone(), wanted)).collect();
            assert!(outlines.iter().all(|one| one.scores.len() <= 2 * OUTLINE_LEN));
            let least = Outline::least(outlines.iter(), wanted).expect("there are as many");
            let reached = lists.iter().flatten().filter(|score| **score >= least).count();
            assert!(reached >= wanted, "{reached} of {wanted}");
            assert!(reached <= wanted + lists.len() * (wanted / OUTLINE_LEN + 1) + 8, "{reached} for {wanted}");
        }
        for wanted in [1, 5, 40, 200, 600, 2_000] {
            let outlines: Vec<(Outline, u64)> =
                lists.iter().map(|list| (Outline::of(list.clone(), wanted), list.len() as u64)).collect();
            let Some(sure) = Outline::sure(outlines.iter().map(|(one, length)| (one, *length)), wanted) else {
                assert!(wanted < 8, "something is sure of {wanted}");
                continue;
            };
            let reached = lists.iter().flatten().filter(|score| **score >= sure).count();
            assert!(reached <= wanted, "{reached} of {wanted}");
            let untold = lists.len() * (wanted / OUTLINE_LEN + 1) + 8;
            assert!(reached + untold >= wanted.min(1_305), "{reached} for {wanted}");
        }
        let few = [Outline::of(vec![1.0, 2.0], 100)];
        assert_eq!(Outline::least(few.iter(), 3), None, "there are not as many");
        assert_eq!(Outline::least(few.iter(), 2), Some(1.0));
    }

    #[test]
    fn marks_are_told_by_their_differences() {
        let hashes = [7u64 << 40, 3 << 40, 3 << 40 | 1, u64::MAX, 1];
        let hashes = hashes.map(|value| TextHash::new(value).expect("no zero"));
        let marks = Marks::new(hashes.iter().map(|hash| Marks::of(*hash)).collect());
        assert_eq!(marks.iter().collect::<Vec<_>>(), [0, 3, 3, 7, (1 << 24) - 1]);
        assert!(Marks::default().is_empty() && Marks::default().iter().next().is_none());
    }
}
