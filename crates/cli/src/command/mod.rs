//! The subcommands, one a file.

mod clear;
mod completions;
mod doctor;
pub mod grep;
mod hook;
mod init;
mod install;
pub mod knobs;
pub mod man;
mod mcp;
mod outline;
mod search;
mod set_model;
mod settings;
mod stats;
mod status;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use anyhow::Result;
use colgrep_engine::env::Env;
use colgrep_engine::project::Project;
use colgrep_index::store::{FileTable, Snapshot};
use colgrep_index::update::{Encoding, Progress, Report, Updater};
use colgrep_index::walk::WalkOptions;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::{Args, Command, WalkArgs};

pub use search::{Found, Place};

/// Runs what the arguments say and gives the exit status.
///
/// # Errors
/// Anything that ends in exit status 2.
pub fn run(args: &Args, env: &Env) -> Result<u8> {
    match &args.command {
        None if args.stats => stats::run(args.search.json, env),
        None => search::run(&args.search, env),
        Some(Command::Search(search)) => search::run(search, env),
        Some(Command::Init(init)) => init::run(init, env),
        Some(Command::Status(status)) => status::run(status, env),
        Some(Command::Clear(clear)) => clear::run(clear, env),
        Some(Command::Outline(outline)) => outline::run(outline),
        Some(Command::Settings(settings)) => settings::run(settings, env),
        Some(Command::SetModel(model)) => set_model::run(model, env),
        Some(Command::Doctor(doctor)) => doctor::run(doctor, env),
        Some(Command::Knobs(knobs)) => knobs::run(knobs, env),
        Some(Command::Mcp(mcp)) => mcp::run(mcp, env),
        Some(Command::Install(agent)) => install::install(agent, env),
        Some(Command::Uninstall(agent)) => install::uninstall(agent, env),
        Some(Command::Hook(hook)) => hook::run(hook, env),
        Some(Command::Completions(completions)) => completions::run(completions),
        Some(Command::Man(man)) => man::run(man),
    }
}

fn walk_options(args: &WalkArgs) -> WalkOptions {
    let defaults = WalkOptions::default();
    WalkOptions {
        hidden: args.hidden,
        no_ignore: args.no_ignore,
        filesize_max: args.max_filesize.unwrap_or(defaults.filesize_max),
    }
}

/// The options that the flags ask for; `None` where they say nothing and an existing index keeps its own.
fn walk_options_asked(args: &WalkArgs) -> Option<WalkOptions> {
    Some(walk_options(args)).filter(|asked| *asked != WalkOptions::default())
}

fn limit_threads(args: &WalkArgs) {
    if let Some(threads) = args.threads.filter(|n| *n > 0) {
        let most = 4 * std::thread::available_parallelism().map_or(4, usize::from);
        // Fails only if the pool was used before, which nothing here does.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.clamp(1, most)).build_global();
    }
}

/// Opens the project's index, brought up to date, with a progress bar on a terminal.
fn open_updated(
    project: &Project,
    options: Option<&WalkOptions>,
    wait: bool,
    encoding: Option<&Encoding<'_>>,
    quiet: bool,
) -> colgrep_index::Result<(Snapshot, Report)> {
    let bar = Bar::new(quiet);
    let result = Updater::new(&project.store, &project.root)
        .ignored(&project.ignored)
        .walk_options(options.copied())
        .wait(wait)
        .encoding(encoding)
        .progress(&bar)
        .run();
    bar.bar.finish_and_clear();
    result
}

/// How far the two phases of a build are, how fast they go and how long they will take, on stderr, on a terminal alone.
struct Bar {
    bar: ProgressBar,
    units: AtomicU64,
    started: Instant,
}

const INDEXING: &str = "{spinner} indexing {human_pos}/{human_len} files, {per_sec}, {msg} {wide_bar} {eta} left";
const ENCODING: &str = "{spinner} encoding {human_pos}/{human_len} units, {msg} {wide_bar} {eta} left";

impl Bar {
    fn new(quiet: bool) -> Bar {
        // Hidden by itself where stderr is no terminal.
        let bar = ProgressBar::with_draw_target(
            None,
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
        );
        let bar = Bar { bar, units: 0.into(), started: Instant::now() };
        bar.style(INDEXING);
        bar
    }

    fn style(&self, template: &str) {
        self.bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    fn show(&self, len: u64) {
        self.bar.set_length(len);
        // A change of a few files is over before a bar could be read.
        if len > 50 {
            self.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    fn say_rate(&self, units: u64, since: Duration) {
        if !self.bar.is_hidden() {
            self.bar.set_message(format!("{:.0} units/s", units as f64 / since.as_secs_f64().max(0.001)));
        }
    }
}

/// Says of ignore files that they are not heeded: once, whatever is walked again.
fn tell_unheeded(files: &[(String, String)]) {
    static TOLD: Once = Once::new();
    let Some((path, why)) = files.first() else { return };
    TOLD.call_once(|| match files.len() - 1 {
        0 => remark!("colgrep: {path}: {why}"),
        others => remark!("colgrep: {path}: {why}; and {others} more ignore files are not heeded"),
    });
}

impl Progress for Bar {
    fn unheeded(&self, files: &[(String, String)]) {
        tell_unheeded(files);
    }

    fn begin(&self, files: u64) {
        self.show(files);
    }

    fn file_done(&self, units: u64) {
        let all = self.units.fetch_add(units, Relaxed) + units;
        self.bar.inc(1);
        self.say_rate(all, self.started.elapsed());
    }

    fn vectors_begin(&self, units: u64) {
        self.bar.set_message("");
        self.style(ENCODING);
        self.bar.reset();
        self.show(units);
    }

    fn vectors_done(&self, units: u64) {
        self.bar.inc(units);
        self.say_rate(self.bar.position(), self.bar.elapsed());
    }
}

/// The folder that a command is about: the one given, or the current one.
fn folder_or_here(path: Option<&Path>) -> &Path {
    path.unwrap_or(Path::new("."))
}

/// The languages of an index, the most frequent first.
fn languages(table: &FileTable) -> Vec<&str> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for file in table.indexed() {
        *counts.entry(&file.language).or_default() += 1;
    }
    let mut languages: Vec<(&str, u64)> = counts.into_iter().collect();
    languages.sort_by_key(|l| std::cmp::Reverse(l.1));
    languages.into_iter().map(|l| l.0).collect()
}

/// Names the library that a model has loaded, where ranking is traced: it is code of somebody else.
fn name_runtime(env: &Env) {
    if let Some(library) = colgrep_encoder::loaded_runtime().filter(|_| env.trace) {
        remark!("colgrep: the model is run by {}", library.display());
    }
}

/// A number with its noun: `1 file`, `2 files`.
pub(crate) fn counted(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The same with its verb: `1 file is`, `2 files are`.
fn counted_are(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    format!("{} {}", counted(n, noun), if n == 1 { "is" } else { "are" })
}

/// Bytes in words: `1.5 MB`.
fn in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
