//! What a walk remembers of a tree, so that the next one lists only the folders that changed, at a fraction of the
//! cost.
//!
//! A folder's times show whether names came or went, and those of ignore files whether the rules changed; git does the
//! same (`git update-index --untracked-cache`). Only file systems known to update a folder's times with every name are
//! trusted.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The state of a missing file.
const MISSING: u64 = 0;
/// The state of an existing folder of git or jj.
const THERE: u64 = 1;
/// A state that never matches, so that its owner is always read again.
pub(super) const UNSURE: u64 = u64::MAX;
/// A change within one tick of the kernel's clock (10 ms at most) does not move a time stamp, so recent stamps are not
/// trusted.
#[cfg(target_os = "linux")]
const TICK_NS: i64 = 50_000_000;

/// A tree as a walk saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownTree {
    /// Hash of the walk's rules besides the ignore files in the tree.
    pub(super) terms: u64,
    /// Files that gave rules or could have, absolute, with their states; by path.
    pub(super) rules: Vec<(String, u64)>,
    /// Folders, by path from the root, with their states; empty if nothing is remembered.
    pub(super) folders: Vec<(String, u64)>,
    /// The inodes of these folders.
    pub(super) numbers: Vec<u64>,
}

impl KnownTree {
    /// The folders that `now` has another folder in place of. Files in such a folder may differ despite equal sizes and
    /// times: renaming a folder keeps those of its files.
    pub fn replaced<'t>(&'t self, now: &KnownTree) -> Vec<&'t str> {
        let mut later = now.folders.iter().zip(&now.numbers).peekable();
        let all = self.folders.iter().zip(&self.numbers);
        let is_replaced = all.filter_map(|((path, _), number)| {
            while later.next_if(|((other, _), _)| other < path).is_some() {}
            let other = later.peek().filter(|((other, _), _)| other == path)?;
            (other.1 != number).then_some(path.as_str())
        });
        is_replaced.collect()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }
}

/// Maps place, size in bytes and time of a file ([`WalkedFile`](super::WalkedFile)) to whether it is skipped.
pub type Skips<'a> = dyn Fn(usize, u64, i64) -> bool + Sync + 'a;

/// Maps a place to the path of the file there.
pub type PathOf<'a> = dyn Fn(usize) -> &'a str + Sync + 'a;

/// The result of an earlier walk.
#[derive(Clone, Copy)]
pub struct DirCache<'a> {
    /// The folders and rules.
    pub tree: &'a KnownTree,
    /// Number of all files of that walk.
    pub files: usize,
    /// The path of each, in the order of paths.
    pub path: &'a PathOf<'a>,
    /// Entries that it could not read or skipped, by path, with the reason.
    pub unreadable: &'a [(String, String)],
    /// Whether one of the files (its place among them, its current size and time) may be left out; it may be reported
    /// all the same.
    pub skips: Option<&'a Skips<'a>>,
}

/// Hash of a walk's rules besides the ignore files in the tree.
pub(super) fn terms(root: &Path, parts: &[&[u8]]) -> u64 {
    parts.iter().fold(xxh3_64(root.as_os_str().as_encoded_bytes()), |hash, part| xxh3_64_with_seed(part, hash))
}

/// The state of a file of rules, which any change of the file changes.
pub(super) fn state_of_rules(path: &Path) -> u64 {
    let Ok(metadata) = path.symlink_metadata() else { return MISSING };
    if metadata.is_dir() {
        return THERE;
    }
    state_of_file(&metadata)
}

/// The same for storing: waits if the file changed a moment ago.
pub(super) fn settled_state_of_rules(path: &Path) -> u64 {
    match state_of_rules(path) {
        UNSURE if wait_for_tick(path) => state_of_rules(path),
        state => state,
    }
}

/// The states of files of rules, and whether each is unchanged.
pub(super) fn are_same(rules: &[(String, u64)]) -> bool {
    rules.par_iter().all(|(path, state)| *state != UNSURE && state_of_rules(Path::new(path)) == *state)
}

/// Path and state for the next walk; `None` if the path is not UTF-8.
pub(super) fn remembered(path: PathBuf, state: u64) -> Option<(String, u64)> {
    Some((path.into_os_string().into_string().ok()?, state))
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use xxhash_rust::xxh3::xxh3_64;

    use super::{TICK_NS, UNSURE};
    use crate::walk::times_ns;

    /// Magic numbers of file systems that update a folder's times with every name added or removed (ext2 to ext4, XFS,
    /// Btrfs, tmpfs, F2FS, OverlayFS, ZFS, bcachefs), from `linux/magic.h` and their own sources.
    const TRUSTED: [u64; 8] =
        [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0xF2F5_2010, 0x794C_7630, 0x2FC1_2FC1, 0xCA45_1A4E];

    /// Whether the file system of a folder is one of those.
    pub(in crate::walk) fn is_trusted(folder: &Path) -> bool {
        rustix::fs::statfs(folder).is_ok_and(|about| TRUSTED.contains(&(about.f_type as u64 & 0xFFFF_FFFF)))
    }

    fn now_ns() -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
    }

    /// A hash of a file's or folder's times in nanoseconds and other numbers; [`UNSURE`] if it changed a moment ago, or
    /// in the future.
    pub(in crate::walk) fn state(times: [i64; 2], numbers: [u64; 3]) -> u64 {
        if times.iter().any(|time| now_ns() - time < TICK_NS) {
            return UNSURE;
        }
        state_then(times, numbers)
    }

    /// The same without the clock, for comparison with an earlier walk.
    pub(in crate::walk) fn state_then(times: [i64; 2], numbers: [u64; 3]) -> u64 {
        let mut bytes = [0; 40];
        let all = times.map(i64::cast_unsigned).into_iter().chain(numbers);
        for (part, number) in bytes.chunks_exact_mut(8).zip(all) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        xxh3_64(&bytes).clamp(2, UNSURE - 1)
    }

    pub(in crate::walk) fn state_of_folder(metadata: &Metadata) -> u64 {
        state(times_ns(metadata), [metadata.ino(), metadata.dev(), 0])
    }

    pub(super) fn state_of_file(metadata: &Metadata) -> u64 {
        state(times_ns(metadata), [metadata.ino(), metadata.dev(), metadata.size()])
    }

    /// Waits until a file's time stamp is old enough to be reliable; returns whether it had to wait.
    pub(super) fn wait_for_tick(path: &Path) -> bool {
        let Ok(metadata) = path.symlink_metadata() else { return false };
        let age = now_ns() - times_ns(&metadata).into_iter().max().unwrap_or_default();
        let is_new = (0..TICK_NS).contains(&age);
        if is_new {
            std::thread::sleep(Duration::from_nanos(TICK_NS.abs_diff(age)));
        }
        is_new
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::Metadata;
    use std::path::Path;

    use super::UNSURE;

    pub(super) fn state_of_file(_: &Metadata) -> u64 {
        UNSURE
    }

    pub(super) fn wait_for_tick(_: &Path) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
pub(super) use system::{is_trusted, state_of_folder, state_then};
use system::{state_of_file, wait_for_tick};
