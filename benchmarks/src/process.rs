//! A process that may hang: how it ended, what it said and what memory it took.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// Longest run of any command here, on a machine that many others use too. What takes longer hangs.
const RUN_MAX: Duration = Duration::from_secs(900);
/// How often a process is looked at.
const POLL: Duration = Duration::from_millis(2);
/// Most that is kept of what a process says, in bytes.
const SAID_MAX: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` where it was killed since it hung.
    pub(crate) status: Option<ExitStatus>,
    /// What it wrote to its outputs.
    pub(crate) out: String,
    pub(crate) err: String,
    /// Peak resident memory in bytes, as sampled.
    pub(crate) memory: u64,
}

impl Ended {
    /// The end of a process whose output was read.
    pub(crate) fn of(output: &Output) -> Ended {
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Ended { status: Some(output.status), out, err, memory: 0 }
    }

    /// The exit status.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// What is wrong with the end, whatever was asked: a signal, a status other than 0, 1 and 2, a panic, no end, or a
    /// failure without a word.
    pub(crate) fn wrong(&self) -> Option<(&'static str, String)> {
        let last = self.err.lines().last().unwrap_or("nothing").to_string();
        let Some(status) = self.status else { return Some(("hung", last)) };
        match status.code() {
            None => Some(("signal", format!("{status}: {last}"))),
            Some(code) if !(0..=2).contains(&code) => Some(("exit status", format!("{status}: {last}"))),
            _ if ["panicked at", "fault of colgrep", "RUST_BACKTRACE"].iter().any(|s| self.err.contains(s)) => {
                Some(("panic", last))
            }
            _ => None,
        }
    }
}

/// What a command prints, which has to succeed.
pub(crate) fn printed(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(output.stdout)
}

/// Runs a command to its end, with nothing to read.
pub(crate) fn run(command: &mut Command) -> Result<Ended> {
    run_within(command, RUN_MAX)
}

/// Runs a command to its end, or kills it where it takes longer than `max`.
pub(crate) fn run_within(command: &mut Command, max: Duration) -> Result<Ended> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Use pipes, since a limit on file sizes would apply to files.
    let out = child.stdout.take().map(|pipe| std::thread::spawn(|| said(pipe)));
    let err = child.stderr.take().map(|pipe| std::thread::spawn(|| said(pipe)));
    let (status, memory) = watch(&mut child, max)?;
    let [out, err] = [out, err].map(|said| said.and_then(|said| said.join().ok()).unwrap_or_default());
    Ok(Ended { status, out, err, memory })
}

/// What comes out of a pipe, to its end.
fn said(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = pipe.by_ref().take(SAID_MAX).read_to_end(&mut bytes);
    let _ = io::copy(&mut pipe, &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}

fn watch(child: &mut Child, max: Duration) -> io::Result<(Option<ExitStatus>, u64)> {
    let (started, mut memory) = (Instant::now(), 0);
    loop {
        memory = memory.max(peak_memory(child.id()));
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), memory));
        }
        if started.elapsed() > max {
            child.kill()?;
            child.wait()?;
            return Ok((None, memory));
        }
        std::thread::sleep(POLL);
    }
}

/// Most memory that a live process had resident at once, in bytes; 0 where the system does not tell.
pub(crate) fn peak_memory(process: u32) -> u64 {
    memory_row(process, "VmHWM:")
}

/// A row of what the system tells of a process's memory, in bytes.
pub(crate) fn memory_row(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let row = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = row.and_then(|row| row.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() << 10
}
