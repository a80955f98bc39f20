//! Paths and groups of a request: in which root they lie, and what is not served there.

use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::project::{settings_at, slashed};
use colgrep_engine::request::unread_line;
use colgrep_engine::session::corpus::fronts;
use colgrep_engine::{Error as EngineError, Refused, Scope};
use colgrep_index::store::Snapshot;
use colgrep_syntax::read::{Skip, looks_secret};

use super::root::check_folder;
use super::state::{Root, ServerState};
use colgrep_render::path::{in_root, typed};

/// Files of a name that are told where another one is not there.
const NEAR_MAX: usize = 3;

/// The files of a root that are served by name.
pub(super) struct ServedFiles {
    root: PathBuf,
    /// The index that has to know them, unless all files are served.
    snapshot: Option<Arc<Snapshot>>,
}

impl ServedFiles {
    /// Whether a file is served. One that the index lists without its content, since it is large for example, is.
    pub(super) fn has(&self, full: &Path) -> bool {
        let Some(snapshot) = &self.snapshot else { return true };
        let Ok(below) = full.strip_prefix(&self.root) else { return false };
        let below = slashed(below);
        snapshot.files.at(&below).is_some_and(|file| !matches!(file.skip, Some(Skip::Secret | Skip::Unreadable)))
    }
}

impl ServerState {
    /// The folders of a group of projects.
    ///
    /// # Errors
    /// When the settings have no group of that name.
    pub(super) fn group(&self, name: &str) -> Result<Vec<PathBuf>> {
        Ok(settings_at(&self.started, &self.env)?.group(name, &self.env)?)
    }

    /// The root that a file or folder lies in; of roots inside each other, the inner one.
    pub(super) fn around(&self, full: &Path) -> Option<&Arc<Root>> {
        let around = self.roots().filter(|root| full.starts_with(&root.folder));
        around.max_by_key(|root| root.folder.components().count())
    }

    /// The place of a path that the caller wrote: in full, or from the root. With several roots, the path begins with
    /// its root's name, as in answers; without that name, it is looked for in all roots, and `None` if none has it.
    /// Limited to a project, a path that it doesn't have is one from the root.
    ///
    /// # Errors
    /// When several roots have it, and any of them may be meant.
    pub(super) fn meant(&self, path: &str) -> Result<Option<PathBuf>> {
        let own = self.meant_here(path)?;
        match &self.whole {
            Some(whole) if !own.as_ref().is_some_and(|place| place.exists()) => {
                let in_areas = whole.areas.iter().map(|area| area.join(path));
                let mut others = whole.meant_here(path)?.into_iter().chain(in_areas);
                Ok(others.find(|place| place.exists()).or(own))
            }
            _ => Ok(own),
        }
    }

    fn meant_here(&self, path: &str) -> Result<Option<PathBuf>> {
        if self.roots.len() < 2 || Path::new(path).is_absolute() {
            // Relative to the root, not to the current folder, which may have been replaced.
            return Ok(self.roots.first().map(|root| root.folder.join(path)));
        }
        let folders: Vec<&Path> = self.roots().map(|root| root.folder.as_path()).collect();
        let written = path.replace(MAIN_SEPARATOR_STR, "/");
        let written = written.trim_start_matches("./");
        let below = |(folder, front): (&&Path, String)| {
            let rest = written.strip_prefix(front.trim_end_matches('/'))?;
            (rest.is_empty() || rest.starts_with('/')).then(|| folder.join(rest.trim_start_matches('/')))
        };
        let named: Vec<PathBuf> = folders.iter().zip(fronts(&folders)).filter_map(below).collect();
        let held = |place: &PathBuf| place.canonicalize().ok().filter(|full| self.around(full).is_some());
        let mut places: Vec<PathBuf> = named.iter().filter_map(held).collect();
        if places.is_empty() {
            places = folders.iter().map(|folder| folder.join(path)).filter_map(|place| held(&place)).collect();
        }
        places.sort();
        places.dedup();
        if places.len() > 1 {
            let name = |full: &PathBuf| in_root(full).unwrap_or_else(|| full.display().to_string());
            let names: Vec<String> = places.iter().map(name).collect();
            bail!("{path} is in several roots: say which is meant, {}", names.join(" or "));
        }
        Ok(places.pop().or(named.into_iter().next()))
    }

    /// The scope with the names of several roots, with which paths in answers begin.
    pub(super) fn with_names(&self, scope: &Scope) -> Scope {
        let folders: Vec<&Path> = self.roots().map(|root| root.folder.as_path()).collect();
        let names = folders.iter().map(|folder| folder.to_path_buf()).zip(fronts(&folders));
        let mut scope = scope.clone();
        (scope.include, scope.exclude) = (self.globs(&scope.include), self.globs(&scope.exclude));
        scope.named_folders = names.filter(|(_, name)| !name.is_empty()).collect();
        scope
    }

    /// Globs as callers write them; one in full is taken from its root.
    fn globs(&self, written: &[String]) -> Vec<String> {
        let folders: Vec<&Path> = self.roots().map(|root| root.folder.as_path()).collect();
        let named: Vec<(&Arc<Root>, String)> = self.roots().zip(fronts(&folders)).collect();
        let from_root = |glob: &str| {
            let below = |(root, front): &(&Arc<Root>, String)| {
                let top = if front.is_empty() { &root.project.root } else { &root.folder };
                let rest = slashed(Path::new(glob).strip_prefix(top).ok()?);
                Some(format!("/{front}{}", if rest.is_empty() { "**" } else { rest.as_str() }))
            };
            // Of roots inside each other, the inner one.
            let inside = named.iter().filter_map(below).min_by_key(String::len);
            inside.unwrap_or_else(|| glob.to_string())
        };
        written.iter().map(|glob| from_root(glob)).collect()
    }

    /// The root of `path` (in full or from the root; with several roots, prefixed with the root's name) and the path
    /// from that root's project.
    ///
    /// # Errors
    /// When there is no such file or folder, several roots have it, it lies outside all of them, or it is not served:
    /// git's own files, files that look like secrets unless these or hidden files are indexed, and over HTTP files
    /// that the index does not list. Text that the caller has read may have prompted the request.
    pub fn locate(&self, path: &str) -> Result<(&Arc<Root>, PathBuf, String)> {
        self.check_here()?;
        self.check_roots()?;
        let written = self.meant(path)?.unwrap_or_else(|| PathBuf::from(path));
        let outside = || {
            let roots: Vec<String> = self.roots.iter().map(|r| r.folder.display().to_string()).collect();
            let globs = if path.contains(['*', '?']) { "; `include` takes globs" } else { "" };
            let near = self.of_name(path).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            format!("{path} is not a file or folder inside the roots of this server: {}{globs}{near}", roots.join(", "))
        };
        let Ok(full) = written.canonicalize() else {
            let may_hold = |r: &&Arc<Root>| written.is_relative() || written.starts_with(&r.folder);
            self.roots().filter(may_hold).try_for_each(|r| check_folder(r))?;
            self.check_lines(path)?;
            bail!(outside())
        };
        let Some(root) = self.around(&full) else { bail!(outside()) };
        let inside = full.strip_prefix(&root.folder).unwrap_or(Path::new(""));
        if inside.components().any(|c| c.as_os_str() == ".git") {
            bail!("{path} belongs to git, and is not served");
        }
        // What a secret looks like may depend on folders above a project.
        let outer = self.whole.as_ref().and_then(|whole| whole.around(&full));
        let from_outer = outer.and_then(|root| full.strip_prefix(&root.folder).ok());
        let is_secret = |name: &Path| looks_secret(&name.to_string_lossy());
        if (is_secret(inside) || from_outer.is_some_and(is_secret)) && full.is_file() && !self.serves_secrets(root) {
            bail!(
                "{path} looks like a secret, and is not served unless hidden files or secrets are indexed (settings `hidden`, `secrets`)"
            );
        }
        if full.is_file() && !self.served(root)?.has(&full) {
            bail!("{path} is not indexed, and not served");
        }
        let below = full.strip_prefix(&root.project.root).unwrap_or(Path::new(""));
        let below = slashed(below);
        Ok((root, full, below))
    }

    /// The indexed files whose paths end as one that is not there, some of them; `None` without any.
    fn of_name(&self, path: &str) -> Option<String> {
        let end = format!("/{path}");
        let mut near = Vec::new();
        for root in self.roots().filter(|_| !path.is_empty() && !Path::new(path).is_absolute()) {
            let Some(snapshot) = root.as_it_is() else { continue };
            let ends = snapshot.files.indexed().filter(|file| file.path.ends_with(&end));
            let fulls = ends.map(|file| (root.project.root.join(&file.path), typed(&root.project.root, &file.path)));
            let own = fulls.filter(|(full, _)| self.around(full).is_some_and(|around| Arc::ptr_eq(around, root)));
            near.extend(own.map(|(_, name)| name).take(NEAR_MAX));
        }
        near.truncate(NEAR_MAX);
        (!near.is_empty()).then(|| near.join(" or "))
    }

    /// Refuses a text that is the name of a file with what is no line behind it: `FILE:70-60`.
    ///
    /// # Errors
    /// When it is one.
    pub(super) fn check_lines(&self, written: &str) -> Result<()> {
        let place = |path: &str| self.meant(path).ok().flatten().and_then(|place| place.canonicalize().ok());
        let is_file = |path: &str| place(path).is_some_and(|full| full.is_file() && self.around(&full).is_some());
        match unread_line(written, is_file, is_file) {
            Some(unread) => Err(EngineError::from(Refused::not_a_line(unread)).into()),
            None => Ok(()),
        }
    }

    /// [`ServerState::locate`] of paths, and of the folders of groups of the settings.
    ///
    /// # Errors
    /// When one of them lies outside the roots, or there is no such group.
    pub fn located(&self, paths: &[String], groups: &[String]) -> Result<Vec<(&Arc<Root>, PathBuf, String)>> {
        let mut located = paths.iter().map(|path| self.locate(path)).collect::<Result<Vec<_>>>()?;
        for group in groups {
            for folder in self.group(group)? {
                let outside =
                    || format!("the group {group:?}; `--group {group}` starts a server that answers about it");
                located.push(self.locate(&folder.to_string_lossy()).with_context(outside)?);
            }
        }
        Ok(located)
    }

    /// The files of a root that are served by name.
    ///
    /// # Errors
    /// When its index can't be read.
    pub(super) fn served(&self, root: &Arc<Root>) -> Result<ServedFiles> {
        let snapshot = if self.indexed_only { Some(self.snapshot(root)?) } else { None };
        Ok(ServedFiles { root: root.project.root.clone(), snapshot })
    }

    /// Whether a root's hidden files or secrets are indexed.
    fn serves_secrets(&self, root: &Arc<Root>) -> bool {
        let asked = [self.options.hidden, self.options.secrets].contains(&Some(true));
        asked || self.snapshot(root).is_ok_and(|snapshot| snapshot.files.hidden || snapshot.files.secrets)
    }
}
