//! Indexes of every older format: each command works with them or builds anew, and none fails.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Sandbox;
use colgrep_index::store::{FORMAT_VERSION, project_folder};

/// The oldest format of which there is an index; those before it differ in what the commit point says.
const KEPT_FIRST: u32 = 4;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file");
        }
    }
}

/// A project with an index of a format in the place of its own.
fn of_format(format: u32) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    sandbox.write("ring.rs", "/// Reads the header again after a failure.\npub fn parse_header(input: &str) {}\n");
    sandbox.write("send.py", "def send_page(ring):\n    return parse_header(ring)\n");
    let folder = project_folder(&sandbox.data(), &sandbox.root());
    let kept = format.max(KEPT_FIRST);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/formats/{kept}")), &folder);
    let meta = folder.join("lexical/meta.json");
    let text = fs::read_to_string(&meta).expect("a commit point");
    let payload = |format: u32| format!("colgrep {format} ");
    assert!(text.contains(&payload(kept)), "{text}");
    fs::write(&meta, text.replace(&payload(kept), &payload(format))).expect("a file");
    (sandbox, folder)
}

#[test]
fn an_index_of_any_older_format_is_built_anew() {
    for format in 1..FORMAT_VERSION {
        for first in [&["parse header", "-l"][..], &["init"], &["-e", "parse_header", "-l"], &["--like", "ring.rs:2"]] {
            let (sandbox, folder) = of_format(format);
            let ran = sandbox.run(first);
            assert_eq!(ran.status, 0, "{format}, {first:?}: {ran:?}");
            let found = sandbox.run(&["parse header", "-l", "-k", "1"]);
            assert_eq!((found.status, found.out.as_str()), (0, "ring.rs\n"), "{format}, {first:?}: {found:?}");
            let checked = sandbox.run(&["doctor", "--verify"]);
            assert_eq!(checked.status, 0, "{format}, {first:?}: {checked:?}");
            let meta = fs::read_to_string(folder.join("lexical/meta.json")).expect("a commit point");
            assert!(meta.contains(&format!("colgrep {FORMAT_VERSION} ")), "{format}: {meta}");
        }
    }
}

#[test]
fn looking_at_an_older_format_says_what_to_do() {
    for format in 1..FORMAT_VERSION {
        let (sandbox, folder) = of_format(format);
        for args in [&["status"][..], &["doctor"], &["parse", "--no-update"], &["--stats"], &["settings"]] {
            let ran = sandbox.run(args);
            let tells = ran.err.contains("another version") && ran.err.contains("colgrep init");
            assert!(ran.status < 2 || tells, "{format}, {args:?}: {ran:?}");
            assert!(!ran.err.contains("fault of colgrep"), "{format}, {args:?}: {ran:?}");
        }
        assert_eq!(sandbox.run(&["clear"]).status, 0, "{format}");
        assert!(!folder.exists(), "{format}");
    }
}

#[test]
fn every_older_format_has_its_index() {
    // A new format needs an index of the last one here: `colgrep init` of the version before makes it.
    for format in KEPT_FIRST..FORMAT_VERSION {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/formats/{format}/lexical")).is_dir());
    }
}
