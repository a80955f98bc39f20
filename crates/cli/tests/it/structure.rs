//! Structural patterns (`--ast`): what is printed, ranked and refused, and what hostile files and patterns can't do.

use colgrep_syntax::language;
use colgrep_syntax::structure::find_in_process;
use colgrep_syntax::worker::WorkerPool;

use crate::common::{Sandbox, check};
use crate::samples::samples;

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.rs", "fn alpha() {\n    zebra(\n        one,\n        2,\n    );\n    zebra(3); zebra(4, 4)\n}\n");
    sandbox.write(
        "b.py",
        "def beta():\n    # zebra(1, 2)\n    return zebra(one, zebra(5, 6))\n\ndef gamma():\n    pass\n",
    );
    sandbox.write("notes.txt", "zebra(1, 2)\n");
    sandbox.write("web/page.vue", "<script>\nexport function draw() {\n  zebra(7, 8);\n}\n</script>\n");
    sandbox
}

#[test]
fn matches_are_printed_as_those_of_lines() {
    check(
        &project(),
        &[
            ("--ast zebra($A,$$$) -l", "a.rs | b.py | web/page.vue"),
            ("--ast zebra($A,$$$) --count", "a.rs:2 | b.py:1 | web/page.vue:1"),
            ("--ast zebra($A,$A)", "a.rs:6:    zebra(3); zebra(4, 4)"),
            ("--ast zebra($A,$A) -o", "a.rs:6:zebra(4, 4)"),
            ("--ast zebra($A,$A) --vimgrep", "a.rs:6:15:    zebra(3); zebra(4, 4)"),
            ("--ast zebra($_) a.rs -B 1", "a.rs-5-    ); | a.rs:6:    zebra(3); zebra(4, 4)"),
            (
                "--ast zebra(one,$_) -t rust -m 1",
                "a.rs:2:    zebra( | a.rs:3:        one, | a.rs:4:        2, | a.rs:5:    );",
            ),
            ("--ast zebra(one,$_) -e one", "a.rs:3:        one, | b.py:3:    return zebra(one, zebra(5, 6))"),
            ("--ast zebra(one,$_) -e ONE -i -o", "a.rs:3:one | b.py:3:one"),
            ("--ast zebra($$$) -L", ""),
            ("--ast gnu($$$) -L", "a.rs | b.py | web/page.vue"),
            ("--ast zebra($A,$$$) web", "web/page.vue:3:  zebra(7, 8);"),
        ],
    );
    let rows = project().run(&["--ast", "zebra($A, $A)", "--jsonl"]).out;
    assert!(rows.contains(r#""line":6"#) && rows.contains("zebra(3); zebra(4, 4)"), "{rows}");
    for (pattern, status) in [("zebra($$$)", 0), ("gnu($$$)", 1), ("zebra(", 2)] {
        assert_eq!(project().run(&["--ast", pattern, "-q"]).status, status, "{pattern}");
    }
}

#[test]
fn units_with_a_match_are_ranked() {
    let sandbox = project();
    check(
        &sandbox,
        &[
            ("--ast zebra($A,$$$) -l beta", "b.py"),
            ("--ast zebra(one,$$$) -l -k 9 --query zebra", "a.rs | b.py"),
            ("--ast zebra(one,$$$) -e 2, -l -k 9 --query zebra", "a.rs"),
            ("--ast zebra($$$) -l --kind function", "a.rs | b.py | web/page.vue"),
        ],
    );
    let ran = sandbox.run(&["--ast", "zebra(one, $_)", "--query", "zebra", "-k", "1", "--vimgrep", "-t", "py"]);
    assert!(ran.out.starts_with("b.py:3:"), "{ran:?}");
}

#[test]
fn what_is_not_searched_is_said() {
    let sandbox = project();
    let ran = sandbox.run(&["--ast", "gnu($$$)"]);
    assert!(ran.status == 1 && ran.err.contains("did not search 1 file: the pattern is no code in text"), "{ran:?}");
    let ran = sandbox.run(&["--ast", "gnu($$$)", "alpha"]);
    assert!(ran.status == 1 && ran.err.contains("no code in text"), "{ran:?}");
    assert_eq!(sandbox.run(&["--ast", "zebra($$$)"]).err, "");
    // The index leaves out what is too large; `--ast` alone does not.
    let large = Sandbox::new();
    large.write(
        "large.js",
        &format!(
            "zebra(1);\n{}",
            "// Nothing is called in this line, which only makes the file large.\n".repeat(20_000)
        ),
    );
    large.write("large.json", &format!("[{}1]", "1, ".repeat(400_000)));
    large.write("small.js", "function draw() {\n  zebra(2);\n}\n");
    let ran = large.run(&["--ast", "zebra($A)", "-l", "draw"]);
    let told = "--ast did not search large.js, which is too large to be indexed\n";
    assert!(ran.out == "small.js\n" && ran.err.ends_with(told), "{ran:?}");
    assert_eq!(large.run(&["--ast", "zebra($A)", "-l"]).out, "large.js | small.js\n".replace(" | ", "\n"));
    let none = "is no code in the languages of these files (python, rust, text, vue); write a whole expression";
    sandbox.refuses(&["--ast", "zebra("], none);
    sandbox.refuses(&["--ast", "zebra(", "--query", "alpha"], none);
    sandbox.refuses(&["--ast", "zebra($$$)", "notes.txt"], "(text)");
    for (args, why) in [
        (&["--ast", "$A"][..], "is no structural pattern: it matches any code"),
        (&["--ast", &"f(".repeat(2_000)], "longer than 2048 bytes"),
        (&["--ast", "f($A)", "-v"], "-v: not with --ast"),
        (&["--ast", "f($A)", "-w"], "-w: only with a pattern"),
        (&["--ast", "f($A)", "-"], "-: not with --ast"),
        (&["--ast", "f($A)", "--units"], "--units: only with a query; --ast alone"),
        (&["--ast", "f($A)", "--calls", "f", "--depth", "2"], "--ast: without effect on --depth"),
    ] {
        sandbox.refuses(args, why);
    }
    #[cfg(feature = "cluster")]
    sandbox.refuses(&["--shards", "shards.json", "--ast", "f($A)", "alpha"], "--ast parses files of this machine");
}

#[test]
fn cells_of_a_notebook_are_searched_in_their_language() {
    let sandbox = project();
    let cell = r#"{"cell_type": "code", "source": ["def draw():\n",
"    return zebra(1, \"a\")"]}"#;
    sandbox.write("n.ipynb", &format!("{{\"nbformat\": 4, \"metadata\": {{}}, \"cells\": [{cell}]}}\n"));
    check(
        &sandbox,
        &[
            ("--ast zebra($A,\"a\")", r#"n.ipynb:2:"    return zebra(1, \"a\")"]}]}"#),
            ("--ast zebra($A,\"a\") -o", r#"n.ipynb:2:zebra(1, \"a\")"#),
            ("--ast zebra($A,\"a\") -l draw", "n.ipynb"),
        ],
    );
    sandbox.refuses(&["--ast", "zebra(", "n.ipynb"], "is no code in the languages of these files (jupyter)");
}

#[test]
fn a_worker_matches_as_the_process_does() {
    let pool = WorkerPool::new(env!("CARGO_BIN_EXE_colgrep").into());
    let mut matches = 0;
    for [name, _, sample, _] in samples() {
        let language = language::by_name(&name).expect("a row");
        for pattern in ["$A($$$)", "$A = $B", "foo($A, $$$)"] {
            let here = find_in_process(&sample, language, pattern);
            assert_eq!(pool.find(&sample, language, pattern), here, "{name}: {pattern}");
            matches += here.map_or(0, |found| found.places.len());
        }
    }
    assert!(pool.has_started() && matches > 100, "{matches}");
}

#[test]
fn bombs_end_a_search_for_code_at_most() {
    let pool = WorkerPool::new(env!("CARGO_BIN_EXE_colgrep").into());
    let rust = language::by_name("rust").expect("a row");
    let nested = |pattern: &str, times: usize| pattern.repeat(times) + &")".repeat(times);
    for (text, pattern) in [
        // A text that nests as deep as its length, also where a metavariable compares two of them.
        ("(".repeat(50_000), "foo($A)".to_string()),
        (format!("fn f() {{ {a} == {a}; }}", a = nested("g(", 20_000)), "$A == $A".to_string()),
        // A pattern that does, and one whose time doubles with each list.
        ("fn f() {}".to_string(), nested("g(", 700)),
        (format!("fn f() {{ {}; }}", nested("g(1, ", 400)), nested("g($$$, ", 12)),
        ("fn f() { g(1); }\n".repeat(60_000), "$A($B)".to_string()),
    ] {
        // The outcome differs by machine and stack; there is one.
        let found = pool.find(&text, rust, &pattern);
        assert!(found.as_ref().map_or_else(|why| !why.is_empty(), |found| found.places.len() < 1_000_000), "{pattern}");
        let after = pool.find("fn f() { foo(1) }", rust, "foo($A)").expect("a worker");
        assert_eq!(after.places, [(9, 15)]);
    }
    let sandbox = Sandbox::new();
    sandbox.write("here.rb", &format!("<<\"\n{}\"\nfoo(1)\n", "0".repeat(255)));
    let ran = sandbox.run(&["--ast", "foo($A)"]);
    assert!(ran.status == 2 && ran.err.contains("--ast did not search here.rb, which "), "{ran:?}");
    sandbox.write("ring.rb", "def ring\n  foo(2)\nend\n");
    let ran = sandbox.run(&["--ast", "foo($A)"]);
    assert!(ran.status == 0 && ran.out.contains("foo(2)") && ran.err.contains("here.rb"), "{ran:?}");
}

#[test]
fn a_pattern_of_bytes_may_match_inside_a_character() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def f():\n    foo(\"é\", 1)\n");
    check(&sandbox, &[("--ast foo($A,$$$) -e (?-u:\\xa9) -l f", "a.py")]);
}

#[test]
fn a_file_that_is_read_in_part_is_not_denied() {
    let sandbox = Sandbox::new();
    sandbox.write("big.py", &("x = 1\n".repeat(1_700_000) + "zebra(1)\n"));
    let ran = sandbox.run(&["--ast", "zebra($A)", "big.py"]);
    assert!(ran.status == 2 && ran.err.contains("too large to parse"), "{ran:?}");
}
