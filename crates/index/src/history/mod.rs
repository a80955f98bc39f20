//! The history of a repository as an index of its own: commits and transcripts of agents' sessions.
//!
//! [`HistorySource`] is another source of documents besides the tree. A commit is a document of one unit. A session is a
//! document whose units are its turns: a person's question and what the agent did until the next one.

mod commits;
mod lines;
mod paths;
mod sessions;
mod together;
mod transcript;

use std::path::PathBuf;

pub use commits::COMMITS_MAX;
pub use lines::{AtLines, Unknown};
pub use sessions::TranscriptFolders;
pub use together::{COMMIT_FILES_MAX, TogetherFile, evidence, together};

use crate::error::Result;
use crate::store::{FileRecord, FileTable};
use crate::update::{Document, DocumentBatch, DocumentRequest, Source};
use crate::walk::{WalkOptions, Walked, WalkedFile};

/// Version of the documents of a history: raise it whenever their texts, mentions or times change. Changes of the index
/// or the table raise [`FORMAT_VERSION`](crate::store::FORMAT_VERSION), which applies to a history too.
pub const HISTORY_VERSION: u32 = 2;
/// The language of a commit in the table.
const COMMIT: &str = "commit";
const SESSION: &str = "session";

/// Whether a document of a history is a commit. Its path is the commit's full name then, else the transcript's path.
pub fn is_commit(record: &FileRecord) -> bool {
    record.language == COMMIT
}

/// Runs git. An implementation ensures that git runs no program that a repository names.
pub trait Git: Sync {
    /// Git's standard output when it is run in the repository with `args` and reads `input`.
    ///
    /// # Errors
    /// When it can't be run, or fails.
    fn ask(&self, args: &[&str], input: &str) -> std::io::Result<Vec<u8>>;
}

/// The sources of a history's entries.
#[derive(Clone, Copy)]
pub struct HistorySource<'a> {
    /// Reads the repository's commits, if there is one.
    pub git: Option<&'a dyn Git>,
    /// The folder that the repository's worktrees share.
    pub common: &'a std::path::Path,
    pub sessions: &'a TranscriptFolders,
}

impl std::fmt::Debug for HistorySource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("History")
            .field("common", &self.common)
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}

impl Source for HistorySource<'_> {
    fn version(&self) -> u32 {
        HISTORY_VERSION
    }

    fn list(&self, known: Option<&FileTable>, _: &WalkOptions) -> Result<Walked> {
        let mut walked = Walked::default();
        if let Some(git) = self.git {
            commits::list(git, self.common, known, &mut walked)?;
        }
        self.sessions.list(known, &mut walked);
        walked.files.sort_unstable();
        walked.unreadable.sort_unstable();
        Ok(walked)
    }

    fn begin<'s>(&'s self, round: &[WalkedFile]) -> Result<Box<dyn DocumentBatch + 's>> {
        let commits = self.git.map(|git| commits::read(git, round)).transpose()?;
        Ok(Box::new(EntryReader { commits: commits.unwrap_or_default(), sessions: self.sessions }))
    }

    fn round_max(&self) -> usize {
        commits::ROUND_MAX
    }
}

/// Some entries, ready to be read.
struct EntryReader<'a> {
    commits: commits::Read,
    sessions: &'a TranscriptFolders,
}

impl DocumentBatch for EntryReader<'_> {
    fn read(&self, asked: &DocumentRequest<'_>) -> Result<Document> {
        let record = asked.record.clone();
        Ok(match self.commits.get(&asked.found.path) {
            Some(commit) => commit.document(record),
            None if commits::is_name(&record.path) => commits::unreadable(record),
            None => self.sessions.document(record),
        })
    }
}

/// The roots of worktrees, which resolve paths as an agent writes them.
#[derive(Clone, Debug, Default)]
pub struct Roots(Vec<PathBuf>);
