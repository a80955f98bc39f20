//! Where the reader stands: which files belong to the one that is open, and how.

use std::collections::{HashMap, HashSet};

use colgrep_core::import::{file_keys, import_keys};
use colgrep_core::partner::{family, is_partner, partner};
use colgrep_core::path::PathClass;
use colgrep_core::query::{Query, last_segment};
use colgrep_core::rank::Context;
use colgrep_syntax::language;

use super::{Request, is_text};
use crate::error::Result;
use crate::ids::FileId;
use crate::store::{FileRecord, Snapshot};

/// Files that one import may mean, at most: a name that more files bear means none of them.
const IMPORTED_MAX: usize = 16;
/// Definitions of a called name, at most, for the name to lead to them.
const DEFINITIONS_MAX: usize = 6;
/// Files that import the open one, at most, that become candidates by that alone.
const IMPORTERS_MAX: usize = 50;
/// The same for files that changed together with it, the strongest first.
const TOGETHER_MAX: usize = 50;

/// The file where the reader stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Near {
    /// Its path from the project's root, `/` between components. It may be missing from the index.
    pub path: String,
    /// The line, from 1, where one is given.
    pub line: Option<u32>,
    /// Whether nothing but tests is wanted.
    pub tests_only: bool,
    /// Files that changed together with it in the past, the strongest first, with shares of the strongest.
    pub together: Vec<(String, f32)>,
}

/// How files stand to the one where the reader is: all that may be candidates for that alone, as far as the filter
/// allows them.
///
/// # Errors
/// When the index can't be read.
pub(super) fn contexts(
    snapshot: &Snapshot,
    request: &Request<'_>,
    near: &Near,
    query: &Query,
) -> Result<HashMap<FileId, Context>> {
    let mut found: HashMap<FileId, Context> = HashMap::new();
    let own = snapshot.files.indexed().find(|file| file.path == near.path);
    if let Some(own) = own {
        found.entry(own.id).or_default().itself = true;
        imports(snapshot, near, own, &mut found)?;
    }
    partners(snapshot, near, query, &mut found);
    let by_path: HashMap<&str, f32> = near.together.iter().take(TOGETHER_MAX).map(|(p, s)| (p.as_str(), *s)).collect();
    for file in snapshot.files.indexed() {
        if let Some(share) = by_path.get(file.path.as_str()) {
            found.entry(file.id).or_default().together = *share;
        }
    }
    if let Some(filter) = request.filter {
        found.retain(|file, _| filter.allows_file(*file));
    }
    Ok(found)
}

/// What a test tests, lifted; what tests a source, lifted where tests are asked for, and a candidate in any case.
fn partners(snapshot: &Snapshot, near: &Near, query: &Query, found: &mut HashMap<FileId, Context>) {
    let facts = language::facts();
    let is_test = PathClass::of(&near.path, facts).has(PathClass::TEST);
    let wants_tests = near.tests_only || query.asks_for.contains(&PathClass::TEST);
    let code = || snapshot.files.indexed().filter(|file| !is_text(&file.language));
    let family = family(&near.path, code().map(|file| file.path.as_str()), facts);
    let all = || family.iter().copied();
    // A source has as many tests as people wrote: each whose own partner it is.
    let partners: HashSet<&str> = match is_test {
        true => partner(&near.path, all(), facts).into_iter().collect(),
        false => all()
            .filter(|other| is_partner(&near.path, other, facts))
            .filter(|test| partner(test, all(), facts) == Some(near.path.as_str()))
            .collect(),
    };
    for file in code().filter(|file| partners.contains(file.path.as_str())) {
        found.entry(file.id).or_default().partner = if is_test || wants_tests { 1.0 } else { 0.0 };
    }
}

/// What the file imports, who imports it, and, with a line, where the names are defined that the unit there calls.
fn imports(snapshot: &Snapshot, near: &Near, own: &FileRecord, found: &mut HashMap<FileId, Context>) -> Result<()> {
    let facts = language::facts();
    let texts = snapshot.lexical.imports(own.id)?;
    let mut files_of: HashMap<String, Vec<FileId>> = HashMap::new();
    let wanted: Vec<Vec<String>> = texts.iter().map(|text| import_keys(text, &own.path, facts)).collect();
    let keys: HashSet<&String> = wanted.iter().flatten().collect();
    for file in snapshot.files.indexed().filter(|file| file.id != own.id) {
        for key in file_keys(&file.path, facts).into_iter().filter(|key| keys.contains(key)) {
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
    let importers = snapshot.lexical.importers(&file_keys(&own.path, facts))?;
    for file in importers.into_iter().filter(|file| *file != own.id).take(IMPORTERS_MAX) {
        found.entry(file).or_default().importer = 1.0;
    }
    callees(snapshot, near, own, found)
}

fn callees(snapshot: &Snapshot, near: &Near, own: &FileRecord, found: &mut HashMap<FileId, Context>) -> Result<()> {
    let Some(line) = near.line else { return Ok(()) };
    let Some(unit) = snapshot.lexical.unit_around(own.id, line, None)? else { return Ok(()) };
    for call in snapshot.lexical.unit(unit.key)?.calls {
        let mut files: Vec<FileId> = Vec::new();
        for definition in snapshot.lexical.definitions(last_segment(&call), None)? {
            if !files.contains(&definition.file) {
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
