//! What the tests of `log` share: a repository with a past, and made transcripts.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Ran, Sandbox, git_in};

/// Runs git in a folder with the clock set to `date`.
pub fn git(folder: &Path, date: &str, args: &[&str]) -> String {
    git_in(folder, &[("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)], args)
}

pub fn commit(sandbox: &Sandbox, date: &str, files: &[&str], message: &str) -> String {
    for file in files {
        let before = fs::read_to_string(sandbox.root().join(file)).unwrap_or_default();
        sandbox.write(file, &format!("{before}// {message}\n"));
    }
    let (root, date) = (sandbox.root(), format!("{date}T12:00:00+0000"));
    git(&root, &date, &["add", "-A"]);
    git(&root, &date, &["commit", "-q", "--allow-empty", "-m", message]);
    git(&root, &date, &["rev-parse", "HEAD"])
}

/// A repository of four commits; their names, the oldest first.
pub fn repository() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::new();
    git(&sandbox.root(), "2026-01-01T12:00:00+0000", &["init", "-q"]);
    let commits = [
        (
            "2026-01-01",
            &["src/retry.rs", "src/http.rs"][..],
            "Cap retries at five\n\nSince the server sleeps otherwise.",
        ),
        ("2026-01-02", &["src/parse.rs"][..], "Parse headers lazily"),
        ("2026-01-03", &["src/http.rs", "src/parse.rs"][..], "Keep the connection open"),
        ("2026-01-04", &["README.md"][..], "Say how to build"),
    ];
    let names = commits.iter().map(|(date, files, message)| commit(&sandbox, date, files, message)).collect();
    (sandbox, names)
}

/// The folder of transcripts; the user's settings name it.
pub fn transcripts(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.data().with_file_name("transcripts");
    fs::create_dir_all(&folder).expect("a folder");
    let folder = folder.canonicalize().expect("its path");
    let ran = sandbox.run(&["settings", "sessions", &folder.display().to_string()]);
    assert_eq!(ran.status, 0, "{ran:?}");
    folder
}

pub fn asked(cwd: &str, time: &str, text: &str) -> Value {
    json!({"type": "user", "cwd": cwd, "sessionId": "s1", "timestamp": time, "message": {"role": "user", "content": text}})
}

pub fn did(cwd: &str, text: &str, tools: &[(&str, Value)]) -> Value {
    let mut content = vec![json!({"type": "text", "text": text})];
    content.extend(tools.iter().map(|(name, input)| json!({"type": "tool_use", "name": name, "input": input})));
    json!({"type": "assistant", "cwd": cwd, "message": {"role": "assistant", "content": content}})
}

pub fn answered(cwd: &str, result: &str) -> Value {
    json!({"type": "user", "cwd": cwd, "message": {"role": "user", "content": [{"type": "tool_result", "content": result}]}})
}

pub fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// A session in the sandbox' project: two turns, with tools, their answers, and paths outside.
pub fn session(sandbox: &Sandbox) -> String {
    let root = sandbox.root().display().to_string();
    let inside = |path: &str| format!("{root}/{path}");
    lines(&[
        json!({"type": "summary", "summary": "Backoff"}),
        asked(&root, "2026-01-05T09:00:00Z", "Why does the client give up so early?\nPlease look."),
        did(
            &root,
            "It doubles the pause each time.",
            &[
                ("Read", json!({"file_path": inside("src/retry.rs")})),
                ("Read", json!({"file_path": "/etc/shadow"})),
                ("Bash", json!({"command": "cargo test --test http src/http.rs ../elsewhere/x.rs"})),
            ],
        ),
        answered(&root, "fn pause() { let password = \"zanzibar\"; }"),
        did(&root, "", &[("Edit", json!({"file_path": "src/retry.rs", "old_string": "a", "new_string": "quetzal"}))]),
        asked(&root, "2026-01-06T09:00:00Z", "Now make the limit a setting"),
        did(&root, "Done.", &[("Write", json!({"file_path": inside("src/limit.rs"), "content": "quetzal"}))]),
    ])
}

pub fn rows(ran: &Ran) -> Vec<Value> {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
}

pub fn subjects(ran: &Ran) -> Vec<String> {
    rows(ran).iter().map(|row| row["subject"].as_str().unwrap_or_default().to_string()).collect()
}

/// Every file below the folder of indexes with its time.
pub fn written(sandbox: &Sandbox) -> Vec<(PathBuf, std::time::SystemTime)> {
    fn add(folder: PathBuf, all: &mut Vec<(PathBuf, std::time::SystemTime)>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.metadata().expect("an entry") {
                data if data.is_dir() => add(entry.path(), all),
                data => all.push((entry.path(), data.modified().expect("a time"))),
            }
        }
    }
    let mut all = Vec::new();
    add(sandbox.data(), &mut all);
    all.sort();
    all
}
