//! tantivy's directory for an index: files are sealed ([`super::sealed`]) and written through our [`Disk`].
//!
//! It differs from tantivy's own directory:
//!
//! * No locks. The store has its own, and tantivy's reader opens a lock file for writing, which fails on a read-only
//!   disk. A reader sees just the commit point that `Store::open` read, and is reopened if a later commit removed files.
//! * No list of files on disk. A writer first removes files that no commit names, which a kill during a commit leaves.
//! * The commit point has a checksum ([`super::commit`]).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{Directory, DirectoryLock, FileHandle, Lock, WatchCallback, WatchHandle, WritePtr};

use super::commit::{CommitPoint, META, is_segment_file, seal, unseal};
use super::sealed::{Sealed, SealedWriter};
use crate::disk::{Disk, read_regular};
use crate::error::is_damage;

/// tantivy's list of its files.
const LIST: &str = ".managed.json";

/// The folder of a lexical index.
#[derive(Clone, Debug)]
pub(super) struct IndexDirectory {
    folder: PathBuf,
    /// `None` for a reader.
    disk: Option<Disk>,
    /// The commit point that a reader follows, whatever is committed meanwhile.
    point: Option<Arc<[u8]>>,
}

impl IndexDirectory {
    pub(super) fn reader(folder: &Path, point: &CommitPoint) -> IndexDirectory {
        IndexDirectory { folder: folder.to_path_buf(), disk: None, point: Some(Arc::clone(&point.text)) }
    }

    /// A directory to write to. The caller holds the store's lock and has collected unreferenced files.
    pub(super) fn writer(folder: &Path, disk: &Disk) -> IndexDirectory {
        IndexDirectory { folder: folder.to_path_buf(), disk: Some(disk.clone()), point: None }
    }

    fn disk(&self) -> io::Result<&Disk> {
        self.disk.as_ref().ok_or_else(|| io::Error::other("a reader writes nothing"))
    }

    /// Records the failed read that ends a writer. Damage is reported and repaired as damage instead.
    fn note(&self, path: &Path, error: &io::Error) {
        if let Some(disk) = self.disk.as_ref().filter(|_| !is_damage(error)) {
            disk.note("read", path, error);
        }
    }

    /// The files of segments, in the format of tantivy's list.
    fn list(&self) -> io::Result<Vec<u8>> {
        let mut names = vec![META.to_string()];
        for entry in std::fs::read_dir(&self.folder)? {
            names.extend(entry?.file_name().into_string().ok().filter(|name| is_segment_file(name)));
        }
        Ok(serde_json::to_vec(&names)?)
    }
}

fn read_error(error: io::Error, path: &Path) -> OpenReadError {
    match error.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_path_buf()),
        _ => OpenReadError::wrap_io_error(error, path.to_path_buf()),
    }
}

/// A missing file of a segment is damage: tantivy would read missing positions as empty.
fn segment_error(error: io::Error, path: &Path) -> OpenReadError {
    let error = match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::InvalidData, format!("{} is missing", path.display())),
        _ => error,
    };
    OpenReadError::wrap_io_error(error, path.to_path_buf())
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let full = self.folder.join(path);
        let sealed = Sealed::open(&full).map_err(|error| {
            self.note(&full, &error);
            segment_error(error, path)
        })?;
        Ok(Arc::new(sealed))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let removed = self.disk().and_then(|disk| disk.remove(&self.folder.join(path)));
        removed.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_path_buf()),
            _ => DeleteError::IoError { io_error: Arc::new(error), filepath: path.to_path_buf() },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.folder.join(path).try_exists().map_err(|e| read_error(e, path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let full = self.folder.join(path);
        let file = self.disk().and_then(|disk| disk.create_new(&full)).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_path_buf()),
            _ => OpenWriteError::wrap_io_error(error, path.to_path_buf()),
        })?;
        Ok(WritePtr::new(Box::new(SealedWriter::new(file, path))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let read = || match path.to_str() {
            Some(LIST) if self.disk.is_some() => self.list(),
            Some(LIST) => Err(io::ErrorKind::NotFound.into()),
            _ => {
                let known = self.point.as_ref().filter(|_| path.to_str() == Some(META));
                let text =
                    known.map_or_else(|| read_regular(&self.folder.join(path), u64::MAX), |text| Ok(text.to_vec()))?;
                let damaged = || io::Error::new(io::ErrorKind::InvalidData, format!("{} is damaged", path.display()));
                Ok(unseal(&text).ok_or_else(damaged)?.to_vec())
            }
        };
        read().map_err(|error| {
            self.note(path, &error);
            read_error(error, path)
        })
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path.to_str() == Some(LIST) {
            return Ok(());
        }
        // tantivy indents it, which doubles its size; in a small index that matters.
        let json = serde_json::from_slice::<serde_json::Value>(data)?.to_string();
        self.disk()?.replace(&self.folder.join(path), &seal(json.as_bytes()))
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.disk()?.sync_folder(&self.folder)
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
