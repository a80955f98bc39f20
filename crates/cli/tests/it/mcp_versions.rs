//! The MCP server in each version of the protocol and over each transport: sessions and none, roots of clients, projects
//! that a call names, pipes and HTTP.

use std::path::Path;
use std::process::Command;

use crate::common::Sandbox;
use crate::common::mcp::{Client, address};
use crate::common::serve::Server;
use serde_json::{Value, json};

/// Two projects, `one` with a lion and `two` with a tiger.
fn two_projects() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("one/a.py", "def lion():\n    return 1\n");
    sandbox.write("two/b.py", "def tiger():\n    return 2\n");
    sandbox
}

/// The text of a good answer.
fn text(result: &Value) -> &str {
    assert_eq!((&result["isError"], &result["resultType"]), (&json!(false), &json!("complete")), "{result}");
    result["content"][0]["text"].as_str().expect("a text")
}

#[test]
fn without_sessions_each_call_asks_for_the_clients_roots() {
    let sandbox = two_projects();
    let (one, two) = (sandbox.root().join("one"), sandbox.root().join("two"));
    let mut client = Client::without_session(&sandbox, Path::new("/"), &[]);
    let roots = json!({"roots": {}});
    let answered = |folder: &Path| json!({"roots": {"roots": [{"uri": address(folder)}]}});
    let lion = json!({"query": "lion"});
    let asked = client.stateless("search", lion.clone(), roots.clone(), Value::Null);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["roots"]["method"], "roots/list", "{asked}");
    let found = client.stateless("search", lion.clone(), roots.clone(), answered(&one));
    assert!(text(&found).starts_with("a.py:1-2 function lion"), "{found}");
    // They may have changed since.
    let asked = client.stateless("search", lion.clone(), roots.clone(), Value::Null);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let found = client.stateless("search", json!({"query": "tiger"}), roots.clone(), answered(&two));
    assert!(text(&found).starts_with("b.py:1-2 function tiger"), "{found}");
    let file = one.join("a.py").display().to_string();
    let outside = client.stateless("outline", json!({"file": file}), roots.clone(), answered(&two));
    assert_eq!(outside["isError"], true, "{outside}");
    // An answer that is none names no roots.
    let mut client = Client::without_session(&sandbox, &two, &[]);
    for answer in [json!({"roots": {}}), json!({"roots": null}), json!({"roots": {"roots": [{"name": "x"}]}})] {
        let found = client.stateless("search", json!({"query": "tiger"}), roots.clone(), answer);
        assert!(text(&found).starts_with("b.py:1-2 function tiger"), "{found}");
    }
}

#[test]
fn who_has_no_roots_or_was_given_some_is_not_asked() {
    let sandbox = two_projects();
    let mut client = Client::without_session(&sandbox, &sandbox.root().join("one"), &[]);
    let found = client.stateless("search", json!({"query": "lion"}), json!({}), Value::Null);
    assert!(text(&found).starts_with("a.py:1-2 function lion"), "{found}");
    let mut client = Client::without_session(&sandbox, &sandbox.root(), &["two"]);
    let found = client.stateless("search", json!({"query": "tiger"}), json!({"roots": {}}), Value::Null);
    assert!(text(&found).starts_with("b.py:1-2 function tiger"), "{found}");
    let mut client = Client::without_session(&sandbox, Path::new("/"), &[]);
    let lost = client.stateless("search", json!({"query": "tiger"}), json!({}), Value::Null).to_string();
    assert!(lost.contains("/ is not a project") && lost.contains("`colgrep mcp FOLDER`"), "{lost}");
    assert!(!lost.contains("-y"), "an agent has no flags: {lost}");
}

#[test]
fn a_call_may_be_limited_to_a_project_inside_the_roots() {
    let sandbox = two_projects();
    sandbox.write("one/.aws/credentials", "key = 1\n");
    // A repository of its own.
    sandbox.write("three/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("three/c.py", "def puma():\n    return 3\n");
    let mut client = Client::start(&sandbox, &[]);
    for (tool, arguments, expected) in [
        ("search", json!({"query": "lion"}), "one/a.py:1-2 function lion"),
        ("search", json!({"pattern": "return"}), "one/a.py:2:    return 1\n"),
        ("search", json!({"name": "lion"}), "one/a.py:1-2 function lion\n"),
        ("search", json!({"file": "a.py:1"}), "one/a.py:1-2 function lion\n"),
        ("search", json!({"file": "one/a.py:1"}), "one/a.py:1-2 function lion\n"),
        ("grep", json!({"pattern": "return"}), "one/a.py:2:    return 1\n"),
        ("outline", json!({"file": "a.py"}), "        1-2 "),
        ("status", json!({}), "root ROOT/one\n"),
    ] {
        for project in ["one".to_string(), sandbox.root().join("one").display().to_string()] {
            let mut limited = arguments.clone();
            limited["project"] = json!(project);
            let text = client.good(tool, limited);
            assert!(text.starts_with(expected) && !text.contains("two"), "{tool} {arguments} {project}: {text}");
        }
    }
    let whole = client.good("search", json!({"pattern": "return", "project": ""}));
    assert!(whole.contains("one/a.py") && whole.contains("two/b.py"), "{whole}");
    for (project, why) in [
        ("..", "is not a file or folder inside the roots"),
        ("/etc", "is not a file or folder inside the roots"),
        ("four", "is not a file or folder inside the roots"),
        ("three/.git", "belongs to git"),
        ("one/a.py", "is a file; give its folder"),
    ] {
        let (text, failed) = client.call("search", json!({"query": "lion", "project": project}));
        assert!(failed && text.contains(why), "{project}: {text}");
    }
    let found = client.good("search", json!({"query": "puma", "project": "three"}));
    assert!(found.starts_with("three/c.py:1-2 function puma"), "{found}");
    let (text, failed) = client.call("read_unit", json!({"file": "credentials:1", "project": "one/.aws"}));
    assert!(failed && text.contains("looks like a secret"), "what its folder says counts: {text}");
    let (text, failed) = client.call("outline", json!({"file": "two/b.py", "project": "one"}));
    assert!(failed && text.contains("inside the roots of this server: ROOT/one"), "{text}");
}

#[test]
fn in_a_folder_of_repositories_a_call_names_one() {
    let sandbox = Sandbox::new();
    for (name, animal) in [("one", "lion"), ("two", "tiger")] {
        sandbox.write(&format!("../many/{name}/.git/HEAD"), "ref: refs/heads/main\n");
        sandbox.write(&format!("../many/{name}/a.py"), &format!("def {animal}():\n    return 1\n"));
    }
    let many = sandbox.root().with_file_name("many");
    let mut client = Client::in_folder(&sandbox, &many, None);
    let (text, failed) = client.call("search", json!({"query": "lion"}));
    assert!(failed && text.contains("holds several repositories: name one of them in `project`: one, two"), "{text}");
    let found = client.good("search", json!({"query": "lion", "project": "one"}));
    assert!(found.starts_with("one/a.py:1-2 function lion"), "{found}");
    let found = client.good("search", json!({"file": "two/a.py:1", "project": many.join("two")}));
    assert!(found.starts_with("two/a.py:1-2 function tiger"), "{found}");
    for outside in ["../project", ".", "/", "one/.git"] {
        let (text, failed) = client.call("search", json!({"query": "lion", "project": outside}));
        assert!(failed, "{outside}: {text}");
    }
    // Wherever the server was started, the paths that it tells are taken, and name their project themselves.
    for mut client in [
        Client::start(&sandbox, &["../many"]),
        Client::in_folder(&sandbox, Path::new("/"), Some(&[&many])),
        Client::in_folder(&sandbox, &many, None),
    ] {
        let full = many.join("two/a.py").display().to_string();
        let two = many.join("two").display().to_string();
        for project in ["two".to_string(), address(&many.join("two")), two] {
            let found = client.good("search", json!({"query": "tiger", "project": project}));
            assert!(found.starts_with("two/a.py:1-2 function tiger"), "{project}: {found}");
        }
        for (path, project) in [("two/a.py", "two"), ("two/a.py", ""), (full.as_str(), "two"), (full.as_str(), "")] {
            for (tool, arguments, expected) in [
                ("search", json!({"file": format!("{path}:1")}), "two/a.py:1-2 function tiger"),
                ("search", json!({"query": "tiger", "paths": [path]}), "two/a.py:1-2 function tiger"),
                ("outline", json!({"file": path}), "        1-2 "),
            ] {
                let mut asked = arguments.clone();
                asked["project"] = json!(project);
                let found = client.good(tool, asked);
                assert!(found.starts_with(expected), "{arguments} {project}: {found}");
            }
        }
        let (text, failed) = client.call("search", json!({"query": "lion", "project": "nope"}));
        assert!(failed && text.contains("no project nope; there are one, two"), "{text}");
        let include = format!("{}/**", many.join("two").display());
        let found = client.good("search", json!({"query": "tiger", "include": include}));
        assert!(found.starts_with("two/a.py:1-2 function tiger"), "{include}: {found}");
        let told = client.good("status", json!({}));
        assert!(
            told.contains("`project` takes one of them: one, two\n") && !told.contains("is not searched"),
            "{told}"
        );
    }
}

/// Headers of a client of Streamable HTTP.
const HEADERS: [(&str, &str); 2] =
    [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];

fn message(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

#[test]
fn mcp_is_spoken_over_http_without_sessions() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &[]);
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": {"name": "test", "version": "1"},
    });
    let begun = server.send("/mcp", &message("initialize", hello), &HEADERS);
    assert_eq!(begun.json()["result"]["serverInfo"]["name"], "colgrep", "{begun:?}");
    assert_eq!(begun.header("mcp-session-id"), "", "{begun:?}");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(server.send("/mcp", &ready, &HEADERS).status, 202);
    let listed = server.send("/mcp", &message("tools/list", json!({})), &HEADERS).json();
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(5), "{listed}");
    let call = message("tools/call", json!({"name": "search", "arguments": {"query": "parse request"}}));
    let found = server.send("/mcp", &call, &HEADERS).json();
    let text = found["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.starts_with("src/http/parse.rs:19-25 function parse_request"), "{found}");
    // As curl asks.
    let any = server.send("/mcp", &call, &[HEADERS[0], ("accept", "*/*")]);
    assert_eq!((any.status, any.json()["result"]["content"][0]["text"].as_str()), (200, Some(text)), "{any:?}");
    // What is no message gets an error of JSON-RPC, as over pipes.
    for (body, code) in
        [("{not json", -32700), ("[]", -32600), ("[{\"id\":1,\"method\":\"ping\"}]", -32600), ("{\"id\":3}", -32600)]
    {
        let answer = server.send("/mcp", body, &HEADERS);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(code)), "{body}: {answer:?}");
    }
    // The version that has batches is named by no header.
    let batch = json!([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        serde_json::from_str::<Value>(&call).expect("JSON"),
        {"id": "c", "method": 7},
    ]);
    let answers = server.send("/mcp", &batch.to_string(), &HEADERS).json();
    let ids: Vec<&Value> = answers.as_array().expect("a batch").iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("a"), &json!(1), &json!("c")], "{answers}");
    assert!(answers[1]["result"].to_string().contains("function parse_request"), "{answers}");
    let notes = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    assert_eq!(server.send("/mcp", &notes.to_string(), &HEADERS).status, 202);
    let many = vec![json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}); 33];
    assert_eq!(server.send("/mcp", &json!(many).to_string(), &HEADERS).status, 422);
    let later = [&HEADERS[..], &[("mcp-protocol-version", "2025-06-18")]].concat();
    assert_eq!(server.send("/mcp", &batch.to_string(), &later).status, 400);
    // The same checks as of every other route.
    assert_eq!(server.get("/mcp", &[]).status, 405);
    let from_elsewhere = [&HEADERS[..], &[("origin", "http://evil.example")]].concat();
    assert_eq!(server.send("/mcp", &call, &from_elsewhere).status, 403);
    let as_another = b"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert!(server.raw(as_another).starts_with("HTTP/1.1 403"));
    let large = message("tools/call", json!({"name": "search", "arguments": {"query": "x".repeat(300 << 10)}}));
    assert_eq!(server.send("/mcp", &large, &HEADERS).status, 413);
    let token = "0123456789abcdef0123456789abcdef";
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::of(command.env("COLGREP_TOKEN", token));
    assert_eq!(server.send("/mcp", &call, &HEADERS).status, 401);
    let bearer = format!("Bearer {token}");
    let known = [&HEADERS[..], &[("authorization", &*bearer)]].concat();
    assert_eq!(server.send("/mcp", &call, &known).status, 200);
}

/// Runs a script that speaks to the program through an official SDK; it gets the program and the folder of projects.
fn run_with_sdk(script: &mut Command) {
    let sandbox = two_projects();
    let like = sandbox.command(&[]);
    script.arg(env!("CARGO_BIN_EXE_colgrep")).arg(sandbox.root());
    script.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = script.output().expect("an interpreter");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stdout));
}

/// Where `TEST_MCP_PYTHON` names a Python that has the SDK.
#[test]
#[expect(clippy::disallowed_methods, reason = "what the machine has is said by its environment")]
fn clients_of_the_python_sdk_are_answered() {
    let Some(python) = std::env::var_os("TEST_MCP_PYTHON") else {
        eprintln!("skipped: TEST_MCP_PYTHON names no Python with the MCP SDK (pip install mcp)");
        return;
    };
    run_with_sdk(Command::new(python).arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_sdk.py")));
}

/// Where `TEST_MCP_NODE` names a folder that has the SDKs in its `node_modules`.
#[test]
#[expect(clippy::disallowed_methods, reason = "what the machine has is said by its environment")]
fn clients_of_the_typescript_sdks_are_answered() {
    let Some(packages) = std::env::var_os("TEST_MCP_NODE") else {
        eprintln!(
            "skipped: TEST_MCP_NODE names no folder with the MCP SDKs (npm install @modelcontextprotocol/sdk @modelcontextprotocol/client)"
        );
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_sdk.mjs");
    run_with_sdk(Command::new("node").arg(script).arg(packages));
}

#[test]
fn one_version_takes_batches() {
    let sandbox = two_projects();
    let batch = json!([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "search", "arguments": {"query": "lion"}}},
        {"id": "c", "method": 7},
    ]);
    let hello = |version: &str| {
        let client = json!({"name": "test", "version": "1"});
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client})
    };
    let mut client = Client::without_session(&sandbox, &sandbox.root(), &["one"]);
    assert_eq!(client.ask("initialize", hello("2025-03-26"))["result"]["protocolVersion"], "2025-03-26");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&batch);
    let answers = client.next();
    let of = |id: &str| answers.as_array().expect("a batch").iter().find(|one| one["id"] == id).expect("an answer");
    assert_eq!(answers.as_array().map(Vec::len), Some(3), "{answers}");
    assert!(of("a")["result"].is_object() && of("c")["error"]["code"] == -32600, "{answers}");
    assert!(of("b")["result"].to_string().contains("a.py:1-2 function lion"), "{answers}");
    // Notifications alone are not answered.
    client.send(&json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]));
    assert!(client.ask("ping", json!({}))["result"].is_object());
    let mut client = Client::without_session(&sandbox, &sandbox.root(), &["one"]);
    client.ask("initialize", hello("2025-06-18"));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&batch);
    for id in ["a", "b", "c"] {
        let answer = client.next();
        assert!(answer["id"] == id && answer["error"]["code"] == -32600, "{answer}");
    }
}

#[test]
fn a_first_message_that_does_not_fit_ends_nothing() {
    let sandbox = Sandbox::of("relay");
    let mut new = Client::without_session(&sandbox, &sandbox.root(), &[]);
    let mut hello = json!({"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let refused = new.ask("initialize", hello.clone())["error"].clone();
    assert!(refused["code"] == -32602 && refused["message"].to_string().contains("protocolVersion"), "{refused}");
    hello["protocolVersion"] = json!("2025-06-18");
    assert_eq!(new.ask("initialize", hello)["result"]["serverInfo"]["name"], "colgrep");
}
