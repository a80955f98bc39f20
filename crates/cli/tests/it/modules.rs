//! House rules inside the crates: which module may use which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Module → the other top-level modules of its crate that it uses.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Folders of crates whose top-level modules use each other without circles.
const WITHOUT_CIRCLES: [&str; 11] = [
    "crates/core",
    "crates/encoder",
    "crates/syntax",
    "crates/index",
    "crates/engine",
    "crates/share",
    "crates/cluster",
    "crates/render",
    "crates/server",
    "crates/cli",
    "benchmarks",
];

/// The modules of the index, each of which may use those in front of it alone.
const INDEX: [&str; 15] = [
    "error",
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

/// Crates whose README has a table of their top-level modules.
const LISTED: [&str; 4] = ["crates/core", "crates/syntax", "crates/index", "crates/engine"];

/// The names that stand directly behind each `crate::` of a text, comments left out.
fn named(text: &str) -> BTreeSet<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let word =
        |text: &str| text.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().map(String::from);
    let mut names = BTreeSet::new();
    for (at, found) in code.match_indices("crate::") {
        let rest = &code[at + found.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_parts(list).into_iter().filter_map(word)),
            None => names.extend(word(rest)),
        }
    }
    names
}

/// The parts of a list in braces, whose opening one is gone.
fn first_parts(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    parts
}

/// Adds what the source files at or below `path` name.
fn collect(path: &Path, names: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder").flatten() {
            collect(&entry.path(), names);
        }
    } else if path.extension().is_some_and(|e| e == "rs") {
        names.extend(named(&fs::read_to_string(path).expect("a source file")));
    }
}

/// The arrows between the top-level modules of a crate. A module is a file, a folder, or both.
fn arrows(name: &str) -> Arrows {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name).join("src");
    let mut arrows = Arrows::new();
    for entry in fs::read_dir(source).expect("a crate").flatten() {
        let path = entry.path();
        let module = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if !matches!(module.as_str(), "lib" | "main") {
            collect(&path, arrows.entry(module).or_default());
        }
    }
    let modules: BTreeSet<String> = arrows.keys().cloned().collect();
    for (module, used) in &mut arrows {
        used.retain(|other| other != module && modules.contains(other));
    }
    arrows
}

/// The modules that reach themselves by the arrows.
fn in_circles(arrows: &Arrows) -> Vec<&str> {
    let reaches_itself = |module: &&str| {
        let mut open: Vec<&String> = arrows[*module].iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(&arrows[next]);
            }
        }
        seen.iter().any(|name| name == module)
    };
    arrows.keys().map(String::as_str).filter(reaches_itself).collect()
}

#[test]
fn modules_of_a_crate_use_each_other_without_circles() {
    for name in WITHOUT_CIRCLES {
        let arrows = arrows(name);
        assert!(arrows.values().any(|used| !used.is_empty()), "{name}: no arrow was found");
        let circles = in_circles(&arrows);
        assert!(circles.is_empty(), "{name}/src: {circles:?} use each other in a circle: move what both need down");
    }
}

#[test]
fn modules_of_the_index_use_those_below_them() {
    for (module, used) in arrows("crates/index") {
        let place = |name: &str| INDEX.iter().position(|m| *m == name);
        let own = place(&module).unwrap_or_else(|| panic!("{module} has no place in the order of modules: {INDEX:?}"));
        for other in used {
            assert!(
                place(&other).is_some_and(|other| other < own),
                "{module} must not use {other}, which stands above it: {INDEX:?} (docs/architecture.md)"
            );
        }
    }
}

/// The top-level modules that a README's table names, from top to bottom.
fn listed(readme: &str) -> Vec<&str> {
    let table =
        readme.split("\n| module |").nth(1).expect("a table of modules").split("\n\n").next().expect("its rows");
    let cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let names = cells.flat_map(|cell| cell.trim_end_matches('`').split("`, `"));
    // A module inside another one may have its row too.
    names.filter(|name| !name.contains("::")).map(|name| name.trim_end_matches('/')).collect()
}

#[test]
fn readmes_list_every_module() {
    for name in LISTED {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let library = fs::read_to_string(folder.join("src/lib.rs")).expect("a library");
        let module =
            |line: &str| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(String::from);
        let modules: BTreeSet<String> = library.lines().filter_map(module).collect();
        let readme = fs::read_to_string(folder.join("README.md")).expect("a README");
        let rows: BTreeSet<String> = listed(&readme).into_iter().map(String::from).collect();
        let differ: Vec<&String> = modules.symmetric_difference(&rows).collect();
        assert!(!modules.is_empty() && differ.is_empty(), "{name}: in README.md or in src/lib.rs alone: {differ:?}");
    }
}

#[test]
fn the_readme_of_the_index_has_the_order_of_its_modules() {
    let readme = include_str!("../../../index/README.md");
    assert_eq!(listed(readme), INDEX.into_iter().rev().collect::<Vec<_>>(), "the uppermost module first");
}

#[test]
fn arrows_and_circles_are_seen() {
    let text = "//! crate::no\nuse crate::a::{b, c};\nuse crate::{d::{x, y}, e};\nfn f(_: &crate::g::T) {}\n";
    assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["a", "d", "e", "g"]);
    let arrows = |edges: &[(&str, &[&str])]| -> Arrows {
        edges.iter().map(|(from, to)| (from.to_string(), to.iter().map(|t| t.to_string()).collect())).collect()
    };
    assert!(in_circles(&arrows(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    assert_eq!(in_circles(&arrows(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])])), ["b", "c"]);
}
