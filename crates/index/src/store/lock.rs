//! The right to write to a project's folder: one process at a time has it.

use std::fs::{File, TryLockError};
use std::io::ErrorKind::NotFound;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use same_file::Handle;

use super::Store;
use crate::disk::{keep_private, private};
use crate::error::{Error, Result};

/// How long an update that waits does so: longer than the first build of all but the largest projects.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1_800);
/// Time between two looks at a lock that another process has, at first and at most.
const LOOK_AFTER: Duration = Duration::from_millis(5);
const LOOK_AFTER_MAX: Duration = Duration::from_millis(20);

/// The files beside the lock: one is locked by whoever waits for it, one by the process that works behind searches.
const WAITING: &str = "waiting";
const BEHIND: &str = "behind";

/// The right to be the one process that works behind searches; given back when dropped, or when the process ends.
#[derive(Debug)]
pub struct BehindLock {
    _file: File,
}

/// The right to write; given back when dropped, or by the system when the process ends.
#[derive(Debug)]
pub struct WriteLock {
    _file: File,
}

impl Store {
    pub(super) fn lock_path(&self) -> PathBuf {
        self.folder().join("lock")
    }

    /// Takes the right to write. Waits for another writer if `wait`, at most half an hour, else fails.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) while another process writes; [`ErrorKind::Io`](crate::ErrorKind::Io) where the folder can't be made.
    pub fn lock(&self, wait: bool) -> Result<WriteLock> {
        self.lock_within(if wait { PATIENCE } else { Duration::ZERO }, &|| {})
    }

    /// Takes the right to write. Waits for another writer, but no longer than `patience`; `waits` is called once if it
    /// has to.
    ///
    /// # Errors
    /// As [`Store::lock`].
    pub fn lock_within(&self, patience: Duration, waits: &dyn Fn()) -> Result<WriteLock> {
        let started = Instant::now();
        let mut pause = LOOK_AFTER;
        let mut told = patience.is_zero();
        let mut wish = None;
        loop {
            if let Some(lock) = self.try_lock()? {
                keep_private(self.folder());
                return Ok(lock);
            }
            if started.elapsed() >= patience {
                return Err(Error::Busy(self.folder().to_path_buf()));
            }
            if !std::mem::replace(&mut told, true) {
                waits();
                wish = self.wish();
            }
            std::thread::sleep(pause);
            let _ = &wish;
            pause = (2 * pause).min(LOOK_AFTER_MAX);
        }
    }

    /// Says that somebody waits for the lock, until what it gives is dropped.
    fn wish(&self) -> Option<File> {
        let file = private().create(true).truncate(false).open(self.folder().join(WAITING)).ok()?;
        file.try_lock_shared().ok()?;
        Some(file)
    }

    /// Whether another process waits for the lock. Makes nothing.
    pub fn is_awaited(&self) -> bool {
        let file = File::open(self.folder().join(WAITING));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// The right to be the process that works behind searches, if no other is; none where there is no index.
    pub fn behind_lock(&self) -> Option<BehindLock> {
        if !self.exists() {
            return None;
        }
        let file = private().create(true).truncate(false).open(self.folder().join(BEHIND)).ok()?;
        file.try_lock().ok()?;
        Some(BehindLock { _file: file })
    }

    /// Whether a process works behind searches now.
    pub fn is_worked_behind(&self) -> bool {
        let file = File::open(self.folder().join(BEHIND));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Whether a file of the folder is one of those that are locked.
    pub(super) fn is_lock(name: &str) -> bool {
        name == "lock" || name == WAITING || name == BEHIND
    }

    /// The right to write, if no other process has it. What another process removes meanwhile is made again.
    fn try_lock(&self) -> Result<Option<WriteLock>> {
        let path = self.lock_path();
        // What a link leads to is somebody else's: nothing is written there, and nothing removed.
        let own = [self.folder().to_path_buf(), self.lexical_folder(), self.vectors_folder()];
        if let Some(link) = own.iter().find(|folder| folder.is_symlink()) {
            return Err(Error::io("open", link, std::io::Error::other("it is a link; remove it")));
        }
        for _ in 0..100 {
            self.disk().create_folder(self.folder())?;
            let file = match private().create(true).truncate(false).open(&path) {
                Err(e) if e.kind() == NotFound => continue,
                Err(_) if path.is_dir() => {
                    return Err(Error::io("open", &path, std::io::Error::other("it is a folder; remove it")));
                }
                file => file.map_err(|e| Error::io("open", &path, e))?,
            };
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                locked => locked.map_err(|e| Error::io("lock", &path, e.into()))?,
            }
            // Whoever held it before may have removed it: the lock of a file that has no name any more keeps nobody out.
            let own = file.try_clone().and_then(Handle::from_file).map_err(|e| Error::io("lock", &path, e))?;
            match Handle::from_path(&path) {
                Ok(current) if current == own => return Ok(Some(WriteLock { _file: file })),
                Err(e) if e.kind() != NotFound => return Err(Error::io("open", &path, e)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Whether another process has the right to write now. Makes nothing, and keeps no other that asks from the same
    /// answer.
    pub fn is_locked(&self) -> bool {
        let file = File::open(self.lock_path());
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}
