//! Which project a path belongs to, and where its index is.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use colgrep_index::store::{Store, project_folder};
use colgrep_index::walk::LeftOut;

use crate::env::Env;
use crate::settings::Settings;

/// A project: its root and its store.
#[derive(Clone, Debug)]
pub struct Project {
    /// Absolute root.
    pub root: PathBuf,
    /// Its index.
    pub store: Store,
    /// What its settings leave out of the index, as in a `.gitignore` at the root; read by `Project::settings`.
    pub ignored: Vec<String>,
}

impl Project {
    /// The project around `path`, and `path` relative to its root (`/` between components; empty for the root itself).
    ///
    /// The root is the nearest ancestor with an index, else the git root, else the folder given (or the folder of the file given).
    ///
    /// # Errors
    /// When `path` does not exist.
    pub fn around(path: &Path, env: &Env) -> Result<(Project, String)> {
        if path.as_os_str().is_empty() {
            bail!("an empty path was given; say . for the current folder");
        }
        let full = path.canonicalize().with_context(|| {
            let words = path.components().count() == 1 && !path.to_string_lossy().contains('.');
            let hint =
                if words { " (a query of several words stands in quotes: colgrep \"parse request\")" } else { "" };
            format!("{}{hint}", path.display())
        })?;
        let folder = if full.is_dir() { full.clone() } else { full.parent().unwrap_or(&full).to_path_buf() };
        let data = env.data_folder()?;
        let store = |root: &Path| Store::new(project_folder(&data, root));
        let indexed = folder.ancestors().find(|a| store(a).exists());
        let git = || folder.ancestors().find(|a| a.join(".git").exists());
        let root = indexed.or_else(git).unwrap_or(&folder).to_path_buf();
        let below = full.strip_prefix(&root).unwrap_or(Path::new(""));
        let below = below.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        let store = store(&root);
        Ok((Project { root, store, ignored: Vec::new() }, below))
    }

    /// The settings of the root, whose `ignore` holds from now on.
    ///
    /// # Errors
    /// When a file of them is not to be understood.
    pub(crate) fn settings(&mut self, env: &Env) -> Result<Settings> {
        let settings = Settings::load(env, &self.root)?;
        self.ignored = settings.ignore().to_vec();
        Ok(settings)
    }

    /// Whatever a walk for the index leaves out besides ignored and hidden files.
    pub(crate) fn left_out(&self) -> LeftOut<'_> {
        LeftOut { folder: Some(self.store.folder()), patterns: &self.ignored }
    }

    /// Refuses to index a home folder or the whole disk unless told so.
    ///
    /// # Errors
    /// When `root` is one of them and `yes` is not given.
    pub fn check_size(&self, env: &Env, yes: bool) -> Result<()> {
        let home = env.home.as_ref().and_then(|h| h.canonicalize().ok());
        let vast = self.root.parent().is_none() || home.as_deref() == Some(&self.root);
        if vast && !yes && !self.store.exists() {
            bail!("{} is not a project; name a folder inside it, or pass -y to index all of it", self.root.display());
        }
        Ok(())
    }
}
