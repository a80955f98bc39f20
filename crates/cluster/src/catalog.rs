//! The repositories of a shard, and their state at one time.

use std::sync::Arc;

use colgrep_engine::project::Project;
use colgrep_engine::settings::Settings;
use colgrep_index::mode::VectorMode;
use colgrep_index::store::Snapshot;
use xxhash_rust::xxh3::xxh3_64;

use crate::message::{FileProgress, IndexProgress, Welcome};

/// A repository that a shard serves.
#[derive(Clone, Debug)]
pub struct HostedRepository {
    /// Its name, the prefix of its paths.
    pub name: String,
    pub project: Project,
    pub snapshot: Arc<Snapshot>,
    pub settings: Settings,
    /// How many files are indexed as they are now, if not all are.
    pub known_files: Option<FileProgress>,
    /// True if the index can't be updated for want of room on the disk.
    pub has_no_room: bool,
    /// True if the newest index could not be fetched.
    pub is_not_fetched: bool,
    /// Number of units without vectors; 0 if the index is not meant to have vectors.
    units_without_vectors: u64,
}

impl HostedRepository {
    /// A repository with a complete index.
    pub fn new(name: String, project: Project, snapshot: Arc<Snapshot>, settings: Settings) -> HostedRepository {
        // If the index doesn't record that it is complete, every unit is checked.
        let is_whole = snapshot.vectors.as_ref().is_some_and(|vectors| vectors.manifest().complete);
        let is_to_keep_all = |mode: VectorMode| mode == VectorMode::Full;
        let keeps = is_to_keep_all(snapshot.files.mode) && settings.index_mode().is_none_or(is_to_keep_all);
        let lacks = keeps && !is_whole;
        let units_without_vectors = if lacks { snapshot.coverage().without_vectors() } else { 0 };
        HostedRepository {
            name,
            project,
            snapshot,
            settings,
            known_files: None,
            has_no_room: false,
            is_not_fetched: false,
            units_without_vectors,
        }
    }

    /// The same of a server that was started with this mode.
    #[must_use]
    pub fn with_mode(self, mode: VectorMode) -> HostedRepository {
        let units_without_vectors = if mode == VectorMode::Full { self.units_without_vectors } else { 0 };
        HostedRepository { units_without_vectors, ..self }
    }

    /// When the index was written, in milliseconds since 1970.
    pub(crate) fn written_ms(&self) -> u64 {
        self.snapshot.written_ms()
    }

    /// The state of the index; with vectors only if the search has a model.
    pub(crate) fn known(&self, has_model: bool) -> IndexProgress {
        let units_without_vectors = if has_model { self.units_without_vectors } else { 0 };
        IndexProgress {
            files: self.known_files,
            units: self.snapshot.files.units(),
            units_without_vectors,
            has_no_room: self.has_no_room,
            is_not_fetched: self.is_not_fetched,
        }
    }
}

/// The repositories at one time.
#[derive(Debug, Default)]
pub struct Generation {
    /// Identifies the state of the indexes: processes with the same indexes have the same fingerprint.
    pub fingerprint: u64,
    /// The repositories, sorted by name.
    pub repositories: Vec<HostedRepository>,
}

impl Generation {
    /// Sorts repositories and computes their fingerprint.
    pub fn new(mut repositories: Vec<HostedRepository>) -> Generation {
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
        let written_ms = self.repositories.iter().map(HostedRepository::written_ms).collect();
        let those = |is_so: fn(&HostedRepository) -> bool| {
            let those = self.repositories.iter().filter(|repository| is_so(repository));
            those.map(|repository| repository.name.clone()).collect()
        };
        let (no_room, not_fetched) = (those(|one| one.has_no_room), those(|one| one.is_not_fetched));
        Welcome { generation: self.fingerprint, repositories, written_ms, no_room, not_fetched, unserved }
    }
}

/// What clients occupy of a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShardLoad {
    pub connections: usize,
    pub sessions: usize,
}

/// Provides the repositories of a server.
pub trait Catalog: Send + Sync {
    /// The current repositories; `None` until they are open.
    fn now(&self) -> Option<Arc<Generation>>;

    /// Called when an index turns out to be unreadable.
    fn damaged(&self, error: colgrep_index::Error);

    /// Called when a panic outside of work on an index ended a connection.
    fn broke(&self, panic: &colgrep_index::Error);

    /// Why the server is not ready although it may answer, if so. Names no repository: anybody may ask.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// What is wrong although the server is ready, if anything is. Names no repository: anybody may ask.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Metrics in the text format of OpenMetrics, if there are any.
    fn metrics(&self, _: &ShardLoad) -> Option<String> {
        None
    }

    /// The repositories that can't be served now, each with the reason.
    fn missing(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
