//! k-fold over repositories: what a choice is worth where it was not made.

use anyhow::{Result, bail};

use super::evaluate::Evaluator;
use super::{FoldBy, Setting};
use crate::corpus::{BenchCorpus, BenchTask};

/// Parts where nobody says how many.
const FOLDS: usize = 6;

/// The repositories, dealt into parts.
///
/// Whole repositories, not queries: a setting that fits one project's habits fits all of that project's queries.
#[derive(Clone, Debug)]
pub struct Folds {
    /// The fold of each query.
    of_task: Vec<usize>,
    /// Each query's share in the mean.
    weights: Vec<f64>,
    /// Number of folds.
    pub count: usize,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Settings by their mean over all queries, best first.
    pub ranked: Vec<Setting>,
    /// For each fold: the winner on the others, and its difference to the baseline on the fold.
    pub winners: Vec<(Setting, f64)>,
    /// Each query's score under the winner that was chosen without it.
    pub held_out: Vec<f64>,
}

impl Folds {
    /// Deals the repositories, the one with most queries first, each into the part with fewest queries so far; or,
    /// where asked for, the queries by turns. Without a `count`, into [`FOLDS`] parts or as many as there are.
    pub fn new(corpus: &BenchCorpus, count: Option<usize>, by: FoldBy) -> Result<Folds> {
        let repositories = corpus.repositories.len();
        let (most, what) = match by {
            FoldBy::Repository => (repositories, "repositories"),
            FoldBy::Query => (corpus.tasks.len(), "queries"),
        };
        let count = count.unwrap_or(FOLDS.min(most));
        if count < 2 || count > most {
            let advice = if by == FoldBy::Repository { "; --fold-by query deals queries" } else { "" };
            match most {
                0 | 1 => bail!("{most} {what} can't be dealt into parts{advice}"),
                _ => bail!("--folds {count}: {most} {what} can be dealt into 2 to {most} parts{advice}"),
            }
        }
        let mut queries = vec![0usize; repositories];
        for task in &corpus.tasks {
            queries[task.repository] += 1;
        }
        let of_repository = deal(&queries, count);
        let fold =
            |(i, t): (usize, &BenchTask)| if by == FoldBy::Query { i % count } else { of_repository[t.repository] };
        let of_task = corpus.tasks.iter().enumerate().map(fold).collect();
        Ok(Folds { of_task, weights: corpus.weights(), count })
    }

    /// Number of queries in a fold.
    pub fn size(&self, fold: usize) -> usize {
        self.of_task.iter().filter(|f| **f == fold).count()
    }

    /// Weighted sum of the scores of the queries outside `fold`; of all, without one.
    pub fn value_outside(&self, scores: &[f64], fold: Option<usize>) -> f64 {
        let inside = |i: usize| fold.is_some_and(|f| self.of_task[i] == f);
        (0..scores.len()).filter(|i| !inside(*i)).map(|i| self.weights[i] * scores[i]).sum()
    }

    /// Judges settings that are all measured: the winner of each fold is chosen among them on the other folds.
    /// The baseline takes part, and wins ties.
    pub fn judge(&self, evaluator: &Evaluator<'_>, settings: &[Setting]) -> Judgement {
        let baseline = Setting::default();
        let all: Vec<&Setting> = std::iter::once(&baseline).chain(settings).collect();
        let best = |fold: Option<usize>| {
            let mut best = (&baseline, f64::NEG_INFINITY);
            for setting in &all {
                let value = self.value_outside(evaluator.known(setting), fold);
                if value > best.1 + 1e-12 {
                    best = (setting, value);
                }
            }
            best.0.clone()
        };
        let winners = (0..self.count).map(|fold| best(Some(fold))).collect();
        self.judge_winners(evaluator, all.into_iter().cloned().collect(), winners)
    }

    /// Judges the winners of the folds, each chosen without its own fold.
    pub fn judge_winners(
        &self,
        evaluator: &Evaluator<'_>,
        mut settings: Vec<Setting>,
        winners: Vec<Setting>,
    ) -> Judgement {
        let baseline = evaluator.known(&Setting::default());
        let held_out: Vec<f64> =
            self.of_task.iter().enumerate().map(|(i, fold)| evaluator.known(&winners[*fold])[i]).collect();
        let difference = |fold: usize| {
            let inside = || (0..held_out.len()).filter(|i| self.of_task[*i] == fold);
            let weight: f64 = inside().map(|i| self.weights[i]).sum();
            inside().map(|i| self.weights[i] * (held_out[i] - baseline[i])).sum::<f64>() / weight.max(f64::MIN_POSITIVE)
        };
        let winners = winners.into_iter().enumerate().map(|(fold, w)| (w, difference(fold))).collect();
        let value = |s: &Setting| self.value_outside(evaluator.known(s), None);
        // Stable: the baseline, first of all, stays before those that only equal it.
        settings.sort_by(|a, b| value(b).total_cmp(&value(a)));
        Judgement { ranked: settings, winners, held_out }
    }
}

/// Assigns things of these sizes to parts of about equal size, greedily.
fn deal(sizes: &[usize], parts: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(sizes[*i]));
    let mut filled = vec![(0usize, 0usize); parts];
    let mut part_of = vec![0; sizes.len()];
    for i in order {
        let part = (0..parts).min_by_key(|p| filled[*p]).unwrap_or(0);
        part_of[i] = part;
        filled[part] = (filled[part].0 + sizes[i], filled[part].1 + 1);
    }
    part_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_about_equal_and_none_is_empty() {
        assert_eq!(deal(&[5, 1, 4, 2], 2), [0, 0, 1, 1]);
        assert_eq!(deal(&[0, 0, 0], 3), [0, 1, 2]);
    }
}
