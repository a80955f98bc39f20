//! A folder that the servers answer about: its index as it was opened last, and whether it changed since.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use colgrep_cluster::FileProgress;
use colgrep_engine::project::Project;
use colgrep_engine::project::model::Model;
use colgrep_index::store::Snapshot;

use super::changes::FolderWatcher;
use anyhow::{Result, bail};

use super::unserved::{NotServed, Trouble, Unserved};

/// One folder that the server answers about.
pub struct Root {
    /// The folder, absolute.
    pub folder: PathBuf,
    pub project: Project,
    /// The folder from the project's root.
    pub below: String,
    /// Locked by each call that wants the index: one alone opens it or brings it up to date, which may take long.
    pub(super) opening: Mutex<()>,
    /// Whether one is doing so.
    pub(super) is_opening: AtomicBool,
    /// The index as it was opened last.
    held: Mutex<Option<Arc<Snapshot>>>,
    /// Why that was not compared with the files, where it was not.
    unlike: Mutex<Option<String>>,
    /// How many files are up to date in it, if not all.
    known: Mutex<Option<FileProgress>>,
    /// The model that the root's settings choose; opened when first needed.
    pub(super) model: OnceLock<Option<Model>>,
    pub(super) changes: FolderWatcher,
    /// Whether vectors are being made in the background.
    pub(super) encoding: AtomicBool,
    /// Whether the index was opened once.
    pub(super) ready: AtomicBool,
    /// Whether the last update could not write the index for want of room.
    pub(super) no_room: AtomicBool,
    /// Why it can't be served, where that is known.
    pub(super) trouble: Mutex<Option<Trouble>>,
}

impl Root {
    /// A root whose index is not open yet; begins to watch it.
    pub(super) fn new(folder: PathBuf, project: Project, below: String) -> Root {
        let changes = FolderWatcher::watch(&project);
        let (opening, is_opening) = (Mutex::default(), false.into());
        let (held, unlike, known) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (model, encoding, ready, no_room) = (OnceLock::new(), false.into(), false.into(), false.into());
        let trouble = Mutex::default();
        Root {
            folder,
            project,
            below,
            opening,
            is_opening,
            held,
            unlike,
            known,
            model,
            changes,
            encoding,
            ready,
            no_room,
            trouble,
        }
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Option<Arc<Snapshot>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn unlike(&self) -> MutexGuard<'_, Option<String>> {
        self.unlike.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Option<FileProgress>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many files are up to date in the index of the last call, if not all.
    pub fn known_files(&self) -> Option<FileProgress> {
        *self.known()
    }

    /// Whether vectors are being made in the background.
    pub fn is_encoding(&self) -> bool {
        self.encoding.load(Ordering::Acquire)
    }

    /// Takes over whether an update found no room, if one tells.
    pub(super) fn hears_of_room(&self, has_no_room: Option<bool>) {
        if let Some(has_no_room) = has_no_room {
            self.no_room.store(has_no_room, Ordering::Release);
        }
    }

    /// Whether the index was opened once, so that answers need not wait for a first build.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Whether the last update could not write the index for want of room.
    pub fn has_no_room(&self) -> bool {
        self.no_room.load(Ordering::Acquire)
    }

    /// Whether the next call looks for changes.
    pub fn is_stale(&self) -> bool {
        self.changes.stale.load(Ordering::Acquire) || !self.is_watched()
    }

    /// Whether changes are noticed as they happen.
    pub fn is_watched(&self) -> bool {
        self.changes.are_noticed(&self.project.root)
    }

    /// The index as it was opened last. Opens nothing, and waits for nobody who does.
    pub fn opened(&self) -> Option<Arc<Snapshot>> {
        self.held().clone()
    }

    /// The index without an update; `None` if it can't be opened.
    pub fn as_it_is(&self) -> Option<Arc<Snapshot>> {
        self.opened().or_else(|| self.project.store.open().ok().map(Arc::new))
    }

    /// How current the index of the last call is, in words.
    pub fn freshness(&self) -> String {
        if let Some(Unserved { why, .. }) = self.trouble() {
            return format!("not served: {why}");
        }
        let Some(snapshot) = self.opened() else { return "not asked yet".to_string() };
        let files = snapshot.files.files.len();
        if let Some(why) = &*self.unlike() {
            return format!("not compared with the files: {why}");
        }
        let is_watched = self.is_watched() && !self.is_opening.load(Ordering::Acquire);
        match (snapshot.files.complete, self.changes.stale.load(Ordering::Acquire), is_watched) {
            (false, ..) => format!("in part, {files} files so far; the rest is being read"),
            (true, false, true) => "current".to_string(),
            _ => "current when it was asked".to_string(),
        }
    }

    /// Closes the index: the next call compares everything again.
    pub fn forget(&self) {
        *self.held() = None;
        self.changes.stale.store(true, Ordering::Release);
    }
}

/// Fails where a root's folder is gone.
///
/// # Errors
/// When it is.
pub(super) fn check_folder(root: &Root) -> Result<()> {
    if !root.folder.is_dir() {
        bail!(NotServed(format!("{} is no longer a folder", root.folder.display())));
    }
    Ok(())
}

impl Root {
    pub(super) fn known_trouble(&self) -> MutexGuard<'_, Option<Trouble>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why it can't be served, as far as that is known.
    pub fn trouble(&self) -> Option<Unserved> {
        let known = self.known_trouble();
        known.as_ref().map(|trouble| Unserved { root: self.folder.display().to_string(), why: trouble.why.clone() })
    }
}
