//! Records of measurements: one JSON document, and its summary as Markdown.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use colgrep_core::fuse::Evidence;
use colgrep_core::knob::{Knob, Knobs};
use colgrep_engine::settings::variable::variable;
use colgrep_search::Timing;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use crate::metric::QueryMetrics;
use crate::trace::{self, FileTrace};

/// Version of the record's shape: raised when a field changes its meaning or goes.
pub const RECORD_VERSION: u32 = 1;

/// One measurement of relevance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub version: u32,
    /// Where, when and with which build it was taken.
    pub origin: Origin,
    /// Which rankings took part: hybrid, keyword-only or semantic-only; the model after a comma.
    #[serde(default)]
    pub ranking: String,
    /// The profile below the knobs.
    pub profile: String,
    /// Every knob's value in force.
    pub knobs: BTreeMap<String, f64>,
    pub knobs_set: Vec<String>,
    /// Means over all queries.
    pub overall: QueryMetrics,
    /// Mean NDCG@10 over repositories, each counted once.
    pub ndcg_10_over_repositories: f64,
    /// Means by set of annotations.
    pub by_set: BTreeMap<String, QueryMetrics>,
    pub by_category: BTreeMap<String, QueryMetrics>,
    pub by_language: BTreeMap<String, QueryMetrics>,
    pub by_repository: BTreeMap<String, QueryMetrics>,
    /// Median time of one search inside the process, in milliseconds (index open, other searches running in parallel).
    pub search_ms_median: f64,
    /// Median times of the parts of a search, in milliseconds, under the same conditions.
    #[serde(default)]
    pub ms_median: Timing,
    /// The ranking's steps, as the queries' traces have them.
    #[serde(default)]
    pub steps: Vec<String>,
    pub queries: Vec<QueryRecord>,
}

/// One query's result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryRecord {
    /// The set of annotations it is from.
    pub set: String,
    pub repository: String,
    pub language: String,
    pub query: String,
    pub category: String,
    /// What answers it.
    pub targets: Vec<String>,
    /// The first ten files, relative to the project.
    pub files: Vec<String>,
    /// The rank of each target among 30 files, in the targets' order.
    pub ranks: Vec<Option<usize>>,
    pub metrics: QueryMetrics,
    /// Time of the search inside the process, in milliseconds.
    pub search_ms: f64,
    #[serde(default)]
    pub ms: Timing,
    /// Evidence from which the weight of meaning was computed.
    #[serde(default)]
    pub evidence: Evidence,
    /// Traces of the first files and of the right ones.
    #[serde(default)]
    pub trace: Vec<FileTrace>,
}

/// Build and machine of a measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// Version of colgrep.
    pub colgrep: String,
    /// The commit that this program was built from, followed by `+` if tracked files were changed.
    pub commit: Option<String>,
    /// Whether it was compiled with optimisations.
    pub optimised: bool,
    /// Seconds since 1970.
    pub time_s: u64,
    /// Operating system and processor architecture.
    pub system: String,
    pub cores: usize,
}

impl Origin {
    pub fn here() -> Origin {
        Origin {
            colgrep: env!("CARGO_PKG_VERSION").to_string(),
            commit: option_env!("COLGREP_BENCH_COMMIT").map(String::from),
            optimised: !cfg!(debug_assertions),
            time_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    pub fn text(&self) -> String {
        let commit = self.commit.as_deref().unwrap_or("no commit");
        let built = if self.optimised { "" } else { ", not optimised" };
        format!("colgrep {} ({commit}{built}) on {}, {} cores", self.colgrep, self.system, self.cores)
    }
}

/// Every knob with its value in force.
pub fn knob_values(knobs: &Knobs) -> BTreeMap<String, f64> {
    Knob::ALL.iter().map(|k| (variable(*k), knobs.number(*k))).collect()
}

impl Record {
    /// Sums up the queries.
    pub fn new(ranking: &str, knobs: &Knobs, mut queries: Vec<QueryRecord>) -> Record {
        let steps = trace::steps(&mut queries.iter_mut().map(|q| &mut q.trace).collect::<Vec<_>>());
        let by = |key: fn(&QueryRecord) -> &String| {
            let mean = |all: Vec<&QueryRecord>| QueryMetrics::mean(all.into_iter().map(|query| &query.metrics));
            let groups = grouped(&queries, |query| key(query).clone()).into_iter();
            groups.map(|(name, all)| (name, mean(all))).collect::<BTreeMap<_, _>>()
        };
        let by_repository = by(|q| &q.repository);
        let repositories = by_repository.len().max(1) as f64;
        let times = |part: fn(&QueryRecord) -> f64| median(queries.iter().map(part).collect());
        Record {
            version: RECORD_VERSION,
            origin: Origin::here(),
            ranking: ranking.to_string(),
            profile: knobs.profile().name().to_string(),
            knobs: knob_values(knobs),
            knobs_set: Knob::ALL.iter().filter(|k| knobs.is_set(**k)).map(|k| variable(*k)).collect(),
            overall: QueryMetrics::mean(queries.iter().map(|q| &q.metrics)),
            ndcg_10_over_repositories: by_repository.values().map(|m| m.ndcg_10).sum::<f64>() / repositories,
            by_set: by(|q| &q.set),
            by_category: by(|q| &q.category),
            by_language: by(|q| &q.language),
            by_repository,
            search_ms_median: times(|q| q.search_ms),
            ms_median: Timing {
                lexical: times(|q| q.ms.lexical),
                semantic: times(|q| q.ms.semantic),
                fuse: times(|q| q.ms.fuse),
                rank: times(|q| q.ms.rank),
                total: times(|q| q.ms.total),
            },
            steps,
            queries,
        }
    }

    /// What was measured, in one line.
    pub fn title(&self) -> String {
        let ranking = if self.ranking.is_empty() { "ranking unknown" } else { &self.ranking };
        format!("{}, {ranking}, profile {}", self.origin.text(), self.profile)
    }

    pub fn markdown(&self) -> String {
        let mut text = format!("# Relevance: {}\n\n{}", self.ranking, self.title());
        let set: Vec<String> = self.knobs_set.iter().map(|name| format!("{name}={}", self.knobs[name])).collect();
        if !set.is_empty() {
            text += &format!(", {}", set.join(" "));
        }
        text += &format!(
            ".\n\nNDCG@10 over {} repositories {:.4}, over {} queries {:.4}. Median search inside the process {:.2} ms: words {:.2}, meaning {:.2}, fusion {:.2}, stages {:.2}.\n",
            self.by_repository.len(),
            self.ndcg_10_over_repositories,
            self.overall.queries,
            self.overall.ndcg_10,
            self.search_ms_median,
            self.ms_median.lexical,
            self.ms_median.semantic,
            self.ms_median.fuse,
            self.ms_median.rank
        );
        text += "Tokens: bytes/4 of the units shown before the first right file (of all ten where none is right), mean. Pool: recall of the files of the best 200 units behind the fusion.\n";
        let overall = BTreeMap::from([("all".to_string(), self.overall)]);
        for (title, rows) in [
            ("", &overall),
            ("set", &self.by_set),
            ("category", &self.by_category),
            ("language", &self.by_language),
            ("repository", &self.by_repository),
        ] {
            text += &format!(
                "\n| {title} | queries | NDCG@10 | MRR@10 | recall@5 | recall@10 | recall@30 | pool@200 | success@1 | tokens |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
            );
            for (name, m) in rows {
                text += &format!(
                    "| {name} | {} | {:.4} | {:.4} | {:.4} | {:.4} | {:.4} | {:.4} | {:.4} | {:.0} |\n",
                    m.queries,
                    m.ndcg_10,
                    m.mrr_10,
                    m.recall_5,
                    m.recall_10,
                    m.recall_30,
                    m.recall_200,
                    m.success_1,
                    m.tokens
                );
            }
        }
        text
    }
}

/// Items by a key, which may borrow from them.
pub fn grouped<'t, T, K: Ord>(items: &'t [T], key: impl Fn(&'t T) -> K) -> BTreeMap<K, Vec<&'t T>> {
    let mut groups: BTreeMap<K, Vec<&T>> = BTreeMap::new();
    for item in items {
        groups.entry(key(item)).or_default().push(item);
    }
    groups
}

/// Shares of a group: how many items have each of some properties, after the group's name and size.
pub fn shares_row<const N: usize>(name: &str, items: impl Iterator<Item = [bool; N]>) -> String {
    let items: Vec<[bool; N]> = items.collect();
    let share = |at: usize| items.iter().filter(|item| item[at]).count() as f64 / items.len().max(1) as f64;
    let cells: String = (0..N).map(|at| format!(" {:.3} |", share(at))).collect();
    format!("| {name} | {} |{cells}\n", items.len())
}

/// The median; 0 for an empty list.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// Writes a document as indented JSON.
pub fn write_json(path: &Path, document: &impl Serialize) -> Result<()> {
    write_text(path, &(serde_json::to_string_pretty(document)? + "\n"))
}

/// Output files of a measurement, besides stdout.
#[derive(Clone, Debug, clap::Args)]
pub struct OutputArgs {
    /// Write the record here, as JSON
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the summary here, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl OutputArgs {
    pub fn check(&self) -> Result<()> {
        check_folders(&[&self.out, &self.markdown])
    }

    /// Prints the summary, and writes the files.
    pub fn publish(&self, markdown: &str, document: &impl Serialize) -> Result<()> {
        print(markdown)?;
        if let Some(path) = &self.out {
            write_json(path, document)?;
        }
        self.markdown.as_ref().map_or(Ok(()), |path| write_text(path, markdown))
    }

    /// The same for a record of queries: prints its summary followed by `below`.
    pub fn write(&self, record: &Record, below: &str) -> Result<()> {
        let markdown = record.markdown() + below;
        print(&markdown)?;
        if let Some(path) = &self.out {
            // Without line breaks: the traces are long lists of small numbers.
            write_text(path, &(serde_json::to_string(record)? + "\n"))?;
        }
        self.markdown.as_ref().map_or(Ok(()), |path| write_text(path, &markdown))
    }
}

/// Checks before the measurement that the folders of output files exist.
pub fn check_folders(files: &[&Option<PathBuf>]) -> Result<()> {
    for file in files.iter().copied().flatten() {
        let folder = file.parent().filter(|f| !f.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|f| !f.is_dir()) {
            bail!("{}: there is no folder {}; make it first", file.display(), folder.display());
        }
    }
    Ok(())
}

/// Writes a text file.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// Prints to stdout; a closed pipe is not an error.
pub fn print(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// A progress bar with the time left; only on a terminal.
pub fn bar(length: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(length).with_message(what);
    let style = ProgressStyle::with_template("{msg} {human_pos}/{human_len} {wide_bar} {per_sec}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        for (values, expected) in [(vec![], 0.0), (vec![3.0], 3.0), (vec![3.0, 1.0, 2.0], 2.0), (vec![4.0, 1.0], 2.5)] {
            assert_eq!(median(values), expected);
        }
    }

    #[test]
    fn means_are_over_the_right_queries() {
        let query = |repository: &str, category: &str, ndcg_10: f64| QueryRecord {
            set: "s".into(),
            repository: repository.into(),
            language: "rust".into(),
            query: "q".into(),
            category: category.into(),
            targets: vec![],
            files: vec![],
            ranks: vec![],
            metrics: QueryMetrics { queries: 1, ndcg_10, ..QueryMetrics::default() },
            search_ms: 1.0,
            ms: Timing::default(),
            evidence: Evidence::default(),
            trace: vec![],
        };
        let knobs = Knobs::of(colgrep_core::knob::Profile::Default);
        let record =
            Record::new("keyword-only", &knobs, vec![query("a", "x", 1.0), query("a", "y", 0.5), query("b", "x", 0.0)]);
        assert_eq!((record.overall.ndcg_10, record.ndcg_10_over_repositories), (0.5, 0.375));
        assert_eq!((record.by_category["x"].ndcg_10, record.by_category["y"].queries), (0.5, 1));
        let back: Record = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(back.overall, record.overall);
        assert!(record.markdown().contains("| a | 2 | 0.7500 |"), "{}", record.markdown());
    }
}
