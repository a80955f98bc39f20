//! `needles`: the section of a documentation that answers a question must be among the first five answers.
//!
//! Right is the section itself, or another that answers as well (`also`). Each section shown counts as an answer, also
//! several of one page; the right page without the right section does not count.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_core::UnitKind;
use colgrep_engine::project::model::Model;
use colgrep_engine::{Answer, Env};
use colgrep_index::source::read_text;
use colgrep_syntax::{language, parse};
use serde::{Deserialize, Serialize};

use crate::corpus::{BenchRepository, RankingArgs, Vars, read_json};
use crate::paired::Paired;
use crate::report::{Origin, OutputArgs, bar, grouped, shares_row};
use crate::{FINE, REGRESSION};

/// Shown sections among which a needle counts as found.
const DEPTH: usize = 5;
/// Groups of questions: all, and those of each [`Phrasing`].
const KINDS: [&str; 4] = ["all", "own", "paraphrase", "task"];

#[derive(Clone, Debug, clap::Args)]
pub struct NeedlesArgs {
    /// File of needles
    #[arg(long, value_name = "FILE")]
    pub needles: PathBuf,
    /// Folder with a folder of documents for each repository that the needles name
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// Only this repository (repeatable)
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// How units are ranked.
    #[command(flatten)]
    pub ranking: RankingArgs,
    /// Answers are sections instead of files, as with colgrep's flag of this name
    #[arg(long)]
    pub units: bool,
    /// Exit with 1 where fewer are found in the first five: `own=0.95`, `all=0.85` (repeatable)
    #[arg(long, value_name = "KIND=SHARE", value_parser = parse_floor)]
    pub floor: Vec<(String, f64)>,
    /// Print what changed against this record of the same needles
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

fn parse_floor(text: &str) -> Result<(String, f64), String> {
    let parsed = text.split_once('=').and_then(|(kind, share)| Some((kind.to_string(), share.parse().ok()?)));
    parsed.filter(|(kind, share)| KINDS.contains(&kind.as_str()) && (0.0..=1.0).contains(share)).ok_or_else(|| {
        format!("{text:?} is no floor; write own, paraphrase, task or all, `=`, and a share from 0 to 1")
    })
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Needles {
    /// What the repositories are: name → where from, at which revision, which part.
    #[serde(default)]
    pub repositories: BTreeMap<String, BTreeMap<String, String>>,
    pub needles: Vec<Needle>,
}

/// A section and the questions that it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Needle {
    /// Name of the repository: its folder.
    pub repository: String,
    /// Path from there, `/` between components.
    pub file: String,
    /// The section's own heading, as `outline` names it.
    pub heading: String,
    /// Other sections that answer the questions as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Other>,
    /// A question in the section's own words.
    pub own: String,
    /// The same asked for in other words.
    pub paraphrase: String,
    /// A task that it helps with.
    pub task: String,
}

/// Another section that answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Other {
    /// Its file; the needle's, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub heading: String,
    /// The questions that it answers: all, where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Phrasing>,
}

colgrep_core::named! {
    /// How a needle is asked for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Phrasing {
        /// In the section's own words.
        Own = "own",
        /// In others.
        Paraphrase = "paraphrase",
        Task = "task",
    }
}

impl Phrasing {
    fn of(self, needle: &Needle) -> &str {
        match self {
            Phrasing::Own => &needle.own,
            Phrasing::Paraphrase => &needle.paraphrase,
            Phrasing::Task => &needle.task,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NeedleRecord {
    pub origin: Origin,
    /// Which rankings took part.
    pub ranking: String,
    pub questions: Vec<QuestionRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionRecord {
    pub repository: String,
    pub asked: Phrasing,
    pub query: String,
    /// The right section, as `path: qualified name`.
    pub right: String,
    /// What was shown, as `path:line: qualified name`, best first.
    pub shown: Vec<String>,
    /// Rank, from 1, of the right section among the first five.
    pub rank: Option<usize>,
    pub file_rank: Option<usize>,
}

impl QuestionRecord {
    /// What is counted, in the order of tables.
    fn measures(&self) -> [bool; 3] {
        [self.rank == Some(1), self.rank.is_some(), self.file_rank.is_some()]
    }

    fn is_of(&self, kind: &str) -> bool {
        kind == "all" || self.asked.name() == kind
    }
}

impl NeedleRecord {
    /// The share of questions of a kind (`all`: of all) whose section is among the first five.
    pub fn found(&self, kind: &str) -> f64 {
        let of_kind: Vec<&QuestionRecord> = self.questions.iter().filter(|q| q.is_of(kind)).collect();
        of_kind.iter().filter(|q| q.rank.is_some()).count() as f64 / of_kind.len().max(1) as f64
    }

    pub fn markdown(&self) -> String {
        let head = "| | questions | first | in five | its file in five |\n|---|---:|---:|---:|---:|\n";
        let mut text = format!("# Needles: {}\n\n{}\n\n{head}", self.ranking, self.origin.text());
        for kind in KINDS {
            text += &shares_row(kind, self.questions.iter().filter(|q| q.is_of(kind)).map(QuestionRecord::measures));
        }
        text += &format!("\n{}", head.replacen("| |", "| repository |", 1));
        for (name, questions) in grouped(&self.questions, |q| &q.repository) {
            text += &shares_row(name, questions.into_iter().map(QuestionRecord::measures));
        }
        text
    }

    /// What changed since `before`: gained and lost by kind, and the difference with its standard error over questions.
    pub fn against(&self, before: &NeedleRecord) -> String {
        let key = |q: &QuestionRecord| (q.repository.clone(), q.asked, q.query.clone());
        let known: BTreeMap<_, bool> = before.questions.iter().map(|q| (key(q), q.rank.is_some())).collect();
        let mut text =
            "\n| against before | questions | gained | lost | difference |\n|---|---:|---:|---:|---:|\n".to_string();
        for kind in KINDS {
            let change = |q: &QuestionRecord| i8::from(q.rank.is_some()) - i8::from(known[&key(q)]);
            let pairs = self.questions.iter().filter(|q| q.is_of(kind) && known.contains_key(&key(q)));
            let paired = Paired::of_equals(pairs.map(|q| (&q.repository, f64::from(change(q)))));
            let (gained, lost) = (paired.wins, paired.losses);
            text += &format!("| {kind} | {} | {gained} | {lost} | {} |\n", gained + lost + paired.ties, paired.text());
        }
        text
    }
}

pub fn run(args: &NeedlesArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let needles: Needles = read_json(&args.needles)?;
    let env = args.ranking.environment(vars)?;
    let model = args.ranking.model(&env)?;
    let mut by_repository = grouped(&needles.needles, |needle| &needle.repository);
    by_repository.retain(|name, _| args.only.is_empty() || args.only.contains(name));
    let bar = bar(by_repository.len() as u64, "asking");
    let mut questions = Vec::new();
    for (name, needles) in by_repository {
        questions.extend(ask(args, &env, model.clone(), name, &needles)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if questions.is_empty() {
        bail!("nothing to ask: no needle in {} is of the repositories named", args.needles.display());
    }
    let record = NeedleRecord { origin: Origin::here(), ranking: args.ranking.text(), questions };
    let mut markdown = record.markdown();
    if let Some(path) = &args.against {
        markdown += &record.against(&read_json(path)?);
    }
    let below: Vec<&(String, f64)> = args.floor.iter().filter(|(kind, floor)| record.found(kind) < *floor).collect();
    for (kind, floor) in &below {
        markdown += &format!("\nBelow the floor: {kind} {:.3} < {floor}\n", record.found(kind));
    }
    args.output.publish(&markdown, &record)?;
    Ok(if below.is_empty() { FINE } else { REGRESSION })
}

/// Asks for every needle of one repository, three times each.
fn ask(
    args: &NeedlesArgs,
    env: &Env,
    model: Option<Arc<Model>>,
    name: &str,
    needles: &[&Needle],
) -> Result<Vec<QuestionRecord>> {
    let folder = args.repos.join(name);
    let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
    BenchRepository::open(name, None, &folder, env, model, &args.ranking)?;
    let mut session = args.ranking.session(&folder, env)?;
    let mut records = Vec::new();
    for needle in needles {
        let right = sections(&folder, needle)?;
        for asked in Phrasing::ALL {
            let query = asked.of(needle);
            let mut request = args.ranking.request(query, &folder, DEPTH)?;
            request.shape.single_units = args.units;
            let answer = session.search(&request).with_context(|| format!("{name}: {query:?}"))?;
            records.push(record(needle, asked, &right, &answer));
        }
    }
    Ok(records)
}

/// A section that is right for some ways to ask.
struct Right {
    file: String,
    name: String,
    asked: Vec<Phrasing>,
}

/// The sections that answer a needle's questions, its own first.
fn sections(root: &Path, needle: &Needle) -> Result<Vec<Right>> {
    let mut right = named(root, needle, &needle.file, &needle.heading, &Phrasing::ALL)?;
    for other in &needle.also {
        let asked = if other.asked.is_empty() { &Phrasing::ALL[..] } else { &other.asked };
        right.extend(named(root, needle, other.file.as_ref().unwrap_or(&needle.file), &other.heading, asked)?);
    }
    Ok(right)
}

/// The sections of a heading: mostly one.
fn named(root: &Path, needle: &Needle, file: &str, heading: &str, asked: &[Phrasing]) -> Result<Vec<Right>> {
    let text = read_text(root, file).with_context(|| format!("{}: {file}", needle.repository))?;
    let units = parse::parse(&text, language::of_file(file, text.as_bytes())).units;
    let of_name = units.iter().filter(|unit| unit.kind == UnitKind::Section && unit.name == heading);
    let right = |name| Right { file: file.to_string(), name, asked: asked.to_vec() };
    let right: Vec<Right> = of_name.map(|unit| right(unit.qualified_name())).collect();
    if right.is_empty() {
        bail!("{}: {file} has no section {heading:?}", needle.repository);
    }
    Ok(right)
}

fn record(needle: &Needle, asked: Phrasing, right: &[Right], answer: &Answer) -> QuestionRecord {
    let right: Vec<&Right> = right.iter().filter(|right| right.asked.contains(&asked)).collect();
    let units = answer.files.iter().flat_map(|file| file.units.iter().map(|unit| (file.path.as_str(), unit)));
    let shown: Vec<(&str, usize, String)> =
        units.take(DEPTH).map(|(path, unit)| (path, unit.line.number, unit.unit.qualified_name())).collect();
    let is_right = |path: &str, name: &str| right.iter().any(|right| right.file == path && right.name == name);
    let mut files: Vec<&str> = answer.files.iter().map(|file| file.path.as_str()).collect();
    files.dedup();
    QuestionRecord {
        repository: needle.repository.clone(),
        asked,
        query: asked.of(needle).to_string(),
        right: format!("{}: {}", needle.file, right[0].name),
        rank: shown.iter().position(|(path, _, name)| is_right(path, name)).map(|at| at + 1),
        file_rank: files.iter().take(DEPTH).position(|path| right.iter().any(|r| r.file == *path)).map(|at| at + 1),
        shown: shown.iter().map(|(path, line, name)| format!("{path}:{line}: {name}")).collect(),
    }
}
