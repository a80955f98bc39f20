//! A small repository's commits as an index is made of them.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use colgrep_index::history::{Git, HistorySource, TranscriptFolders};

use crate::process::printed;

/// A branch that the first state has and the second has not.
const SIDE: &str = "side";

/// What git was asked: its arguments and its input.
type Asked = (Vec<String>, String);

/// The repository in a project's folder.
#[derive(Debug)]
pub(super) struct PastRepository {
    root: PathBuf,
    common: PathBuf,
    sessions: TranscriptFolders,
    /// Cached output of git for the current repository: many indexes are made of it.
    told: Mutex<HashMap<Asked, Vec<u8>>>,
}

impl PastRepository {
    /// A new repository with a commit on a side branch, which [`PastRepository::forget`] removes.
    pub(super) fn new(root: &Path) -> Result<PastRepository> {
        let (common, sessions) = (root.join(".git"), TranscriptFolders::new(Vec::new(), Vec::new()));
        let past = PastRepository { root: root.to_path_buf(), common, sessions, told: Mutex::default() };
        past.git(&["init", "-q", "-b", "main"])?;
        past.commit("Pages begin")?;
        past.git(&["checkout", "-q", "-b", SIDE])?;
        past.commit("A side road: retry after a failure")?;
        past.git(&["checkout", "-q", "main"])?;
        Ok(past)
    }

    pub(super) fn commit(&self, message: &str) -> Result<()> {
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "--allow-empty", "-m", message])
    }

    /// Removes the side branch.
    pub(super) fn forget(&self) -> Result<()> {
        self.git(&["branch", "-q", "-D", SIDE])
    }

    /// The folder that identifies the repository.
    pub(super) fn common(&self) -> &Path {
        &self.common
    }

    /// Its commits as documents.
    pub(super) fn history(&self) -> HistorySource<'_> {
        HistorySource { git: Some(self), common: &self.common, sessions: &self.sessions }
    }

    fn git(&self, words: &[&str]) -> Result<()> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut git = self.command();
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"]).args(words);
        printed(&mut git).map(drop)
    }

    fn command(&self) -> Command {
        let mut git = Command::new("git");
        git.current_dir(&self.root).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git
    }
}

impl Git for PastRepository {
    fn ask(&self, args: &[&str], input: &str) -> io::Result<Vec<u8>> {
        let asked = (args.iter().map(ToString::to_string).collect(), input.to_string());
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = told.get(&asked) {
            return Ok(known.clone());
        }
        let mut git = self.command();
        let mut child = git.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (mut to, words) = (child.stdin.take(), input.to_string());
        let writer = std::thread::spawn(move || to.as_mut().map(|to| to.write_all(words.as_bytes())));
        let output = child.wait_with_output()?;
        let _ = writer.join();
        if !output.status.success() {
            return Err(io::Error::other(format!("git {args:?}: {}", output.status)));
        }
        told.insert(asked, output.stdout.clone());
        Ok(output.stdout)
    }
}
