//! Measures the vector store: `cargo run --release -p colgrep-index --example vectors` prints how cost grows from 1 k to
//! 100 k synthetic units (`-- 1000 1000000` for other sizes), `-- codec FOLDER` what each codec costs and loses on the
//! units of real source. `-- corpus FOLDER UNITS` only writes the synthetic source, for a whole `colgrep` to work on; `-- measure FOLDER STORE`
//! measures on source that is there.
//!
//! The model is a stand-in (`model.rs`): sizes and times of the store are real, quality is not that of a trained model.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

mod codec;
mod corpus;
mod model;

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_index::search::{Mode, Request, Semantic, search};
use colgrep_index::store::Store;
use colgrep_index::update::{Encoding, Updater};

use model::Model;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const QUERIES: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("codec") => codec::run(Path::new(args.get(1).ok_or("usage: vectors codec FOLDER")?)),
        Some("measure") => {
            let usage = "usage: vectors measure FOLDER STORE";
            measure(Path::new(args.get(1).ok_or(usage)?), Path::new(args.get(2).ok_or(usage)?))
        }
        Some("query") => query(Path::new(args.get(1).ok_or("usage: vectors query STORE")?)),
        Some("corpus") => {
            let usage = "usage: vectors corpus FOLDER UNITS";
            let bytes = corpus::write(Path::new(args.get(1).ok_or(usage)?), args.get(2).ok_or(usage)?.parse()?)?;
            println!("{:.1} MB", bytes as f64 / 1e6);
            Ok(())
        }
        _ => {
            let sizes = args.iter().map(|a| a.parse()).collect::<Result<Vec<usize>, _>>()?;
            let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
            sizes.into_iter().try_for_each(curve)
        }
    }
}

/// Measures on so many synthetic units.
fn curve(units: usize) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("source");
    corpus::write(&root, units)?;
    measure(&root, &folder.path().join("store"))
}

/// Builds the store `data` of the source in `root`, or goes on with it, and lets a new process ask it.
fn measure(root: &Path, data: &Path) -> Result<(), Box<dyn Error>> {
    let store = Store::new(data.to_path_buf());
    let started = Instant::now();
    let (snapshot, _) = Updater::new(&store, root).run()?;
    let lexical = started.elapsed();
    let source: u64 = snapshot.files.indexed().map(|f| f.size).sum();
    let units = snapshot.coverage().units;
    drop(snapshot);
    let lexical_bytes = store.bytes_on_disk();
    let model = Model;
    let started = Instant::now();
    let (snapshot, report) = Updater::new(&store, root).encoding(Some(&Encoding::new(&model))).run()?;
    let seconds = started.elapsed().as_secs_f64();
    let vectors = snapshot.vectors.as_ref().ok_or("no vectors")?;
    println!(
        "{units} units, {:.1} MB of source: lexical {:.1} s, {:.1} MB; vectors {seconds:.1} s, {:.0} texts/s, \
         {:.1} MB = {:.0} B a unit in {} segments, {} centroids",
        source as f64 / 1e6,
        lexical.as_secs_f64(),
        lexical_bytes as f64 / 1e6,
        report.encoded as f64 / seconds,
        vectors.bytes_on_disk() as f64 / 1e6,
        vectors.bytes_on_disk() as f64 / vectors.len() as f64,
        vectors.segments(),
        vectors.codebook().len(),
    );
    drop(snapshot);
    let status = Command::new(std::env::current_exe()?).arg("query").arg(data).status()?;
    if status.success() { Ok(()) } else { Err("the query failed".into()) }
}

/// Processor time of this process, in steps of 10 ms: on a busy machine it says more than the clock.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    10.0 * (ticks(11) + ticks(12))
}

/// Opens a store in this new process, asks, and tells times and memory.
fn query(folder: &Path) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let snapshot = Store::new(folder.to_path_buf()).open()?;
    let opened = started.elapsed();
    let (model, knobs) = (Model, Knobs::of(Profile::Default));
    let ask = |i: usize, mode: Option<Mode>| -> Result<f64, Box<dyn Error>> {
        let text = corpus::query(i);
        let semantic = mode.map(|mode| Semantic { mode, ..Semantic::new(&model) });
        let started = Instant::now();
        let request = Request {
            query: &text,
            knobs: &knobs,
            fusion: Fusion::MinMax,
            files: 15,
            units_per_file: 1,
            filter: None,
            semantic,
        };
        let answer = search(&snapshot, &request, None)?;
        if answer.hits.is_empty() {
            return Err("nothing found".into());
        }
        Ok(started.elapsed().as_secs_f64() * 1e3)
    };
    let first = ask(0, Some(Mode::Hybrid))?;
    print!("  open {:.1} ms, first hybrid query {first:.1} ms, then (median)", opened.as_secs_f64() * 1e3);
    for (name, mode) in [("hybrid", Some(Mode::Hybrid)), ("lexical", None)] {
        let before = cpu_ms();
        let mut times = (1..=QUERIES).map(|i| ask(i, mode)).collect::<Result<Vec<f64>, _>>()?;
        times.sort_by(f64::total_cmp);
        let cpu = (cpu_ms() - before) / QUERIES as f64;
        print!(" {name} {:.1} ms ({cpu:.1} ms of CPU)", times[times.len() / 2]);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = |field: &str| {
        let line = status.lines().find(|l| l.starts_with(field)).unwrap_or("0");
        line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1e3
    };
    let mapped = Store::new(folder.to_path_buf()).bytes_on_disk() as f64 / 1e6;
    println!(
        "; index {mapped:.0} MB, own memory {:.0} MB, touched of the files {:.0} MB",
        memory("RssAnon"),
        memory("RssFile")
    );
    Ok(())
}
