//! What operators rely on: tokens that are replaced while a server runs, queues, the log, and metrics with labels.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use crate::common::process::{request, until};
use crate::common::serve::Server;
use crate::common::several::several;
use crate::common::shard::{Shard, name};
use serde_json::{Value, json};

const OLD: &str = "an-old-token-of-some-length";
const NEW: &str = "a-new-token-of-some-length";

#[test]
fn tokens_are_replaced_while_servers_run_and_both_are_valid_meanwhile() {
    let sandbox = several(&["api"]);
    let start = sandbox.root().parent().expect("a folder").to_path_buf();
    let write = |file: &str, text: &str| fs::write(start.join(file), text).expect("a file");
    ["of-shard", "to-shard", "of-server"].iter().for_each(|file| write(file, OLD));
    let path = |file: &str| start.join(file).display().to_string();
    let args = ["serve", "--shard", "--listen", "127.0.0.1:0", "--token-file", &path("of-shard"), "api"];
    let shard = Shard::of(&mut sandbox.command(&args));
    name(&sandbox, &[&[&shard.address]]);
    let files = ["--token-file", &path("of-server"), "--shard-token-file", &path("to-shard")];
    let heard = start.join("heard");
    let args = [&["serve", "--listen", "127.0.0.1:0", "--shards", "shards.json"][..], &files].concat();
    let server = Server::of_heard(&mut sandbox.command(&args), fs::File::create(&heard).expect("a file"));
    let asked = |token: &str| {
        let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", "application/json")];
        server.send("/api/v1/search", &json!({"query": "retry"}).to_string(), &headers).status
    };
    let answers = || (asked(OLD), asked(NEW));
    until("ready", || server.get("/readyz", &[]).text == "ready\n");
    assert_eq!(answers(), (200, 401));
    write("of-server", &format!("{NEW}\n{OLD}\n"));
    assert_eq!(answers(), (200, 200));
    write("of-server", NEW);
    assert_eq!(answers(), (401, 200));
    // The shards' token: first the shard knows both, then the coordinator sends the new one.
    write("of-shard", &format!("{NEW}\n{OLD}\n"));
    write("to-shard", NEW);
    write("of-shard", NEW);
    until("greeted", || server.get("/readyz", &[]).text == "ready\n");
    assert_eq!(answers(), (401, 200));
    // A file that holds no token changes nothing, and is told.
    write("of-server", "short");
    let told = "colgrep: the tokens are not taken over as they are now: ";
    until("told", || fs::read_to_string(&heard).is_ok_and(|text| text.contains(told) && text.contains("too short")));
    assert_eq!(answers(), (401, 200));
    assert!(!fs::read_to_string(&heard).expect("a file").contains(NEW));
}

#[cfg(unix)]
#[test]
fn a_caller_with_many_requests_shuts_out_no_other() {
    let sandbox = several(&["api"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    name(&sandbox, &[&[&shard.address]]);
    let server = Server::start(&sandbox, &["--shards", "shards.json", "--at-once", "1"]);
    server.ready();
    let body = json!({"query": "retry a request"}).to_string();
    server.good("/api/v1/search", &json!({"query": "retry a request"}));
    let signal = |signal: &str| {
        let id = shard.process.0.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().expect("kill").success());
    };
    let metric = |line: &str| server.get("/metrics", &[]).text.lines().any(|own| own == line);
    // All requests wait as long as the shard hangs.
    signal("STOP");
    let ask = || {
        let head = "POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
        let mut stream = TcpStream::connect(&server.host).expect("a connection");
        let rest = format!("Colgrep-Caller: loud\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(format!("{head}{rest}").as_bytes()).expect("a server");
        stream
    };
    let _works = ask();
    until("at work", || metric("colgrep_requests_at_work 1"));
    let loud: Vec<TcpStream> = (0..64).map(|_| ask()).collect();
    until("full", || metric("colgrep_requests_waiting 64"));
    let headers = [("content-type", "application/json"), ("colgrep-caller", "quiet")];
    std::thread::scope(|scope| {
        let quiet = scope.spawn(|| server.send("/api/v1/search", &body, &headers));
        // A request of the loud caller makes room.
        until("sent away", || {
            loud.iter().any(|stream| {
                stream.set_nonblocking(true).expect("a stream");
                stream.peek(&mut [0]).is_ok_and(|bytes| bytes > 0)
            })
        });
        signal("CONT");
        let quiet = quiet.join().expect("a thread");
        assert_eq!(quiet.status, 200, "{quiet:?}");
    });
}

#[test]
fn each_request_has_an_id_and_a_line_without_its_query() {
    let sandbox = several(&["api"]);
    let heard = sandbox.root().parent().expect("a folder").join("heard");
    let start = |args: &[&str]| {
        let mut command = sandbox.command(&[&["serve", "--listen", "127.0.0.1:0", "api"], args].concat());
        Server::of_heard(&mut command, fs::File::create(&heard).expect("a file"))
    };
    let lines = || fs::read_to_string(&heard).expect("a file");
    let search = |server: &Server, id: &str| {
        let headers = [("content-type", "application/json"), ("x-request-id", id)];
        server.send("/api/v1/search", &json!({"query": "zebra crossing"}).to_string(), &headers)
    };
    let server = start(&["--log", "json"]);
    server.ready();
    assert_eq!(search(&server, "trace-7").header("x-request-id"), "trace-7");
    let made: Vec<String> = ["", "two words", &"x".repeat(200)]
        .map(|id| search(&server, id))
        .map(|one| {
            assert_eq!(one.status, 200);
            one.header("x-request-id").to_string()
        })
        .into();
    assert!(made.iter().all(|id| id.len() == 16 && made.iter().filter(|other| *other == id).count() == 1), "{made:?}");
    let of = |id: &str| -> Option<Value> {
        let rows = lines();
        let mut rows =
            rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}")));
        rows.find(|row| row["request.id"] == id)
    };
    until("logged", || of("trace-7").is_some());
    let row = of("trace-7").expect("a line");
    assert_eq!(
        (&row["http.route"], &row["http.response.status_code"], &row["severity_text"], &row["caller"]),
        (&json!("/api/v1/search"), &json!(200), &json!("INFO"), &json!("127.0.0.1"))
    );
    assert!(row["timestamp"].is_string() && row["http.server.request.duration"].is_f64(), "{row}");
    assert!(!lines().contains("zebra"), "{}", lines());
    drop(server);
    let server = start(&["--log", "text", "--log-queries"]);
    server.ready();
    search(&server, "trace-8");
    until("logged", || lines().contains("request.id=\"trace-8\"") && lines().contains("query=\"zebra crossing\""));
    let refused = sandbox.run(&["serve", "--log-queries", "api"]);
    assert!(refused.status == 2 && refused.err.contains("--log-queries"), "{refused:?}");
}

#[test]
fn metrics_of_shards_and_of_the_server_over_them_have_labels() {
    let sandbox = several(&["api", "web"]);
    let args = ["serve", "--shard", "--listen", "127.0.0.1:0", "api", "web"];
    let shard = Shard::of(sandbox.command(&args).env("COLGREP_TOKEN", OLD));
    name(&sandbox, &[&[&shard.address], &["127.0.0.1:1"]]);
    let metrics = |headers: &[(&str, &str)]| {
        let (status, text) = request("GET", &format!("http://{}/metrics", shard.address), headers, b"");
        (status, String::from_utf8_lossy(&text).into_owned())
    };
    let (status, text) = metrics(&[]);
    assert!(status == 401 && !text.contains("api"), "{text}");
    assert_eq!(metrics(&[("authorization", "Bearer another")]).0, 401);
    let (status, text) = metrics(&[("authorization", &format!("Bearer {OLD}"))]);
    assert_eq!(status, 200, "{text}");
    for line in
        ["colgrep_ready 1", "colgrep_index_files{repository=\"api\"} 2", "colgrep_index_no_room{repository=\"web\"} 0"]
    {
        assert!(text.lines().any(|own| own == line), "{line}: {text}");
    }
    let written = "colgrep_index_written_timestamp_seconds{repository=\"api\"} 1";
    assert!(text.contains(written) && text.contains("colgrep_generation_info{generation=\""), "{text}");
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0", "--shards", "shards.json"]);
    let server = Server::of(command.env("COLGREP_SHARD_TOKEN", OLD));
    until("looked at", || server.get("/metrics", &[]).text.contains("colgrep_shards_missing 1"));
    let text = server.get("/metrics", &[]).text;
    for line in [
        format!("colgrep_replica_up{{shard=\"1\",replica=\"{}\"}} 1", shard.address),
        "colgrep_replica_up{shard=\"2\",replica=\"127.0.0.1:1\"} 0".to_string(),
        "colgrep_hedges_total{shard=\"1\"} 0".to_string(),
    ] {
        assert!(text.lines().any(|own| own == line), "{line}: {text}");
    }
    let start = "colgrep_index_written_timestamp_seconds{shard=\"1\",repository=\"api\"} 1";
    assert!(text.contains(start), "{text}");
    each_partial_answer_is_counted(&server);
}

/// Asks a server that leaves something out on every way that answers searches.
fn each_partial_answer_is_counted(server: &Server) {
    let count = || {
        let text = server.get("/metrics", &[]).text;
        let line = text.lines().find_map(|line| line.strip_prefix("colgrep_answers_partial_total "));
        line.expect("the metric").parse::<u32>().expect("a number")
    };
    let asked = json!({"query": "retry"});
    assert_eq!(count(), 0);
    server.good("/api/v1/search", &asked);
    assert_eq!(count(), 1, "by the API");
    server.good("/page/results", &asked);
    assert_eq!(count(), 2, "on the page");
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": asked}});
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let found = server.send("/mcp", &call.to_string(), &headers);
    assert!(found.status == 200 && found.text.contains("left out"), "{found:?}");
    assert_eq!(count(), 3, "by MCP");
}

#[test]
fn partial_answers_of_a_server_of_folders_are_counted() {
    let sandbox = several(&["api", "web"]);
    let server = Server::start(&sandbox, &["api", "web"]);
    server.ready();
    fs::rename(sandbox.root().join("web"), sandbox.root().join("gone")).expect("moved");
    each_partial_answer_is_counted(&server);
}

fn metric_names(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = text.split(|c: char| !is_part(c)).filter(|word| word.starts_with("colgrep_"));
    words.map(str::to_string).collect()
}

#[test]
fn alerts_and_the_dashboard_ask_for_metrics_that_there_are() {
    let sandbox = several(&["api", "web"]);
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    name(&sandbox, &[&[&shard.address]]);
    let server = Server::start(&sandbox, &["--shards", "shards.json"]);
    until("looked at", || server.get("/metrics", &[]).text.contains("colgrep_replica_up{"));
    server.good("/api/v1/search", &json!({"query": "retry"}));
    assert_eq!(server.post("/api/v1/search", &json!({"nonsense": 1})).status / 100, 4);
    let mut known = metric_names(&server.get("/metrics", &[]).text);
    known.extend(metric_names(&shard.health("/metrics").1));
    for file in ["alerts.yml", "dashboard.json"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cluster/deploy").join(file);
        let asked = metric_names(&fs::read_to_string(path).expect("a file"));
        assert!(asked.len() > 5, "{file}: {asked:?}");
        let unknown: Vec<&String> = asked.difference(&known).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?} of {known:?}");
    }
}

#[test]
fn a_shard_follows_the_list_of_its_repositories() {
    let sandbox = several(&["api", "worker"]);
    let list = |text: &str| sandbox.write("repositories", text);
    let heard = sandbox.root().parent().expect("a folder").join("heard");
    let is_told = |line: &str| fs::read_to_string(&heard).is_ok_and(|text| text.contains(line));
    list("api=api\n");
    let args = ["serve", "--shard", "--listen", "127.0.0.1:0", "--repositories", "repositories"];
    let shard = Shard::of_heard(&mut sandbox.command(&args), fs::File::create(&heard).expect("a file"));
    name(&sandbox, &[&[&shard.address]]);
    let server = Server::start(&sandbox, &["--shards", "shards.json"]);
    let files = || -> Vec<String> {
        let found = server.good("/api/v1/search", &json!({"query": "retry", "all": true}));
        assert_eq!(found["shards"]["missing"], json!([]));
        let hits = found["hits"].as_array().expect("hits").iter();
        hits.filter_map(|hit| Some(hit["file"].as_str()?.to_string())).collect()
    };
    let has = |files: &[String], file: &str| files.iter().any(|own| own == file);
    assert!(has(&files(), "api/src/retry.rs") && !has(&files(), "back/lib/backoff.py"));
    list("# Added while the shard runs\napi=api\nback=worker\n");
    until("added", || has(&files(), "back/lib/backoff.py"));
    // A name that moves to another folder is served from the old one until the new one can be searched.
    list("api=next\nback=worker\n");
    until("told", || is_told("api is still served from its old folder"));
    assert!(has(&files(), "api/src/retry.rs"));
    sandbox.write("next/src/again.rs", "/// Starts a retry.\npub fn retry_again() {}\n");
    fs::create_dir_all(sandbox.root().join("next/.git")).expect("a folder");
    until("moved", || {
        let found = files();
        let (old, new) = (has(&found, "api/src/retry.rs"), has(&found, "api/src/again.rs"));
        assert!(old != new, "one of the two folders is served: {found:?}");
        new
    });
    // A list that can't be understood changes nothing.
    list("api=api\napi=worker\n");
    until("told", || is_told("the list of repositories is not taken over as it is now"));
    assert!(has(&files(), "api/src/again.rs"));
    list("back=worker\n");
    until("removed", || files().iter().all(|file| file.starts_with("back/")));
    // Whoever writes the list says what it could not update.
    let metric = |number: u32| {
        let line = format!("colgrep_repositories_not_updated {number}");
        shard.health("/metrics").1.lines().any(|own| own == line)
    };
    assert!(metric(0));
    list("back=worker\n#! back: not fetched\n");
    until("told", || is_told("repositories that could not be updated are served as they are: back: not fetched"));
    assert!(metric(1));
    let ready = (200, "ready, and not all repositories could be updated\n".to_string());
    assert_eq!(shard.health("/readyz"), ready);
    // Coordinators say so, and so does each answer.
    until("told", || server.get("/readyz", &[]).text == ready.1);
    let told = || server.get("/metrics", &[]).text.contains("colgrep_repositories_not_updated 1\n");
    until("counted", told);
    let found = server.good("/api/v1/search", &json!({"query": "retry"}));
    assert_eq!(found["shards"]["partial"][0]["is_not_fetched"], json!(true), "{found}");
    let text = found["answer"].as_str().expect("an answer");
    assert!(text.contains("back (shard 1): its newest index could not be fetched"), "{text}");
    assert!(!files().is_empty(), "it is searched as it is");
    // One that was never fetched is in no list.
    list("back=worker\n#! web: not fetched\n");
    until("told", || {
        let found = server.good("/api/v1/search", &json!({"query": "retry"}));
        found["shards"]["unserved"][0]["repository"] == json!("web") && found["shards"]["partial"].is_null()
    });
    list("back=worker\n");
    until("told", || is_told("all repositories can be updated again"));
    until("told", || server.get("/readyz", &[]).text == "ready\n");
    assert_eq!(shard.health("/readyz"), (200, "ready\n".to_string()));
}

#[test]
fn a_shard_that_keeps_no_vectors_is_not_told_to_lack_them() {
    let sandbox = several(&["api"]).with_meaning();
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["--index-mode", "keyword", "api"]);
    name(&sandbox, &[&[&shard.address]]);
    let server = Server::start(&sandbox, &["--shards", "shards.json"]);
    let found = server.good("/api/v1/search", &json!({"query": "retry"}));
    assert_eq!(found["shards"], json!({"asked": 1, "answered": 1, "missing": []}));
}

/// The same command of an older release, where `TEST_OLD_COLGREP` names one.
#[expect(clippy::disallowed_methods, reason = "the test alone reads it")]
fn of_old_release(command: &Command) -> Option<Command> {
    let mut old = Command::new(std::env::var_os("TEST_OLD_COLGREP")?);
    old.args(command.get_args()).env_clear();
    old.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    old.current_dir(command.get_current_dir()?);
    Some(old)
}

#[test]
fn an_upgrade_runs_both_versions_side_by_side() {
    let sandbox = several(&["api", "web"]);
    // Both use the same folders and the same indexes; without an old release, both are this one.
    let old = |args: &[&str]| {
        let command = sandbox.command(args);
        of_old_release(&command).unwrap_or(command)
    };
    let shard = ["serve", "--shard", "--listen", "127.0.0.1:0", "api", "web"];
    let (blue, green) = (Shard::of(&mut old(&shard)), Shard::of(&mut sandbox.command(&shard)));
    for (file, shard) in [("blue.json", &blue), ("green.json", &green)] {
        sandbox.write(file, &json!({ "shards": [[shard.address]] }).to_string());
    }
    let over = |file: &'static str| ["serve", "--listen", "127.0.0.1:0", "--shards", file];
    let (before, after) =
        (Server::of(&mut old(&over("blue.json"))), Server::of(&mut sandbox.command(&over("green.json"))));
    let files = |server: &Server, query: &str| -> Vec<String> {
        let found = server.good("/api/v1/search", &json!({"query": query, "all": true}));
        assert_eq!(found["shards"]["missing"], json!([]));
        let hits = found["hits"].as_array().expect("hits").iter();
        hits.filter_map(|hit| Some(hit["file"].as_str()?.to_string())).collect()
    };
    for server in [&before, &after] {
        assert!(files(server, "retry").contains(&"api/src/retry.rs".to_string()));
    }
    // Both follow the same changes, whoever writes the index.
    sandbox.write("web/src/zebra.js", "function zebraCrossing() {}\n");
    for server in [&before, &after] {
        until("found by both", || files(server, "zebraCrossing").contains(&"web/src/zebra.js".to_string()));
    }
    if of_old_release(&sandbox.command(&[])).is_some() {
        // A coordinator names a shard of another version.
        let mixed = Server::of(&mut sandbox.command(&over("blue.json")));
        let refused = mixed.post("/api/v1/search", &json!({"query": "retry"}));
        assert!(refused.status == 503 && refused.text.contains("messages between shards"), "{refused:?}");
    }
    drop(before);
    drop(blue);
    assert!(files(&after, "retry").contains(&"api/src/retry.rs".to_string()));
}

#[test]
fn filters_in_a_query_are_those_of_flags_and_parameters() {
    let sandbox = several(&["api", "worker", "web"]);
    let repositories = ["api", "worker", "web"];
    let here = |args: &[&str]| sandbox.run(&[args, &["--all", "-l"], &repositories].concat()).out;
    for (query, flags) in [
        ("retry lang:python", &["-t", "python"][..]),
        ("retry -lang:rust", &["-T", "rust"]),
        ("retry file:queue", &["--iglob", "**/*queue*"]),
        ("file:*.RS retry -file:queue", &["--iglob", "*.rs", "--iglob", "!**/*queue*"]),
    ] {
        let expected = here(&[&["retry"], flags].concat());
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(here(&[query]), expected, "{query}");
    }
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &repositories);
    name(&sandbox, &[&[&shard.address]]);
    let over = |args: &[&str]| sandbox.run(&[args, &["--all", "-l", "--shards", "shards.json"]].concat()).out;
    assert_eq!(over(&["retry repo:worker"]), over(&["retry", "worker"]));
    let server = Server::start(&sandbox, &["--shards", "shards.json"]);
    let files = |query: &str| -> Vec<String> {
        let found = server.good("/api/v1/search", &json!({"query": query, "all": true}));
        let hits = found["hits"].as_array().expect("hits").iter();
        hits.filter_map(|hit| Some(hit["file"].as_str()?.to_string())).collect()
    };
    let found = files("retry repo:worker lang:python");
    assert!(!found.is_empty() && found.iter().all(|file| file.starts_with("worker/")), "{found:?}");
}

#[test]
fn lines_that_a_pattern_matches_are_found_over_shards() {
    let sandbox = several(&["api", "worker", "web"]);
    let one = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    let two = Shard::start(&sandbox, "127.0.0.1:0", &["worker"]);
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    let over = |args: &[&str]| sandbox.run(&[args, &["--shards", "shards.json"]].concat());
    let ran = over(&["-e", r"\bretr(y|ies)\b|def push"]);
    let expected = [
        "worker/lib/backoff.py:2:    \"\"\"Waits before a retry of a request.\"\"\"",
        "worker/lib/queue.py:1:def push(job):",
    ];
    assert_eq!((ran.status, ran.out.lines().collect::<Vec<_>>()), (0, expected.to_vec()), "{ran:?}");
    let names = over(&["-e", "push", "-l"]);
    assert_eq!(names.out.lines().collect::<Vec<_>>(), ["api/src/queue.rs", "worker/lib/queue.py"]);
    assert_eq!(over(&["-e", "push", "-l", "-t", "python"]).out, "worker/lib/queue.py\n");
    assert_eq!(over(&["-e", "push", "worker", "-l"]).out, "worker/lib/queue.py\n");
    assert_eq!(over(&["-e", "no such text"]).status, 1);
    let server = Server::start(&sandbox, &["--shards", "shards.json"]);
    let found = server.good("/api/v1/grep", &json!({"pattern": "def push"}));
    let told = "worker/lib/queue.py:1:def push(job):";
    assert!(found["answer"].as_str().is_some_and(|answer| answer.contains(told)), "{found}");
    assert_eq!(found["shards"]["answered"], json!(2));
    let rights = [("content-type", "application/json"), ("colgrep-repositories", r#"["api"]"#)];
    let hidden = server.send("/api/v1/grep", &json!({"pattern": "def push"}).to_string(), &rights).json();
    assert!(!hidden.to_string().contains("worker"), "{hidden}");
    // Units are listed by a line of each, calls by their line.
    let calls = over(&["--calls", "retry_request"]);
    assert_eq!((calls.status, calls.out.lines().count()), (0, 1), "{calls:?}");
    assert!(calls.out.starts_with("api/src/queue.rs:5:") && calls.out.contains("retry_request(job);"), "{calls:?}");
    let functions = over(&["--kind", "function", "-l", "worker"]);
    assert_eq!(functions.out, "worker/lib/backoff.py\nworker/lib/queue.py\n", "{functions:?}");
    // A shard that is away is told.
    drop(two);
    let ran = over(&["-e", "push", "-l"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, "api/src/queue.rs\n"));
    assert!(ran.err.contains("1 of 2 shards answered"), "{ran:?}");
}
