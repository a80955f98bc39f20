//! Tells the program which commit it is built from: records name it, and the folder may have moved on when they are made.

use std::path::Path;
use std::process::Command;

fn main() {
    // The commit's mark is refreshed when one of the program's sources changes.
    for path in ["../crates", "../Cargo.lock", "src", "build.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    // Without git, or outside a checkout, records name no commit.
    let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) else { return };
    // A file that is not there would make every build a new one.
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return };
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", "../crates", "src", "../Cargo.lock"]);
    let mark = if changed.is_some_and(|c| !c.is_empty()) { "+" } else { "" };
    println!("cargo::rustc-env=COLGREP_BENCH_COMMIT={commit}{mark}");
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
