//! `torture`: stops colgrep at each of its steps, damages its files, and checks whether anything is lost or wrong.
//!
//! Each kind checks one promise of `docs/reliability.md`. Cases are drawn from a seed, so failures can be reproduced.

mod apart;
mod bombs;
mod cluster;
mod crowd;
mod disk;
mod forge;
mod held;
mod ignored;
mod kill;
mod mcp;
mod parsers;
mod past;
mod race;
mod rot;
mod starve;
mod subject;
mod toy;
mod traps;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::ValueEnum as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use crate::{FINE, REGRESSION};

/// Failures of a kind that are listed individually.
const TOLD_MAX: usize = 12;

/// What is done to colgrep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum TortureKind {
    /// Every change to the disk of a build, an update, a merge, vectors and a clear fails once, and is the last once;
    /// processes are killed at random
    Kill,
    /// Files of an index are changed: bits, ends, parts, whole files
    Rot,
    /// Files of an index and frames of the wire with right checksums and wrong content
    Forge,
    /// Eight processes at a time search, index, clear and verify one project, whose files change meanwhile
    Crowd,
    /// Sources that are dear to parse, mutated ones, and trees that are dear to walk
    Bombs,
    /// Sources of every language, mutated along their syntax trees and at random, parsed in worker processes
    Parsers,
    /// Too little disk, memory, handles; closed and full streams
    Starve,
    /// Clones that want something run or read
    Traps,
    /// Requests to a server, whole and mutated
    Mcp,
    /// A file and a folder that exchange their names with links, while servers are asked for them by every route
    Race,
    /// Parts of identifiers, in every case and spelling: each is found, and none is denied
    Held,
    /// Ignore files with all that git reads in them: a walk finds the files that git lists
    Ignored,
    /// Shards with two replicas each lose processes, disks and files while they are asked (Linux)
    Cluster,
}

impl TortureKind {
    fn run(self, args: &TortureArgs) -> Result<Vec<Tally>> {
        match self {
            TortureKind::Kill => kill::run(args),
            TortureKind::Rot => rot::run(args),
            TortureKind::Forge => forge::run(args),
            TortureKind::Crowd => crowd::run(args),
            TortureKind::Bombs => bombs::run(args),
            TortureKind::Parsers => parsers::run(args),
            TortureKind::Starve => starve::run(args),
            TortureKind::Traps => traps::run(args),
            TortureKind::Mcp => mcp::run(args),
            TortureKind::Race => race::run(args),
            TortureKind::Held => held::run(args),
            TortureKind::Ignored => ignored::run(args),
            TortureKind::Cluster => cluster::run(args),
        }
    }
}

#[derive(Clone, Debug, clap::Args)]
pub struct TortureArgs {
    /// Kinds (default: all)
    #[arg(value_enum)]
    pub kinds: Vec<TortureKind>,
    /// Seed of the draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Cases of each part of a kind, at most
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub cases: usize,
    /// Seconds that each part of a kind may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub time_limit: u64,
    /// Folder whose identifiers `held` draws (default: a small tree of odd names)
    #[arg(long, value_name = "PATH")]
    pub folder: Option<PathBuf>,
    /// The colgrep whose processes are killed (default: the one linked in here)
    #[arg(long, value_name = "PATH")]
    pub colgrep: Option<PathBuf>,
}

/// How one part went.
#[derive(Debug)]
pub(crate) struct Tally {
    /// What was done.
    pub(crate) part: String,
    /// Cases that there are and that were gone through.
    pub(crate) cases: (usize, usize),
    /// What went wrong: each kind of failure with the cases.
    pub(crate) failures: BTreeMap<&'static str, Vec<String>>,
    /// What else was counted.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// What else there is to tell, as Markdown.
    pub(crate) details: String,
    began: Instant,
    seconds: f64,
}

impl Tally {
    fn new(part: &str, all: usize) -> Tally {
        Tally {
            part: part.to_string(),
            cases: (all, 0),
            failures: BTreeMap::new(),
            counts: BTreeMap::new(),
            details: String::new(),
            began: Instant::now(),
            seconds: 0.0,
        }
    }

    fn fail(&mut self, kind: &'static str, text: String) {
        self.failures.entry(kind).or_default().push(text);
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Ends its time.
    fn stop(&mut self) {
        self.seconds = self.began.elapsed().as_secs_f64();
    }
}

fn case_seed(seed: u64, case: u64) -> u64 {
    seed ^ case.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Panics seen so far, caught or not.
static PANICS: AtomicU64 = AtomicU64::new(0);

/// Goes through cases, in an order drawn by the seed, until they or the time are at an end. `try_one` gives the failures
/// of a case, each of a kind and in words, and counts what it likes.
pub(crate) fn go_through<C>(
    args: &TortureArgs,
    part: &str,
    mut cases: Vec<C>,
    mut try_one: impl FnMut(&C, &mut BTreeMap<&'static str, u64>) -> Result<Vec<(&'static str, String)>>,
) -> Result<Tally> {
    use rand::seq::SliceRandom as _;
    cases.shuffle(&mut StdRng::seed_from_u64(args.seed));
    let all = cases.len();
    cases.truncate(args.cases);
    let limit = Duration::from_secs(args.time_limit);
    let mut tally = Tally::new(part, all);
    let (mut longest, mut last) = (Duration::ZERO, tally.began);
    for case in &cases {
        longest = longest.max(last.elapsed());
        last = Instant::now();
        // Don't begin a case that would exceed the limit if it took as long as the longest so far.
        if tally.cases.1 > 0 && tally.began.elapsed() + longest > limit {
            break;
        }
        let before = PANICS.load(Ordering::Relaxed);
        for (kind, text) in try_one(case, &mut tally.counts)? {
            tally.fail(kind, text);
        }
        let panics = PANICS.load(Ordering::Relaxed) - before;
        if panics > 0 {
            tally.fail("panic", format!("{panics} in case {} of {part}", tally.cases.1));
        }
        tally.cases.1 += 1;
    }
    tally.stop();
    Ok(tally)
}

pub fn run(args: &TortureArgs) -> Result<u8> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        before(panic);
    }));
    let kinds = if args.kinds.is_empty() { TortureKind::value_variants().to_vec() } else { args.kinds.clone() };
    let mut tallies = Vec::new();
    for kind in kinds {
        tallies.extend(kind.run(args)?);
    }
    std::io::stdout().lock().write_all(table(&tallies).as_bytes())?;
    Ok(if tallies.iter().all(|t| t.failures.is_empty()) { FINE } else { REGRESSION })
}

/// The tallies as Markdown, with the first failures below.
fn table(tallies: &[Tally]) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("| part | cases | of | failures | counts | s |\n|---|---|---|---|---|---|\n");
    for tally in tallies {
        let failed: usize = tally.failures.values().map(Vec::len).sum();
        let counts: Vec<String> = tally.counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
        let (all, done) = tally.cases;
        let (part, counts, s) = (&tally.part, counts.join(", "), tally.seconds);
        let _ = writeln!(text, "| {part} | {done} | {all} | {failed} | {counts} | {s:.0} |");
    }
    for tally in tallies {
        text.push_str(&tally.details);
        for (kind, cases) in &tally.failures {
            let _ = writeln!(text, "\n{}: {kind}, {} times", tally.part, cases.len());
            for case in cases.iter().take(TOLD_MAX) {
                let _ = writeln!(text, "  {case}");
            }
        }
    }
    text
}
