//! `recall`: whether `colgrep log` finds what a question is about.
//!
//! The first sentence of a commit's message asks for the commit, and the documents have no messages; made-up
//! transcripts come with questions for their turns. With several weights of meaning, each repository (or session) is
//! scored with the best weight of the others.

mod commits;
mod sessions;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};
use colgrep_core::collapse::PerFile;
use colgrep_core::knob::{Knob, Knobs};
use colgrep_engine::project::model::Model;
use colgrep_engine::{Env, RankBy};
use colgrep_index::ids::FileId;
use colgrep_index::store::Snapshot;
use colgrep_search::Request;
use colgrep_search::recall::recall;

use crate::corpus::Vars;
use crate::paired::Paired;
use crate::{FINE, REGRESSION};

/// Entries that are looked at.
const DEPTH: usize = 10;

#[derive(Clone, Debug, clap::Args)]
pub struct RecallArgs {
    /// Repositories with their history
    #[arg(required_unless_present = "transcripts")]
    pub repositories: Vec<PathBuf>,
    /// Made transcripts with their questions (repeatable)
    #[arg(long, value_name = "FILE")]
    pub transcripts: Vec<PathBuf>,
    /// Questions of each repository, of its newest commits
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub questions: usize,
    /// Rankings to measure, of words, both and meaning
    #[arg(long, value_name = "WAY,…", value_delimiter = ',', value_parser = way, default_values = ["words", "both", "meaning"])]
    pub ways: Vec<usize>,
    /// Weights of meaning (`COLGREP_HISTORY_ALPHA`) to choose from, held out by repository
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub alphas: Vec<f32>,
    /// Exit with 1 where the mean of all that is asked is lower: `words=0.5`, `both=0.5` (repeatable)
    #[arg(long, value_name = "WAY=MRR", value_parser = parse_floor)]
    pub floor: Vec<(usize, f64)>,
}

/// The place in [`WAYS`] of the ranking of this name.
fn way(text: &str) -> Result<usize, String> {
    let known = WAYS.iter().position(|(way, _)| *way == text);
    known.ok_or_else(|| format!("{text:?} is no ranking; write words, both or meaning"))
}

fn parse_floor(text: &str) -> Result<(usize, f64), String> {
    let (name, floor) = text.split_once('=').unwrap_or((text, ""));
    let floor = floor.parse().ok().filter(|floor| (0.0..=1.0).contains(floor));
    Ok((way(name)?, floor.ok_or_else(|| format!("{text:?} is no floor; write `{name}=`, and a number from 0 to 1"))?))
}

/// The rankings that are compared.
const WAYS: [(&str, RankBy); 3] = [("words", RankBy::Words), ("both", RankBy::Both), ("meaning", RankBy::Meaning)];
const WORDS: usize = 0;
const BOTH: usize = 1;

/// One question's reciprocal ranks: by each of [`WAYS`] (no number where that was not asked for), then by both with each
/// weight of meaning.
type Scores = Vec<f64>;
/// What answers a question: a document, and the line of the entry there.
type Target = (FileId, u32);

/// What a run measures with.
struct RecallMeasure<'a> {
    programs: OsString,
    model: &'a Model,
    questions: usize,
    ways: &'a [usize],
    /// The knobs in force, then those with each weight of meaning.
    knobs: Vec<Knobs>,
}

/// Measures, and prints a table.
pub fn run(args: &RecallArgs, vars: &Vars) -> Result<u8> {
    if let Some((way, _)) = args.floor.iter().find(|(way, _)| !args.ways.contains(way)) {
        bail!("--floor is about {}, which --ways leaves out", WAYS[*way].0);
    }
    let env = Env::read(vars.iter().cloned())?;
    let programs = vars.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone()).unwrap_or_default();
    let model = Model::open(None, true, &env)?;
    let own = env.knobs(None)?;
    let mut knobs = vec![own.clone()];
    for alpha in &args.alphas {
        let mut with = own.clone();
        with.set(Knob::HistoryAlpha, &alpha.to_string())?;
        knobs.push(with);
    }
    let measure = RecallMeasure { programs, model: &model, questions: args.questions, ways: &args.ways, knobs };
    let mut asked = Vec::new();
    if !args.repositories.is_empty() {
        remark(&format!(
            "| repository | commits | a second | questions | {} |",
            WAYS.map(|(name, _)| name).join(" | ")
        ));
        let all: Vec<Vec<Scores>> =
            args.repositories.iter().map(|path| measure.commits(path)).collect::<Result<_>>()?;
        tell("all", None, &all, &args.alphas);
        asked.extend(all);
    }
    for file in &args.transcripts {
        remark(&format!("| asked | turns | | questions | {} |", WAYS.map(|(name, _)| name).join(" | ")));
        let all = measure.transcripts(file, &args.alphas)?;
        asked.extend(all);
    }
    let mut status = FINE;
    for (way, floor) in &args.floor {
        let mean = mean(asked.iter().flatten(), *way);
        if mean < *floor {
            remark(&format!("Below the floor: {} {mean:.4} < {floor}", WAYS[*way].0));
            status = REGRESSION;
        }
    }
    Ok(status)
}

/// Prints the row of means over all, and what both rankings together are worth.
fn tell(name: &str, entries: Option<usize>, all: &[Vec<Scores>], alphas: &[f32]) {
    let questions: usize = all.iter().map(Vec::len).sum();
    let entries = entries.map(|entries| entries.to_string()).unwrap_or_default();
    remark(&format!("| {name} | {entries} | | {questions} | {} |", means(all.iter().flatten())));
    if all.iter().flatten().all(|scores| !scores[BOTH].is_nan() && !scores[WORDS].is_nan()) {
        remark(&format!("both − words: {}", difference(all, |_, scores| scores[BOTH])));
    }
    if alphas.is_empty() {
        return;
    }
    for (at, alpha) in alphas.iter().enumerate() {
        remark(&format!("weight {alpha}: {:.4}", mean(all.iter().flatten(), WAYS.len() + at)));
    }
    let chosen: Vec<usize> = (0..all.len()).map(|left_out| best_of_others(all, alphas.len(), left_out)).collect();
    let held_out = difference(all, |group, scores| scores[WAYS.len() + chosen[group]]);
    let weights: BTreeSet<String> = chosen.iter().map(|at| alphas[*at].to_string()).collect();
    let weights = weights.into_iter().collect::<Vec<_>>().join(", ");
    remark(&format!("held out, chosen on the others ({weights}) − words: {held_out}"));
}

/// The weight of meaning that is best where one repository is left out.
fn best_of_others(all: &[Vec<Scores>], weights: usize, left_out: usize) -> usize {
    let others = || all.iter().enumerate().filter(|(at, _)| *at != left_out).flat_map(|(_, scores)| scores);
    let sum = |at: usize| others().map(|scores| scores[WAYS.len() + at]).sum::<f64>();
    (0..weights).max_by(|a, b| sum(*a).total_cmp(&sum(*b)).then(b.cmp(a))).unwrap_or_default()
}

/// The mean difference to words alone, with its standard error and verdict.
fn difference(all: &[Vec<Scores>], score: impl Fn(usize, &Scores) -> f64) -> String {
    let all = all.iter().enumerate().flat_map(|(group, scores)| scores.iter().map(move |own| (group, own)));
    Paired::of_equals(all.map(|(group, own)| (group, score(group, own) - own[WORDS]))).sentence()
}

/// Means by each of [`WAYS`].
fn means<'s>(scores: impl Iterator<Item = &'s Scores> + Clone) -> String {
    let of_ways = (0..WAYS.len()).map(|way| match mean(scores.clone(), way) {
        mean if mean.is_nan() => String::new(),
        mean => format!("{mean:.4}"),
    });
    of_ways.collect::<Vec<_>>().join(" | ")
}

fn mean<'s>(scores: impl Iterator<Item = &'s Scores>, at: usize) -> f64 {
    let (count, sum) = scores.fold((0, 0.0), |(count, sum), scores| (count + 1, sum + scores[at]));
    sum / f64::from(count.max(1))
}

fn remark(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{line}");
}

impl RecallMeasure<'_> {
    fn scores(&self, snapshot: &Snapshot, question: &str, target: Target) -> Result<Scores> {
        let own = |(way, (_, by)): (usize, &(_, RankBy))| match self.ways.contains(&way) {
            true => self.reciprocal_rank(snapshot, question, *by, &self.knobs[0], target),
            false => Ok(f64::NAN),
        };
        let weights = self.knobs[1..].iter();
        let with = weights.map(|knobs| self.reciprocal_rank(snapshot, question, RankBy::Both, knobs, target));
        WAYS.iter().enumerate().map(own).chain(with).collect()
    }

    fn reciprocal_rank(
        &self,
        snapshot: &Snapshot,
        question: &str,
        by: RankBy,
        knobs: &Knobs,
        target: Target,
    ) -> Result<f64> {
        let semantic = (by != RankBy::Words).then(|| self.model.semantic(snapshot, by));
        let units_per_file = PerFile::Units(1);
        let request = Request { units_per_file, semantic, ..Request::new(question, knobs, DEPTH) };
        let (answer, _) = recall(snapshot, None, &request, None)?;
        let mut best = answer.units.iter().take(DEPTH);
        let entry = |unit| snapshot.lexical.entry_at(unit).map(|hit| (hit.file, hit.line));
        Ok(best.position(|ranked| entry(ranked.unit) == Some(target)).map_or(0.0, |at| 1.0 / (at + 1) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_is_chosen_on_the_other_repositories() {
        let scores = |values: [f64; 2]| -> Vec<Scores> { vec![[&[0.5, 0.5, 0.5][..], &values].concat()] };
        let all = [scores([1.0, 0.0]), scores([0.2, 0.5]), scores([0.3, 0.4])];
        assert_eq!([0, 1, 2].map(|left_out| best_of_others(&all, 2, left_out)), [1, 0, 0]);
        assert!(difference(&all, |_, scores| scores[BOTH]).starts_with("+0.0000 ± 0.0000 (same;"));
    }
}
