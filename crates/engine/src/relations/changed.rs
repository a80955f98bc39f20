//! A change as units: those whose own lines differ, and those that are new or gone.

use std::collections::HashMap;
use std::path::PathBuf;

use colgrep_core::{Unit, UnitKind};
use colgrep_syntax::language;
use colgrep_syntax::parse::parse_file;
use rayon::prelude::*;

use crate::project::git::{FileVersions, GitChange};

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeSpec {
    /// What git knows as a change.
    Git(GitChange),
    /// These files, of which the units on lines, or else all units, are taken as changed.
    Places(Vec<(PathBuf, Option<u32>)>),
}

/// A unit that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedUnit {
    /// The path of its file, from the project's root.
    pub path: String,
    /// Its name.
    pub name: String,
    /// The names of the units around it, joined by dots.
    pub parent: String,
    /// Its kind.
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
}

impl ChangedCode {
    /// The units of a change. Lines outside definitions change their file alone.
    pub fn of(versions: &[FileVersions]) -> ChangedCode {
        let units = versions.par_iter().map(units_of).collect::<Vec<_>>().concat();
        ChangedCode { files: versions.iter().map(|file| file.path.clone()).collect(), units }
    }
}

/// A definition is found again by its name, its kind, and its position among those of the same.
type DefinitionKey = (String, UnitKind, usize);

fn units_of(file: &FileVersions) -> Vec<ChangedUnit> {
    let before = definitions(&file.path, file.before.as_deref());
    let after = definitions(&file.path, file.after.as_deref());
    let known: HashMap<&DefinitionKey, &str> = before.iter().map(|(key, _, text)| (key, text.as_str())).collect();
    let mut changed: Vec<ChangedUnit> = Vec::new();
    let mut add = |unit: &Unit, line| {
        let (path, name, parent) = (file.path.clone(), unit.name.clone(), unit.parent.clone());
        changed.push(ChangedUnit { path, name, parent, kind: unit.kind, line });
    };
    for (key, unit, text) in &after {
        if known.get(key).is_none_or(|before| before != text) {
            add(unit, unit.span.line);
        }
    }
    let kept: HashMap<&DefinitionKey, ()> = after.iter().map(|(key, ..)| (key, ())).collect();
    for (_, unit, _) in before.iter().filter(|(key, ..)| !kept.contains_key(key)) {
        add(unit, 0);
    }
    changed.sort_by_key(|unit| unit.line);
    changed
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
}
