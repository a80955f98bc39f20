//! The language server, driven over its pipes as an editor does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::facts::queue;

struct EditorClient {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    number: u64,
    root: String,
}

impl EditorClient {
    /// Starts a server and shakes hands; what the server offers.
    fn start(sandbox: &Sandbox) -> (EditorClient, Value) {
        let mut client = EditorClient::new(sandbox);
        let folders = json!([{"uri": client.root, "name": "project"}]);
        let root = &client.root;
        let hello = json!({"processId": null, "rootUri": root, "workspaceFolders": folders, "capabilities": {}});
        let offered = client.good("initialize", hello);
        client.note("initialized", json!({}));
        (client, offered)
    }

    /// Starts a server.
    fn new(sandbox: &Sandbox) -> EditorClient {
        EditorClient::in_folder(sandbox, &sandbox.root())
    }

    /// Starts a server in a folder.
    fn in_folder(sandbox: &Sandbox, folder: &std::path::Path) -> EditorClient {
        let mut command = sandbox.command(&["lsp", "--stdio"]);
        command.current_dir(folder);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let (to, from) = (server.stdin.take().expect("a pipe"), server.stdout.take().expect("a pipe"));
        let root = format!("file://{}", sandbox.root().display());
        EditorClient { server, to, from: BufReader::new(from), number: 0, root }
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("a server that reads");
        self.to.flush().expect("a server that reads");
    }

    fn note(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}));
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("an answer") > 0, "{method}: the server ended");
            if let Some(value) = line.trim().strip_prefix("Content-Length: ") {
                length = value.parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).expect("a body");
        let answer: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(answer["id"], self.number, "{answer}");
        answer
    }

    fn good(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn uri(&self, path: &str) -> String {
        format!("{}/{path}", self.root)
    }

    /// The names of a document's symbols, those inside one in parentheses.
    fn outline(&mut self, path: &str) -> String {
        fn told(symbols: &Value) -> String {
            let one = |symbol: &Value| {
                let (name, inner) = (symbol["name"].as_str().expect("a name"), &symbol["children"]);
                if inner.is_null() { name.to_string() } else { format!("{name}({})", told(inner)) }
            };
            symbols.as_array().expect("symbols").iter().map(one).collect::<Vec<_>>().join(" ")
        }
        let document = json!({"textDocument": {"uri": self.uri(path)}});
        told(&self.good("textDocument/documentSymbol", document))
    }

    /// Where a call hierarchy begins at a position, both from 0.
    fn prepared(&mut self, path: &str, line: u32, character: u32) -> Value {
        let at = json!({"textDocument": {"uri": self.uri(path)}, "position": {"line": line, "character": character}});
        self.good("textDocument/prepareCallHierarchy", at)
    }

    /// Ends the server as the protocol says; its exit status.
    fn end(mut self) -> Option<i32> {
        assert_eq!(self.good("shutdown", Value::Null), Value::Null);
        self.note("exit", Value::Null);
        self.server.wait().expect("an end").code()
    }
}

#[test]
fn a_server_offers_what_it_does() {
    let sandbox = queue();
    let (client, offered) = EditorClient::start(&sandbox);
    let offered = &offered["capabilities"];
    let mut names: Vec<&String> = offered.as_object().expect("capabilities").keys().collect();
    names.sort();
    let expected = ["callHierarchyProvider", "documentSymbolProvider", "textDocumentSync", "workspaceSymbolProvider"];
    assert_eq!(names, expected);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn symbols_of_the_workspace_are_ranked() {
    let sandbox = queue();
    let (mut client, _) = EditorClient::start(&sandbox);
    let found = client.good("workspace/symbol", json!({"query": "push"}));
    let first = &found[0];
    assert_eq!((&first["name"], &first["kind"], &first["containerName"]), (&json!("push"), &json!(6), &json!("Queue")));
    let range = json!({"start": {"line": 5, "character": 11}, "end": {"line": 5, "character": 15}});
    assert_eq!(first["location"], json!({"uri": client.uri("src/queue.rs"), "range": range}));
    assert_eq!(client.good("workspace/symbol", json!({"query": "!="})), json!([]));
    // What is typed so far is the beginning of a name, or some of its letters; nothing is the beginning of any.
    sandbox.write("src/run.rs", "/// Pus comes out.\npub fn run() {}\n");
    for (query, expected) in [("pus", "push"), ("PUS", "push"), ("rsv", "reserve"), ("ru", "run")] {
        let found = client.good("workspace/symbol", json!({"query": query}));
        assert_eq!(found[0]["name"].as_str().map(str::to_lowercase).as_deref(), Some(expected), "{query}: {found}");
    }
    let all = client.good("workspace/symbol", json!({"query": ""}));
    let names: Vec<&str> = all.as_array().expect("symbols").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(["push", "grow", "reserve", "fill"].iter().all(|name| names.contains(name)), "{names:?}");
    assert_eq!(client.good("workspace/symbol", json!({"query": "zzqqx"})), json!([]));
    // Files that are new since the last request are found.
    sandbox.write("src/stack.rs", "pub fn unstack() {}\n");
    assert_eq!(client.good("workspace/symbol", json!({"query": "unstack"}))[0]["name"], "unstack");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn symbols_of_a_document_follow_what_is_typed() {
    let sandbox = queue();
    let (mut client, _) = EditorClient::start(&sandbox);
    let uri = client.uri("src/queue.rs");
    assert_eq!(client.outline("src/queue.rs"), "Queue Queue(push) grow reserve");
    let opened = json!({"uri": uri, "languageId": "rust", "version": 1, "text": "fn fresh() {}\n"});
    client.note("textDocument/didOpen", json!({"textDocument": opened}));
    assert_eq!(client.outline("src/queue.rs"), "fresh");
    let changes = json!([{"text": "fn fresh() {}\n\nfn second() {}\n"}]);
    client
        .note("textDocument/didChange", json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": changes}));
    assert_eq!(client.outline("src/queue.rs"), "fresh second");
    client.note("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(client.outline("src/queue.rs"), "Queue Queue(push) grow reserve");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn calls_are_a_hierarchy() {
    let sandbox = queue();
    let (mut client, _) = EditorClient::start(&sandbox);
    // At its definition, and at a call.
    let items = client.prepared("src/queue.rs", 10, 4);
    let called = client.prepared("src/queue.rs", 6, 9);
    assert_eq!((&items[0]["name"], &items[0]["selectionRange"]["start"]["line"]), (&json!("grow"), &json!(10)));
    assert_eq!((&called[0]["name"], &called[0]["selectionRange"]), (&json!("grow"), &items[0]["selectionRange"]));
    assert_eq!(client.prepared("src/queue.rs", 2, 0), Value::Null);
    let incoming = client.good("callHierarchy/incomingCalls", json!({"item": items[0]}));
    assert_eq!(incoming.as_array().expect("calls").len(), 1, "{incoming}");
    assert_eq!(incoming[0]["from"]["name"], "push");
    assert_eq!(incoming[0]["fromRanges"][0]["start"], json!({"line": 6, "character": 8}));
    let outgoing = client.good("callHierarchy/outgoingCalls", json!({"item": items[0]}));
    assert_eq!(outgoing.as_array().expect("calls").len(), 1, "{outgoing}");
    assert_eq!(outgoing[0]["to"]["name"], "reserve");
    assert_eq!(outgoing[0]["fromRanges"][0]["start"], json!({"line": 11, "character": 4}));
    let incoming = client.good("callHierarchy/incomingCalls", json!({"item": incoming[0]["from"]}));
    let names: Vec<&Value> = incoming.as_array().expect("calls").iter().map(|call| &call["from"]["name"]).collect();
    assert_eq!(names, [&json!("fill"), &json!("it_pushes")]);
    // A comment that names it is no call.
    let lines: Vec<&Value> = incoming[0]["fromRanges"].as_array().expect("ranges").iter().collect();
    assert_eq!(lines.iter().map(|range| &range["start"]["line"]).collect::<Vec<_>>(), [&json!(4)], "{incoming}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn calls_are_found_from_and_in_texts_that_are_not_saved() {
    let sandbox = queue();
    sandbox.write("src/a @b/more.rs", "fn more(queue: &mut Queue) {\n    grow(queue);\n}\n");
    let (mut client, _) = EditorClient::start(&sandbox);
    let saved = |path: &str| std::fs::read_to_string(sandbox.root().join(path)).expect("a file");
    let open = |client: &mut EditorClient, path: &str, uri: &str| {
        let text = format!("// new\n// new\n// new\n// new\n{}", saved(path));
        let document = json!({"uri": uri, "languageId": "rust", "version": 1, "text": text});
        client.note("textDocument/didOpen", json!({"textDocument": document}));
    };
    let uri = client.uri("src/queue.rs");
    open(&mut client, "src/queue.rs", &uri);
    // Editors write one address in several ways.
    let uri = client.uri("src/a%20@b/more.rs");
    open(&mut client, "src/a @b/more.rs", &uri);
    let items = client.prepared("src/queue.rs", 14, 4);
    assert_eq!(items[0]["name"], "grow");
    let incoming = client.good("callHierarchy/incomingCalls", json!({"item": items[0]}));
    let told = |call: &Value| (call["from"]["name"].clone(), call["fromRanges"][0]["start"]["line"].clone());
    let calls: Vec<_> = incoming.as_array().expect("calls").iter().map(told).collect();
    assert_eq!(calls, [(json!("push"), json!(10)), (json!("more"), json!(5))], "{incoming}");
    let outgoing = client.good("callHierarchy/outgoingCalls", json!({"item": items[0]}));
    assert_eq!(outgoing[0]["to"]["name"], "reserve", "{outgoing}");
    assert_eq!(outgoing[0]["to"]["selectionRange"]["start"]["line"], 18, "{outgoing}");
    let found = client.good("workspace/symbol", json!({"query": "reserve"}));
    assert_eq!(found[0]["location"]["range"]["start"]["line"], 18, "{found}");
    // A document without a file has symbols.
    let document = json!({"uri": "untitled:new.rs", "languageId": "rust", "version": 1, "text": "fn new() {}\n"});
    client.note("textDocument/didOpen", json!({"textDocument": document}));
    let document =
        json!({"uri": "untitled:Untitled-1", "languageId": "python", "version": 1, "text": "def new(): pass\n"});
    client.note("textDocument/didOpen", json!({"textDocument": document}));
    for (uri, character) in [("untitled:new.rs", 3), ("untitled:Untitled-1", 4)] {
        let document = json!({"uri": uri});
        let symbols = client.good("textDocument/documentSymbol", json!({"textDocument": document}));
        assert_eq!(symbols[0]["name"], "new", "{uri}");
        let at = json!({"textDocument": document, "position": {"line": 0, "character": character}});
        let items = client.good("textDocument/prepareCallHierarchy", at);
        assert_eq!(items[0]["name"], "new", "{uri}");
        for method in ["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"] {
            assert_eq!(client.good(method, json!({"item": items[0]})), json!([]), "{uri}");
        }
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn calls_on_the_lines_of_definitions_are_found() {
    let sandbox = queue();
    sandbox.write("src/short.rs", "fn outer() { inner(); }\nfn inner() {}\nfn again() { again(); inner() }\n");
    let (mut client, _) = EditorClient::start(&sandbox);
    assert_eq!(client.outline("src/short.rs"), "outer inner again");
    let items = client.prepared("src/short.rs", 1, 4);
    let mut item = items[0].clone();
    assert_eq!(item["name"], "inner");
    // Clients may send what is empty as null.
    item["detail"] = Value::Null;
    let calls = client.good("callHierarchy/incomingCalls", json!({"item": item}));
    let told = |call: &Value| (call["from"]["name"].clone(), call["fromRanges"].clone());
    let range =
        |line, from, to| json!([{"start": {"line": line, "character": from}, "end": {"line": line, "character": to}}]);
    let expected = [(json!("outer"), range(0, 13, 18)), (json!("again"), range(2, 22, 27))];
    assert_eq!(calls.as_array().expect("calls").iter().map(told).collect::<Vec<_>>(), expected);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_workspace_may_be_named_by_its_path() {
    let sandbox = queue();
    let (root, folder) = (sandbox.root(), tempfile::tempdir().expect("a folder"));
    let mut client = EditorClient::in_folder(&sandbox, folder.path());
    let hello =
        json!({"processId": null, "rootPath": root, "rootUri": null, "workspaceFolders": null, "capabilities": {}});
    client.good("initialize", hello);
    assert_eq!(client.good("workspace/symbol", json!({"query": "push"}))[0]["name"], "push");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn who_leaves_without_shutting_down_gets_another_status() {
    let sandbox = queue();
    let (mut client, _) = EditorClient::start(&sandbox);
    client.note("exit", Value::Null);
    assert_eq!(client.server.wait().expect("an end").code(), Some(1));
}

#[test]
fn requests_before_the_beginning_and_after_the_end_are_refused() {
    let sandbox = queue();
    let mut client = EditorClient::new(&sandbox);
    let ask =
        |client: &mut EditorClient| client.ask("workspace/symbol", json!({"query": "push"}))["error"]["code"].clone();
    assert_eq!(ask(&mut client), -32002);
    client.note("initialized", json!({}));
    assert_eq!(ask(&mut client), -32002);
    let hello = json!({"processId": null, "rootUri": client.root, "capabilities": {}});
    client.good("initialize", hello.clone());
    // Without the note that follows, too.
    assert_eq!(client.good("workspace/symbol", json!({"query": "push"}))[0]["name"], "push");
    assert_eq!(client.ask("initialize", hello)["error"]["code"], -32600);
    assert_eq!(client.good("shutdown", Value::Null), Value::Null);
    assert_eq!(ask(&mut client), -32600);
    assert_eq!(client.ask("shutdown", Value::Null)["error"]["code"], -32600);
    client.note("exit", Value::Null);
    assert_eq!(client.server.wait().expect("an end").code(), Some(0));
}

#[test]
fn other_requests_are_refused_and_the_server_lives() {
    let sandbox = queue();
    let (mut client, _) = EditorClient::start(&sandbox);
    assert_eq!(client.ask("textDocument/hover", json!({}))["error"]["code"], -32601);
    for (method, params, told) in [
        ("workspace/symbol", json!({"query": 1}), "query: "),
        ("textDocument/documentSymbol", Value::Null, "missing field `textDocument`"),
        ("textDocument/documentSymbol", json!({"textDocument": null}), "textDocument: "),
        (
            "textDocument/prepareCallHierarchy",
            json!({"textDocument": {"uri": "file:///a"}}),
            "missing field `position`",
        ),
        ("callHierarchy/incomingCalls", json!({"item": {"name": "push"}}), "item: missing field"),
        ("callHierarchy/outgoingCalls", json!({}), "missing field `item`"),
    ] {
        let refused = client.ask(method, params.clone())["error"].clone();
        let message = refused["message"].as_str().expect("a message");
        assert!(
            refused["code"] == -32602 && message.contains(told) && !message.contains("struct"),
            "{params}: {message}"
        );
    }
    // No query asks for all, whatever else is sent.
    for params in [Value::Null, json!({}), json!({"query": null, "workDoneToken": null, "other": 1})] {
        assert!(client.good("workspace/symbol", params)[0]["name"].is_string());
    }
    let missing = json!({"textDocument": {"uri": client.uri("src/nosuch.rs")}});
    assert_eq!(client.ask("textDocument/documentSymbol", missing)["error"]["code"], -32803);
    assert_eq!(client.outline("src/fill.rs"), "fill Push refill");
    assert_eq!(client.end(), Some(0));
}

/// Neovim's own client asks the server; fails without Neovim where `TEST_NEOVIM` says that there is one.
#[test]
#[expect(clippy::disallowed_methods, reason = "what the machine has is said by its environment")]
fn neovim_is_answered() {
    let sandbox = queue();
    let like = sandbox.command(&[]);
    let mut editor = Command::new("nvim");
    editor.args(["--clean", "--headless", "-S", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lsp_neovim.lua")]);
    editor.current_dir(sandbox.root()).envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    editor.env("LSP_COLGREP", env!("CARGO_BIN_EXE_colgrep")).stdin(Stdio::null());
    let output = match editor.output() {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("TEST_NEOVIM").is_none(), "no nvim: {error}");
            eprintln!("skipped: nvim does not run ({error})");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stdout));
}
