//! Where the reader stands, what was named, and what is no question: requirements 000.* of the design, by number.

mod common;

use common::Sandbox;

#[test]
fn s000_1_fillers_around_a_question_change_nothing() {
    let sandbox = Sandbox::of("relay").with_meaning();
    let answer = |query: &str| {
        let ran = sandbox.run(&[query, "--json", "-k", "5"]);
        assert_eq!(ran.status, 0, "{}", ran.err);
        ran.out
    };
    let plain = answer("how is a request parsed?");
    assert_eq!(answer("please help with the issue: how is a request parsed?, thanks"), plain);
    assert_eq!(answer("Please, how is a request parsed? Thanks!"), plain);
}

#[test]
fn s000_2_the_switch_counts_fillers_as_words() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def thanks():\n    pass\n");
    sandbox.write("b.py", "def retry():\n    pass\n");
    let count = |vars: &[(&str, &str)]| sandbox.run_with(vars, &["thanks: retry", "-l"]).out.lines().count();
    assert_eq!((count(&[]), count(&[("COLGREP_FILLERS", "0")])), (1, 2));
}

#[test]
fn s000_4_a_query_of_fillers_alone_keeps_them() {
    let sandbox = Sandbox::new();
    sandbox.write("help.py", "def help():\n    pass\n");
    sandbox.write("other.py", "def other():\n    pass\n");
    for query in ["help", "github help", "please help with the issue"] {
        assert_eq!(sandbox.run(&["--query", query, "-l", "-k", "1"]).out.trim(), "help.py", "{query}");
    }
}

/// A project in which words lead elsewhere: what is asked stands in `retry.py` alone.
fn misleading() -> Sandbox {
    let sandbox = Sandbox::new();
    for i in 0..40 {
        let text = format!(
            "def retry_request_{i}(request):\n    \"\"\"Retry a request with backoff.\"\"\"\n    return retry(request)\n"
        );
        sandbox.write(&format!("retry/retry_request_{i}.py"), &text);
    }
    sandbox.write("net/_pool.py", "class Holder:\n    size = 3\n");
    sandbox.write("net/pool.py", "class Pool:\n    size = 3\n");
    sandbox.write("net/TestClient.py", "def one():\n    pass\n");
    sandbox.write("a/conf.py", "one = 1\n");
    sandbox.write("b/conf.py", "two = 2\n");
    sandbox.write("Makefile", "all:\n\techo done\n");
    sandbox
}

#[test]
fn s000_8_and_9_a_named_file_stands_first_in_any_case() {
    let sandbox = misleading();
    for (query, first) in [
        ("retry a request in _pool.py", "net/_pool.py"),
        ("retry a request in `_pool.py`, with backoff", "net/_pool.py"),
        ("retry a request in pool.py", "net/pool.py"),
        ("retry a request in net/pool.py", "net/pool.py"),
        ("retry a request in _pool", "net/_pool.py"),
        ("retry a request in testclient.py", "net/TestClient.py"),
        ("retry a request with TestClient.py:1:1", "net/TestClient.py"),
        ("retry a request (b/conf.py)", "b/conf.py"),
        ("retry a request from the makefile", "Makefile"),
        ("retry a request in gone.py", "retry/retry_request_0.py"),
    ] {
        for flags in [&["-l", "-k", "1"][..], &["-l", "-k", "1", "--tests", "auto"]] {
            assert_eq!(sandbox.run(&[&[query], flags].concat()).out.trim(), first, "{query}");
        }
    }
    let both = sandbox.run(&["retry a request in conf.py", "-l", "-k", "43"]);
    for file in ["a/conf.py", "b/conf.py"] {
        assert!(both.out.lines().any(|l| l == file), "{file} is not in {}", both.out);
    }
}

#[test]
fn s000_10_no_pool_and_no_ranking_cuts_a_mention() {
    let sandbox = misleading();
    let small = [("COLGREP_POOL_UNITS", "10"), ("COLGREP_POOL_NAMED_FILES", "0")];
    let query = "retry a request in _pool.py";
    assert_eq!(sandbox.run_with(&small, &[query, "-l", "-k", "1"]).out.trim(), "net/_pool.py");
    // A filter is a condition of its own: what it leaves out is not found, whatever is named.
    assert!(!sandbox.run(&[query, "retry", "-l"]).out.contains("_pool"));
    let sandbox = sandbox.with_meaning();
    assert_eq!(sandbox.run(&[query, "-l", "-k", "1", "--semantic-only"]).out.trim(), "net/_pool.py");
    let explained = sandbox.run(&[query, "-k", "1", "--explain"]).out;
    assert!(explained.contains(" mention +"), "{explained}");
}
