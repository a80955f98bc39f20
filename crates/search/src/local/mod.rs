//! A shard in this process: an index, with a filter.

mod vectors;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, OnceLock, PoisonError};

use colgrep_core::bm25::Bm25;
use colgrep_core::query::Query;
use colgrep_core::statistics::Statistics;
use vectors::VectorSearch;
use xxhash_rust::xxh3::xxh3_64;

use crate::shard::{RepositoryExtent, ShardExtent, ShardQuery, UnitFound};
use colgrep_index::error::{Error, Result};
use colgrep_index::ids::{FileId, FilePlace};
use colgrep_index::lexical::{LookedUp, NamedFile, NamesFound, Scoring, UnitFilter, UnitHit};
use colgrep_index::store::{FileRecord, Snapshot};

/// How the repositories of an index are arranged in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The index is one repository, with this prefix if it is one of several: `web/`.
    One(String),
    /// Each folder at the root is a repository. Its name counts as a component of its paths.
    Folders,
    /// Each folder at the root is a repository. Its name is the prefix of its paths, not a component of them.
    Fronts,
}

/// An index in this process.
#[derive(Clone)]
pub struct LocalShard<'a> {
    snapshot: &'a Snapshot,
    filter: Option<&'a dyn UnitFilter>,
    layout: Layout,
}

impl std::fmt::Debug for LocalShard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalShard").field("root", &self.snapshot.files.root).field("layout", &self.layout).finish()
    }
}

impl<'a> LocalShard<'a> {
    /// An index that returns what `filter` allows, or everything without one.
    pub fn new(snapshot: &'a Snapshot, filter: Option<&'a dyn UnitFilter>) -> LocalShard<'a> {
        LocalShard { snapshot, filter, layout: Layout::One(String::new()) }
    }

    /// The same index with another layout.
    #[must_use]
    pub fn layout(self, layout: Layout) -> LocalShard<'a> {
        LocalShard { layout, ..self }
    }

    pub(crate) fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// The contents of the index.
    pub(crate) fn extent(&self) -> ShardExtent {
        let files = &self.snapshot.files.files;
        let repositories = match &self.layout {
            Layout::One(front) => vec![RepositoryExtent { front: front.clone(), first: FilePlace(0) }],
            Layout::Folders | Layout::Fronts => folders(files),
        };
        let (segments, documents, _) = self.snapshot.lexical.shape();
        let (places, segments) = (files.len() as u32, segments as u32);
        ShardExtent { repositories, places, documents, segments, is_filtered: self.filter.is_some() }
    }

    pub(crate) fn allows(&self, file: FileId) -> bool {
        self.filter.is_none_or(|filter| filter.allows_file(file))
    }

    pub(crate) fn place(&self, file: FileId) -> FilePlace {
        self.snapshot.order().place(file)
    }

    pub(crate) fn record(&self, place: FilePlace) -> Option<&'a FileRecord> {
        self.snapshot.files.files.get(place.0 as usize)
    }

    /// The number of a file, or one that belongs to no file.
    pub(crate) fn number(&self, place: FilePlace) -> FileId {
        self.record(place).map_or(FileId(u32::MAX), |record| record.id)
    }

    /// The prefix of a file's path, and its path in the repository.
    pub(crate) fn path_of<'r>(&'r self, record: &'r FileRecord) -> (&'r str, &'r str) {
        let path = record.path.as_str();
        match &self.layout {
            Layout::One(front) => (front, path),
            Layout::Folders => ("", path),
            Layout::Fronts => path.split_at(front_of(path).len()),
        }
    }

    /// The path in this index of a file of the corpus; `None` if the file is in another repository.
    pub(crate) fn own_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        match &self.layout {
            Layout::One(front) => path.strip_prefix(front.as_str()),
            Layout::Folders | Layout::Fronts => Some(path),
        }
    }

    /// The folder of a file's repository in the index, with its `/`.
    pub(crate) fn folder_of<'p>(&self, path: &'p str) -> &'p str {
        match &self.layout {
            Layout::One(_) => "",
            Layout::Folders | Layout::Fronts => front_of(path),
        }
    }

    /// A pseudo-random number that depends only on the file's whole path.
    pub(crate) fn lot(&self, file: FileId) -> u64 {
        let Some(record) = self.record(self.place(file)) else { return 0 };
        let (front, path) = self.path_of(record);
        xxh3_64([front, path].concat().as_bytes())
    }

    /// Places of files, ascending.
    pub(crate) fn places(&self, files: Vec<FileId>) -> Vec<FilePlace> {
        let mut places: Vec<FilePlace> = files.into_iter().map(|file| self.place(file)).collect();
        places.sort_unstable();
        places
    }

    pub(crate) fn found(&self, hit: &UnitHit) -> UnitFound {
        let UnitHit { key, file, kind, role, line, end, score, .. } = *hit;
        UnitFound { unit: key, file: self.place(file), kind, role, line, end, score }
    }

    /// Units sorted by file, line and address.
    pub(crate) fn in_order(&self, hits: &[UnitHit]) -> Vec<UnitFound> {
        let mut units: Vec<UnitFound> = hits.iter().map(|hit| self.found(hit)).collect();
        units.sort_by_key(UnitFound::place);
        units
    }
}

/// The top-level folder of a path, with its `/`; empty for a file at the root.
fn front_of(path: &str) -> &str {
    path.find('/').map_or("", |at| &path[..=at])
}

/// The folders at the root, as repositories; a file at the root is one of its own.
fn folders(files: &[FileRecord]) -> Vec<RepositoryExtent> {
    let mut folders: Vec<RepositoryExtent> = Vec::new();
    for (file, at) in files.iter().zip(0..) {
        let front = front_of(&file.path);
        if front.is_empty() || folders.last().is_none_or(|last| last.front != front) {
            let front = if front.is_empty() { file.path.clone() } else { front.to_string() };
            folders.push(RepositoryExtent { front, first: FilePlace(at) });
        }
    }
    folders
}

/// One search in an index of this process, with its cached lookups.
pub struct LocalSearch<'a> {
    pub(crate) shard: &'a LocalShard<'a>,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) query: &'a Query,
    pub(crate) looked_up: LookedUp<'a>,
    pub(crate) names: NamesFound,
    /// The statistics of the corpus, once they have arrived.
    pub(crate) sums: OnceLock<Statistics>,
    /// The files that match by name, once they are looked up.
    pub(crate) named: OnceLock<BTreeMap<FileId, NamedFile>>,
    /// The candidates by words, if only the outline of their scores was returned.
    pub(crate) withheld: OnceLock<Vec<UnitFound>>,
    pub(crate) vectors: VectorSearch<'a>,
    bm25: Bm25,
    /// For each term looked up so far, the files that contain it.
    holders: Mutex<HashMap<String, Vec<FileId>>>,
}

impl std::fmt::Debug for LocalSearch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalSearch").field("shard", &self.shard).finish_non_exhaustive()
    }
}

impl<'a> LocalSearch<'a> {
    pub(crate) fn new(shard: &'a LocalShard<'a>, query: &ShardQuery<'a>) -> Result<LocalSearch<'a>> {
        let snapshot = shard.snapshot;
        Ok(LocalSearch {
            shard,
            snapshot,
            bm25: query.bm25,
            query: query.query,
            looked_up: snapshot.lexical.look_up(query.query, &query.bm25)?,
            names: snapshot.lexical.names(query.query)?,
            sums: OnceLock::new(),
            named: OnceLock::new(),
            withheld: OnceLock::new(),
            vectors: VectorSearch::new(snapshot, query.vectors),
            holders: Mutex::default(),
        })
    }

    pub(crate) fn filter(&self) -> Option<&'a dyn UnitFilter> {
        self.shard.filter
    }

    pub(crate) fn scoring(&self) -> Result<Scoring<'_>> {
        let statistics = self.sums.get().ok_or(Error::OutOfTurn("a score before the statistics"))?;
        Ok(Scoring { statistics, bm25: &self.bm25, filter: self.filter(), order: self.snapshot.ties() })
    }

    /// Calls `read` with the files that contain a term, ascending by number. Each term is looked up once.
    pub(crate) fn files_with<T>(&self, term: &str, read: impl FnOnce(&[FileId]) -> T) -> Result<T> {
        let known = || self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = known().get(term) {
            return Ok(read(files));
        }
        let files = self.snapshot.lexical.files_with(term)?;
        let result = read(&files);
        known().insert(term.to_string(), files);
        Ok(result)
    }
}
