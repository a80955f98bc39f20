//! The binary on facts of the code: who calls a name, what a name calls, units of one kind.

use std::collections::BTreeSet;

use crate::common::Sandbox;
use crate::samples::samples;
use colgrep_engine::{Engine, Env, FileAnswer, Question, SearchRequest, UnitAnswer};
use colgrep_syntax::language::may_call;

/// A queue, what fills it, and a test.
pub fn queue() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/queue.rs",
        "/// A queue.\npub struct Queue;\n\nimpl Queue {\n    /// Adds an item.\n    pub fn push(&mut self, item: u32) {\n        \
         grow(self);\n    }\n}\n\nfn grow(queue: &mut Queue) {\n    reserve(queue);\n}\n\nfn reserve(_: &mut Queue) {}\n",
    );
    sandbox.write(
        "src/fill.rs",
        "/// Fills the queue.\npub fn fill(queue: &mut Queue) {\n    // push(1) would do, too\n    for item in 0..9 {\n        \
         queue.push(item);\n    }\n}\n\npub fn Push() {}\n\npub fn refill(queue: &mut Queue) {\n    Push();\n}\n",
    );
    sandbox.write("tests/queue.rs", "#[test]\nfn it_pushes() {\n    Queue.push(1);\n}\n");
    sandbox
}

/// `path:line` of each row.
pub fn places(out: &str) -> Vec<String> {
    let place = |line: &str| line.splitn(3, ':').take(2).collect::<Vec<_>>().join(":");
    out.lines().map(place).collect()
}

#[test]
fn callers_are_listed_by_path_and_line() {
    let sandbox = queue();
    for (args, expected) in [
        (&["--calls", "push"][..], "src/fill.rs:2 tests/queue.rs:2"),
        (&["--calls", "Queue::push()"], "src/fill.rs:2 tests/queue.rs:2"),
        (&["--calls", "push", "-n"], "src/fill.rs:5 tests/queue.rs:3"),
        (&["-n", "--calls", "push"], "src/fill.rs:5 tests/queue.rs:3"),
        (&["--calls=push", "-n", "src"], "src/fill.rs:5"),
        (&["--calls", "push", "-i"], "src/fill.rs:2 src/fill.rs:11 tests/queue.rs:2"),
        (&["--calls", "push", "-i", "-k", "1"], "src/fill.rs:2 src/fill.rs:11"),
        (&["--calls", "push", "-i", "-k", "1", "--units"], "src/fill.rs:2"),
        (&["--calls", "push", "-i", "--per-file", "1"], "src/fill.rs:2 tests/queue.rs:2"),
        (&["--calls", "push", "--tests", "only"], "tests/queue.rs:2"),
        (&["--calls", "push", "--tests", "exclude"], "src/fill.rs:2"),
        (&["--calls", "push", "--include", "tests/"], "tests/queue.rs:2"),
        (&["--calls", "push", "src"], "src/fill.rs:2"),
        (&["--calls", "grow", "--calls", "reserve"], "src/queue.rs:6 src/queue.rs:11"),
        (&["--calls", "push", "-e", "0..9"], "src/fill.rs:4"),
        (&["--called-by", "push"], "src/queue.rs:11"),
        (&["--called-by", "Queue.push"], "src/queue.rs:11"),
        (&["--called-by", "PUSH", "-i"], "src/queue.rs:11"),
        (&["--called-by", "push", "--calls", "reserve"], "src/queue.rs:11"),
        (&["--kind", "class"], "src/queue.rs:2 src/queue.rs:4"),
        (&["--kind", "METHOD", "--kind", "function", "src/queue.rs"], "src/queue.rs:6 src/queue.rs:11 src/queue.rs:15"),
        (&["--calls", "push", "--kind", "method"], ""),
        (&["--calls", "pus"], ""),
        (&["--called-by", "Other.push"], ""),
    ] {
        let ran = sandbox.run(args);
        assert_eq!(places(&ran.out).join(" "), expected, "{args:?}: {}", ran.err);
        assert_eq!(ran.status, i32::from(expected.is_empty()), "{args:?}");
    }
    assert_eq!(sandbox.run(&["--calls", "push", "-l"]).out, "src/fill.rs\ntests/queue.rs\n");
    assert_eq!(sandbox.run(&["--calls", "push", "-i", "--count"]).out, "src/fill.rs:2\ntests/queue.rs:1\n");
    assert_eq!(sandbox.run(&["--calls", "push", "-L"]).out, "src/queue.rs\n");
    let ran = sandbox.run(&["--calls", "push", "-c", "tests"]);
    assert!(ran.out.contains("tests/queue.rs-3-    Queue.push(1);"), "{}", ran.out);
}

#[test]
fn lists_are_rows_of_json_too() {
    let sandbox = queue();
    let ran = sandbox.run(&["--calls", "push", "-i", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let names: Vec<&str> = rows.as_array().expect("rows").iter().filter_map(|r| r["unit"]["name"].as_str()).collect();
    assert_eq!(names, ["fill", "refill", "it_pushes"]);
    assert_eq!(sandbox.run(&["--calls", "push", "--jsonl"]).out.lines().count(), 2);
    assert_eq!(sandbox.run(&["--calls", "nobody", "--json"]).out, "[]\n");
}

#[test]
fn facts_filter_before_the_ranking() {
    let sandbox = queue();
    let ran = sandbox.run(&["a queue that grows", "--calls", "push", "-k", "9"]);
    assert_eq!(ran.paths(), ["src/fill.rs", "tests/queue.rs"], "{}", ran.out);
    let ran = sandbox.run(&["queue", "--kind", "class", "-k", "9", "--units"]);
    assert!(ran.out.lines().all(|l| l.starts_with("src/queue.rs:")) && ran.out.lines().count() == 2, "{}", ran.out);
    let ran = sandbox.run(&["--like", "src/queue.rs:11", "--kind", "method"]);
    assert_eq!(places(&ran.out), ["src/queue.rs:6"], "{}", ran.err);
}

#[test]
fn who_calls_answers_as_the_list_does() {
    let sandbox = queue();
    for name in ["push", "grow", "Queue::push", "Push"] {
        let asked = sandbox.run(&[&format!("who calls {name}"), "--calls", name, "-l", "-k", "9"]);
        let mut asked: Vec<&str> = asked.out.lines().collect();
        asked.sort_unstable();
        let first = sandbox.run(&[&format!("who calls {name}"), "-k", "1", "-l"]);
        let listed = sandbox.run(&["--calls", name, "-l"]);
        assert_eq!(asked, listed.out.lines().collect::<Vec<_>>(), "{name}");
        assert!(listed.out.contains(&first.out) && !first.out.is_empty(), "{name}: {}", first.out);
    }
}

/// A definition of a sample, as the units below it have it.
struct Expected {
    place: String,
    role: u8,
    name: String,
    calls: Vec<String>,
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn expected_units() -> Vec<Expected> {
    let mut units = Vec::new();
    for [language, file, _, expected] in samples() {
        for line in expected.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["calls", names @ ..] if line.starts_with("    ") => {
                    let last: &mut Expected = units.last_mut().expect("a unit");
                    last.calls = names.iter().map(|name| (*name).to_string()).collect();
                }
                [lines, kind, name @ ..] if line.starts_with(|c: char| c.is_ascii_digit()) => {
                    let first = lines.split('-').next().expect("a line");
                    let name = name.join(" ");
                    let is_definition = ["function", "method", "class", "constant"].iter().any(|k| kind.starts_with(k));
                    let role = match kind.split_once('.').map(|(_, role)| role) {
                        None => 0,
                        Some("extension") => 1,
                        Some("declaration") => 2,
                        Some(_) => 3,
                    };
                    units.push(Expected {
                        place: format!("{language}/{file}:{first}"),
                        role: if is_definition { role } else { 4 },
                        name: name.rsplit(['.', ':']).next().unwrap_or_default().to_string(),
                        calls: Vec::new(),
                    });
                }
                _ => {}
            }
        }
    }
    units
}

#[test]
fn the_samples_give_exact_sets() {
    let sandbox = Sandbox::new();
    for [language, file, text, _] in samples() {
        sandbox.write(&format!("{language}/{file}"), &text);
    }
    let units = expected_units();
    let engine = Engine::new(Env::default().data_in(sandbox.data()));
    let mut session = engine.session(&sandbox.root()).expect("a session");
    let mut list = |calls: &str, called_by: &str| -> BTreeSet<String> {
        let mut request = SearchRequest::default().within(sandbox.root());
        request.question = Question::Every;
        let of = |name: &str| if name.is_empty() { Vec::new() } else { vec![name.to_string()] };
        (request.scope.facts.calls, request.scope.facts.called_by) = (of(calls), of(called_by));
        let answer = session.search(&request).expect("an answer");
        let places = |f: &FileAnswer| {
            let place = |u: &UnitAnswer| format!("{}:{}", f.path, u.unit.span.line);
            f.units.iter().map(place).collect::<Vec<_>>()
        };
        answer.files.iter().flat_map(places).collect()
    };
    let calls_plainly = |unit: &Expected, name: &str| unit.calls.iter().any(|c| c.rsplit("::").next() == Some(name));
    let called: BTreeSet<&str> =
        units.iter().flat_map(|u| &u.calls).map(String::as_str).filter(|n| is_plain(n)).collect();
    assert!(called.len() > 200, "{}", called.len());
    for name in called {
        let callers = units.iter().filter(|u| calls_plainly(u, name)).map(|u| u.place.clone()).collect::<BTreeSet<_>>();
        assert_eq!(list(name, ""), callers, "--calls {name}");
    }
    let callers: BTreeSet<&str> = units
        .iter()
        .filter(|u| u.role < 4 && !u.calls.is_empty() && is_plain(&u.name))
        .map(|u| u.name.as_str())
        .collect();
    for name in callers {
        let of_name = units.iter().filter(|u| u.role < 4 && u.name == name);
        let language = |unit: &'_ Expected| unit.place.split('/').next().unwrap_or_default().to_string();
        let callees: BTreeSet<(String, &str)> =
            of_name.flat_map(|u| u.calls.iter().map(move |callee| (language(u), callee.as_str()))).collect();
        if !callees.iter().all(|(_, callee)| is_plain(callee)) {
            continue;
        }
        let mut expected = BTreeSet::new();
        for (caller, callee) in &callees {
            let is_meant = |u: &&Expected| u.name == *callee && u.role < 4 && may_call(caller, &language(u));
            let named = || units.iter().filter(is_meant);
            let role = named().map(|u| u.role).min();
            expected.extend(named().filter(|u| Some(u.role) == role).map(|u| u.place.clone()));
        }
        assert_eq!(list("", name), expected, "--called-by {name}");
    }
}

#[test]
fn mistakes_are_named() {
    let sandbox = queue();
    for (args, expected) in [
        (&["--kind", "struct"][..], "function, method, class, constant, document, section, rawcode"),
        (&["--calls", ""], "--calls <NAME> takes a value"),
        (&["--calls", "push", "-v"], "-v: only with a pattern"),
        (&["--calls", "push", "--explain"], "--explain: only with a query"),
        (&["queue", "-i"], "-i: only with a pattern"),
    ] {
        sandbox.refuses(args, expected);
    }
}

#[test]
fn ids_name_units_from_one_build_to_the_next() {
    let sandbox = queue();
    let id = |sandbox: &Sandbox, name: &str| {
        let ran = sandbox.run(&["--kind", "function", "--kind", "method", "--json"]);
        let rows: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        let mut rows = rows.as_array().expect("rows").iter();
        let row = rows.find(|r| r["unit"]["name"] == name).expect("a row");
        row["unit"]["id"].as_str().expect("an id").to_string()
    };
    let push = id(&sandbox, "push");
    assert!(push.len() == 16 && push.bytes().all(|b| b.is_ascii_hexdigit()), "{push}");
    assert_eq!(push, id(&queue(), "push"), "another project of the same files");
    assert_ne!(push, id(&sandbox, "grow"));
    sandbox.write("src/another.rs", "fn another() {}\n");
    assert_eq!(push, id(&sandbox, "push"), "the index went on");
    let (by_id, by_line) = (sandbox.run(&["--like", &push]), sandbox.run(&["--like", "src/queue.rs:6"]));
    assert_eq!(by_id.out, by_line.out, "{}", by_id.err);
    assert!(!by_id.out.is_empty() && !by_id.out.contains("src/queue.rs:6:"));
    sandbox.refuses(&["--like", "0123456789abcdef"], "no unit has the id 0123456789abcdef");
}

#[test]
fn a_line_says_what_encloses_it() {
    let sandbox = queue();
    for (args, expected) in [
        (
            &["who calls push", "-k", "1"][..],
            "src/fill.rs:5:        queue.push(item);  [function fill 2-7; also 2 units]\n",
        ),
        (&["who calls grow", "-k", "1"], "src/queue.rs:7:        grow(self);  [method Queue.push 6-8; also 1 unit]\n"),
        // A line that names its unit says enough.
        (&["reserve", "-k", "1"], "src/queue.rs:15:fn reserve(_: &mut Queue) {}\n"),
        // With more lines, or for programs, lines are unchanged.
        (&["who calls push", "-k", "1", "-n", "1"], "src/fill.rs:5:        queue.push(item);\n"),
        (&["who calls push", "-k", "1", "--vimgrep"], "src/fill.rs:5:15:        queue.push(item);\n"),
        (&["--calls", "reserve"], "src/queue.rs:11:fn grow(queue: &mut Queue) {\n"),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.out.starts_with(expected), "{args:?}: {}", ran.out);
    }
    let ran = sandbox.run(&["reserve", "-k", "1", "--jsonl"]);
    let row: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(row["also_here"], 1, "{row}");
}

#[test]
fn the_implementation_stands_for_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/cache.rs",
        "// Evicts cache entries by age: the cache evicts entries.\nuse crate::evict::entries;\n\n\
         pub fn evict(entries: &mut Vec<u32>) {\n    entries.clear();\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    \
         #[test]\n    fn cache_evicts_entries_by_age() {\n        // the cache evicts entries by age\n        \
         evict(&mut vec![1]);\n    }\n}\n",
    );
    for (query, expected) in [
        ("entries by age evicted from cache", "src/cache.rs:4:"),
        ("test of entries by age evicted from cache", "src/cache.rs:13:"),
        ("the imports of this cache", "src/cache.rs:1:"),
    ] {
        let ran = sandbox.run(&[query, "-k", "1"]);
        assert!(ran.out.starts_with(expected), "{query}: {}", ran.out);
    }
    let ran = sandbox.run(&["entries by age evicted from cache", "-k", "1", "--tests", "only"]);
    assert!(ran.out.starts_with("src/cache.rs:13:"), "{}", ran.out);
}

#[test]
fn a_pack_holds_no_licences_imports_and_brackets() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "matcher.go",
        "// Copyright 2020 The Matcher Authors.\n\npackage fzf\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/matcher/util\"\n)\n\n\
         type Matcher struct {\n\tsize int\n}\n\nconst (\n\treqRetry util.EventType = iota\n\treqReset\n)\n\n\
         // Loop puts Matcher in action.\nfunc (m *Matcher) Loop() {\n\tfmt.Println(m.size)\n}\n",
    );
    let ran = sandbox.run(&["matcher loop", "--pack", "400"]);
    assert!(ran.out.contains("class Matcher") && ran.out.contains("constant reqReset"), "{ran:?}");
    assert!(!ran.out.contains("rawcode"), "{ran:?}");
    // Who asks for them gets them.
    let ran = sandbox.run(&["imports of the matcher", "--pack", "400"]);
    assert!(ran.out.contains("example.com/matcher/util"), "{ran:?}");
}

#[test]
fn an_outline_names_functions_and_types_first() {
    let sandbox = Sandbox::new();
    sandbox
        .write("a.py", "LIMIT = 3\n\n\nclass A:\n    size = 1\n\n    def b(self):\n        pass\n\n\nprint(LIMIT)\n");
    sandbox.write("b.py", "LIMIT = 3\n");
    let lines = |args: &[&str]| sandbox.run(args).out.lines().count();
    assert_eq!(lines(&["outline", "a.py"]), 2);
    assert!(lines(&["outline", "a.py", "--all"]) >= 4);
    assert_eq!(lines(&["outline", "b.py"]), 1, "there is nothing else");
    sandbox.write("c.md", "Words before.\n\n# Head\n\nMore.\n");
    assert_eq!((lines(&["outline", "c.md"]), lines(&["outline", "c.md", "--all"])), (1, 2), "headings, and all");
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&["outline", "a.py", "--json"]).out).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(2));
}

#[test]
fn a_pack_spends_its_budget_where_the_chance_is() {
    let sandbox = queue();
    for tokens in [20, 100, 400] {
        let ran = sandbox.run(&["grow the queue", "--pack", &tokens.to_string()]);
        assert!(ran.out.len() <= 4 * tokens && ran.status == 0, "{tokens}: {}", ran.out);
        assert!(ran.out.starts_with("src/queue.rs:11-13 function grow"), "{tokens}: {}", ran.out);
        assert_eq!(ran.out.contains("    reserve(queue);\n"), tokens > 20, "{tokens}: {}", ran.out);
    }
    let ran = sandbox.run(&["grow the queue", "--pack", "400", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&rows[0]["grade"], &rows[0]["qualified_name"]), (&"full".into(), &"grow".into()), "{rows}");
    assert_eq!(rows[0]["id"].as_str().map(str::len), Some(16));
    assert_eq!(sandbox.run(&["zzzqqq", "--pack", "400"]).status, 1);
    assert_eq!(sandbox.run(&["queue", "--pack", "0"]).status, 2);
}

#[test]
fn a_pack_says_what_its_first_unit_calls_and_what_else_its_file_has() {
    let sandbox = Sandbox::new();
    sandbox.write("src/ring.py", "def widen(ring):\n    return ring\n");
    // Too long for the pack.
    let body = "    basin = basin + basin + basin\n".repeat(60);
    let queue = "from ring import widen\n\n\ndef grow_queue(queue):\n    return widen(queue)\n\n\n";
    sandbox.write("src/queue.py", &format!("{queue}def drain(basin):\n{body}"));
    let around = "calls widen src/ring.py:1\nalso here: drain:8\n";
    let ran = sandbox.run(&["grow queue", "--pack", "400"]);
    assert!(ran.out.contains(around), "{}", ran.out);
    let below = sandbox.command(&["grow queue", "--pack", "400"]).current_dir(sandbox.root().join("src")).output();
    let below = String::from_utf8(below.expect("a binary that starts").stdout).expect("text");
    assert!(below.contains("calls widen ring.py:1\n"), "{below}");
    let rows: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["grow queue", "--pack", "400", "--json"]).out).expect("JSON");
    assert!(rows[0]["text"].as_str().is_some_and(|text| text.ends_with(around)), "{rows}");
}

#[test]
fn the_line_of_a_call_is_code_and_not_what_speaks_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.rb", "class D\n  def keys(n)\n    refresh n # reload windows now\n    windows n\n  end\nend\n");
    sandbox.write(
        "b.py",
        "def keys(n):\n    \"\"\"Calls windows(n) later.\"\"\"\n    s = \"windows(1)\"\n    return windows(n)\n\n\n\
         def other(n):\n    \"\"\"Says windows(n).\"\"\"\n    return n\n",
    );
    sandbox.write(
        "c.js",
        "function keys(n) {\n  refresh(n); // windows(n) is better\n  return windows.call(this, n);\n}\n",
    );
    let listed = sandbox.run(&["--calls", "windows", "-n"]);
    assert_eq!(places(&listed.out), ["a.rb:4", "b.py:4", "c.js:3"], "{}", listed.out);
    let asked = sandbox.run(&["who calls windows", "-k", "9"]);
    let mut found = places(&asked.out);
    found.sort_unstable();
    assert_eq!(found, ["a.rb:4", "b.py:4", "c.js:3"], "{}", asked.out);
}

#[test]
fn a_class_in_a_pack_spends_no_row_on_what_parts_its_members() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "store.py",
        "class Store:\n    size = 1\n\n    def put(self, thing):\n        return thing\n\n    def get(self):\n        \
         return 1\n",
    );
    let ran = sandbox.run(&["class Store", "--pack", "400"]);
    assert!(
        ran.out.contains("\n    size = 1\nstore.py:4-5 method Store.put\n4: def put(self, thing):\n"),
        "{}",
        ran.out
    );
}

#[test]
fn who_asks_for_the_tests_of_a_file_gets_them_first() {
    let sandbox = Sandbox::new();
    sandbox.write("src/store.py", "class Store:\n    def put(self, thing):\n        return thing\n");
    sandbox
        .write("tests/test_store.py", "from store import Store\n\n\ndef test_put():\n    assert Store().put(1) == 1\n");
    sandbox.write("tests/test_api.py", "# The tests of store.py, for store.py.\ndef test_all():\n    assert 1\n");
    for query in ["tests for store.py", "find the test file for src/store.py"] {
        let ran = sandbox.run(&[query, "-k", "1", "-l"]);
        assert_eq!(ran.out, "tests/test_store.py\n", "{query}");
    }
    assert_eq!(sandbox.run(&["put in store.py", "-k", "1", "-l"]).out, "src/store.py\n");
}
