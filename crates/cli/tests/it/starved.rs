//! Runs that the system gives too little: they end with an answer, or with a sentence and status 2, and nothing is lost.

#![cfg(target_os = "linux")]

use std::process::Command;

use serde_json::json;

use crate::common::process::{Process, until};
use crate::common::serve::Server;
use crate::common::several::several;
use crate::common::shard::{Shard, name};
use crate::common::{Ran, Sandbox};

/// Runs colgrep under limits of the shell's `ulimit`.
pub fn limited(sandbox: &Sandbox, limits: &str, args: &[&str]) -> Ran {
    let own = sandbox.command(args);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{limits}; exec \"$@\"")).arg("sh").arg(own.get_program()).args(own.get_args());
    shell.current_dir(own.get_current_dir().expect("a folder")).env_clear();
    shell.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran::of(shell.output().expect("a shell"), &sandbox.root())
}

fn project() -> Sandbox {
    let sandbox = Sandbox::of("relay");
    let text: String = (0..600).map(|i| format!("fn starved_{i}(a: usize) -> usize {{ a + {i} }}\n")).collect();
    sandbox.write("large.rs", &text);
    sandbox
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    for blocks in [0, 1, 4, 8] {
        let sandbox = project();
        let ran = limited(&sandbox, &format!("ulimit -f {blocks}"), &["init"]);
        assert!(ran.status == 2 && ran.err.contains("File too large"), "{blocks}: {ran:?}");
        assert!(!ran.err.contains("writer was killed"), "{blocks}: {ran:?}");
        assert!(ran.err.contains("COLGREP_DATA_DIR=FOLDER"), "{blocks}: {ran:?}");
        assert_eq!(sandbox.run(&["init"]).status, 0);
        let whole = sandbox.run(&["starved", "-l"]).out;
        sandbox.write("large.rs", "fn starved_no_more() {}\n");
        sandbox.write("more.rs", &"fn starved_again() {}\n".repeat(500));
        // An index that can't be updated is searched in its old state, with a remark.
        let ran = limited(&sandbox, &format!("ulimit -f {blocks}"), &["starved_7", "-l"]);
        assert!(ran.status == 0 && ran.err.contains("File too large"), "{blocks}: {ran:?}");
        let said = ["COLGREP_DATA_DIR=FOLDER; this answer may lack the latest changes", "files read)"];
        assert!(said.iter().all(|part| ran.err.contains(part)), "{blocks}: {ran:?}");
        // What could not be looked for is not denied, and a list that may lack something is no list of all.
        for args in [&["starved_again"][..], &["starved_again", "-q"], &["--kind", "function", "-l"], &["starved_7"]] {
            let ran = limited(&sandbox, &format!("ulimit -f {blocks}"), args);
            assert!(ran.status == 2 && !ran.err.contains("nothing"), "{blocks} {args:?}: {ran:?}");
            // What is gone from a file is not shown as a line of it.
            assert!(!ran.out.contains(":starved"), "{blocks} {args:?}: {ran:?}");
        }
        assert_eq!(sandbox.run(&["init"]).status, 0);
        assert_ne!(sandbox.run(&["starved", "-l"]).out, whole);
    }
}

/// A file whose index is larger than the limits of the tests.
fn zebras() -> String {
    (0..600)
        .map(|i| format!("pub fn zebra_crossing_{i}(stripe_{i}: usize) -> usize {{ stripe_{i} + {i} }}\n"))
        .collect()
}

/// Limits the size of files that a process may write from now on.
fn limit_files(process: &Process, bytes: &str) {
    let id = process.0.id().to_string();
    let done = Command::new("prlimit").args(["--pid", &id, &format!("--fsize={bytes}:unlimited")]).status();
    assert!(done.expect("prlimit").success());
}

#[test]
fn a_server_whose_disk_is_full_says_so_and_recovers_by_itself() {
    const NO_ROOM: &str = "indexes can't be updated: no room on the disk";
    let sandbox = several(&["api"]);
    let heard = sandbox.root().parent().expect("a folder").join("heard");
    let says = |text: &str| std::fs::read_to_string(&heard).expect("a file").contains(text);
    let file = std::fs::File::create(&heard).expect("a file");
    let shard = Shard::of_heard(&mut sandbox.command(&["serve", "--shard", "--listen", "127.0.0.1:0", "api"]), file);
    name(&sandbox, &[&[&shard.address]]);
    let over = Server::start(&sandbox, &["--shards", "shards.json"]);
    until("ready", || over.get("/readyz", &[]).text == "ready\n");
    limit_files(&shard.process, "1024");
    sandbox.write("api/src/zebra.rs", &zebras());
    until("full", || shard.health("/readyz") == (503, format!("{NO_ROOM}\n")));
    assert!(says("colgrep: api: no room to write its index in "));
    let until_metric = |value: &str| {
        let line = format!("colgrep_repositories_no_room {value}\n");
        until("counted", || over.get("/metrics", &[]).text.contains(&line));
    };
    until_metric("1");
    let text = "ready, and not all indexes can be updated: no room on the disk\n";
    assert_eq!(over.get("/readyz", &[]).text, text);
    let found = over.good("/api/v1/search", &json!({"query": "retry a request"}));
    assert_eq!(found["shards"]["partial"][0]["has_no_room"], json!(true), "{found}");
    limit_files(&shard.process, "unlimited");
    until("ready", || shard.health("/readyz").0 == 200);
    assert!(says("colgrep: api: its index can be written again"));
    until_metric("0");
    let found = over.good("/api/v1/search", &json!({"query": "zebra_crossing_7"}));
    assert!(found["answer"].as_str().is_some_and(|text| text.contains("api/src/zebra.rs")), "{found}");
}

#[test]
fn a_server_of_folders_whose_disk_is_full_is_not_ready() {
    let sandbox = several(&["api"]);
    let server = Server::start(&sandbox, &["api"]);
    server.ready();
    limit_files(&server.process, "1024");
    sandbox.write("api/src/zebra.rs", &zebras());
    let search = || server.good("/api/v1/search", &json!({"query": "zebra_crossing_7"}))["answer"].to_string();
    until("full", || {
        search();
        server.get("/readyz", &[]).status == 503
    });
    let ready = server.get("/readyz", &[]);
    assert!(ready.text.contains("no room on the disk"), "{ready:?}");
    let metric = |value: u8| {
        let end = format!("}} {value}");
        let text = server.get("/metrics", &[]).text;
        text.lines().any(|line| line.starts_with("colgrep_index_no_room{") && line.ends_with(&end))
    };
    assert!(metric(1));
    limit_files(&server.process, "unlimited");
    // No request is needed.
    until("ready", || server.get("/readyz", &[]).text == "ready\n");
    assert!(metric(0) && search().contains("src/zebra.rs"));
}

#[test]
fn too_few_handles_are_told_and_wait_for_nobody() {
    for handles in [4, 5, 6, 7, 8, 10, 12] {
        let sandbox = project();
        for args in [&["init"][..], &["starved", "-l"], &["status"]] {
            let ran = limited(&sandbox, &format!("ulimit -n {handles}"), args);
            assert!((0..=2).contains(&ran.status) && !ran.err.contains("fault of colgrep"), "{handles}: {ran:?}");
            assert!(ran.status != 2 || ran.err.contains("Too many open files"), "{handles}, {args:?}: {ran:?}");
        }
        assert_eq!(sandbox.run(&["starved", "-l"]).status, 0);
    }
}

#[test]
fn a_hostile_file_ends_nothing_where_no_worker_has_room() {
    for handles in 4..16 {
        let sandbox = project();
        // Its scanner fails an assertion.
        sandbox.write("a.rb", &format!("<<\"\n{}\"\n", "0".repeat(255)));
        let ran = limited(&sandbox, &format!("ulimit -n {handles}"), &["init"]);
        assert!((0..=2).contains(&ran.status), "{handles}: {ran:?}");
    }
}

#[test]
fn too_little_memory_is_told() {
    let sandbox = project();
    let program = std::fs::metadata(env!("CARGO_BIN_EXE_colgrep")).expect("a program").len() >> 10;
    for mib in [40, 48, 64, 96, 512] {
        for args in [&["init"][..], &["starved", "-l"], &["-e", "starved", "-l"]] {
            let ran = limited(&sandbox, &format!("ulimit -v {}", program + (mib << 10)), args);
            assert!((0..=2).contains(&ran.status) && !ran.err.contains("fault of colgrep"), "{mib}, {args:?}: {ran:?}");
            assert!(ran.status != 2 || ran.err.contains("memory") || ran.err.contains("thread"), "{mib}: {ran:?}");
            assert!(!ran.err.contains("writer was killed"), "{mib}: {ran:?}");
            assert!(mib < 512 || ran.status == 0, "{mib}, {args:?}: {ran:?}");
        }
    }
}

#[test]
fn a_small_stack_of_the_first_thread_is_enough() {
    let sandbox = project();
    for args in [&["init"][..], &["starved", "-l"], &["doctor", "--verify"]] {
        let ran = limited(&sandbox, "ulimit -s 128", args);
        assert_eq!(ran.status, 0, "{args:?}: {ran:?}");
    }
}
