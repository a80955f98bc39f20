//! Files on the disk: read whole, and written together, all or none.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use colgrep_index::disk::read_regular;

/// Largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Longest chain of links that is followed.
const LINKS_MAX: usize = 40;
/// Age from which a temporary file counts as abandoned by its writer.
const LEFT_BEHIND: std::time::Duration = std::time::Duration::from_secs(5);

/// A file's text; `None` where there is no file.
///
/// # Errors
/// When there is one and it can't be read as text: a clone may have a pipe there, which is not waited for.
pub fn read(path: &Path) -> Result<Option<String>> {
    let text = || String::from_utf8(read_regular(path, FILE_BYTES_MAX)?).map_err(io::Error::other);
    match text() {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
    }
}

/// Resolves a link to its target, which need not exist. A path that is no link is returned unchanged.
///
/// # Errors
/// When links lead in a circle.
pub fn followed(path: PathBuf) -> Result<PathBuf> {
    let mut real = path.clone();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&real) {
            Ok(target) => real = real.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(real),
        }
    }
    bail!("the links at {} lead in a circle; nothing was changed", path.display())
}

/// The missing folders above `path`, innermost first.
pub fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|f| !f.as_os_str().is_empty() && !f.exists());
    above.map(Path::to_path_buf).collect()
}

/// One file's new text.
pub struct Write {
    /// The file; not a link.
    pub path: PathBuf,
    /// Its current content; `None` if it does not exist.
    pub before: Option<String>,
    /// Its new content; `None` removes the file.
    pub after: Option<String>,
    /// Whether a new file is readable by its owner alone.
    pub secret: bool,
}

impl Write {
    fn beside(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.colgrep-{}", std::process::id()))
    }

    /// Removes what writers of this file left that were killed some time ago ([`LEFT_BEHIND`]); the number of a process may
    /// be another one's elsewhere.
    fn remove_leftovers(&self) {
        let own = self.beside();
        let name = own.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let front = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_old = |entry: &fs::DirEntry| {
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LEFT_BEHIND))
        };
        for entry in fs::read_dir(own.parent().unwrap_or(Path::new(""))).into_iter().flatten().flatten() {
            let found = entry.file_name().to_string_lossy().into_owned();
            let number = found.strip_prefix(front).unwrap_or_default();
            let is_ours = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
            if is_ours && is_old(&entry) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Writes the new text to a temporary file in the same folder. Records the folders that it makes.
    fn prepare(&self, made: &mut Vec<PathBuf>) -> Result<()> {
        let mut prepare = || -> std::io::Result<()> {
            let permissions = match self.before {
                Some(_) => Some(fs::metadata(&self.path)?.permissions()),
                None => None,
            };
            if permissions.as_ref().is_some_and(fs::Permissions::readonly) {
                return Err(std::io::ErrorKind::PermissionDenied.into());
            }
            if permissions.is_some() {
                fs::OpenOptions::new().append(true).open(&self.path)?;
            }
            let Some(text) = &self.after else { return Ok(()) };
            made.extend(missing_folders(&self.path));
            fs::create_dir_all(self.path.parent().unwrap_or(Path::new("")))?;
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            if self.secret || permissions.is_some() {
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            }
            self.remove_leftovers();
            let mut file = options.open(self.beside())?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        prepare().with_context(|| format!("could not write {}; nothing was changed", self.path.display()))
    }

    /// Replaces the file with the new text in one rename.
    fn commit(&self) -> Result<()> {
        let done = match self.after {
            Some(_) => fs::rename(self.beside(), &self.path),
            None => fs::remove_file(&self.path),
        };
        done.with_context(|| format!("could not write {}; nothing was changed", self.path.display()))
    }

    fn reversed(&self) -> Write {
        let (before, after) = (self.after.clone(), self.before.clone());
        Write { path: self.path.clone(), before, after, secret: self.secret }
    }
}

/// Writes all files, or none: whatever can fail is done before the first is touched, and what fails then is undone.
///
/// # Errors
/// When a file can't be written.
pub fn write_all(writes: &[Write]) -> Result<()> {
    let (mut made, mut done) = (Vec::new(), 0);
    let mut written = writes.iter().try_for_each(|w| w.prepare(&mut made));
    if written.is_ok() {
        written = writes.iter().try_for_each(|w| w.commit().inspect(|()| done += 1));
    }
    if written.is_err() {
        for write in writes[..done].iter().rev().map(Write::reversed) {
            let _ = write.prepare(&mut Vec::new()).and_then(|()| write.commit());
        }
        writes.iter().for_each(|w| drop(fs::remove_file(w.beside())));
        remove_empty(made);
    }
    written
}

pub fn remove_empty(mut folders: Vec<PathBuf>) {
    // Innermost first.
    folders.sort_by_key(|f| std::cmp::Reverse(f.components().count()));
    folders.iter().for_each(|f| drop(fs::remove_dir(f)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_written_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, before: Option<&str>, after: Option<&str>| Write {
            path: folder.path().join(name),
            before: before.map(str::to_string),
            after: after.map(str::to_string),
            secret: false,
        };
        fs::write(folder.path().join("a"), "old").unwrap();
        fs::write(folder.path().join("b"), "old").unwrap();
        // The last fails after the others are in their places: a folder can't be replaced by a file.
        fs::create_dir(folder.path().join("d")).unwrap();
        let all =
            [write("a", Some("old"), Some("new")), write("b", Some("old"), None), write("c/c", None, Some("new"))];
        let failing: Vec<Write> =
            all.iter().map(|w| w.reversed().reversed()).chain([write("d", None, Some("new"))]).collect();
        assert!(write_all(&failing).is_err());
        let names = || {
            let mut names: Vec<_> =
                fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(), ["a", "b", "d"]);
        assert_eq!(read(&folder.path().join("a")).unwrap().as_deref(), Some("old"));
        assert_eq!(read(&folder.path().join("b")).unwrap().as_deref(), Some("old"));
        write_all(&all).unwrap();
        assert_eq!(names(), ["a", "c", "d"]);
        assert_eq!(read(&folder.path().join("c/c")).unwrap().as_deref(), Some("new"));

        // A killed writer of the same number left its file; another one may be at work.
        let own = folder.path().join(format!(".a.colgrep-{}", std::process::id()));
        fs::write(&own, "half").unwrap();
        let then = std::time::SystemTime::now() - 2 * LEFT_BEHIND;
        fs::File::options().append(true).open(&own).unwrap().set_modified(then).unwrap();
        fs::write(folder.path().join(".a.colgrep-0"), "other").unwrap();
        write_all(&[write("a", Some("new"), Some("newer"))]).unwrap();
        assert_eq!(names(), [".a.colgrep-0", "a", "c", "d"]);
        assert_eq!(read(&folder.path().join("a")).unwrap().as_deref(), Some("newer"));
    }
}
