//! Projects that share indexes: repositories, clones of them, and what a push leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Ran, Sandbox};

/// Runs git in a project.
pub fn git(sandbox: &Sandbox, args: &[&str]) {
    let fixed = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").args(fixed).args(args).current_dir(sandbox.root()).output().expect("git");
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// The fixture as a repository with one commit, ranked by keywords.
pub fn repository() -> Sandbox {
    let sandbox = Sandbox::of("relay");
    git(&sandbox, &["init", "-q"]);
    commit(&sandbox, "A ring for what waits to be sent");
    sandbox
}

/// Commits all that is there.
pub fn commit(sandbox: &Sandbox, message: &str) {
    git(sandbox, &["add", "."]);
    git(sandbox, &["commit", "-qm", message]);
}

/// A clone with indexes of its own. Its files have other times.
pub fn clone_of(sandbox: &Sandbox) -> Sandbox {
    let clone = Sandbox::new();
    fs::remove_dir(clone.root()).expect("an empty folder");
    let parent = clone.data().parent().expect("a folder").to_path_buf();
    let from = sandbox.root().display().to_string();
    let done = Command::new("git").args(["clone", "-q", &from, "project"]).current_dir(parent).output().expect("git");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    clone
}

/// The command's run, which has to succeed.
pub fn done(sandbox: &Sandbox, args: &[&str]) -> Ran {
    let ran = sandbox.run(args);
    assert_eq!(ran.status, 0, "{args:?}: {}", ran.err);
    ran
}

/// What a search answers, scores included.
pub fn answer(sandbox: &Sandbox) -> String {
    ["how are requests parsed", "ring", "parse_request", "send page"]
        .map(|query| sandbox.run(&[query, "--json", "--no-update", "-k", "20"]).out)
        .concat()
}

/// All files below a folder, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files_below(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// The manifests of a remote folder with one repository, the newest last.
pub fn manifests(remote: &Path) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| path.extension().is_some_and(|e| e == "json");
    files_below(remote).into_iter().filter(is_one).collect()
}

/// What the newest manifest says.
pub fn manifest(remote: &Path) -> serde_json::Value {
    let text = fs::read_to_string(manifests(remote).last().expect("a manifest")).expect("text");
    serde_json::from_str(text.rsplit_once("sha256 ").expect("a seal").0).expect("JSON")
}

/// Puts this in the place of the newest manifest, with its seal.
pub fn write_manifest(remote: &Path, manifest: &serde_json::Value) {
    let text = format!("{manifest}\n");
    let sum = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let hex: String = sum.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(manifests(remote).last().expect("a manifest"), format!("{text}sha256 {hex}\n")).expect("written");
}
