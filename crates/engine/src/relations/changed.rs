//! A change as units: those whose own lines differ, and those that are new or gone.

use std::collections::HashMap;
use std::path::PathBuf;

use colgrep_core::{Unit, UnitKind};
use colgrep_syntax::language;
use colgrep_syntax::parse::parse_file;
use rayon::prelude::*;

use crate::project::git::{FileVersions, GitChange};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeSpec {
    Git(GitChange),
    /// These files, of which the units on lines, or else all units, are taken as changed.
    Places(Vec<(PathBuf, Option<LineSpan>)>),
}

/// The first and the last of some lines, from 1.
pub type LineSpan = (u32, u32);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedUnit {
    /// The path of its file, from the project's root.
    pub path: String,
    pub name: String,
    /// The names of the units around it, joined by dots.
    pub parent: String,
    pub kind: UnitKind,
    /// The line of its definition after the change; 0 where it is gone.
    pub line: u32,
}

/// The files and the units of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedCode {
    /// Paths from the project's root, in order.
    pub files: Vec<String>,
    /// Definitions, by file and line.
    pub units: Vec<ChangedUnit>,
    /// Those of the files whose every line is taken as changed.
    pub whole: Vec<String>,
    /// Files of which only the mode changed, which are not among the others.
    pub modes: Vec<String>,
}

impl ChangedCode {
    /// The units of a change. Lines outside definitions change their file alone. A definition that only moved to another
    /// file is gone from its own, and not new there.
    pub fn of(versions: &[FileVersions]) -> ChangedCode {
        let mut differences = versions.par_iter().map(differences_of).collect::<Vec<_>>().concat();
        drop_moved(&mut differences);
        let is_mode = |file: &&FileVersions| file.before.is_some() && file.before == file.after;
        let (modes, files): (Vec<&FileVersions>, Vec<_>) = versions.iter().partition(is_mode);
        let paths = |files: Vec<&FileVersions>| files.into_iter().map(|file| file.path.clone()).collect();
        let units = differences.into_iter().map(|one| one.unit).collect();
        ChangedCode { files: paths(files), units, whole: Vec::new(), modes: paths(modes) }
    }
}

/// A definition is found again by its name, its kind, and its position among those of the same.
type DefinitionKey = (String, UnitKind, usize);

#[derive(Clone)]
struct UnitDifference {
    unit: ChangedUnit,
    /// Its own lines.
    text: String,
    /// Whether its file did not have it before.
    is_new: bool,
}

fn differences_of(file: &FileVersions) -> Vec<UnitDifference> {
    let before = definitions(&file.path, file.before.as_deref());
    let after = definitions(&file.path, file.after.as_deref());
    let known: HashMap<&DefinitionKey, &str> = before.iter().map(|(key, _, text)| (key, text.as_str())).collect();
    let mut differences: Vec<UnitDifference> = Vec::new();
    let mut add = |unit: &Unit, text: &str, line, is_new| {
        let (path, name, parent) = (file.path.clone(), unit.name.clone(), unit.parent.clone());
        let unit = ChangedUnit { path, name, parent, kind: unit.kind, line };
        differences.push(UnitDifference { unit, text: text.to_string(), is_new });
    };
    for (key, unit, text) in &after {
        let before = known.get(key);
        if before.is_none_or(|before| before != text) {
            add(unit, text, unit.span.line, before.is_none());
        }
    }
    let kept: HashMap<&DefinitionKey, ()> = after.iter().map(|(key, ..)| (key, ())).collect();
    for (_, unit, text) in before.iter().filter(|(key, ..)| !kept.contains_key(key)) {
        add(unit, text, 0, false);
    }
    differences.sort_by_key(|one| one.unit.line);
    differences
}

/// Drops definitions that are new in one file and gone, with the same lines, from another. What is gone remains: its
/// callers look for it there.
fn drop_moved(differences: &mut Vec<UnitDifference>) {
    type Moved<'d> = (&'d str, &'d str, UnitKind, &'d str);
    fn key(one: &UnitDifference) -> Moved<'_> {
        (&one.unit.name, &one.unit.parent, one.unit.kind, &one.text)
    }
    let mut new: HashMap<Moved<'_>, Vec<usize>> = HashMap::new();
    for (at, one) in differences.iter().enumerate().filter(|(_, one)| one.is_new) {
        new.entry(key(one)).or_default().push(at);
    }
    let mut moved = vec![false; differences.len()];
    for one in differences.iter().filter(|one| one.unit.line == 0) {
        if let Some(there) = new.get_mut(&key(one)).and_then(Vec::pop) {
            moved[there] = true;
        }
    }
    let mut moved = moved.into_iter();
    differences.retain(|_| moved.next() != Some(true));
}

/// The definitions of a text, each with its own lines: those that no definition inside it has.
fn definitions(path: &str, text: Option<&str>) -> Vec<(DefinitionKey, Unit, String)> {
    let Some(text) = text else { return Vec::new() };
    let units = parse_file(path, text, language::of_file(path, text.as_bytes())).1.units;
    let lines: Vec<&str> = text.lines().collect();
    // Members follow the unit around them.
    let mut owners = vec![usize::MAX; lines.len()];
    for (at, unit) in units.iter().enumerate() {
        let (first, end) = (unit.span.first.min(unit.span.line) as usize, unit.span.end as usize);
        owners.iter_mut().take(end).skip(first.saturating_sub(1)).for_each(|owner| *owner = at);
    }
    let mut own = vec![String::new(); units.len()];
    for (line, owner) in lines.iter().zip(owners).filter(|(_, owner)| *owner != usize::MAX) {
        own[owner].push_str(line.trim());
        own[owner].push('\n');
    }
    let mut seen: HashMap<(String, UnitKind), usize> = HashMap::new();
    let named = units.into_iter().zip(own).filter(|(unit, _)| unit.kind.is_definition() && !unit.name.is_empty());
    named
        .map(|(unit, text)| {
            let count = seen.entry((unit.qualified_name(), unit.kind)).or_default();
            *count += 1;
            ((unit.qualified_name(), unit.kind, *count), unit, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_as_units() {
        let before = "use a;\n\nstruct Ring {\n    size: usize,\n}\n\nimpl Ring {\n    fn push(&self) {\n        a();\n    }\n\n    fn pop(&self) {\n        b();\n    }\n}\n\nfn gone() {}\n";
        let after = "use a;\nuse b;\n\nstruct Ring {\n    size: usize,\n}\n\nimpl Ring {\n    fn push(&self) {\n        a();\n        c();\n    }\n\n    fn pop(&self) {\n      b();\n    }\n}\n\nfn new() {}\n";
        let file = |before: Option<&str>, after: Option<&str>| FileVersions {
            path: "src/ring.rs".into(),
            before: before.map(String::from),
            after: after.map(String::from),
        };
        let told = |file: FileVersions| {
            let code = ChangedCode::of(&[file]);
            let units = code.units.iter().map(|unit| format!("{} {}", unit.name, unit.line));
            units.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(told(file(Some(before), Some(after))), "gone 0, push 9, new 19");
        assert_eq!(told(file(None, Some("fn new() {}\n"))), "new 1");
        assert_eq!(told(file(Some("fn new() {}\n"), None)), "new 0");
        assert_eq!(told(file(Some(before), Some(before))), "");
        assert_eq!(ChangedCode::of(&[file(None, None)]).files, ["src/ring.rs"]);
    }

    #[test]
    fn what_moved_to_another_file_is_gone_from_its_own() {
        let file = |path: &str, before: Option<&str>, after: Option<&str>| FileVersions {
            path: path.into(),
            before: before.map(String::from),
            after: after.map(String::from),
        };
        let (whole, part) = ("fn one() {}\n\nfn two() {}\n", "fn two() {}\n");
        let told = |files: &[FileVersions]| {
            let units = ChangedCode::of(files).units;
            units.iter().map(|unit| format!("{} {}:{}", unit.name, unit.path, unit.line)).collect::<Vec<_>>()
        };
        let renamed = [file("a.rs", Some(whole), None), file("b.rs", None, Some(whole))];
        assert_eq!(told(&renamed), ["one a.rs:0", "two a.rs:0"]);
        let moved = [file("a.rs", Some(whole), Some("fn one() {}\n")), file("b.rs", None, Some(part))];
        assert_eq!(told(&moved), ["two a.rs:0"]);
        // Copied, and moved with a change.
        assert_eq!(told(&[file("a.rs", Some(whole), Some(whole)), file("b.rs", None, Some(part))]), ["two b.rs:1"]);
        let otherwise = "fn two() { one(); }\n";
        let moved = [file("a.rs", Some(whole), Some("fn one() {}\n")), file("b.rs", None, Some(otherwise))];
        assert_eq!(told(&moved), ["two a.rs:0", "two b.rs:1"]);
    }
}
