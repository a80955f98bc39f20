//! Indexes of another format: each command works with them or builds them anew, and none fails.

use std::fs;
use std::path::PathBuf;

use crate::common::Sandbox;
use colgrep_index::store::{FORMAT_VERSION, project_folder};

/// Formats that this program does not read.
const OTHERS: [u32; 3] = [1, FORMAT_VERSION ^ 1, !FORMAT_VERSION];

/// A project whose index claims another format, with files of which nothing can be read.
fn of_format(format: u32) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    sandbox.write("ring.rs", "/// Reads the header again after a failure.\npub fn parse_header(input: &str) {}\n");
    sandbox.write("send.py", "def send_page(ring):\n    return parse_header(ring)\n");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    let folder = project_folder(&sandbox.data(), &sandbox.root());
    let meta = folder.join("lexical/meta.json");
    let text = fs::read_to_string(&meta).expect("a commit point");
    let payload = |format: u32| format!("colgrep {format} ");
    assert!(text.contains(&payload(FORMAT_VERSION)), "{text}");
    fs::write(&meta, text.replace(&payload(FORMAT_VERSION), &payload(format))).expect("a file");
    let is_table = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("files-"));
    let tables = fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()).filter(is_table);
    tables.for_each(|table| fs::write(table, "of another format").expect("a file"));
    (sandbox, folder)
}

#[test]
fn an_index_of_another_format_is_built_anew() {
    for format in OTHERS {
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
fn looking_at_another_format_says_what_to_do() {
    for format in OTHERS {
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
