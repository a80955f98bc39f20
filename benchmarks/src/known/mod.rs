//! `known`: text that somebody already knows must be found first, and on the right line.
//!
//! Items are drawn from the sources themselves ([`draw`]): messages, lines, names, places, frames. Each is asked as a
//! person would type it, and the answer is compared with the lines that really contain it.

mod draw;
mod kind;
mod source;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::project::model::Model;
use colgrep_engine::{Answer, Env};
use colgrep_syntax::language::{Category, by_name};
use serde::{Deserialize, Serialize};

pub use draw::{KnownItem, draw};
pub use kind::KnownKind;
pub use source::SourceFiles;

use crate::FINE;
use crate::corpus::AnnotatedBackground;
use crate::corpus::{Annotation, BenchRepository, RankingArgs, TargetFile, Vars};
use crate::report::{Origin, OutputArgs, bar, grouped, median, shares_row, write_json};

/// Files that are asked for.
const DEPTH: usize = 3;

#[derive(Clone, Debug, clap::Args)]
pub struct KnownArgs {
    /// Folder with a folder of sources for each repository
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// Only this repository (repeatable)
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Items of each kind drawn from each repository, at most
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub items: usize,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How units are ranked.
    #[command(flatten)]
    pub ranking: RankingArgs,
    /// Write the items into this folder as annotations, for `run`, `sweep`, `compare` and `ablate`
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KnownRecord {
    pub origin: Origin,
    /// Which rankings took part.
    pub ranking: String,
    pub seed: u64,
    pub items: Vec<ItemRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemRecord {
    pub repository: String,
    pub kind: KnownKind,
    /// What was typed.
    pub query: String,
    /// The right lines, as `path:line`.
    pub answers: Vec<String>,
    /// What was shown, as `path:line`, best first.
    pub shown: Vec<String>,
    /// Rank, from 1, of the first right file among three.
    pub file_rank: Option<usize>,
    /// Rank, from 1, of the first right line among three.
    pub line_rank: Option<usize>,
    /// Time of the search inside the process, in milliseconds.
    pub search_ms: f64,
}

impl ItemRecord {
    /// What is counted, in the order of tables.
    fn measures(&self) -> [bool; 4] {
        [self.file_rank == Some(1), self.file_rank.is_some(), self.line_rank == Some(1), self.line_rank.is_some()]
    }
}

impl KnownRecord {
    pub fn markdown(&self) -> String {
        let median = median(self.items.iter().map(|item| item.search_ms).collect());
        let head =
            "| | items | file first | file in three | line first | line in three |\n|---|---:|---:|---:|---:|---:|\n";
        let mut text = format!(
            "# Known items: {}\n\n{}\n\nSeed {}. Median search inside the process {median:.2} ms.\n\n{head}",
            self.ranking,
            self.origin.text(),
            self.seed
        );
        let row = |name: &str, items: &[&ItemRecord]| shares_row(name, items.iter().map(|item| item.measures()));
        text += &row("all", &self.items.iter().collect::<Vec<_>>());
        text.extend(grouped(&self.items, |item| item.kind).iter().map(|(kind, items)| row(kind.name(), items)));
        text += &format!("\n{}", head.replacen("| |", "| repository |", 1));
        text.extend(grouped(&self.items, |item| &item.repository).iter().map(|(name, items)| row(name, items)));
        text
    }
}

pub fn run(args: &KnownArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let mut items = Vec::new();
    let env = args.ranking.environment(vars)?;
    let model = args.ranking.model(&env)?;
    let folders = repositories(&args.repos, &args.only)?;
    let bar = bar(folders.len() as u64, "asking");
    for (name, folder) in folders {
        let asked = ask_repository(args, &env, model.clone(), &name, &folder)?;
        if let Some(into) = &args.write {
            write_annotations(into, &name, &asked)?;
        }
        items.extend(asked);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if items.is_empty() {
        bail!("nothing to ask: no repository in {} gives an item", args.repos.display());
    }
    let record = KnownRecord { origin: Origin::here(), ranking: args.ranking.text(), seed: args.seed, items };
    let markdown = record.markdown();
    args.output.publish(&markdown, &record)?;
    Ok(FINE)
}

/// The folders below `repos`, by name.
fn repositories(repos: &Path, only: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let entries = std::fs::read_dir(repos).with_context(|| format!("--repos {}", repos.display()))?;
    let folders = entries.flatten().filter(|e| e.path().is_dir());
    let mut named: Vec<(String, PathBuf)> =
        folders.map(|e| (e.file_name().to_string_lossy().into_owned(), e.path())).collect();
    named.retain(|(name, _)| only.is_empty() || only.contains(name));
    named.sort();
    Ok(named)
}

/// Draws the items of one repository and asks for each.
fn ask_repository(
    args: &KnownArgs,
    env: &Env,
    model: Option<Arc<Model>>,
    name: &str,
    folder: &Path,
) -> Result<Vec<ItemRecord>> {
    let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
    let repository = BenchRepository::open(name, None, &folder, env, model, &args.ranking)?;
    let is_code = |language: &str| by_name(language).is_some_and(|l| l.category == Category::Code);
    let files = repository.files().map(|file| (file.path.as_str(), !file.generated && is_code(&file.language)));
    let sources = SourceFiles::read(&repository.place.project.root, files)?;
    let mut session = args.ranking.session(&folder, env)?;
    let mut records = Vec::new();
    for kind in KnownKind::ALL {
        for item in draw(&sources, kind, args.items, args.seed) {
            let request = args.ranking.request(&item.query, &folder, DEPTH)?;
            let started = Instant::now();
            let answer = session.search(&request).with_context(|| format!("{name}: {:?}", item.query))?;
            records.push(record(name, &sources, &item, &answer, started.elapsed().as_secs_f64() * 1e3));
        }
    }
    Ok(records)
}

fn record(repository: &str, sources: &SourceFiles, item: &KnownItem, answer: &Answer, search_ms: f64) -> ItemRecord {
    let spot = |path: &str, line: usize| format!("{path}:{line}");
    let answers: Vec<String> =
        item.answers.iter().map(|a| spot(&sources.files[a.file].path, a.line as usize)).collect();
    let shown: Vec<String> = answer
        .files
        .iter()
        .map(|file| spot(&file.path, file.units.first().map_or(0, |unit| unit.line.number)))
        .collect();
    let is_right_file = |file: &&str| item.answers.iter().any(|answer| sources.files[answer.file].path == **file);
    let files: Vec<&str> = answer.files.iter().map(|file| file.path.as_str()).collect();
    ItemRecord {
        repository: repository.to_string(),
        kind: item.kind,
        query: item.query.clone(),
        file_rank: files.iter().position(is_right_file).map(|i| i + 1),
        line_rank: shown.iter().position(|line| answers.contains(line)).map(|i| i + 1),
        answers,
        shown,
        search_ms,
    }
}

/// Writes the items as annotations that the other commands read.
fn write_annotations(into: &Path, name: &str, items: &[ItemRecord]) -> Result<()> {
    std::fs::create_dir_all(into).with_context(|| into.display().to_string())?;
    let annotations: Vec<Annotation> = items
        .iter()
        .map(|item| {
            let mut files: Vec<&str> = item.answers.iter().filter_map(|a| Some(a.rsplit_once(':')?.0)).collect();
            files.dedup();
            let relevant = files.into_iter().map(|file| TargetFile::Path(file.to_string())).collect();
            Annotation {
                query: item.query.clone(),
                relevant,
                secondary: Vec::new(),
                category: Some(item.kind.name().to_string()),
                given: AnnotatedBackground::default(),
            }
        })
        .collect();
    write_json(&into.join(format!("{name}.json")), &annotations)
}
