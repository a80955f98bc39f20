//! `recall`: whether `colgrep log` finds the commit that a sentence is about. The first sentence of a commit's message
//! asks for it, and the documents hold no messages: subjects and paths alone answer. With several weights of meaning, the
//! best of the other repositories is scored on each.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_core::collapse::PerFile;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knob, Knobs};
use colgrep_engine::git;
use colgrep_engine::model::Model;
use colgrep_engine::{Env, RankBy};
use colgrep_index::history::{History, Sessions, recall};
use colgrep_index::ids::FileId;
use colgrep_index::search::{Background, Request};
use colgrep_index::store::{FileTable, Snapshot, Store};
use colgrep_index::update::{Asked, Document, Round, Source, Updater};
use colgrep_index::walk::{WalkOptions, Walked, WalkedFile};
use colgrep_index::worktree::Repository;

use crate::FINE;
use crate::corpus::Vars;
use crate::paired::{Difference, Paired};

/// Words of a question at least.
const WORDS_MIN: usize = 5;
/// Entries that are looked at.
const DEPTH: usize = 10;
/// Beginnings of lines that programs write, or that ask for nothing.
const NOT_ASKED: [&str; 8] =
    ["Signed-off-by", "Co-authored-by", "Bumps ", "This reverts", "http", "* ", "- ", "Merge "];

/// `recall`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Repositories with their history
    #[arg(required = true)]
    pub repositories: Vec<PathBuf>,
    /// Questions of each repository, of its newest commits
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub questions: usize,
    /// Weights of meaning (`COLGREP_HISTORY_ALPHA`) to choose from, held out by repository
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub alphas: Vec<f32>,
}

/// A history whose commits have lost their messages, which are kept beside.
struct WithoutMessages<'a> {
    history: History<'a>,
    messages: Mutex<HashMap<String, String>>,
}

struct Stripped<'a> {
    round: Box<dyn Round + 'a>,
    messages: &'a Mutex<HashMap<String, String>>,
}

impl Source for WithoutMessages<'_> {
    fn version(&self) -> u32 {
        self.history.version()
    }

    fn list(&self, known: Option<&FileTable>, options: &WalkOptions) -> colgrep_index::Result<Walked> {
        self.history.list(known, options)
    }

    fn begin<'s>(&'s self, round: &[WalkedFile]) -> colgrep_index::Result<Box<dyn Round + 's>> {
        Ok(Box::new(Stripped { round: self.history.begin(round)?, messages: &self.messages }))
    }
}

impl Round for Stripped<'_> {
    fn read(&self, asked: &Asked<'_>) -> colgrep_index::Result<Document> {
        let mut document = self.round.read(asked)?;
        for unit in document.content.iter_mut().flat_map(|content| &mut content.parsed.units) {
            let message = std::mem::take(&mut unit.docstring);
            if let Some(question) = question(&unit.name, &message) {
                let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
                messages.insert(document.record.path.clone(), question);
            }
        }
        Ok(document)
    }
}

/// The first sentence of a message, where it asks for something that the subject does not say.
fn question(subject: &str, message: &str) -> Option<String> {
    let paragraph = message.trim().split("\n\n").next()?.replace('\n', " ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    let sentence = paragraph[..end].trim().trim_end_matches('.');
    let is_asked = !NOT_ASKED.iter().any(|begin| sentence.starts_with(begin) || subject.starts_with(begin));
    let is_new = !subject.to_lowercase().contains(&sentence.to_lowercase());
    (is_asked && is_new && sentence.split_whitespace().count() >= WORDS_MIN).then(|| sentence.to_string())
}

/// The rankings that are compared.
const WAYS: [(&str, RankBy); 3] = [("words", RankBy::Words), ("both", RankBy::Both), ("meaning", RankBy::Meaning)];
const WORDS: usize = 0;
const BOTH: usize = 1;

/// One question's reciprocal ranks: by each of [`WAYS`], then by both with each weight of meaning.
type Scores = Vec<f64>;

/// What a run measures with.
struct Measure<'a> {
    programs: OsString,
    model: &'a Model,
    questions: usize,
    /// The knobs in force, then those with each weight of meaning.
    knobs: Vec<Knobs>,
}

/// Measures, and prints a table.
///
/// # Errors
/// When a repository can't be read.
pub fn run(args: &Args, vars: &Vars) -> Result<u8> {
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
    let measure = Measure { programs, model: &model, questions: args.questions, knobs };
    remark(&format!("| repository | commits | a second | questions | {} |", WAYS.map(|(name, _)| name).join(" | ")));
    let all: Vec<Vec<Scores>> = args.repositories.iter().map(|path| measure.one(path)).collect::<Result<_>>()?;
    let questions: usize = all.iter().map(Vec::len).sum();
    remark(&format!("| all | | | {questions} | {} |", means(all.iter().flatten())));
    remark(&format!("both − words: {}", difference(&all, |_, scores| scores[BOTH])));
    if !args.alphas.is_empty() {
        let of_alphas = |at: usize| all.iter().flatten().map(|scores| scores[WAYS.len() + at]).sum::<f64>();
        for (at, alpha) in args.alphas.iter().enumerate() {
            remark(&format!("weight {alpha}: {:.4}", of_alphas(at) / questions.max(1) as f64));
        }
        let chosen: Vec<usize> =
            (0..all.len()).map(|left_out| best_of_others(&all, args.alphas.len(), left_out)).collect();
        let held_out = difference(&all, |repository, scores| scores[WAYS.len() + chosen[repository]]);
        let weights: BTreeSet<String> = chosen.iter().map(|at| args.alphas[*at].to_string()).collect();
        let weights = weights.into_iter().collect::<Vec<_>>().join(", ");
        remark(&format!("held out, chosen on the other repositories ({weights}) − words: {held_out}"));
    }
    Ok(FINE)
}

/// The weight of meaning that is best where one repository is left out.
fn best_of_others(all: &[Vec<Scores>], weights: usize, left_out: usize) -> usize {
    let others = || all.iter().enumerate().filter(|(at, _)| *at != left_out).flat_map(|(_, scores)| scores);
    let sum = |at: usize| others().map(|scores| scores[WAYS.len() + at]).sum::<f64>();
    (0..weights).max_by(|a, b| sum(*a).total_cmp(&sum(*b)).then(b.cmp(a))).unwrap_or_default()
}

/// The mean difference to words alone, with its standard error and what it is called.
fn difference(all: &[Vec<Scores>], score: impl Fn(usize, &Scores) -> f64) -> String {
    let questions: usize = all.iter().map(Vec::len).sum();
    let weight = 1.0 / questions.max(1) as f64;
    let of = |(group, scores): (usize, &Vec<Scores>)| -> Vec<Difference> {
        scores.iter().map(|own| Difference { group, weight, value: score(group, own) - own[WORDS] }).collect()
    };
    let differences: Vec<Difference> = all.iter().enumerate().flat_map(of).collect();
    let paired = Paired::of(&differences);
    format!("{} ({}; {} better, {} worse)", paired.text(), paired.verdict(), paired.wins, paired.losses)
}

/// Means by each of [`WAYS`].
fn means<'s>(scores: impl Iterator<Item = &'s Scores>) -> String {
    let (mut sums, mut count) = ([0.0; WAYS.len()], 0);
    for scores in scores {
        sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
        count += 1;
    }
    sums.map(|sum| format!("{:.4}", sum / count.max(1) as f64)).join(" | ")
}

fn remark(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{line}");
}

impl Measure<'_> {
    /// The scores of one repository's questions.
    fn one(&self, path: &Path) -> Result<Vec<Scores>> {
        let top = path.canonicalize().with_context(|| path.display().to_string())?;
        let repository = Repository::around(&top).with_context(|| format!("{} is no repository", path.display()))?;
        let folder = tempfile::tempdir()?;
        let store = Store::new(folder.path().join("index"));
        let git = git::Repository::new(repository.top.clone(), self.programs.clone());
        let sessions = Sessions::default();
        let history = History { git: Some(&git), common: &repository.common, sessions: &sessions };
        let source = WithoutMessages { history, messages: Mutex::default() };
        let begun = Instant::now();
        Updater::new(&store, &repository.common).source(&source).run()?;
        let a_second = begun.elapsed();
        let encoding = self.model.encoding(None);
        let (snapshot, _) =
            Updater::new(&store, &repository.common).source(&source).encoding(encoding.as_ref()).run()?;
        let messages = source.messages.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut commits: Vec<(i64, FileId, &String)> = snapshot
            .files
            .indexed()
            .filter_map(|record| Some((record.mtime_ns, record.id, messages.get(&record.path)?)))
            .collect();
        commits.sort_unstable_by_key(|commit| std::cmp::Reverse(commit.0));
        commits.truncate(self.questions);
        let scores: Vec<Scores> =
            commits.iter().map(|(_, file, question)| self.scores(&snapshot, question, *file)).collect::<Result<_>>()?;
        let count = snapshot.files.files.len();
        let rate = count as f64 / a_second.as_secs_f64();
        let name = repository.name();
        remark(&format!("| {name} | {count} | {rate:.0} | {} | {} |", scores.len(), means(scores.iter())));
        Ok(scores)
    }

    fn scores(&self, snapshot: &Snapshot, question: &str, target: FileId) -> Result<Scores> {
        let ways = WAYS.iter().map(|(_, by)| (*by, &self.knobs[0]));
        let weights = self.knobs[1..].iter().map(|knobs| (RankBy::Both, knobs));
        ways.chain(weights).map(|(by, knobs)| self.reciprocal_rank(snapshot, question, by, knobs, target)).collect()
    }

    fn reciprocal_rank(
        &self,
        snapshot: &Snapshot,
        question: &str,
        by: RankBy,
        knobs: &Knobs,
        target: FileId,
    ) -> Result<f64> {
        let request = Request {
            query: question,
            knobs,
            fusion: Fusion::default(),
            files: DEPTH,
            units_per_file: PerFile::Units(1),
            strength_min: 0.0,
            filter: None,
            semantic: (by != RankBy::Words).then(|| self.model.semantic(snapshot, by)),
            background: Background::default(),
        };
        let answer = recall(snapshot, &request, None)?;
        let mut best = answer.units.iter().take(DEPTH);
        let file = |unit| snapshot.lexical.entry_at(unit).map(|hit| hit.file);
        Ok(best.position(|ranked| file(ranked.unit) == Some(target)).map_or(0.0, |at| 1.0 / (at + 1) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_asks_unless_a_program_wrote_it() {
        for (subject, message, expected) in [
            (
                "Cap retries",
                "The server sleeps otherwise, and\nnobody notices. More.",
                Some("The server sleeps otherwise, and nobody notices"),
            ),
            ("Cap retries", "Too short.", None),
            ("Cap retries", "Signed-off-by: A Person <a@b.c> of somewhere", None),
            ("Merge branch main", "The server sleeps otherwise, and nobody notices.", None),
        ] {
            assert_eq!(question(subject, message).as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn the_weight_is_chosen_on_the_other_repositories() {
        let scores = |values: [f64; 2]| -> Vec<Scores> { vec![[&[0.5, 0.5, 0.5][..], &values].concat()] };
        let all = [scores([1.0, 0.0]), scores([0.2, 0.5]), scores([0.3, 0.4])];
        assert_eq!([0, 1, 2].map(|left_out| best_of_others(&all, 2, left_out)), [1, 0, 0]);
        assert!(difference(&all, |_, scores| scores[BOTH]).starts_with("+0.0000 ± 0.0000 (same;"));
    }
}
