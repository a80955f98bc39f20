//! Roots that can't be served now: which, why, and how answers tell it. What the others answer leaves them out.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};

use anyhow::{Result, bail};
use colgrep_engine::project::damage::damage;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::Settings;
use colgrep_index::store::Snapshot;
use serde::Serialize;

use super::state::{Root, ServerState};
use colgrep_render::advice::for_tools;

/// A root that can't be served now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unserved {
    /// Its folder.
    pub root: String,
    /// Why not, on one line.
    pub why: String,
}

impl Unserved {
    /// A folder that an error is about.
    pub fn new(folder: &Path, error: &anyhow::Error) -> Unserved {
        Unserved { root: folder.display().to_string(), why: on_one_line(&for_tools(error)) }
    }
}

impl fmt::Display for Unserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why.starts_with(&self.root) {
            true => f.write_str(&self.why),
            false => write!(f, "{}: {}", self.root, self.why),
        }
    }
}

/// What a request is about can't be served now, for no fault of its own.
#[derive(Debug)]
pub struct NotServed(pub String);

impl fmt::Display for NotServed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotServed {}

/// What is known of a root that can't be served.
#[derive(Debug)]
pub(super) struct Trouble {
    why: String,
    /// Whether its index could not be opened, which shows only when that is tried.
    of_index: bool,
}

/// A root that can be served: its index, its settings and its model.
type Opened<'r> = (Arc<Snapshot>, Settings, Option<&'r Model>);

/// What an answer says of the roots that it leaves out; nothing where there are none.
pub fn told(unserved: &[Unserved]) -> Option<String> {
    let each: Vec<String> = unserved.iter().map(ToString::to_string).collect();
    (!each.is_empty()).then(|| format!("repositories that can't be searched now are left out: {}", each.join("; ")))
}

/// Fails where something is left out, and nothing is left.
///
/// # Errors
/// When it is so.
pub fn check_rest(is_empty: bool, unserved: &[Unserved]) -> Result<()> {
    match told(unserved).filter(|_| is_empty) {
        Some(_) => {
            let each: Vec<String> = unserved.iter().map(ToString::to_string).collect();
            Err(NotServed(each.join("; ")).into())
        }
        None => Ok(()),
    }
}

/// A message of several lines, as those on settings are, on one.
fn on_one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

impl ServerState {
    /// Fails where a root can't be served, as far as that shows without its index.
    ///
    /// # Errors
    /// When its folder is gone, or its settings can't be understood.
    pub fn check(&self, root: &Root) -> Result<()> {
        check_folder(root)?;
        self.stand();
        root.project.clone().settings(&self.env)?;
        settings_at(&root.folder, &self.env)?;
        Ok(())
    }

    /// Why a root can't be served, where that shows without its index; it is known from then on.
    pub fn look(&self, root: &Root) -> Option<Unserved> {
        let found = self.check(root).err().map(|error| Unserved::new(&root.folder, &error));
        let mut known = root.known_trouble();
        if found.is_some() || known.as_ref().is_some_and(|trouble| !trouble.of_index) {
            *known = found.map(|one| Trouble { why: one.why, of_index: false });
        }
        drop(known);
        root.trouble()
    }

    /// A root's index, brought up to date, its settings and its model. Where that fails, it is known from then on.
    ///
    /// # Errors
    /// When the root can't be served.
    pub fn opened<'r>(&self, root: &'r Arc<Root>) -> Result<Opened<'r>> {
        let open = || -> Result<Opened<'r>> { Ok((self.snapshot(root)?, self.settings(root)?, self.model(root)?)) };
        let error = match open() {
            Ok(opened) => {
                *root.known_trouble() = None;
                return Ok(opened);
            }
            // Whoever asked repairs it and tries again.
            Err(error) if damage(error.as_ref()).is_some() => return Err(error),
            Err(error) => error,
        };
        let unserved = Unserved::new(&root.folder, &error);
        let of_index = self.check(root).is_ok();
        let told = unserved.to_string();
        *root.known_trouble() = Some(Trouble { why: unserved.why, of_index });
        Err(if of_index { error } else { NotServed(told).into() })
    }

    /// What was given when the server was started, or by a client, and is no root.
    pub fn lost(&self) -> &[Unserved] {
        &self.lost
    }

    /// All that is known not to be served.
    pub fn unserved(&self) -> Vec<Unserved> {
        self.roots().filter_map(|root| root.trouble()).chain(self.lost().iter().cloned()).collect()
    }
}

/// Fails where a root's folder is gone.
///
/// # Errors
/// When it is.
pub(super) fn check_folder(root: &Root) -> Result<()> {
    if !root.folder.is_dir() {
        bail!(NotServed(format!("{} is no folder any more", root.folder.display())));
    }
    Ok(())
}

impl Root {
    fn known_trouble(&self) -> MutexGuard<'_, Option<Trouble>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why it can't be served, as far as that is known.
    pub fn trouble(&self) -> Option<Unserved> {
        let known = self.known_trouble();
        known.as_ref().map(|trouble| Unserved { root: self.folder.display().to_string(), why: trouble.why.clone() })
    }
}
