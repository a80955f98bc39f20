//! `strength`: fits the weights of `colgrep_core::strength`, and says what floor they allow.
//!
//! Every question is asked of its own repository and of one in another language, where no file is right. The weights
//! that judge a question come from folds without its repositories.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use colgrep_core::collapse::{PerFile, collapse};
use colgrep_core::fuse::Fusion;
use colgrep_core::rank::{self, Fused};
use colgrep_core::strength::{GivenFiles, KnownStrength, NAMES, SIGNS, Signs, known, signs};
use colgrep_index::source::hash;
use colgrep_search::{self as search, LocalShard, Retrieval, held};
use rayon::prelude::*;
use serde::Serialize;

use crate::FINE;
use crate::corpus::{BenchCorpus, BenchRepository, BenchTask, CorpusArgs, Vars};
use crate::metric::{DEPTH, matches};
use crate::report::{OutputArgs, bar};

/// Files, at the front, whose being right counts as an answer.
const ANSWER_DEPTH: usize = 3;
/// Weight of the penalty on the squares of weights of scaled signs: enough for signs that hardly vary.
const RIDGE: f64 = 1.0;
/// Newton steps; the loss is convex, and a dozen reach its end.
const STEPS: usize = 25;
/// Floors that are tried.
const FLOORS: usize = 40;

#[derive(Clone, Debug, clap::Args)]
pub struct StrengthArgs {
    /// Repositories and queries.
    #[command(flatten)]
    pub corpus: CorpusArgs,
    /// Parts of the repositories, each judged by weights fitted on the others
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub folds: usize,
    /// Share of the right answers among the first three that the floor has to keep
    #[arg(long, value_name = "F", default_value_t = 0.95)]
    pub keep: f64,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// One file of one answer.
#[derive(Clone, Debug, Serialize)]
struct StrengthRow {
    /// Number of the question in its asking; rows of one asking are adjacent.
    asking: usize,
    /// The fold of the repository that was asked.
    fold: usize,
    set: String,
    category: String,
    /// Whether the question was asked of its own repository.
    is_own: bool,
    rank: usize,
    is_right: bool,
    /// What needs no weights.
    known: KnownStrength,
    signs: Signs,
    /// What the weights of the other folds give.
    strength: f64,
}

/// Bias, then a weight for each sign.
type Weights = [f64; SIGNS + 1];

pub fn run(args: &StrengthArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let corpus = BenchCorpus::open(&args.corpus, vars)?;
    if corpus.repositories.len() < args.folds.max(2) {
        bail!("{} repositories are too few for {} folds", corpus.repositories.len(), args.folds.max(2));
    }
    let mut rows = ask(&corpus, args.corpus.ranking.fusion(), args.folds.max(2))?;
    for fold in 0..args.folds.max(2) {
        let weights = fit(rows.iter().filter(|row| row.fold != fold));
        rows.iter_mut().filter(|row| row.fold == fold).for_each(|row| row.strength = judged(row, &weights));
    }
    let markdown = summary(&corpus.ranking, args.keep, &rows, &fit(rows.iter()));
    args.output.publish(&markdown, &rows)?;
    Ok(FINE)
}

/// Asks every question of its own repository and of another.
fn ask(corpus: &BenchCorpus, fusion: Fusion, folds: usize) -> Result<Vec<StrengthRow>> {
    let mut names: Vec<&str> = corpus.repositories.iter().map(|r| r.name.as_str()).collect();
    names.sort_unstable();
    let fold_of =
        |repository: &BenchRepository| names.binary_search(&repository.name.as_str()).unwrap_or_default() % folds;
    let bar = bar(corpus.tasks.len() as u64, "asking");
    let asked = corpus.tasks.par_iter().enumerate().map(|(i, task)| {
        let own = &corpus.repositories[task.repository];
        let mut rows = asking(corpus, task, own, fusion, 2 * i, fold_of(own))?;
        if let Some(other) = elsewhere(corpus, task, &fold_of) {
            rows.extend(asking(corpus, task, other, fusion, 2 * i + 1, fold_of(own))?);
        }
        bar.inc(1);
        Ok(rows)
    });
    let rows: Result<Vec<Vec<StrengthRow>>> = asked.collect();
    bar.finish_and_clear();
    Ok(rows?.concat())
}

/// A repository in another language, of the same fold as the question's own.
fn elsewhere<'c>(
    corpus: &'c BenchCorpus,
    task: &BenchTask,
    fold_of: &impl Fn(&BenchRepository) -> usize,
) -> Option<&'c BenchRepository> {
    let own = &corpus.repositories[task.repository];
    let is_other = |other: &&BenchRepository| other.language != own.language && fold_of(other) == fold_of(own);
    let others: Vec<&BenchRepository> = corpus.repositories.iter().filter(is_other).collect();
    let at = hash(task.query.as_bytes()) as usize;
    (!others.is_empty()).then(|| others[at % others.len()])
}

fn asking(
    corpus: &BenchCorpus,
    task: &BenchTask,
    repository: &BenchRepository,
    fusion: Fusion,
    asking: usize,
    fold: usize,
) -> Result<Vec<StrengthRow>> {
    let retrieval = repository.retrieve(task, &corpus.knobs, DEPTH)?;
    let Retrieval { query, retrieved, .. } = &retrieval;
    let fused = Fused::new(retrieved, fusion, &corpus.knobs);
    let ranked = rank::run(query, &corpus.knobs, retrieved, fused, None);
    let hits = collapse(&ranked, DEPTH, PerFile::Units(1));
    let snapshot = &repository.place.snapshot;
    let held = held(&search::Corpus::of(&[&LocalShard::new(snapshot, None)], snapshot), &retrieval, &hits)?;
    let given = GivenFiles { query, knobs: &corpus.knobs, retrieved, hits: &hits, held: &held };
    let is_own = std::ptr::eq(repository, &corpus.repositories[task.repository]);
    let is_right = |file: usize| {
        let path = repository.absolute(&retrieved.files[file].path);
        is_own && task.targets.iter().any(|target| matches(&path, target))
    };
    let signs = signs(&given);
    let rows = hits.iter().zip(signs).zip(known(&given)).enumerate().map(|(rank, ((hit, signs), known))| StrengthRow {
        asking,
        fold,
        set: corpus.sets[task.set].name.clone(),
        category: task.category.clone(),
        is_own,
        rank: rank + 1,
        is_right: is_right(hit.file),
        known,
        signs,
        strength: 0.0,
    });
    Ok(rows.collect())
}

fn judged(row: &StrengthRow, weights: &Weights) -> f64 {
    row.known.applied(|| logistic(weights, &row.signs))
}

fn logistic(weights: &Weights, signs: &Signs) -> f64 {
    let sum: f64 = weights[0] + signs.iter().zip(&weights[1..]).map(|(s, w)| f64::from(*s) * w).sum::<f64>();
    1.0 / (1.0 + (-sum).exp())
}

/// Logistic regression with a ridge, by Newton's method over signs scaled to unit deviation.
fn fit<'r>(rows: impl Iterator<Item = &'r StrengthRow>) -> Weights {
    let rows: Vec<&StrengthRow> = rows.filter(|row| !matches!(row.known, KnownStrength::Is(_))).collect();
    let count = rows.len().max(1) as f64;
    let mut scale = [(0.0, 1.0); SIGNS];
    for (i, (mean, deviation)) in scale.iter_mut().enumerate() {
        *mean = rows.iter().map(|row| f64::from(row.signs[i])).sum::<f64>() / count;
        let variance = rows.iter().map(|row| (f64::from(row.signs[i]) - *mean).powi(2)).sum::<f64>() / count;
        *deviation = if variance > 1e-12 { variance.sqrt() } else { 1.0 };
    }
    let scaled = |row: &StrengthRow| -> Weights {
        std::array::from_fn(|i| match i {
            0 => 1.0,
            _ => (f64::from(row.signs[i - 1]) - scale[i - 1].0) / scale[i - 1].1,
        })
    };
    let points: Vec<(Weights, f64)> = rows.iter().map(|row| (scaled(row), f64::from(u8::from(row.is_right)))).collect();
    let mut weights = [0.0; SIGNS + 1];
    for _ in 0..STEPS {
        newton_step(&points, &mut weights);
    }
    let bias = weights[0] - (0..SIGNS).map(|i| weights[i + 1] * scale[i].0 / scale[i].1).sum::<f64>();
    std::array::from_fn(|i| if i == 0 { bias } else { weights[i] / scale[i - 1].1 })
}

fn newton_step(points: &[(Weights, f64)], weights: &mut Weights) {
    const N: usize = SIGNS + 1;
    let mut system = [[0.0; N + 1]; N];
    for (i, row) in system.iter_mut().enumerate().skip(1) {
        row[i] = RIDGE;
        row[N] = -RIDGE * weights[i];
    }
    for (point, right) in points {
        let sum: f64 = point.iter().zip(weights.iter()).map(|(x, w)| x * w).sum();
        let chance = 1.0 / (1.0 + (-sum).exp());
        let spread = (chance * (1.0 - chance)).max(1e-9);
        for i in 0..N {
            for j in 0..N {
                system[i][j] += spread * point[i] * point[j];
            }
            system[i][N] += (right - chance) * point[i];
        }
    }
    for (weight, step) in weights.iter_mut().zip(solved(system)) {
        *weight += step;
    }
}

/// Solves a positive definite system of equations by elimination.
fn solved<const N: usize>(mut system: [[f64; SIGNS + 2]; N]) -> [f64; N] {
    for at in 0..N {
        let pivot = system[at];
        for row in system.iter_mut().skip(at + 1) {
            let factor = row[at] / pivot[at];
            for (value, own) in row.iter_mut().zip(pivot) {
                *value -= factor * own;
            }
        }
    }
    let mut solution = [0.0; N];
    for at in (0..N).rev() {
        let known: f64 = (at + 1..N).map(|j| system[at][j] * solution[j]).sum();
        solution[at] = (system[at][SIGNS + 1] - known) / system[at][at];
    }
    solution
}

/// The outcome of one asking: the strength of its first right file among three, where it has one, and of its strongest.
struct Asking<'r> {
    first: &'r StrengthRow,
    right: Option<f64>,
    strongest: f64,
}

fn askings(rows: &[StrengthRow]) -> Vec<Asking<'_>> {
    let of = |rows: &[StrengthRow]| {
        let is_answer = |row: &&StrengthRow| row.is_right && row.rank <= ANSWER_DEPTH;
        (rows.iter().find(is_answer).map(|row| row.strength), rows.iter().map(|row| row.strength).fold(0.0, f64::max))
    };
    let groups = rows.chunk_by(|a, b| a.asking == b.asking);
    groups.map(|group| Asking { first: &group[0], right: of(group).0, strongest: of(group).1 }).collect()
}

/// Share of the right answers that a floor keeps, and of the questions asked elsewhere that it leaves without answer.
fn shares<'a>(askings: impl Iterator<Item = &'a Asking<'a>>, floor: f64) -> (f64, f64) {
    let (mut right, mut kept, mut wrong, mut cut) = (0, 0, 0, 0);
    for asking in askings {
        if let Some(strength) = asking.right {
            right += 1;
            kept += usize::from(strength >= floor);
        }
        if !asking.first.is_own {
            wrong += 1;
            cut += usize::from(asking.strongest < floor);
        }
    }
    (f64::from(kept as u32) / f64::from(right.max(1)), f64::from(cut as u32) / f64::from(wrong.max(1)))
}

fn summary(ranking: &str, keep: f64, rows: &[StrengthRow], weights: &Weights) -> String {
    let askings = askings(rows);
    let mut text = format!("# Strength: {ranking}\n\n{} askings, {} files.\n\n", askings.len(), rows.len());
    text += "| floor | right answers kept | questions elsewhere left without |\n|---:|---:|---:|\n";
    let floors: Vec<f64> = (1..FLOORS).map(|i| i as f64 / FLOORS as f64).collect();
    for floor in &floors {
        let (kept, cut) = shares(askings.iter(), *floor);
        let _ = writeln!(text, "| {floor:.3} | {kept:.3} | {cut:.3} |");
    }
    let fine = (1..1000).map(|i| f64::from(i) / 1000.0);
    let floor = fine.take_while(|floor| shares(askings.iter(), *floor).0 >= keep).last().unwrap_or_default();
    let _ = writeln!(text, "\nFloor that keeps {keep}: {floor:.3}\n");
    text += "| kind of question | kept at it | left without at it |\n|---|---:|---:|\n";
    let mut kinds: Vec<String> = askings.iter().map(|a| format!("{} {}", a.first.set, a.first.category)).collect();
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        let of_kind = askings.iter().filter(|a| format!("{} {}", a.first.set, a.first.category) == kind);
        let (kept, cut) = shares(of_kind, floor);
        let _ = writeln!(text, "| {kind} | {kept:.3} | {cut:.3} |");
    }
    text += "\n| strength | files | of these right |\n|---|---:|---:|\n";
    for part in 0..10 {
        let (low, high) = (f64::from(part) / 10.0, f64::from(part + 1) / 10.0);
        let inside: Vec<&StrengthRow> = rows.iter().filter(|row| row.strength >= low && row.strength < high).collect();
        let right = inside.iter().filter(|row| row.is_right).count() as f64 / inside.len().max(1) as f64;
        let _ = writeln!(text, "| {low:.1}–{high:.1} | {} | {right:.3} |", inside.len());
    }
    let _ = writeln!(text, "\nWeights, fitted on everything:\n\n```text\n{:.4}  bias", weights[0]);
    for (weight, name) in weights[1..].iter().zip(NAMES) {
        let _ = writeln!(text, "{weight:.4}  {name}");
    }
    text + "```\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(asking: usize, is_own: bool, rank: usize, is_right: bool, sign: f32) -> StrengthRow {
        let mut signs = [0.0; SIGNS];
        signs[0] = sign;
        let (set, category) = (String::new(), String::new());
        StrengthRow {
            asking,
            fold: 0,
            set,
            category,
            is_own,
            rank,
            is_right,
            known: KnownStrength::Nothing,
            signs,
            strength: 0.0,
        }
    }

    #[test]
    fn a_fit_finds_the_chance_of_each_value() {
        // Of those with the sign three in four are right, of the others one in four.
        let rows: Vec<StrengthRow> =
            (0..4000).map(|i| row(i, true, 1, (i % 4 == 0) == (i < 2000), f32::from(u8::from(i >= 2000)))).collect();
        let weights = fit(rows.iter());
        for (sign, expected) in [(0.0, 0.25), (1.0, 0.75)] {
            let chance = logistic(&weights, &row(0, true, 1, false, sign).signs);
            assert!((chance - expected).abs() < 0.01, "{sign}: {chance}");
        }
    }

    #[test]
    fn a_floor_keeps_answers_and_leaves_questions_without() {
        let mut rows = vec![row(0, true, 1, false, 0.0), row(0, true, 2, true, 0.0), row(1, false, 1, false, 0.0)];
        for (row, strength) in rows.iter_mut().zip([0.9, 0.6, 0.3]) {
            row.strength = strength;
        }
        let askings = askings(&rows);
        for (floor, expected) in [(0.2, (1.0, 0.0)), (0.5, (1.0, 1.0)), (0.7, (0.0, 1.0))] {
            assert_eq!(shares(askings.iter(), floor), expected);
        }
    }
}
