//! House rules inside the crates: which file may use which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The path of a module from the root of its crate.
type ModulePath = Vec<String>;

/// Module → the modules that it names by a path from `crate`, `self` or `super`.
type Uses = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// The modules of the index, each of which may use only those before it.
const INDEX: [&str; 16] = [
    "error",
    "beneath",
    "disk",
    "ids",
    "moment",
    "units",
    "signature",
    "mode",
    "source",
    "walk",
    "worktree",
    "vector",
    "lexical",
    "store",
    "update",
    "history",
];

/// The workspace's root.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The `src` folders of all crates.
fn sources() -> Vec<PathBuf> {
    let crates = fs::read_dir(workspace().join("crates")).expect("crates").flatten();
    let mut sources: Vec<PathBuf> = crates.map(|entry| entry.path().join("src")).collect();
    sources.push(workspace().join("benchmarks/src"));
    sources.retain(|source| source.is_dir());
    sources.sort();
    assert!(sources.len() > 10, "{sources:?}: the test sees too few crates");
    sources
}

/// The Rust files below `folder`, by module path. Files of tests are left out.
fn modules(folder: &Path, path: &[String], found: &mut BTreeMap<ModulePath, PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (file, own) = (entry.path(), entry.path());
        let name = own.file_stem().expect("a name").to_string_lossy().into_owned();
        if file.is_dir() {
            modules(&file, &[path, &[name]].concat(), found);
        } else if file.extension().is_some_and(|e| e == "rs") && name != "tests" && !name.ends_with("_tests") {
            let is_of_folder = matches!(name.as_str(), "mod" | "lib" | "main");
            found.insert(if is_of_folder { path.to_vec() } else { [path, &[name]].concat() }, file);
        }
    }
}

/// The paths of `text` that begin with `crate`, `self` or `super`, split at `::`; lists in braces give one path an entry.
/// Comments and the module of tests are left out.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut found = Vec::new();
    for (at, _) in code.match_indices(['c', 's']) {
        let rest = &code[at..];
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        if code[..at].ends_with(is_word) || !["crate::", "self::", "super::"].iter().any(|root| rest.starts_with(root))
        {
            continue;
        }
        if code[code[..at].rfind('\n').map_or(0, |end| end + 1)..at].trim_start().starts_with("//") {
            continue;
        }
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let front: Vec<&str> = rest[..end].split("::").filter(|part| !part.is_empty()).collect();
        match rest[end..].strip_prefix('{').filter(|_| rest[..end].ends_with("::")) {
            Some(list) => entries(list, &front, &mut found),
            None => found.push(front),
        }
    }
    found
}

/// Adds the paths of a list in braces, after its opening brace, each prefixed with `front`.
fn entries<'t>(list: &'t str, front: &[&'t str], found: &mut Vec<Vec<&'t str>>) {
    let (mut depth, mut start) = (0, 0);
    for (at, c) in list.char_indices() {
        if depth == 0 && matches!(c, ',' | '{' | '}') {
            let own: Vec<&str> = list[start..at].trim().split("::").filter(|part| !part.is_empty()).collect();
            let whole = [front, &own].concat();
            match c {
                '{' => entries(&list[at + 1..], &whole, found),
                _ if own.is_empty() => {}
                _ => found.push(whole),
            }
            start = at + 1;
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return,
            '}' => (depth, start) = (depth - 1, at + 1),
            _ => {}
        }
    }
}

/// The module that a path written in module `own` leads to: the longest part of it that is a file.
fn target(own: &[String], path: &[&str], files: &BTreeMap<ModulePath, PathBuf>) -> ModulePath {
    let mut base: ModulePath = if path[0] == "crate" { Vec::new() } else { own.to_vec() };
    for part in path.iter().skip(usize::from(path[0] == "crate")) {
        match *part {
            "super" => drop(base.pop()),
            "self" => {}
            name => base.push(name.to_string()),
        }
    }
    while !base.is_empty() && !files.contains_key(&base) {
        base.pop();
    }
    base
}

/// Which files of a crate use which. The root of the crate is left out: it declares and re-exports.
fn uses(source: &Path) -> Uses {
    let mut files = BTreeMap::new();
    modules(source, &[], &mut files);
    let mut uses = Uses::new();
    for (own, file) in &files {
        let text = fs::read_to_string(file).expect("a source file");
        let mut used: BTreeSet<ModulePath> = paths(&text).iter().map(|path| target(own, path, &files)).collect();
        used.retain(|other| other != own && !other.is_empty());
        uses.insert(own.clone(), used);
    }
    uses
}

/// The modules that reach themselves.
fn in_circles(uses: &Uses) -> Vec<String> {
    let reaches_itself = |module: &&ModulePath| {
        let mut open: Vec<&ModulePath> = uses[*module].iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(uses.get(next).into_iter().flatten());
            }
        }
        seen.contains(*module)
    };
    uses.keys().filter(reaches_itself).map(|module| module.join("::")).collect()
}

#[test]
fn files_use_each_other_without_circles() {
    for source in sources() {
        let circles = in_circles(&uses(&source));
        assert!(circles.is_empty(), "{}: import circle of {circles:?}; move what both need down", source.display());
    }
}

#[test]
fn modules_of_the_index_use_those_below_them() {
    for (module, used) in uses(&workspace().join("crates/index/src")) {
        let place = |path: &ModulePath| INDEX.iter().position(|m| *m == path[0]);
        let Some(_) = module.first() else { continue };
        let own =
            place(&module).unwrap_or_else(|| panic!("{module:?} has no place in the order of modules: {INDEX:?}"));
        for other in used {
            assert!(
                place(&other).is_some_and(|other| other <= own),
                "{module:?} must not use {other:?}, which is above it in {INDEX:?} (docs/architecture.md)"
            );
        }
    }
}

#[test]
fn uses_and_circles_are_seen() {
    let text =
        "//! crate::no\nuse crate::a::{b, c::X};\nuse super::{d::{x, y}, e};\nfn f(_: &self::g::T) {}\n// crate::no\n";
    let found: Vec<String> = paths(text).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::a::b", "crate::a::c::X", "super::d::x", "super::d::y", "super::e", "self::g::T"]);
    let module = |name: &str| -> ModulePath { name.split("::").map(String::from).collect() };
    let files: BTreeMap<ModulePath, PathBuf> = ["a", "a::b", "d"].map(|m| (module(m), PathBuf::new())).into();
    assert_eq!(target(&module("a::b"), &["super", "super", "d", "x"], &files), module("d"));
    assert_eq!(target(&module("a"), &["self", "b", "T"], &files), module("a::b"));
    let uses = |edges: &[(&str, &[&str])]| -> Uses {
        edges.iter().map(|(from, to)| (module(from), to.iter().map(|t| module(t)).collect())).collect()
    };
    assert!(in_circles(&uses(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    assert_eq!(in_circles(&uses(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])])), ["b", "c"]);
}
