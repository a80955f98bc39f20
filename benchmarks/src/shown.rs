//! `shown`: whether the line that is shown of a file says anything of the query.
//!
//! Known items and annotated questions are asked, and the lines shown of the first files are checked for a word of the
//! query, or at least a letter. Places and frames are left out: they name a line and no words.

use std::collections::BTreeMap;

use anyhow::Result;
use colgrep_core::strength::FLOOR;
use colgrep_engine::answer::snippet::QueryWords;
use colgrep_syntax::language::{Category, by_name};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::FINE;
use crate::corpus::{BenchCorpus, BenchTask, CorpusArgs, TaskBackground, Vars};
use crate::known::{KnownKind, SourceFiles, draw};
use crate::packs::answer;
use crate::report::{Origin, OutputArgs, bar};

/// Kinds of known items that are queries in words.
const KINDS: [KnownKind; 7] = [
    KnownKind::Literal,
    KnownKind::Message,
    KnownKind::Name,
    KnownKind::KeywordName,
    KnownKind::Signature,
    KnownKind::Line,
    KnownKind::Constant,
];

/// `shown`.
#[derive(Clone, Debug, clap::Args)]
pub struct ShownArgs {
    /// Repositories and queries.
    #[command(flatten)]
    pub corpus: CorpusArgs,
    /// Repositories that are asked: those with the most questions, by name where these are as many
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub repositories: usize,
    /// Queries of each, half of them known items, as far as there are as many
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub queries: usize,
    /// Files of each answer
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub files: usize,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// One shown line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownRecord {
    pub repository: String,
    /// What sort of query it is.
    pub category: String,
    pub query: String,
    /// The file's rank, from 1.
    pub rank: usize,
    /// The line, as `path:line: text`.
    pub line: String,
    /// Whether it contains a word of the query.
    pub has_word: bool,
    /// Whether it contains a letter.
    pub has_letter: bool,
    /// Whether any line of its unit contains a word of the query.
    pub unit_has_word: bool,
    /// Whether the file is above the floor of strength: shown to people and agents.
    pub above_floor: bool,
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShownLines {
    /// Where, when and of what it was taken.
    pub origin: Origin,
    /// Which rankings took part.
    pub ranking: String,
    /// Seed of the draw.
    pub seed: u64,
    /// Number of queries.
    pub queries: usize,
    /// Every shown line.
    pub lines: Vec<ShownRecord>,
}

impl ShownLines {
    /// The summary.
    pub fn markdown(&self) -> String {
        let mut groups: BTreeMap<&str, Vec<&ShownRecord>> = BTreeMap::new();
        self.lines.iter().for_each(|line| groups.entry(&line.category).or_default().push(line));
        let all: Vec<&ShownRecord> = self.lines.iter().collect();
        let above: Vec<&ShownRecord> = self.lines.iter().filter(|line| line.above_floor).collect();
        let mut text = format!(
            "# Shown lines: {}\n\n{}\n\n{} queries, seed {}.\n\n\
             | | lines | no word of the query | though its unit has one | no letter |\n|---|---:|---:|---:|---:|\n",
            self.ranking,
            self.origin.text(),
            self.queries,
            self.seed
        );
        text += &row("all", &all);
        text += &row("above the floor", &above);
        text.extend(groups.iter().map(|(name, lines)| row(name, lines)));
        text
    }
}

fn row(name: &str, lines: &[&ShownRecord]) -> String {
    let share =
        |is: fn(&ShownRecord) -> bool| lines.iter().filter(|line| is(line)).count() as f64 / lines.len().max(1) as f64;
    let (without, lost) = (share(|line| !line.has_word), share(|line| !line.has_word && line.unit_has_word));
    format!("| {name} | {} | {without:.3} | {lost:.3} | {:.3} |\n", lines.len(), share(|line| !line.has_letter))
}

/// Runs the command.
pub fn run(args: &ShownArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let corpus = BenchCorpus::open(&args.corpus, vars)?;
    let mut tasks: Vec<BenchTask> = Vec::new();
    for repository in most_asked(&corpus, args.repositories) {
        tasks.extend(mixed(&corpus, repository, args.queries, args.seed)?);
    }
    let bar = bar(tasks.len() as u64, "asking");
    let lines = tasks.par_iter().map(|task| {
        let lines = ask(&corpus, task, args.files);
        bar.inc(1);
        lines
    });
    let lines: Vec<Vec<ShownRecord>> = lines.collect::<Result<_>>()?;
    bar.finish_and_clear();
    let record = ShownLines {
        origin: Origin::here(),
        ranking: corpus.ranking.clone(),
        seed: args.seed,
        queries: tasks.len(),
        lines: lines.concat(),
    };
    args.output.publish(&record.markdown(), &record)?;
    Ok(FINE)
}

/// Positions of the repositories with the most questions.
fn most_asked(corpus: &BenchCorpus, wanted: usize) -> Vec<usize> {
    let questions = |at: usize| corpus.tasks.iter().filter(|task| task.repository == at).count();
    let mut order: Vec<usize> = (0..corpus.repositories.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(questions(*at)), corpus.repositories[*at].name.clone()));
    order.truncate(wanted);
    order
}

/// The queries of one repository: its questions, and known items of each kind in turn.
fn mixed(corpus: &BenchCorpus, at: usize, wanted: usize, seed: u64) -> Result<Vec<BenchTask>> {
    let repository = &corpus.repositories[at];
    let is_code = |language: &str| by_name(language).is_some_and(|l| l.category == Category::Code);
    let files = repository.files().map(|file| (file.path.as_str(), !file.generated && is_code(&file.language)));
    let sources = SourceFiles::read(&repository.place.project.root, files)?;
    let mut drawn: Vec<_> = KINDS.iter().map(|kind| draw(&sources, *kind, wanted, seed)).collect();
    let mut known = Vec::new();
    while known.len() < wanted && drawn.iter().any(|items| !items.is_empty()) {
        for items in drawn.iter_mut().filter(|items| !items.is_empty()) {
            let item = items.remove(0);
            known.push(BenchTask {
                set: 0,
                repository: at,
                category: item.kind.name().to_string(),
                query: item.query,
                targets: Vec::new(),
                lines: Vec::new(),
                background: TaskBackground::default(),
            });
        }
    }
    let mut asked: Vec<BenchTask> = corpus.tasks.iter().filter(|task| task.repository == at).cloned().collect();
    asked.truncate(wanted / 2);
    let rest = wanted - asked.len();
    asked.extend(known.into_iter().take(rest));
    Ok(asked)
}

/// The lines that are shown for one query.
fn ask(corpus: &BenchCorpus, task: &BenchTask, files: usize) -> Result<Vec<ShownRecord>> {
    let repository = &corpus.repositories[task.repository];
    let answer = answer(corpus, task, 1, None)?;
    let words = QueryWords::of_text(&task.query);
    let mut lines = Vec::new();
    for (rank, file) in answer.iter().take(files).enumerate() {
        let Some(answered) = file.units.first() else { continue };
        let (first, last) = (answered.unit.span.first.min(answered.unit.span.line), answered.unit.span.end);
        let own = file.text.lines().skip(first.saturating_sub(1) as usize).take((last + 1 - first) as usize);
        lines.push(ShownRecord {
            repository: repository.name.clone(),
            category: task.category.clone(),
            query: task.query.clone(),
            rank: rank + 1,
            line: format!("{}:{}: {}", file.path, answered.line.number, answered.line.text.trim()),
            has_word: !words.places(&answered.line.text).is_empty(),
            has_letter: answered.line.text.contains(char::is_alphabetic),
            unit_has_word: own.into_iter().any(|line| !words.places(line).is_empty()),
            above_floor: file.strength >= FLOOR,
        });
    }
    Ok(lines)
}
