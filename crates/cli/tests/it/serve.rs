//! `colgrep serve`: every route, what it refuses, its bounds, its end; and that it answers what MCP answers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use crate::common::process::until;
use crate::common::serve::Server;
use serde_json::{Value, json};

fn requests() -> Vec<(&'static str, Value)> {
    vec![
        ("search", json!({"query": "parse request"})),
        ("search", json!({"query": "ring", "results": "3", "offset": 1, "languages": "rust", "tests": "exclude"})),
        ("search", json!({"query": "RingBuffer", "queries": ["parse request"], "results": 2})),
        ("search", json!({"query": "", "kind": "class"})),
        ("search", json!({"calls": "parse_request"})),
        ("search", json!({"queries": ["ring", "parse request"]})),
        ("search", json!({"query": "() {"})),
        ("grep", json!({"pattern": "fn \\w+", "context": 1})),
        ("outline", json!({"file": "src/main.rs"})),
        ("read_unit", json!({"file": "src/queue/ring.rs", "line": 10})),
        ("find_related", json!({"file": "src/queue/ring.rs", "line": 4})),
    ]
}

#[test]
fn files_that_are_not_indexed_are_not_served() {
    let sandbox = Sandbox::of("relay");
    let hidden = [".hidden.rs", ".kube/config", "ignored/zebra.rs", "prod.env", "SERVER.PEM", "terraform.tfstate"];
    for path in hidden {
        sandbox.write(path, "def zebra():\n    return 1\n");
    }
    sandbox.write(".ignore", "ignored/\n");
    sandbox.write("src/zebra.rs", "fn zebra() {}\n");
    let server = Server::start(&sandbox, &[]);
    server.ready();
    let refused = |path: &str, body: &Value| {
        let answer = server.post(path, body);
        assert!(answer.status == 422 && !answer.text.contains("return 1"), "{path} {body}: {answer:?}");
    };
    let repository = server.get("/page/about", &[]).json()["repositories"][0]["repository"].clone();
    for path in hidden {
        refused("/api/v1/outline", &json!({"file": path}));
        refused("/api/v1/read_unit", &json!({"file": path, "line": 1}));
        refused("/api/v1/grep", &json!({"pattern": "zebra", "paths": [path]}));
        refused("/api/v1/find_related", &json!({"file": path, "line": 1}));
        refused("/page/file", &json!({"repository": repository, "path": path}));
    }
    for paths in [json!([]), json!([".kube"]), json!(["ignored"]), json!(["."])] {
        let found = server.good("/api/v1/grep", &json!({"pattern": "zebra", "paths": paths}));
        assert!(
            !found.to_string().contains("return 1") && !found.to_string().contains("def zebra"),
            "{paths}: {found}"
        );
    }
    let found = server.good("/api/v1/grep", &json!({"pattern": "zebra"}));
    assert!(found.to_string().contains("src/zebra.rs:1"), "{found}");
    server.good("/api/v1/outline", &json!({"file": "src/zebra.rs"}));
}

#[test]
fn answers_are_those_of_mcp() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let server = Server::start(&sandbox, &[]);
    server.ready();
    for (tool, parameters) in requests() {
        let mcp = client.result(tool, parameters.clone());
        assert_ne!(mcp["isError"], true, "{tool}: {mcp}");
        let http = server.good(&format!("/api/v1/{tool}"), &parameters);
        assert_eq!(http, mcp["structuredContent"], "{tool} {parameters}");
    }
    assert_eq!(server.get("/api/v1/status", &[]).json(), client.result("status", json!({}))["structuredContent"]);
    // Both report an invalid request in the same words.
    for (tool, parameters) in [
        ("search", json!({"query": ""})),
        ("search", json!({})),
        ("search", json!({"queries": [""]})),
        ("search", json!({"query": "a", "tests": "some"})),
        ("search", json!({"query": "a", "languages": ["klingon"]})),
        ("grep", json!({"pattern": "("})),
        ("outline", json!({"file": "/etc/hostname"})),
        ("outline", json!({"file": "../../etc/passwd"})),
        ("read_unit", json!({"file": "src/main.rs"})),
        ("history", json!({"query": "why"})),
    ] {
        let told = client.result(tool, parameters.clone());
        assert_eq!(told["isError"], true, "{tool}: {told}");
        let refused = server.post(&format!("/api/v1/{tool}"), &parameters);
        assert_eq!((refused.status, refused.header("content-type")), (422, "application/problem+json"), "{refused:?}");
        let problem = refused.json();
        let text = told["content"][0]["text"].as_str().expect("a text");
        // Over HTTP a root is named, not located.
        assert_eq!(problem["detail"], text.replace(&sandbox.root().display().to_string(), "project"), "{tool}");
        assert_eq!(
            (&problem["status"], &problem["code"], &problem["type"]),
            (&json!(422), &json!("invalid"), &json!("about:blank"))
        );
    }
}

#[test]
fn several_roots_are_served_and_kept_up_to_date() {
    let sandbox = Sandbox::new();
    sandbox.write("one/src/a.py", "def lion():\n    return 'roar'\n");
    sandbox.write("two/src/b.py", "def tiger():\n    return 'growl'\n");
    sandbox.write("three/src/c.py", "def lion_of_three():\n    return 1\n");
    let server = Server::start(&sandbox, &["one", "two"]);
    let about = server.get("/page/about", &[]).json();
    assert_eq!(about["repositories"].as_array().map(Vec::len), Some(2), "{about}");
    assert_eq!(
        (&about["repositories"][0]["repository"], &about["repositories"][1]["repository"]),
        (&json!("one"), &json!("two"))
    );
    let names = |query: &str| -> Vec<String> {
        let found = server.good("/page/results", &json!({"query": query, "all": true}));
        let place = |hit: &Value| {
            format!("{}/{}", hit["repository"].as_str().unwrap_or(""), hit["path"].as_str().unwrap_or(""))
        };
        found["results"].as_array().expect("results").iter().map(place).collect()
    };
    assert_eq!(names("lion")[0], "one/src/a.py");
    assert!(!names("lion").iter().any(|name| name.contains("three")), "{:?}", names("lion"));
    sandbox.write("two/src/new.py", "def leopard():\n    return 'hiss'\n");
    // The system reports the file eventually.
    until("so", || names("leopard").first().is_some_and(|name| name == "two/src/new.py"));
    let folder = sandbox.root().join("two").display().to_string();
    let only = server.good("/page/results", &json!({"query": "lion", "all": true, "paths": [folder]}));
    assert!(only["results"].as_array().expect("results").iter().all(|hit| hit["repository"] == "two"), "{only}");
    let outside = server.post("/page/results", &json!({"query": "lion", "paths": [sandbox.root().join("three")]}));
    assert_eq!(outside.status, 422, "{outside:?}");
    for (repository, path) in [
        ("one", "../three/src/c.py"),
        ("one", "../two/src/b.py"),
        ("one", "/etc/hostname"),
        ("three", "src/c.py"),
        ("one", "src"),
        ("one", ""),
    ] {
        let refused = server.post("/page/file", &json!({"repository": repository, "path": path}));
        assert_eq!(refused.status, 422, "{repository} {path}: {refused:?}");
    }
}

#[test]
fn the_page_gets_text_and_never_markup() {
    let sandbox = Sandbox::new();
    let name = "<img src=x onerror=alert(1)>\"&'.py";
    sandbox.write(name, "def widget():\n    return '</script><script>alert(2)</script>' # \u{202e} & <b>\n");
    let server = Server::start(&sandbox, &[]);
    let found = server.post("/page/results", &json!({"query": "widget"}));
    assert_eq!(found.header("content-type"), "application/json");
    let hit = &found.json()["results"][0];
    assert_eq!(hit["path"], name);
    let text = |rows: &Value| -> String {
        let spans = rows.as_array().expect("spans").iter();
        spans.map(|span| span.as_str().or(span[1].as_str()).expect("a text").to_string()).collect()
    };
    assert_eq!(hit["line"], 1);
    let rows = hit["rows"].as_array().expect("rows");
    assert_eq!(text(&rows[1]["spans"]), "    return '</script><script>alert(2)</script>' # \\u{202e} & <b>");
    let marked: Vec<&Value> =
        rows[0]["spans"].as_array().expect("spans").iter().filter(|span| span[2] == true).collect();
    assert_eq!(marked, [&json!(["f", "widget", true])]);
    assert!(rows[1]["spans"].to_string().contains(r##"["k","return"]"##), "{rows:?}");
    let whole = server.good("/page/file", &json!({"repository": "project", "path": name}));
    assert_eq!((text(&whole["lines"][0]), &whole["units"][0]["name"]), ("def widget():".to_string(), &json!("widget")));
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/page/style.css", "text/css; charset=utf-8"),
        ("/page/app.js", "text/javascript; charset=utf-8"),
        ("/page/icon.svg", "image/svg+xml"),
    ] {
        let asset = server.get(path, &[]);
        assert_eq!((asset.status, asset.header("content-type")), (200, kind), "{path}");
        let policy = asset.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'; script-src 'self'; style-src 'self'") && !policy.contains("unsafe")
        );
        assert_eq!(
            (asset.header("x-content-type-options"), asset.header("referrer-policy")),
            ("nosniff", "no-referrer")
        );
        assert_eq!((asset.header("access-control-allow-origin"), asset.header("cache-control")), ("", "no-cache"));
        assert!(
            !asset.text.contains("http://") && !asset.text.contains("https://") || path == "/page/icon.svg",
            "{path}"
        );
    }
    let page = server.get("/", &[]).text;
    assert!(!page.contains("<script>") && !page.contains("style=") && !page.contains("onclick"), "{page}");
}

#[test]
fn what_is_not_asked_rightly_is_a_problem() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &[]);
    let json_type = [("content-type", "application/json")];
    let long = format!("{{\"query\": \"{}\"}}", "x".repeat(300 << 10));
    let longer = format!("{{\"query\": \"{}\"}}", "x".repeat(3 << 20));
    let deep = "[".repeat(200_000);
    for (path, body, headers, status, code) in [
        ("/api/v1/search", "{\"query\": \"a\"}", &[("content-type", "text/plain")][..], 415, "media_type"),
        ("/api/v1/search", "query=a", &[("content-type", "application/x-www-form-urlencoded")], 415, "media_type"),
        ("/api/v1/search", "{", &json_type, 400, "invalid"),
        ("/api/v1/search", "", &json_type, 400, "invalid"),
        ("/api/v1/search", "[1]", &json_type, 400, "invalid"),
        ("/api/v1/search", &deep, &json_type, 400, "invalid"),
        ("/api/v1/search", "{\"query\": \"a\", \"colour\": 1}", &json_type, 422, "invalid"),
        ("/api/v1/search", "{\"query\": 7}", &json_type, 422, "invalid"),
        ("/api/v1/search", "{\"results\": 7}", &json_type, 422, "invalid"),
        ("/api/v1/search", "{\"query\": \"a\", \"results\": 0}", &json_type, 422, "invalid"),
        ("/api/v1/search", "{\"query\": \"a\", \"min_strength\": 2}", &json_type, 422, "invalid"),
        ("/api/v1/search", &long, &json_type, 413, "too_large"),
        ("/api/v1/search", &longer, &json_type, 413, "too_large"),
        ("/api/v1/nothing", "{}", &json_type, 404, "not_found"),
        ("/page/about", "{}", &json_type, 405, "method_not_allowed"),
        ("/healthz", "{}", &json_type, 405, "method_not_allowed"),
        ("/page/file", "{\"path\": \"a\"}", &json_type, 422, "invalid"),
    ] {
        let answer = server.send(path, body, headers);
        let start = &body[..body.len().min(60)];
        assert_eq!(answer.status, status, "{path} {start}: {answer:?}");
        assert_eq!(answer.header("content-type"), "application/problem+json", "{path} {start}");
        let problem = answer.json();
        assert_eq!((&problem["code"], &problem["status"]), (&json!(code), &json!(status)), "{path} {start}");
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()) && problem["title"].is_string());
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "problems have the headers too");
    }
    let wrong_method = server.get("/page/results", &[]);
    assert_eq!((wrong_method.status, wrong_method.header("allow")), (405, "POST"));
    let odd = server.get("/nowhere", &[]);
    assert_eq!((odd.status, odd.header("content-type")), (404, "application/problem+json"));
    for (bytes, begin) in [
        ("nonsense\r\n\r\n", "HTTP/1.1 400"),
        ("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 400"),
        ("GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "HTTP/1.1 403"),
        ("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 200"),
    ] {
        let text = server.raw(bytes.as_bytes());
        assert!(text.starts_with(begin), "{bytes:?}: {text}");
    }
    for kib in [33, 64, 200] {
        let long = "y".repeat(kib << 10);
        let head = format!("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nx: {long}\r\n\r\n");
        let refused = server.raw(head.as_bytes());
        assert!(refused.starts_with("HTTP/1.1 431"), "{kib}: {refused}");
        assert_eq!(refused.contains("longer than 32 KiB"), kib < 128, "what is far longer is not read: {refused}");
    }
}

#[test]
fn pages_of_other_sites_and_other_names_get_nothing() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &["--host", "code.example"]);
    let own = format!("http://{}", server.host);
    for (headers, status) in [
        (&[("host", "evil.example")][..], 403),
        (&[("host", "code.example")], 200),
        (&[("origin", "https://evil.example")], 403),
        (&[("origin", "null")], 403),
        (&[("origin", own.as_str())], 200),
        (&[("sec-fetch-site", "cross-site")], 403),
        (&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], 403),
        (&[("sec-fetch-site", "same-origin")], 200),
    ] {
        let answer = server.get("/api/v1/status", headers);
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    assert_eq!(server.get("/?q=ring", &link).status, 200, "a link may lead to the page");
}

#[test]
fn the_token_guards_all_but_what_holds_nothing() {
    let sandbox = Sandbox::of("relay");
    let token = "a-token-of-some-length";
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::of(command.env("COLGREP_TOKEN", token));
    for path in ["/", "/healthz", "/page/app.js", "/page/style.css"] {
        assert_eq!(server.get(path, &[]).status, 200, "{path}");
    }
    for path in ["/api/v1/status", "/page/about", "/metrics", "/openapi.json", "/nowhere"] {
        let refused = server.get(path, &[]);
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer realm=\"colgrep\""), "{path}");
        assert_eq!(server.get(path, &[("authorization", "Bearer another")]).status, 401, "{path}");
    }
    let bearer = format!("Bearer {token}");
    assert_eq!(server.get("/api/v1/status", &[("authorization", &bearer)]).status, 200);
    drop(server);
    // From a file, and with a line's end, as files have.
    sandbox.write("token", &format!("{token}\n"));
    let server = Server::start(&sandbox, &["--token-file", "token"]);
    assert_eq!(server.get("/api/v1/status", &[]).status, 401);
    assert_eq!(server.get("/api/v1/status", &[("authorization", &bearer)]).status, 200);
    drop(server);
    // A file of the same name in what is served is another one.
    let server = Server::start(&sandbox, &["src", "--token-file", "token"]);
    sandbox.write("src/token", "a-token-of-the-repository\n");
    assert_eq!(server.get("/api/v1/status", &[("authorization", &bearer)]).status, 200);
    assert_eq!(server.get("/api/v1/status", &[("authorization", "Bearer a-token-of-the-repository")]).status, 401);
    sandbox.write("short", "secret");
    for (args, said) in [
        (&["--listen", "0.0.0.0:0"][..], "a token is needed"),
        (&["--listen", "[::]:0"], "a token is needed"),
        (&["--token-file", "short"], "too short"),
        (&["--token-file", "nothing"], "could not be read"),
        (&["--listen", "localhost"], "invalid"),
        (&["nowhere"], "nowhere"),
        (&["--listen", &server.host], "could not listen"),
    ] {
        let ran = sandbox.run(&[&["serve"], args].concat());
        assert!(ran.status == 2 && ran.err.contains(said), "{args:?}: {ran:?}");
        assert!(!ran.err.contains("secret"), "{ran:?}");
    }
    let open = sandbox.run_with(&[("COLGREP_TOKEN", "short")], &["serve", "--listen", "0.0.0.0:0"]);
    assert!(open.status == 2 && open.err.contains("too short"), "{open:?}");
}

#[test]
fn many_clients_get_the_same_answers_or_are_told_to_come_again() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &["--at-once", "1"]);
    server.ready();
    let many = json!({"query": "parse request", "queries": vec!["ring buffer"; 15]});
    let expected = server.good("/api/v1/search", &many);
    // More than one that works and 64 that wait.
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asks: Vec<_> = (0..120)
            .map(|_| {
                scope.spawn(|| {
                    let answer = server.post("/api/v1/search", &many);
                    match answer.status {
                        200 => assert_eq!(answer.json(), expected),
                        503 => {
                            assert_eq!(
                                (answer.header("retry-after"), &answer.json()["code"]),
                                ("1", &json!("overloaded"))
                            );
                        }
                        other => panic!("{other}: {answer:?}"),
                    }
                    answer.status
                })
            })
            .collect();
        asks.into_iter().map(|ask| ask.join().expect("an answer")).collect()
    });
    let refused = statuses.iter().filter(|status| **status == 503).count();
    let metrics = server.get("/metrics", &[]);
    assert!(metrics.header("content-type").starts_with("application/openmetrics-text"));
    let said = |line: String| assert!(metrics.text.lines().any(|l| l == line), "{line}: {}", metrics.text);
    let count = |status: u16, n: usize| {
        format!("colgrep_http_request_duration_seconds_count{{route=\"/api/v1/search\",status=\"{status}\"}} {n}")
    };
    said(count(200, 121 - refused));
    if refused > 0 {
        said(count(503, refused));
        said(format!("colgrep_refused_total{{code=\"overloaded\"}} {refused}"));
    }
    said("colgrep_requests_at_work 0".into());
    said("colgrep_http_requests_in_flight 1".into());
    said(format!("colgrep_index_files{{root=\"{}\"}} 13", sandbox.root().display()));
    said(format!("colgrep_index_complete{{root=\"{}\"}} 1", sandbox.root().display()));
    assert!(metrics.text.ends_with("# EOF\n"));
}

#[test]
fn who_sends_nothing_is_sent_away() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &["--timeout", "1"]);
    server.ready();
    // Half a head, half a body, and nothing: the server closes each by itself.
    server.raw(b"GET /healthz HTTP/1.1\r\nHost: loc");
    let late = server.raw(
        b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
    );
    assert!(late.starts_with("HTTP/1.1 503") && late.contains("\"late\""), "{late}");
    server.raw(b"");
    assert_eq!(server.get("/healthz", &[]).text, "ok\n");
}

#[test]
fn who_reads_nothing_is_sent_away() {
    let sandbox = Sandbox::new();
    sandbox.write("long.txt", &format!("{}\n", "as it was, ".repeat(50)).repeat(2_000));
    let server = Server::start(&sandbox, &["--timeout", "5"]);
    server.ready();
    let body = json!({"repository": "project", "path": "long.txt"}).to_string();
    let head = "POST /page/file HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length";
    let unread: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.host).expect("a connection");
            stream.write_all(format!("{head}: {}\r\n\r\n{body}", body.len()).as_bytes()).expect("a server");
            stream
        })
        .collect();
    let number = |name: &str| -> usize {
        let text = server.get("/metrics", &[]).text;
        let line = text.lines().find_map(|line| line.strip_prefix(name).map(|number| number.trim().to_string()));
        line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{name}: {text}"))
    };
    // Answers wait for their readers, and go with them.
    until("so", || number("colgrep_unread_kib ") > 0);
    until("so", || number("colgrep_unread_kib ") == 0);
    until("so", || number("colgrep_http_connections ") == 1);
    drop(unread);
    assert_eq!(
        server.good("/page/file", &serde_json::from_str(&body).expect("JSON"))["lines"].as_array().map(Vec::len),
        Some(2_000)
    );
}

#[cfg(unix)]
#[test]
fn what_runs_is_finished_when_the_server_is_told_to_end() {
    for signal in ["TERM", "INT"] {
        let sandbox = Sandbox::of("relay");
        let mut server = Server::start(&sandbox, &[]);
        server.ready();
        // A request whose head is there and whose body is not.
        let body = json!({"query": "parse request", "results": 1}).to_string();
        let mut stream = TcpStream::connect(&server.host).expect("a connection");
        let head = format!(
            "POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("a server");
        let idle = TcpStream::connect(&server.host).expect("a connection");
        until("so", || server.get("/metrics", &[]).text.contains("colgrep_http_requests_in_flight 2"));
        let pid = server.process.0.id().to_string();
        let killed = std::process::Command::new("kill").args(["-s", signal, &pid]).status().expect("kill");
        assert!(killed.success());
        // No new connection is taken.
        until("so", || TcpStream::connect(&server.host).is_err());
        stream.write_all(body.as_bytes()).expect("a server");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("parse_request"), "{answer}");
        assert_eq!(server.process.0.wait().expect("an end").code(), Some(0));
        drop(idle);
    }
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_string));
            object.values().for_each(|one| references(one, found));
        }
        Value::Array(all) => all.iter().for_each(|one| references(one, found)),
        _ => {}
    }
}

#[test]
fn the_description_is_of_what_is_there() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let server = Server::start(&sandbox, &[]);
    let document = server.get("/openapi.json", &[]).json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 40, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("a place in the document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let mut ids = std::collections::BTreeSet::new();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            assert!(ids.insert(operation["operationId"].as_str().expect("an id").to_string()), "{path}");
            let answer = match method.as_str() {
                "get" => server.get(path, &[]),
                _ => server.post(path, &json!({})),
            };
            assert!(operation["responses"][answer.status.to_string()].is_object(), "{path}: {answer:?}");
            let kind = answer.header("content-type").split(';').next().unwrap_or_default().to_string();
            let content = &operation["responses"][answer.status.to_string()]["content"];
            assert!(content[&kind].is_object(), "{path}: {kind} is not in {content}");
        }
    }
    // Every tool of MCP is there, with the same parameters.
    let listed = client.ask("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name");
        let operation = &document["paths"][format!("/api/v1/{name}")]["post"];
        assert_eq!(operation["description"], tool["description"]);
        let reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str().expect(name);
        let schema = document.pointer(&reference[1..]).expect("a schema");
        let names = |schema: &Value| -> Vec<String> {
            schema["properties"].as_object().expect("properties").keys().cloned().collect()
        };
        let all = names(schema);
        assert!(names(&tool["inputSchema"]).iter().all(|listed| all.contains(listed)), "{name}: {all:?}");
        assert_eq!(schema["required"], tool["inputSchema"]["required"], "{name}");
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(schema["properties"][required]["default"].is_null(), "{name}.{required}: {schema}");
        }
        // Some clients invent a parameter for tools that need none.
        assert!(name == "status" || schema["additionalProperties"] == json!(false), "{name}");
    }
}

#[test]
fn problems_name_what_is_wrong() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &["--listen", "localhost:0"]);
    for (path, body, why) in [
        ("/api/v1/search", json!({"query": 5}), "query takes a text, not 5"),
        ("/api/v1/search", json!({"query": "a", "hints": [{"kind": 1}]}), "hints[0].kind takes a text, not 1"),
        (
            "/api/v1/search",
            json!({"query": "a", "max_tokens": 10}),
            "max_tokens takes a number from 50 to 25000, not 10",
        ),
        ("/api/v1/search", json!({"query": "a", "colour": 1}), "there is no parameter \"colour\" here"),
        ("/api/v1/read_unit", json!({}), "the parameter `file` is missing"),
        ("/api/v1/find_related", json!({}), "the parameter `file` is missing"),
        ("/page/results", json!({"query": []}), "query takes a text, not []"),
    ] {
        let refused = server.post(path, &body);
        let detail = refused.json()["detail"].as_str().unwrap_or_default().to_string();
        assert!(refused.status == 422 && detail.contains(why), "{path} {body}: {refused:?}");
    }
    let large = server.post("/api/v1/search", &json!({"query": "x".repeat(300 << 10)}));
    assert!(large.status == 413 && large.text.contains("256 KiB"), "{large:?}");
}
