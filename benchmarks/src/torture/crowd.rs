//! `crowd`: eight processes at a time do all that colgrep does to one project, whose files change meanwhile.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use colgrep_index::store::Store;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::subject::{Subject, faults, first_difference};
use super::{Tally, TortureArgs, case_seed};
use crate::process::{Ended, run as ended};
use crate::speed::process::Program;

/// Processes at a time.
const PROCESSES: usize = 8;
/// Longest pause between two changes of the tree, in milliseconds.
const PAUSE_MS_MAX: u64 = 60;
/// What is asked at the end, of this index and of a new one.
const QUESTIONS: [&[&str]; 4] = [
    &["how a page is stored"],
    &["parse_header_1"],
    &["retry after a failure"],
    &["log", "version 7", "--keyword-only"],
];
/// Commands, and how often each is drawn among all.
const LOAD: [(&[&str], u32); 11] = [
    (&["parse header", "--json"], 8),
    (&["retry after a failure", "--no-update"], 3),
    (&["send", "-e", "Ring\\d"], 3),
    (&["-e", "fn worker", "-l"], 2),
    (&["init"], 4),
    (&["status"], 2),
    (&["doctor", "--verify"], 1),
    (&["--like", "src/part0/header.rs:4"], 2),
    (&["log", "worker", "--keyword-only"], 2),
    (&["send", "--changed"], 1),
    (&["clear"], 1),
];

/// Runs the kind: by words alone, and with the model that ranks by meaning.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    ["keyword", "full"].into_iter().map(|mode| of_mode(args, mode)).collect()
}

/// One project under load.
struct Crowd<'a> {
    args: &'a TortureArgs,
    mode: &'a str,
    root: PathBuf,
    program: Program,
    begun: AtomicUsize,
    until: Instant,
    tally: Mutex<Tally>,
}

fn of_mode(args: &TortureArgs, mode: &str) -> Result<Tally> {
    let subject = Subject::repository()?;
    let data = subject.data("data");
    let crowd = Crowd {
        args,
        mode,
        root: subject.root.clone(),
        program: Program::colgrep(args.colgrep.as_deref())?.with_data(&data),
        begun: AtomicUsize::new(0),
        until: Instant::now() + Duration::from_secs(args.time_limit),
        tally: Mutex::new(Tally::new(&format!("crowd of 8, {mode}"), args.cases)),
    };
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..PROCESSES).map(|_| scope.spawn(|| crowd.work())).collect();
        let mut random = StdRng::seed_from_u64(args.seed);
        while workers.iter().any(|worker| !worker.is_finished()) {
            subject.write(random.random_range(0..5), random.random_range(0..12))?;
            std::thread::sleep(Duration::from_millis(random.random_range(0..PAUSE_MS_MAX)));
        }
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?)
    })?;
    crowd.end(&data, &subject.data("fresh"))?;
    let mut tally = crowd.tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    tally.stop();
    Ok(tally)
}

impl Crowd<'_> {
    fn command(&self, program: &Program, words: &[&str]) -> Command {
        let takes_mode = !["status", "doctor", "clear", "log"].contains(&words[0]) && words[0] != "-e";
        let mut command = program.command(words);
        command.args(takes_mode.then_some(["--index-mode", self.mode]).into_iter().flatten());
        command.current_dir(&self.root);
        command
    }

    fn work(&self) -> Result<()> {
        loop {
            let case = self.begun.fetch_add(1, Ordering::Relaxed);
            if case >= self.args.cases || Instant::now() > self.until {
                return Ok(());
            }
            let mut random = StdRng::seed_from_u64(case_seed(self.args.seed, case as u64));
            let (words, _) = LOAD.choose_weighted(&mut random, |load| load.1).context("a load")?;
            let ended = ended(&mut self.command(&self.program, words))?;
            self.note(case, words, &ended);
        }
    }

    /// Counts a run. Status 2 is right for two commands alone: what looks at an index that another process has just
    /// cleared has none.
    fn note(&self, case: usize, words: &[&str], ended: &Ended) {
        let mut tally = self.tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        tally.cases.1 += 1;
        let said = ended.err.lines().last().unwrap_or_default();
        let may_lack = words.contains(&"--no-update") || words[0] == "doctor";
        match (ended.wrong(), ended.code()) {
            (Some((kind, text)), _) => tally.fail(kind, format!("case {case}, {words:?}: {text}")),
            (None, Some(2)) if may_lack && said.contains("no index") => tally.count("without an index"),
            (None, Some(2)) => {
                tally.fail("exit status 2", format!("case {case}, {words:?}: {}{}", ended.err, ended.out));
            }
            (None, Some(1)) => tally.count("found nothing"),
            _ => tally.count("found"),
        }
    }

    /// Brings the index up to date once more and compares its answers with those of a new one.
    fn end(&self, data: &Path, fresh: &Path) -> Result<()> {
        let mut tally = self.tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let new = Program::colgrep(self.args.colgrep.as_deref())?.with_data(fresh);
        for program in [&self.program, &new] {
            let ended = ended(&mut self.command(program, &["init", "--quiet"]))?;
            if ended.code() != Some(0) {
                tally.fail("stuck", ended.err);
                return Ok(());
            }
        }
        for question in QUESTIONS {
            let words = [question, &["--json", "-k", "20"]].concat();
            let [old, new] = [&self.program, &new].map(|program| ended(&mut self.command(program, &words)));
            let (old, new) = (old?.out, new?.out);
            if old != new {
                tally.fail("other answers", format!("{question:?}: {}", first_difference(&new, &old)));
            }
        }
        // One index of the tree, and one of its history.
        for entry in std::fs::read_dir(data)? {
            let store = Store::new(entry?.path());
            // Wait for background processes, whose uncommitted files would look like remains.
            let _lock = store.lock(true)?;
            faults(&store, "at the end").into_iter().for_each(|(kind, text)| tally.fail(kind, text));
        }
        Ok(())
    }
}
