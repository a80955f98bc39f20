//! House rules: which crate may use which, and generated documents that are current.

use std::path::{Path, PathBuf};
use std::process::Command;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn crates_depend_in_one_direction_only() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(workspace())
        .output()
        .expect("cargo");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("metadata");
    for (package, allowed) in [
        ("colgrep-core", &[][..]),
        ("colgrep-encoder", &["colgrep-core"]),
        ("colgrep-syntax", &["colgrep-core"]),
        ("colgrep-index", &["colgrep-core", "colgrep-encoder", "colgrep-syntax"]),
        ("colgrep-engine", &["colgrep-core", "colgrep-encoder", "colgrep-syntax", "colgrep-index"]),
        ("colgrep", &["colgrep-core", "colgrep-encoder", "colgrep-syntax", "colgrep-index", "colgrep-engine"]),
        (
            "colgrep-bench",
            &["colgrep-core", "colgrep-encoder", "colgrep-syntax", "colgrep-index", "colgrep-engine", "colgrep"],
        ),
    ] {
        let found =
            metadata["packages"].as_array().expect("packages").iter().find(|p| p["name"] == package).expect(package);
        for dependency in found["dependencies"].as_array().expect("dependencies") {
            let name = dependency["name"].as_str().expect("a name");
            assert!(
                !name.starts_with("colgrep") || allowed.contains(&name),
                "{package} must not use {name}: core <- syntax <- index <- engine <- cli <- benchmarks (docs/architecture.md)"
            );
        }
    }
}

#[test]
fn core_touches_nothing_outside() {
    for file in std::fs::read_dir(workspace().join("crates/core/src"))
        .expect("core")
        .chain(std::fs::read_dir(workspace().join("crates/core/src/rank")).expect("rank"))
        .flatten()
    {
        if !file.path().is_file() {
            continue;
        }
        let text = std::fs::read_to_string(file.path()).expect("a source file");
        for word in
            ["std::fs", "std::env", "std::net", "std::thread", "std::time", "std::process", "println!", "eprintln!"]
        {
            assert!(!text.contains(word), "{}: core is pure; {word} belongs to index or cli", file.path().display());
        }
    }
}

#[test]
fn the_knob_table_is_current() {
    let path = workspace().join("docs/generated/knobs.md");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == colgrep::knobs_markdown(), "docs/generated/knobs.md is old; run `just docs`");
}

#[test]
fn the_reference_of_the_command_line_is_current() {
    let path = workspace().join("docs/generated/cli.md");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == colgrep::cli_markdown(), "docs/generated/cli.md is old; run `just docs`");
    // Every flag and subcommand that a run understands stands in the reference.
    for word in
        ["`-A`, `--after-context N`", "## colgrep outline", "`--max-tokens N`", "## colgrep settings", "`-0`, `--null`"]
    {
        assert!(text.contains(word), "{word} is missing");
    }
}

#[test]
fn every_source_file_says_what_lives_there() {
    fn check(folder: &Path) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "fixtures" && entry.file_name() != "languages" {
                check(&path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                assert!(text.starts_with("//! "), "{} begins with no `//!` line", path.display());
            }
        }
    }
    check(&workspace().join("crates"));
    check(&workspace().join("benchmarks"));
}
