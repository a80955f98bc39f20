//! Flags that ask git what changed.

use crate::common::{Sandbox, check, git};

#[test]
fn git_says_what_changed() {
    let sandbox = Sandbox::of("relay");
    sandbox.refuses(&["parse", "--changed"], "--changed needs a git repository");
    let no_git = sandbox.run_with(&[("PATH", "")], &["parse", "--changed"]);
    assert!(no_git.err.contains("--changed asks git: the program `git` could not be started"), "{no_git:?}");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "first"]);
    git(&sandbox, &["tag", "v1"]);
    assert_eq!(sandbox.run(&["parse", "--changed", "-l"]).status, 1);
    sandbox.write("src/http/parse.rs", "pub fn parse_request() {}\n");
    git(&sandbox, &["commit", "-qam", "second"]);
    sandbox.write("src/new.rs", "fn parse_new() {}\n");
    sandbox.write("docs/retry.md", "# How to parse\n");
    check(
        &sandbox,
        &[
            ("-e parse --changed -l", "docs/retry.md | src/new.rs"),
            ("-e parse --changed -l src", "src/new.rs"),
            ("-e parse --since v1 -l", "docs/retry.md | src/http/parse.rs | src/new.rs"),
            ("parse_new --changed -l -k 1", "src/new.rs"),
            ("parse_request --since v1 -l -k 1", "src/http/parse.rs"),
        ],
    );
    // What another branch did since is not ours.
    git(&sandbox, &["checkout", "-q", "-b", "other", "v1"]);
    sandbox.write("src/theirs.rs", "fn parse_theirs() {}\n");
    git(&sandbox, &["add", "src/theirs.rs"]);
    git(&sandbox, &["commit", "-qm", "theirs"]);
    git(&sandbox, &["checkout", "-q", "main"]);
    check(
        &sandbox,
        &[
            ("-e parse --since other...HEAD -l", "docs/retry.md | src/http/parse.rs | src/new.rs"),
            ("-e parse --since other... -l src", "src/http/parse.rs | src/new.rs"),
        ],
    );
    assert!(sandbox.run(&["-e", "x", "--since", "other...nosuch"]).err.contains("no two commits with a common one"));
    for name in ["nosuch", "--output=x"] {
        sandbox.refuses(&["parse", &format!("--since={name}")], "no commit, branch or tag");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_stops_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def zebra():\n    return 1\n");
    sandbox.write("b.py", "def other():\n    return 1\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "first"]);
    std::fs::remove_file(sandbox.root().join("b.py")).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(sandbox.root().join("b.py")).status().expect("mkfifo");
    assert!(made.success());
    assert_eq!(sandbox.run(&["zebra", "--changed", "-l"]).status, 1);
    sandbox.write("a.py", "def zebra():\n    return 2\n");
    let rows = ["zebra --changed -l", "zebra --since HEAD -l", "-e . --changed -l", "-e . --since HEAD -l"];
    check(&sandbox, &rows.map(|words| (words, "a.py")));
}

#[test]
fn git_says_what_changed_in_repositories_inside() {
    let sandbox = Sandbox::of("relay");
    let elsewhere = Sandbox::of("relay");
    git(&elsewhere, &["init", "-q"]);
    git(&elsewhere, &["add", "src"]);
    git(&elsewhere, &["commit", "-qm", "first"]);
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "first"]);
    git(&sandbox, &["tag", "before"]);
    let from = elsewhere.root().to_string_lossy().into_owned();
    let add = ["submodule", "--quiet", "add", &from, "parts/sub"];
    git(&sandbox, &add);
    git(&sandbox, &["commit", "-qm", "a submodule"]);
    git(&sandbox, &["tag", "v1"]);
    git(&sandbox, &["clone", "-q", &from, "nested"]);
    let changed = |flag: &str, expected: &str| check(&sandbox, &[(&format!("-e parse_new {flag} -l"), expected)]);
    changed("--changed", "");
    // Uncommitted, and then committed inside alone. Of another clone, git knows no commit.
    for file in ["http/parse.rs", "new.rs"] {
        sandbox.write(&format!("nested/src/{file}"), "fn parse_new() {}\n");
    }
    git(&sandbox, &["-C", "nested", "commit", "-qam", "known there alone"]);
    sandbox.write("parts/sub/src/http/parse.rs", "pub fn parse_new() {}\n");
    let all = "nested/src/http/parse.rs | nested/src/new.rs | parts/sub/src/http/parse.rs";
    changed("--changed", all);
    changed("--changed parts", "parts/sub/src/http/parse.rs");
    git(&sandbox, &["-C", "parts/sub", "commit", "-qam", "inside"]);
    changed("--changed", all);
    git(&sandbox, &["commit", "-qam", "the submodule moved"]);
    changed("--changed", "nested/src/http/parse.rs | nested/src/new.rs");
    changed("--since v1 parts", "parts/sub/src/http/parse.rs");
    // Of what was no submodule yet, everything is new.
    let new = [("-e ring:: --since before -l parts", "parts/sub/src/http/server.rs | parts/sub/src/main.rs")];
    check(&sandbox, &new);
    // A link to a folder is a file, wherever it leads; what a repository's configuration wants to be run is not.
    sandbox.write("nested/monitor.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/was-run\"\n");
    let monitor = sandbox.root().join("nested/monitor.sh");
    git(&sandbox, &["-C", "nested", "config", "core.fsmonitor", &monitor.to_string_lossy()]);
    #[cfg(unix)]
    {
        std::fs::set_permissions(&monitor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a script");
        for link in ["around", "again"] {
            std::os::unix::fs::symlink(".", sandbox.root().join(link)).expect("a link");
        }
    }
    changed("--changed parts", "");
    assert!(!sandbox.root().join("nested/was-run").exists());
    // A submodule that git can't read: all its files may have changed.
    sandbox.write("parts/sub/.git", "gitdir: /nowhere\n");
    changed("--changed", all);
}
