//! The history of a project: commits, and agents' sessions where the user names folders of them.
//!
//! [`HistoryPlace`] finds it, [`HistoryPlace::open`] brings its index up to date, and [`OpenHistory::ask`] answers.
//! A plain search does not open it.

pub mod cochange;

mod ask;
mod earlier;
mod paths;
mod when;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use colgrep_index::ErrorKind;
use colgrep_index::history::{HistorySource, TogetherFile, TranscriptFolders};
use colgrep_index::store::{Snapshot, Store, history_folder};
use colgrep_index::update::{Encoding, Updater};
use colgrep_index::worktree;

pub use ask::{Absent, EntrySource, HistoryAnswer, HistoryEntry, HistoryRequest};
pub use earlier::Earlier;
pub use when::Bound;

use crate::error::{Refused, Result};
use crate::notice::{HistoryState, Listener, Notice};
use crate::project::Project;
use crate::project::damage::{Suspicion, damage, guarded, repair_after};
use crate::project::git::GitRepository;
use crate::project::model::{MissingVectors, Model};
use crate::settings::Settings;
use crate::settings::env::Env;

#[derive(Clone, Debug)]
pub struct HistoryPlace {
    pub store: Store,
    /// The project's root.
    pub root: PathBuf,
    repository: Option<worktree::WorktreeRepository>,
    /// Where git is looked for.
    programs: OsString,
    sessions: TranscriptFolders,
}

impl HistoryPlace {
    /// The history of the project around `start`.
    ///
    /// # Errors
    /// When there is no such path, or no source of history: neither a git repository nor the setting `sessions`.
    pub fn around(start: &Path, settings: &Settings, env: &Env) -> Result<HistoryPlace> {
        let (project, _) = Project::around(start, env)?;
        HistoryPlace::of(&project, settings, env)
    }

    /// The history of a project.
    pub fn of(project: &Project, settings: &Settings, env: &Env) -> Result<HistoryPlace> {
        let root = project.root.canonicalize().unwrap_or_else(|_| project.root.clone());
        let repository = worktree::WorktreeRepository::around(&root);
        let folders = settings.sessions(env);
        if repository.is_none() && folders.is_empty() {
            return Err(Refused::NoHistory { root, names_folders: false }.into());
        }
        let roots = repository.as_ref().map_or_else(|| vec![root.clone()], |repository| repository.tops.clone());
        let folder = folder_of(&env.data_folder()?, &root, repository.as_ref());
        let programs = project.programs.clone();
        Ok(HistoryPlace {
            store: Store::new(folder),
            root,
            repository,
            programs,
            sessions: TranscriptFolders::new(folders, roots),
        })
    }

    /// The indexes of histories that the project at `root` has or had, whatever the settings and the tree are now: that
    /// of the repository around it, of its own repository, and of no repository. For a root that is gone, the
    /// repository around it is ignored.
    ///
    /// # Errors
    /// When the environment names no folder for indexes.
    pub fn stores_of(root: &Path, env: &Env) -> Result<Vec<Store>> {
        let data = env.data_folder()?;
        let own = worktree::WorktreeRepository { common: root.join(".git"), ..worktree::WorktreeRepository::default() };
        let around = if root.is_dir() { worktree::WorktreeRepository::around(root) } else { None };
        let repositories = [None, Some(own), around];
        let mut folders: Vec<PathBuf> =
            repositories.iter().map(|repository| folder_of(&data, root, repository.as_ref())).collect();
        folders.sort();
        folders.dedup();
        Ok(folders.into_iter().map(Store::new).collect())
    }

    /// Whether there is a repository.
    pub fn is_repository(&self) -> bool {
        self.repository.is_some()
    }

    /// A number that changes whenever a branch of the repository or a worktree's head moves; none without a repository.
    pub(crate) fn stamp(&self) -> Option<u64> {
        self.repository.as_ref().map(|repository| worktree::stamp(&repository.common))
    }

    /// The root from which the history's paths go: the worktree's, or the project's where there is no repository.
    fn top(&self) -> &Path {
        self.repository.as_ref().map_or(&self.root, |repository| &repository.top)
    }

    /// The roots of all worktrees: a path below one is the same file as below the others.
    fn tops(&self) -> &[PathBuf] {
        self.repository.as_ref().map_or(std::slice::from_ref(&self.root), |repository| &repository.tops[..])
    }

    /// The repository, as git is asked about it in the worktree at `top`.
    fn git(&self, top: &Path) -> GitRepository {
        GitRepository::new(top.to_path_buf(), self.programs.clone())
    }

    /// Whether the clone is shallow, so that only the newest part of the history is available.
    pub fn is_shallow(&self) -> bool {
        self.repository.as_ref().is_some_and(|repository| repository.common.join("shallow").exists())
    }

    /// Opens the history and answers a request; a damaged index is rebuilt, once.
    ///
    /// # Errors
    /// As [`HistoryPlace::open`] and [`OpenHistory::ask`]; and outside a repository where no session ran here.
    pub fn answer(
        &self,
        request: &HistoryRequest,
        (settings, env): (&Settings, &Env),
        model: Option<&Model>,
        listener: &dyn Listener,
    ) -> Result<HistoryAnswer> {
        self.repaired(listener, || {
            let history = self.open(model, listener)?;
            if !self.is_repository() && history.snapshot.files.indexed().next().is_none() {
                return Err(Refused::NoHistory { root: self.root.clone(), names_folders: true }.into());
            }
            history.ask(request, settings, env, model)
        })
    }

    /// Does `work` on the index; a damaged index is rebuilt, once.
    pub(crate) fn repaired<T>(&self, listener: &dyn Listener, work: impl Fn() -> Result<T>) -> Result<T> {
        match guarded(&work) {
            Err(error) if damage(&error).is_some() => {
                listener.notice(&Notice::Damaged(damage(&error).unwrap_or_default()));
                repair_after(&error, &self.store, self.store.open().ok().as_ref(), Suspicion::Certain)?;
                guarded(&work)
            }
            done => done,
        }
    }

    /// Brings the index up to date and opens it. Where another process is writing it, its current state is searched.
    ///
    /// # Errors
    /// When git does not answer, or the index can be neither read nor built.
    pub fn open(&self, model: Option<&Model>, listener: &dyn Listener) -> Result<OpenHistory> {
        let encoding = model.and_then(|model| model.encoding_of_search(None));
        let snapshot = match self.update(false, encoding.as_ref(), listener) {
            Ok(snapshot) => snapshot,
            // What is there is better than nothing; before the first commit there is nothing.
            Err(error) if error.kind() == ErrorKind::Busy => match self.store.open() {
                Ok(snapshot) => {
                    listener.notice(&Notice::HistoryAsItIs);
                    snapshot
                }
                Err(_) => self.update(true, encoding.as_ref(), listener)?,
            },
            Err(error) => return Err(error.into()),
        };
        if listener.hears()
            && let Some(lacking) = model.and_then(|m| m.lacking(&snapshot))
        {
            listener.notice(&match lacking.what {
                MissingVectors::Units { without, all } => Notice::HistoryLacks { without, all },
                _ => Notice::Lacking { lacking, is_being_built: self.store.is_locked(), is_done_behind: false },
            });
        }
        Ok(OpenHistory { place: self.clone(), snapshot: Arc::new(snapshot) })
    }

    fn update(
        &self,
        wait: bool,
        encoding: Option<&Encoding<'_>>,
        listener: &dyn Listener,
    ) -> colgrep_index::Result<Snapshot> {
        let git = self.repository.is_some().then(|| self.git(self.top()));
        let common = self.repository.as_ref().map_or(&self.root, |repository| &repository.common);
        let git = git.as_ref().map(|git| git as &dyn colgrep_index::history::Git);
        let source = HistorySource { git, common, sessions: &self.sessions };
        let (progress, stops) = (listener.progress(), || listener.stops());
        let updater = Updater::new(&self.store, common).source(&source).wait(wait).encoding(encoding);
        Ok(updater.progress(&*progress).interrupted(&stops).run()?.0)
    }

    /// The indexed state; `None` if nothing is indexed yet.
    pub fn state(&self) -> Option<HistoryState> {
        let snapshot = self.store.open().ok()?;
        Some(HistoryState::of(&snapshot, self.is_shallow(), self.store.bytes_on_disk()))
    }
}

/// The folder of the index of a repository's history, or of the history of `root` outside any repository.
fn folder_of(data: &Path, root: &Path, repository: Option<&worktree::WorktreeRepository>) -> PathBuf {
    match repository {
        Some(repository) => history_folder(data, &repository.name(), &repository.common),
        None => history_folder(data, &root.file_name().unwrap_or_default().to_string_lossy(), root),
    }
}

#[derive(Clone, Debug)]
pub struct OpenHistory {
    pub(crate) place: HistoryPlace,
    pub snapshot: Arc<Snapshot>,
}

impl OpenHistory {
    /// Files that changed together with the one at `path` in past commits, strongest first. Paths are from the project's
    /// root; commits of more than 20 files are left out.
    pub fn together(&self, path: &str) -> Result<Vec<TogetherFile>> {
        let from_top = self.place.below_root(path);
        let others = colgrep_index::history::together(&self.snapshot, &from_top)?.into_iter();
        let here = |other: TogetherFile| Some(TogetherFile { path: self.place.in_project(&other.path)?, ..other });
        Ok(others.filter_map(here).collect())
    }

    /// Files that past commits like the question changed, the strongest first, each with its share of the strongest (1).
    /// Paths are from the project's root.
    pub fn evidence(&self, question: &str, knobs: &colgrep_core::knob::Knobs) -> Result<Vec<(String, f32)>> {
        Ok(self.in_project(colgrep_index::history::evidence(&self.snapshot, question, knobs)?))
    }

    fn in_project(&self, files: Vec<(String, f32)>) -> Vec<(String, f32)> {
        files.into_iter().filter_map(|(path, share)| Some((self.place.in_project(&path)?, share))).collect()
    }
}
