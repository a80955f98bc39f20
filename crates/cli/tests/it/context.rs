//! The reader's position, names in the query, and queries that are not questions.

use crate::common::{Sandbox, git};

/// The answer to a query as JSON.
fn best_five(sandbox: &Sandbox, query: &str) -> String {
    let ran = sandbox.run(&[query, "--json", "-k", "5"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    ran.out
}

#[test]
fn fillers_around_a_question_change_nothing() {
    let sandbox = Sandbox::of("relay").with_meaning();
    let answer = |query: &str| best_five(&sandbox, query);
    let plain = answer("how is a request parsed?");
    assert_eq!(answer("please help with the issue: how is a request parsed?, thanks"), plain);
    assert_eq!(answer("Please, how is a request parsed? Thanks!"), plain);
}

#[test]
fn lines_of_courtesy_around_a_question_change_nothing() {
    let sandbox = Sandbox::of("relay").with_meaning();
    let answer = |query: &str| best_five(&sandbox, query);
    let plain = answer("how is a request parsed?");
    assert_eq!(answer("Please help!\n\nhow is a request parsed?"), plain);
    assert_eq!(answer("Hi all,\n\nhow is a request parsed?\n\nthanks"), plain);
    let issue = "Requests are parsed twice\n\nA request is read again after its head was parsed.";
    assert_eq!(answer(&format!("Hello!\n{issue}\nThanks in advance")), answer(issue));
}

#[test]
fn the_switch_counts_fillers_as_words() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def thanks():\n    pass\n");
    sandbox.write("b.py", "def retry():\n    pass\n");
    let count = |vars: &[(&str, &str)]| sandbox.run_with(vars, &["thanks: retry", "-l"]).out.lines().count();
    assert_eq!((count(&[]), count(&[("COLGREP_FILLERS", "0")])), (1, 2));
}

#[test]
fn a_query_of_fillers_alone_keeps_them() {
    let sandbox = Sandbox::new();
    sandbox.write("help.py", "def help():\n    pass\n");
    sandbox.write("other.py", "def other():\n    pass\n");
    for query in ["help", "github help", "please help with the issue"] {
        assert_eq!(sandbox.run(&["--query", query, "-l", "-k", "1"]).out.trim(), "help.py", "{query}");
    }
}

#[test]
fn help_is_a_query_too() {
    let sandbox = Sandbox::new();
    sandbox.write("src/help.py", "def help():\n    pass\n");
    sandbox.write("log/help.py", "def help():\n    pass\n");
    for args in [&["help", "-k", "1", "-l", "src"][..], &["help", "src", "-l"], &["help", "./src/help.py", "-l"]] {
        let ran = sandbox.run(args);
        assert!(ran.status == 0 && ran.out.trim().ends_with("src/help.py"), "{args:?}: {ran:?}");
    }
    // The command stays: of all, and of one, whatever folder is called so.
    assert_eq!(sandbox.run(&["help"]).out, sandbox.run(&["--help"]).out);
    assert_eq!(sandbox.run(&["help", "log"]).out, sandbox.run(&["log", "--help"]).out);
    sandbox.refuses(&["help", "outlin"], "outlin");
}

#[test]
fn files_that_differ_by_their_ending_are_told_apart_by_it() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh"] {
        let text = format!("# Completion script for {shell}\n_app_complete() {{\n    complete app\n}}\n");
        sandbox.write(&format!("Resources/completion.{shell}"), &text);
    }
    sandbox.write("Resources/completion.fish", "# Completion script\nfunction _app\n    complete -c app\nend\n");
    for shell in ["bash", "zsh", "fish"] {
        let ran = sandbox.run(&[&format!("{shell} completion script"), "-l", "-k", "1"]);
        assert_eq!(ran.out.trim(), format!("Resources/completion.{shell}"), "{ran:?}");
    }
}

#[test]
fn variants_of_a_file_are_told_apart_by_words_of_the_path() {
    let sandbox = Sandbox::new();
    let text = "/// Polls the events of a socket.\nfunc poll() {\n\twait()\n}\n";
    for path in ["net/poll_windows.go", "net/poll_darwin.go", "asm/arm64/copy.go", "asm/x86_64/copy.go"] {
        sandbox.write(path, text);
    }
    for (path, name) in
        [("client.py", "def open_socket():\n    return 1\n"), ("client.go", "func open_socket() {\n}\n")]
    {
        sandbox.write(path, name);
    }
    for (query, expected) in [
        ("poll the events on macOS", "net/poll_darwin.go"),
        ("poll the events on windows", "net/poll_windows.go"),
        ("poll the events on aarch64", "asm/arm64/copy.go"),
        ("poll the events on amd64", "asm/x86_64/copy.go"),
        ("open a socket in Go", "client.go"),
        ("open a socket in Python", "client.py"),
    ] {
        let first = |vars: &[(&str, &str)]| sandbox.run_with(vars, &[query, "-k", "1", "-l"]).out;
        assert_eq!(first(&[]).trim_end(), expected, "{query}");
    }
    let off = |query: &str| sandbox.run_with(&[("COLGREP_VARIANT_BOOST", "0")], &[query, "-k", "1", "-l"]).out;
    assert_eq!(off("open a socket in Go"), off("open a socket in Python"), "without it they answer alike");
}

/// A project with misleading words: the answer is in `retry.py` alone.
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
    sandbox.write("doc/Read Me First.md", "# Nothing\n");
    sandbox.write("a/conf.py", "one = 1\n");
    sandbox.write("b/conf.py", "two = 2\n");
    sandbox.write("Makefile", "all:\n\techo done\n");
    sandbox
}

#[test]
fn a_named_file_stands_first_in_any_case() {
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
        // Text from elsewhere, in quotes or as a run of words, does not lead away from a file that is named.
        ("retry \"a request with backoff\" in _pool.py", "net/_pool.py"),
        ("Retry a request with backoff in _pool.py", "net/_pool.py"),
        // Of several files, the one after the last "in" is the place.
        ("move the retry of pool.py in _pool.py", "net/_pool.py"),
        ("move the retry of _pool.py in pool.py", "net/pool.py"),
        ("retry a request in Read Me first.md", "doc/Read Me First.md"),
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
fn no_pool_and_no_ranking_cuts_a_mention() {
    let sandbox = misleading();
    let small = [("COLGREP_POOL_UNITS", "10"), ("COLGREP_POOL_NAMED_FILES", "0")];
    let query = "retry a request in _pool.py";
    assert_eq!(sandbox.run_with(&small, &[query, "-l", "-k", "1"]).out.trim(), "net/_pool.py");
    // A filter is a condition of its own: what it leaves out is not found, whatever is named.
    assert!(!sandbox.run(&[query, "retry", "-l"]).out.contains("_pool"));
    // A phrase in quotes limits the answer to files that contain it and to those that are named.
    let quoted = "what is \"nowhere to be found\" in _pool.py";
    assert_eq!(sandbox.run(&[quoted, "-l"]).out.trim(), "net/_pool.py");
    let sandbox = sandbox.with_meaning();
    assert_eq!(sandbox.run(&[query, "-l", "-k", "1", "--semantic-only"]).out.trim(), "net/_pool.py");
    let explained = sandbox.run(&[query, "-k", "1", "--explain"]).out;
    assert!(explained.contains(" mention +"), "{explained}");
}

/// A project with a test, what it tests, and what that imports; words lead to `noise`.
fn connected() -> Sandbox {
    let sandbox = Sandbox::new();
    for i in 0..5 {
        let text = format!(
            "def open_{i}(address):\n    \"\"\"Open an address and close it.\"\"\"\n    return open(address)\n"
        );
        sandbox.write(&format!("src/noise/open_{i}.py"), &text);
    }
    sandbox.write(
        "src/net/tcp.py",
        "from .wire import frame\n\n\ndef connect(address):\n    return frame(open(address))\n",
    );
    sandbox.write(
        "src/net/wire.py",
        "def frame(address):\n    \"\"\"A frame around what is open.\"\"\"\n    return [address]\n",
    );
    sandbox.write("src/net/pool.py", "from .tcp import connect\n\n\ndef take(address):\n    return connect(address)\n");
    sandbox.write(
        "tests/net/test_tcp.py",
        "from net.tcp import connect\n\n\ndef test_connect():\n    assert connect(\"open\")\n",
    );
    sandbox
}

/// The place of a file in an answer, from 0.
fn place(out: &str, file: &str) -> usize {
    out.lines().position(|line| line == file).unwrap_or_else(|| panic!("{file} is not in {out}"))
}

#[test]
fn what_belongs_to_the_file_comes_earlier_and_nothing_goes() {
    let sandbox = connected();
    // Scores of files, best first.
    let ask = |near: &[&str]| -> Vec<(String, f64)> {
        let ran = sandbox.run(&[&["open an address", "--json", "-k", "20"], near].concat());
        assert_eq!(ran.status, 0, "{}", ran.err);
        let hits: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        let file = |hit: &serde_json::Value| hit["unit"]["file"].as_str().expect("a file").replace("ROOT/", "");
        hits.as_array().expect("hits").iter().map(|hit| (file(hit), hit["score"].as_f64().expect("a score"))).collect()
    };
    let score =
        |answer: &[(String, f64)], file: &str| answer.iter().find(|a| a.0 == file).map(|a| a.1).expect("a file");
    let plain = ask(&[]);
    let best = plain[0].1;
    let gain = |near: &str, file: &str| {
        let answer = ask(&["--near", near]);
        assert!(plain.iter().all(|(file, _)| answer.iter().any(|a| a.0 == *file)), "something went: {answer:?}");
        (score(&answer, file) - score(&plain, file)) / best
    };
    let is = |gain: f64, expected: f64| (gain - expected).abs() < 0.02;
    let test = "tests/net/test_tcp.py";
    assert!(is(gain(test, "src/net/tcp.py"), 0.5), "a partner that is imported, too");
    assert!(is(gain("src/net/tcp.py", "src/net/wire.py"), 0.1), "imported");
    assert!(is(gain("src/net/tcp.py", "src/net/pool.py"), 0.05), "an importer");
    assert!(is(gain("src/net/pool.py", "src/net/wire.py"), 0.0), "neither");
    assert!(is(gain("src/net/tcp.py", test), 0.05), "a test imports it, and is no better for testing it");
    sandbox.write("src/net/pool.py", "def take(address):\n    return frame(address)\n");
    assert!(is(gain("src/net/pool.py", "src/net/wire.py"), 0.0), "what is called somewhere");
    assert!(is(gain("src/net/pool.py:2", "src/net/wire.py"), 0.1), "what is called on the line");
    let explained = sandbox.run(&["open an address", "-k", "20", "--near", test, "--explain"]).out;
    assert!(explained.contains(" context +"), "{explained}");
}

#[test]
fn a_test_is_lifted_where_tests_are_asked_for() {
    let sandbox = connected();
    for i in 0..5 {
        sandbox.write(&format!("tests/test_open_{i}.py"), "def test_connect_open():\n    assert connect(\"open\")\n");
    }
    let ask = |query: &str, flags: &[&str]| sandbox.run(&[&[query, "-l", "-k", "20"], flags].concat()).out;
    let own = "tests/net/test_tcp.py";
    let near = ["--near", "src/net/tcp.py"];
    let gain = |query: &str, flags: &[&str]| {
        place(&ask(query, flags), own) as i32 - place(&ask(query, &[flags, &near[..]].concat()), own) as i32
    };
    assert!(gain("tests of connect", &[]) > 0);
    assert!(gain("connect open", &["--tests", "only"]) > 0);
    assert!(sandbox.run(&["frame", "-l", "-k", "30", "--near", "src/net/tcp.py"]).out.contains(own), "a candidate");
}

#[test]
fn what_belongs_to_the_file_comes_where_no_word_is_known() {
    let sandbox = connected().with_meaning();
    let ask = |flags: &[&str]| sandbox.run(&[&["qqzzvv", "-l"], flags].concat());
    assert_eq!(ask(&[]).status, 1);
    for flags in [&["--near", "tests/net/test_tcp.py"][..], &["--near", "tests/net/test_tcp.py", "--keyword-only"]] {
        let ran = ask(flags);
        assert_eq!(ran.out.lines().next(), Some("src/net/tcp.py"), "{flags:?}: {ran:?}");
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    let sandbox = connected();
    for (near, message) in [
        ("src/gone.py", "no such file"),
        ("src/net", "src/net is a folder, and one file of it is asked for"),
        ("src/net/tcp.py:99", "no line 99"),
        ("src/net/tcp.py:0", "has 5 lines, counted from 1, so there is no line 0"),
        ("src/gone.py:3", "no such file"),
    ] {
        let ran = sandbox.run(&["open", "--near", near]);
        assert_eq!(ran.status, 2, "{near}");
        assert!(ran.err.contains(message), "{near}: {}", ran.err);
    }
    let ran = sandbox.run(&["-e", "open", "--near", "src/net/tcp.py"]);
    assert_eq!((ran.status, ran.err.contains("--near")), (2, true), "{}", ran.err);
}

#[test]
fn a_file_that_is_not_indexed_tells_nothing_of_what_it_imports_and_says_so() {
    let sandbox = connected();
    sandbox.write(".ignore", "src/own.py\n");
    sandbox.write("src/own.py", "from .net.tcp import connect\n");
    let told = "src/own.py is not indexed (ignored), so what it imports and calls is not known";
    for (args, expected) in [
        (&["--near", "src/own.py"][..], true),
        (&["--near", "src/own.py", "--quiet"][..], false),
        (&["--near", "src/net/tcp.py"][..], false),
    ] {
        let ran = sandbox.run(&[&["open an address"], args].concat());
        assert_eq!((ran.status, ran.err.contains(told)), (0, expected), "{args:?}: {}", ran.err);
    }
}

/// Files with names and words that the document of 000 distinguishes.
fn symbols() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("app/routing/base.py", "def mount(path):\n    \"\"\"Mount an application.\"\"\"\n    return path\n");
    sandbox.write("app/routing/_utils.py", "def is_async(call):\n    return call\n");
    sandbox.write("app/routing/utils.py", "def is_async(call):\n    return call\n");
    sandbox.write("app/responses.py", "class StreamingResponse:\n    \"\"\"A response in parts.\"\"\"\n    def render(self):\n        return zlibcrc\n");
    sandbox.write(
        "app/requests.py",
        "class Request:\n    \"\"\"A request and its response.\"\"\"\n    def body(self):\n        return b\"\"\n",
    );
    sandbox.write("tests/test_responses.py", "def test_parts():\n    assert StreamingResponse().render()\n");
    sandbox
}

#[test]
fn the_searches_that_are_named() {
    let sandbox = symbols();
    for (name, query, flags, first) in [
        ("sparse search", "mount an application", &[][..], "app/routing/base.py"),
        ("filename only", "utils.py", &[], "app/routing/utils.py"),
        ("underscore module", "_utils", &[], "app/routing/_utils.py"),
        ("underscore module", "is_async in _utils.py", &[], "app/routing/_utils.py"),
        ("noise", "please help with this github issue: a response in parts, thanks", &[], "app/responses.py"),
        ("pair", "body", &["--near", "tests/test_responses.py", "--tests", "exclude"], "app/requests.py"),
        ("pair", "response", &["--near", "tests/test_responses.py"], "app/responses.py"),
        ("dotted module", "app.routing.base", &[], "app/routing/base.py"),
        ("rare symbol", "zlibcrc", &[], "app/responses.py"),
        ("CamelCase type", "streaming response", &[], "app/responses.py"),
        ("CamelCase type", "StreamingResponse", &[], "app/responses.py"),
    ] {
        let out = sandbox.run(&[&[query, "-l", "-k", "1"], flags].concat()).out;
        assert_eq!(out.trim(), first, "{name}: {query}");
    }
}

#[test]
fn files_that_changed_together_come_earlier() {
    let sandbox = Sandbox::new();
    let git = |args: &[&str]| git(&sandbox, args);
    git(&["init", "-q", "-b", "main"]);
    for (files, subject) in [(&["wire", "pool"][..], "Frame what is pooled"), (&["disk"], "Write to the disk")] {
        for file in files {
            sandbox.write(&format!("src/{file}.py"), &format!("def {file}_open(address):\n    return open(address)\n"));
        }
        git(&["add", "."]);
        git(&["commit", "-q", "-m", subject]);
    }
    let ask = |near: &[&str]| sandbox.run(&[&["open an address", "-l"], near].concat()).out;
    assert_eq!(ask(&[]), "src/disk.py\nsrc/pool.py\nsrc/wire.py\n", "all are alike");
    assert_eq!(ask(&["--near", "src/pool.py"]), "src/wire.py\nsrc/disk.py\nsrc/pool.py\n");
    let off = sandbox.run_with(&[("COLGREP_TOGETHER_BOOST", "0")], &["open an address", "-l", "--near", "src/pool.py"]);
    assert_eq!(off.out, ask(&[]));
    // In another worktree it is the same file.
    let beside = sandbox.root().with_file_name("beside");
    git(&["worktree", "add", "-q", "-b", "side", &beside.display().to_string()]);
    assert_eq!(ask(&["--near", "../beside/src/pool.py"]), ask(&["--near", "src/pool.py"]));
}
