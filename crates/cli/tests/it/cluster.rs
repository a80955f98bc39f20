//! Shards in processes of their own: a search over them, a server over them, a shard that goes and comes back.

use std::process::Command;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use crate::common::process::until;
use crate::common::serve::Server;
use crate::common::several::several;
use crate::common::shard::{Shard, name};
use serde_json::{Value, json};

fn sandbox() -> Sandbox {
    several(&["api", "worker", "web"])
}

/// Paths with their scores and lines, of JSON rows.
fn rows(text: &str) -> Vec<(String, Value, Value)> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let file = |row: &Value| {
        let file = row["unit"]["file"].as_str().expect("a file").to_string();
        let at = ["api/", "worker/", "web/"].iter().find_map(|name| file.find(name)).expect("a repository");
        file[at..].to_string()
    };
    rows.iter().map(|row| (file(row), row["score"].clone(), row["text"].clone())).collect()
}

#[test]
fn a_search_over_shards_is_one_over_their_repositories() {
    let sandbox = sandbox();
    let one = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    let two = Shard::start(&sandbox, "127.0.0.1:0", &["worker"]);
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    for query in ["retry a request", "push a job", "queue", "who calls retry_request"] {
        let here = sandbox.run(&[query, "--json", "api", "web", "worker"]);
        let over = sandbox.run(&[query, "--json", "--shards", "shards.json"]);
        assert_eq!((over.status, &*over.err), (0, ""), "{query}");
        assert_eq!(rows(&over.out), rows(&here.out), "{query}");
    }
    // The end of the answer too, with commands that can be run.
    for query in ["retyr of requests", "zzyzx", "E0502", "a frobnicated queue", "request", "limit"] {
        let here = sandbox.run(&[query, "-k", "2", "api", "web", "worker"]);
        let over = sandbox.run(&[query, "-k", "2", "--shards", "shards.json"]);
        assert_eq!((over.status, &over.out), (here.status, &here.out), "{query}");
        // Lists of lines are not available over shards.
        let end = |text: &str, paths: &str| -> Vec<String> {
            // Of files elsewhere, only those are denied that are searched.
            let lines = text.replace(paths, "").replace("nothing in what is searched", "nothing here");
            lines.lines().map(|line| line.split(" are shown;").next().unwrap_or_default().to_string()).collect()
        };
        assert_eq!(end(&over.err, " --shards shards.json"), end(&here.err, " api web worker"), "{query}");
    }
    let text = sandbox.run(&["retry", "--shards", "shards.json", "worker"]);
    assert!(text.out.starts_with("worker/lib/backoff.py:"), "{}", text.out);
    assert!(!text.out.contains("api/"), "{}", text.out);
    let whole = sandbox.run(&["retry the request of a page", "--shards", "shards.json", "--content", "-k", "1"]);
    assert!(whole.out.contains("return fetch(limit);"), "{}", whole.out);

    let refused = |args: &[&str], why: &str| {
        sandbox.refuses(&[&["--shards", "shards.json"], args].concat(), why);
    };
    refused(&["-e", "fn", "-C", "1"], "nothing around them");
    refused(&["-e", "fn("], "fn(");
    refused(&["queue", "--count"], "counts no matches");
    refused(&["queue", "nowhere"], "there is no repository \"nowhere\"");
    refused(&["queue", "/etc"], "begins with the name of a repository");
    refused(&["queue", "--include", "["], "[");

    // A shard that is gone is reported, and comes back by itself.
    let address = two.address.clone();
    drop(two);
    let part = sandbox.run(&["retry a request", "--json", "--shards", "shards.json"]);
    assert_eq!(part.status, 2);
    assert!(
        part.err.contains(&format!("1 of 2 shards answered, the others are left out: shard 2 ({address})")),
        "{}",
        part.err
    );
    let rest = sandbox.run(&["retry a request", "--json", "api", "web"]);
    assert_eq!(rows(&part.out), rows(&rest.out), "the answer of the others alone");
    let _two = Shard::start(&sandbox, &address, &["worker"]);
    assert_eq!(sandbox.run(&["retry a request", "--shards", "shards.json"]).status, 0);

    name(&sandbox, &[&["127.0.0.1:1"]]);
    sandbox.refuses(&["retry", "--shards", "shards.json"], "none of 1 shards answers");
    sandbox.write("shards.json", "{}");
    sandbox.refuses(&["retry", "--shards", "shards.json"], "does not name shards");
}

#[test]
fn files_of_one_path_in_two_repositories_are_two() {
    let sandbox = sandbox();
    for repository in ["api", "web"] {
        sandbox.write(&format!("{repository}/src/clock.rs"), "pub fn tick_of_the_clock() {}\n");
    }
    let shard = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    name(&sandbox, &[&[&shard.address]]);
    let named = sandbox.run(&["tick of the clock", "-l", "--shards", "shards.json"]);
    assert_eq!(named.out.lines().collect::<Vec<_>>(), ["api/src/clock.rs", "web/src/clock.rs"]);
    let server = Server::of(&mut sandbox.command(&["serve", "--listen", "127.0.0.1:0", "--shards", "shards.json"]));
    let found = server.good("/api/v1/search", &json!({"query": "tick of the clock", "pack": 0}));
    let files: Vec<&str> =
        found["hits"].as_array().expect("hits").iter().filter_map(|hit| hit["file"].as_str()).collect();
    assert_eq!(files[..2], ["api/src/clock.rs", "web/src/clock.rs"]);
}

#[test]
fn a_server_over_shards_tells_what_is_missing_and_shows_each_caller_what_he_may_see() {
    let sandbox = sandbox();
    let token = "a-token-of-some-length";
    let shard = |roots: &[&str]| {
        let args = [&["serve", "--shard", "--listen", "127.0.0.1:0"], roots].concat();
        Shard::of(sandbox.command(&args).env("COLGREP_TOKEN", token))
    };
    let (one, two) = (shard(&["api", "web"]), shard(&["back=worker"]));
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    let without = sandbox.run(&["retry", "--shards", "shards.json"]);
    assert!(without.status == 2 && without.err.contains("the token is missing or wrong"), "{}", without.err);
    let args = ["serve", "--listen", "127.0.0.1:0", "--shards", "shards.json", "--rights"];
    // Anybody could claim any right.
    sandbox.refuses(&args, "--rights: without a token");
    let server = Server::of(sandbox.command(&args).env("COLGREP_SHARD_TOKEN", token).env("COLGREP_TOKEN", token));
    until("ready", || server.get("/readyz", &[]).text == "ready\n");
    let body = json!({"query": "retry a request"}).to_string();
    let bearer = ("authorization", "Bearer a-token-of-some-length");
    let asked = |rights: &str| {
        let headers = [("content-type", "application/json"), bearer, ("colgrep-repositories", rights)];
        server.send("/api/v1/search", &body, &headers[..if rights.is_empty() { 2 } else { 3 }])
    };
    let files = |reply: &crate::common::serve::Reply| -> Vec<String> {
        let hits = reply.json()["hits"].as_array().cloned().unwrap_or_else(|| panic!("{reply:?}"));
        hits.iter().map(|hit| hit["file"].as_str().expect("a file").to_string()).collect()
    };
    assert_eq!(asked("").status, 403);
    assert_eq!(asked("web").status, 422);
    let all = asked(r#"["api", "web", "back"]"#);
    assert!(files(&all).iter().any(|file| file == "back/lib/backoff.py"), "{all:?}");
    assert_eq!(all.json()["shards"], json!({"asked": 2, "answered": 2, "missing": []}));
    let some = asked(r#"["web", "unknown"]"#);
    assert!(files(&some).iter().all(|file| file.starts_with("web/")) && !files(&some).is_empty(), "{some:?}");
    assert!(!some.text.contains("api") && !some.text.contains("back"), "{some:?}");
    assert_eq!(some.json()["shards"]["asked"], 1, "a shard without an allowed repository is not asked");
    assert_eq!(files(&asked("[]")), Vec::<String>::new());
    let status = server.get("/api/v1/status", &[bearer, ("colgrep-repositories", r#"["web"]"#)]).json();
    let told = status["answer"].as_str().expect("an answer").to_string();
    assert!(told.contains("1 repository: web\n") && !told.contains("api") && !told.contains("generation"), "{told}");
    let rights = [("content-type", "application/json"), bearer, ("colgrep-repositories", r#"["web"]"#)];
    let refused = server.send("/api/v1/outline", &json!({"file": "web/src/app.js"}).to_string(), &rights);
    assert!(refused.status == 422 && refused.text.contains("answers over shards"), "{refused:?}");
    let page = server.send("/page/results", &body, &rights).json();
    assert_eq!((&page["results"][0]["repository"], &page["results"][0]["path"]), (&json!("web"), &json!("src/app.js")));
    // Agents see no more than others.
    let params = json!({"name": "search", "arguments": {"query": "retry a request", "all": true}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let by_agent = |rights: &[(&str, &str)]| {
        let kinds = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        server.send("/mcp", &call, &[&kinds[..], rights].concat())
    };
    assert_eq!((by_agent(&[]).status, by_agent(&[bearer]).status), (401, 403));
    let some = by_agent(&rights[1..]);
    assert!(some.status == 200 && some.text.contains("web/src/app.js"), "{some:?}");
    assert!(!some.text.contains("api/") && !some.text.contains("back/"), "{some:?}");
    // A whole file, if its reader may see it.
    let file = |repository: &str, path: &str| {
        server.send("/page/file", &json!({"repository": repository, "path": path}).to_string(), &rights)
    };
    let whole = file("web", "src/app.js");
    assert_eq!(whole.status, 200, "{whole:?}");
    let whole = whole.json();
    assert_eq!((&whole["path"], &whole["units"][0]["name"]), (&json!("src/app.js"), &json!("retryPage")));
    assert_eq!(whole["lines"].as_array().map(Vec::len), Some(4));
    sandbox.write("web/.env", "PASSWORD=1\n");
    for (repository, path, why) in [
        ("api", "src/queue.rs", "there is no repository \\\"api\\\""),
        ("web", "../api/src/queue.rs", "begins with the name of a repository"),
        ("web", "/etc/passwd", "begins with the name of a repository"),
        ("web", "src/gone.js", "is not a file of an index here"),
        ("web", ".env", "is not a file of an index here"),
        ("web", "", "is not a file of an index here"),
    ] {
        let refused = file(repository, path);
        assert!(refused.status == 422 && refused.text.contains(why), "{repository}/{path}: {refused:?}");
    }

    drop(two);
    let part = asked(r#"["api", "web", "back"]"#);
    let shards = &part.json()["shards"];
    // Callers see only their repositories, and nothing about shards.
    assert_eq!((&shards["answered"], &shards["missing"]), (&json!(1), &json!([])), "{shards}");
    assert_eq!(shards["unserved"], json!([{"repository": "back", "why": "it can't be searched now"}]));
    until("told", || server.get("/metrics", &[bearer]).text.contains("colgrep_shards_missing 1"));
    assert!(server.get("/readyz", &[]).text.contains("not all shards answer"));
    // The file names another place: what is there answers.
    let two = shard(&["back=worker"]);
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    assert_eq!(asked(r#"["api", "web", "back"]"#).json()["shards"]["answered"], 2);
}

#[test]
fn what_changed_is_served_and_a_shard_ends_when_told() {
    let sandbox = sandbox();
    let mut shard = Shard::start(&sandbox, "127.0.0.1:0", &["api"]);
    assert_eq!((shard.health("/healthz"), shard.health("/other").0), ((200, "ok\n".to_string()), 404));
    name(&sandbox, &[&[&shard.address]]);
    let found = || sandbox.run(&["zebra_crossing", "--shards", "shards.json"]).out;
    assert_eq!(found(), "");
    sandbox.write("api/src/new.rs", "fn zebra_crossing() {}\n");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !found().contains("api/src/new.rs") {
        assert!(std::time::Instant::now() < end, "the new file is never found");
    }
    let id = shard.process.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
    assert!(shard.process.0.wait().expect("an end").success());
    sandbox.refuses(&["serve", "--shard", "api/src"], "whole repositories");
    sandbox.refuses(&["serve", "--shard", "--listen", "0.0.0.0:0", "api"], "a token is needed");
}

#[test]
fn agents_search_over_shards_too() {
    let sandbox = sandbox();
    let token = "a-token-of-some-length";
    let shard = |listen: &str, roots: &[&str]| {
        let args = [&["serve", "--shard", "--listen", listen], roots].concat();
        Shard::of(sandbox.command(&args).env("COLGREP_TOKEN", token))
    };
    let (one, two) = (shard("127.0.0.1:0", &["api", "web"]), shard("127.0.0.1:0", &["worker"]));
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    sandbox.write("token", token);
    let mut client = Client::start(&sandbox, &["--shards", "shards.json", "--shard-token-file", "token"]);
    let listed = client.ask("tools/list", json!({}));
    let tools: Vec<&str> =
        listed["result"]["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(tools, ["search", "status"], "what needs files is not offered");
    // The answer of a search here over the same repositories.
    for query in ["retry a request", "push a job", "queue"] {
        let here = rows(&sandbox.run(&[query, "--json", "--all", "-k", "10", "api", "web", "worker"]).out);
        let found = client.result("search", json!({"query": query, "all": true, "pack": 0}));
        let hits = found["structuredContent"]["hits"].as_array().expect("hits");
        let files: Vec<&str> = hits.iter().filter_map(|hit| hit["file"].as_str()).collect();
        assert_eq!(files, here.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), "{query}");
        assert_eq!(found["structuredContent"]["shards"], json!({"asked": 2, "answered": 2, "missing": []}));
    }
    let part = client.good("search", json!({"query": "retry", "paths": ["worker"], "pack": 0}));
    assert!(part.contains("worker/lib/backoff.py") && !part.contains("api/"), "{part}");
    // Of what is left out, nothing is missing.
    let rest = client.result("search", json!({"query": "retry -repo:worker", "all": true, "pack": 0}));
    let text = rest["content"].to_string();
    assert!(text.contains("api/") && !text.contains("worker/"), "{text}");
    assert_eq!(rest["structuredContent"]["shards"]["missing"], json!([]));
    let status = client.good("status", json!({}));
    assert!(status.contains("2 of 2 shards answer\n3 repositories: api, web, worker\n"), "{status}");
    for (arguments, why) in [
        (json!({"query": "retry", "near": "api/src/retry.rs"}), "near: there is no such file here"),
        (json!({"query": "retry", "groups": ["backend"]}), "paths takes names of repositories"),
        (json!({"query": "retry", "expand": "terms.json"}), "terms.json"),
        (json!({"query": "retry", "paths": ["nowhere"]}), "there is no repository \"nowhere\""),
        (json!({"query": "", "kind": "function"}), "over shards a search needs a query"),
        (json!({"query": "!="}), "holds no word, and over shards"),
    ] {
        let (text, is_error) = client.call("search", arguments.clone());
        assert!(is_error && text.contains(why), "{arguments}: {text}");
    }
    let address = two.address.clone();
    drop(two);
    let found = client.result("search", json!({"query": "retry a request"}));
    assert_eq!(found["structuredContent"]["shards"]["answered"], 1);
    let told = found["content"].to_string();
    assert!(told.contains("1 of 2 shards answered") && told.contains(&address), "{told}");
    let _two = shard(&address, &["worker"]);
    // A replica that failed is left alone for a while.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while client.result("search", json!({"query": "retry"}))["structuredContent"]["shards"]["answered"] != 2 {
        assert!(std::time::Instant::now() < end, "the shard that is back is never asked");
    }
    for (args, why) in [
        (&["mcp", "--shards", "gone.json"][..], "could not read the shards of gone.json"),
        (&["mcp", "--shards", "shards.json", "api"], "cannot be used with"),
        (&["mcp", "--shard-token-file", "token"], "none are named (mcp --shards FILE)"),
    ] {
        sandbox.refuses(args, why);
    }
}

#[test]
fn a_repository_in_two_shards_stops_no_search_and_is_told() {
    let sandbox = sandbox();
    let one = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    let two = Shard::start(&sandbox, "127.0.0.1:0", &["worker", "web"]);
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    // Both read the same index, so the first one answers.
    let note = "are searched in one of them: web (shard 1 has the newest index, also in shard 2)";
    let ran = sandbox.run(&["retry", "--json", "--shards", "shards.json"]);
    assert!(ran.status == 0 && ran.err.contains(note), "{ran:?}");
    assert_eq!(rows(&ran.out), rows(&sandbox.run(&["retry", "--json", "api", "web", "worker"]).out));
    assert_eq!(sandbox.run(&["retry", "--shards", "shards.json", "api"]).err.find(note), None);
    let server = Server::of(&mut sandbox.command(&["serve", "--listen", "127.0.0.1:0", "--shards", "shards.json"]));
    until("looked at", || server.get("/metrics", &[]).text.contains("colgrep_repositories_repeated 1"));
    assert_eq!(server.get("/readyz", &[]).text, "ready\n");
    let status = server.get("/api/v1/status", &[]).json();
    assert!(status["answer"].as_str().is_some_and(|told| told.contains(note)), "{status}");
    let found = server.good("/api/v1/search", &json!({"query": "retry"}));
    let repeated = json!([{"repository": "web", "shard": 1, "others": [2]}]);
    assert_eq!(found["shards"]["repeated"], repeated, "{found}");
    let mut client = Client::start(&sandbox, &["--shards", "shards.json"]);
    let answer = client.ask("tools/call", json!({"name": "search", "arguments": {"query": "retry"}}));
    assert!(answer["result"]["isError"] != true && answer.to_string().contains(note), "{answer}");
}

#[test]
fn what_shards_cannot_do_is_said_as_it_is() {
    let sandbox = sandbox();
    let one = Shard::start(&sandbox, "127.0.0.1:0", &["api", "worker", "web"]);
    name(&sandbox, &[&[&one.address]]);
    let gone = "api/src/nowhere.rs: No such file or directory";
    for (args, why) in [
        (&["queue", "api/src/nowhere.rs"][..], gone),
        (&["queue", "."], "leave the path out to search all of them"),
        (&["queue", "--hidden"], "--hidden: not with --shards"),
        (&["queue", "-uu", "-y"], "-u and -y: not with --shards"),
        (&["queue", "--index-mode", "keyword"], "--index-mode: not with --shards"),
        (&["queue", "--group", "backend"], "--group names folders of this machine"),
        (&["--like", "api/src/queue.rs:1"], "--like reads a unit of this machine"),
    ] {
        let ran = sandbox.run(&[&["--shards", "shards.json"], args].concat());
        assert!(ran.status == 2 && ran.err.contains(why) && ran.out.is_empty(), "{args:?}: {ran:?}");
    }
    sandbox.refuses(&["queue", "api/src/nowhere.rs"], gone);
    let command = sandbox.run(&["--shards", "shards.json", "init"]);
    assert!(command.err.contains("the command is: colgrep init"), "{command:?}");
    let server = Server::start(&sandbox, &["--shards", "shards.json"]);
    for (asked, why) in [
        (json!({"query": "queue", "paths": ["api/src/nowhere.rs"]}), gone),
        (json!({"query": "*"}), "holds no word, and over shards"),
    ] {
        let refused = server.post("/api/v1/search", &asked);
        let detail = refused.json()["detail"].as_str().unwrap_or_default().to_string();
        assert!(refused.status == 422 && detail.contains(why), "{asked}: {refused:?}");
    }
}

#[test]
fn flags_that_would_protect_nothing_or_admit_nobody_are_refused() {
    let sandbox = sandbox();
    sandbox.write("token", "0123456789abcdef0123");
    sandbox.write("empty", " \n");
    name(&sandbox, &[&["127.0.0.1:1"]]);
    for (args, why) in [
        (&["--rights", "api"][..], "--rights is for a server over shards"),
        (&["--rights", "--shard", "api"], "start that with --rights"),
        (&["--shard-token-file", "token", "api"], "--token-file names the one that requests to this server bring"),
        (&["--shard-token-file", "token", "--shard", "api"], "the one that coordinators bring to this shard"),
        (&["--shard-token-file", "empty", "--shards", "shards.json"], "empty holds no token"),
        (&["--timeout", "0"], "--timeout 0 leaves no time"),
        (&["--at-once", "0"], "--at-once 0 lets no request in"),
        (&["--listen", "localhost"], "an address and a port, as 127.0.0.1:7345"),
    ] {
        // Where it is not refused it asks for a token.
        let is_guarded = ["--listen", "empty"].iter().any(|word| args.contains(word));
        let listen = if is_guarded { &[][..] } else { &["--listen", "192.0.2.1:1"] };
        sandbox.refuses(&[&["serve"], listen, args].concat(), why);
    }
}

#[test]
fn a_repository_that_a_shard_cannot_serve_is_named() {
    let sandbox = sandbox();
    let one = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    let two = Shard::start(&sandbox, "127.0.0.1:0", &["worker"]);
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    let asked = || sandbox.run(&["retry a request", "--all", "--shards", "shards.json"]);
    assert_eq!(asked().status, 0);
    let status = |args: &[&str]| sandbox.run(&[&["status", "--shards", "shards.json"], args].concat());
    assert_eq!(status(&[]).status, 0);
    std::fs::rename(sandbox.root().join("web"), sandbox.root().join("gone")).expect("moved");
    until("told", || asked().status == 2);
    let ran = asked();
    assert!(ran.err.contains("web (shard 1):") && ran.err.contains("is no longer a folder"), "{ran:?}");
    assert!(ran.out.contains("api/") && ran.out.contains("worker/") && !ran.out.contains("web/"), "{ran:?}");
    let told = status(&[]);
    assert!(told.status == 2 && told.out.contains("web is not served: "), "{told:?}");
    let told: Value = serde_json::from_str(&status(&["--json"]).out).expect("JSON");
    assert_eq!((&told["answered"], &told["unserved"][0]["repository"]), (&json!(2), &json!("web")));
    let server = Server::start(&sandbox, &["--shards", "shards.json"]);
    let found = server.post("/api/v1/search", &json!({"query": "retry a request"})).json();
    assert_eq!((&found["shards"]["missing"], &found["shards"]["unserved"][0]["shard"]), (&json!([]), &json!(1)));
    // Searches elsewhere are not affected; searches there report the failure.
    assert_eq!(sandbox.run(&["retry", "--all", "--shards", "shards.json", "api"]).status, 0);
    sandbox.refuses(&["retry", "--all", "--shards", "shards.json", "web"], "web (shard 1):");
    std::fs::rename(sandbox.root().join("gone"), sandbox.root().join("web")).expect("moved");
    until("served again", || asked().status == 0);
}

#[test]
fn text_over_shards_is_that_of_one_process() {
    let sandbox = sandbox();
    let unit = |at: usize| {
        format!("/// Retries a request of kind {at}.\npub fn retry_request_{at}() {{\n    send({at});\n}}\n\n")
    };
    sandbox.write("api/src/kinds.rs", &(0..9).map(unit).collect::<String>());
    sandbox.write("worker/lib/sorts.rs", &(3..8).map(unit).collect::<String>());
    // Better than the neighbours of the line of `kinds.rs` that is pointed at, and not shown.
    let jobs = "/// A queue of jobs for the page: queue jobs, jobs of the queue.\npub struct QueueOfJobs;\n\n/// queue of jobs\n";
    sandbox.write("api/src/jobs.rs", &[jobs, "pub fn queue_of_jobs() {}\n"].concat());
    let one = Shard::start(&sandbox, "127.0.0.1:0", &["api", "web"]);
    let two = Shard::start(&sandbox, "127.0.0.1:0", &["worker"]);
    name(&sandbox, &[&[&one.address], &[&two.address]]);
    let mut also = 0;
    for args in [
        &["retry a request"][..],
        &["retry_request_4"],
        &["retry", "-k", "3", "--per-file", "2"],
        &["push", "-C", "2"],
        &["kinds.rs:6 queue of jobs", "-k", "1"],
    ] {
        let here = sandbox.run(&[args, &["--all", "api", "web", "worker"]].concat());
        let over = sandbox.run(&[args, &["--all", "--shards", "shards.json"]].concat());
        assert_eq!((over.status, &over.out), (here.status, &here.out), "{args:?}");
        also += here.out.matches("also ").count();
    }
    assert!(also > 0, "{also} lines say what stands behind them");
}
