//! What a shard serves: repositories, and all of them at one time.

use std::sync::Arc;

use colgrep_engine::project::Project;
use colgrep_engine::settings::Settings;
use colgrep_index::mode::VectorMode;
use colgrep_index::store::Snapshot;
use xxhash_rust::xxh3::xxh3_64;

use crate::message::{Known, KnownFiles, Welcome};

/// A repository that is served.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Its name, which stands in front of its paths.
    pub name: String,
    /// Its project.
    pub project: Project,
    /// Its index.
    pub snapshot: Arc<Snapshot>,
    /// Its settings.
    pub settings: Settings,
    /// How many files its index knows as they are now, where these are not all.
    pub known_files: Option<KnownFiles>,
    /// Units whose vectors are not there yet; 0 where its index is to keep none.
    units_without_vectors: u64,
}

impl Repository {
    /// A repository with an index that knows all files of it.
    pub fn new(name: String, project: Project, snapshot: Arc<Snapshot>, settings: Settings) -> Repository {
        // An index says where it lacks none; else every unit is looked at.
        let is_whole = snapshot.vectors.as_ref().is_some_and(|vectors| vectors.manifest().complete);
        let is_to_keep_all = |mode: VectorMode| mode == VectorMode::Full;
        let keeps = is_to_keep_all(snapshot.files.mode) && settings.index_mode().is_none_or(is_to_keep_all);
        let lacks = keeps && !is_whole;
        let units_without_vectors = if lacks { snapshot.coverage().without_vectors() } else { 0 };
        Repository { name, project, snapshot, settings, known_files: None, units_without_vectors }
    }

    /// How much its index knows; of vectors where those of a model are asked for.
    pub(crate) fn known(&self, has_model: bool) -> Known {
        let units_without_vectors = if has_model { self.units_without_vectors } else { 0 };
        Known { files: self.known_files, units: self.snapshot.files.units(), units_without_vectors }
    }
}

/// What is served at one time.
#[derive(Debug, Default)]
pub struct Generation {
    /// A number of it: two processes give the same one where they hold the same indexes.
    pub fingerprint: u64,
    /// The repositories, by name.
    pub repositories: Vec<Repository>,
}

impl Generation {
    /// These repositories.
    pub fn new(mut repositories: Vec<Repository>) -> Generation {
        repositories.sort_by(|a, b| a.name.cmp(&b.name));
        let mut bytes = Vec::new();
        for repository in &repositories {
            bytes.extend(repository.name.as_bytes());
            bytes.push(0);
            bytes.extend(repository.snapshot.fingerprint().to_le_bytes());
        }
        Generation { fingerprint: xxh3_64(&bytes), repositories }
    }

    pub(crate) fn welcome(&self, unserved: Vec<String>) -> Welcome {
        let repositories = self.repositories.iter().map(|repository| repository.name.clone()).collect();
        Welcome { generation: self.fingerprint, repositories, unserved }
    }
}

/// Gives what is served.
pub trait Held: Send + Sync {
    /// The repositories as they are now; none before they are open.
    fn now(&self) -> Option<Arc<Generation>>;

    /// Is told that an index can't be read.
    fn damaged(&self, why: &str);

    /// The repositories that can't be served now, each with the reason.
    fn missing(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
