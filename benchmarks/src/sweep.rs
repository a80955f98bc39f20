//! `sweep`: tries settings of the knobs on the same candidates, and judges the winner on queries that had no part in
//! choosing it.

mod evaluate;
mod folds;
mod search;
mod space;
mod store;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knob, Knobs};
use colgrep_engine::settings::variable::{knob_of, variable};

use crate::FINE;
use crate::corpus::{BenchCorpus, CorpusArgs, Vars};
use crate::pools::is_of_retrieval;
use crate::report::{Origin, check_folders, print, write_json};
use evaluate::Evaluator;
use folds::{Folds, Judgement};
pub use space::{Axis, Setting};
use store::ScoreStore;

/// How settings are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SweepMode {
    /// Every combination.
    #[default]
    Grid,
    /// One knob after another, each at its best value so far, until none moves; anew for each fold.
    Coordinate,
    /// Combinations drawn by chance.
    Random,
}

/// What is dealt into folds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FoldBy {
    /// Whole repositories: the honest way, where there are several.
    #[default]
    Repository,
    /// Queries: for one repository; a setting that fits its habits is not found out.
    Query,
}

#[derive(Clone, Debug, clap::Args)]
pub struct SweepArgs {
    /// Repositories and queries.
    #[command(flatten)]
    pub corpus: CorpusArgs,
    /// A knob to vary, as COLGREP_ALPHA or alpha: NAME (its own grid), NAME=A,B,C or NAME=FIRST..LAST:STEP (repeatable)
    #[arg(long = "knob", value_name = "KNOB", required_unless_present_any = ["all", "ranking"])]
    pub knobs: Vec<String>,
    /// Every knob, with its own grid; those of the retrieval are slow, since each of their values retrieves anew
    #[arg(long, conflicts_with_all = ["knobs", "ranking"])]
    pub all: bool,
    /// Every knob of the fusion and the stages that the retrieval does not read, with its own grid: the same
    /// candidates, ranked anew
    #[arg(long, conflicts_with = "knobs")]
    pub ranking: bool,
    /// How settings are chosen
    #[arg(long, default_value = "grid")]
    pub mode: SweepMode,
    /// Settings drawn in mode random
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub trials: usize,
    /// Seed of mode random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Folds of repositories (6, or as many as there are); each is measured with the winner on the other folds
    #[arg(long, value_name = "K")]
    pub folds: Option<usize>,
    /// What is dealt into them
    #[arg(long, default_value = "repository")]
    pub fold_by: FoldBy,
    /// Keep every setting's scores here (JSON lines) and do not repeat those that are there
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,
    /// Write the result here, as JSON
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

pub fn run(args: &SweepArgs, vars: &Vars) -> Result<u8> {
    let by_rank = args.corpus.ranking.fusion() == Fusion::ReciprocalRank;
    // By default, rankings are fused by scores.
    let is_read = |knob: Knob| knob != Knob::RrfK || by_rank;
    let axes = match (args.all, args.ranking) {
        (true, _) => space::declared(is_read),
        (_, true) => space::declared(|k| is_read(k) && !is_of_retrieval(k)),
        _ => space::axes(&args.knobs)?,
    };
    if let Some(axis) = axes.iter().find(|a| !is_read(a.knob)) {
        bail!("{} acts with --fusion rrf alone; give that too", variable(axis.knob));
    }
    check_folders(&[&args.keep, &args.out])?;
    let corpus = BenchCorpus::open(&args.corpus, vars)?;
    let folds = Folds::new(&corpus, args.folds, args.fold_by)?;
    let planned = match args.mode {
        SweepMode::Grid => space::grid(&axes)?,
        SweepMode::Random => space::random(&axes, args.trials, args.seed),
        SweepMode::Coordinate => Vec::new(),
    };
    let store = ScoreStore::open(args.keep.as_deref(), &corpus)?;
    let kept = store.len();
    let mut evaluator = Evaluator::new(&corpus, store);
    let started = Instant::now();
    let judgement = match args.mode {
        SweepMode::Coordinate => search::coordinate(&mut evaluator, &axes, &folds)?,
        SweepMode::Grid | SweepMode::Random => {
            evaluator.all(&planned)?;
            folds.judge(&evaluator, &planned)
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    let text = summary(&corpus, &evaluator, &judgement, &folds)
        + &unmoved(&evaluator, &judgement, &axes)
        + &format!(
            "\n{} settings over {} queries in {seconds:.1} s ({:.0} a minute, {} retrievals); {kept} were known before\n",
            evaluator.done,
            corpus.tasks.len(),
            evaluator.done as f64 / seconds.max(1e-9) * 60.0,
            evaluator.retrievals
        );
    print(&text)?;
    if let Some(path) = &args.out {
        write_json(path, &document(&corpus, &evaluator, &judgement))?;
    }
    Ok(FINE)
}

/// The knobs of the corpus with a setting over them.
fn knobs_of(corpus: &BenchCorpus, setting: &Setting) -> Result<Knobs> {
    let mut knobs = corpus.knobs.clone();
    for (name, value) in &setting.0 {
        knobs.set(knob(name)?, &value.to_string())?;
    }
    Ok(knobs)
}

fn mean(corpus: &BenchCorpus, scores: &[f64]) -> f64 {
    corpus.weights().iter().zip(scores).map(|(w, s)| w * s).sum()
}

fn summary(corpus: &BenchCorpus, evaluator: &Evaluator<'_>, judgement: &Judgement, folds: &Folds) -> String {
    let baseline = evaluator.known(&Setting::default());
    let mut text = format!(
        "{}, {}, profile {}\n\nbaseline (profile and environment): {:.4}\n",
        Origin::here().text(),
        corpus.ranking,
        corpus.knobs.profile().name(),
        mean(corpus, baseline)
    );
    text += "\nbest on all queries (chosen and measured on the same, so flattered):\n";
    for setting in judgement.ranked.iter().take(10) {
        let scores = evaluator.known(setting);
        let paired = corpus.paired(scores, baseline);
        text +=
            &format!("  {:.4}  {}  {:<6}  {}\n", mean(corpus, scores), paired.text(), paired.verdict(), setting.text());
    }
    text += "\nheld out (each fold by the winner on the others):\n";
    for (fold, (winner, difference)) in judgement.winners.iter().enumerate() {
        let queries = folds.size(fold);
        text += &format!("  fold {}: {queries:>4} queries  {difference:+.4}  {}\n", fold + 1, winner.text());
    }
    let held_out = corpus.paired(&judgement.held_out, baseline);
    text += &format!("  together {} ({})\n\n", held_out.text(), held_out.verdict());
    let Some(best) = judgement.ranked.first().filter(|b| !b.0.is_empty()) else {
        return text + "# the baseline is best of all tried: nothing to export\n";
    };
    text += match held_out.verdict() {
        "better" => "# a win: above the baseline by more than chance explains, on queries it was not chosen on\n",
        "worse" => {
            "# no win: worse than the baseline on queries it was not chosen on; the best on those it was chosen on is\n"
        }
        _ => {
            "# no win: chance explains the difference to the baseline on queries it was not chosen on; the best of those tried is\n"
        }
    };
    // Comment out a setting that is not a win, so that `eval` of the output does not apply it.
    let mark = if held_out.verdict() == "better" { "" } else { "# " };
    best.exports().lines().fold(text, |text, line| text + mark + line + "\n")
}

/// Names knobs that changed no score at any value.
fn unmoved(evaluator: &Evaluator<'_>, judgement: &Judgement, axes: &[Axis]) -> String {
    let baseline = Setting::default();
    let mut text = String::new();
    for axis in axes {
        // Group settings that differ in this knob alone.
        let mut alike: BTreeMap<String, Vec<&Setting>> = BTreeMap::new();
        for setting in judgement.ranked.iter().chain([&baseline]) {
            alike.entry(setting.without(axis.knob).text()).or_default().push(setting);
        }
        let mut pairs = alike.values().flat_map(|s| s.windows(2)).peekable();
        if pairs.peek().is_some() && pairs.all(|pair| evaluator.known(pair[0]) == evaluator.known(pair[1])) {
            text += &format!("# {} changed no query's score\n", variable(axis.knob));
        }
    }
    text
}

fn document(corpus: &BenchCorpus, evaluator: &Evaluator<'_>, judgement: &Judgement) -> serde_json::Value {
    let baseline = evaluator.known(&Setting::default());
    let row = |setting: &Setting| {
        let scores = evaluator.known(setting);
        let paired = corpus.paired(scores, baseline);
        serde_json::json!({
            "setting": setting.0, "ndcg_10": mean(corpus, scores), "difference": paired.mean,
            "error": paired.error(), "verdict": paired.verdict(),
        })
    };
    let held_out = corpus.paired(&judgement.held_out, baseline);
    serde_json::json!({
        "version": 1,
        "origin": Origin::here(),
        "ranking": corpus.ranking,
        "profile": corpus.knobs.profile().name(),
        "knobs": crate::report::knob_values(&corpus.knobs),
        "queries": corpus.tasks.len(),
        "baseline": mean(corpus, baseline),
        "settings": judgement.ranked.iter().map(row).collect::<Vec<_>>(),
        "folds": judgement.winners.iter().map(|(s, d)| serde_json::json!({"winner": s.0, "difference": d})).collect::<Vec<_>>(),
        "held_out": {"difference": held_out.mean, "error_queries": held_out.error_queries,
                     "error_repositories": held_out.error_repositories, "verdict": held_out.verdict()},
    })
}

/// The knob of a variable or of a plain name.
///
/// # Errors
/// When no knob has that name; the message suggests a similar one.
fn knob(name: &str) -> Result<Knob> {
    match name.parse() {
        Ok(knob) => Ok(knob),
        Err(_) if name.starts_with("COLGREP_") => Ok(knob_of(name)?),
        Err(_) => Ok(knob_of(&format!("COLGREP_{}", name.to_uppercase()))?),
    }
}
