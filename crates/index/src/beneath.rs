//! Opening files beneath a folder: once, without links, so that what was checked is what is read.
//!
//! A path that is checked and then opened by its name can be exchanged for a link in between. Here the system resolves
//! the path while it opens the file, and refuses links. Windows has no such call: there the check comes first, and
//! somebody who may write to the folder can still win the race.

use std::fs::{File, Metadata};
use std::io;
#[cfg(not(unix))]
use std::path::PathBuf;
use std::path::{Component, Path};

/// Why a path with a link is refused.
const LINK: &str = "a link now, which is not followed";

/// A folder whose files are opened without following links.
#[derive(Debug)]
pub struct TreeFolder {
    #[cfg(unix)]
    folder: rustix::fd::OwnedFd,
    #[cfg(not(unix))]
    folder: PathBuf,
}

impl TreeFolder {
    /// Opens a folder; its own path may lead through links.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn open(path: &Path) -> io::Result<TreeFolder> {
        #[cfg(unix)]
        let folder = unix::folder(path)?;
        #[cfg(not(unix))]
        let folder = path.to_path_buf();
        Ok(TreeFolder { folder })
    }

    /// Opens what is at `inside`, a path below the folder, for reading. Waits for nothing, also where that is a pipe.
    ///
    /// # Errors
    /// When it can't be opened, is reached through a link, or would lie outside.
    pub fn file(&self, inside: &Path) -> io::Result<File> {
        if !inside.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(io::Error::other("a path that leads out of its folder"));
        }
        #[cfg(unix)]
        return unix::file(&self.folder, inside);
        #[cfg(not(unix))]
        {
            let mut full = self.folder.clone();
            for part in inside.components() {
                full.push(part);
                if full.symlink_metadata()?.is_symlink() {
                    return Err(io::Error::other(LINK));
                }
            }
            File::open(full)
        }
    }

    /// Opens the regular file at `inside`, with its metadata.
    ///
    /// # Errors
    /// As [`TreeFolder::file`], and [`io::ErrorKind::InvalidData`] if it is not a regular file.
    pub(crate) fn regular_file(&self, inside: &Path) -> io::Result<(File, Metadata)> {
        let file = self.file(inside)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no regular file"));
        }
        Ok((file, metadata))
    }
}

/// Opens the regular file at `inside` below `root`, with its metadata.
///
/// # Errors
/// As [`TreeFolder::regular_file`], and when there is no such folder.
pub(crate) fn open_beneath(root: &Path, inside: &str) -> io::Result<(File, Metadata)> {
    TreeFolder::open(root)?.regular_file(Path::new(inside))
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io;
    use std::path::{Component, Path};

    use rustix::fd::{AsFd, OwnedFd};
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;

    use super::LINK;

    const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
    const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

    /// Only to open what is below, for which no right to list the folder is needed.
    #[cfg(target_os = "linux")]
    const LOOKUP: OFlags = FOLDER.union(OFlags::PATH);
    #[cfg(not(target_os = "linux"))]
    const LOOKUP: OFlags = FOLDER.union(OFlags::RDONLY);

    pub(super) fn folder(path: &Path) -> io::Result<OwnedFd> {
        Ok(openat(CWD, path, LOOKUP, Mode::empty())?)
    }

    pub(super) fn file(folder: &OwnedFd, inside: &Path) -> io::Result<File> {
        // The folder itself, which is no file.
        let inside = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        #[cfg(target_os = "linux")]
        match beneath(folder, inside) {
            // Kernels before 5.6 lack the call, and sandboxes that do not know it refuse it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened.map(File::from).map_err(refused),
        }
        stepwise(folder, inside).map(File::from).map_err(refused)
    }

    /// In one call.
    #[cfg(target_os = "linux")]
    fn beneath(folder: &OwnedFd, inside: &Path) -> rustix::io::Result<OwnedFd> {
        use rustix::fs::{ResolveFlags, openat2};
        openat2(folder, inside, FILE, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    }

    pub(super) fn stepwise(folder: &OwnedFd, inside: &Path) -> rustix::io::Result<OwnedFd> {
        let mut parts = inside.components().filter(|part| matches!(part, Component::Normal(_))).peekable();
        let mut around: Option<OwnedFd> = None;
        while let Some(part) = parts.next() {
            let flags = if parts.peek().is_some() { LOOKUP } else { FILE };
            let at = around.as_ref().map_or(folder.as_fd(), |around| around.as_fd());
            let opened = openat(at, part.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty())?;
            around = Some(opened);
        }
        around.map_or_else(|| openat(folder, ".", FILE, Mode::empty()), Ok)
    }

    fn refused(error: Errno) -> io::Error {
        if error == Errno::LOOP { io::Error::other(LINK) } else { error.into() }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn text(mut file: File) -> String {
        let mut text = String::new();
        file.read_to_string(&mut text).expect("text");
        text
    }

    #[test]
    fn files_are_opened_beneath_their_folder_and_through_no_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a/b")).expect("folders");
        fs::write(root.join("a/b/c.rs"), "inside").expect("a file");
        fs::write(folder.path().join("outside"), "outside").expect("a file");
        symlink(folder.path(), root.join("up")).expect("a link");
        symlink("b/c.rs", root.join("a/link.rs")).expect("a link");
        let tree = TreeFolder::open(&root).expect("a folder");
        for opened in [
            tree.file(Path::new("a/b/c.rs")),
            unix::stepwise(&tree.folder, Path::new("a/b/c.rs")).map(File::from).map_err(Into::into),
        ] {
            assert_eq!(text(opened.expect("a file")), "inside");
        }
        for refused in
            ["up/outside", "a/link.rs", "../outside", "a/../../outside", "/etc/passwd", "a/b/none.rs", "a/b/c.rs/d"]
        {
            tree.file(Path::new(refused)).expect_err(refused);
            let path = Path::new(refused);
            if path.components().all(|part| matches!(part, Component::Normal(_))) {
                unix::stepwise(&tree.folder, path).expect_err(refused);
            }
        }
        let error = tree.file(Path::new("a/link.rs")).expect_err("a link").to_string();
        assert!(error.contains("not followed"), "{error}");
        for no_file in ["", "a"] {
            assert_eq!(open_beneath(&root, no_file).expect_err("a folder").kind(), io::ErrorKind::InvalidData);
        }
        // The path of the folder itself may have links.
        symlink(&root, folder.path().join("other")).expect("a link");
        open_beneath(&folder.path().join("other"), "a/b/c.rs").expect("a file");
    }

    #[test]
    fn no_exchange_of_a_file_for_a_link_leads_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("root");
        fs::create_dir(&root).expect("a folder");
        fs::write(folder.path().join("secret"), "outside").expect("a file");
        let (file, other) = (root.join("a.rs"), root.join("other"));
        fs::write(&file, "inside").expect("a file");
        symlink(folder.path().join("secret"), &other).expect("a link");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let kept = root.join("kept");
                while !is_over.load(Ordering::Relaxed) {
                    for (from, to) in [(&file, &kept), (&other, &file), (&file, &other), (&kept, &file)] {
                        fs::rename(from, to).expect("renamed");
                    }
                }
            });
            let (mut read, mut outside) = (0, 0);
            for _ in 0..20_000 {
                if let Ok((file, _)) = open_beneath(&root, "a.rs") {
                    read += 1;
                    outside += usize::from(text(file) != "inside");
                }
            }
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(outside, 0, "of {read} reads");
            assert!(read > 0);
        });
    }
}
