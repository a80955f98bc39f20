//! Outlines of score lists: the outlines of several lists show which scores are among the best of all.

use serde::{Deserialize, Serialize};

/// Intervals into which an outline divides the wanted scores.
const OUTLINE_LEN: usize = 64;

/// Some of the scores of a list, best first, at regular intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreOutline {
    /// The interval.
    pub step: u32,
    /// Every `step`th score.
    pub scores: Vec<f32>,
}

impl ScoreOutline {
    /// The outline of scores, of which about `best` will be wanted.
    pub fn of(mut scores: Vec<f32>, best: usize) -> ScoreOutline {
        let step = (best.min(scores.len()) / OUTLINE_LEN).max(1);
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        let scores = scores.iter().skip(step - 1).step_by(step).take(2 * OUTLINE_LEN).copied().collect();
        ScoreOutline { step: step as u32, scores }
    }

    /// True if it can be the outline of scores of which about `best` are wanted.
    pub fn is_valid(&self, best: usize) -> bool {
        let steps = 1..=(best / OUTLINE_LEN).max(1);
        (self.scores.is_empty() || steps.contains(&(self.step as usize)))
            && self.scores.len() <= 2 * OUTLINE_LEN
            && self.scores.iter().all(|score| score.is_finite())
    }

    /// A score that at least `wanted` entries of the lists reach; `None` if the outlines don't show one.
    pub fn least<'o>(outlines: impl Iterator<Item = &'o ScoreOutline>, wanted: usize) -> Option<f32> {
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

    /// The lowest shown score that at most `most` entries of the lists reach; `None` if the outlines don't show one.
    /// Each outline comes with the length of its list.
    pub fn sure<'o>(lists: impl Iterator<Item = (&'o ScoreOutline, u64)>, most: usize) -> Option<f32> {
        let lists: Vec<(&ScoreOutline, usize)> = lists.map(|(outline, length)| (outline, length as usize)).collect();
        let mut shown: Vec<(f32, usize)> = Vec::new();
        for (at, (outline, _)) in lists.iter().enumerate() {
            shown.extend(outline.scores.iter().map(|score| (*score, at)));
        }
        shown.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        // Fewer than `step` scores are between one that is shown and the next.
        let at_most = |at: usize, shown: usize| {
            let (outline, length) = lists[at];
            length.min(((shown + 1) * outline.step as usize).saturating_sub(1))
        };
        let mut counts = vec![0; lists.len()];
        let mut reached: usize = (0..lists.len()).map(|at| at_most(at, 0)).sum();
        let mut sure = None;
        for of_score in shown.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
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
            let outlines: Vec<ScoreOutline> = lists.iter().map(|list| ScoreOutline::of(list.clone(), wanted)).collect();
            assert!(outlines.iter().all(|one| one.scores.len() <= 2 * OUTLINE_LEN));
            let least = ScoreOutline::least(outlines.iter(), wanted).expect("there are as many");
            let reached = lists.iter().flatten().filter(|score| **score >= least).count();
            assert!(reached >= wanted, "{reached} of {wanted}");
            assert!(reached <= wanted + lists.len() * (wanted / OUTLINE_LEN + 1) + 8, "{reached} for {wanted}");
        }
        for wanted in [1, 5, 40, 200, 600, 2_000] {
            let outlines: Vec<(ScoreOutline, u64)> =
                lists.iter().map(|list| (ScoreOutline::of(list.clone(), wanted), list.len() as u64)).collect();
            let Some(sure) = ScoreOutline::sure(outlines.iter().map(|(one, length)| (one, *length)), wanted) else {
                assert!(wanted < 8, "something is sure of {wanted}");
                continue;
            };
            let reached = lists.iter().flatten().filter(|score| **score >= sure).count();
            assert!(reached <= wanted, "{reached} of {wanted}");
            let untold = lists.len() * (wanted / OUTLINE_LEN + 1) + 8;
            assert!(reached + untold >= wanted.min(1_305), "{reached} for {wanted}");
        }
        let few = [ScoreOutline::of(vec![1.0, 2.0], 100)];
        assert_eq!(ScoreOutline::least(few.iter(), 3), None, "there are not as many");
        assert_eq!(ScoreOutline::least(few.iter(), 2), Some(1.0));
    }
}
