//! The MCP server before a client of today: its roots, its token for progress, its arguments, the shape of answers.

use std::io::Read as _;
use std::path::Path;

use crate::common::Sandbox;
use crate::common::mcp::{Client, address};
use crate::common::process::until;
use serde_json::{Value, json};

#[test]
fn the_clients_roots_are_asked_for_and_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("one/a.py", "def lion():\n    pass\n");
    sandbox.write("the other/b.py", "def tiger():\n    pass\n");
    let (one, other) = (sandbox.root().join("one"), sandbox.root().join("the other"));
    // A working folder that is no project does not end the server.
    let mut client = Client::in_folder(&sandbox, Path::new("/"), Some(&[&one]));
    assert!(client.good("search", json!({"query": "lion"})).starts_with("a.py:1-2 function lion"));
    let outside = client.result("outline", json!({"file": other.join("b.py").display().to_string()}));
    assert_eq!(outside["isError"], true, "{outside}");
    client.roots = Some(vec![address(&other), "https://example.org/".to_string()]);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    while !client.result("status", json!({})).to_string().contains("the other") {}
    assert!(client.good("search", json!({"query": "tiger"})).starts_with("b.py:1-2 function tiger"));
    assert_eq!(client.result("outline", json!({"file": one.join("a.py").display().to_string()}))["isError"], true);
}

#[test]
fn a_batch_is_answered_though_the_pipe_closes_at_once() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let batch: Vec<Value> = (100..140).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).collect();
    client.send(&Value::Array(batch));
    drop(client.to.take());
    let mut answers = String::new();
    client.from.read_to_string(&mut answers).expect("text");
    let answer = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let mut ids: Vec<Option<u64>> = answers.lines().map(|line| answer(line)["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (100..140_u64).map(Some).collect::<Vec<_>>(), "{answers}");
}

#[test]
fn roots_that_a_client_gives_up_are_read_no_more() {
    let sandbox = Sandbox::new();
    sandbox.write("one/a.py", "def lion():\n    pass\n");
    sandbox.write("home/h.py", "def lion_at_home():\n    pass\n");
    let (one, home) = (sandbox.root().join("one"), sandbox.root().join("home"));
    let gone = Path::new("/there/is/no/such/folder");
    let mut client = Client::in_folder(&sandbox, &home, Some(&[&one]));
    for roots in [Vec::new(), vec![address(gone), "https://example.org/".to_string()]] {
        let is_told = !roots.is_empty();
        for (roots, folder) in [(vec![address(&one)], &one), (roots, &home)] {
            client.roots = Some(roots);
            client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
            let root = format!("root {}", folder.display());
            while !client.result("status", json!({})).to_string().contains(&root) {}
        }
        for (tool, arguments) in [
            ("search", json!({"query": "lion at home", "all": true})),
            ("grep", json!({"pattern": "lion"})),
            ("outline", json!({"file": "h.py"})),
        ] {
            let told = client.result(tool, arguments).to_string();
            assert!(told.contains("lion_at_home") && !told.contains("a.py"), "{tool}: {told}");
            for lost in [address(gone), "https://example.org/".to_string()] {
                assert_eq!(told.contains(&lost), is_told, "{tool}: {told}");
            }
        }
        let outside = client.result("outline", json!({"file": one.join("a.py").display().to_string()}));
        assert_eq!(outside["isError"], true, "{outside}");
    }
    // The same from the beginning on.
    let mut client = Client::in_folder(&sandbox, &home, Some(&[gone]));
    let told = client.result("grep", json!({"pattern": "lion"})).to_string();
    assert!(told.contains("lion_at_home") && told.contains(&address(gone)), "{told}");
    let mut client = Client::in_folder(&sandbox, Path::new("/"), Some(&[gone]));
    let told = client.result("search", json!({"query": "lion"})).to_string();
    assert!(told.contains("/ is not a project") && told.contains(&address(gone)), "{told}");
}

#[test]
fn a_list_of_callers_shows_the_calls() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let call = "17: if let Ok(request) = parse_request(b\"POST /hook\") {";
    let found = client.result("search", json!({"calls": "parse_request"}));
    assert!(found["content"][0]["text"].as_str().is_some_and(|text| text.contains(call)), "{found}");
    let hits = found["structuredContent"]["hits"].as_array().expect("rows");
    let rows: Vec<(&str, u64)> = hits
        .iter()
        .map(|hit| (hit["file"].as_str().expect("a file"), hit["line_shown"].as_u64().expect("a line")))
        .collect();
    assert!(rows.contains(&("src/http/server.rs", 17)) && rows.contains(&("tests/parse_test.rs", 3)), "{rows:?}");
    let of_list = client.result("search", json!({"calls": ["parse_request"]}));
    assert_eq!(of_list["structuredContent"]["hits"], found["structuredContent"]["hits"]);
    for kinds in [json!(["class", "method"]), json!("[\"class\", \"method\"]")] {
        let listed = client.result("search", json!({"kind": kinds, "paths": "src"}));
        let hits = listed["structuredContent"]["hits"].as_array().expect("rows");
        let of = |kind: &str| hits.iter().filter(|hit| hit["kind"] == kind).count();
        assert!(of("class") > 0 && of("method") > 0 && of("class") + of("method") == hits.len(), "{listed}");
    }
    let around = client.good("search", json!({"calls": "parse_request", "lines": 3, "paths": ["src"]}));
    assert!(around.contains("\n16: ") && around.contains("\n17: ") && around.contains("\n18: "), "{around}");
}

#[test]
fn a_long_unit_is_read_around_a_line_and_turned_both_ways() {
    let sandbox = Sandbox::new();
    let body: String = (2..=400).map(|n| format!("    step_{n} = {n}\n")).collect();
    sandbox.write("long.py", &format!("def long():\n{body}"));
    let mut client = Client::start(&sandbox, &[]);
    let mut read = |offset: Option<usize>| {
        client.good("read_unit", json!({"file": "long.py", "line": 300, "max_tokens": 500, "offset": offset}))
    };
    let offset_behind = |text: &str, what: &str| -> usize {
        let rest = text.split_once(what).unwrap_or_else(|| panic!("{what}: {text}")).1;
        rest.split(')').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let text = read(None);
    assert!(text.starts_with("long.py:1-400 function long\n("), "{text}");
    assert!(text.contains("\n300:     step_300 = 300\n"), "{text}");
    let earlier = read(Some(offset_behind(&text, " earlier lines: offset ")));
    assert_eq!(read(Some(offset_behind(&earlier, " further lines: offset "))), text);
    assert!(read(Some(0)).starts_with("long.py:1-400 function long\n1: def long():\n"));
}

#[test]
fn a_pack_tells_of_what_it_shows() {
    let sandbox = Sandbox::new();
    for i in 0..30 {
        sandbox.write(&format!("f{i:02}.py"), &format!("def widget_{i}():\n    return 'a widget {i}'\n"));
    }
    let mut client = Client::start(&sandbox, &[]);
    let packed = client.result("search", json!({"query": "widget", "max_tokens": 240}));
    let text = packed["content"][0]["text"].as_str().expect("a text");
    let mut files: Vec<&str> =
        text.lines().filter(|line| line.starts_with('f')).filter_map(|line| line.split(':').next()).collect();
    files.dedup();
    let shown = files.len();
    assert!(shown < 10 && text.contains("30 files hold \"widget\";"), "{packed}");
    let strengths = text.split_once("(strength of each, 0 to 1: ").and_then(|(_, rest)| rest.split([')', ';']).next());
    assert_eq!(strengths.expect("strengths").split(' ').count(), shown, "{text}");
    let mut next = Some(0);
    let mut seen = Vec::new();
    while let Some(offset) = next.filter(|_| seen.len() < 99) {
        let page = client.result("search", json!({"query": "widget", "max_tokens": 100, "offset": offset}));
        let text = page["content"][0]["text"].as_str().expect("a text");
        let hits = page["structuredContent"]["hits"].as_array().expect("rows");
        let files: Vec<String> = hits.iter().map(|hit| hit["file"].as_str().expect("a file").to_string()).collect();
        let heads: Vec<&str> = text.lines().filter_map(|line| line.strip_suffix(line.split_once(".py:")?.1)).collect();
        assert_eq!(heads, files.iter().map(|file| format!("{file}:")).collect::<Vec<_>>(), "{text}");
        seen.extend(files);
        next = text.split_once("offset ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    }
    seen.sort();
    assert_eq!(seen, (0..30).map(|i| format!("f{i:02}.py")).collect::<Vec<_>>(), "each once, over all pages");
    for tokens in [50, 60, 100] {
        let small = client.result("search", json!({"query": "widget", "max_tokens": tokens}));
        let text = small["content"][0]["text"].as_str().expect("a text");
        let hits = small["structuredContent"]["hits"].as_array().map_or(0, Vec::len);
        assert!(text.len() <= tokens * 4 && text.contains(&format!("results: offset {hits})\n")), "{small}");
    }
}

#[test]
fn a_folder_that_is_no_project_is_told_and_ends_nothing() {
    let sandbox = Sandbox::new();
    let mut client = Client::in_folder(&sandbox, Path::new("/"), None);
    for tool in ["search", "status"] {
        let told = client.result(tool, if tool == "search" { json!({"query": "x"}) } else { json!({}) });
        assert_eq!(told["isError"], true);
        let text = told["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains("/ is not a project") && text.contains("`colgrep mcp FOLDER`"), "{text}");
        assert!(!text.contains("-y"), "an agent has no flags: {text}");
    }
}

#[test]
fn a_look_at_the_state_builds_nothing_and_a_build_is_reported() {
    let sandbox = Sandbox::new();
    for file in 0..300 {
        sandbox.write(&format!("f{file}.py"), &format!("def widget_{file}():\n    return {file}\n"));
    }
    let mut client = Client::in_folder(&sandbox, &sandbox.root(), None);
    assert!(client.good("status", json!({})).contains("nothing is indexed yet"));
    assert!(!sandbox.data().exists(), "a look makes nothing");
    let asked = json!({"name": "search", "arguments": {"query": "widget"}, "_meta": {"progressToken": "t"}});
    assert_ne!(client.ask("tools/call", asked)["result"]["isError"], true);
    let told = std::mem::take(&mut client.notified);
    let steps: Vec<f64> = told
        .iter()
        .filter(|message| message["method"] == "notifications/progress" && message["params"]["progressToken"] == "t")
        .map(|message| message["params"]["progress"].as_f64().expect("a number"))
        .collect();
    assert!(!steps.is_empty() && steps.windows(2).all(|two| two[0] < two[1]), "{told:?}");
    // A busy machine answers from what is indexed by then.
    until("whole", || client.good("status", json!({})).contains("300 files and 300 units"));
    client.good("search", json!({"query": "widget"}));
    assert!(client.notified.is_empty(), "only who gives a token is told: {:?}", client.notified);
}

#[test]
fn answers_have_a_shape_and_say_what_they_are_about() {
    let sandbox = Sandbox::of("relay");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    sandbox.write(".git/HEAD", "ref: refs/heads/main\n");
    sandbox.write(".git/refs/heads/main", commit);
    let mut client = Client::in_folder(&sandbox, &sandbox.root(), None);
    for (tool, arguments) in [
        ("search", json!({"query": "parse request"})),
        ("grep", json!({"pattern": "parse"})),
        ("outline", json!({"file": "src/main.rs"})),
        ("read_unit", json!({"file": "src/queue/ring.rs", "line": "10"})),
        ("find_related", json!({"file": "src/queue/ring.rs", "line": 4})),
        ("status", json!({})),
    ] {
        let result = client.result(tool, arguments);
        let (text, shaped) = (result["content"][0]["text"].as_str().expect("a text"), &result["structuredContent"]);
        let about = text.strip_prefix(shaped["answer"].as_str().expect("an answer")).expect("the answer comes first");
        assert_eq!(shaped["roots"][0]["root"], sandbox.root().display().to_string(), "{tool}");
        assert_eq!(shaped["roots"][0]["head"], "main 0123456789ab", "{tool}");
        assert!(about.contains("HEAD main 0123456789ab, index current"), "{tool}: {about}");
        assert_eq!((about.lines().count(), result["content"].as_array().map(Vec::len)), (1, Some(1)), "{result}");
    }
    let listed = client.ask("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().expect("tools") {
        assert!(tool["title"].is_string(), "{tool}");
        let schema = tool["inputSchema"].to_string();
        for odd in ["\"format\"", "\"null\"", "anyOf", "$ref", "$defs"] {
            assert!(!schema.contains(odd), "{odd}: {schema}");
        }
    }
    let search = listed["result"]["tools"].as_array().and_then(|all| all.iter().find(|tool| tool["name"] == "search"));
    let properties = &search.expect("search")["inputSchema"]["properties"];
    assert_eq!(properties["tests"]["enum"], json!(["auto", "only", "exclude"]));
    assert_eq!((&properties["calls"]["type"], &properties["kind"]["type"]), (&json!("array"), &json!("array")));
    assert_eq!(properties["kind"]["items"]["enum"][0], json!("function"));
    assert_eq!((&properties["results"]["type"], &properties["tests"]["type"]), (&json!("integer"), &json!("string")));
}

#[test]
fn arguments_are_taken_as_agents_write_them() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::in_folder(&sandbox, &sandbox.root(), None);
    let plain =
        client.good("search", json!({"query": "parse request", "results": 2, "content": true, "paths": ["src"]}));
    let quoted = json!({"query": "parse request", "results": "2", "content": "true", "paths": "src", "pattern": null});
    assert_eq!(client.good("search", quoted), plain);
    let lines = client.good("search", json!({"query": "RingBuffer", "results": 1, "lines": 3, "paths": ["src/queue"]}));
    assert!(lines.contains("\n2: ") && lines.contains("\n3: pub struct RingBuffer {\n4: "), "{lines}");
    let two = client.good("search", json!({"query": "RingBuffer", "queries": ["parse request"], "results": 1}));
    let heads: Vec<&str> = two.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(heads, ["## RingBuffer", "## parse request"]);
    assert!(two.contains("class RingBuffer") && two.contains("function parse_request"), "{two}");
    let mut queries = |asked: serde_json::Value| -> Vec<String> {
        let found = client.result("search", asked);
        let hits = found["structuredContent"]["hits"].as_array().expect("rows");
        hits.iter().map(|hit| hit["query"].as_str().unwrap_or("none").to_string()).collect()
    };
    let two = json!({"query": "RingBuffer", "queries": ["parse request"], "results": 1});
    assert_eq!(queries(two), ["RingBuffer", "parse request"]);
    assert_eq!(queries(json!({"queries": ["parse request"], "results": 1})), ["none"]);
    let mut paged = json!({"query": "RingBuffer", "queries": ["parse request"], "offset": 1});
    let refused = client.result("search", paged.clone());
    assert!(refused["isError"] == true && refused.to_string().contains("each question has pages"), "{refused}");
    paged["offset"] = json!(0);
    assert_eq!(client.result("search", paged)["isError"], false);
    for mut asked in [json!({"file": "x".repeat(5_000)}), json!({"query": "y".repeat(70_000)})] {
        asked["max_tokens"] = json!(50);
        let (told, failed) = client.call("search", asked);
        assert!(failed && told.len() <= 200, "{} bytes: {told}", told.len());
    }
    for parameter in ["file", "name", "like"] {
        let (told, failed) = client.call("search", json!({parameter: "src/main.rs:2-1"}));
        assert!(failed && told.contains("src/main.rs exists, but \"2-1\" after it is not a line"), "{told}");
    }
    let many = client.result("search", json!({"query": "a", "queries": vec!["b"; 16]}));
    assert!(many["isError"] == true && many.to_string().contains("16 at most"), "{many}");
}

#[test]
fn an_answer_ends_for_agents_too() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("src/code.rs", "// Error E0502 is told.\npub fn tell_code() {\n    let kind = 1;\n}\n");
    let mut client = Client::start(&sandbox, &[]);
    let held = client.result("search", json!({"query": "E0502"}));
    let hits = held["structuredContent"]["hits"].as_array().expect("rows");
    assert!(hits.len() == 1 && hits[0]["file"] == "src/code.rs" && hits[0]["line_shown"] == 1, "{held}");
    assert!(hits[0]["strength"].as_f64().is_some_and(|strength| strength > 0.8), "{held}");
    let text = held["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("\n(strength of each, 0 to 1: 0.98)\n(root "), "{text}");
    let none = client.good("search", json!({"query": "E0599"}));
    assert!(
        none.contains("(nothing in what is searched holds \"E0599\"; `all` shows what is near by meaning)\n"),
        "{none}"
    );
    let far = "comets of the sky by kind";
    let few = client.result("search", json!({"query": far}));
    let all = client.result("search", json!({"query": far, "all": true}));
    let count = |answer: &serde_json::Value| answer["structuredContent"]["hits"].as_array().map_or(0, Vec::len);
    assert!(count(&few) < count(&all), "{few} {all}");
    assert!(few["content"].to_string().contains("nothing in what is searched holds"), "{few}");
    let sure = client.result("search", json!({"query": "E0502", "min_strength": "0.99"}));
    assert_eq!(count(&sure), 0);
    let wrong = client.result("search", json!({"query": "E0502", "min_strength": 2}));
    assert!(wrong["isError"] == true && wrong.to_string().contains("from 0 to 1"), "{wrong}");
    let marks = client.good("search", json!({"query": "() {"}));
    assert!(marks.contains("\n(\"() {\" holds no word, so it is searched as literal text)\n"), "{marks}");
    assert!(marks.contains("src/code.rs:2:pub fn tell_code() {\n"), "{marks}");
    // A literal search covers text only; the tool grep reports the other files too.
    std::fs::write(sandbox.root().join("a.png"), b"\0 () {\n").expect("a file");
    let marks = client.good("search", json!({"query": "() {"}));
    assert!(!marks.contains("a.png") && marks.contains("src/code.rs:2:"), "{marks}");
    let lines = client.good("grep", json!({"pattern": "() {", "fixed": true}));
    assert!(lines.contains("a.png: binary file matches"), "{lines}");
}

#[test]
fn the_file_that_an_agent_works_on_is_a_parameter() {
    let sandbox = Sandbox::new();
    sandbox.write("src/tcp.py", "def connect():\n    return 1\n");
    sandbox.write("src/pool.py", "def connect_all():\n    return connect()\n");
    sandbox.write("tests/test_tcp.py", "def test_it():\n    assert connect()\n");
    let mut client = Client::start(&sandbox, &[]);
    let first = |client: &mut Client, near: &str| {
        let text = client.good("search", json!({"query": "connect all", "near": near, "all": true}));
        (text.find("src/tcp.py").expect("the file"), text.find("tests/test_tcp.py").expect("the test"))
    };
    let plain = client.good("search", json!({"query": "connect all", "all": true}));
    assert!(plain.find("src/pool.py") < plain.find("src/tcp.py"), "{plain}");
    let (source, test) = first(&mut client, "tests/test_tcp.py:2");
    assert!(source < test);
    for near in ["src/gone.py", "../outside.py", "src/tcp.py:99"] {
        let (text, is_error) = client.call("search", json!({"query": "connect", "near": near}));
        assert!(is_error, "{near}: {text}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn an_index_that_was_not_compared_is_not_called_current() {
    let sandbox = Sandbox::of("relay");
    sandbox.run(&["init"]);
    let index = std::fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    let mut client = Client::start(&sandbox, &[]);
    let mut freshness = || {
        let answer = client.result("search", json!({"query": "gadget"}));
        let content = &answer["structuredContent"];
        (content["answer"].to_string(), content["roots"][0]["index"].as_str().expect("words").to_string())
    };
    assert!(freshness().1.starts_with("current"));
    sandbox.write("src/new.rs", "fn brand_new_gadget() {}\n");
    let lock = std::fs::File::open(index.join("lock")).expect("a lock");
    lock.lock().expect("the lock");
    // Until the watcher has reported the file, the server can't know.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let told = loop {
        let (answer, told) = freshness();
        assert!(!answer.contains("brand_new_gadget"), "{answer}");
        // If the watcher's report arrives between an answer and its freshness, the index was "current when it was
        // asked".
        if !told.starts_with("current") || std::time::Instant::now() > end {
            break told;
        }
    };
    let why = "another colgrep is indexing; this answer may lack the latest changes (13 of 14 files read)";
    assert_eq!(told, format!("not compared with the files: {why}"));
    drop(lock);
    let (answer, told) = freshness();
    assert!(answer.contains("brand_new_gadget") && told.starts_with("current"), "{answer} {told}");
}

#[test]
fn files_that_are_gone_make_room_for_the_next() {
    let sandbox = Sandbox::new();
    for i in 0..30 {
        sandbox.write(&format!("f{i}.py"), &format!("def widget_{i}():\n    return {}\n", "widget + ".repeat(i) + "1"));
    }
    sandbox.run(&["init"]);
    let mut ranked = sandbox.run(&["widget", "-l", "-k", "30"]).out;
    let index = std::fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    let lock = std::fs::File::open(index.join("lock")).expect("a lock");
    // Nothing is compared meanwhile.
    lock.lock().expect("the lock");
    for gone in ranked.lines().take(4) {
        std::fs::remove_file(sandbox.root().join(gone)).expect("a file");
    }
    ranked = ranked.split_inclusive('\n').skip(4).collect();
    let mut client = Client::start(&sandbox, &[]);
    let packed = client.good("search", json!({"query": "widget", "results": 3, "all": true}));
    assert!(packed.starts_with(ranked.lines().next().expect("a file")), "{packed}");
    for results in [3, 12, 26] {
        let asked = json!({"query": "widget", "results": results, "all": true, "lines": 0});
        let text = client.good("search", asked);
        let files: Vec<&str> = text.lines().filter_map(|line| line.split_once(".py:")).map(|(file, _)| file).collect();
        let expected: Vec<&str> = ranked.lines().take(results).map(|line| line.trim_end_matches(".py")).collect();
        assert_eq!(files, expected, "{text}");
    }
}

#[test]
fn related_units_are_those_of_the_command_line() {
    let sandbox = Sandbox::new();
    // It has 200 characters, but a unit's own words are not a long query.
    let told = "Drops the oldest entry of the queue when its buffer is full, which is what every caller of the worker pool \
                counts on while a slow reader holds the lock and the writers have no other place for the rows they got \
                from the socket";
    for (name, told, unit) in [
        ("ring", told, "evict"),
        ("pool", "Rows from the socket that a slow reader left", "rows_of_socket"),
        ("queue", "The oldest entry of a queue", "oldest_entry"),
        ("lock", "Writers wait for the lock that a slow reader holds", "wait_for_lock"),
        ("buffer", "A buffer is full", "is_full"),
        ("worker", "The worker pool and its callers", "worker_pool"),
    ] {
        let text = format!("/// {told}.\npub fn {unit}(of: &mut Vec<u32>) {{\n    of.remove(0);\n}}\n");
        sandbox.write(&format!("src/{name}.rs"), &text);
    }
    let ran = sandbox.run(&["--like", "src/ring.rs:2", "-l", "-k", "9"]);
    let mut client = Client::start(&sandbox, &[]);
    let found = client.good("find_related", json!({"file": "src/ring.rs", "line": 2}));
    let units = found.lines().filter(|line| !line.starts_with(' '));
    let paths: Vec<&str> = units.filter_map(|line| line.split(':').next()).collect();
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), paths, "{found}");
    assert_eq!(paths.len(), 5, "{found}");
}

#[test]
fn of_several_roots_that_share_an_id_the_file_says_which_is_meant() {
    let sandbox = Sandbox::new();
    sandbox.write("one/a.py", "def lion():\n    return 1\n");
    sandbox.write("two/a.py", "def lion():\n    return 2\n");
    let (one, two) = (sandbox.root().join("one"), sandbox.root().join("two"));
    let mut client = Client::in_folder(&sandbox, Path::new("/"), Some(&[&one, &two]));
    let found = client.result("search", json!({"query": "lion"}));
    let hit = &found["structuredContent"]["hits"][0];
    let id = hit["id"].as_str().expect("an id");
    let refused = client.result("read_unit", json!({"id": id}));
    assert!(refused["isError"] == true && refused.to_string().contains("one/a.py or two/a.py"), "{refused}");
    for (file, body) in [("one/a.py", "return 1"), ("two/a.py", "return 2")] {
        let told = client.good("read_unit", json!({"id": id, "file": file}));
        assert!(told.contains(body), "{file}: {told}");
        let related = client.good("find_related", json!({"id": id, "file": file}));
        assert!(!related.contains(&format!("{file}:")), "what is like it is something else: {related}");
        assert!(related.contains("a.py:1-2"), "the other root is looked into: {related}");
    }
    let missing = client.result("find_related", json!({"file": "one/a.py"}));
    assert!(missing["isError"] == true && missing.to_string().contains("`line`"), "{missing}");
}

#[test]
fn searches_for_text_are_narrowed_as_others_are() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "x = 1 !== 2\n");
    sandbox.write("b.js", "x = 1 !== 2\n");
    sandbox.write("tests/test_b.js", "y = 1 !== 2\n");
    let mut client = Client::start(&sandbox, &[]);
    let mut lines = |narrowed: Value| {
        let mut asked = json!({"query": "!=="});
        asked.as_object_mut().expect("an object").extend(narrowed.as_object().expect("an object").clone());
        let told = client.good("search", asked);
        told.lines().filter(|line| line.contains("!== 2")).map(|line| line[..4].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(lines(json!({})).len(), 3);
    assert_eq!(lines(json!({"languages": ["python"]})), ["a.py"]);
    assert_eq!(lines(json!({"tests": "only"})), ["test"]);
    assert_eq!(lines(json!({"exclude": ["*.js"]})), ["a.py"]);
    for wrong in [json!({"query": "!==", "tests": "nope"}), json!({"query": "a", "all": true, "min_strength": 0.5})] {
        assert_eq!(client.result("search", wrong.clone())["isError"], true, "{wrong}");
    }
}

#[test]
fn what_is_shown_of_a_line_holds_what_was_found() {
    let sandbox = Sandbox::new();
    let long = format!("{} needle {}\n", "x".repeat(400), "y".repeat(400));
    sandbox.write("a.md", &format!("# Title\n\n{long}"));
    let mut client = Client::start(&sandbox, &[]);
    let found = client.good("grep", json!({"pattern": "needle"}));
    assert!(found.starts_with("a.md:3:…x") && found.contains(" needle y") && found.len() < 400, "{found}");
    let read = client.good("read_unit", json!({"file": "a.md", "line": 3}));
    assert!(read.contains(long.trim_end()), "a unit is read whole: {read}");
}

#[test]
fn what_follows_a_pack_is_a_page() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let page = |client: &mut Client, offset: usize| {
        client.good("search", json!({"query": "parse request", "pack": 200, "offset": offset, "results": 1}))
    };
    let (first, second) = (page(&mut client, 0), page(&mut client, 1));
    assert!(first.contains("parse_request") && second.contains("offset 2"), "{first}\n{second}");
    assert_ne!(first.lines().next(), second.lines().next());
    let lines = client.good("search", json!({"query": "parse request", "lines": 3, "results": 1}));
    assert!(lines.contains("    #") && lines.contains("; also here: "), "{lines}");
    let around = lines.lines().find(|line| line.contains("also here")).expect("a remark");
    assert!(around.trim_start().starts_with('#'), "the remark stands behind the id: {lines}");
}
