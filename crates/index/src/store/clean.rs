//! Clean-up of a project's folder: files that no commit names, or the whole folder.

use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::Path;

use super::{FileTable, Store, WriteLock};
use crate::error::{Error, Result};
use crate::lexical::{collect, named_files};
use crate::vector::VectorManifest;

impl Store {
    /// Removes the leftovers of killed and failed writers: all files that the commit point does not name. The caller
    /// holds the lock.
    ///
    /// # Errors
    /// When the index can't be read or the disk refuses.
    pub(crate) fn clean(&self, _lock: &WriteLock) -> Result<()> {
        let table = self.open()?.files;
        collect(&self.lexical_folder(), self.disk())?;
        self.remove_old(&table);
        self.clear_incoming();
        Ok(())
    }

    /// Removes file tables and segments of vectors that the current commit does not name; `table` is its file table. A
    /// file that can't be removed is left to the next clean-up.
    pub(super) fn remove_old(&self, table: &FileTable) {
        for folder in [self.folder(), &self.vectors_folder()] {
            let Ok(named) = self.named_in(folder, table) else { return };
            let is_own = |entry: &fs::DirEntry| folder != self.folder() || Store::is_own(entry);
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if !named(&entry.path()) && is_own(&entry) && entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
                    let _ = self.disk().remove(&entry.path());
                }
            }
        }
    }

    /// Returns a test for entries of `folder`, one of the store's folders: whether the current commit, whose file table
    /// is `table`, names them.
    ///
    /// # Errors
    /// Where the commit point can't be read.
    pub(crate) fn named_in(&self, folder: &Path, table: &FileTable) -> Result<impl Fn(&Path) -> bool + use<>> {
        let mut paths = vec![self.lock_path(), self.lexical_folder(), self.vectors_folder()];
        paths.push(self.table_path(self.generation()?));
        let vectors = table.vectors.iter().flat_map(VectorManifest::names);
        paths.extend(vectors.map(|name| self.vectors_folder().join(name)));
        let lexical = (folder == self.lexical_folder()).then(|| named_files(folder)).transpose()?;
        let is_top = folder == self.folder();
        Ok(move |path: &Path| {
            let name = path.file_name().and_then(|n| n.to_str());
            (is_top && name.is_some_and(Store::is_lock))
                || paths.iter().any(|p| p == path)
                || lexical.as_ref().zip(name).is_some_and(|(l, name)| l.contains(name))
        })
    }

    /// Whether the folder is an index by its name and content. The leftovers of a stopped first build or removal count,
    /// too.
    pub fn is_ours(&self) -> bool {
        let name = self.folder().file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.strip_suffix(".history").unwrap_or(&name);
        let hash = name.rsplit_once('-').map_or("", |(_, hash)| hash);
        hash.len() == 8
            && hash.bytes().all(|b| b.is_ascii_hexdigit())
            && self.lock_path().is_file()
            && (self.lexical_folder().is_dir() || self.holds_no_more_than_its_own())
    }

    /// Whether each entry of the folder has a name that an index uses.
    fn holds_no_more_than_its_own(&self) -> bool {
        fs::read_dir(self.folder()).is_ok_and(|mut entries| entries.all(|e| e.is_ok_and(|e| Store::is_own(&e))))
    }

    /// Whether an entry of the folder has a name that an index uses. Nothing else in the folder is ever removed.
    fn is_own(entry: &fs::DirEntry) -> bool {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| {
            let is_table = name.starts_with("files-") && (name.ends_with(".bin") || name.ends_with(".bin.new"));
            Store::is_lock(name) || is_table || name == "lexical" || name == "vectors"
        })
    }

    /// Removes the whole folder. The caller holds the lock.
    pub fn remove(&self, lock: &WriteLock) -> Result<()> {
        self.reset(lock, false)?;
        self.clear_incoming();
        if self.refused_path().exists() {
            let _ = self.disk().remove(&self.refused_path());
        }
        // Remove the lock file last: from then on another process may use the folder, which then is not empty and
        // stays.
        let path = self.lock_path();
        self.disk().remove(&path).map_err(|e| Error::io("remove", &path, e))?;
        let _ = self.disk().remove_folder(self.folder());
        Ok(())
    }

    /// Removes all files of the index but the lock file, and the vectors unless `keep_vectors`. The caller holds the
    /// lock.
    pub(crate) fn reset(&self, _lock: &WriteLock, keep_vectors: bool) -> Result<()> {
        // Remove the commit point first: a reader then finds no index rather than parts of one.
        let point = self.lexical_folder().join("meta.json");
        if point.exists() {
            self.disk().remove(&point).map_err(|e| Error::io("remove", &point, e))?;
        }
        let entries = fs::read_dir(self.folder()).map_err(|e| Error::io("read", self.folder(), e))?;
        for entry in entries.flatten().filter(Store::is_own) {
            let path = entry.path();
            let removed = match entry.file_type() {
                _ if keep_vectors && path == self.vectors_folder() => Ok(()),
                Ok(kind) if kind.is_dir() => self.disk().remove_all(&path),
                _ if path == self.lock_path() => Ok(()),
                _ => self.disk().remove(&path),
            };
            match removed {
                Err(e) if e.kind() != NotFound => return Err(Error::io("remove", &path, e)),
                _ => {}
            }
        }
        Ok(())
    }
}
