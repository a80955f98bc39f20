//! A process, its time on the clock and its memory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use wait4::Wait4 as _;

use crate::process::run_within;

/// Longest first run of another tool, which may build its index in it.
const TRY_MAX: Duration = Duration::from_secs(120);
/// Letters of another tool's last line that are repeated.
const LAST_LINE_MAX: usize = 120;

#[derive(Clone, Copy, Debug)]
pub struct RunSample {
    /// From the start to the exit, in milliseconds.
    pub ms: f64,
    /// Most memory resident at once, in bytes, as the system counted it.
    pub memory: u64,
}

/// A program with the arguments and variables that go before a run's own.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    first: Vec<OsString>,
    data: Option<PathBuf>,
}

impl Program {
    /// colgrep: the one named, else the one linked into this program.
    pub fn colgrep(path: Option<&Path>) -> Result<Program> {
        Ok(match path {
            Some(path) if path.is_file() => Program { path: path.canonicalize()?, first: Vec::new(), data: None },
            Some(path) => bail!("--colgrep {}: no such program", path.display()),
            None => Program { path: std::env::current_exe()?, first: vec!["colgrep".into()], data: None },
        })
    }

    /// Another program on PATH, if it is there.
    #[expect(clippy::disallowed_methods, reason = "only to find other programs")]
    pub fn on_path(name: &str) -> Option<Program> {
        let folders = std::env::var_os("PATH")?;
        let path = std::env::split_paths(&folders).map(|f| f.join(name)).find(|p| p.is_file())?;
        Some(Program { path, first: Vec::new(), data: None })
    }

    /// The same with its indexes in a folder.
    pub fn with_data(&self, data: &Path) -> Program {
        Program { data: Some(data.to_path_buf()), ..self.clone() }
    }

    /// A process of it that is still to be started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.first).args(args).env("COLGREP_BACKGROUND", "0");
        if let Some(data) = &self.data {
            command.env("COLGREP_DATA_DIR", data);
        }
        command
    }

    /// Runs it, with nothing to read and its output thrown away.
    pub fn run(&self, args: &[&str]) -> Result<RunSample> {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let what = || format!("{} {}", self.path.display(), args.join(" "));
        let started = Instant::now();
        let ended = command.spawn().and_then(|mut child| child.wait4()).with_context(what)?;
        let ms = started.elapsed().as_secs_f64() * 1e3;
        match ended.status.code() {
            Some(0 | 1) => Ok(RunSample { ms, memory: ended.rusage.maxrss }),
            _ => bail!("{}: {}", what(), ended.status),
        }
    }

    /// Runs it once and checks the result: a tool that exits with 0 and prints nothing has found nothing.
    ///
    /// # Errors
    /// When it can't be started, has not ended after two minutes (some wait for a network that is not there), ends with
    /// another status than 0 or prints nothing; with the last line of its errors.
    pub fn try_out(&self, args: &[&str]) -> Result<()> {
        let ended = run_within(&mut self.command(args), TRY_MAX)?;
        let last = ended.err.lines().rev().map(str::trim).find(|l| !l.is_empty()).unwrap_or("without a word");
        let last: String = last.chars().take(LAST_LINE_MAX).collect();
        match ended.status {
            None => bail!("no answer within {} seconds: {last}", TRY_MAX.as_secs()),
            Some(status) if !status.success() => bail!("{status}: {last}"),
            Some(_) if ended.out.trim_ascii().is_empty() => bail!("it found nothing"),
            Some(_) => Ok(()),
        }
    }

    /// Runs it several times.
    pub fn repeat(&self, args: &[&str], runs: u32) -> Result<Vec<RunSample>> {
        (0..runs).map(|_| self.run(args)).collect()
    }
}
