//! `speed`: measures whole processes as a user starts them (time, memory, disk), in turn with other tools on the same
//! folder.

mod peers;
pub(crate) mod process;
mod server;
mod synthetic;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use colgrep_index::walk::{LeftOut, WalkOptions, walk};
use serde::{Deserialize, Serialize};

use crate::FINE;
use crate::corpus::{annotation_files, read_annotations};
use crate::report::{Origin, OutputArgs, bar, median};
use process::{Program, RunSample};

#[derive(Clone, Debug, clap::Args)]
pub struct SpeedArgs {
    /// Folder with a folder of sources for each project to measure
    #[arg(long, value_name = "DIR")]
    pub repos: Option<PathBuf>,
    /// Only this project (repeatable)
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// The program (default: the colgrep that is linked in here)
    #[arg(long, value_name = "BIN")]
    pub colgrep: Option<PathBuf>,
    /// Query of the warm searches
    #[arg(long, default_value = "parse a request")]
    pub query: String,
    /// Folder of annotations, one `NAME.json` a project: a warm server is asked all its questions, twice (repeatable)
    #[arg(long, value_name = "DIR", requires = "repos")]
    pub annotations: Vec<PathBuf>,
    /// Word that colgrep and ripgrep both look for
    #[arg(long, default_value = "error")]
    pub word: String,
    /// Runs of each query
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Runs of each cold index
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub cold_runs: u32,
    /// Files of a made-up project for the updates (0: without it)
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub synthetic: usize,
    /// No other tools
    #[arg(long)]
    pub no_peers: bool,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Smallest, middle and largest of several values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Spread {
        Spread {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            median: median(values.to_vec()),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn text(&self, digits: usize) -> String {
        format!("{:.digits$} ({:.digits$}–{:.digits$})", self.median, self.min, self.max)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProjectSpeed {
    /// Its folder's name.
    pub name: String,
    /// Files that the walk sees.
    pub files: usize,
    pub source_bytes: u64,
    /// `init` without an index, in milliseconds.
    pub cold_ms: Spread,
    /// Most memory resident at once while indexing, in bytes.
    pub cold_memory: u64,
    /// Bytes of the index on disk.
    pub index_bytes: u64,
    /// `init` where nothing changed, in milliseconds.
    pub unchanged_ms: Spread,
    /// `init` after one file changed, in milliseconds; only where the sources are ours to change.
    pub changed_ms: Option<Spread>,
    /// A search, process and look for changes included, in milliseconds.
    pub query_ms: Spread,
    /// Most memory resident at once while searching, in bytes.
    pub query_memory: u64,
    /// An answer of a warm server (`colgrep mcp`) to the same query, in milliseconds.
    #[serde(default)]
    pub server_ms: Spread,
    /// Its answers to the project's annotated questions, where there are any.
    #[serde(default)]
    pub questions: Option<Questions>,
    /// Other tools on the same folder.
    pub peers: Vec<PeerSpeed>,
}

/// Answers of a warm server to all questions of a project, each in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Questions {
    /// How many questions.
    pub count: usize,
    /// Each for the first time.
    pub first_ms: Spread,
    /// All of them once more.
    pub again_ms: Spread,
}

/// One other tool on one project.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PeerSpeed {
    pub name: String,
    /// What was compared, or why nothing was.
    pub what: String,
    /// Its index from nothing, in milliseconds, where it has one.
    pub index_ms: Option<f64>,
    /// Its search, in milliseconds.
    pub query_ms: Option<Spread>,
    /// colgrep's time over the tool's, each pair of runs by itself: below 1, colgrep is faster.
    pub ratio: Option<Spread>,
}

/// The whole result.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Result_ {
    version: u32,
    origin: Origin,
    query: String,
    word: String,
    projects: Vec<ProjectSpeed>,
}

pub fn run(args: &SpeedArgs) -> Result<u8> {
    args.output.check()?;
    let questions = questions(&args.annotations)?;
    let program = Program::colgrep(args.colgrep.as_deref())?;
    let mut folders = Vec::new();
    if let Some(repos) = &args.repos {
        for entry in std::fs::read_dir(repos).with_context(|| format!("{}", repos.display()))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() && (args.only.is_empty() || args.only.contains(&name)) {
                folders.push((name, entry.path().canonicalize()?));
            }
        }
        folders.sort();
    }
    if let Some(name) = args.only.iter().find(|name| !folders.iter().any(|(n, _)| n == *name)) {
        bail!("--only {name}: --repos has no folder of that name");
    }
    let scratch = tempfile::tempdir().context("a folder for indexes")?;
    let bar = bar(folders.len() as u64 + u64::from(args.synthetic > 0), "projects");
    let mut projects = Vec::new();
    for (name, folder) in &folders {
        let asked = questions.get(name).map_or(&[][..], Vec::as_slice);
        projects.push(project(args, &program, name, folder, scratch.path(), None, asked)?);
        bar.inc(1);
    }
    if args.synthetic > 0 {
        let folder = scratch.path().join("synthetic");
        let changing = synthetic::write(&folder, args.synthetic)?;
        let name = format!("synthetic, {} files", args.synthetic);
        projects.push(project(args, &program, &name, &folder, scratch.path(), Some(&changing), &[])?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if projects.is_empty() {
        bail!("nothing to measure: --repos has no folders, and --synthetic is 0");
    }
    let result =
        Result_ { version: 1, origin: Origin::here(), query: args.query.clone(), word: args.word.clone(), projects };
    let text = markdown(&result);
    args.output.publish(&text, &result)?;
    Ok(FINE)
}

fn times(samples: &[RunSample]) -> Spread {
    Spread::of(&samples.iter().map(|s| s.ms).collect::<Vec<_>>())
}

fn memory(samples: &[RunSample]) -> u64 {
    samples.iter().map(|s| s.memory).max().unwrap_or(0)
}

fn project(
    args: &SpeedArgs,
    program: &Program,
    name: &str,
    folder: &Path,
    scratch: &Path,
    changing: Option<&Path>,
    questions: &[String],
) -> Result<ProjectSpeed> {
    let walked = walk(folder, &LeftOut::default(), &WalkOptions::default())?;
    let data = scratch.join("data");
    let program = program.with_data(&data);
    let path = folder.to_string_lossy();
    let init = ["init", "-y", "--quiet", &path];
    let mut cold = Vec::new();
    for _ in 0..args.cold_runs {
        if data.exists() {
            std::fs::remove_dir_all(&data).context("removing an index")?;
        }
        cold.push(program.run(&init)?);
    }
    let index_bytes = bytes_below(&data);
    let unchanged = program.repeat(&init, args.runs)?;
    let mut changed = Vec::new();
    if let Some(file) = changing {
        for run in 0..args.runs {
            synthetic::change(file, run)?;
            changed.push(program.run(&init)?);
        }
    }
    let search = ["-k", "10", &args.query, &path];
    program.run(&search)?;
    let query = program.repeat(&search, args.runs)?;
    let served = server::answers(&program, folder, &args.query, args.runs)?;
    let questions = match questions.is_empty() {
        true => None,
        false => Some(server::questions(&program, folder, &args.query, questions)?),
    };
    let peers = match args.no_peers {
        true => Vec::new(),
        false => peers::measure(args, &program, folder, scratch)?,
    };
    Ok(ProjectSpeed {
        name: name.to_string(),
        files: walked.files.len(),
        source_bytes: walked.files.iter().map(|f| f.size).sum(),
        cold_ms: times(&cold),
        cold_memory: memory(&cold),
        index_bytes,
        unchanged_ms: times(&unchanged),
        changed_ms: (!changed.is_empty()).then(|| times(&changed)),
        query_ms: times(&query),
        query_memory: memory(&query),
        server_ms: Spread::of(&served),
        questions,
        peers,
    })
}

/// The annotated questions of all sets, by the project's name.
fn questions(sets: &[PathBuf]) -> Result<BTreeMap<String, Vec<String>>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for set in sets {
        for (name, file) in annotation_files(set)? {
            all.entry(name)
                .or_default()
                .extend(read_annotations(&file)?.into_iter().map(|annotation| annotation.query));
        }
    }
    Ok(all)
}

fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |e: std::fs::DirEntry| match e.metadata() {
        Ok(m) if m.is_dir() => bytes_below(&e.path()),
        Ok(m) => m.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

fn markdown(result: &Result_) -> String {
    let mega = |bytes: u64| bytes as f64 / 1e6;
    let mut text = format!(
        "# Speed\n\n{}. Milliseconds of whole processes, and of a warm server's answers: median (fastest–slowest). Query {:?}.\n\n| project | files | source MB | cold index | memory MB | index MB | nothing changed | one file changed | query | memory MB | answer of a server |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        result.origin.text(),
        result.query
    );
    for p in &result.projects {
        text += &format!(
            "| {} | {} | {:.1} | {} | {:.0} | {:.1} ({:.2} × source) | {} | {} | {} | {:.0} | {} |\n",
            p.name,
            p.files,
            mega(p.source_bytes),
            p.cold_ms.text(0),
            mega(p.cold_memory),
            mega(p.index_bytes),
            p.index_bytes as f64 / p.source_bytes.max(1) as f64,
            p.unchanged_ms.text(1),
            p.changed_ms.map_or("–".to_string(), |c| c.text(1)),
            p.query_ms.text(1),
            mega(p.query_memory),
            p.server_ms.text(1)
        );
    }
    text += &asked(&result.projects);
    if result.projects.iter().any(|p| !p.peers.is_empty()) {
        text += "\nPeers: runs alternate with colgrep's; the ratio is colgrep's time over the peer's in each pair (below 1, colgrep is faster).\n\n| project | peer | compared | its index | its query | ratio |\n|---|---|---|---:|---:|---:|\n";
        for (p, peer) in result.projects.iter().flat_map(|p| p.peers.iter().map(move |peer| (p, peer))) {
            let ms = |v: Option<Spread>, digits| v.map_or("–".to_string(), |s| s.text(digits));
            let index = peer.index_ms.map_or("–".to_string(), |ms| format!("{ms:.0}"));
            text += &format!(
                "| {} | {} | {} | {index} | {} | {} |\n",
                p.name,
                peer.name,
                peer.what,
                ms(peer.query_ms, 1),
                ms(peer.ratio, 2)
            );
        }
    }
    text
}

/// What a warm server takes for the annotated questions, a row for each project and one for all of them.
fn asked(projects: &[ProjectSpeed]) -> String {
    let rows: Vec<(&str, Questions)> = projects.iter().filter_map(|p| Some((p.name.as_str(), p.questions?))).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "\nAll questions of a project, one after the other, to a warm server; then all once more.\n\n| project | questions | first time | again |\n|---|---:|---:|---:|\n".to_string();
    for (name, q) in &rows {
        text += &format!("| {name} | {} | {} | {} |\n", q.count, q.first_ms.text(2), q.again_ms.text(2));
    }
    let middle = |of: fn(&Questions) -> f64| median(rows.iter().map(|(_, q)| of(q)).collect());
    let count: usize = rows.iter().map(|(_, q)| q.count).sum();
    text += &format!(
        "| median of {} projects | {count} | {:.2} | {:.2} |\n",
        rows.len(),
        middle(|q| q.first_ms.median),
        middle(|q| q.again_ms.median)
    );
    text
}
