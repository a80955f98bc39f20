//! `order`: fits the weights of `colgrep_core::rank::order` on labelled places.
//!
//! The chance of a unit is the softmax of its weighted signs over the units that are compared for one question. The fit
//! maximizes the chance that all right units have together: those of labelled places, and all units of a right file where
//! only files are labelled, with a ridge, by Adam over signs scaled to unit deviation
//! (D. Kingma, J. Ba, ICLR 2015). Questions without a right unit among those compared say nothing.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_core::rank::order::{self, SIGNS, WEIGHTS};
use colgrep_core::rank::{Fused, before};
use colgrep_engine::session::project_searcher::RankQuery;
use colgrep_search::Retrieval;

use crate::FINE;
use crate::corpus::{BenchCorpus, CorpusArgs, Vars};
use crate::metric::matches;
use crate::places::asked;
use crate::report::{bar, print};

/// Files that are asked for.
const FILES: usize = 10;
const STEPS: i32 = 150;
const RATE: f64 = 0.08;
/// Weight of the penalty on the squares of weights of scaled signs, over all questions.
const RIDGE: f64 = 0.3;
/// Decay of Adam's averages of gradients and of their squares.
const DECAYS: (f64, f64) = (0.9, 0.999);

#[derive(Clone, Debug, clap::Args)]
pub struct OrderArgs {
    /// Folder of places: `repositories.json`, and `questions/` with a file for each repository
    #[arg(long, value_name = "DIR")]
    pub places: PathBuf,
    /// Folder with a folder of sources, `OWNER+NAME`, for each repository of places
    #[arg(long, value_name = "DIR")]
    pub sources: PathBuf,
    /// Parts of the repositories, each judged by weights fitted on the others
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub folds: usize,
    /// Repositories and queries whose answers are files: all units of a right file are right.
    #[command(flatten)]
    pub corpus: CorpusArgs,
}

type OrderWeights = [f64; SIGNS];

/// The units that are compared for one question.
struct ComparedUnits {
    fold: usize,
    /// Whether each is right, and its signs.
    units: Vec<(bool, OrderWeights)>,
}

impl ComparedUnits {
    /// Whether there is something to learn.
    fn tells(&self) -> bool {
        let right = self.units.iter().filter(|unit| unit.0).count();
        right > 0 && right < self.units.len()
    }

    /// The chance of each unit.
    fn chances(&self, weights: &OrderWeights) -> Vec<f64> {
        let sum = |signs: &OrderWeights| signs.iter().zip(weights).map(|(sign, weight)| sign * weight).sum::<f64>();
        let sums: Vec<f64> = self.units.iter().map(|unit| sum(&unit.1)).collect();
        let highest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let chances: Vec<f64> = sums.into_iter().map(|sum| (sum - highest).exp()).collect();
        let all: f64 = chances.iter().sum();
        chances.into_iter().map(|chance| chance / all).collect()
    }

    /// Whether the unit with the highest chance is right.
    fn is_first_right(&self, weights: &OrderWeights) -> bool {
        let chances = self.chances(weights);
        let first = (0..chances.len()).max_by(|a, b| chances[*a].total_cmp(&chances[*b]));
        first.is_some_and(|first| self.units[first].0)
    }
}

pub fn run(args: &OrderArgs, vars: &Vars) -> Result<u8> {
    let questions = compared(args, vars)?;
    let folds = args.folds.max(2);
    let shipped: OrderWeights = WEIGHTS.map(|(_, weight)| f64::from(weight));
    let mut first = [0usize; 2];
    for fold in 0..folds {
        let weights = fit(questions.iter().filter(|question| question.fold != fold));
        for question in questions.iter().filter(|question| question.fold == fold) {
            first[0] += usize::from(question.is_first_right(&weights));
            first[1] += usize::from(question.is_first_right(&shipped));
        }
    }
    let share = |count: usize| count as f64 / questions.len().max(1) as f64;
    let mut text = format!(
        "# The learned order, over {} questions\n\nThe best of the units compared is right: {:.3} by weights of other \
         folds, {:.3} by those shipped.\n\n| sign | weight | shipped |\n|---|---:|---:|\n",
        questions.len(),
        share(first[0]),
        share(first[1])
    );
    for ((name, shipped), weight) in WEIGHTS.iter().zip(fit(questions.iter())) {
        writeln!(text, "| {name} | {weight:.3} | {shipped:.3} |")?;
    }
    print(&text)?;
    Ok(FINE)
}

/// What is compared for each question about the repositories to tune on.
fn compared(args: &OrderArgs, vars: &Vars) -> Result<Vec<ComparedUnits>> {
    let ranking = &args.corpus.ranking;
    let env = ranking.environment(vars)?;
    let model = ranking.model(&env)?;
    let repositories = asked(&args.places, false, &[])?;
    let folds = args.folds.max(2);
    if repositories.len() < folds {
        bail!("{} repositories are too few for {folds} folds", repositories.len());
    }
    let knobs = Knobs::of(Profile::Default);
    let mut questions = Vec::new();
    let bar = bar(repositories.len() as u64, "asking");
    for (at, asked) in repositories.iter().enumerate() {
        let (_, repository) = asked.open(&args.sources, &env, model.clone(), ranking)?;
        let (by, fusion, model) = (repository.by, repository.fusion, repository.model.as_deref());
        for (question, is_right) in asked.questions() {
            let request = RankQuery { by, fusion, model, ..RankQuery::new(question, &knobs, FILES) };
            let units = units(repository.place.retrieve(&request)?, fusion, &knobs, is_right);
            questions.push(ComparedUnits { fold: at % folds, units });
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let corpus = BenchCorpus::open(&args.corpus, vars)?;
    for task in &corpus.tasks {
        let repository = &corpus.repositories[task.repository];
        let is_right = |path: &str, _, _| {
            let path = repository.absolute(path);
            task.targets.iter().any(|target| matches(&path, target))
        };
        let units = units(repository.retrieve(task, &knobs, FILES)?, repository.fusion, &knobs, is_right);
        questions.push(ComparedUnits { fold: task.repository % folds, units });
    }
    Ok(questions)
}

/// The units that are compared, each with its signs and whether `is_right` says so of its path and lines.
fn units(
    retrieval: Retrieval,
    fusion: Fusion,
    knobs: &Knobs,
    is_right: impl Fn(&str, u32, u32) -> bool,
) -> Vec<(bool, OrderWeights)> {
    let Retrieval { query, retrieved, .. } = retrieval;
    let fused = before(&order::STAGE, &query, knobs, &retrieved, Fused::new(&retrieved, fusion, knobs));
    let unit = |(at, signs): (usize, [f32; SIGNS])| {
        let candidate = &retrieved.candidates[at];
        let path = &retrieved.files[candidate.file].path;
        (is_right(path, candidate.line, candidate.end), signs.map(f64::from))
    };
    order::signs(&query, &retrieved, &fused).into_iter().map(unit).collect()
}

fn fit<'q>(questions: impl Iterator<Item = &'q ComparedUnits>) -> OrderWeights {
    let questions: Vec<&ComparedUnits> = questions.filter(|question| question.tells()).collect();
    let scale = deviations(&questions);
    let scaled: Vec<ComparedUnits> = questions
        .iter()
        .map(|question| {
            let unit = |(is_right, signs): &(bool, OrderWeights)| {
                (*is_right, std::array::from_fn(|sign| signs[sign] / scale[sign]))
            };
            ComparedUnits { fold: question.fold, units: question.units.iter().map(unit).collect() }
        })
        .collect();
    let mut weights = [0.0; SIGNS];
    let (mut mean, mut square) = ([0.0; SIGNS], [0.0; SIGNS]);
    for step in 1..=STEPS {
        let gradient = gradient(&scaled, &weights);
        for sign in 0..SIGNS {
            mean[sign] = DECAYS.0 * mean[sign] + (1.0 - DECAYS.0) * gradient[sign];
            square[sign] = DECAYS.1 * square[sign] + (1.0 - DECAYS.1) * gradient[sign] * gradient[sign];
            let (mean, square) = (mean[sign] / (1.0 - DECAYS.0.powi(step)), square[sign] / (1.0 - DECAYS.1.powi(step)));
            weights[sign] -= RATE * mean / (square.sqrt() + 1e-8);
        }
    }
    std::array::from_fn(|sign| weights[sign] / scale[sign])
}

/// The standard deviation of each sign over all units.
fn deviations(questions: &[&ComparedUnits]) -> OrderWeights {
    let units = || questions.iter().flat_map(|question| &question.units);
    let count = units().count().max(1) as f64;
    std::array::from_fn(|sign| {
        let mean = units().map(|unit| unit.1[sign]).sum::<f64>() / count;
        let variance = units().map(|unit| (unit.1[sign] - mean).powi(2)).sum::<f64>() / count;
        if variance > 1e-12 { variance.sqrt() } else { 1.0 }
    })
}

/// The gradient of the mean loss, `-ln` of the chance of the right units together, with the ridge's.
fn gradient(questions: &[ComparedUnits], weights: &OrderWeights) -> OrderWeights {
    let mut gradient = [0.0; SIGNS];
    for question in questions {
        let chances = question.chances(weights);
        let right: f64 = question.units.iter().zip(&chances).filter(|(unit, _)| unit.0).map(|(_, chance)| chance).sum();
        for ((is_right, signs), chance) in question.units.iter().zip(&chances) {
            let of_right = if *is_right { chance / right.max(1e-12) } else { 0.0 };
            gradient.iter_mut().zip(signs).for_each(|(sum, sign)| *sum += (chance - of_right) * sign);
        }
    }
    let count = questions.len().max(1) as f64;
    std::array::from_fn(|sign| (gradient[sign] + RIDGE * weights[sign]) / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_that_tells_right_from_wrong_gets_the_weight() {
        let unit = |is_right: bool, at: usize| {
            let mut signs = [0.0; SIGNS];
            (signs[0], signs[1]) = (if is_right { 1.0 } else { 0.0 }, (at % 3) as f64);
            (is_right, signs)
        };
        let question =
            |at: usize| ComparedUnits { fold: 0, units: (0..4).map(|i| unit(i == at % 4, i + at)).collect() };
        let questions: Vec<ComparedUnits> = (0..24).map(question).collect();
        let weights = fit(questions.iter());
        assert!(weights[0] > 1.0 && weights[0] > 4.0 * weights[1].abs(), "{weights:?}");
        assert!(questions.iter().all(|question| question.is_first_right(&weights)));
        // A question all of whose units are right, or none, changes nothing.
        let more = [ComparedUnits { fold: 0, units: vec![unit(false, 0)] }];
        assert_eq!(fit(questions.iter().chain(&more)), weights);
    }
}
