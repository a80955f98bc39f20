//! Projects that share indexes: repositories, clones of them, and what a push leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Ran, Sandbox, git, git_in};

/// The fixture as a repository with one commit, ranked by keywords.
pub fn repository() -> Sandbox {
    let sandbox = Sandbox::of("relay");
    git(&sandbox, &["init", "-q"]);
    commit(&sandbox, "A ring for what waits to be sent");
    sandbox
}

pub fn commit(sandbox: &Sandbox, message: &str) {
    git(sandbox, &["add", "."]);
    git(sandbox, &["commit", "-qm", message]);
}

/// A clone with indexes of its own. Its files have other times.
pub fn clone_of(sandbox: &Sandbox) -> Sandbox {
    clone_from(&sandbox.root().display().to_string(), &[])
}

/// A clone of an address, with indexes of its own.
pub fn clone_from(address: &str, args: &[&str]) -> Sandbox {
    let clone = Sandbox::new();
    fs::remove_dir(clone.root()).expect("an empty folder");
    let around = clone.data().parent().expect("a folder").to_path_buf();
    git_in(&around, &[], &[&["clone", "-q"], args, &[address, "project"]].concat());
    clone
}

/// The command's run, which has to succeed.
pub fn done(sandbox: &Sandbox, args: &[&str]) -> Ran {
    done_by(sandbox, &mut sandbox.command(args))
}

/// The run of a command that was made for a project.
pub fn run_by(sandbox: &Sandbox, command: &mut Command) -> Ran {
    Ran::of(command.output().expect("a process"), &sandbox.root())
}

/// As [`run_by`], where the run has to succeed.
pub fn done_by(sandbox: &Sandbox, command: &mut Command) -> Ran {
    let ran = run_by(sandbox, command);
    assert_eq!(ran.status, 0, "{command:?}: {}", ran.err);
    ran
}

/// A folder to share in, outside the project, as a path and as an argument.
pub fn place(sandbox: &Sandbox) -> (PathBuf, String) {
    let folder = sandbox.data().with_file_name("shared");
    (folder.clone(), folder.display().to_string())
}

/// Four clones, each with a commit on a branch of its own, whose pushes run at once and all succeed. `command` makes the
/// commands that reach the remote.
pub fn push_at_once(ours: &Sandbox, url: &str, command: impl Fn(&Sandbox, &[&str]) -> Command) -> Vec<Sandbox> {
    let clones: Vec<Sandbox> = (0..4).map(|_| clone_of(ours)).collect();
    for (n, clone) in clones.iter().enumerate() {
        git(clone, &["checkout", "-qb", &format!("branch{n}")]);
        clone.write(&format!("src/of{n}.rs"), &format!("/// Only here.\npub fn of_branch{n}() {{}}\n"));
        commit(clone, "Mine");
        done_by(clone, &mut command(clone, &["init"]));
    }
    let start = |clone: &Sandbox| command(clone, &["push", url]).stderr(Stdio::piped()).spawn().expect("a process");
    let pushes: Vec<Child> = clones.iter().map(start).collect();
    for push in pushes {
        let output = push.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    clones
}

/// Checks that a clone of each clone finds what its branch pushed, without parsing.
pub fn find_what_was_pushed(clones: &[Sandbox], url: &str, command: impl Fn(&Sandbox, &[&str]) -> Command) {
    for (n, clone) in clones.iter().enumerate() {
        let fresh = clone_of(clone);
        let pulled = done_by(&fresh, &mut command(&fresh, &["pull", url]));
        let said = [format!("branch{n}, "), "0 units parsed".to_string()];
        assert!(said.iter().all(|part| pulled.err.contains(part)), "{}", pulled.err);
        assert_eq!(fresh.run(&[&format!("of_branch{n}")]).paths(), [format!("src/of{n}.rs")]);
    }
}

/// The time that a command takes, which has to succeed.
pub fn timed(command: &mut Command) -> Duration {
    let started = Instant::now();
    let output = command.output().expect("a process");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    started.elapsed()
}

/// Runs a command and kills it after a while; whether it was at work then.
pub fn killed(command: &mut Command, after: Duration) -> bool {
    let mut child = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("a process");
    std::thread::sleep(after);
    let at_work = child.try_wait().expect("a state").is_none();
    let _ = child.kill();
    child.wait().expect("an end");
    at_work
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

/// The blobs of a remote folder with one repository.
pub fn blobs(remote: &Path) -> Vec<PathBuf> {
    files_below(&blobs_of(remote))
}

/// The folder of blobs of a remote folder with one repository.
pub fn blobs_of(remote: &Path) -> PathBuf {
    manifests(remote).last().expect("a manifest").with_file_name("blobs")
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

/// The indexes that the newest manifest names, the newest last.
pub fn snapshots(remote: &Path) -> Vec<serde_json::Value> {
    manifest(remote)["snapshots"].as_array().expect("a list").clone()
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let sum = ring::digest::digest(&ring::digest::SHA256, bytes);
    sum.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Puts this in the place of the newest manifest, with its seal.
pub fn write_manifest(remote: &Path, manifest: &serde_json::Value) {
    let text = format!("{manifest}\n");
    let hex = sha256(text.as_bytes());
    fs::write(manifests(remote).last().expect("a manifest"), format!("{text}sha256 {hex}\n")).expect("written");
}
