//! Locks in a project's folder: the write lock, which one process at a time holds, and two files that signal a waiting
//! process or background work.

use std::fs::{File, TryLockError};
use std::io::ErrorKind::NotFound;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use same_file::Handle;

use super::Store;
use crate::disk::{keep_private, open_regular, private};
use crate::error::{Error, Result};

/// Maximum wait for the write lock: longer than the first build of all but the largest projects.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1_800);
/// Pause between two attempts to take a lock that another process holds: the first, doubled up to the longest.
const LOOK_AFTER: Duration = Duration::from_millis(5);
const LOOK_AFTER_MAX: Duration = Duration::from_millis(20);

/// Lock files next to `lock`: each process that waits for the write lock locks `waiting`; the process that completes an
/// index in the background, while searches use it, locks `behind`.
const WAITING: &str = "waiting";
const BEHIND: &str = "behind";

/// Held by the one background process of an index; released when dropped, or when the process ends.
#[derive(Debug)]
pub struct BehindLock {
    _file: File,
}

/// The write lock; released when dropped, or by the system when the process ends.
#[derive(Debug)]
pub struct WriteLock {
    _file: File,
}

impl Store {
    pub(super) fn lock_path(&self) -> PathBuf {
        self.folder().join("lock")
    }

    /// Takes the write lock. Waits at most half an hour for another writer if `wait`, else fails.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) while another process writes;
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the folder can't be created or is a link.
    pub fn lock(&self, wait: bool) -> Result<WriteLock> {
        self.lock_within(if wait { PATIENCE } else { Duration::ZERO }, &|| {})
    }

    /// Takes the write lock. Waits for another writer, but no longer than `patience`; `waits` is called once, before
    /// the wait begins.
    pub fn lock_within(&self, patience: Duration, waits: &dyn Fn()) -> Result<WriteLock> {
        self.lock_unless(&|| false, patience, waits)
    }

    /// The same, until `stops` is true.
    ///
    /// # Errors
    /// As [`Store::lock`], and [`Error::Stopped`].
    pub(crate) fn lock_unless(
        &self,
        stops: &dyn Fn() -> bool,
        patience: Duration,
        waits: &dyn Fn(),
    ) -> Result<WriteLock> {
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
            if stops() {
                return Err(Error::Stopped);
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

    /// Signals to other processes that this one waits for the write lock, until the returned file is dropped.
    fn wish(&self) -> Option<File> {
        let file = private().create(true).truncate(false).open(self.folder().join(WAITING)).ok()?;
        file.try_lock_shared().ok()?;
        Some(file)
    }

    /// Whether another process waits for the write lock. Creates no file.
    pub fn is_awaited(&self) -> bool {
        let file = open_regular(&self.folder().join(WAITING));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// The background lock, unless another process holds it or there is no index.
    pub fn behind_lock(&self) -> Option<BehindLock> {
        if !self.exists() {
            return None;
        }
        let file = private().create(true).truncate(false).open(self.folder().join(BEHIND)).ok()?;
        file.try_lock().ok()?;
        Some(BehindLock { _file: file })
    }

    /// Whether a background process works on this index.
    pub fn is_worked_behind(&self) -> bool {
        let file = open_regular(&self.folder().join(BEHIND));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Whether `name` is a lock file's.
    pub(super) fn is_lock(name: &str) -> bool {
        name == "lock" || name == WAITING || name == BEHIND
    }

    /// The write lock, or `None` while another process holds it. A folder or lock file that another process removes
    /// meanwhile is created again.
    fn try_lock(&self) -> Result<Option<WriteLock>> {
        let path = self.lock_path();
        // A link may lead outside the data folder: nothing is written or removed through one.
        let own = [self.folder().to_path_buf(), self.lexical_folder(), self.vectors_folder()];
        if let Some(link) = own.iter().find(|folder| folder.is_symlink()) {
            return Err(Error::io("open", link, std::io::Error::other("it is a link; remove it")));
        }
        self.check_owner()?;
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
            // The last holder may have removed the file meanwhile, and a lock on a removed file excludes nobody.
            let own = file.try_clone().and_then(Handle::from_file).map_err(|e| Error::io("lock", &path, e))?;
            match Handle::from_path(&path) {
                Ok(current) if current == own => return Ok(Some(WriteLock { _file: file })),
                Err(e) if e.kind() != NotFound => return Err(Error::io("open", &path, e)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Whether another process holds the write lock. Creates no file, and asks with a shared lock, so that several
    /// processes can ask at once.
    pub fn is_locked(&self) -> bool {
        let file = open_regular(&self.lock_path());
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}
