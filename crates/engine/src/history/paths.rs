//! Paths of a history: from the repository's root, from the project's, and as a person writes them.

use std::path::{Component, Path, PathBuf};

use super::HistoryPlace;
use crate::error::{Refused, Result};
use crate::project::slashed;
use crate::request::{split_lines, unread_line};

/// A path that a question is limited to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathLimit {
    /// The root of the worktree in which it lies.
    pub(super) top: PathBuf,
    /// From the repository's root, `/` between components; empty for the root.
    pub(super) path: String,
    /// The lines that are meant, the first and the last.
    pub(super) lines: Option<(u32, u32)>,
    pub(super) written: String,
    /// The same without lines.
    pub(super) file: String,
}

impl HistoryPlace {
    /// A path from the project's root, from the repository's.
    pub(super) fn below_root(&self, path: &str) -> String {
        match slashed(self.root.strip_prefix(self.top()).unwrap_or(Path::new(""))) {
            below if below.is_empty() => path.to_string(),
            below => format!("{below}/{path}"),
        }
    }

    /// A path from the repository's root as one from the project's; `None` outside of it.
    pub(super) fn in_project(&self, path: &str) -> Option<String> {
        let below = slashed(self.root.strip_prefix(self.top()).unwrap_or(Path::new("")));
        if below.is_empty() {
            return Some(path.to_string());
        }
        path.strip_prefix(&below)?.strip_prefix('/').map(str::to_string)
    }

    /// A path as written in `folder`, with or without lines. It need not be there any more.
    ///
    /// # Errors
    /// When it lies outside the repository, or the text after its name is not a line number.
    pub(super) fn asked(&self, written: &str, folder: &Path) -> Result<PathLimit> {
        let exists = |path: &str| folder.join(path).symlink_metadata().is_ok();
        let is_file = |path: &str| folder.join(path).is_file();
        let (path, lines) = match split_lines(written) {
            Some((path, lines)) if !exists(written) => (path, Some(lines)),
            _ => (written, None),
        };
        if let Some(unread) = unread_line(written, exists, is_file) {
            return Err(Refused::not_a_line(unread).into());
        }
        let full = folder.join(path);
        let full = full.canonicalize().unwrap_or_else(|_| resolved(&full));
        let inside = self.tops().iter().filter_map(|top| Some((top, full.strip_prefix(top).ok()?)));
        // A worktree may lie inside another one.
        let Some((top, below)) = inside.min_by_key(|(_, below)| below.components().count()) else {
            return Err(Refused::Outside { path: written.to_string(), top: self.top().to_path_buf() }.into());
        };
        let (top, path, file) = (top.clone(), slashed(below), path.to_string());
        Ok(PathLimit { top, path, lines, written: written.to_string(), file })
    }
}

/// A path without `.` and `..`; the part that is there is resolved, links too.
fn resolved(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    let there = plain.ancestors().find_map(|a| Some((a.to_path_buf(), a.canonicalize().ok()?)));
    match there {
        Some((written, real)) => real.join(plain.strip_prefix(&written).unwrap_or(Path::new(""))),
        None => plain,
    }
}
