//! Requests of the page to `colgrep serve` beyond searches.

use crate::common::Sandbox;
use crate::common::serve::Server;
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
