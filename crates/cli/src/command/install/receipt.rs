//! Receipts: what `install` wrote where, so that it can be undone byte for byte. They record changed bytes only, never
//! whole files.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::files::{Write, missing_folders, read};
use crate::hunk::Hunk;

/// What was done to one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    pub path: PathBuf,
    /// Whether it was there before.
    pub existed: bool,
    /// The changes, in the order in which they were made.
    pub steps: Vec<InstallStep>,
    /// Folders that were made for it or for an earlier file, inner ones first.
    pub folders: Vec<PathBuf>,
    /// The agents that it was installed for: several may read one file.
    #[serde(default)]
    pub agents: Vec<String>,
}

impl Receipt {
    /// Of a file that had everything before the first installation.
    pub fn untouched(path: PathBuf, folders: Vec<PathBuf>) -> Receipt {
        Receipt { path, existed: true, steps: Vec::new(), folders, agents: Vec::new() }
    }

    /// Whether nothing was written.
    pub fn is_untouched(&self) -> bool {
        self.steps.is_empty()
    }

    /// Adds an agent that the file is for.
    pub fn with(mut self, agent: &str) -> Receipt {
        self.agents.retain(|known| known != agent);
        self.agents.push(agent.to_string());
        self
    }
}

/// One change of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstallStep {
    /// The inserted text.
    #[serde(flatten)]
    pub hunk: Hunk,
    /// The user's own entry that stood there.
    pub taken: Option<String>,
    /// What was made around it, outermost first.
    #[serde(default)]
    pub made: Vec<String>,
    /// Whether the text kept to the letter of its format before.
    pub strict: bool,
}

pub struct Receipts {
    /// The folder, which need not exist.
    pub folder: PathBuf,
}

impl Receipts {
    fn file(&self, path: &Path) -> PathBuf {
        let hash = colgrep_index::source::hash(path.to_string_lossy().as_bytes());
        self.folder.join(format!("{hash:032x}.json"))
    }

    /// The folders above `path` and above the receipts that this or an earlier installation makes. Every receipt
    /// records them all: whichever is undone last removes them.
    pub fn made_folders(&self, path: &Path) -> Vec<PathBuf> {
        let earlier: Vec<PathBuf> = self.all().into_iter().flat_map(|receipt| receipt.folders).collect();
        let mut folders = missing_folders(path);
        folders.extend(missing_folders(&self.folder));
        let above = path.ancestors().chain(self.folder.ancestors()).map(Path::to_path_buf);
        folders.extend(above.filter(|folder| earlier.contains(folder)));
        folders.sort();
        folders.dedup();
        folders.reverse();
        folders
    }

    /// The receipts of all files; unreadable ones are ignored.
    fn all(&self) -> Vec<Receipt> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.filter_map(|file| serde_json::from_str(&read(&file.path()).ok()??).ok()).collect()
    }

    /// The receipt of a file; an unreadable one is ignored.
    pub fn of(&self, path: &Path) -> Option<Receipt> {
        let receipt: Receipt = serde_json::from_str(&read(&self.file(path)).ok()??).ok()?;
        Some(receipt).filter(|r| r.path == path)
    }

    /// The write that stores `receipt` for `path`, or removes it.
    ///
    /// # Errors
    /// When the receipt that is there can't be read.
    pub fn write(&self, path: &Path, receipt: Option<&Receipt>) -> Result<Write> {
        let file = self.file(path);
        let after = receipt.map(serde_json::to_string_pretty).transpose()?;
        // The user's own entry may contain a password.
        Ok(Write { before: read(&file)?, path: file, after, secret: true })
    }
}
