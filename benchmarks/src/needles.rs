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

use crate::corpus::{BenchRepository, RankingArgs, Vars};
use crate::report::{Origin, OutputArgs, bar};
use crate::{FINE, REGRESSION};

/// Shown sections among which a needle counts as found.
const DEPTH: usize = 5;

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
    let known = |kind: &str| kind == "all" || Phrasing::ALL.iter().any(|asked| asked.name() == kind);
    parsed.filter(|(kind, share)| known(kind) && (0.0..=1.0).contains(share)).ok_or_else(|| {
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

/// How a needle is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phrasing {
    /// In the section's own words.
    Own,
    /// In others.
    Paraphrase,
    Task,
}

impl Phrasing {
    /// All of them, in the order of tables.
    pub const ALL: [Phrasing; 3] = [Phrasing::Own, Phrasing::Paraphrase, Phrasing::Task];

    /// The name in records and floors.
    pub const fn name(self) -> &'static str {
        match self {
            Phrasing::Own => "own",
            Phrasing::Paraphrase => "paraphrase",
            Phrasing::Task => "task",
        }
    }

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

/// Shares of a group of questions.
#[derive(Clone, Copy, Debug, Default)]
struct NeedleShares {
    questions: usize,
    first: usize,
    found: usize,
    file: usize,
}

impl NeedleShares {
    fn of<'r>(questions: impl Iterator<Item = &'r QuestionRecord>) -> NeedleShares {
        questions.fold(NeedleShares::default(), |s, q| NeedleShares {
            questions: s.questions + 1,
            first: s.first + usize::from(q.rank == Some(1)),
            found: s.found + usize::from(q.rank.is_some()),
            file: s.file + usize::from(q.file_rank.is_some()),
        })
    }

    fn share(&self, n: usize) -> f64 {
        n as f64 / self.questions.max(1) as f64
    }

    fn row(&self, name: &str) -> String {
        let found = self.share(self.found);
        let error = (found * (1.0 - found) / self.questions.max(1) as f64).sqrt();
        let (first, file) = (self.share(self.first), self.share(self.file));
        format!("| {name} | {} | {first:.3} | {found:.3} ± {error:.3} | {file:.3} |\n", self.questions)
    }
}

impl NeedleRecord {
    /// The share of questions of a kind (`all`: of all) whose section is among the first five.
    pub fn found(&self, kind: &str) -> f64 {
        let shares = NeedleShares::of(self.questions.iter().filter(|q| kind == "all" || q.asked.name() == kind));
        shares.share(shares.found)
    }

    pub fn markdown(&self) -> String {
        let head = "| | questions | first | in five | its file in five |\n|---|---:|---:|---:|---:|\n";
        let mut text = format!("# Needles: {}\n\n{}\n\n{head}", self.ranking, self.origin.text());
        text += &NeedleShares::of(self.questions.iter()).row("all");
        for asked in Phrasing::ALL {
            text += &NeedleShares::of(self.questions.iter().filter(|q| q.asked == asked)).row(asked.name());
        }
        let mut by_repository: BTreeMap<&str, Vec<&QuestionRecord>> = BTreeMap::new();
        for question in &self.questions {
            by_repository.entry(&question.repository).or_default().push(question);
        }
        text += &format!("\n{}", head.replacen("| |", "| repository |", 1));
        for (name, questions) in by_repository {
            text += &NeedleShares::of(questions.into_iter()).row(name);
        }
        text
    }

    /// What changed since `before`: gained and lost by kind, and the difference with its standard error over questions.
    pub fn against(&self, before: &NeedleRecord) -> String {
        let key = |q: &QuestionRecord| (q.repository.clone(), q.asked, q.query.clone());
        let known: BTreeMap<_, bool> = before.questions.iter().map(|q| (key(q), q.rank.is_some())).collect();
        let mut text =
            "\n| against before | questions | gained | lost | difference |\n|---|---:|---:|---:|---:|\n".to_string();
        for kind in ["all", "own", "paraphrase", "task"] {
            let of_kind = self.questions.iter().filter(|q| kind == "all" || q.asked.name() == kind);
            let pairs: Vec<f64> = of_kind
                .filter_map(|q| Some(f64::from(i8::from(q.rank.is_some()) - i8::from(*known.get(&key(q))?))))
                .collect();
            let n = pairs.len().max(1) as f64;
            let mean = pairs.iter().sum::<f64>() / n;
            let error = (pairs.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0) / n).sqrt();
            let count = |sign: f64| pairs.iter().filter(|d| **d == sign).count();
            text +=
                &format!("| {kind} | {} | {} | {} | {mean:+.3} ± {error:.3} |\n", pairs.len(), count(1.0), count(-1.0));
        }
        text
    }
}

pub fn run(args: &NeedlesArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let text = std::fs::read_to_string(&args.needles).with_context(|| args.needles.display().to_string())?;
    let needles: Needles = serde_json::from_str(&text).with_context(|| args.needles.display().to_string())?;
    let env = args.ranking.environment(vars)?;
    let model = args.ranking.model(&env)?;
    let mut by_repository: BTreeMap<&str, Vec<&Needle>> = BTreeMap::new();
    for needle in needles.needles.iter().filter(|n| args.only.is_empty() || args.only.contains(&n.repository)) {
        by_repository.entry(&needle.repository).or_default().push(needle);
    }
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
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        markdown += &record.against(&serde_json::from_str(&text).with_context(|| path.display().to_string())?);
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
