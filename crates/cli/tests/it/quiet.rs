//! What a search says on stderr: nothing where the answer is plain, else one line.

use crate::common::Sandbox;

/// Queries of the kinds that people type, without flags.
const QUERIES: &[&str] = &[
    "RingBuffer",
    "parse_request",
    "ParseError",
    "Dashboard",
    "fetchStats",
    "QUEUE_CAPACITY",
    "with_capacity",
    "MissingPath",
    "Request",
    "Server",
    "Stats",
    "deliver",
    "listen",
    "RELAY_TOKEN",
    "backoff_ms",
    "parseRequest",
    "ring_buffer",
    "Server.listen",
    "RingBuffer::push",
    "Server::new",
    "http::server",
    "relay.toml",
    "ring.rs",
    "src/http/parse.rs",
    "src/queue/ring.rs:14",
    "dashboard.ts:7",
    "request",
    "capacity",
    "message",
    "queue",
    "retry",
    "delivery",
    "buffer",
    "rate",
    "attempts",
    "statistics",
    "oldest",
    "hook",
    "canvas",
    "exponential",
    "parse request",
    "ring buffer",
    "dead letter queue",
    "web hooks",
    "retry policy",
    "exponential backoff",
    "delivery statistics",
    "queue capacity",
    "oldest message",
    "request body",
    "where are requests parsed",
    "how is a delivery retried",
    "what happens after five attempts",
    "where is the queue filled",
    "how do I install the relay",
    "which settings does the relay read",
    "where does the server listen",
    "who calls parse_request",
    "what draws the delivery rate",
    "how is the oldest message dropped",
    "accept connections until the process ends",
    "put a message in over the oldest one",
    "the first line of a request, then its body",
    "ask the relay for its statistics",
    "pub fn push(&mut self",
    "class Dashboard",
    "impl RingBuffer",
    "fn main",
    "def parse(text)",
    "use queue::ring::RingBuffer;",
    "thread 'main' panicked at src/queue/ring.rs:16:9",
    "\"dead letter queue\"",
    "\"oldest message\"",
    "ParsError",
    "frobnicate",
];

/// Searches with flags.
const FLAGGED: &[&[&str]] = &[
    &["request", "-t", "rust"],
    &["request", "-t", "ts"],
    &["retry", "-k", "1"],
    &["message", "-k", "2", "--per-file", "2"],
    &["buffer", "-n", "3"],
    &["capacity", "src"],
    &["queue", "docs"],
    &["delivery", "-l"],
    &["message", "-c", "-k", "1"],
    &["parse", "--tests", "only"],
    &["parse", "--tests", "exclude"],
    &["RingBuffer", "--json"],
    &["request", "--code-only"],
    &["-e", "TODO"],
    &["-e", "RingBuffer", "-l"],
    &["-e", "fn\\s+\\w+", "src"],
    &["-e", "message"],
    &["-e", "Result", "parse"],
    &["-e", "push", "message"],
    &["-e", "capacity", "src/queue"],
    &["--kind", "function"],
    &["--calls", "push"],
    &["--called-by", "listen"],
    &["--like", "src/queue/ring.rs:14"],
    &["--files"],
];

#[test]
fn most_searches_are_silent_and_none_says_more_than_a_line() {
    let sandbox = Sandbox::of("relay");
    sandbox.run(&["init"]);
    let queries = QUERIES.iter().map(|query| vec!["--query", query]);
    let searches: Vec<Vec<&str>> = queries.chain(FLAGGED.iter().map(|args| args.to_vec())).collect();
    assert_eq!(searches.len(), 100);
    let mut told = Vec::new();
    for args in searches {
        let ran = sandbox.run(&args);
        assert!(ran.status < 2 && ran.err.lines().count() <= 1, "{args:?}: {ran:?}");
        assert!(ran.err.len() <= 160, "{args:?}: a short line: {}", ran.err);
        if !ran.err.is_empty() {
            told.push(ran.err);
        }
    }
    assert!(told.len() <= 20, "{} of 100 searches say something: {told:#?}", told.len());
}

#[test]
fn a_first_search_says_one_thing() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("huge.txt", &"gigantic words\n".repeat(100_000));
    sandbox.write(".colgrep.toml", "hidden = true\n");
    let ran = sandbox.run(&["frobnicate the queue"]);
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    assert!(ran.err.contains("frobnicate"), "what was not found comes first: {ran:?}");
    let ran = sandbox.run(&["frobnicate", "--max-tokens", "1", "--all"]);
    assert!(ran.err.lines().count() <= 1, "{ran:?}");
}

#[test]
fn a_setting_silences_remarks_and_no_errors() {
    let sandbox = Sandbox::of("relay");
    assert!(sandbox.run(&["frobnicate"]).err.contains("frobnicate"));
    sandbox.run(&["settings", "quiet", "true"]);
    for args in [&["frobnicate"][..], &["-e", "push", "message"], &["!="], &["parse request", "--max-tokens", "1"]] {
        let ran = sandbox.run(args);
        assert!(ran.status < 2 && ran.err.is_empty(), "{args:?}: {ran:?}");
    }
    assert!(sandbox.run(&["-e", "("]).err.contains("pattern"), "errors are no remarks");
    sandbox.run(&["settings", "quiet", "--unset"]);
    assert!(sandbox.run(&["frobnicate"]).err.contains("frobnicate"));
    // A repository that nobody trusts can't silence what is said of it.
    sandbox.write(".colgrep.toml", "quiet = true\n");
    assert!(!sandbox.run(&["frobnicate"]).err.is_empty());
}

#[test]
fn of_several_named_paths_that_are_not_indexed_one_is_named() {
    let sandbox = Sandbox::of("relay");
    for name in ["a.bin", "b.bin", "c.bin"] {
        std::fs::write(sandbox.root().join(name), b"\0\x01\x02").expect("a file");
    }
    let ran = sandbox.run(&["ring buffer", "a.bin", "b.bin", "c.bin", "src"]);
    assert!(ran.status == 0 && ran.out.starts_with("src/queue/ring.rs:"), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    assert!(ran.err.contains("a.bin") && ran.err.ends_with("; and 2 more paths\n"), "{ran:?}");
}
