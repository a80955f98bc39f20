//! How files of a repository relate to the reader's open file.

use std::collections::{HashMap, HashSet};

use colgrep_core::import::{file_keys, import_keys};
use colgrep_core::partner::{family, is_partner, partner};
use colgrep_core::path::PathClass;
use colgrep_core::query::last_segment;
use colgrep_core::rank::Context;
use colgrep_syntax::language::{self, may_call};

use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::file_kind::is_text;
use crate::shard::ShardExtent;
use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, FilePlace};
use colgrep_index::store::{FileRecord, Snapshot};

/// Maximum number of files that one import may refer to: a more common name refers to no file.
const IMPORTED_MAX: usize = 16;
/// Maximum number of files that define a called name, for the call to refer to them.
const DEFINITIONS_MAX: usize = 6;
/// Maximum number of files that become candidates because they import the open one.
const IMPORTERS_MAX: usize = 50;
/// Maximum number of files that become candidates because they changed together with it, strongest first.
const TOGETHER_MAX: usize = 50;

/// Asks how files of the reader's repository relate to the open file, for the files that the filter allows. The answer is
/// empty if the open file is in another shard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextsRequest {
    /// The open file.
    pub near: Near,
    pub wants_tests: bool,
}

/// The reader's open file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Near {
    /// Its path from the project's root, `/` between components, with the prefix of its repository. It may be missing from
    /// the index.
    pub path: String,
    /// The line, from 1, if one is given.
    pub line: Option<u32>,
    /// True if only tests are wanted.
    pub tests_only: bool,
    /// Files that changed together with it in the past, strongest first, with shares of the strongest.
    pub together: Vec<(String, f32)>,
}

impl Round for ContextsRequest {
    type Answer = Vec<(FilePlace, Context)>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<(FilePlace, Context)>> {
        let shard = search.shard;
        let Some(in_index) = shard.own_path(&self.near.path) else { return Ok(Vec::new()) };
        let as_record = FileRecord { path: in_index.to_string(), ..FileRecord::default() };
        let (path, repository) = (shard.path_of(&as_record).1.to_string(), shard.folder_of(in_index).to_string());
        let home = Home { search, snapshot: search.snapshot, request: self, repository, path };
        let mut found: HashMap<FileId, Context> = HashMap::new();
        let own = home.files().find(|file| file.path == in_index);
        if let Some(own) = own {
            found.entry(own.id).or_default().itself = true;
            home.imports(own, &mut found)?;
        }
        home.partners(&mut found);
        let together = self.near.together.iter().take(TOGETHER_MAX);
        let by_path: HashMap<&str, f32> = together.map(|(path, share)| (path.as_str(), *share)).collect();
        for file in home.files() {
            if let Some(share) = by_path.get(home.path_of(file)) {
                found.entry(file.id).or_default().together = *share;
            }
        }
        found.retain(|file, _| shard.allows(*file));
        Ok(found.into_iter().map(|(file, context)| (shard.place(file), context)).collect())
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<(FilePlace, Context)>> {
        let mut all = Vec::new();
        for (shard, files) in corpus.each(self)?.into_iter().enumerate() {
            all.extend(files.into_iter().map(|(file, context)| (corpus.file(shard, file), context)));
        }
        Ok(all)
    }

    fn is_valid(&self, answer: &Vec<(FilePlace, Context)>, extent: &ShardExtent) -> bool {
        let is_valid = |(file, context): &(FilePlace, Context)| {
            let Context { partner, imported, importer, together, .. } = *context;
            file.is_valid(extent) && [partner, imported, importer, together].is_valid(extent)
        };
        answer.iter().all(is_valid)
    }
}

/// The repository of the reader, in one index.
struct Home<'h, 's> {
    search: &'h LocalSearch<'s>,
    snapshot: &'h Snapshot,
    request: &'h ContextsRequest,
    /// The prefix of its paths in the index.
    repository: String,
    /// The path of the open file from the repository's root.
    path: String,
}

impl Home<'_, '_> {
    fn files(&self) -> impl Iterator<Item = &FileRecord> {
        self.snapshot.files.indexed().filter(|file| file.path.starts_with(&self.repository))
    }

    /// A file's path from the repository's root.
    fn path_of<'r>(&'r self, file: &'r FileRecord) -> &'r str {
        self.search.shard.path_of(file).1
    }

    fn has(&self, file: FileId) -> bool {
        let record = self.search.shard.record(self.search.shard.place(file));
        record.is_some_and(|record| record.path.starts_with(&self.repository))
    }

    /// The source of a test is boosted. The tests of a source become candidates, and are boosted if tests are wanted.
    fn partners(&self, found: &mut HashMap<FileId, Context>) {
        let facts = language::facts();
        let is_test = PathClass::of(&self.path, facts).has(PathClass::TEST);
        let code: Vec<(&str, FileId)> = self
            .files()
            .filter(|file| !is_text(&file.language))
            .map(|file| (self.search.shard.path_of(file).1, file.id))
            .collect();
        let family = family(&self.path, code.iter().map(|(path, _)| *path), facts);
        let all = || family.iter().copied();
        // A source may have several tests: those whose partner it is.
        let partners: HashSet<&str> = match is_test {
            true => partner(&self.path, all(), facts).into_iter().collect(),
            false => all()
                .filter(|other| is_partner(&self.path, other, facts))
                .filter(|test| partner(test, all(), facts) == Some(self.path.as_str()))
                .collect(),
        };
        for (_, file) in code.iter().filter(|(path, _)| partners.contains(path)) {
            found.entry(*file).or_default().partner = if is_test || self.request.wants_tests { 1.0 } else { 0.0 };
        }
    }

    /// The files that the open file imports, those that import it, and those that define names called by the unit at the
    /// given line.
    fn imports(&self, own: &FileRecord, found: &mut HashMap<FileId, Context>) -> Result<()> {
        let (facts, lexical) = (language::facts(), &self.snapshot.lexical);
        let texts = lexical.imports(own.id)?;
        let mut files_of: HashMap<String, Vec<FileId>> = HashMap::new();
        let wanted: Vec<Vec<String>> = texts.iter().map(|text| import_keys(text, &self.path, facts)).collect();
        let keys: HashSet<&String> = wanted.iter().flatten().collect();
        for file in self.files().filter(|file| file.id != own.id) {
            for key in file_keys(self.path_of(file), facts).into_iter().filter(|key| keys.contains(key)) {
                files_of.entry(key).or_default().push(file.id);
            }
        }
        for key in keys {
            let files = files_of.get(key).map(Vec::as_slice).unwrap_or_default();
            if files.len() <= IMPORTED_MAX {
                let share = 1.0 / (files.len().max(1) as f32).sqrt();
                for file in files {
                    let known = &mut found.entry(*file).or_default().imported;
                    *known = known.max(share);
                }
            }
        }
        let mut importers = lexical.importers(&file_keys(&self.path, facts))?;
        importers.retain(|file| *file != own.id && self.has(*file));
        importers.sort_by_key(|file| self.search.shard.place(*file));
        for file in importers.into_iter().take(IMPORTERS_MAX) {
            found.entry(file).or_default().importer = 1.0;
        }
        self.callees(own, found)
    }

    fn callees(&self, own: &FileRecord, found: &mut HashMap<FileId, Context>) -> Result<()> {
        let lexical = &self.snapshot.lexical;
        let Some(line) = self.request.near.line else { return Ok(()) };
        let Some(unit) = lexical.unit_around(own.id, line, None)? else { return Ok(()) };
        for call in self.snapshot.unit(unit.key)?.calls {
            let mut files: Vec<FileId> = Vec::new();
            for definition in lexical.definitions(last_segment(&call), None)? {
                let is_callable = may_call(&own.language, self.snapshot.language(definition.file));
                if is_callable && !files.contains(&definition.file) && self.has(definition.file) {
                    files.push(definition.file);
                }
            }
            if files.len() <= DEFINITIONS_MAX {
                for file in files.into_iter().filter(|file| *file != own.id) {
                    found.entry(file).or_default().imported = 1.0;
                }
            }
        }
        Ok(())
    }
}
