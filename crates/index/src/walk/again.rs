//! Walks a known tree again: checks each known folder and file, and lists the folders that differ.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::Scope;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, statat};

use super::known::{DirCache, UNSURE, are_same, state_then};
use super::rules::{Rules, is_asked};
use super::{Walk, WalkedFile, one_of};

/// Folders or files that a core checks at a time.
const AT_ONCE: usize = 256;

/// What was seen of a known folder: nothing yet, unchanged, to be listed, or gone. The state only rises.
const UNSEEN: u8 = 0;
const SAME: u8 = 1;
const DIFFERS: u8 = 2;
const GONE: u8 = 3;

/// The comparison of the known tree with the current one.
struct Again<'a, 'k> {
    walk: &'a Walk,
    known: &'a DirCache<'k>,
    /// The root, open.
    top: OwnedFd,
    /// Places of the known folders, by path.
    places: FxHashMap<&'a str, usize>,
    /// The state of each known folder.
    seen: Vec<AtomicU8>,
    /// For each, whether it is still there, below folders that are.
    there: Vec<bool>,
    /// Rules of folders above those that are listed.
    rules: Mutex<FxHashMap<PathBuf, Arc<Rules>>>,
}

/// Fills `walk` with the current state. Returns false, and fills in nothing, if a rule changed and the known state is
/// useless.
pub(super) fn fill(walk: &Walk, known: &DirCache<'_>) -> bool {
    if known.tree.is_empty() || !are_same(&known.tree.rules) {
        return false;
    }
    let open = openat(CWD, &walk.root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let Ok(top) = open else { return false };
    let folders = &known.tree.folders;
    let places = folders.iter().enumerate().map(|(place, (path, _))| (path.as_str(), place)).collect();
    let seen = folders.iter().map(|_| AtomicU8::new(UNSEEN)).collect();
    let mut again = Again { walk, known, top, places, seen, there: Vec::new(), rules: Mutex::default() };
    let files = again.look_at_files();
    if !again.look_at_folders() {
        return false;
    }
    if !again.list() {
        *walk.walked() = super::Walked::default();
        return false;
    }
    again.keep(files);
    true
}

impl<'a> Again<'a, '_> {
    /// Metadata of a path from the root, without following a link.
    fn look(&self, path: &str) -> Option<Stat> {
        match path {
            "" => rustix::fs::fstat(&self.top).ok(),
            _ => statat(&self.top, path, AtFlags::SYMLINK_NOFOLLOW).ok(),
        }
    }

    /// Looks at a known folder, and keeps it open if possible: lookups relative to it are faster than from the root.
    fn look_at_folder(&self, place: usize) -> Option<OwnedFd> {
        let (path, state) = &self.known.tree.folders[place];
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = openat(&self.top, if path.is_empty() { "." } else { path }, flags, Mode::empty()).ok();
        let stat = match &open {
            Some(open) => rustix::fs::fstat(open).ok(),
            None => self.look(path),
        };
        let is_folder = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let seen = match stat.filter(is_folder) {
            Some(stat) if *state != UNSURE && state_of(&stat) == *state => SAME,
            Some(_) => DIFFERS,
            None => GONE,
        };
        self.seen[place].fetch_max(seen, Ordering::Relaxed);
        open
    }

    /// The place of the parent folder of `path`.
    fn above(&self, path: &str) -> Option<usize> {
        self.places.get(path.rsplit_once('/').map_or("", |(folder, _)| folder)).copied()
    }

    /// Finds out which folders still exist; returns false if the known tree is inconsistent.
    fn look_at_folders(&mut self) -> bool {
        let this = &*self;
        // Most were seen with their files.
        this.seen.par_iter().enumerate().with_min_len(AT_ONCE).for_each(|(place, seen)| {
            if seen.load(Ordering::Relaxed) == UNSEEN {
                this.look_at_folder(place);
            }
        });
        // A folder's path sorts after its parent's.
        let mut there: Vec<bool> = Vec::with_capacity(this.seen.len());
        for ((path, _), seen) in self.known.tree.folders.iter().zip(&self.seen) {
            let below = match (path.as_str(), self.above(path)) {
                ("", _) => true,
                (_, Some(above)) if above < there.len() => there[above],
                _ => return false,
            };
            there.push(seen.load(Ordering::Relaxed) != GONE && below);
        }
        self.there = there;
        true
    }

    fn differs(&self, place: usize) -> bool {
        self.seen[place].load(Ordering::Relaxed) >= DIFFERS
    }

    /// Looks at the known files of unchanged folders. A folder with a file that is gone or is no file any more is
    /// listed.
    fn look_at_files(&self) -> Vec<(usize, WalkedFile)> {
        let skips = self.known.skips;
        let of_some = |from: usize| {
            let mut found = Vec::new();
            // The folder of the last file, its place, itself.
            let mut last: Option<(&str, Option<usize>, Option<OwnedFd>)> = None;
            for at in from..self.known.files.min(from + AT_ONCE) {
                let path = (self.known.path)(at);
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                if last.as_ref().is_none_or(|(of, ..)| *of != folder) {
                    let place = self.above(path);
                    last = Some((folder, place, place.and_then(|place| self.look_at_folder(place))));
                }
                let Some((_, Some(place), open)) = &last else { continue };
                if self.differs(*place) {
                    continue;
                }
                let stat = match open {
                    Some(open) => statat(open, name, AtFlags::SYMLINK_NOFOLLOW).ok(),
                    None => self.look(path),
                };
                match stat.filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile) {
                    Some(stat) => {
                        let (size, mtime_ns) = (stat.st_size as u64, one_of(times(&stat)));
                        if !skips.is_some_and(|skips| skips(at, size, mtime_ns)) {
                            found.push((*place, WalkedFile { path: path.to_string(), size, mtime_ns }));
                        }
                    }
                    None => {
                        self.seen[*place].fetch_max(DIFFERS, Ordering::Relaxed);
                    }
                }
            }
            found
        };
        let parts: Vec<Vec<_>> = (0..self.known.files).into_par_iter().step_by(AT_ONCE).map(of_some).collect();
        parts.into_iter().flatten().collect()
    }

    /// Lists the folders that differ, and their new content; returns false if one has other rules than before.
    fn list(&self) -> bool {
        let same_rules = AtomicBool::new(true);
        let to_list: Vec<&'a str> = self
            .known
            .tree
            .folders
            .iter()
            .enumerate()
            .filter(|(place, _)| self.there[*place] && self.differs(*place))
            .map(|(_, (path, _))| path.as_str())
            .collect();
        // A known folder that still exists has its own place; any other is new.
        fn inside<'s>(again: &'s Again<'_, '_>, scope: &Scope<'s>, folder: PathBuf, rules: &Arc<Rules>) {
            let name = folder.strip_prefix(&again.walk.root).ok().and_then(Path::to_str);
            if !name.and_then(|name| again.places.get(name)).is_some_and(|place| again.there[*place]) {
                again.walk.inside(scope, folder, rules);
            }
        }
        rayon::scope(|scope| {
            for path in to_list {
                let same_rules = &same_rules;
                scope.spawn(move |scope| {
                    let folder = self.walk.root.join(path);
                    let rules = folder.parent().filter(|_| !path.is_empty()).map(|above| self.rules(above));
                    let rules = rules.unwrap_or_else(|| self.walk.above().clone());
                    let asked = self.walk.folder(scope, folder.clone(), &rules, &|scope, inner, rules| {
                        inside(self, scope, inner, rules);
                    });
                    if !self.walk.options.no_ignore && !self.are_known(&folder, asked) {
                        same_rules.store(false, Ordering::Relaxed);
                    }
                });
            }
        });
        same_rules.into_inner()
    }

    /// Whether the names in a folder that matter for the rules are those of the earlier walk.
    fn are_known(&self, folder: &Path, mut asked: Vec<OsString>) -> bool {
        let known = self.known.tree.rules.iter().filter(|(_, state)| *state != 0).map(|(path, _)| Path::new(path));
        let inside = known.filter(|path| path.parent() == Some(folder)).filter_map(Path::file_name);
        let mut before: Vec<&OsStr> = inside.filter(|name| is_asked(name)).collect();
        before.sort_unstable();
        asked.sort_unstable();
        asked == before
    }

    /// The rules in force in a folder of the tree.
    fn rules(&self, folder: &Path) -> Arc<Rules> {
        let known = self.rules.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned();
        if let Some(rules) = known {
            return rules;
        }
        let above = match folder.parent().filter(|_| folder != self.walk.root) {
            Some(above) => self.rules(above),
            None => self.walk.above().clone(),
        };
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        let rules = if self.walk.options.no_ignore { above } else { above.inside(folder, self.walk.in_git, has) };
        let mut all = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(folder.to_path_buf()).or_insert(rules).clone()
    }

    /// Adds the unchanged, unlisted part.
    fn keep(&self, files: Vec<(usize, WalkedFile)>) {
        let stays = |place: usize| self.there[place] && !self.differs(place);
        let mut all = self.walk.walked();
        all.files.extend(files.into_iter().filter(|(place, _)| stays(*place)).map(|(_, file)| file));
        // An unreadable folder is listed each time, so its current state is known.
        let is_folder = |path: &str| self.places.contains_key(path);
        let is_kept = |path: &str| !is_folder(path) && self.above(path).is_some_and(stays);
        let unreadable = self.known.unreadable.iter().filter(|(path, _)| is_kept(path));
        all.unreadable.extend(unreadable.cloned());
        let folders = self.known.tree.folders.iter().enumerate().filter(|(place, _)| stays(*place));
        for (place, folder) in folders {
            all.tree.folders.push(folder.clone());
            all.tree.numbers.push(self.known.tree.numbers.get(place).copied().unwrap_or_default());
        }
        all.tree.rules.extend_from_slice(&self.known.tree.rules);
    }
}

/// The same as [`super::times_ns`].
fn times(stat: &Stat) -> [i64; 2] {
    [nanoseconds(stat.st_mtime, stat.st_mtime_nsec), nanoseconds(stat.st_ctime, stat.st_ctime_nsec)]
}

/// Seconds and nanoseconds, whose types differ between machines, as one number.
fn nanoseconds(seconds: impl TryInto<i64>, rest: impl TryInto<i64>) -> i64 {
    let (seconds, rest) = (seconds.try_into().unwrap_or_default(), rest.try_into().unwrap_or_default());
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

fn state_of(stat: &Stat) -> u64 {
    state_then(times(stat), [stat.st_ino, stat.st_dev, 0])
}
