//! Which roots can be served now: what a request opens, and what is remembered of those that failed.

use std::sync::Arc;

use anyhow::Result;
use colgrep_engine::project::damage::damage;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::Settings;
use colgrep_index::store::Snapshot;
use colgrep_index::update::ReadFirst;

use super::root::{Root, check_folder};
use super::state::ServerState;
use super::unserved::{NotServed, Trouble, Unserved};

/// A root that can be served: its index, its settings and its model.
type Opened<'r> = (Arc<Snapshot>, Settings, Option<&'r Model>);

impl ServerState {
    /// Fails if a root can't be served, without opening its index.
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
    pub fn opened<'r>(&self, root: &'r Arc<Root>, first: &ReadFirst) -> Result<Opened<'r>> {
        let open = || -> Result<Opened<'r>> {
            Ok((self.snapshot_with(root, first)?, self.settings(root)?, self.model(root)?))
        };
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

    /// Arguments of the server or a client that are not roots.
    pub fn lost(&self) -> &[Unserved] {
        &self.lost
    }

    /// All that is known not to be served.
    pub fn unserved(&self) -> Vec<Unserved> {
        self.roots().filter_map(|root| root.trouble()).chain(self.lost().iter().cloned()).collect()
    }
}
