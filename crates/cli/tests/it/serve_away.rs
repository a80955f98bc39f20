//! Servers of several repositories, some of which can't be served: they are left out, reported, and served again. And
//! servers without room for a connection.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use crate::common::process::until;
use crate::common::serve::{Reply, Server};
use crate::common::several::several;
use serde_json::{Value, json};

fn search(server: &Server) -> Reply {
    server.post("/api/v1/search", &json!({"query": "retry a request", "all": true}))
}

/// The last parts of the folders that an answer leaves out.
fn left_out(answer: &Value) -> Vec<String> {
    let name = |one: &Value| {
        let root = one["root"].as_str().or(one["repository"].as_str()).expect("a folder");
        root.rsplit('/').next().expect("a name").to_string()
    };
    answer["unserved"].as_array().into_iter().flatten().map(name).collect()
}

fn files(answer: &Value) -> String {
    answer["hits"].as_array().expect("hits").iter().map(|hit| hit["file"].as_str().expect("a file")).collect()
}

fn moved(sandbox: &Sandbox, from: &str, to: &str) {
    fs::rename(sandbox.root().join(from), sandbox.root().join(to)).expect("moved");
}

#[test]
fn a_repository_that_cannot_be_served_is_left_out_and_told() {
    let sandbox = several(&["api", "worker", "web"]);
    let server = Server::start(&sandbox, &["api", "worker", "web"]);
    server.ready();
    let whole = search(&server).json();
    assert!(files(&whole).contains("web/") && whole["unserved"].is_null(), "{whole}");
    moved(&sandbox, "web", "gone");
    let found = search(&server);
    assert_eq!(found.status, 200, "{found:?}");
    let found = found.json();
    assert_eq!(left_out(&found), ["web"], "{found}");
    assert!(files(&found).contains("retry.rs") && !files(&found).contains("web/"), "{found}");
    assert!(found["unserved"][0]["why"].as_str().is_some_and(|why| why.contains("is no longer a folder")), "{found}");
    assert!(found["roots"][2]["index"].as_str().is_some_and(|index| index.starts_with("not served: ")), "{found}");
    let shown = server.good("/page/results", &json!({"query": "retry a request", "all": true}));
    assert!(shown["remarks"].to_string().contains("are left out: ") && shown["results"][0].is_object(), "{shown}");
    for (path, asked) in [("grep", json!({"pattern": "limit"})), ("search", json!({"query": "() {"}))] {
        let found = server.good(&format!("/api/v1/{path}"), &asked);
        assert_eq!(left_out(&found), ["web"], "{path}: {found}");
    }
    let status = server.get("/api/v1/status", &[]).json();
    assert!(status["answer"].as_str().is_some_and(|text| text.contains("web\n  can't be searched now: ")), "{status}");
    assert_eq!(left_out(&status), ["web"]);
    let about = server.get("/page/about", &[]).json();
    assert_eq!((left_out(&about), &about["complete"]), (vec!["web".to_string()], &json!(false)), "{about}");
    assert_eq!(about["repositories"].as_array().map(Vec::len), Some(2), "{about}");
    let ready = server.get("/readyz", &[]);
    assert_eq!((ready.status, ready.text.as_str()), (200, "ready, and not all repositories can be searched\n"));
    let metrics = server.get("/metrics", &[]).text;
    let count =
        |value| metrics.lines().filter(|l| l.starts_with("colgrep_index_unserved{") && l.ends_with(value)).count();
    assert_eq!((count(" 1"), count(" 0")), (1, 2), "{metrics}");
    // Searches elsewhere are not affected; searches there alone report the cause.
    let folder = |name: &str| sandbox.root().join(name).display().to_string();
    let elsewhere = server.good("/api/v1/search", &json!({"query": "retry", "paths": [folder("api")], "all": true}));
    assert!(elsewhere["unserved"].is_null(), "{elsewhere}");
    for (path, asked) in [
        ("/api/v1/search", json!({"query": "retry", "paths": [folder("web")]})),
        ("/api/v1/outline", json!({"file": folder("web/src/app.js")})),
        ("/page/file", json!({"repository": "web", "path": "src/app.js"})),
    ] {
        let refused = server.post(path, &asked);
        assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{path}: {refused:?}");
        assert_eq!(refused.json()["code"], "away", "{path}");
    }
    // Settings of a repository that can't be understood are ignored.
    sandbox.write("worker/.colgrep.toml", "results = \n");
    let found = search(&server).json();
    assert_eq!(left_out(&found), ["web"], "{found}");
    for (from, to) in [("api", "away"), ("worker", "elsewhere")] {
        moved(&sandbox, from, to);
    }
    let nothing = search(&server);
    assert_eq!((nothing.status, &nothing.json()["code"]), (503, &json!("away")), "{nothing:?}");
    assert_eq!(server.get("/readyz", &[]).status, 503);
    for (from, to) in [("gone", "web"), ("away", "api"), ("elsewhere", "worker")] {
        moved(&sandbox, from, to);
    }
    fs::remove_file(sandbox.root().join("worker/.colgrep.toml")).expect("removed");
    until("ready again", || server.get("/readyz", &[]).text == "ready\n");
    let found = search(&server).json();
    assert!(found["unserved"].is_null() && found["hits"] == whole["hits"], "{found}");
}

#[test]
fn what_is_not_there_at_the_start_is_told_and_left_out() {
    let sandbox = several(&["api", "worker"]);
    sandbox.write("worker/.colgrep.toml", "no setting = 1\n");
    let said = sandbox.root().join("../said");
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0", "api", "nowhere", "worker"]);
    let server = Server::of_heard(&mut command, fs::File::create(&said).expect("a file"));
    server.ready();
    let said = fs::read_to_string(said).expect("a text");
    assert!(said.contains("/nowhere: ") && said.matches("left out").count() == 1, "{said}");
    assert!(said.contains("worker/.colgrep.toml: ignored: "), "{said}");
    let found = search(&server).json();
    assert!(left_out(&found) == ["nowhere"] && files(&found).contains("retry.rs"), "{found}");
    for args in [["serve", "nowhere", "nothing"], ["mcp", "nowhere", "nothing"]] {
        sandbox.refuses(&args, "nowhere");
    }
}

#[test]
fn agents_are_told_what_is_left_out() {
    let sandbox = several(&["api", "worker", "web"]);
    let mut client = Client::start(&sandbox, &["api", "worker", "web"]);
    client.good("search", json!({"query": "retry a request"}));
    moved(&sandbox, "web", "gone");
    let found = client.result("search", json!({"query": "retry a request", "queries": ["push"]}));
    assert_ne!(found["isError"], true, "{found}");
    assert_eq!(left_out(&found["structuredContent"]), ["web"]);
    let remarks = found["content"][0]["text"].as_str().expect("remarks");
    assert!(remarks.contains("can't be searched now are left out: ") && remarks.contains("/web"), "{remarks}");
    let (text, is_error) = client.call("read_unit", json!({"id": "0123456789abcdef"}));
    assert!(is_error && text.contains("are left out"), "it may be one of those: {text}");
    assert!(client.good("status", json!({})).contains("can't be searched now"));
    let nothing = client.good("grep", json!({"pattern": "nothing like it"}));
    assert!(nothing.contains("(no lines)") && nothing.contains("are left out"), "{nothing}");
}

#[test]
fn health_is_answered_where_no_connection_has_room() {
    let sandbox = several(&["api"]);
    let server = Server::start(&sandbox, &["api"]);
    server.ready();
    let head = "POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{";
    // Half of a body each. On a busy machine the first may have been given up before the last is open.
    let mut open: Vec<TcpStream> = Vec::new();
    let mut fill = |connections: usize| {
        for _ in 0..connections {
            let mut stream = TcpStream::connect(&server.host).expect("a connection");
            stream.write_all(head.as_bytes()).expect("written");
            open.push(stream);
        }
    };
    fill(256);
    let ask = |path: &str| {
        server.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
    };
    let mut refused = String::new();
    // Those that are open already may not be counted yet.
    until("refused", || {
        refused = ask("/api/v1/status");
        let is_refused = refused.starts_with("HTTP/1.1 503");
        if !is_refused {
            fill(16);
        }
        is_refused
    });
    assert!(refused.contains("retry-after: 1") && refused.contains("\"overloaded\""), "{refused}");
    for path in ["/healthz", "/readyz"] {
        let answer = ask(path);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    let other = server.raw(b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(other.starts_with("HTTP/1.1 403"), "{other}");
    drop(open);
    until("room again", || server.get("/api/v1/status", &[]).status == 200);
}
