//! A shard and its self-description: names of folders, repositories that can't be opened, outdated indexes, texts.

use std::fs;

use crate::common::Sandbox;
use crate::common::process::until;
use crate::common::serve::Server;
use crate::common::several::several;
use crate::common::shard::{Shard, name};
use colgrep_index::store::project_folder;
use serde_json::{Value, json};

const LISTEN: [&str; 4] = ["serve", "--shard", "--listen", "127.0.0.1:0"];

fn over(sandbox: &Sandbox) -> Server {
    Server::start(sandbox, &["--shards", "shards.json"])
}

fn status(sandbox: &Sandbox) -> String {
    sandbox.run(&["--shards", "shards.json", "status"]).out
}

#[test]
fn one_folder_has_one_name() {
    let sandbox = several(&["api", "worker", "web"]);
    let settings = sandbox.root().parent().expect("a folder").join("config/colgrep/config.toml");
    let groups = "index_mode = \"keyword\"\n\n[groups]\nbackend = [\"~/project/api\", \"~/project/worker\"]\n";
    fs::write(settings, groups).expect("a file");
    for (args, one, other) in [
        (&["api", "a=api", "worker", "web"][..], "api", "a"),
        (&["web", "x=worker/../web"], "web", "x"),
        (&["a=api", "--group", "backend"], "a", "api"),
    ] {
        let ran = sandbox.run(&[&LISTEN, args].concat());
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains(&format!("is given twice, as {one:?} and as {other:?}")), "{args:?}: {ran:?}");
    }
    // A repository that is given both directly and by a group is one, and each has its own files.
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["w=web", "worker", "--group", "backend"]);
    name(&sandbox, &[&[&shard.address]]);
    for (repository, file) in [("w", "w/src/app.js"), ("api", "api/src/retry.rs"), ("worker", "worker/lib/backoff.py")]
    {
        let ran = sandbox.run(&["retry", "-l", "-k", "1", "--all", "--shards", "shards.json", repository]);
        assert_eq!(ran.out.trim_end(), file, "{ran:?}");
    }
    assert!(status(&sandbox).contains("3 repositories: api, w, worker\n"), "{}", status(&sandbox));
}

#[test]
fn what_cannot_be_opened_keeps_no_other_from_being_served() {
    let sandbox = several(&["api", "worker", "web"]);
    sandbox.write("web/.colgrep.toml", "nonsense = [");
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["gone", "api", "web", "jobs=worker"]);
    name(&sandbox, &[&[&shard.address]]);
    let told = status(&sandbox);
    // Settings that can't be understood are ignored.
    for line in ["3 repositories: api, jobs, web\n", "  gone is not served: "] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let asked =
        |repository: &str| sandbox.run(&["retry", "-l", "-k", "1", "--all", "--shards", "shards.json", repository]);
    assert_eq!((asked("jobs").out.as_str(), asked("jobs").status), ("jobs/lib/backoff.py\n", 0));
    let gone = asked("gone");
    assert!(gone.status == 2 && gone.err.contains("gone (shard 1): "), "{gone:?}");
    // Each is served as soon as it can be.
    sandbox.write("gone/src/retry.rs", "pub fn retry_again() {}\n");
    fs::create_dir_all(sandbox.root().join("gone/.git")).expect("a folder");
    until("there", || asked("gone").out == "gone/src/retry.rs\n");
    assert_eq!(asked("web").out, "web/src/app.js\n");
    assert!(status(&sandbox).contains("4 repositories: api, gone, jobs, web\n"), "{}", status(&sandbox));
    let settings = sandbox.root().parent().expect("a folder").join("config/colgrep/config.toml");
    let groups = "index_mode = \"keyword\"\n\n[groups]\nsome = [\"~/project/nowhere\", \"~/project/api\"]\n";
    fs::write(settings, groups).expect("a file");
    let other = Shard::start(&sandbox, "127.0.0.1:0", &["--group", "some"]);
    name(&sandbox, &[&[&other.address]]);
    assert!(status(&sandbox).contains("  nowhere is not served: "), "{}", status(&sandbox));
    let none = sandbox.run(&[&LISTEN[..], &["nowhere", "lost=nothing"]].concat());
    assert!(none.status == 2 && none.out.is_empty() && none.err.contains("nowhere"), "{none:?}");
}

#[test]
fn an_index_that_is_behind_its_files_is_told_while_it_is() {
    let sandbox = several(&["api", "web"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    name(&sandbox, &[&[&shard.address]]);
    let asked = |args: &[&str]| sandbox.run(&[&["retry", "--all", "--shards", "shards.json"], args].concat());
    until("up to date", || asked(&[]).err.is_empty());
    let folder = project_folder(&sandbox.data(), &sandbox.root().join("api"));
    // Another process writes the index.
    let lock = fs::File::options().write(true).open(folder.join("lock")).expect("a file");
    lock.lock().expect("the lock");
    sandbox.write("api/src/again.rs", "pub fn retry_again() {}\n");
    let part = "api (shard 1): 2 of 3 files as they are now";
    until("told", || asked(&[]).err.contains(part));
    let ran = asked(&[]);
    assert_eq!((ran.status, ran.out.contains("again.rs")), (0, false), "{ran:?}");
    // Who looks elsewhere is not concerned.
    let (web, quiet) = (asked(&["web"]).err, asked(&["--quiet"]).err);
    assert!(!web.contains("a part") && quiet.is_empty(), "{web} {quiet}");
    let told = status(&sandbox);
    assert!(told.contains("  api: 2 files, 3 units; it knows 2 of 3 files as they are now\n"), "{told}");
    let server = over(&sandbox);
    let found = server.good("/api/v1/search", &json!({"query": "retry"}));
    let expected = json!([{"repository": "api", "shard": 1, "files_known": 2, "files_in_tree": 3, "units": 3, "units_without_vectors": 0}]);
    assert_eq!((&found["shards"]["partial"], &found["shards"]["missing"]), (&expected, &json!([])));
    let remarks = server.good("/page/results", &json!({"query": "retry"}))["remarks"].to_string();
    assert!(remarks.contains(part), "{remarks}");
    assert_eq!(server.get("/page/about", &[]).json()["complete"], false);
    lock.unlock().expect("no lock");
    until("up to date", || asked(&[]).err.is_empty());
    assert!(asked(&[]).out.contains("api/src/again.rs"));
    assert_eq!(server.get("/page/about", &[]).json()["complete"], true);
}

#[test]
fn what_a_lost_replica_alone_served_is_told_by_whoever_looks_there() {
    let sandbox = several(&["api", "web"]);
    let full = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    let part = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    name(&sandbox, &[&[&full.address, &part.address]]);
    let server = over(&sandbox);
    until("ready", || server.get("/readyz", &[]).text == "ready\n");
    let asked =
        |paths: &[&str]| server.good("/api/v1/search", &json!({"query": "retry", "paths": paths}))["shards"].clone();
    assert_eq!(asked(&[]), json!({"asked": 1, "answered": 1, "missing": []}));
    assert_eq!(server.get("/page/about", &[]).json()["complete"], true);
    let address = full.address.clone();
    drop(full);
    for paths in [&[][..], &["web"], &["web", "api"], &["web"]] {
        assert_eq!(asked(paths)["unserved"][0]["repository"], "web", "{paths:?}");
    }
    assert_eq!(asked(&["api"])["unserved"], Value::Null);
    until("told", || server.get("/readyz", &[]).text == "ready, and not all repositories are served\n");
    assert!(server.get("/metrics", &[]).text.contains("colgrep_repositories_unserved 1"));
    let status = server.get("/api/v1/status", &[]).json();
    let told = status["answer"].as_str().expect("an answer");
    assert!(
        told.contains(&format!("web is not served: replica {address} alone serves it, and does not answer")),
        "{told}"
    );
    assert_eq!((&status["shards"]["unserved"][0]["shard"], &status["shards"]["missing"]), (&json!(1), &json!([])));
    assert_eq!(server.get("/page/about", &[]).json()["complete"], false);
}

#[test]
fn a_file_without_any_replica_is_not_taken_over() {
    let sandbox = several(&["api"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    name(&sandbox, &[&[&shard.address]]);
    let server = over(&sandbox);
    until("ready", || server.get("/readyz", &[]).text == "ready\n");
    name(&sandbox, &[&[]]);
    let told = || server.get("/api/v1/status", &[]).json()["answer"].to_string();
    until("told", || told().contains("is not taken over as it is now"));
    assert!(told().contains("none has a replica"), "{}", told());
    assert_eq!(server.good("/api/v1/search", &json!({"query": "retry"}))["shards"]["answered"], 1);
    sandbox.refuses(&["retry", "--shards", "shards.json"], "none has a replica");
}

/// A file with one unit longer than the text that comes with a result, and others far apart.
fn large() -> String {
    let steps = |from: usize, to: usize| {
        (from..to).map(|at| format!("    step_of_the_way({at}, \"{at}\");\n")).collect::<String>()
    };
    let answer = "    // Waits until the frobnicator is cold.\n    wait_for_frobnicator();\n";
    let long = format!("pub fn run_all() {{\n{}{answer}{}}}\n\n", steps(0, 700), steps(700, 1_400));
    let short =
        |at: usize| format!("/// Cools frobnicator {at}.\npub fn cool_frobnicator_{at}() {{\n    cool({at});\n}}\n\n");
    let filler = |at: usize| format!("pub fn filler_{at}() {{\n    nothing({at});\n}}\n\n");
    let fillers = |from: usize| (from..from + 300).map(filler).collect::<String>();
    [short(1), fillers(0), long, fillers(300), short(2), fillers(600), short(3)].concat()
}

#[test]
fn text_of_a_large_file_is_that_of_one_index() {
    let sandbox = several(&["api", "worker", "web"]);
    sandbox.write("api/src/large.rs", &large());
    let one = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    let two = Shard::start(&sandbox, "127.0.0.1:0", &["worker"]);
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    for args in [
        &["frobnicator is cold", "-C", "3"][..],
        &["frobnicator is cold", "-A", "2000", "-k", "1"],
        &["frobnicator is cold", "-B", "1200", "-k", "1"],
        &["cool frobnicator", "--per-file", "4"],
        &["cool frobnicator", "--per-file", "4", "-C", "2", "--color", "always"],
        &["cool frobnicator", "--per-file", "3", "-n", "4"],
        &["frobnicator is cold", "--color", "always", "--heading", "-n", "3"],
        &["frobnicator is cold", "--content"],
        &["frobnicator is cold", "--pack", "1000"],
        &["cool frobnicator", "--pack", "300"],
    ] {
        let here = sandbox.run(&[args, &["api", "web", "worker"]].concat());
        let over = sandbox.run(&[args, &["--shards", "shards.json"]].concat());
        assert_eq!((over.status, &over.out), (here.status, &here.out), "{args:?}");
        assert!(here.out.contains("large.rs"), "{args:?}: {}", here.out);
    }
    let (here, over) = (Server::start(&sandbox, &["api", "web", "worker"]), over(&sandbox));
    for asked in [
        json!({"query": "frobnicator is cold"}),
        json!({"query": "cool frobnicator", "per_file": 4, "lines": 5, "pack": 0}),
        json!({"query": "frobnicator is cold", "content": true, "max_tokens": 25_000}),
        json!({"query": "cool frobnicator", "pack": 3_000}),
    ] {
        let [mut one, mut other] = [&here, &over].map(|server| server.good("/api/v1/search", &asked));
        let text = |answer: &Value| answer["answer"].as_str().expect("an answer").replace("api/", "");
        assert_eq!(text(&other), text(&one), "{asked}");
        assert!(text(&one).contains("large.rs"), "{asked}");
        let hits = |answer: &mut Value| answer["hits"].take().to_string().replace("api/", "");
        assert_eq!(hits(&mut other), hits(&mut one), "{asked}");
        let page = |server: &Server| server.good("/page/results", &asked)["results"].clone();
        assert_eq!(page(&over), page(&here), "{asked}");
    }
}
