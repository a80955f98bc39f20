//! The filter of one search: path rules and patterns, turned into files and lines before anything is ranked.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use colgrep_index::ids::FileId;
use colgrep_index::lexical::{UnitFilter, UnitPlace};
use colgrep_index::signature::Sought;
use colgrep_index::store::{FileRecord, FileTable, Snapshot};
use colgrep_index::walk::{CHECKOUT, LEFT_ON_PURPOSE, walk};
use colgrep_search::Stops;
use colgrep_search::has_test_modules;
use colgrep_syntax::language;
use colgrep_syntax::read::{Skip, looks_secret};

use crate::error::Result;
use crate::notice::{NotRanked, Unranked};
use crate::project::Project;
use crate::project::git::{Asker, GitRepository};
use crate::project::open::go_on_unless;
use crate::request::facts::{Facts, UnitsWithFacts};
use crate::request::pattern::{LineMatcher, lines_in_files};
use crate::request::rules::{FilePart, PathRules, Scope, is_below};
use crate::request::structure::StructureMatcher;
use crate::settings::Settings;
use crate::settings::env::Env;

/// The filter of one search in one project.
#[derive(Debug)]
pub struct Filter {
    /// Allowed files by number.
    files: HashMap<FileId, FileScope>,
    /// Lines of tests inside files, where they matter.
    tests: HashMap<FileId, Vec<(u32, u32)>>,
    facts: UnitsWithFacts,
}

/// What is allowed of one file.
#[derive(Debug)]
struct FileScope {
    part: FilePart,
    /// The lines of matches, where a pattern is given.
    matches: Option<Vec<u32>>,
}

impl Filter {
    /// Makes the filter; `None` where everything passes.
    ///
    /// # Errors
    /// On a bad pattern, when the index can't be read, or where `stops` ends it.
    pub fn new(
        (pattern, structure): (Option<&LineMatcher>, Option<&StructureMatcher>),
        facts: &Facts,
        rules: &PathRules,
        below: &[String],
        project: &Project,
        snapshot: &Snapshot,
        stops: Stops<'_>,
    ) -> Result<Option<Filter>> {
        if rules.allows_all()
            && below.iter().any(String::is_empty)
            && pattern.is_none()
            && structure.is_none()
            && facts.allow_all()
        {
            return Ok(None);
        }
        let tests = tests_inside(rules, snapshot)?;
        let mut allowed = allowed(rules, below, snapshot, &tests);
        let facts = UnitsWithFacts::new(facts, snapshot)?;
        if let Some(files) = facts.files() {
            allowed.retain(|(file, _)| files.contains(&file.id));
        }
        let languages: BTreeSet<&str> = allowed.iter().map(|(file, _)| file.language.as_str()).collect();
        let of_structure = structure.map(|structure| structure.needed(languages.into_iter()));
        for needed in pattern.map(LineMatcher::needed).into_iter().chain(&of_structure) {
            if needed.is_selective() {
                let without = snapshot.without(&project.root, &Sought::new(needed))?;
                allowed.retain(|(file, _)| !without.contains(file.id.0 as usize));
            }
        }
        let records: Vec<&FileRecord> = allowed.iter().map(|(file, _)| *file).collect();
        let lines = match (structure, pattern) {
            (Some(structure), _) => structure.lines_in_files(pattern, &project.root, &records, stops),
            (None, Some(pattern)) => lines_in_files(pattern, &project.root, &records, stops),
            (None, None) => Vec::new(),
        };
        go_on_unless(stops)?;
        if let Some(structure) = structure {
            let is_left_out = |file: &&FileRecord| {
                file.skip == Some(Skip::TooLarge)
                    && below.iter().any(|below| is_below(&file.path, below))
                    && allows(rules, file)
            };
            let large = snapshot.files.files.iter().filter(is_left_out);
            large.for_each(|file| structure.leave_out(&file.path, "is too large to be indexed"));
        }
        let mut lines = lines.into_iter();
        let mut files = HashMap::with_capacity(allowed.len());
        for (file, part) in allowed {
            let matches = lines.next();
            if matches.as_ref().is_none_or(|m| !m.is_empty()) {
                files.insert(file.id, FileScope { part, matches });
            }
        }
        Ok(Some(Filter { files, tests, facts }))
    }
}

/// The paths of `below` without indexed files, with the reason; empty while the index is being built, because it may
/// still reach them.
pub fn not_ranked<'a>(
    below: &'a [String],
    project: &'a Project,
    snapshot: &'a Snapshot,
) -> impl Iterator<Item = NotRanked> + 'a {
    let missing = |b: &&String| {
        snapshot.files.complete && !b.is_empty() && !snapshot.files.indexed().any(|f| is_below(&f.path, b))
    };
    let walked = OnceCell::new();
    below.iter().filter(missing).map(move |path| NotRanked {
        root: project.root.clone(),
        path: path.clone(),
        why: reason(path, project, &snapshot.files, &walked),
    })
}

/// The allowed files and folders below one of `below`, except these themselves, that the system doesn't allow to be
/// read, by path.
pub fn unreadable<'a>(below: &[String], rules: &PathRules, snapshot: &'a Snapshot) -> Vec<&'a str> {
    let skipped = snapshot.files.files.iter().filter(|f| f.skip == Some(Skip::Unreadable) && allows(rules, f));
    let closed = refused(&snapshot.files).filter(|path| rules.allows_below(path));
    let mut paths: Vec<&str> = closed.chain(skipped.map(|f| f.path.as_str())).collect();
    paths.retain(|path| below.iter().any(|b| is_below(path, b)) && !below.iter().any(|b| b == path));
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Whether the rules allow a path of which nothing can be read: a file, or something below a folder.
pub fn is_allowed(path: &str, rules: &PathRules, snapshot: &Snapshot) -> bool {
    match snapshot.files.files.iter().find(|f| f.path == path) {
        Some(file) => allows(rules, file),
        None => rules.allows_below(path),
    }
}

/// Whether the rules allow a file of the tree, indexed or not.
pub fn allows_path(path: &str, rules: &PathRules, table: &FileTable) -> bool {
    match table.at(path) {
        Some(file) if file.skip.is_none() => allows(rules, file),
        _ => rules.part(path, || language::detect(Path::new(path), &[]).name, false).is_some(),
    }
}

fn allows(rules: &PathRules, file: &FileRecord) -> bool {
    rules.part(&file.path, || &file.language, has_test_modules(&file.language)).is_some()
}

/// What the walk was not let into.
fn refused(table: &FileTable) -> impl Iterator<Item = &str> {
    let is_refused = |reason: &str| !LEFT_ON_PURPOSE.contains(&reason);
    table.unreadable.iter().filter(move |(_, reason)| is_refused(reason)).map(|(path, _)| path.as_str())
}

/// Why nothing of a path is indexed. `walked` is filled once the paths of the whole tree are needed.
fn reason(path: &str, project: &Project, table: &FileTable, walked: &OnceCell<HashSet<String>>) -> Unranked {
    let skip = table.at(path).and_then(|file| file.skip);
    let is_unreadable = || refused(table).any(|known| is_below(path, known));
    let checkouts = table.unreadable.iter().filter(|(_, reason)| reason == CHECKOUT);
    let is_of_checkout = checkouts.into_iter().any(|(checkout, _)| is_below(path, checkout));
    let is_tracked =
        || GitRepository::new(project.root.clone(), project.programs.clone()).tracks(path).unwrap_or_default();
    let is_hidden = is_hidden(path, table);
    match skip {
        Some(skip) => Unranked::Skipped(skip),
        None if is_of_checkout => Unranked::OtherCheckout,
        None if is_unreadable() => Unranked::Unreadable,
        None if is_hidden && !table.secrets && looks_secret(path) => Unranked::HiddenSecret,
        None if is_hidden => Unranked::Hidden,
        None if project.root.join(path).is_file() => {
            match walked.get_or_init(|| paths_in(project, table)).contains(path) {
                true => Unranked::New,
                false if is_tracked() => Unranked::IgnoredTracked,
                false => Unranked::Ignored,
            }
        }
        None => {
            let mut skipped = table.files.iter().filter(|file| is_below(&file.path, path)).map(|file| file.skip);
            match skipped.next().flatten() {
                Some(first) if skipped.all(|other| other == Some(first)) => Unranked::Skipped(first),
                _ => Unranked::NothingInside,
            }
        }
    }
}

/// Regular files below the root that git tracks and that an ignore rule, a setting or their hidden name keeps out of the
/// index, by path; none outside a repository.
///
/// # Errors
/// When the tree can't be walked.
pub fn tracked_left_out(project: &Project, table: &FileTable) -> Result<Vec<NotRanked>> {
    let Ok(listed) = Asker::of(project).all(&["ls-files", "-z", "--recurse-submodules"]) else { return Ok(Vec::new()) };
    let listed = listed.unwrap_or_default();
    let is_file = |path: &&str| project.root.join(path).symlink_metadata().is_ok_and(|m| m.is_file());
    let tracked = listed.split(|b| *b == 0).filter_map(|path| std::str::from_utf8(path).ok());
    let mut missing: Vec<&str> = tracked.filter(|path| table.at(path).is_none() && is_file(path)).collect();
    // With conflicts, a path has several entries.
    missing.dedup();
    if missing.iter().any(|path| !is_hidden(path, table)) {
        // Some may be newer than the index.
        let walked = walk(&project.root, &project.left_out(), &table.walk_options())?;
        let found: HashSet<&str> = walked.files.iter().map(|file| file.path.as_str()).collect();
        let refused = |path: &str| walked.unreadable.iter().any(|(closed, _)| is_below(path, closed));
        missing.retain(|path| !found.contains(path) && !refused(path));
    }
    let left_out = |path: &str| {
        let why = match is_hidden(path, table) {
            true if !table.secrets && looks_secret(path) => Unranked::HiddenSecret,
            true => Unranked::Hidden,
            false => Unranked::IgnoredTracked,
        };
        NotRanked { root: project.root.clone(), path: path.to_string(), why }
    };
    Ok(missing.into_iter().map(left_out).collect())
}

/// The files that a scope with changes asks for and that are not indexed, by path: where it leaves no file to search,
/// what there is besides.
///
/// # Errors
/// As [`PathRules::new`], and when a path of the scope is not to be searched.
pub fn changed_left_out(scope: &Scope, settings: &Settings, env: &Env) -> Result<Vec<NotRanked>> {
    let here = [PathBuf::from(".")];
    let mut all = Vec::new();
    for path in if scope.paths.is_empty() { &here[..] } else { &scope.paths } {
        let (project, below) = Project::around(path, env)?;
        let rules = PathRules::new(scope, false, settings, &project)?.named(&below).below(std::slice::from_ref(&below));
        let table = project.store.open().map(|snapshot| snapshot.files.clone()).unwrap_or_default();
        let is_indexed = |path: &str| table.at(path).is_some_and(|file| file.skip.is_none());
        let is_file = |path: &str| project.root.join(path).symlink_metadata().is_ok_and(|about| about.is_file());
        let is_missing = |path: &&str| {
            is_below(path, &below) && !is_indexed(path) && is_file(path) && allows_path(path, &rules, &table)
        };
        let mut missing: Vec<&str> = rules.changed().filter(is_missing).collect();
        missing.sort_unstable();
        let walked = OnceCell::new();
        all.extend(missing.into_iter().map(|path| NotRanked {
            root: project.root.clone(),
            path: path.to_string(),
            why: reason(path, &project, &table, &walked),
        }));
    }
    Ok(all)
}

/// Whether a path is hidden and the index leaves out what is.
fn is_hidden(path: &str, table: &FileTable) -> bool {
    !table.hidden && path.split('/').any(|name| name.starts_with('.'))
}

/// The files that a walk with the index's options finds now.
fn paths_in(project: &Project, table: &FileTable) -> HashSet<String> {
    let walked = walk(&project.root, &project.left_out(), &table.walk_options());
    walked.map(|walked| walked.files.into_iter().map(|file| file.path).collect()).unwrap_or_default()
}

/// The lines of tests inside files, where the rules ask for tests.
fn tests_inside(rules: &PathRules, snapshot: &Snapshot) -> Result<HashMap<FileId, Vec<(u32, u32)>>> {
    if !rules.asks_for_tests() {
        return Ok(HashMap::new());
    }
    let with_modules: HashSet<FileId> =
        snapshot.files.indexed().filter(|f| has_test_modules(&f.language)).map(|f| f.id).collect();
    Ok(snapshot.lexical.tests_inside(|file| with_modules.contains(&file))?)
}

/// The indexed files below one of `below` that the rules allow wholly or in part, by path.
fn allowed<'s>(
    rules: &PathRules,
    below: &[String],
    snapshot: &'s Snapshot,
    tests: &HashMap<FileId, Vec<(u32, u32)>>,
) -> Vec<(&'s FileRecord, FilePart)> {
    let files = snapshot.files.indexed().filter(|f| below.iter().any(|b| is_below(&f.path, b)));
    files.filter_map(|f| Some((f, rules.part(&f.path, || &f.language, tests.contains_key(&f.id))?))).collect()
}

/// The indexed files below one of `below` of which the rules allow something, by path.
pub fn allowed_files<'s>(rules: &PathRules, below: &[String], snapshot: &'s Snapshot) -> Result<Vec<&'s FileRecord>> {
    let tests = tests_inside(rules, snapshot)?;
    Ok(allowed(rules, below, snapshot, &tests).into_iter().map(|(f, _)| f).collect())
}

impl Filter {
    /// The lines of a file, by its path from the root, that match the pattern, in order, where there is one.
    pub fn matches_of(&self, path: &str, snapshot: &Snapshot) -> Option<&[u32]> {
        let files = &snapshot.files.files;
        let file = files.binary_search_by(|f| f.path.as_str().cmp(path)).ok()?;
        self.files.get(&files[file].id)?.matches.as_deref()
    }
}

impl UnitFilter for Filter {
    fn allows_file(&self, file: FileId) -> bool {
        self.files.contains_key(&file)
    }

    fn allows_unit(&self, unit: &UnitPlace) -> bool {
        let Some(allowed) = self.files.get(&unit.file) else { return false };
        let (line, end) = (unit.first, unit.end);
        let matches = || {
            allowed.matches.as_ref().is_none_or(|lines| {
                let first = lines.partition_point(|l| *l < line);
                lines.get(first).is_some_and(|l| *l <= end)
            })
        };
        let is_test =
            || self.tests.get(&unit.file).is_some_and(|t| t.iter().any(|(first, last)| *first <= line && end <= *last));
        self.facts.allow(unit)
            && matches()
            && match allowed.part {
                FilePart::All => true,
                FilePart::Tests => is_test(),
                FilePart::Rest => !is_test(),
            }
    }
}

/// A filter that excludes one unit, on top of another filter: `--like` does not return the unit itself.
pub struct Without<'a> {
    /// The other filter.
    pub inner: Option<&'a dyn UnitFilter>,
    /// The unit's file.
    pub file: FileId,
    pub line: u32,
}

impl UnitFilter for Without<'_> {
    fn allows_file(&self, file: FileId) -> bool {
        self.inner.is_none_or(|f| f.allows_file(file))
    }

    fn allows_unit(&self, unit: &UnitPlace) -> bool {
        let is_the_unit = unit.file == self.file && (unit.first..=unit.end).contains(&self.line);
        !is_the_unit && self.inner.is_none_or(|f| f.allows_unit(unit))
    }
}

#[cfg(test)]
mod tests {
    use colgrep_core::{UnitId, UnitKind};

    use super::*;

    #[test]
    fn units_need_a_match_on_their_lines() {
        let allowed = |part, matches| FileScope { part, matches };
        let filter = Filter {
            files: HashMap::from([
                (FileId(1), allowed(FilePart::All, Some(vec![5, 30]))),
                (FileId(2), allowed(FilePart::All, None)),
                (FileId(4), allowed(FilePart::Tests, None)),
                (FileId(5), allowed(FilePart::Rest, Some(vec![12]))),
            ]),
            tests: HashMap::from([(FileId(4), vec![(10, 20)]), (FileId(5), vec![(10, 20)])]),
            facts: UnitsWithFacts::default(),
        };
        let place = |file, first, end| UnitPlace {
            key: UnitId::new(0, end),
            file: FileId(file),
            kind: UnitKind::Function,
            first,
            end,
        };
        for (file, line, end, expected) in [
            (1, 1, 4, false),
            (1, 1, 5, true),
            (1, 6, 29, false),
            (1, 30, 40, true),
            (2, 1, 1, true),
            (3, 1, 99, false),
            (4, 1, 9, false),
            (4, 12, 14, true),
            (5, 12, 14, false),
            (5, 1, 30, true),
            (5, 21, 30, false),
        ] {
            assert_eq!(filter.allows_unit(&place(file, line, end)), expected, "file {file}, {line}-{end}");
        }
        let without = Without { inner: Some(&filter), file: FileId(2), line: 10 };
        let given = |file, line, end| without.allows_unit(&place(file, line, end));
        assert!(!given(2, 8, 12) && given(2, 11, 12) && given(1, 1, 5));
    }
}
