//! Notices: what happens while a project is opened and searched, as data. The caller decides what to show.

use std::path::PathBuf;

use colgrep_core::UnitId;
use colgrep_core::rank::Ranked;
use colgrep_index::history::{Unknown, is_commit};
use colgrep_index::store::{Coverage, Snapshot};
use colgrep_index::update::Progress;
use colgrep_index::walk::walk;
use colgrep_search::{CorpusAnswer, Timing};
use colgrep_syntax::read::Skip;
use serde::Serialize;

use crate::project::Project;
use crate::project::model::{Lacking, Model};
use crate::request::structure::StructureCoverage;

/// Receives notices, progress and ranking steps. Every method has a default that ignores them.
pub trait Listener: Send + Sync {
    /// Whether notices are wanted: making some walks the whole tree.
    fn hears(&self) -> bool {
        false
    }

    /// Something worth knowing.
    fn notice(&self, _: &Notice) {}

    /// Watches an update; dropped when that is over.
    fn progress(&self) -> Box<dyn Progress + '_> {
        Box::new(())
    }

    /// Whether the work should stop: an update keeps what it has done, a search is an error. It is called often, and from
    /// many threads.
    fn stops(&self) -> bool {
        false
    }

    /// Whether ranking steps are wanted.
    fn traces(&self) -> bool {
        false
    }

    fn trace(&self, _query: &str, _step: &Traced<'_>) {}
}

/// Ignores everything.
impl Listener for () {}

/// A step of a ranking.
#[derive(Debug)]
#[non_exhaustive]
pub enum Traced<'a> {
    /// What a retriever gave, or their fusion: units with scores, best first.
    Ranking(&'static str, &'a [(UnitId, f32)]),
    /// The order after a stage.
    Stage(&'static str, &'a Ranked<'a>),
    Final(&'a CorpusAnswer),
    /// How long the parts of the search took.
    Timing(&'a Timing),
}

/// Something worth knowing about an index or an answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// The index was searched though its build was not finished.
    Incomplete(IndexState),
    /// An update had no time for all files; the answer is from those that it reached.
    Unfinished {
        /// How many files it did not reach.
        unread: u64,
        /// Files in the tree.
        in_tree: u64,
        /// Whether a background process does the rest.
        is_done_behind: bool,
    },
    /// The index was made with walk options other than those requested; it keeps them.
    OtherWalk {
        /// The project's root.
        root: PathBuf,
    },
    /// Files larger than the limit were left out when a search built the index.
    TooLarge {
        files: u64,
        /// The limit, in bytes.
        filesize_max: u64,
    },
    /// The index could not be brought up to date; the answer is from what there is.
    AsItIs { why: NotUpdated, state: IndexState },
    /// Another process builds the index for the first time, and nothing of it can be searched yet.
    WaitsForFirstPart,
    /// The answer is from the first part of what another process builds.
    FirstPart(IndexState),
    /// The ranking by meaning lacks vectors.
    Lacking {
        lacking: Lacking,
        /// Whether another process is making them already.
        is_being_built: bool,
        /// Whether a background process makes them.
        is_done_behind: bool,
    },
    /// Nothing of a path is indexed.
    NotRanked(NotRanked),
    /// Something below what is searched can't be read, so no answer comes from it.
    Unreadable {
        /// The project's root.
        root: PathBuf,
        /// The first path from there.
        first: String,
        /// How many files and folders.
        paths: usize,
    },
    /// The file that the reader has open is not indexed, so what it imports and calls is not known.
    NearUnknown(NotRanked),
    /// The library that the model loaded and is run by, where ranking steps are wanted.
    Runtime(PathBuf),
    /// The repository was moved, and its index is taken over.
    Moved {
        /// The former root.
        from: PathBuf,
    },
    /// The index is damaged; the damaged part is rebuilt.
    Damaged(String),
    /// Files in which a structural pattern was not matched.
    Unsearched {
        coverage: StructureCoverage,
        /// Whether nothing was found elsewhere.
        is_all: bool,
    },
    /// Another process writes the index of the history; its current state is searched.
    HistoryAsItIs,
    /// The ranking of a history by meaning lacks vectors; the next questions make them.
    HistoryLacks {
        /// Entries without vectors.
        without: u64,
        all: u64,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HistoryState {
    pub commits: u64,
    /// Turns of agents' sessions.
    pub turns: u64,
    pub sessions: u64,
    /// Lines of transcripts that were not understood.
    pub unknown: Unknown,
    /// Whether the clone has only the newest part of its history.
    pub is_shallow: bool,
    /// Bytes on disk.
    pub bytes: u64,
}

impl HistoryState {
    /// The state of an index of a history.
    pub fn of(snapshot: &Snapshot, is_shallow: bool, bytes: u64) -> HistoryState {
        let mut state =
            HistoryState { unknown: Unknown::of(&snapshot.files), is_shallow, bytes, ..HistoryState::default() };
        for record in snapshot.files.indexed() {
            if is_commit(record) {
                state.commits += 1;
            } else {
                state.sessions += 1;
                state.turns += u64::from(record.units);
            }
        }
        state
    }
}

/// Why an index could not be brought up to date.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotUpdated {
    /// Another process writes it.
    Busy,
    Failed {
        /// Why, with all causes.
        why: String,
        /// The system's message, if it refuses to report changes of a stored file.
        refused: Option<std::io::ErrorKind>,
    },
}

/// A path of which nothing is indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRanked {
    /// The project's root.
    pub root: PathBuf,
    /// The path from there.
    pub path: String,
    pub why: Unranked,
}

impl Notice {
    /// Whether it says that something can't be read.
    pub fn is_of_unreadable(&self) -> bool {
        match self {
            Notice::Unreadable { .. } => true,
            Notice::NotRanked(of) => of.why.is_unreadable(),
            _ => false,
        }
    }
}

/// Why nothing of a path is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unranked {
    Skipped(Skip),
    /// It can't be read.
    Unreadable,
    Hidden,
    /// It is hidden, and its name is one of keys and passwords.
    HiddenSecret,
    /// It is newer than the index, which was not compared with the tree.
    New,
    /// An ignore file or a setting leaves it out.
    Ignored,
    /// The same, and git tracks it.
    IgnoredTracked,
    /// It is in another worktree of the repository.
    OtherCheckout,
    /// It is a folder that is ignored, or whose files are all skipped.
    NothingInside,
}

impl Unranked {
    /// Whether it is there and can't be read.
    pub fn is_unreadable(self) -> bool {
        matches!(self, Unranked::Unreadable | Unranked::Skipped(Skip::Unreadable))
    }
}

/// How much of a project is in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexState {
    /// Files that the index has read, with those that it then skipped.
    pub files_read: u64,
    /// Files in the tree, which the skipped ones are part of: the number stays the same while a build goes on. None where
    /// the tree can't be walked.
    pub files_in_tree: Option<u64>,
    /// Units with vectors, where a model is used and some lack them.
    pub vectors: Option<Coverage>,
}

impl IndexState {
    /// Compares an index with the tree. It walks the tree.
    pub fn of(project: &Project, snapshot: &Snapshot, model: Option<&Model>) -> IndexState {
        let read = snapshot.files.files.len();
        let walked = walk(&project.root, &project.left_out(), &snapshot.files.walk_options());
        IndexState {
            files_read: read as u64,
            files_in_tree: walked.ok().map(|walked| walked.files.len().max(read) as u64),
            vectors: model.is_some_and(|m| m.lacks(snapshot)).then(|| snapshot.coverage()),
        }
    }
}
