//! Requests that are limited to a project inside the roots.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use anyhow::{Result, bail};

use super::state::{Root, ServerState};

/// Projects that stay open between requests.
const PROJECTS_MAX: usize = 8;

impl ServerState {
    /// The state of the whole server.
    pub(super) fn whole(&self) -> &ServerState {
        self.whole.as_deref().unwrap_or(self)
    }

    /// The same server limited to a folder inside its roots, with the index of the project around that folder.
    ///
    /// # Errors
    /// When it is no folder, lies outside the roots, or can't be indexed.
    pub fn in_project(&self, path: &str) -> Result<ServerState> {
        if self.shards().is_some() {
            bail!("project: this server answers over shards; `paths` takes names of repositories");
        }
        let folder = match self.locate(path) {
            Ok((_, folder, _)) => folder,
            Err(error) => self.in_areas(path).ok_or(error)?,
        };
        if !folder.is_dir() {
            bail!("project: {path} is a file; give its folder, or the file in `paths`");
        }
        let root = match self.roots().find(|root| root.folder == folder) {
            Some(root) => Arc::clone(root),
            None => self.project(&folder)?,
        };
        let mut state = self.clone();
        (state.roots, state.lost) = (vec![root], Vec::new());
        state.whole = Some(Arc::new(self.clone()));
        Ok(state)
    }

    /// The place of a path inside a folder of repositories.
    fn in_areas(&self, path: &str) -> Option<PathBuf> {
        self.areas.iter().find_map(|area| {
            let full = area.join(path).canonicalize().ok()?;
            let inside = full.strip_prefix(area).ok()?;
            let is_served =
                inside.components().next().is_some() && inside.components().all(|c| c.as_os_str() != ".git");
            is_served.then_some(full)
        })
    }

    /// The root for a folder inside the roots; the one of an earlier request, if it is still open.
    fn project(&self, folder: &Path) -> Result<Arc<Root>> {
        let mut known = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let root = match known.iter().position(|root| root.folder == folder) {
            Some(at) => known.remove(at),
            None => self.root(folder, false)?,
        };
        // The one used least recently is closed.
        known.truncate(PROJECTS_MAX - 1);
        known.insert(0, Arc::clone(&root));
        Ok(root)
    }
}
