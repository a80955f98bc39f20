//! The ranking by meaning, with the model in the program.

mod common;

use common::Sandbox;

fn relay() -> Sandbox {
    Sandbox::of("relay").with_meaning()
}

#[test]
fn words_that_are_not_the_codes_find_it() {
    let sandbox = relay();
    let ran =
        sandbox.run(&["buffer of fixed size that drops the oldest entry when full", "-k", "3", "--semantic-only"]);
    assert!(ran.status == 0 && ran.paths().contains(&"src/queue/ring.rs"), "{ran:?}");
    let explained = sandbox.run(&["parse request", "-k", "1", "--explain"]);
    assert!(explained.out.contains("semantic") && explained.paths()[0] == "src/http/parse.rs", "{explained:?}");
}

#[test]
fn vectors_are_kept_once_and_only_where_wanted() {
    let sandbox = relay();
    let first = sandbox.run(&["init"]);
    assert!(first.status == 0 && first.err.contains("texts encoded"), "{first:?}");
    let again = sandbox.run(&["init"]);
    assert!(again.err.contains("nothing changed"), "{again:?}");
    sandbox.write("src/queue/ring.rs", "//! A queue.\n\npub fn push() {}\n");
    let changed = sandbox.run(&["init"]);
    assert!(changed.err.contains("had theirs already") && !changed.err.contains("have none"), "{changed:?}");
    let lite = relay();
    for mode in ["lite", "keyword"] {
        let ran = lite.run(&["init", "--index-mode", mode]);
        assert!(ran.status == 0 && !ran.err.contains("encoded"), "{ran:?}");
        assert_eq!(lite.run(&["parse request", "-k", "1", "--index-mode", mode]).paths(), ["src/http/parse.rs"]);
    }
}

#[test]
fn an_index_without_vectors_ranks_by_meaning_all_the_same() {
    let lite = relay();
    assert_eq!(lite.run(&["init", "--index-mode", "lite"]).status, 0);
    let ask = ["buffer that drops the oldest entry when full", "-k", "3", "--index-mode", "lite", "--explain"];
    let ran = lite.run(&ask);
    assert!(ran.out.contains("semantic") && ran.paths().contains(&"src/queue/ring.rs"), "{ran:?}");
    let status: serde_json::Value = serde_json::from_str(&lite.run(&["status", "--json"]).out).expect("JSON");
    assert!(status["vectors"].is_null() && status["units"].as_u64() > Some(10), "{status}");
    // The same folder with vectors: the lexical half stays, each unit gets its own.
    lite.run(&["init"]);
    let status: serde_json::Value = serde_json::from_str(&lite.run(&["status", "--json"]).out).expect("JSON");
    assert_eq!(status["vectors"]["with_vectors"], status["vectors"]["units"]);
    assert_eq!(status["vectors"]["units"], status["units"]);
    assert!(lite.run(&["status"]).out.contains("\nvectors   "));
    let healthy = lite.run(&["doctor"]);
    assert!(healthy.out.contains("units have vectors of"), "{healthy:?}");
}

#[test]
fn a_word_that_stands_nowhere_is_not_found() {
    let sandbox = relay();
    for args in [&["zzzqqq"][..], &["zzzqqq", "--count"]] {
        assert_eq!(sandbox.run(args).status, 1, "{args:?}");
    }
    let without = sandbox.run(&["RingBuffer", "-L", "src/queue", "src/http"]);
    assert!(without.status == 0 && without.out.contains("src/http/parse.rs"), "{without:?}");
}
