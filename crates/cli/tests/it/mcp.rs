//! The MCP server, spoken to as a client speaks: lines of JSON-RPC over a pipe.

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use crate::common::Sandbox;
use crate::common::mcp::Client;
use crate::common::process::until;
use serde_json::{Value, json};

#[test]
fn tools_are_listed_with_their_schemas() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools");
    let mut names: Vec<&str> = tools.iter().map(|t| t["name"].as_str().expect("a name")).collect();
    names.sort_unstable();
    assert_eq!(names, ["history", "impact", "outline", "search", "status"], "the others are not listed");
    for tool in tools {
        assert!(tool["description"].as_str().is_some_and(|d| d.ends_with('.')), "{tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        for (name, property) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{}.{name} is not described", tool["name"]);
        }
        let required = if tool["name"] == "outline" { json!(["file"]) } else { Value::Null };
        assert_eq!(tool["inputSchema"]["required"], required, "{tool}");
        assert_eq!(tool["outputSchema"], Value::Null, "only programs that ask for it get structured content");
        assert_eq!(tool["inputSchema"]["properties"]["project"]["type"], "string", "{tool}");
    }
    assert_eq!(client.end(), Some(0), "the server ends with its client");
}

/// The parts of a schema that some provider of models refuses, each with its place and the reason.
fn refused_parts(place: &str, schema: &Value, refused: &mut Vec<String>) {
    let Some(object) = schema.as_object() else { return refused.push(format!("{place}: no object")) };
    for key in ["$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "not", "format", "const", "additionalProperties"]
    {
        if object.contains_key(key) {
            refused.push(format!("{place}: {key}"));
        }
    }
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_else(|| panic!("{place}: one type: {schema}"));
    if let Some(least) = object.get("minimum").and_then(Value::as_f64)
        && (least == 0.0 || object.get("default").and_then(Value::as_f64).is_some_and(|default| default < least))
    {
        refused.push(format!("{place}: the minimum is of no use, or above the default"));
    }
    if object.get("enum").is_some_and(|values| values.as_array().is_none_or(Vec::is_empty)) {
        refused.push(format!("{place}: an enum without values"));
    }
    match kind {
        "object" => match object.get("properties").and_then(Value::as_object) {
            Some(properties) if !properties.is_empty() => {
                properties.iter().for_each(|(name, own)| refused_parts(&format!("{place}.{name}"), own, refused));
            }
            _ => refused.push(format!("{place}: an object without properties")),
        },
        "array" => match object.get("items") {
            Some(items) => refused_parts(&format!("{place}[]"), items, refused),
            None => refused.push(format!("{place}: a list without items")),
        },
        "string" | "integer" | "number" | "boolean" => {}
        other => refused.push(format!("{place}: {other}")),
    }
}

#[test]
fn every_provider_takes_the_schemas() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools");
    let mut refused = Vec::new();
    let mut characters = 0;
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        let is_name = name.len() <= 64 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        assert!(is_name && tool["description"].as_str().is_some_and(|text| text.len() <= 1_024), "{tool}");
        refused_parts(name, &tool["inputSchema"], &mut refused);
        let hints = ["readOnlyHint", "destructiveHint"].map(|hint| tool["annotations"][hint].as_bool());
        assert_eq!(hints, [Some(true), Some(false)], "{tool}");
        let text = tool["description"].as_str().unwrap_or_default();
        characters += name.len() + text.len() + tool["inputSchema"].to_string().len();
    }
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(characters <= 6_000, "a model reads {characters} characters");
    let on_wire = listed.to_string().len();
    assert!(on_wire <= 9_000, "{on_wire} characters on the wire");
    let property = |tool: &str, name: &str| {
        let tool = tools.iter().find(|one| one["name"] == tool).expect("the tool");
        tool["inputSchema"]["properties"][name].clone()
    };
    for (tool, name) in [("search", "results"), ("history", "results")] {
        assert_eq!(property(tool, name)["minimum"], 1, "{tool}.{name}");
    }
    for tool in tools {
        let tokens = property(tool["name"].as_str().expect("a name"), "max_tokens");
        assert_eq!((&tokens["minimum"], &tokens["maximum"]), (&json!(50), &json!(25_000)), "{tool}");
    }
    let kinds = &property("search", "kind")["items"]["enum"];
    assert_eq!(kinds.as_array().map(Vec::len), Some(7), "{kinds}");
    assert_eq!(property("search", "tests")["enum"], json!(["auto", "only", "exclude"]));
}

#[test]
fn search_does_what_the_other_tools_do() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("GUIDE.md", "Before any heading.\n\n# Setup\n\nInstall it.\n");
    let mut client = Client::start(&sandbox, &[]);
    let ring = "src/queue/ring.rs";
    for (asked, tool, same) in [
        (json!({"pattern": "MissingPath,"}), "grep", json!({"pattern": "MissingPath,"})),
        (
            json!({"pattern": "MISSINGPATH,", "ignore_case": true, "fixed": true, "word": false, "context": 1}),
            "grep",
            json!({"pattern": "MISSINGPATH,", "ignore_case": true, "fixed": true, "context": 1}),
        ),
        (json!({"pattern": "head", "file": ring}), "grep", json!({"pattern": "head", "paths": [ring]})),
        (json!({"name": "RingBuffer.pop"}), "read_unit", json!({"file": ring, "name": "RingBuffer.pop"})),
        (json!({"name": "RingBuffer::pop"}), "read_unit", json!({"file": ring, "name": "pop"})),
        (json!({"name": "pop()"}), "read_unit", json!({"file": ring, "name": "pop"})),
        (json!({"name": "pop", "file": ring}), "read_unit", json!({"file": ring, "name": "pop"})),
        (json!({"file": format!("{ring}:10")}), "read_unit", json!({"file": ring, "line": 10})),
        (json!({"file": format!("{ring}:9-11"), "query": ""}), "read_unit", json!({"file": ring, "line": 10})),
        (json!({"name": format!("{ring}:10")}), "read_unit", json!({"file": ring, "line": 10})),
        (json!({"name": "Setup"}), "read_unit", json!({"file": "GUIDE.md", "name": "Setup"})),
        (json!({"file": ring}), "outline", json!({"file": ring})),
        (json!({"like": format!("{ring}:4")}), "find_related", json!({"file": ring, "line": 4})),
        (json!({"query": "push", "file": ring}), "search", json!({"query": "push", "paths": [ring]})),
    ] {
        assert_eq!(client.good("search", asked.clone()), client.good(tool, same), "{asked}");
    }
    let found = client.good("search", json!({"query": "parse_request", "results": 1}));
    let id = found.split_once('#').and_then(|(_, id)| id.get(..16)).expect("an id");
    let by_id = client.good("read_unit", json!({"id": id}));
    assert_eq!(client.good("search", json!({"name": format!("#{id}")})), by_id);
    for (asked, why) in [
        (json!({"name": "no_such_unit"}), "no unit in what is searched is named \"no_such_unit\""),
        (json!({"file": "src/nosuch.rs:4"}), "src/nosuch.rs is not a file"),
        (json!({"file": format!("{ring}:9999")}), "has no line 9999"),
        (json!({}), "query is empty"),
    ] {
        let (text, failed) = client.call("search", asked.clone());
        assert!(failed && text.contains(why), "{asked}: {text}");
    }
}

#[test]
fn a_name_that_several_units_have_shows_one_and_names_the_others() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.py", "class Store:\n    def close(self):\n        return 1\n");
    sandbox.write("src/b.py", "class Pool:\n    def close(self):\n        return 2\n");
    let mut client = Client::start(&sandbox, &[]);
    let text = client.good("search", json!({"name": "close"}));
    let others = text.lines().last().expect("a remark");
    assert!(text.starts_with("src/") && others.starts_with("(also of this name: src/"), "{text}");
    assert!(
        text.contains("src/a.py:2-3 method Store.close") && text.contains("src/b.py:2-3 method Pool.close"),
        "{text}"
    );
    let text = client.good("search", json!({"name": "Pool.close"}));
    assert!(text.starts_with("src/b.py:2-3 method Pool.close\n") && !text.contains("also of this name"), "{text}");
}

#[test]
fn a_name_is_read_however_it_is_written_and_within_what_is_asked() {
    let sandbox = Sandbox::new();
    sandbox.write("net/tcp.rs", "pub struct Line;\n\nimpl Line {\n    pub fn push(&self, item: u32) {}\n}\n");
    sandbox.write("disk/line.rs", "pub fn push() {}\n\npub struct push;\n");
    let mut client = Client::start(&sandbox, &[]);
    let method = "net/tcp.rs:4-4 method Line.push\n4:     pub fn push(&self, item: u32) {}\n";
    for name in
        ["Line.push", "Line::push()", "`Line::push`", "\"Line.push\"", "'Line#push'", "Line->push", "Line\\push"]
    {
        assert_eq!(client.good("search", json!({"name": name})), method, "{name}");
    }
    for (limits, expected) in [
        (json!({"paths": "net"}), "net/tcp.rs:4-4 method Line.push\n"),
        (json!({"file": "net"}), "net/tcp.rs:4-4 method Line.push\n"),
        (json!({"paths": ["disk"], "kind": "function"}), "disk/line.rs:1-1 function push\n"),
        (json!({"kind": ["class"]}), "disk/line.rs:3-3 class push\n"),
    ] {
        let mut asked = limits.clone();
        asked["name"] = json!("push");
        let text = client.good("search", asked);
        let is_one = text.starts_with(expected) && !text.contains("also of this name");
        assert!(is_one, "{limits}: {text}");
    }
    // What is near is named.
    let (text, failed) = client.call("search", json!({"name": "tcp.Line.push(item)"}));
    assert!(failed && text.contains("near it: net/tcp.rs:4-4 method Line.push"), "{text}");
    // A search for similar units has limits too.
    let like = |limits: Value, client: &mut Client| {
        let mut asked = limits;
        asked["like"] = json!("net/tcp.rs:4");
        client.good("search", asked)
    };
    assert!(like(json!({}), &mut client).contains("disk/line.rs"));
    for limits in [json!({"paths": "net"}), json!({"exclude": "disk/"}), json!({"languages": "python"})] {
        assert!(!like(limits.clone(), &mut client).contains("disk/line.rs"), "{limits}");
    }
    let (text, failed) = client.call("search", json!({"like": "push"}));
    assert!(failed && text.contains("like takes FILE:LINE or the #id of a unit"), "{text}");
}

#[test]
fn what_is_left_empty_asks_for_nothing() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let plain = client.good("search", json!({"query": "push"}));
    let mut filled = json!({"query": "push"});
    for tool in client.ask("tools/list", json!({}))["result"]["tools"].as_array().expect("tools") {
        let properties = tool["inputSchema"]["properties"].as_object().expect("properties");
        for (name, _) in properties.iter().filter(|(name, _)| tool["name"] == "search" && *name != "query") {
            filled[name] = json!("");
        }
    }
    assert_eq!(client.good("search", filled.clone()), plain, "{filled}");
    for name in ["paths", "include", "languages", "kind", "queries", "calls"] {
        assert_eq!(client.good("search", json!({"query": "push", name: [""]})), plain, "{name}");
    }
    let (text, failed) = client.call("search", json!({"query": "push", "paths": "src/*.rs"}));
    assert!(failed && text.contains("`include` takes globs"), "{text}");
}

#[test]
fn lines_outside_of_units_are_read_too() {
    let sandbox = Sandbox::new();
    sandbox.write("notes.txt", "one\ntwo\nthree\n");
    sandbox.write("a.py", "\n\n\ndef lion():\n    return 1\n\n\n\n");
    let mut client = Client::start(&sandbox, &[]);
    for (file, line, expected) in [("notes.txt:2", "2: two", "notes.txt:1-"), ("a.py:2", "2: ", "a.py:1-3")] {
        let text = client.good("read_unit", json!({"file": file}));
        assert!(text.starts_with(expected) && text.contains(&format!("\n{line}")), "{file}: {text}");
    }
}

/// Characters of all that a result brings, as a model may be shown it.
fn length(result: &Value) -> usize {
    let texts = result["content"].as_array().expect("content").iter();
    let text: usize = texts.filter_map(|block| block["text"].as_str()).map(str::len).sum();
    text + result.get("structuredContent").map_or(0, |content| content.to_string().len())
}

#[test]
fn the_whole_answer_keeps_its_bound_and_carries_its_remarks() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("long.txt", &"a line of a zebra\n".repeat(20_000));
    let mut client = Client::start(&sandbox, &[]);
    let mut ask = |tool: &str, mut arguments: Value, tokens: usize| {
        arguments["max_tokens"] = json!(tokens);
        client.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone()
    };
    for tokens in [50, 100, 300, 1_000, 25_000] {
        for (tool, arguments) in [
            ("search", json!({"query": "parse request"})),
            ("search", json!({"query": "parse request", "results": 1_000, "offset": 0})),
            ("search", json!({"query": "parse", "content": true, "all": true})),
            ("search", json!({"query": "zebra", "pack": 100_000})),
            ("search", json!({"pattern": "zebra"})),
            ("search", json!({"name": "RingBuffer"})),
            ("search", json!({"calls": "parse_request"})),
            ("find_related", json!({"file": "src/queue/ring.rs:4"})),
            ("outline", json!({"file": "src/queue/ring.rs"})),
            ("status", json!({})),
        ] {
            let result = ask(tool, arguments.clone(), tokens);
            assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
            assert!(result.get("structuredContent").is_none(), "{tool} {arguments}: {result}");
            let length = length(&result);
            assert!(length <= 4 * tokens, "{tool} {arguments} {tokens}: {length}: {result}");
        }
    }
    let several = json!({"query": "parse", "queries": ["ring", "queue"]});
    assert!(length(&ask("search", several.clone(), 400)) <= 1_600);
    let refused = ask("search", several, 100);
    assert!(refused["isError"] == true && refused.to_string().contains("too little for 3 questions"), "{refused}");
    let blocks = ask("search", json!({"query": "parse request"}), 1_000);
    let text = blocks["content"][0]["text"].as_str().expect("a text");
    assert_eq!(blocks["content"].as_array().map(Vec::len), Some(1), "one block: {blocks}");
    assert!(text.contains("(strength of each") && text.trim_end().ends_with(')') && text.contains("(root "), "{text}");
}

#[test]
fn an_answer_has_an_upper_bound_and_the_state_has_pages() {
    let sandbox = Sandbox::new();
    sandbox.write("long.txt", &"a line of a zebra\n".repeat(20_000));
    let mut client = Client::start(&sandbox, &[]);
    let text = client.good("grep", json!({"pattern": "zebra", "max_tokens": 25_000}));
    assert!(text.len() <= 100_000 && text.contains(" lines: offset "), "{} bytes", text.len());
    client.good("search", json!({"query": "zebra"}));
    until("watched", || client.good("status", json!({})).contains("as they happen"));
    let first = client.good("status", json!({}));
    let second = client.good("status", json!({"offset": 1}));
    assert_eq!(first.split_once('\n').expect("lines").1, second);
    for (tool, asked, told) in [
        ("grep", json!({"pattern": "zebra", "max_tokens": 25_001}), "max_tokens takes a number from 50 to 25000"),
        ("search", json!({"query": "zebra", "max_tokens": 49}), "max_tokens takes a number from 50 to 25000"),
        ("status", json!({"random_string": "x"}), "there is no parameter \"random_string\" here; leave it out"),
        ("status", json!({"max_token": 100}), "did you mean \"max_tokens\"?"),
    ] {
        let (text, failed) = client.call(tool, asked.clone());
        assert!(failed && text.contains(told), "{tool} {asked}: {text}");
    }
}

#[test]
fn an_empty_pattern_of_a_search_asks_for_nothing() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let plain = client.good("search", json!({"query": "parse request"}));
    assert_eq!(client.good("search", json!({"query": "parse request", "pattern": ""})), plain);
}

#[test]
fn units_are_read_as_answers_name_their_lines() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let whole = "src/http/parse.rs:19-25 function parse_request\n19: pub fn parse_request(";
    let with_documentation = "src/http/parse.rs:19-25 function parse_request\n18: /// Parses a request";
    for (arguments, expected) in [
        (json!({"file": "src/http/parse.rs", "line": 18}), with_documentation),
        (json!({"file": "src/http/parse.rs:18"}), with_documentation),
        (json!({"file": "src/http/parse.rs:20"}), whole),
        (json!({"file": "src/http/parse.rs:20:5"}), whole),
        (json!({"file": "src/http/parse.rs:19-25"}), whole),
        (json!({"file": "src/http/parse.rs:3", "line": 20}), whole),
    ] {
        let text = client.good("read_unit", arguments.clone());
        assert!(text.starts_with(expected), "{arguments}: {text}");
    }
    assert_eq!(
        client.good("find_related", json!({"file": "src/queue/ring.rs:4"})),
        client.good("find_related", json!({"file": "src/queue/ring.rs", "line": 4})),
    );
    client.good("outline", json!({"file": "src/queue/ring.rs:4"}));
    let (text, failed) = client.call("read_unit", json!({"file": "src/nosuch.rs:4"}));
    assert!(failed && text.contains("src/nosuch.rs is not a file"), "{text}");
}

#[test]
fn every_tool_answers() {
    let sandbox = Sandbox::of("relay");
    let twin = "    def twin(self):\n        return 1\n";
    sandbox.write("twins.py", &format!("class A:\n{twin}\n\nclass B:\n{twin}"));
    let mut client = Client::start(&sandbox, &[]);
    for (tool, arguments, expected) in [
        (
            "search",
            json!({"query": "parse request", "results": 1}),
            "src/http/parse.rs:19-25 function parse_request #275406ef486686bc\n18: /// Parses a request: its first line, then its body.\n19: pub fn parse_request(",
        ),
        (
            "search",
            json!({"query": "parse request", "results": 1, "pack": 0}),
            "src/http/parse.rs:19-25 function parse_request\n    pub fn parse_request(bytes: &[u8]) -> Result<Request, ParseError>\n    #275406ef486686bc; also here: 4 units\n(there may be more results: offset 1)\n",
        ),
        (
            "search",
            json!({"query": "RingBuffer", "results": 1, "content": true, "paths": ["src/queue"], "languages": ["rust"]}),
            "src/queue/ring.rs:3-6 class RingBuffer\n3: pub struct RingBuffer {\n4:     slots: Vec<Option<String>>,\n5:     head: usize,\n6: }\n    #",
        ),
        ("search", json!({"query": "parse", "pattern": "is_err", "tests": "only"}), "tests/parse_test.rs:"),
        ("search", json!({"query": "zzzqqq"}), "(no results)\n(nothing in what is searched holds \"zzzqqq\")\n"),
        ("grep", json!({"pattern": "MissingPath,"}), "src/http/parse.rs:15:    MissingPath,\n"),
        ("grep", json!({"pattern": "b\"GET /\"", "fixed": true, "include": ["*_test.rs"]}), "tests/parse_test.rs:"),
        ("grep", json!({"pattern": "zzzqqq"}), "(no lines)\n"),
        ("outline", json!({"file": "src/queue/ring.rs", "offset": 1}), "       8-24  class     impl RingBuffer\n"),
        (
            "read_unit",
            json!({"file": "src/queue/ring.rs", "line": 10}),
            "src/queue/ring.rs:9-11 method RingBuffer.with_capacity\n9:     pub fn with_capacity(",
        ),
        ("read_unit", json!({"file": "src/queue/ring.rs", "name": "RingBuffer.pop"}), "src/queue/ring.rs:21-23 method"),
        (
            "read_unit",
            json!({"file": "src/queue/ring.rs", "name": "pop", "line": 10}),
            "src/queue/ring.rs:21-23 method",
        ),
        ("read_unit", json!({"file": "twins.py", "name": "twin", "line": 9}), "twins.py:7-8 method B.twin"),
        ("read_unit", json!({"file": "twins.py", "name": "twin", "line": 2}), "twins.py:2-3 method A.twin"),
        ("find_related", json!({"file": "src/queue/ring.rs", "line": 4, "results": 1}), "src/"),
        ("status", json!({}), "root ROOT\n  14 files and "),
    ] {
        let text = client.good(tool, arguments.clone());
        assert!(text.starts_with(expected), "{tool} {arguments}: {text}");
    }
}

#[test]
fn a_search_is_a_pack_of_its_length_unless_pages_are_asked_for() {
    let sandbox = Sandbox::new();
    for i in 0..30 {
        let body: String = (0..40).map(|n| format!("    step_{n} = 'widget {i}'\n")).collect();
        sandbox.write(&format!("f{i:02}.py"), &format!("def widget_{i}():\n    \"\"\"A widget.\"\"\"\n{body}"));
    }
    let mut client = Client::start(&sandbox, &[]);
    for (tokens, rows) in [(150, 2), (300, 5), (1_000, 10)] {
        let text = client.good("search", json!({"query": "widget", "max_tokens": tokens}));
        assert!(text.len() <= 4 * tokens && text.lines().count() > rows, "{} bytes: {text}", text.len());
        assert!(text.contains("1: def widget_") && text.contains("more results: offset "), "{text}");
    }
    let asked = json!({"query": "widget", "queries": ["step"], "max_tokens": 600});
    assert!(client.good("search", asked).len() <= 2_500, "each question has its share");
    for pages in [json!({"offset": 0}), json!({"pack": 0}), json!({"per_file": 1}), json!({"lines": 2})] {
        let mut asked = pages.clone();
        asked["query"] = json!("widget");
        let text = client.good("search", asked);
        let named = text.lines().filter(|line| line.starts_with('f') && line.ends_with(|c: char| c.is_ascii_digit()));
        assert_eq!(named.count(), 10, "{pages}: {text}");
    }
}

#[test]
fn secrets_and_what_is_gits_are_not_served_by_name() {
    let sandbox = Sandbox::of("relay");
    for path in [".env", "deploy/server.pem", ".git/config.py"] {
        sandbox.write(path, "def zebra():\n    return 1\n");
    }
    let mut client = Client::start(&sandbox, &[]);
    for path in [".env", "deploy/server.pem", ".git/config.py", ".git"] {
        let why = if path.contains("git") { "belongs to git" } else { "looks like a secret" };
        for (tool, arguments) in [
            ("outline", json!({"file": path})),
            ("read_unit", json!({"file": path, "line": 1})),
            ("find_related", json!({"file": path, "line": 1})),
            ("grep", json!({"pattern": "zebra", "paths": [path]})),
            ("search", json!({"query": "zebra", "paths": [path]})),
        ] {
            let (text, failed) = client.call(tool, arguments);
            assert!(failed && text.contains(why) && !text.contains("return 1"), "{tool} {path}: {text}");
        }
    }
    drop(client);
    let mut all = Client::start(&sandbox, &["--hidden"]);
    assert_eq!(all.good("grep", json!({"pattern": "zebra", "paths": [".env"]})), ".env:1:def zebra():\n");
}

#[test]
fn mistakes_are_told_to_the_agent() {
    let sandbox = Sandbox::of("relay");
    std::fs::write(sandbox.data().with_file_name("secret.rs"), "fn secret() {}").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(sandbox.data().with_file_name("secret.rs"), sandbox.root().join("link.rs"))
        .expect("a link");
    sandbox.write(".hidden.rs", "fn hidden() {}\n");
    let mut client = Client::start(&sandbox, &[]);
    let outside = "is not a file or folder inside the roots of this server: ROOT";
    for (tool, arguments, expected) in [
        ("search", json!({"query": " "}), "query is empty"),
        ("search", json!({"query": "x", "results": 0}), "results takes a number from 1 on, not 0"),
        ("search", json!({"query": "x", "paths": ["../"]}), outside),
        ("search", json!({"query": "x", "languages": ["klingon"]}), "`languages` takes bash, c, cpp, "),
        ("search", json!({"query": "x", "pattern": "a(b"}), "is not a valid pattern; `fixed` searches"),
        ("search", json!({"query": "x", "tests": "all"}), "tests takes auto, only or exclude"),
        ("search", json!({"question": "x"}), "there is no parameter \"question\" here"),
        ("grep", json!({"pattern": "a(b"}), "is not a valid pattern; `fixed` searches for it as plain text: "),
        ("grep", json!({"pattern": "a\nb", "fixed": true}), "asks for the end of a line"),
        ("grep", json!({"pattern": "a", "paths": ["/etc"]}), outside),
        ("outline", json!({"file": "../secret.rs"}), outside),
        ("outline", json!({"file": "link.rs"}), outside),
        ("read_unit", json!({"file": "/etc/passwd", "line": 1}), outside),
        ("read_unit", json!({"file": "src/main.rs"}), "give `line` or `name`"),
        ("read_unit", json!({"file": "src/main.rs", "name": "nosuch"}), "has no unit named nosuch"),
        ("read_unit", json!({"file": "src/main.rs", "name": "nosuch", "line": 1}), "has no unit named nosuch"),
        ("find_related", json!({"file": "src/main.rs", "line": 999}), "has no unit on line 999; `outline` lists"),
        (
            "find_related",
            json!({"file": ".hidden.rs", "line": 1}),
            ".hidden.rs is not indexed; `outline` and `pattern` read",
        ),
        ("find_related", json!({"file": "nowhere.rs", "line": 1}), outside),
    ] {
        let (text, is_error) = client.call(tool, arguments.clone());
        assert!(is_error && text.contains(expected), "{tool} {arguments}: {text}");
        let is_of_flags = ["`colgrep ", "-F", "-U"].iter().any(|flag| text.contains(flag));
        assert!(!is_of_flags, "in the tools' words: {text}");
    }
    let unranked = client.good("search", json!({"query": "hidden", "paths": [".hidden.rs", "src"]}));
    assert!(
        unranked.contains("(.hidden.rs is not indexed (hidden), so it is not ranked; `pattern` alone finds"),
        "{unranked}"
    );
    assert!(client.good("search", json!({"query": "parse"})).contains("parse"), "and the server goes on");
}

#[test]
fn mistakes_of_the_protocol_have_its_codes() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    for (method, params, code) in [
        ("tools/call", json!({"arguments": {}}), -32602),
        ("tools/call", json!({"name": 7}), -32602),
        ("tools/call", json!({"name": "nosuch", "arguments": {}}), -32602),
        ("nosuch/method", json!({}), -32601),
    ] {
        let answer = client.ask(method, params.clone());
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
        let told = answer["error"]["message"].to_string();
        assert!(told.contains("nosuch") || told.contains("takes a name"), "{method} {params}: {told}");
    }
    assert!(client.good("search", json!({"query": "parse"})).contains("parse"), "and the server goes on");
}

#[test]
fn every_line_is_answered() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let long = "x".repeat(16 << 20);
    for (line, id, code) in [
        ("{not json".to_string(), Value::Null, -32700),
        (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{long}"}}}}"#), json!(7), -32600),
        (r#"{"jsonrpc":"2.0","id":"a","method":["x"]}"#.to_string(), json!("a"), -32600),
        ("[]".to_string(), Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_string(), Value::Null, -32600),
    ] {
        writeln!(client.to.as_mut().expect("an open pipe"), "{line}").expect("a listening server");
        let mut answer = String::new();
        client.from.read_line(&mut answer).expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!((answer.get("id"), &answer["error"]["code"]), (Some(&id), &json!(code)), "{answer}");
    }
    assert!(client.good("search", json!({"query": "parse"})).contains("parse"), "and the server goes on");
}

#[cfg(target_os = "linux")]
fn threads(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count)
}

#[cfg(target_os = "linux")]
#[test]
fn many_requests_at_once_wait_their_turn() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    client.good("search", json!({"query": "parse"}));
    let before = threads(client.server.id());
    let mut to = client.to.take().expect("an open pipe");
    let writer = std::thread::spawn(move || {
        for id in 1_000..1_400 {
            let params = json!({"name": "search", "arguments": {"query": format!("parse {id}")}});
            writeln!(to, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
                .expect("sent");
        }
        to
    });
    let (mut most, mut answered) = (0, std::collections::BTreeSet::new());
    while answered.len() < 400 {
        most = most.max(threads(client.server.id()));
        let mut line = String::new();
        assert!(client.from.read_line(&mut line).expect("an answer") > 0, "the server ended");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert!(answered.insert(answer["id"].as_u64()), "{answer}");
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(most <= before + 2 * cores + 2, "{before} threads, then {most}");
    client.to = Some(writer.join().expect("a writer"));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_root_within_a_project_is_a_border() {
    let sandbox = Sandbox::of("relay");
    sandbox.run(&["init"]);
    let mut client = Client::start(&sandbox, &["src/queue"]);
    let text = client.good("search", json!({"query": "RingBuffer", "results": 50}));
    assert!(text.contains("ring.rs:3-6") && !text.contains("server.rs") && !text.contains("main.rs"), "{text}");
    let (text, is_error) = client.call("outline", json!({"file": "../main.rs"}));
    assert!(is_error && text.contains("inside the roots"), "{text}");
}

#[test]
fn pages_hold_everything_once() {
    let sandbox = Sandbox::new();
    for i in 0..30 {
        sandbox.write(&format!("f{i:02}.py"), &format!("def widget_{i}():\n    return 'widget {i}'\n"));
    }
    let mut client = Client::start(&sandbox, &[]);
    let mut seen: Vec<String> = Vec::new();
    let mut offset = 0;
    loop {
        let text =
            client.good("search", json!({"query": "widget", "results": 100, "offset": offset, "max_tokens": 150}));
        assert!(text.len() <= 600, "{} bytes: {text}", text.len());
        seen.extend(text.lines().filter(|l| l.starts_with('f')).map(str::to_string));
        let number = |rest: &str| rest.split(')').next().unwrap_or_default().parse::<usize>();
        match text.rsplit_once("offset ").map(|(_, rest)| number(rest)) {
            Some(Ok(next)) if next > offset => offset = next,
            _ => break,
        }
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((count, seen.len()), (30, 30), "{seen:?}");
    // So many units that more of them are retrieved for later pages, which must not show what was shown.
    for i in 0..150 {
        let units: String = (0..8)
            .map(|u| {
                format!(
                    "def gadget_{i}_{u}(door):\n    return door.{}\n\n",
                    "open ".repeat(u % 3 + i % 5 + 1).trim().replace(' ', ".")
                )
            })
            .collect();
        sandbox.write(&format!("gadgets/g{i:03}.py"), &units);
    }
    // Vectors that come between two pages change the order.
    assert_eq!(sandbox.run(&["init"]).status, 0);
    let (mut seen, mut offset) = (Vec::new(), 0);
    loop {
        let asked = json!({"query": "gadget opens the door", "results": 20, "offset": offset, "paths": ["gadgets"]});
        let text = client.good("search", asked);
        for line in text.lines().filter(|l| l.starts_with('g')) {
            let file = line.split(':').next().unwrap_or_default().to_string();
            assert!(!seen.contains(&file), "twice: {line}");
            seen.push(file);
        }
        offset += 20;
        if !text.contains("offset ") {
            break;
        }
    }
    // A pack's files are those of the first pages, in their order.
    let asked = json!({"query": "gadget opens the door", "results": 35, "paths": ["gadgets"]});
    let packed = client.result("search", asked);
    let hits = packed["structuredContent"]["hits"].as_array().expect("rows");
    let files: Vec<&str> = hits.iter().filter_map(|hit| hit["file"].as_str()).collect();
    assert!(!files.is_empty() && files == seen[..files.len()], "{packed}");
    assert_eq!(seen.len(), 150);
    sandbox.write("wide.txt", &"wide line ".repeat(100));
    let wide = client.good("grep", json!({"pattern": "wide", "max_tokens": 50}));
    assert!(wide.starts_with("wide.txt:1:wide line wide") && wide.contains("…\n(cut; ") && wide.len() <= 200, "{wide}");
    let grepped = client.good("grep", json!({"pattern": "def ", "max_tokens": 100}));
    assert!(grepped.len() <= 400 && grepped.contains("further lines: offset "), "{grepped}");
    sandbox.write("long.txt", &"many words\n".repeat(100_000));
    let many = client.good("grep", json!({"pattern": "words", "max_tokens": 100, "offset": 40_000}));
    assert!(many.len() <= 400 && many.contains(" or more further lines: offset 40"), "{many}");
}

#[test]
fn changes_are_seen_and_waiting_costs_nothing() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    until("watched", || client.good("status", json!({})).contains("as they happen"));
    for (name, round) in [("zeppelin", 1), ("balloon", 2), ("glider", 3)] {
        assert!(client.good("search", json!({"query": name})).starts_with("(no results)\n"), "before it is written");
        sandbox.write(&format!("src/new{round}/craft.rs"), &format!("fn {name}() {{}}\n"));
        let found = format!("src/new{round}/craft.rs:1-1");
        until("found", || client.good("search", json!({"query": name})).starts_with(&found));
    }
    #[cfg(target_os = "linux")]
    {
        let ticks = |pid: u32| -> u64 {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
            let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
            fields[11].parse::<u64>().expect("ticks") + fields[12].parse::<u64>().expect("ticks")
        };
        // What the last answer left to do may take a while on a busy machine.
        until("idle, without processor time", || {
            let before = ticks(client.server.id());
            std::thread::sleep(Duration::from_millis(1500));
            ticks(client.server.id()) == before
        });
    }
}

#[cfg(unix)]
#[test]
fn a_root_may_be_replaced() {
    let sandbox = Sandbox::new();
    sandbox.write("old.py", "def lion():\n    pass\n");
    let mut client = Client::start(&sandbox, &[]);
    until("watched", || client.good("status", json!({})).contains("as they happen"));
    assert!(client.good("search", json!({"query": "lion"})).starts_with("old.py:1-2"));
    let root = sandbox.root();
    std::fs::rename(&root, root.with_extension("old")).expect("moved");
    let (text, is_error) = client.call("search", json!({"query": "lion"}));
    assert!(is_error && text.contains("is no longer a folder"), "{text}");
    std::fs::create_dir(&root).expect("another root");
    sandbox.write("new.py", "def tiger():\n    pass\n");
    assert!(client.good("search", json!({"query": "lion"})).starts_with("(no results)\n"));
    assert!(client.good("search", json!({"query": "tiger", "paths": ["new.py"]})).contains("new.py:1-2"));
    assert!(client.good("read_unit", json!({"file": "new.py", "line": 1})).contains("def tiger"));
    assert!(client.good("grep", json!({"pattern": "tiger"})).starts_with("new.py:1:"));
    std::fs::remove_dir_all(&root).expect("removed");
    std::fs::create_dir(&root).expect("a third root");
    sandbox.write("newer.py", "def puma():\n    pass\n");
    assert!(client.good("grep", json!({"pattern": "puma"})).starts_with("newer.py:1:"));
}

#[test]
fn what_a_call_had_no_time_for_is_made_later() {
    let sandbox = Sandbox::of("relay").with_meaning();
    sandbox.run(&["parse request", "--keyword-only"]);
    let folder = std::fs::read_dir(sandbox.data()).expect("data").flatten().next().expect("an index").path();
    let lock = colgrep_index::store::Store::new(folder).lock(true).expect("the lock");
    let mut client = Client::start(&sandbox, &[]);
    let question = json!({"query": "parse request", "results": 1});
    let text = client.good("search", question.clone());
    let lacks = "(the index has no vectors of the embedded model";
    assert!(text.starts_with("src/http/parse.rs") && text.contains(lacks), "{text}");
    drop(lock);
    until("ranked by meaning", || !client.good("search", question.clone()).contains("vectors"));
}

#[test]
fn flags_of_the_server_and_patterns_of_a_search_count() {
    let sandbox = Sandbox::of("relay");
    sandbox.write(".hidden/note.txt", "a zebra\n");
    let mut plain = Client::start(&sandbox, &[]);
    assert_eq!(plain.good("grep", json!({"pattern": "zebra"})), "(no lines)\n");
    let found = plain.good("search", json!({"query": "ring buffer", "pattern": "self.head \\+= 1", "results": 1}));
    assert!(found.contains("self.head += 1;\n"), "{found}");
    let none = plain.call("search", json!({"query": "ring buffer", "per_file": 0}));
    assert_eq!(none, ("per_file takes a number from 1 on, not 0".to_string(), true));
    assert_eq!(plain.end(), Some(0));
    let mut all = Client::start(&sandbox, &["--hidden"]);
    assert_eq!(all.good("grep", json!({"pattern": "zebra"})), ".hidden/note.txt:1:a zebra\n");
}

#[test]
fn an_offset_beyond_everything_is_an_empty_page() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    for (tool, arguments, expected) in [
        ("search", json!({"query": "parse request", "offset": u64::MAX}), "(no further result: there are "),
        (
            "find_related",
            json!({"file": "src/queue/ring.rs", "line": 4, "offset": u64::MAX}),
            "(no further result: there are ",
        ),
        ("grep", json!({"pattern": "parse", "offset": u64::MAX}), "(no further line: there are "),
        ("outline", json!({"file": "src/queue/ring.rs", "offset": u64::MAX}), "(no further unit: there are "),
    ] {
        let page = client.good(tool, arguments);
        assert!(page.starts_with(expected) && page.lines().count() == 1, "{tool}: {page}");
    }
}

#[test]
fn units_are_listed_and_filtered_by_facts() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let listed = client.good("search", json!({"query": "", "kind": "class", "paths": ["src"]}));
    assert!(listed.lines().filter(|l| l.starts_with("src/")).all(|l| l.contains(" class ")), "{listed}");
    let first = client.good("search", json!({"query": "", "kind": "class", "paths": ["src"], "results": 1}));
    assert!(first.contains("more units: offset 2"), "{first}");
    let callers = client.good("search", json!({"query": "parse a request", "calls": "parse_request"}));
    let is_shown = |file: &str| callers.lines().any(|line| line.starts_with(file));
    assert!(is_shown("src/http/server.rs:") && !is_shown("src/http/parse.rs:"), "{callers}");
    let none = client.call("search", json!({"query": "", "kind": "struct"}));
    assert!(none.1 && none.0.contains("kind takes function, method, class"), "{none:?}");
}

#[test]
fn hints_and_terms_are_parameters_of_a_search() {
    let sandbox = Sandbox::new();
    for part in ["http", "queue"] {
        sandbox.write(&format!("src/{part}/parse_item.py"), "def parse_item(text):\n    return text.strip()\n");
    }
    sandbox.write("src/auth.py", "def read_jwt(header):\n    return header\n");
    sandbox.write(".terms.json", r#"{"token": ["JWT"]}"#);
    let mut client = Client::start(&sandbox, &[]);
    let mut first = |arguments: Value| {
        let (text, is_error) = client.call("search", arguments);
        (text.split(':').next().unwrap_or_default().to_string(), is_error, text)
    };
    assert_eq!(first(json!({"query": "parse item"})).0, "src/http/parse_item.py");
    let hints = json!([{"kind": "subsystem", "word": "queue"}]);
    assert_eq!(first(json!({"query": "parse item", "hints": hints})).0, "src/queue/parse_item.py");
    assert_eq!(first(json!({"query": "a token", "expand": ".terms.json"})).0, "src/auth.py");
    let (_, is_error, text) = first(json!({"query": "a", "hints": [{"kind": "module", "word": "queue"}]}));
    assert!(is_error && text.contains("subsystem, purpose, type, concept, feature, tag, keyword"), "{text}");
    for outside in ["/etc/passwd", "docker"] {
        let (_, is_error, text) = first(json!({"query": "a token", "expand": outside}));
        assert!(is_error && text.contains("`expand` takes kubernetes") && !text.contains("root:"), "{text}");
    }
}

#[test]
fn units_are_read_and_related_by_the_ids_of_answers() {
    let sandbox = Sandbox::of("relay");
    let mut client = Client::start(&sandbox, &[]);
    let found = client.good("search", json!({"query": "parse_request", "results": 1}));
    let id = found.split_once('#').and_then(|(_, id)| id.get(..16)).expect("an id");
    let unit = client.good("read_unit", json!({"id": id}));
    assert!(unit.starts_with("src/http/parse.rs:19-") && unit.contains("19: pub fn parse_request"), "{unit}");
    let by_line = client.good("find_related", json!({"file": "src/http/parse.rs", "line": 19}));
    assert_eq!(client.good("find_related", json!({"id": id})), by_line);
    for (id, expected) in [("0123456789abcdef", "no unit has the id"), ("12", "is not an id")] {
        let (text, is_error) = client.call("read_unit", json!({"id": id}));
        assert!(is_error && text.contains(expected), "{text}");
    }
}
