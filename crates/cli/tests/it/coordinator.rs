//! A server over shards that hang, are gone or have too much to do: what it answers at once, and what it says.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use crate::common::process::until;
use crate::common::serve::Server;
use crate::common::several::several;
use crate::common::shard::{Shard, name};
use colgrep_index::store::project_folder;
use serde_json::{Value, json};

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
    // All requests are answered while the periodic check detects the loss: each would take seconds if it waited for the
    // shard.
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
    let heard = sandbox.root().join("heard");
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0", "--shards", "shards.json"]);
    let server = Server::of_heard(&mut command, fs::File::create(&heard).expect("a file"));
    until("told", || server.get("/readyz", &[]).text.contains("no shard answers"));
    let told = "0 of 1 shards answered, the others are left out: shard 1 (127.0.0.1:1)";
    let says = |told: &str| fs::read_to_string(&heard).is_ok_and(|text| text.contains(told));
    until("said", || says(told));
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
    sandbox.write("shards.json", "{");
    until("said", || says("the file of the shards is not taken over as it is now: shards.json does not name shards"));
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    name(&sandbox, &[&[&shard.address]]);
    until("said", || says("colgrep: all shards answer again"));
    server.good("/api/v1/search", &json!({"query": "retry"}));
    drop(shard);
    until("told", || metric(&server, "colgrep_shards_missing") == 1);
    // What is missing is the answer of `status`.
    let status = server.get("/api/v1/status", &[]);
    assert_eq!((status.status, &status.json()["shards"]["answered"]), (200, &json!(0)), "{status:?}");
}

#[test]
fn the_description_is_of_what_is_there_over_shards() {
    let sandbox = several(&["api", "web"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    name(&sandbox, &[&[&shard.address]]);
    let server = over(&sandbox, &[]);
    let document = server.get("/openapi.json", &[]).json();
    let paths = document["paths"].as_object().expect("paths");
    let requests: Vec<&str> = paths.keys().filter_map(|path| path.strip_prefix("/api/v1/")).collect();
    assert_eq!(requests, ["grep", "search", "status"]);
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().expect("operations") {
            let unavailable = &operation["responses"]["503"];
            assert!(unavailable["headers"]["Retry-After"].is_object(), "{path}: {unavailable}");
            let is_of_repositories = path.starts_with("/api/") || path.starts_with("/page/");
            let mut parameters = operation["parameters"].as_array().into_iter().flatten();
            let has_header = parameters.any(|parameter| parameter["name"] == "colgrep-repositories");
            assert_eq!(has_header, is_of_repositories, "{path}: {operation}");
            let answer = match method.as_str() {
                "get" => server.get(path, &[]),
                _ if path.ends_with("/grep") => server.post(path, &json!({"pattern": "retry"})),
                _ => server.post(path, &json!({"query": "retry"})),
            };
            assert!(operation["responses"][answer.status.to_string()].is_object(), "{path}: {answer:?}");
        }
    }
    // Every parameter that is described is taken, those of this machine are not described.
    let properties = &document["components"]["schemas"]["SearchRequest"]["properties"];
    assert!(properties["paths"].is_object() && properties["near"].is_null() && properties["groups"].is_null());
    let refused = server.post("/api/v1/search", &json!({"query": "retry", "near": "api/src/retry.rs"}));
    assert!(refused.status == 422 && refused.text.contains("near: there is no such file here"), "{refused:?}");
    let refused = server.post("/api/v1/outline", &json!({"file": "api/src/retry.rs"}));
    assert!(refused.status == 422 && refused.text.contains("`search`, `grep` and `status` alone"), "{refused:?}");
    // What the page filters by.
    let about = server.get("/page/about", &[]).json();
    assert_eq!(about["languages"], json!(["javascript", "markdown", "rust"]), "{about}");
    assert_eq!(about["repositories"][1], json!({"repository": "web"}));
    let web = server.get("/page/about", &[("colgrep-repositories", r#"["web"]"#)]).json();
    assert_eq!(
        (&web["languages"], &web["repositories"][1]),
        (&json!(["javascript", "markdown"]), &Value::Null),
        "{web}"
    );
}

#[test]
fn status_tells_the_state_of_each_shard_and_replica() {
    let sandbox = several(&["api", "worker", "web"]);
    let one = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    let (two, copy) =
        (Shard::start(&sandbox, "127.0.0.1:0", &["worker"]), Shard::start(&sandbox, "127.0.0.1:0", &["worker"]));
    name(&sandbox, &[&[&one.address], &[&two.address, &copy.address]]);
    let told = |status: i32, args: &[&str]| {
        let ran = sandbox.run(args);
        assert_eq!((ran.status, ran.err.as_str()), (status, ""), "{args:?}: {}", ran.out);
        ran.out
    };
    let text = told(0, &["--shards", "shards.json", "status"]);
    for line in [
        "2 of 2 shards answer",
        "3 repositories: api, web, worker",
        "shard 1 answers",
        "  api: 2 files, 3 units",
        "  web: 2 files, 2 units",
        &format!("  replica {} answers, generation ", two.address),
    ] {
        assert!(text.lines().any(|own| own.starts_with(line)), "{line}: {text}");
    }
    assert_eq!(told(0, &["status", "--shards", "shards.json"]), text);
    assert_eq!(told(0, &["--shards=shards.json", "status"]), text);
    let server = over(&sandbox, &[]);
    assert_eq!(server.get("/api/v1/status", &[]).json()["answer"], text.as_str(), "the same over HTTP");
    let json = |status| -> Value {
        serde_json::from_str(&told(status, &["--shards", "shards.json", "status", "--json"])).expect("JSON")
    };
    let whole = json(0);
    assert_eq!((&whole["asked"], &whole["answered"], &whole["twice"]), (&json!(2), &json!(2), &Value::Null));
    let worker = &whole["shards"][1];
    assert_eq!(worker["replicas"][0]["generation"], worker["replicas"][1]["generation"], "both serve the same");
    assert_eq!(worker["repositories"][0]["languages"], json!({"python": 2}));
    // A lost replica is reported; the shard is not missing.
    drop(copy);
    let part = json(0);
    assert!(part["shards"][1]["replicas"][1]["why"].is_string() && part["missing"] == json!([]), "{part}");
    drop(two);
    let missing = json(2);
    assert_eq!((&missing["answered"], &missing["missing"][0]["shard"]), (&json!(1), &json!(2)));
    let text = told(2, &["--shards", "shards.json", "status"]);
    assert!(text.starts_with("1 of 2 shards answer\n2 repositories: api, web\n"), "{text}");
    assert!(text.contains("shard 2 does not answer: "), "{text}");
    // What the shard itself does without.
    fs::remove_dir_all(sandbox.root().join("web")).expect("a folder");
    until("told", || json(2)["shards"][0]["repositories"][1]["missing"].is_string());
    sandbox.refuses(&["--shards", "gone.json", "status"], "could not read the shards of gone.json");
    let both = sandbox.run(&["status", "--shards", "shards.json", "api"]);
    assert_eq!(both.status, 2, "{both:?}");
}

#[test]
fn a_query_that_is_too_long_is_refused_in_the_same_words_everywhere() {
    let sandbox = several(&["api"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    name(&sandbox, &[&[&shard.address]]);
    let why = "a query has at most 65536 bytes; say in fewer words what to look for";
    let long = "retry ".repeat(11_000);
    let shards = ["--shards", "shards.json"];
    for place in [&["api"][..], &shards] {
        let ran = sandbox.run(&[&[long.as_str()], place].concat());
        assert_eq!(
            (ran.status, ran.err.as_str(), ran.out.as_str()),
            (2, &*format!("colgrep: {why}\n"), ""),
            "{place:?}"
        );
        let server = Server::start(&sandbox, place);
        for (path, body) in [
            ("/api/v1/search", json!({ "query": long })),
            ("/api/v1/search", json!({"query": "retry", "queries": [long]})),
            ("/page/results", json!({ "query": long })),
            ("/page/results", json!({"query": long.repeat(5)})),
        ] {
            let refused = server.post(path, &body);
            let problem = refused.json();
            assert_eq!((refused.status, &problem["code"]), (413, &json!("too_large")), "{path}: {refused:?}");
            assert!(problem["detail"].as_str().is_some_and(|detail| detail.ends_with(why)), "{path}: {refused:?}");
        }
        let mut client = Client::start(&sandbox, place);
        for asked in [json!({ "query": long }), json!({"query": "retry", "queries": [long]})] {
            assert_eq!(client.call("search", asked), (why.to_string(), true));
        }
    }
    let log = sandbox.run(&["log", &long]);
    assert_eq!((log.status, log.err), (2, format!("colgrep: {why}\n")));
    let server = Server::start(&sandbox, &["api"]);
    let refused = server.post("/api/v1/history", &json!({ "query": long }));
    assert!(refused.status == 413 && refused.text.contains(why), "{refused:?}");
}

#[test]
fn no_link_leads_to_a_file_of_another_machine() {
    let sandbox = several(&["api"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    name(&sandbox, &[&[&shard.address]]);
    let links = ["retry", "--all", "-p", "--hyperlink-format", "vscode"];
    assert!(sandbox.run(&[&links[..], &["api"]].concat()).out.contains("vscode://file"), "here there are");
    let over = sandbox.run(&[&links[..], &["--shards", "shards.json"]].concat());
    assert!(over.status == 0 && over.out.contains("retry") && !over.out.contains("\x1b]8;"), "{over:?}");
}

#[test]
fn an_unknown_parameter_is_told_over_shards() {
    let sandbox = several(&["api"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    name(&sandbox, &[&[&shard.address]]);
    let server = over(&sandbox, &[]);
    for path in ["/api/v1/search", "/page/results"] {
        let refused = server.post(path, &json!({"query": "retry", "language": "go"})).json();
        let told = "there is no parameter \"language\" here; did you mean \"languages\"?";
        assert_eq!(refused["detail"], told, "{path}");
    }
}
