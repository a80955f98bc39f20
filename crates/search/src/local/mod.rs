//! A shard in this process: an index, with a filter.

mod meaning;
mod near;
mod places;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, OnceLock};

use colgrep_core::UnitId;
use colgrep_core::query::Query;
use colgrep_core::statistics::Statistics;
use xxhash_rust::xxh3::xxh3_64;

use super::shard::{Asked, Extent, Repository, Shard, ShardSearch, UnitFound};
use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, FilePlace};
use colgrep_index::lexical::{LookedUp, NamedFile, NamesFound, UnitFilter, UnitHit};
use colgrep_index::store::{FileRecord, Snapshot};

/// How the repositories of an index lie in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// It is one repository, with this in front of its paths where it is one of several: `web/`.
    One(String),
    /// Each folder at its root is one. Their names are words of their paths like others.
    Folders,
    /// Each folder at its root is one, whose name stands in front of its paths and is no word of them.
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
    /// An index that gives what `filter` allows; without one, everything.
    pub fn new(snapshot: &'a Snapshot, filter: Option<&'a dyn UnitFilter>) -> LocalShard<'a> {
        LocalShard { snapshot, filter, layout: Layout::One(String::new()) }
    }

    /// The same index, with its repositories so.
    #[must_use]
    pub fn layout(self, layout: Layout) -> LocalShard<'a> {
        LocalShard { layout, ..self }
    }

    fn allows(&self, file: FileId) -> bool {
        self.filter.is_none_or(|filter| filter.allows_file(file))
    }

    fn place(&self, file: FileId) -> FilePlace {
        self.snapshot.order().place(file)
    }

    fn record(&self, place: FilePlace) -> Option<&'a FileRecord> {
        self.snapshot.files.files.get(place.0 as usize)
    }

    /// The numbers of files, without those that the index does not have.
    fn number(&self, place: FilePlace) -> FileId {
        self.record(place).map_or(FileId(u32::MAX), |record| record.id)
    }

    /// What stands in front of a file's path, and its path from there.
    fn path_of<'r>(&'r self, record: &'r FileRecord) -> (&'r str, &'r str) {
        let path = record.path.as_str();
        match &self.layout {
            Layout::One(front) => (front, path),
            Layout::Folders => ("", path),
            Layout::Fronts => path.split_at(front_of(path).len()),
        }
    }

    /// The path in this index of a file of the corpus; none where the file is of another repository.
    fn own_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        match &self.layout {
            Layout::One(front) => path.strip_prefix(front.as_str()),
            Layout::Folders | Layout::Fronts => Some(path),
        }
    }

    /// The folder of the index in which a file's repository lies, with its `/`.
    fn folder_of<'p>(&self, path: &'p str) -> &'p str {
        match &self.layout {
            Layout::One(_) => "",
            Layout::Folders | Layout::Fronts => front_of(path),
        }
    }

    /// A number of a file that looks random and depends on its whole path alone.
    fn lot(&self, file: FileId) -> u64 {
        let Some(record) = self.record(self.place(file)) else { return 0 };
        let (front, path) = self.path_of(record);
        xxh3_64([front, path].concat().as_bytes())
    }

    fn found(&self, hit: &UnitHit) -> UnitFound {
        let UnitHit { key, file, kind, role, line, score, .. } = *hit;
        UnitFound { unit: key, file: self.place(file), kind, role, line, score }
    }

    /// Units in order of file, line and address.
    fn in_order(&self, hits: &[UnitHit]) -> Vec<UnitFound> {
        let mut units: Vec<UnitFound> = hits.iter().map(|hit| self.found(hit)).collect();
        units.sort_by_key(UnitFound::place);
        units
    }
}

/// The folder at the root that a path lies in, with its `/`; empty for a file at the root.
fn front_of(path: &str) -> &str {
    path.find('/').map_or("", |at| &path[..=at])
}

impl Shard for LocalShard<'_> {
    fn extent(&self) -> Extent {
        let files = &self.snapshot.files.files;
        let repositories = match &self.layout {
            Layout::One(front) => vec![Repository { front: front.clone(), first: FilePlace(0) }],
            Layout::Folders | Layout::Fronts => folders(files),
        };
        let (segments, documents, _) = self.snapshot.lexical.shape();
        let (places, segments) = (files.len() as u32, segments as u32);
        Extent { repositories, places, documents, segments, is_filtered: self.filter.is_some() }
    }

    fn is_name(&self, term: &str) -> Result<bool> {
        self.snapshot.lexical.is_name(term)
    }

    fn ask<'s>(&'s self, asked: &Asked<'s>) -> Result<Box<dyn ShardSearch + 's>> {
        Ok(Box::new(LocalSearch {
            shard: self,
            snapshot: self.snapshot,
            asked: *asked,
            query: asked.query,
            looked_up: self.snapshot.lexical.look_up(asked.query, &asked.bm25)?,
            names: self.snapshot.lexical.names(asked.query)?,
            sums: OnceLock::new(),
            named: OnceLock::new(),
            by_words: OnceLock::new(),
            vectors: meaning::State::new(self.snapshot, asked.meaning),
            holders: Mutex::default(),
        }))
    }
}

/// The folders at the root, as repositories; a file at the root is one of its own.
fn folders(files: &[FileRecord]) -> Vec<Repository> {
    let mut folders: Vec<Repository> = Vec::new();
    for (file, at) in files.iter().zip(0..) {
        let front = front_of(&file.path);
        if front.is_empty() || folders.last().is_none_or(|last| last.front != front) {
            let front = if front.is_empty() { file.path.clone() } else { front.to_string() };
            folders.push(Repository { front, first: FilePlace(at) });
        }
    }
    folders
}

/// One search in an index of this process, with what it has looked up.
struct LocalSearch<'a> {
    shard: &'a LocalShard<'a>,
    snapshot: &'a Snapshot,
    asked: Asked<'a>,
    query: &'a Query,
    looked_up: LookedUp<'a>,
    names: NamesFound,
    /// The statistics of the corpus, once they are told.
    sums: OnceLock<Statistics>,
    named: OnceLock<BTreeMap<FileId, NamedFile>>,
    /// Candidates by words, where they were told in outline.
    by_words: OnceLock<Vec<UnitFound>>,
    vectors: meaning::State<'a>,
    /// Files that hold a term.
    holders: Mutex<HashMap<String, Vec<FileId>>>,
}

impl<'a> LocalSearch<'a> {
    /// Units by address.
    fn units(&self, units: &[UnitId]) -> Vec<Option<UnitFound>> {
        units.iter().map(|unit| self.snapshot.lexical.hit(*unit).map(|hit| self.shard.found(&hit))).collect()
    }

    fn filter(&self) -> Option<&'a dyn UnitFilter> {
        self.shard.filter
    }
}
