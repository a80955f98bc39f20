//! A server over shards that hang, are gone or have too much to do: what it answers at once, and what it says.

mod common;

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;

use colgrep_index::store::project_folder;
use common::Sandbox;
use common::process::until;
use common::serve::Server;
use common::several::several;
use common::shard::{Shard, name};
use serde_json::json;

/// A search as a client writes it.
fn search() -> String {
    let body = json!({"query": "retry a request"}).to_string();
    let head = "POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length";
    format!("{head}: {}\r\n\r\n{body}", body.len())
}

/// Stops a process, or lets it go on.
#[cfg(unix)]
fn signal(shard: &Shard, signal: &str) {
    let id = shard.process.0.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &id]).status().expect("kill").success());
}

/// The value of a metric.
fn metric(server: &Server, name: &str) -> i64 {
    let text = server.get("/metrics", &[]).text;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} in {text}"))
}

fn over(sandbox: &Sandbox, args: &[&str]) -> Server {
    Server::start(sandbox, &[&["--shards", "shards.json"], args].concat())
}

#[cfg(unix)]
#[test]
fn who_went_away_keeps_no_place_while_a_shard_hangs() {
    let sandbox = several(&["api"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    name(&sandbox, &[&[&shard.address]]);
    let server = over(&sandbox, &["--at-once", "1"]);
    server.ready();
    let body = json!({"query": "retry a request"});
    server.good("/api/v1/search", &body);
    // One search is at work for as long as the shard hangs.
    signal(&shard, "STOP");
    let ask = |text: &str| {
        let mut stream = TcpStream::connect(&server.host).expect("a connection");
        stream.write_all(text.as_bytes()).expect("a server");
        stream
    };
    let _works = ask(&search());
    until("at work", || metric(&server, "colgrep_requests_at_work") == 1);
    let waiting: Vec<TcpStream> = (0..64).map(|_| ask(&search())).collect();
    until("full", || metric(&server, "colgrep_requests_waiting") == 64);
    let refused = server.post("/api/v1/search", &body);
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{refused:?}");
    assert_eq!(refused.header("content-type"), "application/problem+json");
    assert_eq!(refused.json()["code"], "overloaded");
    assert_eq!(server.get("/healthz", &[]).text, "ok\n");
    drop(waiting);
    until("left", || metric(&server, "colgrep_requests_waiting") == 0);
    assert_eq!(metric(&server, "colgrep_requests_at_work"), 1, "what began goes on");
    signal(&shard, "CONT");
    assert_eq!(server.post("/api/v1/search", &body).status, 200);
}

#[cfg(unix)]
#[test]
fn metrics_and_health_ask_no_shard_and_open_no_index() {
    let sandbox = several(&["api", "web"]);
    let (one, two) = (Shard::start(&sandbox, "127.0.0.1:0", &["api"]), Shard::start(&sandbox, "127.0.0.1:0", &["web"]));
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    let server = over(&sandbox, &[]);
    until("ready", || server.get("/readyz", &[]).text == "ready\n");
    assert_eq!((metric(&server, "colgrep_shards"), metric(&server, "colgrep_shards_missing")), (2, 0));
    signal(&one, "STOP");
    // So many are answered, and the look beside them finds out: each would take seconds if it waited for the shard.
    let mut answers = 0;
    until("answered", || {
        answers += 1;
        let (ready, missing) = (server.get("/readyz", &[]).text, metric(&server, "colgrep_shards_missing"));
        assert_eq!(server.get("/healthz", &[]).text, "ok\n");
        answers > 200 && ready == "ready, and not all shards answer\n" && missing == 1
    });
    signal(&one, "CONT");
    until("back", || metric(&server, "colgrep_shards_missing") == 0);
}

#[test]
fn metrics_and_health_do_not_wait_for_an_index_that_is_being_opened() {
    let sandbox = several(&["api"]);
    let folder = project_folder(&sandbox.data(), &sandbox.root().join("api"));
    fs::create_dir_all(&folder).expect("a folder");
    // Another process is building it.
    let lock = fs::File::create(folder.join("lock")).expect("a file");
    lock.lock().expect("the lock");
    let server = Server::start(&sandbox, &["api"]);
    let is_told = |text: &str| text.contains("colgrep_index_files{");
    for _ in 0..20 {
        assert_eq!(server.get("/healthz", &[]).text, "ok\n");
        let ready = server.get("/readyz", &[]);
        assert_eq!((ready.status, &ready.json()["code"]), (503, &json!("not_ready")), "{ready:?}");
        assert!(!is_told(&server.get("/metrics", &[]).text), "it is not open");
    }
    lock.unlock().expect("no lock");
    server.ready();
    assert!(is_told(&server.get("/metrics", &[]).text));
}

#[test]
fn where_no_shard_answers_the_problem_is_for_now() {
    let sandbox = several(&["api"]);
    name(&sandbox, &[&["127.0.0.1:1"]]);
    let server = over(&sandbox, &[]);
    until("told", || server.get("/readyz", &[]).text.contains("no shard answers"));
    for (path, body) in [
        ("/api/v1/search", json!({"query": "retry"})),
        ("/page/results", json!({"query": "retry"})),
        ("/page/file", json!({"repository": "api", "path": "src/retry.rs"})),
    ] {
        let refused = server.post(path, &body);
        assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{path}: {refused:?}");
        assert_eq!(
            (&refused.json()["code"], refused.header("content-type")),
            (&json!("away"), "application/problem+json")
        );
    }
    let about = server.get("/page/about", &[]);
    assert_eq!((about.status, &about.json()["code"]), (503, &json!("away")), "{about:?}");
    assert_eq!(metric(&server, "colgrep_shards_missing"), 1);
    // What is missing is the answer of `status`.
    let status = server.get("/api/v1/status", &[]);
    assert_eq!((status.status, &status.json()["shards"]["answered"]), (200, &json!(0)), "{status:?}");
}
