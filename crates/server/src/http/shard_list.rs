//! The repositories that a shard is to serve: the file that lists them, and what was last found of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use colgrep_cluster::HostedRepository;
use colgrep_index::disk::read_regular;
use colgrep_render::advice::for_tools;
use tracing::warn;

use super::named::{NamedRepository, is_name, named};
use crate::api::state::Root;

/// Maximum size of the file that lists repositories, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Interval of checks where the system reports no changes, so that each reads the tree.
const LOOK_AT_TREE: Duration = Duration::from_secs(10);
/// Interval of checks of a repository that can't be served.
const LOOK_AT_LOST: Duration = Duration::from_secs(2);

pub struct OwnRepository {
    /// Its name and folder.
    pub named: NamedRepository,
    /// Its root, once it could be opened.
    pub root: OnceLock<Arc<Root>>,
    looked: Mutex<Option<Looked>>,
    /// What was served under its name from another folder, until its own index is complete.
    before: Mutex<Option<HostedRepository>>,
}

/// What a look at a repository found, and when.
pub struct Looked {
    pub at: Instant,
    /// Its state, if it can be served.
    pub found: Option<HostedRepository>,
}

impl OwnRepository {
    /// A repository that was not looked at yet; `before` is what its name serves until its index is complete.
    pub fn new(named: NamedRepository, before: Option<HostedRepository>) -> OwnRepository {
        OwnRepository { named, root: OnceLock::new(), looked: Mutex::default(), before: Mutex::new(before) }
    }

    fn last(&self) -> MutexGuard<'_, Option<Looked>> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the last look found, for the next one.
    pub fn take(&self) -> Option<HostedRepository> {
        self.last().take().and_then(|looked| looked.found)
    }

    pub fn looked(&self, looked: Looked) {
        if looked.found.as_ref().is_some_and(is_whole) {
            *self.before.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        *self.last() = Some(looked);
    }

    /// What is served under its name.
    pub fn served(&self) -> Option<HostedRepository> {
        self.before
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .or_else(|| self.last().as_ref()?.found.clone())
    }

    /// Forgets what was found: an index may be damaged.
    pub fn forget(&self) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.last() = None;
    }

    /// Whether it is time for the next look.
    pub fn is_due(&self) -> bool {
        let is_noticed = self.root.get().is_some_and(|root| root.is_watched() || !root.folder.is_dir());
        self.last().as_ref().is_none_or(|looked| {
            // An update that finds no room is tried again as rarely as a repository that can't be served.
            let found = looked.found.as_ref().filter(|one| !one.has_no_room);
            looked.at.elapsed() >= pause(found.map(is_whole), is_noticed)
        })
    }
}

/// Whether an index knows all files as they are.
fn is_whole(found: &HostedRepository) -> bool {
    found.snapshot.files.complete && found.known_files.is_none()
}

/// How long after a look the next one is due. `is_whole` is whether the index that is served knows all files, `is_noticed`
/// whether a change would be noticed. Each repository has its own pause, so none waits for another one's tree.
fn pause(is_whole: Option<bool>, is_noticed: bool) -> Duration {
    match (is_whole, is_noticed) {
        (None, _) => LOOK_AT_LOST,
        (Some(true), false) => LOOK_AT_TREE,
        (Some(false), _) | (Some(true), true) => Duration::ZERO,
    }
}

/// Why the last updates of repositories failed, by their names.
pub type FailedUpdates = BTreeMap<String, String>;

/// The file that lists the repositories of a shard, one `NAME=PATH` a line, as the arguments name them. After
/// [`NOT_UPDATED`], what writes the file says which repository it could not update, and why.
pub struct RepositoryList {
    file: PathBuf,
    /// Its content when it was read last; `None` if it couldn't be.
    text: Option<Vec<u8>>,
    not_updated: FailedUpdates,
}

/// What a line begins with that says that an update failed. To other readers it is a comment.
const NOT_UPDATED: &str = "#! ";

impl RepositoryList {
    /// A file that was not read yet.
    pub fn new(file: PathBuf) -> RepositoryList {
        RepositoryList { file, text: None, not_updated: FailedUpdates::new() }
    }

    /// The repositories.
    ///
    /// # Errors
    /// When the file can't be read, or lists none or something else.
    pub fn read(&mut self) -> Result<Vec<NamedRepository>> {
        let text = read_regular(&self.file, FILE_BYTES_MAX);
        self.text = text.as_ref().ok().cloned();
        if let Some(text) = &self.text {
            let lines = String::from_utf8_lossy(text);
            let failed = lines.lines().filter_map(|line| line.strip_prefix(NOT_UPDATED)?.split_once(": "));
            let failed = failed.filter(|(name, _)| is_name(name));
            self.not_updated = failed.map(|(name, why)| (name.to_string(), why.to_string())).collect();
        }
        listed(&text.with_context(|| self.file.display().to_string())?, &self.file)
    }

    /// The updates that failed, by what could be read last.
    pub fn not_updated(&self) -> &FailedUpdates {
        &self.not_updated
    }

    /// The repositories, if the file has changed. A change that can't be understood is reported once, and is none.
    pub fn changed(&mut self) -> Option<Vec<NamedRepository>> {
        let before = self.text.take();
        let read = self.read();
        if self.text == before {
            return None;
        }
        let told = |error| {
            let why = for_tools(&error);
            warn!("the list of repositories is not taken over as it is now: {why}");
        };
        read.map_err(told).ok()
    }
}

fn listed(text: &[u8], file: &Path) -> Result<Vec<NamedRepository>> {
    let text = std::str::from_utf8(text).with_context(|| file.display().to_string())?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<PathBuf> = lines.map(PathBuf::from).collect();
    if lines.is_empty() {
        bail!("{} lists no repository", file.display());
    }
    named(&lines).with_context(|| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repository_has_its_own_pause() {
        for (is_whole, is_noticed, expected) in [
            (Some(true), true, Duration::ZERO),
            (Some(true), false, LOOK_AT_TREE),
            (Some(false), true, Duration::ZERO),
            (Some(false), false, Duration::ZERO),
            (None, true, LOOK_AT_LOST),
            (None, false, LOOK_AT_LOST),
        ] {
            assert_eq!(pause(is_whole, is_noticed), expected, "{is_whole:?} {is_noticed}");
        }
    }

    #[test]
    fn a_list_is_read_again_when_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("repositories");
        let write = |text: &str| std::fs::write(&file, text).expect("a file");
        let mut list = RepositoryList::new(file.clone());
        assert!(list.read().is_err(), "there is no file");
        write("# none yet\n");
        assert!(list.read().expect_err("empty").to_string().contains("lists no repository"));
        write("api=/nowhere/api\n\n  web=/nowhere/b=c\n");
        let names = |all: Vec<NamedRepository>| all.into_iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(list.read().expect("a list")), ["api", "web"]);
        assert!(list.changed().is_none() && list.not_updated().is_empty());
        write("api=/nowhere/api\n#! web: not fetched\n#! a/b: no name\n#! none\nweb=/nowhere/b=c\n");
        assert_eq!(list.changed().map(names), Some(vec!["api".to_string(), "web".to_string()]));
        let failed = FailedUpdates::from([("web".to_string(), "not fetched".to_string())]);
        assert_eq!(*list.not_updated(), failed);
        std::fs::remove_file(&file).expect("no file");
        assert!(list.changed().is_none());
        assert_eq!(*list.not_updated(), failed, "what was told last counts");
        write("api=/nowhere/api\napi=/nowhere/other\n");
        assert!(list.changed().is_none() && list.changed().is_none(), "two of a name");
        write("web=/nowhere/b=c\n");
        assert_eq!(list.changed().map(names), Some(vec!["web".to_string()]));
    }
}
