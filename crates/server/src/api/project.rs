//! Requests that are limited to a project inside the roots.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError};

use anyhow::{Result, bail};
use colgrep_engine::project::slashed;

use super::state::{Root, ServerState};

/// Projects that stay open between requests.
const PROJECTS_MAX: usize = 8;

impl ServerState {
    pub(super) fn whole(&self) -> &ServerState {
        self.whole.as_deref().unwrap_or(self)
    }

    /// The same server limited to a folder inside its roots. It is searched with the index of its root, unless it lies
    /// in a repository of its own.
    ///
    /// # Errors
    /// When it is no folder, lies outside the roots, or can't be indexed.
    pub fn in_project(&self, path: &str) -> Result<ServerState> {
        if self.shards().is_some() {
            bail!("project: this server answers over shards; `paths` takes names of repositories");
        }
        let (around, folder) = match self.locate(path) {
            Ok((root, folder, _)) => (Some(root), folder),
            Err(error) => (None, self.in_areas(path).ok_or(error)?),
        };
        if !folder.is_dir() {
            bail!("project: {path} is a file; give its folder, or the file in `paths`");
        }
        let root = match around.filter(|root| root.folder == folder) {
            Some(root) => Arc::clone(root),
            None => self.project(folder, around)?,
        };
        let mut state = self.clone();
        (state.roots, state.lost) = (vec![root], Vec::new());
        state.whole = Some(Arc::new(self.clone()));
        Ok(state)
    }

    /// The place of a path inside a folder of repositories, unless it is hidden there.
    fn in_areas(&self, path: &str) -> Option<PathBuf> {
        self.areas.iter().find_map(|area| {
            let full = area.join(path).canonicalize().ok()?;
            let inside = full.strip_prefix(area).ok()?;
            let is_hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
            let is_served = inside.components().next().is_some() && !inside.components().any(is_hidden);
            is_served.then_some(full)
        })
    }

    /// The root for a folder inside another root or a folder of repositories; the one of an earlier request, if it is
    /// still open.
    fn project(&self, folder: PathBuf, around: Option<&Arc<Root>>) -> Result<Arc<Root>> {
        let is_repository = |root: &Root| {
            let mut inside = folder.ancestors().take_while(|folder| *folder != root.folder);
            inside.any(|folder| folder.join(".git").exists())
        };
        let mut known = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let root = match known.iter().position(|root| root.folder == folder) {
            Some(at) => known.remove(at),
            // Over HTTP, only what the index of a root lists is served.
            None => match around.filter(|root| self.indexed_only || !is_repository(root)) {
                Some(root) => {
                    let below = slashed(folder.strip_prefix(&root.project.root).unwrap_or(Path::new("")));
                    Arc::new(Root::new(folder, root.project.clone(), below))
                }
                None => self.root(&folder, false)?,
            },
        };
        // The one used least recently is closed.
        known.truncate(PROJECTS_MAX - 1);
        known.insert(0, Arc::clone(&root));
        Ok(root)
    }
}
