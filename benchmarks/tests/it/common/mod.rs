//! What the tests share: the harness as a process, with nothing of the caller's environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The folder of this crate.
pub fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A copy of the small annotated project in a folder of its own, outside any git repository.
pub fn kiosk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&here().join("fixtures/kiosk"), &folder.path().join("repos/kiosk"));
    folder
}

/// Copies a folder with everything below it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// Runs the harness.
#[expect(clippy::disallowed_methods, reason = "the harness looks for other programs on PATH")]
pub fn bench(args: &[&str], vars: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colgrep-bench"));
    command
        .args(args)
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("COLGREP_DATA_DIR", "/nonexistent")
        .env("COLGREP_BACKGROUND", "0");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.envs(vars.iter().copied()).output().expect("the harness")
}

/// What the harness prints, which has to succeed.
pub fn printed(args: &[&str], vars: &[(&str, &str)]) -> String {
    let output = bench(args, vars);
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{args:?}: {printed}{}", String::from_utf8_lossy(&output.stderr));
    printed
}

/// A file of JSON.
pub fn read(path: impl AsRef<Path>) -> Value {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A path as an argument.
pub fn text(path: impl AsRef<Path>) -> String {
    path.as_ref().to_str().expect("UTF-8").to_string()
}

/// The arguments that name the small annotated project in `folder`.
pub fn corpus_args(folder: &Path) -> Vec<String> {
    vec![
        "--annotations".into(),
        text(here().join("fixtures/annotations")),
        "--specs".into(),
        text(here().join("fixtures/repos.json")),
        "--repos".into(),
        text(folder.join("repos")),
        "--data-dir".into(),
        text(folder.join("data")),
    ]
}

/// Runs a command of the harness over the small project; gives what it printed.
pub fn bench_kiosk(folder: &Path, command: &str, args: &[&str], vars: &[(&str, &str)]) -> String {
    let corpus = corpus_args(folder);
    let mut all = vec![command];
    all.extend(corpus.iter().map(String::as_str));
    all.extend(args);
    printed(&all, vars)
}
