//! Nothing is sent anywhere: what colgrep does, it does where the system lets nobody open a socket to a network.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};

use crate::common::{Sandbox, git};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde_json::{Value, json};

/// The end of a process that did what it may not do.
const FORBIDDEN: i32 = libc::SIGSYS;

/// From here on, this thread and the processes that it starts end where they make a socket to anything but this machine's
/// own processes, or a ring of requests to the system, which could make one.
fn forbid_networks() {
    let family = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, libc::AF_UNIX as u64);
    let rule = family.and_then(|family| SeccompRule::new(vec![family])).expect("a rule");
    let rules = BTreeMap::from([(libc::SYS_socket, vec![rule]), (libc::SYS_io_uring_setup, Vec::new())]);
    let architecture = std::env::consts::ARCH.try_into().expect("a known processor");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::KillProcess, architecture);
    let program: BpfProgram = filter.and_then(TryInto::try_into).expect("a filter");
    seccompiler::apply_filter(&program).expect("Linux takes a filter from everybody");
}

/// As [`forbid_networks`], but sockets may be made, and none may be connected.
fn forbid_connections() {
    let rules = [libc::SYS_connect, libc::SYS_sendmsg, libc::SYS_sendmmsg, libc::SYS_io_uring_setup];
    let rules = BTreeMap::from(rules.map(|call| (call, Vec::new())));
    let architecture = std::env::consts::ARCH.try_into().expect("a known processor");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::KillProcess, architecture);
    let program: BpfProgram = filter.and_then(TryInto::try_into).expect("a filter");
    seccompiler::apply_filter(&program).expect("Linux takes a filter from everybody");
}

/// Runs a command, fed with `input`, without networks.
fn apart(mut command: Command, input: &str) -> Output {
    let run = move || {
        forbid_networks();
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("a reader");
        child.wait_with_output().expect("an end")
    };
    // A filter stays with its thread for good.
    std::thread::scope(|scope| scope.spawn(run).join()).expect("a thread")
}

/// The command, which finds git.
#[expect(clippy::disallowed_methods, reason = "git is looked for on PATH")]
fn command(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(args);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// A repository with a commit, an uncommitted change, and a remote.
fn cloned() -> Sandbox {
    let sandbox = Sandbox::of("relay").with_meaning();
    let steps: [&[&str]; 5] = [
        &["init", "-q"],
        &["remote", "add", "origin", "https://example.com/relay.git"],
        &["config", "remote.origin.promisor", "true"],
        &["add", "."],
        &["commit", "-qm", "A ring for what waits to be sent"],
    ];
    steps.iter().for_each(|step| drop(git(&sandbox, step)));
    sandbox.write("src/changed.rs", "/// Sends a page.\npub fn send_page() {}\n");
    sandbox
}

#[test]
fn no_command_opens_a_socket() {
    let sandbox = cloned();
    let commands: [&[&str]; 15] = [
        &["init", "--index-mode", "full"],
        &["how are requests parsed"],
        &["parse request", "--json", "--explain"],
        &["send page", "--changed"],
        &["send", "--since", "HEAD"],
        &["-e", "fn \\w+"],
        &["--like", "src/queue/ring.rs:10"],
        &["outline", "src/queue/ring.rs"],
        &["log", "a ring"],
        &["status"],
        &["doctor"],
        &["doctor", "--verify"],
        &["settings"],
        &["hook", "claude-code"],
        &["clear"],
    ];
    let folder = sandbox.data().with_file_name("shared").display().to_string();
    let file = format!("file://{folder}");
    let sharing: [&[&str]; 4] = [
        &["push", &folder, "--dirty"],
        &["push", &file, "--dirty", "--prune"],
        &["pull", &folder],
        &["how are requests parsed", "--remote", &file],
    ];
    let (last, others) = commands.split_last().expect("commands");
    for words in others.iter().chain(&sharing).chain([last]) {
        let output = apart(command(&sandbox, words), "{}\n");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}: {said}", output.status);
    }
}

#[test]
fn the_server_opens_no_socket() {
    let sandbox = cloned();
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    let calls = [
        ("search", json!({"query": "how are requests parsed"})),
        ("grep", json!({"pattern": "fn"})),
        ("outline", json!({"file": "src/queue/ring.rs"})),
        ("read_unit", json!({"file": "src/queue/ring.rs", "line": 10})),
        ("find_related", json!({"file": "src/queue/ring.rs", "line": 10})),
        ("history", json!({"query": "a ring"})),
        ("status", json!({})),
    ];
    for (id, (name, arguments)) in (1..).zip(&calls) {
        let params = json!({"name": name, "arguments": arguments});
        lines.push(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let output = apart(command(&sandbox, &["mcp"]), &input);
    assert_eq!(output.status.code(), Some(0), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    let out = String::from_utf8(output.stdout).expect("text");
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for (id, (name, _)) in (1..).zip(&calls) {
        let answer = answers.iter().find(|answer| answer["id"] == id).expect(name);
        assert!(answer["result"]["isError"] != true && answer["error"].is_null(), "{name}: {answer}");
    }
}

#[test]
fn a_model_of_the_hub_and_a_bucket_are_the_exceptions() {
    // These also prove that the filter works.
    let sandbox = cloned();
    let commands: [&[&str]; 3] = [
        &["parse", "--model", "nobody/nothing", "--index-mode", "full"],
        &["push", "s3://nobody/nothing", "--dirty"],
        &["parse", "--remote", "s3://nobody/nothing"],
    ];
    for words in commands {
        let mut command = command(&sandbox, words);
        command.env("AWS_ACCESS_KEY_ID", "a").env("AWS_SECRET_ACCESS_KEY", "b");
        let output = apart(command, "");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(FORBIDDEN), "{words:?}: {}: {said}", output.status);
    }
}

#[test]
fn the_http_server_listens_and_connects_to_nothing() {
    let sandbox = cloned();
    let output = apart(command(&sandbox, &["serve", "--listen", "127.0.0.1:0"]), "");
    assert_eq!(output.status.signal(), Some(FORBIDDEN), "it is the one that makes a socket: {output:?}");
    let mut serve = command(&sandbox, &["serve", "--listen", "127.0.0.1:0"]);
    let start = move || {
        forbid_connections();
        crate::common::serve::Server::of(&mut serve)
    };
    let mut server = std::thread::scope(|scope| scope.spawn(start).join()).expect("a thread");
    for (tool, parameters) in [
        ("search", json!({"query": "how are requests parsed"})),
        ("grep", json!({"pattern": "fn"})),
        ("history", json!({"query": "a ring"})),
    ] {
        server.good(&format!("/api/v1/{tool}"), &parameters);
    }
    server.good("/page/results", &json!({"query": "ring"}));
    assert!(server.get("/metrics", &[]).status == 200 && server.get("/", &[]).status == 200);
    assert_eq!(server.process.0.try_wait().expect("a process"), None, "it lives");
}
