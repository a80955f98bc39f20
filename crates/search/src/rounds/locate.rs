//! The files that written paths and names refer to.

use std::cmp::Ordering;

use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::store::FileRecord;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::locate::{FILES_MAX, PathMatch, best_named, files_called, files_spelled};
use crate::shard::ShardExtent;

/// Asks for files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocateRequest {
    pub paths: Vec<String>,
    /// Words that may be file names.
    pub names: Vec<String>,
    /// A text that may contain file names with spaces.
    pub text: String,
}

/// The files that were meant. Each list is cut to one more than the number of files that a name may mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocateResponse {
    /// For each path, how the best files match it, and these files.
    pub paths: Vec<(PathMatch, Vec<FileMeant>)>,
    /// For each name, its files.
    pub names: Vec<Vec<FileMeant>>,
    /// Names with spaces that occur in the text, with their files.
    pub spelled: Vec<(String, Vec<FileMeant>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMeant {
    pub file: FilePlace,
    /// True if its whole path was written.
    pub is_exact: bool,
    /// True if the filter allows it.
    pub is_allowed: bool,
}

impl Round for LocateRequest {
    type Answer = LocateResponse;

    fn local(&self, search: &LocalSearch<'_>) -> Result<LocateResponse> {
        let table = &search.snapshot.files;
        // The root's own folder counts as a component.
        let root = table.root.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
        let front_of = |record| match search.shard.path_of(record) {
            ("", path) => (root, path),
            named => named,
        };
        // Excluded files don't compete with those that the filter allows.
        let allowed: Vec<&FileRecord> = table.indexed().filter(|record| search.shard.allows(record.id)).collect();
        let of_path = |written: &String| {
            let (found, files) = best_named(&allowed, front_of, written);
            (found, meant(search, &files, written))
        };
        let called = files_called(table, &self.names);
        let spelled = files_spelled(table, &self.text);
        Ok(LocateResponse {
            paths: self.paths.iter().map(of_path).collect(),
            names: called.into_iter().map(|(name, files)| meant(search, &files, name)).collect(),
            spelled: spelled.into_iter().map(|(name, files)| (name.to_string(), meant(search, &files, name))).collect(),
        })
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<LocateResponse> {
        let mut all = LocateResponse {
            paths: vec![Default::default(); self.paths.len()],
            names: vec![Vec::new(); self.names.len()],
            spelled: Vec::new(),
        };
        for (shard, mut found) in corpus.each(self)?.into_iter().enumerate() {
            found.lists().flatten().for_each(|meant| meant.file = corpus.file(shard, meant.file));
            for (best, own) in all.paths.iter_mut().zip(found.paths) {
                match own.0.cmp(&best.0) {
                    Ordering::Greater => *best = own,
                    Ordering::Equal => best.1.extend(own.1),
                    Ordering::Less => {}
                }
            }
            all.names.iter_mut().zip(found.names).for_each(|(all, own)| all.extend(own));
            for (name, files) in found.spelled {
                match all.spelled.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => known.extend(files),
                    None => all.spelled.push((name, files)),
                }
            }
        }
        all.lists().for_each(cut);
        Ok(all)
    }

    fn is_valid(&self, answer: &LocateResponse, extent: &ShardExtent) -> bool {
        answer.paths.len() == self.paths.len()
            && answer.names.len() == self.names.len()
            && answer.paths.is_valid(extent)
            && answer.names.is_valid(extent)
            && answer.spelled.is_valid(extent)
    }
}

impl LocateResponse {
    fn lists(&mut self) -> impl Iterator<Item = &mut Vec<FileMeant>> {
        let paths = self.paths.iter_mut().map(|(_, files)| files);
        paths.chain(&mut self.names).chain(self.spelled.iter_mut().map(|(_, files)| files))
    }
}

impl Validate for PathMatch {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.shared.is_valid(extent)
    }
}

impl Validate for FileMeant {
    fn is_valid(&self, extent: &ShardExtent) -> bool {
        self.file.is_valid(extent)
    }
}

fn meant(search: &LocalSearch<'_>, files: &[&FileRecord], written: &str) -> Vec<FileMeant> {
    let is_exact = |record: &FileRecord| {
        let (front, path) = search.shard.path_of(record);
        [front, path].concat().eq_ignore_ascii_case(written)
    };
    let meant = |record: &&FileRecord| FileMeant {
        file: search.shard.place(record.id),
        is_exact: is_exact(record),
        is_allowed: search.shard.allows(record.id),
    };
    let mut all = files.iter().map(meant).collect();
    cut(&mut all);
    all
}

/// Puts exact matches first, and cuts the list.
fn cut(files: &mut Vec<FileMeant>) {
    files.sort_by_key(|meant| (!meant.is_exact, meant.file));
    files.truncate(FILES_MAX + 1);
}
