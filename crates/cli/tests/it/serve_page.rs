//! Requests of the page to `colgrep serve` beyond searches.

use crate::common::serve::Server;
use crate::common::{Sandbox, git};
use serde_json::{Value, json};

#[test]
fn a_query_without_a_word_is_searched_as_text() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def differs(a, b):\n    return a != b\n");
    sandbox.write("b.py", "def same(a, b):\n    return a == b\n");
    sandbox.write("c.py", "def both(a, b):\n    if a != b:\n        return 1\n    return a != 2\n");
    let server = Server::start(&sandbox, &[]);
    server.ready();
    let found = server.good("/page/results", &json!({"query": "!="}));
    let paths = |found: &Value| -> Vec<String> {
        let all = found["results"].as_array().expect("results").iter();
        all.map(|hit| format!("{}:{}", hit["path"].as_str().expect("a path"), hit["line"])).collect()
    };
    assert_eq!(paths(&found), ["a.py:2", "c.py:2"], "{found}");
    assert_eq!(found["remarks"][0], "\"!=\" holds no word, so it is searched as text");
    assert!(found["results"][0]["rows"].to_string().contains("\"!=\",true"), "it is marked: {found}");
    let second = server.good("/page/results", &json!({"query": "!=", "offset": 1, "results": 1}));
    assert_eq!((paths(&second), &second["more"]), (vec!["c.py:2".to_string()], &json!(false)));
    assert_eq!(paths(&server.good("/page/results", &json!({"query": "~~~"}))), Vec::<String>::new());
    // As large as a number may be, from the end of all results.
    for path in ["/page/results", "/api/v1/search"] {
        let asked = json!({"query": "differs", "offset": u64::MAX, "results": 7});
        let behind = server.post(path, &asked);
        assert_eq!(behind.status, 200, "{path}: {behind:?}");
    }
}

fn marked(lines: &Value) -> Vec<&str> {
    let spans = lines.as_array().into_iter().flatten().flat_map(|line| line.as_array().into_iter().flatten());
    spans.filter(|span| span[2] == true).filter_map(|span| span[1].as_str()).collect()
}

#[test]
fn a_file_shows_the_words_of_the_query_or_what_a_pattern_matches() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &[]);
    server.ready();
    let file = |more: Value| {
        let mut asked = json!({"repository": "project", "path": "src/queue/ring.rs"});
        asked.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        server.post("/page/file", &asked)
    };
    let words = file(json!({"query": "pushing messages"})).json();
    let found = marked(&words["lines"]);
    assert!(found.contains(&"push") && found.contains(&"message") && !found.contains(&"pop"), "{found:?}");
    assert_eq!(
        marked(&file(json!({"query": "push", "pattern": "fn p[ou]\\w+"})).json()["lines"]),
        ["fn", " ", "push", "fn", " ", "pop"]
    );
    assert!(marked(&file(json!({})).json()["lines"]).is_empty());
    assert_eq!(file(json!({"pattern": "("})).status, 422);
}

#[test]
fn a_file_of_a_known_host_has_its_address_there() {
    let sandbox = Sandbox::of("relay");
    let file = |server: &Server| server.good("/page/file", &json!({"repository": "project", "path": "src/main.rs"}));
    let server = Server::start(&sandbox, &[]);
    assert!(file(&server)["host"].is_null(), "no repository");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "src"]);
    git(&sandbox, &["commit", "-q", "-m", "One"]);
    git(&sandbox, &["remote", "add", "origin", "git@github.com:team/relay.git"]);
    let commit = git(&sandbox, &["rev-parse", "HEAD"]);
    assert_eq!(file(&server)["host"], format!("https://github.com/team/relay/blob/{commit}/src/main.rs"));
}

#[test]
fn a_pattern_alone_other_places_and_numbers_are_found() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &["src", "web"]);
    server.ready();
    let listed = server.good("/page/results", &json!({"pattern": "fn p[ou]\\w+"}));
    let hit = &listed["results"][0];
    assert_eq!((&hit["repository"], &hit["path"], &hit["line"]), (&json!("src"), &json!("queue/ring.rs"), &json!(14)));
    let mut units = hit["units"].as_array().expect("units").iter();
    assert!(units.any(|unit| unit["shown"]["number"] == 21), "{hit}");
    // The name of a repository and a path of it, and nothing of where it is.
    let asked = json!({"query": "request", "paths": ["src/http/parse.rs"], "per_file": 9, "all": true});
    let places = server.good("/page/results", &asked);
    assert_eq!(places["results"].as_array().map(Vec::len), Some(1), "{places}");
    assert!(places["results"][0]["units"].as_array().is_some_and(|units| units.len() > 2), "{places}");
    let facets = server.good("/page/facets", &json!({"query": "request", "all": true}));
    assert!(facets["repositories"]["src"]["rust"].as_u64() > Some(1), "{facets}");
    let repositories = facets["repositories"].as_object().expect("names").values();
    let all: u64 =
        repositories.flat_map(|one| one.as_object().expect("numbers").values()).filter_map(Value::as_u64).sum();
    assert_eq!(Some(all), facets["files"].as_u64());
    let wide = server.good("/page/results", &json!({"query": "ParseError", "results": 1, "lines": 12}));
    assert!(wide["results"][0]["rows"].as_array().is_some_and(|rows| rows.len() > 12), "{wide}");
    let place = sandbox.root().display().to_string();
    assert!(!server.get("/page/about", &[]).text.contains(&place));
    for (path, asked) in [
        ("/page/results", json!({"query": "a", "paths": ["nowhere"]})),
        ("/page/file", json!({"repository": "src", "path": "nowhere.rs"})),
        ("/api/v1/search", json!({"query": "a", "paths": ["nowhere"]})),
    ] {
        let refused = server.post(path, &asked);
        assert!(refused.status == 422 && !refused.text.contains(&place), "{path}: {refused:?}");
    }
}

#[test]
fn a_search_has_an_address_and_files_of_the_page_are_compressed() {
    let sandbox = Sandbox::of("relay");
    let server = Server::start(&sandbox, &[]);
    server.ready();
    let by_get = server.get("/api/v1/search?query=parse%20request&results=2&languages=rust&languages=typescript", &[]);
    let asked = json!({"query": "parse request", "results": 2, "languages": ["rust", "typescript"]});
    assert_eq!((by_get.status, &by_get.json()["hits"]), (200, &server.good("/api/v1/search", &asked)["hits"]));
    for (address, why) in [
        ("/api/v1/search", "query is empty"),
        ("/api/v1/search?query=a&colour=red", "there is no parameter \\\"colour\\\" here"),
        ("/api/v1/grep?fixed=true", "the parameter `pattern` is missing"),
    ] {
        let refused = server.get(address, &[]);
        assert!(refused.status == 422 && refused.text.contains(why), "{address}: {refused:?}");
    }
    let head = |encoding: &str| {
        let host = &server.host;
        let asked = format!("GET /page/app.js HTTP/1.1\r\nHost: {host}\r\n{encoding}Connection: close\r\n\r\n");
        let answer = server.raw(asked.as_bytes()).to_lowercase();
        answer.split("\r\n\r\n").next().unwrap_or_default().to_string()
    };
    let packed = head("Accept-Encoding: gzip\r\n");
    assert!(packed.contains("content-encoding: gzip") && packed.contains("content-type: text/javascript"), "{packed}");
    assert!(!head("").contains("content-encoding"));
}
