//! The rules of a tree's ignore files, folder by folder. A clone can contain anything under these names, so, as in git,
//! links are not followed, only regular files of a bounded size are read, and the number of active patterns is bounded.

use std::ffi::OsStr;
use std::io::ErrorKind::FileTooLarge;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::Match;

use super::known::{settled_state_of_rules, state_of_rules};
use super::patterns::IgnorePatterns;
use crate::disk::read_regular;

/// Names of ignore files, in order of precedence.
pub(super) const NAMES: [&str; KINDS - 1] = [".colgrepignore", ".ignore", ".gitignore"];
/// Those and `.git/info/exclude`.
const KINDS: usize = 4;
/// Names that begin a repository.
const TOPS: [&str; 2] = [".git", ".jj"];
/// From this kind on, rules apply only within their repository.
const FIRST_OF_GIT: usize = 2;
/// Largest ignore file that is read, in bytes; a hundred times a large one.
const FILE_BYTES_MAX: u64 = 256 << 10;
/// Maximum size of active patterns in bytes: those of the current folder and of all above it. A byte takes some 200 of
/// memory.
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
}

/// Whether the name of an entry matters for the rules.
pub(super) fn is_asked(name: &OsStr) -> bool {
    TOPS.iter().chain(&NAMES).any(|asked| name == *asked)
}

impl RulesReader {
    /// A reader that waits for ignore files that changed a moment ago if `settles`.
    pub(super) fn new(settles: bool) -> RulesReader {
        RulesReader { settles, ..RulesReader::default() }
    }

    /// The ignore files that were disregarded so far.
    pub(super) fn unheeded(&self) -> Vec<(PathBuf, String)> {
        std::mem::take(&mut *self.unheeded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Files that gave rules or could have, with their states before they were read.
    pub(super) fn seen(&self) -> Vec<(PathBuf, u64)> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, path: &Path) {
        let state = if self.settles { settled_state_of_rules(path) } else { state_of_rules(path) };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_path_buf(), state));
    }

    /// Notes every path that could give rules in a folder, whether it exists or not.
    pub(super) fn note_all(&self, folder: &Path) {
        TOPS.iter().chain(&NAMES).for_each(|name| self.note(&folder.join(name)));
    }

    /// The text of an ignore file; `None` if there is none, or it is disregarded.
    fn read(&self, path: &Path) -> Option<String> {
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
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == FileTooLarge => {
                refuse(format!("larger than {} KiB, so not applied as an ignore file", FILE_BYTES_MAX >> 10))
            }
            Err(_) => None,
        }
    }

    /// The patterns of an ignore file, and their size in bytes.
    fn patterns(&self, folder: &Path, path: &Path) -> (IgnorePatterns, usize) {
        let Some(text) = self.read(path) else { return Default::default() };
        let text = text.trim_start_matches('\u{feff}');
        let lines = || text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let bytes = lines().map(str::len).sum();
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if live > LIVE_BYTES_MAX {
            self.live.fetch_sub(bytes, Ordering::Relaxed);
            let why = format!("with those above it, more than {} KiB of patterns; not applied", LIVE_BYTES_MAX >> 10);
            self.unheeded.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_path_buf(), why));
            return Default::default();
        }
        (IgnorePatterns::new(folder, lines()), bytes)
    }
}

/// The rules in force in a folder.
#[derive(Debug)]
pub(super) struct Rules {
    reader: Arc<RulesReader>,
    above: Option<Arc<Rules>>,
    kinds: [IgnorePatterns; KINDS],
    /// Whether a repository begins here.
    is_top: bool,
    bytes: usize,
}

impl Drop for Rules {
    fn drop(&mut self) {
        self.reader.live.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Rules {
    /// No rules.
    pub(super) fn none(reader: &Arc<RulesReader>) -> Arc<Rules> {
        Arc::new(Rules { reader: reader.clone(), above: None, kinds: Default::default(), is_top: false, bytes: 0 })
    }

    /// Extends these rules by those of `folder`, whose names `has` tests. `in_git`: whether repositories end rules.
    pub(super) fn inside(self: &Arc<Rules>, folder: &Path, in_git: bool, has: impl Fn(&str) -> bool) -> Arc<Rules> {
        let is_top = in_git && TOPS.into_iter().any(&has);
        TOPS.into_iter().filter(|name| has(name)).for_each(|name| self.reader.note(&folder.join(name)));
        let files = NAMES.map(|name| has(name).then(|| folder.join(name)));
        let exclude = if has(".git") { self.exclude(folder) } else { None };
        let files = files.into_iter().chain([exclude]);
        let mut inner = Rules { reader: self.reader.clone(), above: None, kinds: Default::default(), is_top, bytes: 0 };
        for (kind, path) in inner.kinds.iter_mut().zip(files) {
            if let Some(path) = path {
                let (patterns, bytes) = self.reader.patterns(folder, &path);
                *kind = patterns;
                inner.bytes += bytes;
            }
        }
        if !is_top && inner.kinds.iter().all(IgnorePatterns::is_empty) {
            return self.clone();
        }
        inner.above = Some(self.clone());
        Arc::new(inner)
    }

    /// The file `info/exclude` of the repository that begins in `folder`; for a linked worktree, the main one's.
    fn exclude(&self, folder: &Path) -> Option<PathBuf> {
        let git = folder.join(".git");
        if git.is_dir() {
            return Some(git.join("info/exclude"));
        }
        let text = self.reader.read(&git)?;
        let own = folder.join(text.lines().next()?.strip_prefix("gitdir: ")?);
        let common = self.reader.read(&own.join("commondir"))?;
        Some(own.join(common.lines().next()?).join("info/exclude"))
    }

    /// Whether they match a path: the nearest file of the first kind with a matching rule decides.
    pub(super) fn matched(&self, path: &Path, is_folder: bool) -> Match<()> {
        for kind in 0..KINDS {
            let mut rules = Some(self);
            while let Some(inner) = rules {
                let said = inner.kinds[kind].matched(path, is_folder);
                if !said.is_none() {
                    return said;
                }
                if inner.is_top && kind >= FIRST_OF_GIT {
                    break;
                }
                rules = inner.above.as_deref();
            }
        }
        Match::None
    }
}
