//! The end of relevance: results shown, results left out, and the remarks after the last result.

use crate::common::mcp::Client;
use crate::common::{Ran, Sandbox, git};
use serde_json::json;

/// Files that share a common word, one with the answer, and one that a test tests.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    for i in 0..12 {
        let text =
            format!("/// A value of kind {i}.\npub fn value_{i}() -> u32 {{\n    let value = {i};\n    value\n}}\n");
        sandbox.write(&format!("src/kind{i}.rs"), &text);
    }
    sandbox.write(
        "src/session.rs",
        "/// Closes the session when its timeout is over.\npub fn close_session(timeout: u32) {\n    \
         // Error E0502 is told once.\n    tell(\"E0502\", timeout);\n}\n",
    );
    sandbox.write("pool.py", "def take(value):\n    return value\n");
    sandbox.write("tests/test_pool.py", "from pool import take\n\n\ndef test_take():\n    assert take(3) == 3\n");
    sandbox
}

/// Paths, from the root, and strengths of a JSON answer.
fn rows(ran: &Ran) -> Vec<(String, f64)> {
    let rows: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let row = |hit: &serde_json::Value| {
        let file = hit["unit"]["file"].as_str().expect("a path").trim_start_matches("ROOT/").to_string();
        (file, hit["strength"].as_f64().expect("a strength"))
    };
    rows.as_array().expect("rows").iter().map(row).collect()
}

fn above(rows: &[(String, f64)], least: f64) -> Vec<&str> {
    rows.iter().filter(|row| row.1 >= least).map(|row| row.0.as_str()).collect()
}

#[test]
fn text_ends_at_the_floor_and_json_gives_all() {
    let sandbox = project();
    for query in ["session timeout", "where is the session closed", "comets of the sky"] {
        let all = rows(&sandbox.run(&[query, "--json"]));
        let (text, whole) = (sandbox.run(&[query]), sandbox.run(&[query, "--all"]));
        assert_eq!(text.paths(), above(&all, 0.03), "{query}: {all:?}");
        assert_eq!(whole.paths(), above(&all, 0.0), "{query}");
        assert_eq!(text.status, i32::from(text.out.is_empty()), "{query}");
        assert_eq!(sandbox.run(&[query, "-l"]).paths(), text.paths(), "{query}");
        for least in ["0.01", "0.3", "1"] {
            let number: f64 = least.parse().expect("a number");
            let cut = sandbox.run(&[query, "--min-strength", least, "--json"]);
            assert_eq!(above(&rows(&cut), 0.0), above(&all, number), "{query} {least}");
            assert_eq!(cut.status, i32::from(rows(&cut).is_empty()), "{query} {least}");
            assert_eq!(sandbox.run(&[query, "--min-strength", least]).paths(), above(&all, number), "{query} {least}");
        }
    }
}

#[test]
fn the_setting_cuts_any_output_and_the_flags_are_before_it() {
    let sandbox = project();
    let query = "session timeout value";
    let all = rows(&sandbox.run(&[query, "--json"]));
    sandbox.write(".colgrep.toml", "min_strength = 0.5\n");
    assert_eq!(above(&rows(&sandbox.run(&[query, "--json"])), 0.0), above(&all, 0.5));
    assert_eq!(sandbox.run(&[query]).paths(), above(&all, 0.5));
    assert_eq!(sandbox.run(&[query, "--all"]).paths(), above(&all, 0.0));
    assert_eq!(sandbox.run(&[query, "--min-strength", "0"]).paths(), above(&all, 0.0));
    for (text, told) in [("min_strength = 2", "from 0 to 1"), ("min_strength = \"much\"", "from 0 to 1")] {
        // A repository's own settings end no search.
        sandbox.write(".colgrep.toml", text);
        let ran = sandbox.run(&[query]);
        assert!(ran.status == 0 && ran.err.contains("ignored: ") && ran.err.contains(told), "{text}: {ran:?}");
    }
}

#[test]
fn a_strength_is_a_number_from_0_to_1() {
    let sandbox = project();
    for given in ["1.5", "much", "NaN", ""] {
        let ran = sandbox.run(&["session", "--min-strength", given]);
        assert!(ran.status == 2 && ran.err.contains("from 0 to 1"), "{given}: {ran:?}");
    }
    assert_eq!(sandbox.run(&["session", "--min-strength=-1"]).status, 2);
    for args in
        [&["session", "--all", "--min-strength", "0.5"][..], &["-e", "session", "--all"], &["--kind", "class", "--all"]]
    {
        assert_eq!(sandbox.run(args).status, 2, "{args:?}");
    }
}

#[test]
fn where_nothing_is_above_the_floor_it_is_said_how_to_see_more() {
    let sandbox = project();
    let ran = sandbox.run(&["comets of the sky", "src"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""), "{ran:?}");
    let told = "; colgrep --all 'comets of the sky' src shows weak answers\n";
    assert!(ran.err.ends_with(told) && ran.err.lines().count() == 1, "{ran:?}");
    assert!(ran.err.starts_with("colgrep: nothing here holds \"comets\", \"sky\"; colgrep --all"), "{ran:?}");
    assert_eq!(sandbox.run(&["--all", "comets of the sky", "src"]).status, 0);
    assert_eq!(sandbox.run(&["comets of the sky", "--quiet"]).err, "");
}

#[test]
fn exact_tokens_are_held_or_there_is_nothing() {
    let sandbox = project();
    sandbox.write("src/version.rs", "pub const VERSION: &str = \"1.2.3\";\nconst OTHER: [u8; 3] = [1, 2, 4];\n");
    for (query, expected) in [
        ("E0502", &["src/session.rs"][..]),
        ("e0502", &["src/session.rs"]),
        ("1.2.3", &["src/version.rs"]),
        ("value_3", &["src/kind3.rs"]),
        ("'E0502'", &["src/session.rs"]),
    ] {
        let ran = sandbox.run(&[query]);
        assert_eq!((ran.paths(), ran.status), (expected.to_vec(), 0), "{query}: {ran:?}");
    }
    for query in ["E0599", "1.2.4", "VALUE_99", "/api/v1/value", "kind99.rs", "E0599 E0600"] {
        let ran = sandbox.run(&[query]);
        assert_eq!((ran.status, ran.out.as_str()), (1, ""), "{query}: {ran:?}");
        let typed = if query.contains(' ') { format!("'{query}'") } else { query.to_string() };
        let told =
            format!("colgrep: nothing here holds \"{query}\"; nearest by meaning: colgrep --semantic-only {typed}\n");
        assert_eq!(ran.err, told);
    }
    let part = rows(&sandbox.run(&["E0502 E0599", "--json"]));
    assert!(part[0].0 == "src/session.rs" && part[0].1 == 0.5, "{part:?}");
}

#[test]
fn nothing_is_denied_of_files_that_were_not_read() {
    let sandbox = project();
    let big = format!("needle_777 = 1\n{}", "x = 1\n".repeat(200_000));
    sandbox.write("data/big.py", &big);
    let told = |args: &[&str]| sandbox.run(args).err;
    // One that is too large to be indexed is read for it.
    assert!(told(&["needle_778"]).contains("nothing here holds \"needle_778\"; nearest by meaning"));
    let unread = "colgrep: not every file was searched for \"needle_778\"; colgrep -i -e needle_778 searches all\n";
    sandbox.write("data/huge.py", &big);
    let huge = std::fs::File::options().append(true).open(sandbox.root().join("data/huge.py")).expect("a file");
    huge.set_len(65 << 20).expect("a file with a hole");
    assert_eq!(told(&["needle_778"]), unread);
    std::fs::remove_file(sandbox.root().join("data/huge.py")).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.py");
        std::fs::write(sandbox.root().join(name), "needle_778 = 1\n").expect("a file");
        assert_eq!(told(&["needle_778"]), unread);
    }
}

#[test]
fn an_index_without_files_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("a.rs", "fn zebra() {}\n");
    sandbox.write(".ignore", "*\n");
    for args in [&["zebra"][..], &["where is the zebra", "."], &["--kind", "function"]] {
        let ran = sandbox.run(args);
        assert!(ran.status == 1 && ran.err.contains("is indexed; -uu -e PATTERN searches"), "{args:?}: {ran:?}");
    }
    assert_eq!(sandbox.run(&["-uu", "-e", "zebra", "-l"]).out, "a.rs\n");
}

#[test]
fn words_in_files_that_are_not_indexed_are_not_denied() {
    let sandbox = project();
    sandbox.write("data/big.py", &format!("needle_777 = 1\n{}", "x = 1\n".repeat(200_000)));
    sandbox.write("go.sum", "github.com/Acme/quuxlib v1.0.0 h1:j7eGeouHqKxXV5pUuKE4zz7dFj8W\n");
    sandbox.write("app.min.js", &format!("var zorkAll={};", "f(1);".repeat(20_000)));
    let output = r#"{"output_type": "stream", "name": "stdout", "text": ["printed_frob\n"]}"#;
    let cell = format!(r#"{{"cell_type": "code", "metadata": {{}}, "source": ["show()\n"], "outputs": [{output}]}}"#);
    sandbox.write("plot.ipynb", &format!(r#"{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4}}"#));
    for (query, word, pattern) in [
        ("needle_777", "needle_777", "-e needle_777"),
        ("quuxlib", "quuxlib", "-e quuxlib"),
        ("zorkAll", "zorkAll", "-e zorkAll"),
        ("printed_frob", "printed_frob", "-e printed_frob"),
        ("where is quuxlib configured", "quuxlib", "-e quuxlib"),
    ] {
        let ran = sandbox.run(&[query]);
        assert!(
            ran.err.contains(&format!(
                "only what is not indexed (lock files, minified or large files, outputs of notebooks) holds \"{word}\""
            )),
            "{query}: {ran:?}"
        );
        assert!(ran.err.contains(&format!("colgrep -i {pattern} lists it")), "{query}: {ran:?}");
        assert!(!ran.err.contains("nothing"), "{query}: {ran:?}");
    }
}

#[test]
fn words_in_tracked_files_that_are_left_out_are_not_denied() {
    let sandbox = project();
    sandbox.write("gen/a.py", "def handler_915():\n    pass\n");
    sandbox.write("gen/b.py", "both_916 = handler_915()\n");
    sandbox.write(".github/ci.yml", "steps: both_916 hidden_917\n");
    sandbox.write("gen/.env", "token_918=1\n");
    sandbox.write("go.sum", "github.com/Acme/locked_919 v1.0.0\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "-f", "."]);
    git(&sandbox, &["commit", "-qm", "first"]);
    sandbox.write(".git/info/exclude", "gen/\n");
    let ignored = "tracked by git, but ignored";
    for (args, told) in [
        (
            &["handler_915"][..],
            format!(
                "only what is not indexed (gen/a.py ({ignored}) and 1 more) holds \"handler_915\"; \
                 colgrep -i -e handler_915 gen/a.py lists it"
            ),
        ),
        (
            &["hidden_917"],
            "only what is not indexed (.github/ci.yml (hidden)) holds \"hidden_917\"; \
             colgrep -i -e hidden_917 .github/ci.yml lists it"
                .to_string(),
        ),
        (&["where is hidden_917 set"], "(.github/ci.yml (hidden)) holds \"hidden_917\"".to_string()),
        (&["both_916"], "only what is not indexed (.github/ci.yml (hidden) and 1 more) holds \"both_916\"".to_string()),
        (
            &["token_918"],
            "(gen/.env (hidden, and has a secret's name)) holds \"token_918\"; colgrep -i -e token_918 gen/.env lists it"
                .to_string(),
        ),
        (&["handler_915", "src"], "nothing within `src` holds \"handler_915\", but other parts".to_string()),
        (&["token_918", "src"], "nothing within `src` holds \"token_918\", but other parts".to_string()),
        (&["locked_919", "src"], "nothing within `src` holds \"locked_919\", but other parts".to_string()),
        (&["absent_920"], "nothing here holds \"absent_920\"".to_string()),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.status == 1 && ran.err.contains(&told), "{args:?}: {ran:?}");
    }
    assert_eq!(sandbox.run(&["-i", "-e", "handler_915", "gen/a.py"]).out, "gen/a.py:1:def handler_915():\n");
    // A file outside the scope does not hide one that is not indexed.
    sandbox.write("src/go.sum", "github.com/Acme/twice_921 v1.0.0\n");
    sandbox.write("near.py", "twice_921 = 1\n");
    let ran = sandbox.run(&["twice_921", "src"]);
    assert!(ran.err.contains("within `src`, only what is not indexed (lock files"), "{ran:?}");
    // A client hears of none of these files, and nothing that is false.
    let mut client = Client::start(&sandbox, &[]);
    let denied = |word: &str| format!("nothing in what is searched holds \"{word}\"");
    for word in ["handler_915", "hidden_917", "token_918", "absent_920"] {
        let text = client.good("search", json!({"query": word}));
        let rest = text.replace(&denied(word), "");
        assert!(
            text.contains(&denied(word)) && rest == "(no results)\n(; `all` shows what is near by meaning)\n",
            "{text}"
        );
    }
}

#[test]
fn changed_files_that_are_left_out_are_named() {
    let sandbox = project();
    sandbox.write("gen/a.py", "def handler_915():\n    pass\n");
    sandbox.write("go.sum", "github.com/Acme/locked_919 v1.0.0\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "first"]);
    sandbox.write(".git/info/exclude", "gen/\n");
    let told = |words: &str| sandbox.run(&words.split(' ').collect::<Vec<_>>()).err;
    let none = "colgrep: no file here differs from the last commit\n";
    assert_eq!((told("handler_915 --changed").as_str(), told("-e 915 --changed").as_str()), (none, none));
    sandbox.write("gen/a.py", "def handler_915():\n    return 1\n");
    let one = "colgrep: no searched file here differs from the last commit; \
               left out: gen/a.py (tracked by git, but ignored)\n";
    assert_eq!((told("handler_915 --changed").as_str(), told("-e 915 --changed").as_str()), (one, one));
    assert_eq!(told("handler_915 --changed -t rust"), "colgrep: no file here passes -t rust --changed\n");
    assert!(told("handler_915 --changed -t python").starts_with("colgrep: no searched file here passes -t python"));
    sandbox.write("go.sum", "github.com/Acme/locked_919 v1.0.1\n");
    assert_eq!(
        told("handler_915 --since HEAD"),
        one.replace("the last commit", "HEAD").replace(")\n", ") and 1 more\n")
    );
}

#[test]
fn who_asks_for_meaning_alone_gets_what_is_near() {
    let sandbox = project().with_meaning();
    assert_eq!(sandbox.run(&["E0599"]).status, 1);
    let near = sandbox.run(&["--semantic-only", "E0599"]);
    assert!(near.status == 0 && near.paths().len() > 9, "{near:?}");
}

#[test]
fn what_a_mention_a_place_or_the_reader_brings_is_never_cut() {
    let sandbox = project();
    let far = "comets of the sky";
    for (args, expected) in [
        (&["comets of the sky in kind7.rs"][..], "src/kind7.rs"),
        (&["comets of the sky at src/kind7.rs:2"], "src/kind7.rs"),
        (&["comets of the sky", "--near", "tests/test_pool.py"], "pool.py"),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.paths().contains(&expected), "{args:?}: {ran:?}");
    }
    assert!(!sandbox.run(&[far]).paths().contains(&"pool.py"));
}

#[test]
fn what_asks_for_all_that_matches_has_no_floor() {
    let sandbox = project();
    let far = "comets of the sky";
    let count = |args: &[&str]| sandbox.run(&[&["-l", "-k", "99"], args].concat()).out.lines().count();
    assert_eq!(count(&[far]), 0);
    assert_eq!(count(&[far, "-e", "let value"]), 12);
    assert_eq!(count(&[far, "--calls", "tell"]), 1);
    assert!(count(&["--like", "src/kind3.rs:2"]) > 0);
    assert_eq!(sandbox.run(&["value", "--count", "-k", "99"]).out.lines().count(), 13);
    assert_eq!(sandbox.run(&["value", "-L"]).out, "src/session.rs\ntests/test_pool.py\n");
    let ran = sandbox.run(&["value", "-L", "--max-tokens", "5"]);
    assert_eq!(ran.out, "src/session.rs\n");
    assert!(ran.err.contains("1 of 2 results fit into --max-tokens 5"), "{ran:?}");
}

#[test]
fn a_full_answer_has_no_remark() {
    let sandbox = project();
    let ran = sandbox.run(&["value", "-k", "5"]);
    assert_eq!(ran.paths().len(), 5, "what holds all words is never cut");
    assert_eq!(ran.err, "", "as many as were asked for");
    assert_eq!(sandbox.run(&["-il", "-e", "valu"]).out.lines().count(), 13);
    for (args, why) in [
        (&["value", "-k", "13"][..], "all are shown"),
        (&["value", "-k", "5", "--include", "kind1*"], "the scope has no more"),
        (&["value in kind3.rs", "-k", "1"], "one is named"),
        (&["value", "-k", "5", "--json"], "programs count for themselves"),
        (&["value kind", "-k", "5"], "nobody asks for every file with several words"),
    ] {
        assert!(!sandbox.run(args).err.contains("files hold"), "{why}");
    }
    for at in 0..6 {
        let name = if at < 2 { "__enter__" } else { "enter" };
        sandbox.write(&format!("src/enter{at}.py"), &format!("def {name}(key):\n    return {at}\n"));
    }
    let ran = sandbox.run(&["__enter__"]);
    assert!(ran.paths().len() >= 2 && !ran.err.contains("files hold"), "words without underscores: {ran:?}");
}

#[test]
fn a_cut_that_somebody_asked_for_is_named() {
    let sandbox = project();
    let query = "session timeout of comets";
    let strongest = rows(&sandbox.run(&[query, "--json"])).iter().map(|row| row.1).fold(0.0, f64::max);
    assert!(strongest > 0.03 && strongest < 0.99, "{strongest}");
    let told = "colgrep: nothing here has a strength of 0.99 (--min-strength, or the setting min_strength); \
                colgrep --all 'session timeout of comets' shows what is below\n";
    let ran = sandbox.run(&[query, "--min-strength", "0.99"]);
    assert!(ran.status == 1 && ran.err.starts_with(told), "{ran:?}");
    sandbox.write(".colgrep.toml", "min_strength = 0.99\n");
    let ran = sandbox.run(&[query]);
    assert!(ran.status == 1 && ran.err.contains(told), "{ran:?}");
}

#[test]
fn a_name_that_stands_nowhere_is_told_whatever_is_found() {
    let sandbox = project();
    for (query, told) in [
        ("who calls close_sesion", Some("\"close_sesion\" is read as \"close_session\", since nothing here holds it")),
        ("close the session when the timeout of totalNonsense is over", Some("nothing here holds \"totalNonsense\"")),
        ("who calls tell", None),
        ("close the session when its timeout is over", None),
    ] {
        let ran = sandbox.run(&[query, "--all"]);
        assert_eq!(ran.status, 0, "{query}: {ran:?}");
        match told {
            Some(told) => assert!(ran.err.contains(told), "{query}: {ran:?}"),
            None => assert!(!ran.err.contains("nothing here holds"), "{query}: {ran:?}"),
        }
    }
}

#[test]
fn a_word_that_stands_nowhere_leads_to_near_ones() {
    let sandbox = project();
    for (query, unknown, near) in [("sessiom", "sessiom", "session"), ("timeouut", "timeouut", "timeout")] {
        let ran = sandbox.run(&[query]);
        assert_eq!(ran.status, 1, "{query}: {ran:?}");
        let told = format!("nothing here holds \"{unknown}\"; similar words here: {near}");
        assert!(ran.err.contains(&told), "{query}: {ran:?}");
    }
    // Of a name, the unknown part is.
    let ran = sandbox.run(&["value_timeuot"]);
    assert_eq!(
        (ran.status, ran.err.as_str()),
        (1, "colgrep: nothing here holds \"value_timeuot\"; similar: timeout\n")
    );
}

#[test]
fn a_word_that_is_spelled_like_no_other_leads_nowhere() {
    let sandbox = project();
    // Neither the names of what is shown nor words that only sound alike.
    for query in
        ["close the sensor when its timeout is over", "kubernetes session timeout", "obsession session timeout"]
    {
        let ran = sandbox.run(&[query]);
        assert_eq!(ran.status, 0, "{query}: {ran:?}");
        assert!(!ran.err.contains("similar"), "{query}: {ran:?}");
    }
}

#[test]
fn near_words_are_those_that_stand_now() {
    let sandbox = Sandbox::new();
    for i in 1..10 {
        sandbox.write(&format!("f{i}.py"), &format!("def alpha{i}():\n    return 1\n"));
    }
    sandbox.write("gone.py", "def pingo():\n    return bonga, bongu, bonto, bondo\n");
    sandbox.write("long.py", "def bonzo():\n    return 2\n");
    assert_eq!(sandbox.run(&["init"]).status, 0);
    std::fs::remove_file(sandbox.root().join("gone.py")).expect("removed");
    let ran = sandbox.run(&["bongo"]);
    assert!(ran.err.contains("similar words here: bonzo"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn what_can_not_be_read_is_told() {
    use std::os::unix::fs::PermissionsExt as _;

    let sandbox = Sandbox::new();
    sandbox.write("src/open.py", "def zebra():\n    return 1\n");
    sandbox.write("src/locked.py", "def zebra():\n    return 2\n");
    let locked = sandbox.root().join("src/locked.py");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).expect("permissions");
    // The system keeps nothing from root.
    let is_locked = std::fs::read(&locked).is_err();
    for args in [&["zebra", "-l"][..], &["zebra", "-l", "src"]] {
        let ran = sandbox.run(args);
        let told = ran.err.contains("src/locked.py can't be read, so no answer comes from there");
        assert_eq!((ran.status, told), (0, is_locked), "{ran:?}");
    }
    // What the rules leave out is missed by nobody.
    for rule in [["--exclude", "locked.py"], ["--exclude-dir", "src"], ["-g", "!*.py"], ["-t", "rust"]] {
        let ran = sandbox.run(&[&["zebra", "-l"][..], &rule[..]].concat());
        assert!(!ran.err.contains("can't be read"), "{rule:?}: {ran:?}");
        let ran = sandbox.run(&[&["zebra", "-l"][..], &rule[..], &["src/locked.py", "src"][..]].concat());
        assert!(ran.status < 2 && !ran.err.contains("can't be read"), "{rule:?}, named: {ran:?}");
    }
    let ran = sandbox.run(&["zebra", "-l", "-s"]);
    assert_eq!((ran.status, ran.err.contains("can't be read")), (0, false), "{ran:?}");
    let mut client = Client::start(&sandbox, &[]);
    let remark = "(src/locked.py can't be read, so no answer comes from there)\n";
    for (tool, arguments) in [("search", json!({"query": "zebra"})), ("grep", json!({"pattern": "zebra"}))] {
        let told = client.good(tool, arguments);
        assert_eq!((told.contains(remark), told.contains("src/open.py:1")), (is_locked, true), "{tool}: {told}");
    }
    let told = client.good("grep", json!({"pattern": "zebra", "exclude": ["locked.py"]}));
    assert!(!told.contains("can't be read"), "what the rules leave out: {told}");
    // One that is named is an error, and keeps nothing from what is found elsewhere.
    for (paths, out) in [(&["src/locked.py"][..], ""), (&["src/locked.py", "src"], "src/open.py\n")] {
        let ran = sandbox.run(&[&["zebra", "-l"][..], paths].concat());
        let told = ran.err.contains("src/locked.py can't be read, so it is not ranked");
        assert!(!is_locked || (ran.status == 2 && told && ran.out == out), "{paths:?}: {ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_folder_is_told_where_the_rules_allow_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let sandbox = Sandbox::new();
    sandbox.write("src/open.py", "def zebra():\n    return 1\n");
    sandbox.write("src/dark/a.py", "def zebra():\n    return 2\n");
    let dark = sandbox.root().join("src/dark");
    let with = |mode: u32| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&dark, with(0o000)).expect("permissions");
    let is_closed = std::fs::read_dir(&dark).is_err();
    for (args, status, is_told) in [
        (&["zebra", "-l"][..], 0, true),
        (&["zebra", "-l", "--include", "*.py"], 0, true),
        (&["zebra", "-l", "--exclude-dir", "dark"], 0, false),
        (&["zebra", "-l", "src/dark"], 2, true),
        (&["-e", "zebra", "-l"], 2, true),
        (&["-e", "zebra", "-l", "-g", "!dark"], 0, false),
        (&["-e", "zebra", "-l", "--exclude-dir", "dark"], 0, false),
    ] {
        let ran = sandbox.run(args);
        assert!(!is_closed || (ran.status, ran.err.contains("src/dark")) == (status, is_told), "{args:?}: {ran:?}");
    }
    // Its owner may remove it again.
    std::fs::set_permissions(&dark, with(0o700)).expect("permissions");
}

#[test]
fn of_many_queries_one_without_a_word_is_told() {
    let sandbox = project();
    sandbox.write(".queries", "parse\n!=\n");
    let ran = sandbox.run(&["--queries-from", ".queries"]);
    let told = "colgrep: .queries, line 2: \"!=\" holds no word, so nothing is ranked; asked alone, it lists the lines that hold it\n";
    assert!(ran.err.contains(told), "{ran:?}");
}

#[test]
fn what_was_read_of_the_query_is_explained() {
    let sandbox = project();
    for (query, expected) in [
        ("E0502", "query: token E0502, exactly here · "),
        ("fn close_session", "query: declaration fn close_session, token close_session, exactly here · "),
        ("src/session.rs:3", "query: place src/session.rs:3, token src/session.rs:3, line named here · "),
        ("who calls tell", "query: callers of tell, exactly here · "),
    ] {
        let ran = sandbox.run(&["--explain", "-k", "1", "--query", query]);
        assert!(ran.out.contains(expected), "{query}: {ran:?}");
        let ran = sandbox.run(&["--explain", "-k", "1", "--json", "--query", query]);
        assert!(ran.out.contains("\"step\":\"query\"") && ran.out.contains("\"clues\":["), "{query}: {ran:?}");
    }
    assert!(!sandbox.run(&["close the session", "--explain", "--all"]).out.contains("query:"));
}

#[test]
fn of_a_long_query_a_few_words_are_told_and_not_all_of_it() {
    let sandbox = project();
    let letter = |n: u8| char::from(b'a' + n);
    let words: Vec<String> = (0..200).map(|n: u8| format!("zyx{}q{}", letter(n / 20), letter(n % 20))).collect();
    let query = words.join(" ");
    for args in [&[query.as_str()][..], &[&query, "--all"]] {
        let ran = sandbox.run(args);
        let told = ran.err.matches("zyx").count();
        assert!(ran.err.contains("nothing here holds \"zyx"), "{ran:?}");
        assert!((1..=20).contains(&told) && ran.err.len() < 1_500, "{told} words: {}", ran.err);
    }
}

#[test]
fn a_budget_that_holds_nothing_is_told_or_refused() {
    let sandbox = project();
    let ran = sandbox.run(&["session timeout", "--pack", "1"]);
    assert!(ran.out.is_empty() && ran.err.contains("not even the first of"), "{ran:?}");
    assert_eq!(sandbox.run(&["session timeout", "--pack", "1", "--quiet"]).err, "");
    for args in [&["session", "--max-tokens", "0"][..], &["session", "--pack", "0"], &["session", "-k", "0"]] {
        assert_eq!(sandbox.run(args).status, 2, "{args:?}");
    }
}

#[test]
fn an_empty_answer_has_a_reason_in_one_sentence() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def foo():\n    return bar(1)\n");
    sandbox.write("b.txt", "text a|b\n");
    sandbox.write("[id].py", "zero = 0\n");
    sandbox.write("empty/.hidden", "foo\n");
    sandbox.write("c.yml", "run: foo\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "first"]);
    for (words, expected) in [
        ("-e a\\|c", "\\| in a pattern is the character |; the operator has no backslash: a|b"),
        ("--query foo -e a\\|c", "\\| in a pattern is the character |; the operator has no backslash: a|b"),
        ("-e a.py", "-e takes a pattern, and a.py is a file: colgrep -e PATTERN a.py searches it"),
        ("-e foo -t rust", "no file here passes -t rust"),
        ("foo -t rust", "no file here passes -t rust"),
        ("foo -g *.rs", "no file here passes --include '*.rs'"),
        ("-e foo -g *.rs", "no file here passes --include '*.rs'"),
        (
            "foo -g [id].py",
            "no file here passes --include '[id].py'; it exists, but a glob takes it for a pattern: -g '\\[id\\].py'",
        ),
        (
            "foo -g /[id].py",
            "no file here passes --include '/[id].py'; it exists, but a glob takes it for a pattern: -g '/\\[id\\].py'",
        ),
        (
            "foo --iglob [id].py",
            "no file here passes --iglob '[id].py'; it exists, but a glob takes it for a pattern: --iglob '\\[id\\].py'",
        ),
        ("--files -t rust", "no file here passes -t rust"),
        ("foo --changed", "no file here differs from the last commit"),
        ("-e foo --since HEAD", "no file here differs from HEAD"),
        ("--calls nosuch", "there is no definition here that calls nosuch"),
        ("--called-by nosuch", "there is no definition here that is called by nosuch"),
        (
            "--calls foo",
            "no definition here is known to call foo; calls are not known in files of yaml; -w -e foo shows where the name occurs",
        ),
        (
            "--calls foo --depth 2 a.py",
            "no definition in a.py is known to call foo; -w -e foo shows where the name occurs",
        ),
        (
            "--called-by foo c.yml",
            "no definition in c.yml is known to be called by foo; calls are not known in files of yaml; -w -e foo shows where the name occurs",
        ),
        ("--kind class", "there is no class here"),
        ("--kind constant --calls bar", "there is no constant here that calls bar"),
        ("--calls bar b.txt", "there is no definition in b.txt that calls bar"),
        ("--calls bar -T python", "no definition here that calls bar passes -T python"),
        ("--calls bar --exclude *.py", "no definition here that calls bar passes --exclude '*.py'"),
        ("--calls bar -e zzzz", "no definition here that calls bar passes -e zzzz"),
        ("--calls bar --ast zzzz($A)", "no definition here that calls bar passes --ast 'zzzz($A)'"),
        ("--calls bar --depth 2 -t rust", "no definition here that calls bar passes -t rust"),
        ("--kind function -T python", "no function here passes -T python"),
        ("--query text --calls nosuch", "there is no definition here that calls nosuch"),
        ("--query text --called-by nosuch", "there is no definition here that is called by nosuch"),
        ("--query text --kind function -T python", "no function here passes -T python"),
        (
            "--query zebra --calls bar",
            "no definition here that calls bar answers the query; without it, all are listed",
        ),
        ("-e foo empty", "there is no file to search in empty; -uu searches hidden and ignored files too"),
    ] {
        let ran = sandbox.run(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(
            (ran.status, ran.out.as_str(), ran.err.trim_end()),
            (1, "", format!("colgrep: {expected}").as_str()),
            "{words}"
        );
    }
    let ran = sandbox.run(&["file:nosuch foo"]);
    assert_eq!((ran.status, ran.err.as_str()), (1, "colgrep: no file here passes file:nosuch\n"));
    // Nothing is said where nobody wants to know, and where lines alone are missing.
    for words in ["-e a\\|c --quiet", "-e foo -t rust -q", "-e foo -t rust -s", "-e nothing", "--calls nosuch --jsonl"]
    {
        let ran = sandbox.run(&words.split(' ').collect::<Vec<_>>());
        assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (1, "", ""), "{words}");
    }
}

#[test]
fn a_qualifier_that_is_nowhere_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("src/d.py", "class Default:\n    def run(self):\n        return 1\n");
    for (query, at, said) in [
        ("foo.bar.Default", 1, "nothing here holds \"foo\", \"bar\""),
        ("foo::Default", 1, "nothing here holds \"foo\""),
        ("Foo.run", 2, "nothing here holds \"Foo\""),
        ("Nope#run", 2, "nothing here holds \"Nope\""),
        ("Default.run", 2, ""),
        ("self.run", 2, ""),
        ("src.d.Default", 1, ""),
        ("Default", 1, ""),
    ] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        assert!(ran.out.starts_with(&format!("src/d.py:{at}:")), "{query}: {ran:?}");
        assert_eq!(ran.err.trim().trim_start_matches("colgrep: "), said, "{query}: {ran:?}");
    }
}

#[test]
fn filters_of_a_query_alone_list_what_passes() {
    let sandbox = Sandbox::new();
    sandbox.write("src/d.py", "class Default:\n    def run(self):\n        return 1\n");
    sandbox.write("src/x.rs", "fn throttle() {}\n");
    for (query, files) in [
        ("file:d.py", "src/d.py"),
        ("file:./src/d.py", "src/d.py"),
        ("path:src -file:d.py", "src/x.rs"),
        ("kind:function", "src/x.rs"),
        ("kind:class", "src/d.py"),
        ("kind:method file:*.py", "src/d.py"),
        ("lang:python", "src/d.py"),
        ("language:Rust", "src/x.rs"),
    ] {
        let ran = sandbox.run(&["--query", query, "-l"]);
        assert_eq!((ran.status, ran.out.trim()), (0, files), "{query}: {ran:?}");
    }
    for (query, status, said) in [
        (
            "lang:rsut throttle",
            2,
            "\"rsut\" is neither a known language nor a type from the settings; did you mean \"rust\"?",
        ),
        ("lang:pyhton", 2, "did you mean \"python\"?"),
        ("file:nosuch", 1, "no file here passes file:nosuch"),
        ("/throttle/", 0, ""),
        ("/run|throttle/i", 0, ""),
        ("/zork/", 1, "nothing here holds \"/zork/\""),
    ] {
        let ran = sandbox.run(&["--query", query]);
        assert!(ran.status == status && ran.err.contains(said), "{query}: {ran:?}");
    }
}
