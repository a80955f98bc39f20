//! Every flag of a search, tried on a small project: what it prints, what it refuses.

use crate::common::{Sandbox, check};
use colgrep_render::Format;
use insta::assert_snapshot;

#[test]
fn names_counts_and_lines_without_matches() {
    let sandbox = Sandbox::of("relay");
    check(
        &sandbox,
        &[
            ("QUERY -l -k 2", "src/http/parse.rs | vendor/tinyjson/parse.py"),
            ("QUERY -l -0 -k 2", "src/http/parse.rs0vendor/tinyjson/parse.py0"),
            ("QUERY --count -k 1", "src/http/parse.rs:6"),
            ("RingBuffer --count src/queue", "src/queue/ring.rs:6 | src/queue/mod.rs:1"),
            ("-e RingBuffer --count src/queue", "src/queue/ring.rs:4"),
            ("-e RingBuffer --count -0 src/queue", "src/queue/ring.rs04"),
            ("-e RingBuffer --count -I src/queue", "4"),
            ("RingBuffer --count -I src/queue", "6 | 1"),
            ("-e RingBuffer -l -I src/queue", "src/queue/ring.rs"),
            ("RingBuffer -L src/queue src/http", "src/http/mod.rs | src/http/parse.rs"),
            ("RingBuffer -L -k 1 src/queue src/http", "src/http/mod.rs"),
            ("-v -e zzz -l src/queue", "src/queue/mod.rs | src/queue/ring.rs"),
            ("-v -e zzz -m 0 src/queue", ""),
            ("-v -e zzz -m 0 --json src/queue", "[]"),
            ("-e RingBuffer -L src/queue src/http", "src/queue/mod.rs | src/http/mod.rs | src/http/parse.rs"),
            ("-e RingBuffer -l -0 src/queue", "src/queue/ring.rs0"),
            ("RingBuffer -q", ""),
            ("-e RingBuffer -q", ""),
        ],
    );
    for (args, status) in [
        (&["RingBuffer", "-q"][..], 0),
        (&["zzzqqq", "-q"], 1),
        (&["-e", "zzzqqq", "-q"], 1),
        (&["-e", "Ring", "-L"], 0),
        (&["-e", "Ring", "-v", "-m", "0"], 1),
    ] {
        assert_eq!(sandbox.run(args).status, status, "{args:?}");
    }
}

#[test]
fn flags_of_lines_have_an_effect_or_are_told() {
    let sandbox = Sandbox::of("relay");
    for base in [&["-e", "capacity", "src/queue"][..], &["RingBuffer", "src/queue"]] {
        for form in ["-l", "-L", "--count", "--vimgrep", "--json", "-v", "--pack=200"] {
            let of_form = [base, &[form]].concat();
            let plain = sandbox.run(&of_form);
            // Some forms are of lines alone, others of units.
            for flag in ["-n2", "-A1", "-B1", "-C1", "-N", "-I", "--column", "-M9"].iter().filter(|_| plain.status < 2)
            {
                let ran = sandbox.run(&[&of_form[..], &[flag]].concat());
                let name = if flag.starts_with("--") { flag } else { &flag[..2] };
                let is_told = ran.err.contains(&format!("ignoring {name}: "));
                // These places have columns anyway.
                let is_given = *flag == "--column" && (form == "--vimgrep" || (form == "--json" && base.len() == 2));
                assert!(
                    ran.status == 2 || is_given || is_told == (ran.out == plain.out),
                    "{of_form:?} {flag}: {ran:?}"
                );
            }
        }
    }
}

#[test]
fn formats_print_their_examples() {
    let sandbox = Sandbox::of("relay");
    for (_, flag) in Format::FLAGS {
        assert!(flag.example.0.contains(&format!("--{}", flag.name)), "{}", flag.name);
        check(&sandbox, &[flag.example]);
    }
}

#[test]
fn context_and_columns() {
    let sandbox = Sandbox::of("relay");
    assert_snapshot!("context", sandbox.run(&["ring buffer", "-A", "1", "-B", "2", "-k", "2"]).out);
    assert_snapshot!("vimgrep", sandbox.run(&["ring buffer", "--vimgrep", "-k", "3"]).out);
    assert_snapshot!("vimgrep_pattern", sandbox.run(&["-e", "parse", "--vimgrep", "src"]).out);
    for flag in ["-A1", "-C2", "-n1"] {
        let plain = sandbox.run(&["-e", "parse", "--vimgrep", "src"]).out;
        assert_eq!(sandbox.run(&["-e", "parse", "--vimgrep", "src", flag]).out, plain, "each line is a match: {flag}");
    }
    // Rows for an editor have no headings; context surrounds the other forms.
    let rows = |args: &[&str]| {
        let ran = sandbox.run(&[args, &["--vimgrep", "src/http"]].concat());
        assert!(!ran.out.is_empty(), "{args:?}");
        ran.out
    };
    for args in [&["-e", "ParseError"][..], &["ParseError"]] {
        assert_eq!(rows(&[args, &["--heading"]].concat()), rows(args));
    }
    assert!(rows(&["ParseError", "-0", "-k", "1"]).starts_with("src/http/parse.rs\x0013:"));
    let numbers = |words: &str| {
        let ran = sandbox.run(&words.split(' ').collect::<Vec<_>>());
        let number = |line: &str| line.split([':', '-']).nth(1).unwrap_or_default().to_string();
        ran.out.lines().map(number).collect::<Vec<_>>().join(" ")
    };
    for (words, expected) in [
        ("parse_request src -k 1", "19"),
        ("parse_request src -k 1 -n 1 -A 2", "19 20 21"),
        ("parse_request src -k 1 -n 2 -B 1", "18 19 20"),
        ("parse_request src -k 1 -c -B 2", "17 18 19 20 21 22 23 24 25"),
    ] {
        assert_eq!(numbers(words), expected, "{words}");
    }
    let most = usize::MAX.to_string();
    for flag in ["-n", "-A", "-C", "-B"] {
        let shown = |most: &str| sandbox.run(&["parse_request", "src/http", "-k", "1", flag, most]).out;
        assert!(shown("9999").lines().count() > 5 && shown(&most) == shown("9999"), "{flag}: {}", shown(&most));
    }
    assert_snapshot!("pattern_context", sandbox.run(&["-e", "head", "-A", "1", "src/queue"]).out);
    assert_snapshot!("heading", sandbox.run(&["ring buffer push pop", "--heading", "--per-file", "3", "-k", "2"]).out);
    assert_snapshot!("heading_pattern", sandbox.run(&["-e", "ParseError", "--heading"]).out);
    assert_snapshot!(
        "links",
        sandbox.run(&["RingBuffer", "-k", "1", "--color=always", "--hyperlink-format=vscode"]).out
    );
}

#[test]
fn the_shown_line_answers_the_query() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "queue.py",
        "def enqueue(item):\n    check(item)\n    # block while the dead letter store is saturated\n    store.append(item)\n",
    );
    check(
        &sandbox,
        &[
            ("enqueue", "queue.py:1:def enqueue(item):"),
            (
                "saturated-dead-letter-store",
                "queue.py:3:    # block while the dead letter store is saturated  [function enqueue 1-4]",
            ),
        ],
    );
    assert_snapshot!("heading_names_the_unit", sandbox.run(&["saturated dead letter store", "--heading"]).out);
}

#[test]
fn rows_for_programs() {
    let sandbox = Sandbox::of("relay");
    let rows = |args: &[&str]| -> Vec<serde_json::Value> {
        let ran = sandbox.run(args);
        ran.out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{args:?}: {e}: {l}"))).collect()
    };
    let lines = rows(&["parse request", "--jsonl", "-k", "3"]);
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["unit"]["name"], "parse_request");
    let array = &rows(&["parse request", "--json", "-k", "3"])[0];
    assert_eq!(array.as_array().expect("an array"), &lines, "--json is the array of --jsonl's rows");
    let line = &rows(&["-e", "ParseError", "--jsonl", "src/http/parse.rs"])[0];
    assert_eq!((&line["file"], &line["line"]), (&"ROOT/src/http/parse.rs".into(), &13.into()));
    assert_eq!(rows(&["-e", "ParseError", "--json", "--count", "src/http/parse.rs"])[0][0]["count"], 4);
    assert_eq!(rows(&["-e", "zzzqqq", "--json"]), [serde_json::json!([])]);
    sandbox.write(".queries", "RingBuffer\n\nzzzqqq\nparse request\n");
    let answers = rows(&["--queries-from", ".queries", "-k", "1"]);
    let shown: Vec<String> = answers
        .iter()
        .map(|a| format!("{}={}", a["query"].as_str().unwrap_or("?"), a["hits"].as_array().map_or(99, Vec::len)))
        .collect();
    assert_eq!(shown, ["RingBuffer=1", "zzzqqq=0", "parse request=1"]);
    let single = &rows(&["RingBuffer", "--json", "-k", "1"])[0];
    assert_eq!(&answers[0]["hits"], single, "many queries give what each gives alone");
    let cut = sandbox.run(&["--queries-from", ".queries", "-k", "3", "--max-tokens", "20"]);
    assert!(cut.err.contains("colgrep: RingBuffer: 0 of 3 results fit into --max-tokens 20\n"), "{cut:?}");
}

#[test]
fn a_budget_holds() {
    let sandbox = Sandbox::of("relay");
    for args in [
        &["parse request"][..],
        &["parse request", "-c"],
        &["parse request", "--json"],
        &["parse request", "--jsonl"],
        &["-e", "e"],
        &["-e", "e", "--json"],
        &["-e", "e", "--heading"],
    ] {
        let whole = sandbox.run(args).out.len();
        for tokens in [30, 120, 400] {
            let number = tokens.to_string();
            let ran = sandbox.run(&[args, &["--max-tokens", &number]].concat());
            assert!(ran.out.len() <= 4 * tokens, "{args:?} {tokens}: {} bytes", ran.out.len());
            assert_eq!(ran.out.len() < whole, ran.err.contains("--max-tokens"), "{args:?} {tokens}: {}", ran.err);
            if args.contains(&"--json") {
                assert!(serde_json::from_str::<serde_json::Value>(&ran.out).is_ok(), "{}", ran.out);
            }
        }
    }
    let first = sandbox.run(&["parse request", "-c", "-k", "1", "--max-tokens", "60"]);
    assert!(first.out.starts_with("src/http/parse.rs:19:") && first.status == 0, "a part of the best: {first:?}");
}

#[test]
fn units_are_counted_instead_of_files() {
    let sandbox = Sandbox::of("relay");
    check(&sandbox, &[("RingBuffer --units -k 3 -l src/queue", "src/queue/ring.rs")]);
    let ran = sandbox.run(&["RingBuffer", "--units", "-k", "3"]);
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
    assert!(ran.paths().iter().filter(|p| **p == "src/queue/ring.rs").count() > 1, "{}", ran.out);
}

#[test]
fn units_like_a_unit() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.py",
        "def send_invoice(customer):\n    \"\"\"Send an invoice by mail.\"\"\"\n    mail.send(customer)\n",
    );
    sandbox.write(
        "b.py",
        "def send_reminder(customer):\n    \"\"\"Send a reminder by mail.\"\"\"\n    mail.send(customer)\n",
    );
    sandbox.write("c.py", "def area(width, height):\n    return width * height\n");
    for like in ["a.py:3", "a.py#L3", "a.py:1-3"] {
        let ran = sandbox.run(&["--like", like, "-k", "1"]);
        assert_eq!((ran.status, ran.paths()), (0, vec!["b.py"]), "{ran:?}");
    }
    for (like, message) in [
        ("a.py", "has no line number"),
        ("a.py:99:1", "has no unit on line 99;"),
        ("nowhere.py:1", "no such file"),
        ("a.py:99", "has no unit on line 99; `colgrep outline a.py`"),
    ] {
        sandbox.refuses(&["--like", like], message);
    }
    sandbox.write("sub/d.py", "");
    let ran =
        sandbox.command(&["--like", "../a.py:99"]).current_dir(sandbox.root().join("sub")).output().expect("a run");
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        told.contains(&format!("`colgrep outline {}", sandbox.root().display())),
        "a path that can be used: {told}"
    );
}

#[test]
fn patterns_mean_the_same_with_and_without_a_query() {
    let sandbox = Sandbox::of("relay");
    for filter in [
        &["--include", "*.py"][..],
        &["--include", "src/"],
        &["--include", "./src/http"],
        &["--include", "/src/**/*.rs"],
        &["--include", "http/*.rs"],
        &["--exclude", "src/http/"],
        &["--exclude", "*_test.rs"],
        &["--exclude-dir", "./vendor"],
        &["--exclude-dir", "src/"],
        &["-t", "rust"],
        &["--code-only"],
        &["--tests", "only"],
        &["--tests", "exclude"],
        &["--include", "http/**", "src"],
        &["--include", "src/http/**", "src/http"],
        &["--include", "*.py", "src/http/parse.rs"],
    ] {
        let files = |start: &[&str]| {
            let out = sandbox.run(&[start, filter].concat()).out;
            let mut files: Vec<String> = out.lines().map(str::to_string).collect();
            files.sort();
            files
        };
        let (ranked, plain) = (files(&["parse", "-e", "parse", "-l", "-k", "99"]), files(&["-e", "parse", "-l"]));
        assert_eq!(ranked, plain, "{filter:?}");
    }
}

#[test]
fn tests_are_kept_or_left_out() {
    let sandbox = Sandbox::of("relay");
    check(&sandbox, &[("QUERY -l --tests only", "tests/parse_test.rs")]);
    assert!(!sandbox.run(&["parse request", "-l", "--tests", "exclude"]).out.contains("tests/"));
}

#[test]
fn tests_inside_other_files_are_tests_too() {
    let sandbox = Sandbox::new();
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn zebra_works() {}\n    fn zebra_helper() {}\n}\n";
    sandbox.write("src/zebra.rs", &format!("pub fn zebra() {{}}\n\n{tests}"));
    sandbox.write("src/plain.rs", "pub fn zebra_plain() {}\n");
    sandbox.write("tests/all.rs", "fn zebra_all() {}\n");
    sandbox.write("lib.zig", "fn zebra_zig() void {}\n\ntest \"zebra test\" {\n    zebra_zig();\n}\n");
    let lines = |tests: &str| {
        let out = sandbox.run(&["zebra", "--units", "-k", "99", "--tests", tests]).out;
        let mut lines: Vec<String> = out.lines().map(|l| l.rsplit("fn ").next().unwrap_or(l).to_string()).collect();
        lines.sort();
        lines.join(" | ")
    };
    assert_eq!(lines("exclude"), "zebra() {} | zebra_plain() {} | zebra_zig() void {}");
    assert_eq!(
        lines("only"),
        "lib.zig:3:test \"zebra test\" { | src/zebra.rs:3:#[cfg(test)] | src/zebra.rs:8:} | zebra_all() {} | zebra_helper() {} | zebra_works() {}"
    );
    check(
        &sandbox,
        &[
            ("zebra_works -e zebra -l --tests exclude", "src/zebra.rs | lib.zig | src/plain.rs"),
            ("-e zebra_works -l --tests only", ""),
        ],
    );
}

#[test]
fn names_alone_are_rows_of_json_too() {
    let sandbox = Sandbox::of("relay");
    let json = |args: &[&str]| -> serde_json::Value {
        let ran = sandbox.run(args);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{args:?}: {e}: {ran:?}"))
    };
    let names = json(&["RingBuffer", "--json", "-l", "src/queue"]);
    assert_eq!(names, serde_json::json!([{"file": "ROOT/src/queue/ring.rs"}, {"file": "ROOT/src/queue/mod.rs"}]));
    assert_eq!(json(&["RingBuffer", "--json", "--count", "-k", "1"])[0]["count"], 6);
    let units = json(&["RingBuffer", "--units", "--json", "-l", "-k", "3", "src/queue"]);
    assert_eq!(units, serde_json::json!([{"file": "ROOT/src/queue/ring.rs"}]), "a file once");
    let without = json(&["RingBuffer", "--json", "-L", "src/queue", "src/http/parse.rs"]);
    assert_eq!(without, serde_json::json!([{"file": "ROOT/src/http/parse.rs"}]));
    assert_eq!(json(&["RingBuffer", "--jsonl", "-L", "src/http/parse.rs"])["file"], "ROOT/src/http/parse.rs");
}

#[test]
fn types_are_listed_and_refused() {
    let sandbox = Sandbox::of("relay");
    let list = sandbox.run(&["--type-list"]);
    assert!(list.status == 0 && list.out.contains("rust|rs: *.rs\n"), "{}", list.out);
    sandbox.refuses(&["x", "-t", "klingon"], "--type-list");
}

#[test]
fn what_is_refused_is_named_as_it_was_typed() {
    let sandbox = Sandbox::of("relay");
    for (args, message) in [
        (&["--calls", "parse_request", "--depth", "2", "push"][..], "\"push\", and --depth takes no query beside it"),
        (&["--like", "src/http/parse.rs:19", "push"], "\"push\", and --like takes no query beside it"),
        (&["-m", "1", "parse"], "-m: only with a pattern, as in: colgrep -m 1 -e PATTERN"),
        (&["parse", "--sortr", "path"], "--sortr: not with a query"),
        (&["--kind", "class", "--sortr", "path"], "--sortr: not with --calls"),
        (&["parse", "-k", "-1"], "it takes a number from 1 on"),
        (&["parse", "-l", "--per-file", "2"], "--per-file: not with -l, which prints no units"),
        (&["parse", "--count", "-c", "--explain"], "-c and --explain: not with --count"),
        (&["parse", "-L", "--units", "--min-strength", ".5"], "--units and --min-strength: not with -L"),
        (&["-e", "parse", "-L", "--vimgrep"], "cannot be used with"),
        (&["parse", "-C", "-1"], "it takes a whole number, 0 or more"),
        (&["parse", "-j", "-1"], "it takes a whole number, 0 or more"),
        (&["parse", "-A", "abc"], "it takes a whole number, 0 or more"),
        (&["parse", "-k", "99999999999999999999"], "it is too large"),
        (&["parse", "--pack", "99999999999999999999"], "it is too large"),
        (&["--calls", "parse", "--depth", "-1"], "it takes a number from 1 on"),
        (&["parse", "--min-strength", "-0.5"], "'-0.5' for '--min-strength"),
        (&["settings", "results", "-1"], "results"),
        (&["--files", "-c"], "takes neither a pattern nor flags of matches"),
        (&["--files", "--vimgrep"], "takes neither a pattern nor flags of matches"),
        (&["--calls", "parse", "--depth", "2", "--column", "-M", "9"], "--column and -M: without effect on --depth"),
        (&["--queries-from", "queries", "-N", "-I"], "-N and -I: not with --queries-from"),
        (&["parse", "-g", ""], "--glob <GLOB> takes a value, not an empty one"),
        (&["parse", "--model", " "], "--model <ID|FOLDER> takes a value, not an empty one"),
        (&["parse", "--near", "x"], "--near x: no such file"),
        (&["parse", "--profile", "x"], "--profile: there is no profile"),
        (&["parse", "--group", "x"], "`colgrep settings groups.NAME FOLDER…` makes one"),
        (&["knobs", "--profile", ""], "--profile <NAME> takes a value, not an empty one"),
        (&["serve", "--log-queries"], "--log-queries is for a server that logs its requests"),
        (&["impact", "src"], "src is a folder; name its files"),
        (&["impact", ""], "the change is empty"),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.status == 2 && ran.out.is_empty() && ran.err.contains(message), "{args:?}: {ran:?}");
        assert!(!ran.err.contains("unexpected argument"), "{args:?}: {ran:?}");
    }
    let unknown = sandbox.run(&["--intrinsic-latency", "-k", "5"]).err;
    assert!(unknown.contains("'--query=--intrinsic-latency'") && !unknown.contains("similar"), "{unknown}");
    assert!(sandbox.run(&["--contnt", "parse"]).err.contains("'--content'"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(sandbox.root().join("src"), open).expect("a mode");
        let ran = sandbox.run(&["serve", "--token-file", "src"]);
        assert!(ran.status == 2 && !ran.err.contains("chmod"), "a folder is no file of tokens: {ran:?}");
    }
    // A command that is misspelled is a query, which finds nothing.
    for (args, command) in [
        (&["outine", "src/http/parse.rs"][..], "if a command is meant: colgrep outline src/http/parse.rs"),
        (&["statsu"], "if a command is meant: colgrep status"),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.status == 1 && ran.err.contains(command), "{args:?}: {ran:?}");
    }
    // A place as answers print it is one of its file.
    let whole = sandbox.run(&["outline", "src/http/parse.rs"]);
    assert_eq!(sandbox.run(&["outline", "src/http/parse.rs:19-25"]).out, whole.out);
    assert_eq!((whole.status, whole.out.is_empty()), (0, false));
}

#[test]
fn flags_take_the_names_that_other_tools_give_them() {
    let sandbox = Sandbox::of("relay");
    let plain = sandbox.run(&["parse", "-k", "1", "-t", "rust"]);
    for [number, language] in [["--limit", "--lang"], ["--top-k", "--language"]] {
        let ran = sandbox.run(&["parse", number, "1", language, "rust"]);
        assert_eq!((ran.status, ran.out.as_str()), (0, plain.out.as_str()), "{number} {language}: {ran:?}");
        let help = sandbox.run(&["--help"]).out;
        assert!([number, language].iter().all(|flag| !help.contains(flag)), "{number} and {language} are hidden");
    }
}

#[test]
fn flags_that_can_not_be_honoured_are_errors() {
    let sandbox = Sandbox::of("relay");
    for (args, message) in [
        (&["parse", "--semantic-only", "--model", "nosuch"][..], "neither a folder that exists"),
        (&["parse", "--alpha", "2"], "--alpha 2: expected a number from 0 to 1"),
        (&["parse", "--hyperlink-format", "nosuch"], "known names are"),
        (&["parse", "--json", "--jsonl"], "cannot be used with"),
        (&["parse", "--tests", "some"], "possible values"),
        (
            &["intall", "claude-code"],
            "; if a command is meant: colgrep install claude-code; otherwise put the question in quotes: ",
        ),
        (&["parse", "request"], "put the question in quotes: colgrep 'parse request'"),
        (&["parse", "request", "src", "*.rs"], "in quotes: colgrep 'parse request' src -g '*.rs'"),
        (&["parse", "src", "request"], "in quotes: colgrep 'parse src request'"),
        (&["parse", "*.java"], "there is no file or folder \"*.java\"; -g takes a glob: colgrep parse -g '*.java'"),
        (&["parse", "file:*.[ch]"], "in quotes: colgrep 'parse file:*.[ch]'"),
        (&["parse", "user", "lang:tsx", "kind:function"], "in quotes: colgrep 'parse user lang:tsx kind:function'"),
        (&["status", "code"], "; `colgrep 'status code'` searches for the words"),
        (&["install", "script"], "tip: `colgrep 'install script'` searches for the words"),
        (&["settings", "page"], "; `colgrep 'settings page'` searches for the words"),
        (&["--queries-from", "nowhere.txt"], "could not read nowhere.txt"),
        (&["-e", "x", "-c"], "--content: only with a query; -e alone lists matching lines"),
        (&["-e", "x", "--per-file", "2", "--alpha", ".2"], "--per-file and --alpha: only with a query"),
        (&["-e", "x", "--semantic-only"], "--semantic-only: only with a query"),
        (&["-e", "x", "--keyword-only"], "--keyword-only: only with a query"),
        (&["-e", "x", "-k", "0"], "it takes a number from 1 on"),
        (&["parse", "--explain", "--vimgrep"], "--explain prints lines between the rows of --vimgrep"),
        (&["-e", "x", "-v", "some query"], "-v: only with -e alone"),
        (&["-e", "x", "--pack", "10"], "--pack: only with a query; -e alone lists matching lines"),
        (&["-e", "x", "--no-update"], "--no-update: only with a query; -e alone doesn't use the index"),
        (&["-e", "x", "--index-mode", "lite"], "--index-mode: only with a query"),
        (&["-e", "x", "-o", "-l"], "-l: not with -o"),
        (&["-e", "x", "-o", "-L"], "-L: not with -o"),
        (&["-e", "x", "-o", "-n", "2"], "-n: not with -o"),
        (&["--files", "--calls", "nope"], "--calls: not with --files"),
        (&["--files", "--kind", "class", "--called-by", "x"], "--called-by and --kind: not with --files"),
        (&["--files", "--near", "src/main.rs"], "--near: not with --files"),
        (&["--files", "--hint", "purpose=parsing"], "--hint: not with --files"),
        (&["--files", "--semantic-only"], "--semantic-only: not with --files"),
        (&["--files", "--alpha", ".5", "--explain"], "--explain and --alpha: not with --files"),
        (&["--files", "--per-file", "2"], "--per-file: not with --files"),
        (&["--files", "--pack", "9"], "--pack: not with --files"),
        (&["--files", "--max-tokens", "9"], "--max-tokens: not with --files"),
        (&["--files", "-n", "2", "-C", "2"], "-n and -C: not with --files"),
        (&["--files", "--no-update"], "--no-update: not with --files"),
        (&["-e", "x", "--wait"], "--wait: only with a query; -e alone doesn't use the index"),
        (&["x", "--wait", "--no-update"], "--wait reads what changed, and --no-update leaves it unread"),
        (&["--calls", "push", "--near", "src/main.rs"], "--near: only with a query; without one"),
        (&["--kind", "class", "--hint", "purpose=parsing"], "--hint: only with a query; without one"),
        (&["--called-by", "push", "--expand", "kubernetes"], "--expand: only with a query; without one"),
        (&["-i", "-w", "TODO"], "-w and -i: only with a pattern, as in: colgrep -w -i -e PATTERN"),
        (&["-F", "TODO"], "only with a pattern"),
        (&["-P", "TODO"], "-P is not supported"),
        (&["-rn", "TODO"], "line numbers are always printed"),
        (&["-rn", "-e", "TODO", "src"], "line numbers are always printed"),
        (&["parse", "--per-file", "0"], "a number from 1 on"),
        (&["parse", "--semantic-only", "--index-mode", "keyword"], "leave one of them out"),
        (&["parse", ""], "colgrep: an empty path"),
        (&["-e", "parse", ""], "colgrep: an empty path"),
        (&["--queries-from", "queries", "-l"], "cannot be used with '--files-only'"),
        (&["--queries-from", "queries", "-c"], "cannot be used with '--content'"),
        (&["--queries-from", "queries", "--vimgrep"], "cannot be used with '--vimgrep'"),
        (&["--queries-from", "queries", "--count"], "cannot be used with '--count'"),
        (&["--stats", "parse"], "--stats is used alone"),
        (&["--type-list", "--json"], "--type-list is used alone"),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.status == 2 && ran.err.contains(message) && ran.out.is_empty(), "{args:?}: {ran:?}");
    }
    let ran = sandbox.run_with(&[("COLGREP_BACKGROUND", "maybe")], &["parse"]);
    assert!(ran.status == 2 && ran.err.contains("COLGREP_BACKGROUND=maybe: expected 0 or 1"), "{ran:?}");
    for args in [&["parse", "--keyword-only"][..], &["parse", "--alpha", "0.3"], &["parse", "--fusion", "rrf"]] {
        assert_eq!(sandbox.run(args).status, 0, "{args:?}");
    }
}

#[test]
fn no_tip_of_a_flag_as_a_value() {
    let sandbox = Sandbox::of("relay");
    let ran = sandbox.run(&["-Z", "parse"]);
    assert!(ran.status == 2 && ran.err.contains("'-Z'") && !ran.err.contains("tip:"), "{ran:?}");
    assert!(sandbox.run(&["--no-hiden", "parse"]).err.contains("'--no-hidden'"));
    let help = sandbox.run(&["--help"]).out;
    assert!(help.contains("--no-hidden") && help.contains("--no-code-only"), "what is suggested is documented");
}

#[cfg(unix)]
#[test]
fn what_is_no_unicode_is_named_with_its_flag() {
    use std::os::unix::ffi::OsStrExt as _;
    let odd = std::ffi::OsStr::from_bytes(b"a\xff");
    let sandbox = Sandbox::of("relay");
    for (args, told) in [
        (&["src", "-e"][..], "-e: \"a\\xFF\" is not valid UTF-8"),
        (&["parse", "--include"], "--include: \"a\\xFF\" is not valid UTF-8"),
        (&["settings", "results"], "\"a\\xFF\" is not valid UTF-8"),
        (&[], "the query is not valid UTF-8"),
    ] {
        let output = sandbox.command(args).arg(odd).output().expect("a run");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && err.contains(told), "{args:?}: {err}");
    }
}

#[test]
fn the_last_of_several_wins_and_lists_add_up() {
    let sandbox = Sandbox::of("relay");
    check(
        &sandbox,
        &[
            ("QUERY -l -l -k 5 -k 1", "src/http/parse.rs"),
            ("-e queue_capacity -i -i -l src", "src/main.rs"),
            ("-e QUEUE_capacity -i -S -l src", ""),
            ("-e QUEUE_capacity -S -i -l src", "src/main.rs"),
            ("-e ParseError -e QUEUE_CAPACITY -l src -l", "src/http/parse.rs | src/main.rs"),
            (
                "-e parse -l -t rust -l -t python vendor src/http",
                "vendor/tinyjson/parse.py | src/http/mod.rs | src/http/parse.rs | src/http/server.rs",
            ),
        ],
    );
}

#[test]
fn flags_of_grep_and_ripgrep() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("dash.txt", "a -foo\nb\n");
    check(
        &sandbox,
        &[
            ("-e -foo", "dash.txt:1:a -foo"),
            ("-e foo -v dash.txt", "dash.txt:2:b"),
            ("-e [a-z] -o dash.txt -m 1", "dash.txt:1:a | dash.txt:1:f | dash.txt:1:o | dash.txt:1:o"),
            ("-e foo -o --vimgrep dash.txt", "dash.txt:1:4:foo"),
            ("-e foo -o -C 1 dash.txt", "dash.txt:1:foo | dash.txt-2-b"),
            ("-e [a-z] -o --count dash.txt", "dash.txt:5"),
            ("-e [a-z] --count dash.txt", "dash.txt:2"),
            ("-e $ --column dash.txt", "dash.txt:1:7:a -foo | dash.txt:2:2:b"),
            ("-e b -x", "dash.txt:2:b"),
            ("-e } -x -m 1 src/queue", "src/queue/ring.rs:6:}"),
            ("-e parse -H -R -k 1 --count", "src/http/mod.rs:1"),
            ("-e CAP -S -l src", "src/main.rs"),
            ("-e cap -S -l src", "src/main.rs | src/queue/ring.rs"),
            ("-e parse -g src/http/ -g !mod.rs -l", "src/http/parse.rs | src/http/server.rs"),
            ("QUERY -l -k 1 -g *.py", "vendor/tinyjson/parse.py"),
            ("-e parse -l -k 2", "src/http/mod.rs | src/http/parse.rs"),
        ],
    );
}

#[test]
fn a_word_behind_a_pattern_is_a_place_or_a_query() {
    let sandbox = Sandbox::of("relay");
    for (args, status, remark) in [
        (&["-e", "capacity", "RingBuffer"][..], 0, ""),
        (&["-e", "capacity", "nosuch"], 1, "no file or folder \"nosuch\" here, so it is the query"),
        (&["-e", "capacity", "nosuch", "--quiet"], 1, ""),
        (&["-e", "capacity", "ring buffer"], 0, ""),
        (&["-e", "capacity", "--query", "src"], 0, ""),
        (&["-e", "capacity", "--query", "RingBuffer", "src/queue"], 0, ""),
        (&["-e", "capacity", "src"], 0, ""),
        (&["-e", "capacity", "src", "nosuch"], 2, "nosuch"),
        (&["-e", "capacity", "no/such", "src"], 2, "no/such: "),
        (&["-e", "capacity", "nosuch.rs"], 1, "so it is the query"),
        (&["-e", "capacity", "in nosuch.rs", "src"], 0, ""),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.status == status && ran.err.contains(remark), "{args:?}: {ran:?}");
        assert!(!remark.is_empty() || ran.err.is_empty(), "{args:?}: {}", ran.err);
    }
    assert!(sandbox.run(&["--query", "status", "-l", "-k", "1"]).status < 2, "a query that is a command's name");
}

#[test]
fn a_missing_place_is_told_and_the_others_are_searched() {
    let sandbox = Sandbox::of("relay");
    let all = ["src/http/parse.rs", "src/main.rs"];
    for (places, found, told) in [
        (&["src/http/parse.rs", "nope.rs", "src/main.rs"][..], &all[..], 1),
        (&["nope.rs", "src/http/parse.rs", "no/such.txt", "src/main.rs"], &all, 2),
        (&["no/such", "src/main.rs"], &all[1..], 1),
        (&["no/such"], &[], 1),
    ] {
        let ran = sandbox.run(&[&["-e", "mod|ParseError", "-l"], places].concat());
        assert_eq!((ran.status, ran.out.lines().collect::<Vec<_>>().as_slice()), (2, found), "{places:?}: {ran:?}");
        assert_eq!(ran.err.lines().filter(|l| l.starts_with("colgrep: no")).count(), told, "{places:?}: {}", ran.err);
        let silent = sandbox.run(&[&["-s", "-e", "mod|ParseError", "-l"], places].concat());
        assert_eq!((silent.status, silent.out, silent.err.as_str()), (2, ran.out, ""), "{places:?}");
    }
    assert_eq!(sandbox.run(&["-q", "-e", "mod", "nope.rs", "src/main.rs"]).status, 0, "-q is content with a match");
    let ran = sandbox.run(&["-e", "mod", "src", "nope"]);
    assert!(!ran.err.contains("in quotes"), "-e has its pattern: {}", ran.err);
}

#[test]
fn the_shown_line_matches_the_pattern() {
    let sandbox = Sandbox::of("relay");
    sandbox.write(
        "inner.py",
        "# Inner state of a counter\nclass Inner:\n    def add(self):\n        # inner sum\n        self.reset = 1\n",
    );
    for query in ["Inner", "inner sum", "counter"] {
        let ran = sandbox.run(&["-e", "reset", "--query", query, "--units", "-k", "9"]);
        assert!(ran.status == 0 && ran.out.lines().all(|l| l.contains("reset")), "{query}: {ran:?}");
    }
    check(
        &sandbox,
        &[(
            "-e capacity --query RingBuffer -k 1 src/queue",
            "src/queue/ring.rs:9:    pub fn with_capacity(capacity: usize) -> RingBuffer {  [class RingBuffer 8-24; also 1 unit]",
        )],
    );
    check(
        &sandbox,
        &[(
            "-e capacity --query RingBuffer -k 1 --vimgrep src/queue",
            "src/queue/ring.rs:9:17:    pub fn with_capacity(capacity: usize) -> RingBuffer {",
        )],
    );
}

#[test]
fn a_trace_and_an_explanation_go_together() {
    let sandbox = Sandbox::of("relay");
    let ran = sandbox.run_with(&[("COLGREP_TRACE", "1")], &["parse request", "--explain", "-k", "1"]);
    assert!(ran.status == 0 && ran.out.contains("· final ") && ran.err.contains("__COLGREP_TRACE__ {"), "{ran:?}");
    assert_eq!(ran.out, sandbox.run(&["parse request", "--explain", "-k", "1"]).out);
}
