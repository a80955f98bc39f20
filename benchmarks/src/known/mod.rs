//! `known`: text that somebody already knows must be found first, and on the right line.
//!
//! Items are drawn from the sources themselves ([`draw`]): messages, lines, names, places, frames. Each is asked as a
//! person would type it, and the answer is compared with the lines that really contain it.

mod draw;
mod kind;
mod source;

use std::collections::BTreeMap;
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
use crate::report::{Origin, OutputArgs, bar, write_json};

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

/// Shares of a group of items.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct KnownShares {
    items: usize,
    file_first: usize,
    file_in_three: usize,
    line_first: usize,
    line_in_three: usize,
}

impl KnownShares {
    fn add(&mut self, item: &ItemRecord) {
        self.items += 1;
        self.file_first += usize::from(item.file_rank == Some(1));
        self.file_in_three += usize::from(item.file_rank.is_some());
        self.line_first += usize::from(item.line_rank == Some(1));
        self.line_in_three += usize::from(item.line_rank.is_some());
    }

    fn row(&self, name: &str) -> String {
        let share = |n: usize| n as f64 / self.items.max(1) as f64;
        format!(
            "| {name} | {} | {:.3} | {:.3} | {:.3} | {:.3} |\n",
            self.items,
            share(self.file_first),
            share(self.file_in_three),
            share(self.line_first),
            share(self.line_in_three)
        )
    }
}

impl KnownRecord {
    pub fn markdown(&self) -> String {
        let mut by_kind: BTreeMap<KnownKind, KnownShares> = BTreeMap::new();
        let mut by_repository: BTreeMap<&str, KnownShares> = BTreeMap::new();
        let mut all = KnownShares::default();
        for item in &self.items {
            by_kind.entry(item.kind).or_default().add(item);
            by_repository.entry(&item.repository).or_default().add(item);
            all.add(item);
        }
        let mut times: Vec<f64> = self.items.iter().map(|i| i.search_ms).collect();
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let head =
            "| | items | file first | file in three | line first | line in three |\n|---|---:|---:|---:|---:|---:|\n";
        let mut text = format!(
            "# Known items: {}\n\n{}\n\nSeed {}. Median search inside the process {median:.2} ms.\n\n{head}",
            self.ranking,
            self.origin.text(),
            self.seed
        );
        text += &all.row("all");
        text.extend(by_kind.iter().map(|(kind, shares)| shares.row(kind.name())));
        text += &format!("\n{}", head.replacen("| |", "| repository |", 1));
        text.extend(by_repository.iter().map(|(name, shares)| shares.row(name)));
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
