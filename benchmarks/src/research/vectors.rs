//! `research vectors`: size, speed and memory of the vector store.
//!
//! The model is a substitute (`model.rs`): sizes and times of the store are real, quality is not that of a trained
//! model.

mod codec;
mod model;
mod source;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use colgrep_core::collapse::PerFile;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_index::store::Store;
use colgrep_index::update::{Encoding, Updater};
use colgrep_search::{Mode, QueryContext, Request, Semantic, search_one};

use crate::report::print;
use model::ResearchModel;

const QUERIES: usize = 20;

#[derive(Clone, Debug, clap::Subcommand)]
pub enum VectorsArgs {
    /// How cost grows with the number of synthetic units
    Curve {
        /// Units of each measurement
        #[arg(default_values_t = [1_000, 10_000, 100_000])]
        units: Vec<usize>,
    },
    /// What each codec costs and loses, on the units of real source
    Codec {
        /// A folder of source
        folder: PathBuf,
    },
    /// Measure on source that is there, in a store that is made or gone on with
    Measure {
        /// A folder of source
        folder: PathBuf,
        /// The store
        store: PathBuf,
    },
    /// Ask a store that is there, in this new process
    Query {
        /// The store
        store: PathBuf,
    },
    /// Only write the synthetic source, for a whole colgrep to work on
    Source {
        /// Where
        folder: PathBuf,
        /// How many units
        units: usize,
    },
}

pub(super) fn run(args: &VectorsArgs) -> Result<()> {
    match args {
        VectorsArgs::Curve { units } => units.iter().try_for_each(|units| curve(*units)),
        VectorsArgs::Codec { folder } => codec::run(folder),
        VectorsArgs::Measure { folder, store } => measure(folder, store),
        VectorsArgs::Query { store } => query(store),
        VectorsArgs::Source { folder, units } => {
            print(&format!("{:.1} MB\n", source::write(folder, *units)? as f64 / 1e6))
        }
    }
}

/// Measures `units` synthetic units.
fn curve(units: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("source");
    source::write(&root, units)?;
    measure(&root, &folder.path().join("store"))
}

/// Builds or extends the store `data` of the source in `root`, and lets a new process query it.
fn measure(root: &Path, data: &Path) -> Result<()> {
    let store = Store::new(data.to_path_buf());
    let started = Instant::now();
    let (snapshot, _) = Updater::new(&store, root).run()?;
    let lexical = started.elapsed();
    let source: u64 = snapshot.files.indexed().map(|f| f.size).sum();
    let units = snapshot.coverage().units;
    drop(snapshot);
    let lexical_bytes = store.bytes_on_disk();
    let model = ResearchModel;
    let started = Instant::now();
    let (snapshot, report) = Updater::new(&store, root).encoding(Some(&Encoding::new(&model))).run()?;
    let seconds = started.elapsed().as_secs_f64();
    let vectors = snapshot.vectors.as_ref().context("no vectors")?;
    print(&format!(
        "{units} units, {:.1} MB of source: lexical {:.1} s, {:.1} MB; vectors {seconds:.1} s, {:.0} texts/s, \
         {:.1} MB = {:.0} B a unit in {} segments, {} centroids\n",
        source as f64 / 1e6,
        lexical.as_secs_f64(),
        lexical_bytes as f64 / 1e6,
        report.encoded as f64 / seconds,
        vectors.bytes_on_disk() as f64 / 1e6,
        vectors.bytes_on_disk() as f64 / vectors.len() as f64,
        vectors.segments(),
        vectors.codebook().len(),
    ))?;
    drop(snapshot);
    let status = Command::new(std::env::current_exe()?).args(["research", "vectors", "query"]).arg(data).status()?;
    ensure!(status.success(), "the query failed");
    Ok(())
}

/// Processor time of this process, in steps of 10 ms: on a busy machine it says more than the clock.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    10.0 * (ticks(11) + ticks(12))
}

/// Opens a store in this new process, queries it, and reports times and memory.
fn query(folder: &Path) -> Result<()> {
    let started = Instant::now();
    let snapshot = Store::new(folder.to_path_buf()).open()?;
    let opened = started.elapsed();
    let (model, knobs) = (ResearchModel, Knobs::of(Profile::Default));
    let ask = |i: usize, mode: Option<Mode>| -> Result<f64> {
        let text = source::query(i);
        let semantic = mode.map(|mode| Semantic { mode, ..Semantic::new(&model) });
        let started = Instant::now();
        let request = Request {
            query: &text,
            knobs: &knobs,
            fusion: Fusion::MinMax,
            files: 15,
            units_per_file: PerFile::Units(1),
            strength_min: 0.0,
            semantic,
            background: QueryContext::default(),
        };
        let answer = search_one(&snapshot, None, &request, None)?;
        ensure!(!answer.hits.is_empty(), "nothing found");
        Ok(started.elapsed().as_secs_f64() * 1e3)
    };
    let first = ask(0, Some(Mode::Hybrid))?;
    let opened = opened.as_secs_f64() * 1e3;
    print(&format!("  open {opened:.1} ms, first hybrid query {first:.1} ms, then (median)"))?;
    for (name, mode) in [("hybrid", Some(Mode::Hybrid)), ("lexical", None)] {
        let before = cpu_ms();
        let mut times = (1..=QUERIES).map(|i| ask(i, mode)).collect::<Result<Vec<f64>, _>>()?;
        times.sort_by(f64::total_cmp);
        let cpu = (cpu_ms() - before) / QUERIES as f64;
        print(&format!(" {name} {:.1} ms ({cpu:.1} ms of CPU)", times[times.len() / 2]))?;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = |field: &str| {
        let line = status.lines().find(|l| l.starts_with(field)).unwrap_or("0");
        line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1e3
    };
    let mapped = Store::new(folder.to_path_buf()).bytes_on_disk() as f64 / 1e6;
    print(&format!(
        "; index {mapped:.0} MB, own memory {:.0} MB, touched of the files {:.0} MB\n",
        memory("RssAnon"),
        memory("RssFile")
    ))
}
