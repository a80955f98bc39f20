//! Reads files of rules, within bounds, and notes what was read: a change of any of them shows at the next walk.

use std::io::ErrorKind::FileTooLarge;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::git_places::GitPlaces;
use super::known::{settled_state_of_rules, state_of_rules};
use super::patterns::{IgnorePatterns, lines};
use crate::disk::read_regular;

/// Largest ignore file that is read, in bytes; a hundred times a large one.
const FILE_BYTES_MAX: u64 = 256 << 10;
/// Maximum size of active patterns in bytes: those of the current folder and of all above it.
const LIVE_BYTES_MAX: usize = 512 << 10;

/// State shared by all folders of a walk.
#[derive(Debug, Default)]
pub(super) struct RulesReader {
    /// Bytes of active patterns.
    live: AtomicUsize,
    /// Ignore files that are disregarded, with the reason.
    unheeded: Mutex<Vec<(PathBuf, String)>>,
    /// Files that gave rules or could have, with their states before they were read.
    seen: Mutex<Vec<(PathBuf, u64)>>,
    /// Whether to wait for an ignore file that changed a moment ago.
    settles: bool,
    /// Where the user's configuration of git is.
    git: GitPlaces,
}

impl RulesReader {
    /// A reader that waits for ignore files that changed a moment ago if `settles`.
    pub(super) fn new(git: GitPlaces, settles: bool) -> RulesReader {
        RulesReader { settles, git, ..RulesReader::default() }
    }

    /// The ignore files that were disregarded so far.
    pub(super) fn unheeded(&self) -> Vec<(PathBuf, String)> {
        std::mem::take(&mut *self.unheeded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Files that gave rules or could have, with their states before they were read.
    pub(super) fn seen(&self) -> Vec<(PathBuf, u64)> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn note(&self, path: &Path) {
        let state = if self.settles { settled_state_of_rules(path) } else { state_of_rules(path) };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_path_buf(), state));
    }

    /// The text of an ignore file; `None` if there is none, or it is disregarded.
    pub(super) fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.note(path);
        let refuse = |why: String| {
            self.unheeded.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_path_buf(), why));
            None
        };
        let metadata = path.symlink_metadata().ok().filter(|m| !m.is_dir())?;
        if !metadata.is_file() {
            return refuse("a link or special file is not followed as an ignore file".to_string());
        }
        match read_regular(path, FILE_BYTES_MAX) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == FileTooLarge => {
                refuse(format!("larger than {} KiB, so not applied as an ignore file", FILE_BYTES_MAX >> 10))
            }
            Err(_) => None,
        }
    }

    /// The same for a file outside the tree, which may be a link.
    pub(super) fn read_followed(&self, path: &Path) -> Option<Vec<u8>> {
        match path.canonicalize() {
            Ok(real) if real != path => {
                self.note(path);
                self.read(&real)
            }
            // A device, as in `GIT_CONFIG_GLOBAL=/dev/null`, says nothing.
            Ok(real) if !real.is_file() => None,
            _ => self.read(path),
        }
    }

    /// The patterns of an ignore file's text, and their size in bytes; `path` is where it is from.
    pub(super) fn patterns(
        &self,
        folder: &Path,
        (path, text): (&Path, &[u8]),
        ignore_case: bool,
    ) -> (IgnorePatterns, usize) {
        let lines = || lines(text).filter(|line| !line.starts_with(b"#") && !line.trim_ascii().is_empty());
        let bytes = lines().map(<[u8]>::len).sum();
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if live > LIVE_BYTES_MAX {
            self.live.fetch_sub(bytes, Ordering::Relaxed);
            let why = format!("with those above it, more than {} KiB of patterns; not applied", LIVE_BYTES_MAX >> 10);
            self.unheeded.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_path_buf(), why));
            return Default::default();
        }
        (IgnorePatterns::new(folder, lines(), ignore_case), bytes)
    }
}

impl RulesReader {
    /// Where the user's configuration of git is.
    pub(super) fn git(&self) -> &GitPlaces {
        &self.git
    }

    /// Gives back the bytes of patterns that are not active any more.
    pub(super) fn release(&self, bytes: usize) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }
}
