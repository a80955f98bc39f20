//! `kill`: each step of five operations fails, and is the last; then processes are killed whenever it comes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use colgrep_index::disk::Disk;
use colgrep_index::store::Store;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::disk::{Stop, StopAt};
use super::subject::{Subject, copy, faults};
use super::{Tally, TortureArgs, case_seed, go_through};
use crate::speed::process::Program;

/// Processes killed whenever it comes, at most: each takes seconds.
const PROCESSES_MAX: usize = 1_000;
/// Longest time that a process has before it is killed: about the time of a whole build.
const LIFE_MS_MAX: u64 = 120;

/// What is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// A first build.
    Build,
    /// An update of an index with vectors.
    Update,
    /// An update that merges segments.
    Merge,
    /// Vectors for an index without.
    Vectors,
    /// The removal of an index.
    Clear,
}

impl Operation {
    const ALL: [Operation; 5] =
        [Operation::Build, Operation::Update, Operation::Merge, Operation::Vectors, Operation::Clear];

    fn has_vectors(self) -> bool {
        !matches!(self, Operation::Build | Operation::Merge)
    }

    /// Prepares for the operation: the index in `data`, and the tree.
    fn prepare(self, subject: &Subject, data: &PathBuf) -> Result<()> {
        let store = subject.store(data);
        fs::create_dir_all(data)?;
        match self {
            Operation::Build => subject.change()?,
            Operation::Update | Operation::Clear => {
                subject.update(&store, true, true)?;
                subject.change()?;
            }
            Operation::Vectors => {
                subject.change()?;
                subject.update(&store, true, false)?;
            }
            Operation::Merge => {
                subject.update(&store, true, false)?;
                // With the next one there are six segments.
                for version in 1..5 {
                    subject.write(version, version + 2)?;
                    subject.update(&store, true, false)?;
                }
                subject.change()?;
            }
        }
        Ok(())
    }

    fn run(self, subject: &Subject, store: &Store) -> colgrep_index::Result<()> {
        match self {
            Operation::Clear => store.lock(false).and_then(|lock| store.remove(&lock)),
            _ => subject.update(store, true, self.has_vectors()).map(drop),
        }
    }
}

pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    let mut tallies = Vec::new();
    for operation in Operation::ALL {
        tallies.push(aimed(args, operation, Subject::new()?, "")?);
    }
    for operation in [Operation::Build, Operation::Update, Operation::Vectors] {
        tallies.push(aimed(args, operation, Subject::history()?, " of a history")?);
    }
    tallies.push(at_random(args)?);
    Ok(tallies)
}

fn aimed(args: &TortureArgs, operation: Operation, subject: Subject, whose: &str) -> Result<Tally> {
    let before = subject.data("before");
    operation.prepare(&subject, &before)?;
    let expected = subject.expected(operation.has_vectors())?;
    let data = subject.data("data");
    let stopped_at = |step, stop| -> Result<(Arc<StopAt>, colgrep_index::Result<()>)> {
        copy(&before, &data)?;
        let gate = Arc::new(StopAt::new(step, stop));
        let done = operation.run(&subject, &subject.store_on(&data, Disk::gated(gate.clone())));
        Ok((gate, done))
    };
    let (gate, done) = stopped_at(0, Stop::Fails)?;
    done.with_context(|| format!("{operation:?} without a fault"))?;
    fs::remove_dir_all(&data)?;
    let steps = 1..=gate.seen();
    let cases = steps.flat_map(|step| [(step, Stop::Fails), (step, Stop::Killed)]).collect();
    go_through(args, &format!("kill {operation:?}{whose}"), cases, |(step, stop), counts| {
        let (gate, done) = stopped_at(*step, *stop)?;
        let case = format!("{operation:?}, {stop:?} at {step}: {}", gate.refused());
        *counts.entry(if done.is_ok() { "done all the same" } else { "stopped" }).or_default() += 1;
        let store = subject.store(&data);
        let failures = healed(&subject, &store, operation.has_vectors(), &expected, &case, step % 2 == 0);
        fs::remove_dir_all(&data)?;
        Ok(failures)
    })
}

/// What is wrong with an index after the next runs: a search (if `searched`), and an `init`.
fn healed(
    subject: &Subject,
    store: &Store,
    vectors: bool,
    expected: &str,
    case: &str,
    searched: bool,
) -> Vec<(&'static str, String)> {
    let mut failures = Vec::new();
    let runs: &[bool] = if searched { &[false, true] } else { &[true] };
    for whole in runs {
        failures.extend(subject.difference(subject.update(store, *whole, vectors), expected, case));
    }
    failures.extend(faults(store, case));
    failures
}

/// Kills processes after a time drawn by chance, again and again over the same index, whose tree changes meanwhile.
fn at_random(args: &TortureArgs) -> Result<Tally> {
    let subject = Subject::new()?;
    let data = subject.data("data");
    let program = Program::colgrep(args.colgrep.as_deref())?.with_data(&data);
    let root = subject.root.to_str().context("a path in Unicode")?.to_string();
    let run = ["init", "--quiet", "--index-mode", "keyword", &root];
    let cases: Vec<u64> = (0..PROCESSES_MAX as u64).collect();
    go_through(args, "kill a process", cases, |case, counts: &mut BTreeMap<&'static str, u64>| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, *case));
        for part in 0..5 {
            subject.write(part, random.random_range(0..12))?;
        }
        let start = || program.command(&run).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = start()?;
        std::thread::sleep(Duration::from_millis(random.random_range(0..LIFE_MS_MAX)));
        child.kill()?;
        let ended = child.wait()?;
        *counts.entry(if ended.code().is_some() { "over before" } else { "killed" }).or_default() += 1;
        let output = start()?.wait_with_output()?;
        let case = format!("process {case}");
        if !matches!(output.status.code(), Some(0 | 1)) {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Ok(vec![("stuck", format!("{case}: {}, {said}", output.status))]);
        }
        let expected = subject.expected(false)?;
        let store = subject.store(&data);
        let different = subject.difference(store.open(), &expected, &case);
        Ok(different.into_iter().chain(faults(&store, &case)).collect())
    })
}
