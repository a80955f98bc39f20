//! Paths and groups of a request: in which root they lie, and what is not served there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::project::settings_at;
use colgrep_syntax::read::looks_secret;

use super::state::{Root, ServerState};
use super::unserved::check_folder;

impl ServerState {
    /// The folders of a group of projects.
    ///
    /// # Errors
    /// When the settings have no group of that name.
    pub(super) fn group(&self, name: &str) -> Result<Vec<PathBuf>> {
        Ok(settings_at(&self.started, &self.env)?.group(name, &self.env)?)
    }

    /// The root that holds `path` (from the first root, or absolute) with the path from that root's project.
    ///
    /// # Errors
    /// When there is no such file or folder, it lies outside all roots, or it is not served: git's own files, and files
    /// that look like secrets unless these or hidden files are indexed. A text that the tool's caller has read may have
    /// told it what to ask for.
    pub fn locate(&self, path: &str) -> Result<(&Arc<Root>, PathBuf, String)> {
        self.check_here()?;
        self.check_roots()?;
        // Relative to the root, not to the current folder, which may have been replaced.
        let written = self.roots[0].folder.join(path);
        let outside = || {
            let roots: Vec<String> = self.roots.iter().map(|r| r.folder.display().to_string()).collect();
            format!("{path} is not a file or folder inside the roots of this server: {}", roots.join(", "))
        };
        let Ok(full) = written.canonicalize() else {
            self.roots().filter(|r| written.starts_with(&r.folder)).try_for_each(|r| check_folder(r))?;
            bail!(outside())
        };
        // Of roots inside each other, the inner one.
        let around = self.roots().filter(|r| full.starts_with(&r.folder));
        let Some(root) = around.max_by_key(|r| r.folder.components().count()) else { bail!(outside()) };
        let inside = full.strip_prefix(&root.folder).unwrap_or(Path::new(""));
        if inside.components().any(|c| c.as_os_str() == ".git") {
            bail!("{path} belongs to git, and is not served");
        }
        if looks_secret(&inside.to_string_lossy()) && full.is_file() && !self.serves_secrets(root) {
            bail!(
                "{path} looks like a secret, and is not served unless hidden files or secrets are indexed (settings `hidden`, `secrets`)"
            );
        }
        let below = full.strip_prefix(&root.project.root).unwrap_or(Path::new(""));
        let below = below.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        Ok((root, full, below))
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

    /// Whether a root's hidden files or secrets are indexed.
    fn serves_secrets(&self, root: &Arc<Root>) -> bool {
        let asked = [self.options.hidden, self.options.secrets].contains(&Some(true));
        asked || self.snapshot(root).is_ok_and(|snapshot| snapshot.files.hidden || snapshot.files.secrets)
    }
}
