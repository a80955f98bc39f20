//! `race`: a file and a folder exchange their names with links out of the project, while servers are asked for them by
//! every route. No answer may hold what the links lead to.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io, thread};

use anyhow::Result;
use serde_json::{Value, json};

use super::mcp::{CANARY, McpClient, talk};
use super::subject::{Subject, link};
use super::{Tally, TortureArgs, go_through};
use crate::serve::{HttpClient, LoadedServer};
use crate::speed::process::Program;

/// A file of the project, and one in a folder: the links lead to a file, and to a folder with one of the same name.
const FILE: &str = "src/part1/header.rs";
const FOLDER: &str = "src/part2";
const FILE_IN_FOLDER: &str = "src/part2/header.rs";

/// Runs the kind.
///
/// # Errors
/// When the servers can't be started, or the disk refuses.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    let subject = Subject::new()?;
    let outside = subject.data("outside");
    fs::create_dir(&outside)?;
    let text = format!(
        "/// Parses the header of {CANARY}.\npub fn send_{CANARY}(count: usize) -> usize {{\n    count // {CANARY}\n}}\n"
    );
    fs::write(outside.join("header.rs"), text)?;
    let pairs = [(FILE, "src/link.rs", outside.join("header.rs")), (FOLDER, "src/links", outside)]
        .map(|(name, link, target)| (subject.root.join(name), subject.root.join(link), target));
    pairs.iter().try_for_each(|(_, name, target)| link(target, name))?;
    let is_over = AtomicBool::new(false);
    let (tally, exchanged) = thread::scope(|scope| {
        let exchanging = scope.spawn(|| exchange_until(&is_over, &pairs));
        let tally = answered(args, &subject);
        is_over.store(true, Ordering::Relaxed);
        (tally, exchanging.join())
    });
    let mut tally = tally?;
    match exchanged {
        Ok(exchanged) => drop(tally.counts.insert("exchanges", exchanged?)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
    Ok(vec![tally])
}

/// Asks both kinds of servers, all routes a case.
fn answered(args: &TortureArgs, subject: &Subject) -> Result<Tally> {
    let program = Program::colgrep(args.colgrep.as_deref())?.with_data(&subject.data("served"));
    let server = LoadedServer::start(&program, std::slice::from_ref(&subject.root), None)?;
    let mut client = McpClient::start(args, subject)?;
    let tally = go_through(args, "race, every route a case", (0..args.cases as u64).collect(), |case, counts| {
        let calls = calls();
        let line = |(id, (name, arguments)): (usize, &(&str, Value))| {
            let params = json!({"name": name, "arguments": arguments});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
        };
        let lines: Vec<String> = calls.iter().enumerate().map(line).collect();
        let mut failures = talk(&mut client, &lines, counts)?;
        // A new one: on a busy machine the server ends one that was idle meanwhile.
        let web = HttpClient::new(&server.host);
        let views = [FILE, FILE_IN_FOLDER].map(|path| ("/page/file", json!({"repository": "project", "path": path})));
        let routes = calls.iter().map(|(name, body)| (format!("/api/v1/{name}"), body));
        let pages = views.iter().map(|(path, body)| (path.to_string(), body));
        for (path, body) in routes.chain(pages) {
            let (status, answer) = web.post(&path, body)?;
            *counts.entry(if status == 200 { "answers of HTTP" } else { "refusals of HTTP" }).or_default() += 1;
            if answer.contains(CANARY) {
                failures.push(("told from outside", format!("{path}: {answer}")));
            }
        }
        Ok(failures.into_iter().map(|(kind, text)| (kind, format!("case {case}: {text}"))).collect())
    })?;
    client.end()?;
    Ok(tally)
}

/// A call of each tool that reads files, for each of the two.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("search", json!({"query": "parse header", "content": true})),
        ("search", json!({"query": "send", "pattern": "count: usize", "content": true})),
        ("grep", json!({"pattern": "count", "context": 2})),
    ];
    for file in [FILE, FILE_IN_FOLDER] {
        calls.extend([
            ("grep", json!({"pattern": "count|header", "paths": [file]})),
            ("outline", json!({"file": file})),
            ("read_unit", json!({"file": file, "line": 3})),
            ("find_related", json!({"file": file, "line": 3})),
        ]);
    }
    calls
}

/// Exchanges names until told to stop. Returns how often.
fn exchange_until(is_over: &AtomicBool, pairs: &[(PathBuf, PathBuf, PathBuf)]) -> io::Result<u64> {
    let mut exchanged = 0;
    while !is_over.load(Ordering::Relaxed) {
        for (one, other, _) in pairs {
            exchange(one, other)?;
            exchanged += 1;
        }
    }
    Ok(exchanged)
}

/// Exchanges two names, on Linux in one step.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let kept = one.with_extension("kept");
        fs::rename(one, &kept)?;
        fs::rename(other, one)?;
        fs::rename(kept, other)
    }
}
