//! A remote, open: what the command line asks of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use colgrep_index::mode::VectorMode;
use colgrep_index::store::{Part, Shipment, Store};
use colgrep_index::walk::WalkOptions;
use object_store::ObjectStore;
use object_store::path::Path as ObjectPath;
use tokio::runtime::Runtime;

use crate::address::Place;
use crate::bucket::Bucket;
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::open::{Access, open};
use crate::prune::prune;
use crate::pull::{self, Becomes, Found, Pulled, Wanted};
use crate::push::{self, Pushed, Sent};
use crate::watch::Watch;

/// How often a pull begins again because the index that it fetches was replaced and removed meanwhile.
const TRIES: u32 = 3;
/// How long a pull waits for another one of the same project.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// A place where indexes are shared.
#[derive(Debug)]
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    root: ObjectPath,
    place: String,
    folder: Option<PathBuf>,
    runtime: Runtime,
}

/// What a remote has of a repository.
#[derive(Clone, Debug, Default)]
pub struct Known(HashSet<String>);

impl Known {
    /// Whether it has the bytes of a part.
    ///
    /// # Errors
    /// Where the part can't be read.
    pub fn has(&self, part: &Part) -> std::io::Result<bool> {
        Ok(!self.0.is_empty() && self.0.contains(&push::hash_of(part, &|_| {})?))
    }
}

impl Remote {
    /// Opens a place. A folder needs no network, and none is touched for it.
    ///
    /// # Errors
    /// Where the address or the credentials are not to be understood.
    pub fn open(place: &Place, access: &Access<'_>) -> Result<Remote> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = if place.is_folder() { runtime.enable_time() } else { runtime.enable_all() };
        let runtime = runtime.build().map_err(|source| Error::Io { what: "could not start".to_string(), source })?;
        let (store, root) = open(place, access)?;
        Ok(Remote { store, root, place: place.to_string(), folder: place.folder().map(Path::to_path_buf), runtime })
    }

    fn bucket(&self, name: &str) -> Bucket {
        Bucket::new(Arc::clone(&self.store), &self.root, &self.place, name)
    }

    /// What the remote has of the repository `name`, by hash: better known before an index is built than after.
    ///
    /// # Errors
    /// Where it can't be reached or read.
    pub fn known(&self, name: &str) -> Result<Known> {
        let newest = self.runtime.block_on(self.bucket(name).newest())?;
        Ok(Known(newest.manifest.iter().flat_map(Manifest::hashes).map(str::to_string).collect()))
    }

    /// Pushes an index as that of the repository `name`.
    ///
    /// # Errors
    /// Where it can't be read or the store does not take it.
    pub fn push(&self, name: &str, shipment: &Shipment, sent: &Sent<'_>, watch: &dyn Watch) -> Result<Pushed> {
        if let Some(folder) = &self.folder {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|source| Error::Io { what: format!("could not create {}", folder.display()), source })?;
        }
        self.runtime.block_on(push::push(&self.bucket(name), name, shipment, sent, watch))
    }

    /// Removes what no manifest of `name` names and is older than `age`; how many blobs, and their bytes. A push under way
    /// must not take longer than half of the age.
    ///
    /// # Errors
    /// Where the store refuses.
    pub fn prune(&self, name: &str, age: Duration) -> Result<(u64, u64)> {
        let bucket = self.bucket(name);
        let (blobs, bytes) = self.runtime.block_on(prune(&bucket, age))?;
        let left = self.folder.as_ref().map_or(0, |folder| bucket.clear_unfinished(folder, age));
        Ok((blobs + left, bytes))
    }

    /// The index to take of the first of these names that the remote knows.
    ///
    /// # Errors
    /// [`Error::Unknown`] where it knows none of them, [`Error::OtherFormat`] where it has none that can be read here.
    pub fn find(&self, names: &[String], wanted: &Wanted<'_>) -> Result<Found> {
        for name in names {
            let newest = self.runtime.block_on(self.bucket(name).newest())?;
            if let Some(manifest) = newest.manifest.filter(|manifest| !manifest.snapshots.is_empty()) {
                return pull::choose(name, &manifest.snapshots, wanted, &self.place);
            }
        }
        Err(Error::Unknown { place: self.place.clone(), names: names.to_vec() })
    }

    /// Takes an index as that of the project at `root`, whose index is in `store`; until the last step that stays as it
    /// was. `looks_again` finds the index anew where the remote does not have its files any more.
    ///
    /// # Errors
    /// Where it can't be fetched, is damaged, or the disk refuses.
    pub fn pull(
        &self,
        found: Found,
        (store, root): (&Store, &Path),
        (options, mode): (WalkOptions, VectorMode),
        looks_again: &dyn Fn() -> Result<Found>,
        watch: &dyn Watch,
    ) -> Result<(Found, Pulled)> {
        let incoming = store.incoming();
        let lock = incoming.lock_within(PATIENCE, &|| {})?;
        let mut found = found;
        for tries in 1.. {
            let bucket = self.bucket(&found.name);
            let fetched = pull::fetch(&bucket, &found, &incoming, store, watch);
            match self.runtime.block_on(fetched) {
                Err(Error::Gone { .. }) if tries < TRIES => {
                    found = looks_again()?;
                }
                Err(error) => return Err(error),
                Ok(pulled) => {
                    pull::install(&found, &incoming, lock, store, Becomes { root, options, mode })?;
                    return Ok((found, pulled));
                }
            }
        }
        Err(Error::Races { place: self.place.clone() })
    }
}
