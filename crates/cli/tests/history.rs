//! What a history withstands, and what else looks into it.

mod common;

use std::fs;
use std::path::PathBuf;

use common::past::{git, repository, session, transcripts, written};

#[test]
fn seeds_001_5_the_session_that_asks_is_left_out() {
    let (sandbox, _) = repository();
    let folder = transcripts(&sandbox);
    let path = folder.join("s1.jsonl");
    fs::write(&path, session(&sandbox)).expect("a file");
    fs::write(folder.join("s11.jsonl"), session(&sandbox)).expect("a file");
    let (path, at) =
        (path.display().to_string(), |line: u32| format!("{}:{line}\n", folder.join("s11.jsonl").display()));
    for name in ["s1", "s1.jsonl", path.as_str()] {
        let left = sandbox.run(&["log", "--sessions", "-l", "--not-session", name]);
        assert_eq!(left.out, at(6) + &at(2), "{name}: {left:?}");
    }
    assert_eq!(sandbox.run(&["log", "--sessions", "--not-session", "s1", "--not-session", "s11"]).status, 1);
    assert_eq!(sandbox.run(&["log", "-l", "--sessions"]).out.lines().count(), 4);
}

#[test]
fn seeds_001_14_a_history_of_another_version_or_a_damaged_one_is_made_anew() {
    let (sandbox, names) = repository();
    let before = sandbox.run(&["log", "-l"]).out;
    let files: Vec<PathBuf> = written(&sandbox).into_iter().map(|(path, _)| path).collect();
    assert!(files.len() > 3 && before.lines().count() == 4, "{files:?}");
    for path in &files {
        if !path.exists() || fs::metadata(path).expect("a file").len() == 0 {
            continue;
        }
        fs::write(path, "nothing of the kind").expect("a file");
        let ran = sandbox.run(&["log", "-l"]);
        assert_eq!((ran.status, ran.out.as_str()), (0, before.as_str()), "{}: {ran:?}", path.display());
        assert_eq!(sandbox.run(&["log", "retries at five", "-l", "-k", "1"]).out.trim(), names[0]);
    }
}

#[test]
fn s000_23_a_plain_search_opens_no_history_unless_it_counts() {
    let (sandbox, _) = repository();
    let histories = || {
        let folders = fs::read_dir(sandbox.data()).expect("a folder").flatten();
        folders.filter(|e| e.file_name().to_string_lossy().ends_with(".history")).count()
    };
    assert_eq!(sandbox.run_with(&[("COLGREP_HISTORY_BOOST", "0")], &["retries"]).status, 0);
    assert_eq!(histories(), 0);
    let ran = sandbox.run_with(&[("COLGREP_HISTORY_BOOST", "0.1")], &["retries at five", "--explain"]);
    assert!(ran.out.contains("history +"), "{ran:?}");
    assert_eq!(histories(), 1);
}

#[test]
fn a_repository_runs_no_program_of_its_own() {
    let (sandbox, _) = repository();
    let root = sandbox.root();
    let touched = sandbox.data().with_file_name("touched");
    let program = format!("touch {}", touched.display());
    for (key, value) in [
        ("core.fsmonitor", program.as_str()),
        ("core.pager", &program),
        ("gpg.program", &program),
        ("log.showSignature", "true"),
        ("diff.external", &program),
        ("diff.x.textconv", &program),
        ("diff.x.command", &program),
        ("filter.x.clean", &program),
        ("filter.x.process", &program),
        // No program, but it has no end.
        ("mailmap.file", "/dev/zero"),
    ] {
        git(&root, "2026-01-01T12:00:00+0000", &["config", key, value]);
    }
    sandbox.write(".gitattributes", "* diff=x filter=x\n");
    assert_eq!(sandbox.run(&["log", "retries"]).status, 0);
    assert_eq!(sandbox.run(&["log", "--", "src/http.rs:1"]).status, 0);
    assert!(!touched.exists());
}

#[test]
fn vectors_that_come_later_are_made_of_what_the_index_keeps() {
    let (sandbox, _) = repository();
    let sandbox = sandbox.with_meaning();
    let folder = transcripts(&sandbox);
    fs::write(folder.join("s1.jsonl"), session(&sandbox)).expect("a file");
    assert_eq!(sandbox.run(&["log", "retries", "--keyword-only"]).status, 0);
    let segments = || -> Vec<PathBuf> {
        let files = written(&sandbox).into_iter().map(|(path, _)| path);
        files.filter(|path| path.extension().is_some_and(|e| e == "store")).collect()
    };
    let before = segments();
    let ran = sandbox.run(&["log", "retries", "--explain"]);
    assert!(ran.out.contains("semantic"), "{ran:?}");
    assert_eq!(segments(), before, "nothing was read from git or transcripts again");
}
