//! Requests that are limited to a project inside the roots.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError};

use anyhow::{Result, anyhow, bail};
use colgrep_engine::project::{repositories_below, slashed};
use colgrep_engine::request::split_lines;
use colgrep_render::address::file_path;

use super::state::{Root, ServerState};

/// Projects that stay open between requests.
const PROJECTS_MAX: usize = 8;
/// Repositories of a folder that are named.
const NAMED_MAX: usize = 20;

/// The folder that a glob in full begins with; the path itself where it is no glob.
pub(super) fn folder_of(glob: &str) -> Option<&str> {
    let glob = Some(glob.trim()).filter(|glob| Path::new(glob).is_absolute())?;
    match glob.find(['*', '?', '[', '{']) {
        Some(end) => glob.get(..end)?.rsplit_once('/').map(|(folder, _)| folder),
        None => Some(glob),
    }
}

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
        let full = file_path(path).ok();
        let path = full.as_deref().and_then(Path::to_str).unwrap_or(path);
        let unknown = || anyhow!("no project {path}; there are {}", self.repositories());
        let (around, folder) = match self.locate(path) {
            Ok((root, folder, _)) => (Some(root), folder),
            Err(error) if self.areas.is_empty() => return Err(error),
            Err(_) => (None, self.in_areas(path).ok_or_else(unknown)?),
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

    /// The projects in folders of repositories, as requests name them; of many the first ones.
    pub(super) fn repositories(&self) -> String {
        let below = |area: &PathBuf| repositories_below(area, NAMED_MAX + 1);
        let mut names: Vec<String> = self.areas.iter().flat_map(below).map(|path| slashed(&path)).collect();
        if names.len() > NAMED_MAX {
            names.truncate(NAMED_MAX);
            names.push("…".to_string());
        }
        names.join(", ")
    }

    /// Whether a path or an address is that of a folder of repositories.
    pub(super) fn is_area(&self, root: &str) -> bool {
        let full = file_path(root).ok().and_then(|path| path.canonicalize().ok());
        full.is_some_and(|full| self.areas.contains(&full))
    }

    /// The one project in folders of repositories that all these files and folders lie in, as far as no root has them.
    pub(super) fn project_of(&self, places: &[String]) -> Option<String> {
        let project = |place: &String| {
            let file = split_lines(place).map_or(place.as_str(), |(file, _)| file);
            let full = self.in_areas(file).filter(|_| self.locate(file).is_err())?;
            let top = full.ancestors().find(|folder| folder.join(".git").exists())?;
            Some(top.to_string_lossy().into_owned())
        };
        let mut projects: BTreeSet<String> = places.iter().filter_map(project).collect();
        projects.pop_first().filter(|_| projects.is_empty())
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
