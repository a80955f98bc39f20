//! Calls over several levels, and what a change affects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::common::mcp::Client;
use crate::common::{Sandbox, git, run_in};
use crate::facts::{places, queue};

/// `path:line [notes]` of each row.
fn rows(out: &str) -> Vec<String> {
    let notes = |line: &str| line.rsplit_once("  [").map_or("", |(_, notes)| notes.trim_end_matches(']')).to_string();
    places(out).into_iter().zip(out.lines()).map(|(place, line)| format!("{place} {}", notes(line))).collect()
}

#[test]
fn calls_are_followed_over_levels() {
    let sandbox = queue();
    let callers = [
        "src/queue.rs:11 level 1, calls reserve",
        "src/queue.rs:6 level 2, calls grow",
        "src/fill.rs:2 level 3, calls push by name",
        "tests/queue.rs:2 level 3, calls push by name, test",
    ];
    for (args, expected) in [
        (&["--calls", "reserve", "--depth", "9"][..], &callers[..]),
        (&["--calls", "reserve", "--depth", "2"], &callers[..2]),
        (&["--calls", "reserve", "--depth", "9", "--tests", "exclude"], &callers[..3]),
        (&["--calls", "reserve", "--depth", "9", "tests"], &callers[3..]),
        (&["--calls", "reserve", "--depth", "9", "--kind", "method"], &callers[1..2]),
        (
            &["--called-by", "Queue.push", "--depth", "9"],
            &["src/queue.rs:11 level 1, called as grow", "src/queue.rs:15 level 2, called as reserve"],
        ),
        (&["--calls", "nobody", "--depth", "9"], &[]),
    ] {
        let ran = sandbox.run(args);
        assert_eq!(rows(&ran.out), expected, "{args:?}: {}", ran.err);
        assert_eq!(ran.status, i32::from(expected.is_empty()), "{args:?}");
    }
    assert_eq!(sandbox.run(&["--calls", "reserve", "--depth", "2", "-l"]).out, "src/queue.rs\n");
    for (flag, told) in [("--calls", "calls nobody"), ("--called-by", "is called by nobody")] {
        let ran = sandbox.run(&[flag, "nobody", "--depth", "2"]);
        assert!(ran.err.contains(&format!("there is no definition here that {told}")), "{ran:?}");
    }
    let ran = sandbox.run(&["--calls", "push", "--depth", "1", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).expect("JSON");
    let told = found.as_array().expect("rows").iter();
    let told: Vec<_> = told.map(|row| (&row["qualified_name"], &row["certainty"], &row["level"])).collect();
    assert_eq!(format!("{told:?}").matches("by name").count(), 2, "{told:?}");
}

#[test]
fn a_method_of_the_own_class_is_not_that_of_what_the_object_has() {
    let sandbox = Sandbox::new();
    for (file, text) in [
        (
            "log.py",
            "class Log:\n    def push(self, x):\n        pass\n\n    def part(self, x):\n        self.items.push(x)\n\n    \
             def other(self, one):\n        one.push(self)\n\n    def own(self, x):\n        self.push(x)\n",
        ),
        (
            "log.ts",
            "class Log {\n  push(x: number) {}\n  part(x: number) { this.items?.push(x); }\n  other(one: Set) { one.push(1); }\n  \
             own(x: Log) { x.push(1); }\n}\n",
        ),
        (
            "log.rb",
            "class Log\n  def push(x)\n  end\n\n  def part(x)\n    @items.push x\n  end\n\n  def other(one)\n    one.push 1\n  \
             end\n\n  def own(x)\n    push x\n  end\nend\n",
        ),
        (
            "log.go",
            "package log\n\ntype Log struct{ items Set }\n\nfunc (l *Log) push(x int) {}\n\nfunc (l *Log) part(x int) { \
             l.items.push(x) }\n\nfunc (l *Log) other(one Set) { one.push(1) }\n\nfunc (l *Log) own(x int) { l.push(x) }\n",
        ),
        (
            "Log.java",
            "class Log {\n  void push(int x) {}\n  void part(int x) { this.items.push(x); }\n  void other(int x) { items.push(x); \
             }\n  void own(int x) { push(x); }\n}\n",
        ),
    ] {
        sandbox.write(file, text);
        let ran = sandbox.run(&["--calls", "push", "--depth", "1", "--json"]);
        let found: Value = serde_json::from_str(&ran.out).expect("JSON");
        let told = found.as_array().expect("rows").iter();
        let told: BTreeMap<_, _> =
            told.map(|row| (row["qualified_name"].as_str(), row["certainty"] == "by name")).collect();
        let expected = [(Some("Log.other"), true), (Some("Log.own"), false), (Some("Log.part"), true)];
        assert_eq!(told, BTreeMap::from(expected), "{file}: {}", ran.out);
        std::fs::remove_file(sandbox.root().join(file)).expect("removed");
    }
}

#[test]
fn calls_mean_definitions_of_related_languages_and_other_names() {
    let sandbox = Sandbox::new();
    for (file, text) in [
        ("lib.py", "def parse_it(x):\n    return x\n"),
        ("app.js", "function run() {\n  parse_it(1);\n}\n"),
        ("app.py", "from lib import parse_it as read_it\n\n\ndef use():\n    read_it(1)\n"),
        ("own.ts", "export function shape() {}\n"),
        ("index.ts", "export { shape as form } from './own';\n"),
        ("page.vue", "<script>\nimport { form } from './index';\nfunction page() {\n  form();\n}\n</script>\n"),
    ] {
        sandbox.write(file, text);
    }
    for (args, expected) in [
        (&["--called-by", "run"][..], &[][..]),
        (&["--called-by", "run", "--depth", "2"], &[]),
        (&["--calls", "parse_it", "--depth", "2"], &["app.py:4 level 1, calls read_it"]),
        (&["--called-by", "use", "--depth", "2"], &["lib.py:1 level 1, called as read_it"]),
        (&["--calls", "shape", "--depth", "2"], &["page.vue:3 level 1, calls form"]),
    ] {
        let ran = sandbox.run(args);
        assert_eq!(rows(&ran.out), expected, "{args:?}: {}", ran.err);
    }
}

#[test]
fn cycles_end_and_common_names_are_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("game.py", "def ping():\n    pong()\n\n\ndef pong():\n    ping()\n");
    assert_eq!(
        rows(&sandbox.run(&["--calls", "ping", "--depth", "9"]).out),
        ["game.py:5 level 1, calls ping"],
        "the start does not come again"
    );
    sandbox.write("lib.py", "def leaf():\n    pass\n");
    sandbox.write("user.py", "def use(one):\n    one.step()\n");
    (0..7).for_each(|at| sandbox.write(&format!("m{at}.py"), "def step():\n    leaf()\n"));
    let ran = sandbox.run(&["--calls", "leaf", "--depth", "2"]);
    assert_eq!(ran.out.lines().count(), 7, "{}", ran.out);
    assert!(ran.err.contains("step (7)"), "{}", ran.err);
    // A name that is asked for is looked up however common it is.
    assert_eq!(rows(&sandbox.run(&["--calls", "step", "--depth", "1"]).out), ["user.py:1 level 1, calls step by name"]);
}

#[test]
fn an_agent_follows_calls_over_levels() {
    let sandbox = queue();
    let mut client = Client::start(&sandbox, &[]);
    let callers = client.good("search", json!({"calls": "reserve", "depth": 9}));
    let expected = [
        "src/queue.rs:11: fn grow(queue: &mut Queue)  [level 1, calls reserve]\n",
        "src/queue.rs:6: pub fn push(&mut self, item: u32)  [level 2, calls grow]\n",
        "src/fill.rs:2: pub fn fill(queue: &mut Queue)  [level 3, calls push by name]\n",
        "tests/queue.rs:2: fn it_pushes()  [level 3, calls push by name, test]\n",
    ];
    assert_eq!(callers, expected.concat());
    for (arguments, lines) in [
        (json!({"calls": "reserve", "depth": 2}), &expected[..2]),
        (json!({"calls": "reserve", "depth": 9, "tests": "exclude"}), &expected[..3]),
        (json!({"calls": "reserve", "depth": 9, "paths": "tests"}), &expected[3..]),
        (json!({"calls": "reserve", "depth": 9, "file": "tests/queue.rs"}), &expected[3..]),
        (json!({"calls": "reserve", "depth": 9, "kind": "method"}), &expected[1..2]),
        (json!({"calls": "reserve", "depth": 9, "offset": 3}), &expected[3..]),
    ] {
        assert_eq!(client.good("search", arguments.clone()), lines.concat(), "{arguments}");
    }
    let callees = client.good("search", json!({"called_by": ["Queue.push"], "depth": 2}));
    assert!(callees.contains("reserve(_: &mut Queue)  [level 2, called as reserve]"), "{callees}");
    for depth in [json!(null), json!(2)] {
        let nobody = client.good("search", json!({"calls": "nobody", "depth": depth}));
        assert!(nobody.ends_with("(there is no definition here that calls nobody)\n"), "{nobody}");
    }
    // Where something else limits the search too, it is named.
    for (arguments, told) in [
        (json!({"calls": "push", "include": ["*.md"]}), "no file here passes `include` *.md"),
        (json!({"calls": "reserve", "depth": 2, "languages": ["go"]}), "passes `languages` go"),
        (json!({"kind": "class", "paths": "tests"}), "there is no class in tests"),
        (json!({"kind": "class", "tests": "only"}), "no class here passes `tests` only"),
        (json!({"kind": "constant"}), "there is no constant here"),
    ] {
        let told = format!("{told})\n");
        let nothing = client.good("search", arguments.clone());
        assert!(nothing.ends_with(&told), "{arguments}: {nothing}");
    }
    for (arguments, why) in [
        (json!({"name": "push", "kind": "class"}), "no class in what is searched is named \"push\""),
        (json!({"name": "reserve", "paths": "tests"}), "no unit in what is searched is named \"reserve\""),
        (json!({"query": "push", "depth": 2}), "depth follows one of `calls` and `called_by`"),
        (json!({"calls": "push", "called_by": "push", "depth": 2}), "depth follows one of"),
        (json!({"calls": "push", "query": "fill", "depth": 2}), "`query`: without effect beside `depth`"),
    ] {
        let (told, failed) = client.call("search", arguments.clone());
        assert!(failed && told.contains(why), "{arguments}: {told}");
    }
}

#[test]
fn a_depth_needs_one_direction() {
    let sandbox = queue();
    for (args, expected) in [
        (&["--depth", "2"][..], "--depth follows one of --calls and --called-by"),
        (&["--calls", "a", "--called-by", "b", "--depth", "2"], "--depth follows one of --calls and --called-by"),
        (&["--calls", "a", "--depth", "2", "-k", "3"], "-k: without effect on --depth"),
    ] {
        sandbox.refuses(args, expected);
    }
}

/// A ring, what uses, extends, tests and names it, and a second commit of two files.
fn rings() -> Sandbox {
    let sandbox = Sandbox::new();
    let ring = "class Ring:\n    def push(self, item):\n        self.items.append(item)\n\n    def pop(self):\n        return self.items.pop()\n";
    let app = "from ring import Ring\n\n\ndef fill_ring(ring):\n    ring.push(1)\n";
    sandbox.write("ring.py", ring);
    sandbox.write("app.py", app);
    sandbox.write(
        "fast.py",
        "from ring import Ring\n\n\nclass FastRing(Ring):\n    def push(self, item):\n        pass\n",
    );
    sandbox.write("test_ring.py", "from ring import Ring\n\n\ndef test_push():\n    Ring().push(1)\n");
    sandbox.write("README.md", "# Rings\n\n`fill_ring` fills one.\n");
    sandbox.write("alone.py", "def alone():\n    pass\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "ring.py", "fast.py", "test_ring.py", "README.md"]);
    git(&sandbox, &["commit", "-qm", "Add a ring"]);
    git(&sandbox, &["add", "-A"]);
    git(&sandbox, &["commit", "-qm", "Add an application"]);
    sandbox.write("ring.py", &ring.replace("return self", "return  self"));
    sandbox.write("app.py", &app.replace("push(1)", "push(2)"));
    git(&sandbox, &["commit", "-qam", "Push and pop otherwise"]);
    sandbox.write("ring.py", &ring.replace("append(item)", "append([item])").replace("return self", "return  self"));
    sandbox
}

/// The kinds of reasons by file.
fn reasons(sandbox: &Sandbox, args: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let ran = sandbox.run(&[&["impact", "--json"], args].concat());
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let kinds = |row: &Value| {
        let kinds = row["reasons"].as_array().expect("reasons").iter();
        kinds.map(|reason| reason["kind"].as_str().expect("a kind").to_string()).collect()
    };
    let name = |row: &Value| row["file"].as_str().expect("a file").trim_start_matches("ROOT/").to_string();
    found.as_array().expect("rows").iter().map(|row| (name(row), kinds(row))).collect()
}

#[test]
fn a_change_affects_callers_heirs_importers_tests_and_companions() {
    let sandbox = rings();
    let has = |found: &BTreeMap<String, BTreeSet<String>>, file: &str, kinds: &[&str]| {
        let own = found.get(file).unwrap_or_else(|| panic!("{file}: {found:?}"));
        assert!(kinds.iter().all(|kind| own.contains(*kind)), "{file} {kinds:?}: {found:?}");
    };
    for args in [&[][..], &["ring.py:2"]] {
        let found = reasons(&sandbox, args);
        has(&found, "app.py", &["calls", "imports", "together"]);
        has(&found, "fast.py", &["overrides", "imports"]);
        has(&found, "test_ring.py", &["calls", "tests"]);
        assert!(!found.contains_key("alone.py"), "{args:?}: {found:?}");
        assert!(!found.contains_key("ring.py"), "{args:?}: {found:?}");
    }
    sandbox.write("limits.py", "RING_SIZE = 3\n");
    sandbox.write("other.py", "def other(limits):\n    return limits.RING_SIZE\n");
    has(&reasons(&sandbox, &["limits.py"]), "other.py", &["names"]);
    for file in ["limits.py", "other.py"] {
        std::fs::remove_file(sandbox.root().join(file)).expect("a file");
    }
    let found = reasons(&sandbox, &["app.py:4"]);
    has(&found, "README.md", &["names"]);
    has(&found, "ring.py", &["together"]);
    // The last commit changed the caller and `pop`, which nothing overrides.
    let found = reasons(&sandbox, &["HEAD"]);
    has(&found, "fast.py", &["imports"]);
    assert!(!found["fast.py"].contains("overrides") && !found.contains_key("app.py"), "{found:?}");
    assert_eq!(reasons(&sandbox, &["HEAD~1..."]), found, "the same as a range");
    // Who imports a file does so on no line that is known.
    let ran = sandbox.run(&["impact", "HEAD"]);
    assert!(ran.out.contains("fast.py") && !ran.out.contains(":1:  ["), "{ran:?}");
    let ran = sandbox.run(&["impact", "--tests", "only", "-l"]);
    assert_eq!(ran.out, "test_ring.py\n", "{}", ran.err);
    let ran = sandbox.run(&["impact", "--tests", "exclude", "-l"]);
    assert!(!ran.out.contains("test_ring.py") && ran.out.contains("app.py"), "{ran:?}");
    assert_eq!(sandbox.run(&["impact", "-k", "1", "-l"]).out.lines().count(), 1);
    let ran = sandbox.run(&["impact"]);
    assert!(
        ran.out.contains("overrides Ring.push in ring.py") && ran.err.contains("1 changed unit in 1 file"),
        "{ran:?}"
    );
}

#[test]
fn a_class_is_called_where_an_object_is_made() {
    for (file, class, line, user, calls) in [
        (
            "tank.py",
            "class Tank:\n    def __init__(self, n):\n        self.n = n\n",
            2,
            "use.py",
            "def use():\n    Tank(3)\n",
        ),
        (
            "tank.rb",
            "class Tank\n  def initialize(n)\n    @n = n\n  end\nend\n",
            2,
            "use.rb",
            "def use\n  Tank.new(3)\nend\n",
        ),
        (
            "tank.js",
            "export class Tank {\n  constructor(n) {\n    this.n = n;\n  }\n}\n",
            2,
            "use.js",
            "function use() {\n  new Tank(3);\n}\n",
        ),
        (
            "tank.php",
            "<?php\nclass Tank {\n  function __construct($n) {\n    go($n);\n  }\n}\n",
            3,
            "use.php",
            "<?php\nfunction f() {\n  new Tank(3);\n}\n",
        ),
        (
            "Tank.java",
            "class Tank {\n  Tank(int n) {\n    go(n);\n  }\n}\n",
            2,
            "Use.java",
            "class Use {\n  void f() {\n    new Tank(3);\n  }\n}\n",
        ),
        (
            "Tank.cs",
            "class Tank {\n  Tank(int n) {\n    Go(n);\n  }\n}\n",
            2,
            "Use.cs",
            "class Use {\n  void F() {\n    new Tank(3);\n  }\n}\n",
        ),
        (
            "tank.cpp",
            "class Tank {\n  Tank(int n) {\n    go(n);\n  }\n};\n",
            2,
            "use.cpp",
            "void use() {\n  Tank t(3);\n}\n",
        ),
        (
            "tank.hpp",
            "class Tank {\n  Tank(int n) {\n    go(n);\n  }\n};\n",
            2,
            "use.cpp",
            "void use() {\n  Tank t{3};\n}\n",
        ),
        (
            "tank.rs",
            "struct Tank;\nimpl Tank {\n    fn new(n: u8) -> Tank {\n        go(n)\n    }\n}\n",
            3,
            "use.rs",
            "fn f() {\n    Tank::new(3);\n}\n",
        ),
        (
            "Tank.kt",
            "class Tank {\n  constructor(n: Int) {\n    go(n)\n  }\n}\n",
            2,
            "Use.kt",
            "fun use() {\n  Tank(3)\n}\n",
        ),
        (
            "Tank.swift",
            "class Tank {\n  init(n: Int) {\n    go(n)\n  }\n}\n",
            2,
            "Use.swift",
            "func use() {\n  Tank(n: 3)\n}\n",
        ),
        (
            "tank.go",
            "package p\n\ntype Tank struct {\n\tN int\n}\n",
            4,
            "use.go",
            "package p\n\nfunc use() {\n\tgo_on(&Tank{N: 3})\n}\n",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(file, class);
        sandbox.write(user, calls);
        let found = reasons(&sandbox, &[&format!("{file}:{line}")]);
        assert!(found.get(user).is_some_and(|kinds| kinds.contains("calls")), "{file}: {found:?}");
        for more in [&[][..], &["--depth", "1"]] {
            let ran = sandbox.run(&[&["--calls", "Tank", "-l"], more].concat());
            assert!(ran.out.lines().any(|line| line == user), "{file} {more:?}: {ran:?}");
        }
    }
    // Of two classes of one name, each is called where it is seen.
    let sandbox = Sandbox::new();
    for part in ["a", "b"] {
        sandbox.write(&format!("{part}.py"), "class Tank:\n    def __init__(self, n):\n        self.n = n\n");
        sandbox.write(&format!("use_{part}.py"), &format!("from {part} import Tank\n\n\ndef use():\n    Tank(3)\n"));
    }
    let found = reasons(&sandbox, &["a.py:2"]);
    assert!(found["use_a.py"].contains("calls") && !found.contains_key("use_b.py"), "{found:?}");
}

#[test]
fn a_question_for_callers_says_where_none_is_known() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "lib.py",
        "def lonely(x):\n    return x\n\n\ndef called():\n    return 1\n\n\ndef use():\n    called()\n",
    );
    sandbox.write("run.yml", "run: lonely 3\n");
    sandbox.write("limit.py", "MAX_LEN = 3\n\n\ndef cut(text):\n    return text[:MAX_LEN]\n");
    let mut client = Client::start(&sandbox, &[]);
    for question in ["who uses MAX_LEN", "where is MAX_LEN read", "references to MAX_LEN"] {
        let ran = sandbox.run(&[question, "-k", "1"]);
        assert!(ran.out.starts_with("limit.py:5:") && ran.err.is_empty(), "{question}: {ran:?}");
    }
    for (question, is_told) in [
        ("who calls lonely", true),
        ("callers of lonely", true),
        ("what calls lonely", true),
        ("who calls called", false),
        ("who calls nobody", false),
        ("where is lonely used", true),
    ] {
        let told = "no definition here is known to call lonely";
        let ran = sandbox.run(&[question]);
        assert_eq!(ran.err.contains(told) && ran.err.contains("-w -e lonely"), is_told, "{question}: {ran:?}");
        let answer = client.good("search", json!({"query": question}));
        assert_eq!(answer.contains(told) && answer.contains("`pattern` lonely"), is_told, "{question}: {answer}");
    }
}

#[test]
fn a_question_for_subtypes_shows_what_extends_the_type() {
    for (ending, vessel, tank, line) in [
        (
            "py",
            "class Vessel:\n    size = 1\n",
            "from vessel import Vessel\n\n\nclass Tank(Vessel):\n    size = 2\n",
            4,
        ),
        ("cpp", "class Vessel {\n  int size;\n};\n", "\nclass Tank : public Vessel {\n  int depth;\n};\n", 2),
        (
            "rs",
            "pub trait Vessel {\n    fn fill(&self);\n}\n",
            "pub struct Tank;\n\nimpl Vessel for Tank {\n    fn fill(&self) {}\n}\n",
            3,
        ),
        ("rb", "class Vessel\n  def fill\n  end\nend\n", "\nclass Tank < Vessel\n  def fill\n  end\nend\n", 2),
        (
            "ts",
            "export interface Vessel {\n  size: number;\n}\n",
            "import { Vessel } from './vessel';\n\nexport class Tank implements Vessel {\n  size = 3;\n}\n",
            3,
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(&format!("vessel.{ending}"), vessel);
        sandbox.write(&format!("tank.{ending}"), tank);
        for question in ["what extends Vessel", "implementations of Vessel", "subclasses of Vessel"] {
            let ran = sandbox.run(&[question, "-k", "1"]);
            assert!(ran.out.starts_with(&format!("tank.{ending}:{line}:")), "{question}: {ran:?}");
        }
    }
}

#[test]
fn callers_of_what_is_gone_are_affected() {
    let sandbox = rings();
    git(&sandbox, &["checkout", "-q", "ring.py"]);
    sandbox.write("use.py", "from app import fill_ring\n\n\ndef use():\n    fill_ring(None)\n");
    sandbox.write("own.py", "def own():\n    fill_ring()\n\n\ndef fill_ring():\n    pass\n");
    git(&sandbox, &["add", "-A"]);
    git(&sandbox, &["commit", "-qm", "Use it"]);
    let app = "from ring import Ring\n\n\ndef fill_ring(ring):\n    ring.push(2)\n";
    for change in ["def fill(ring):\n    ring.push(2)\n", "fill = 1\n"] {
        sandbox.write("app.py", change);
        let found = reasons(&sandbox, &[]);
        assert!(found["use.py"].contains("calls"), "{change}: {found:?}");
        assert!(!found.contains_key("own.py"), "it calls its own: {found:?}");
    }
    std::fs::remove_file(sandbox.root().join("app.py")).expect("a file");
    assert!(reasons(&sandbox, &[])["use.py"].contains("calls"));
    // In another file unchanged, it is gone from where they look for it.
    sandbox.write("core.py", app);
    let found = reasons(&sandbox, &[]);
    assert!(found["use.py"].contains("imports") && found["use.py"].contains("calls"), "{found:?}");
}

#[test]
fn a_commit_whose_parent_is_not_there_is_refused() {
    let sandbox = rings();
    let shallow = Sandbox::new();
    let from = format!("file://{}", sandbox.root().display());
    git(&shallow, &["clone", "-q", "--depth", "1", &from, "."]);
    shallow.refuses(&["impact", "HEAD"], "a shallow clone, which lacks the parent of");
    shallow.refuses(&["impact", "HEAD"], "`git fetch --deepen 1` brings it");
    git(&shallow, &["fetch", "-q", "--deepen", "1"]);
    assert!(reasons(&shallow, &["HEAD"])["fast.py"].contains("imports"));
    // A first commit has no parent, whatever the hash function.
    for format in ["sha1", "sha256"] {
        let first = Sandbox::new();
        first.write("a.py", "def a():\n    pass\n");
        first.write("b.py", "from a import a\n\n\ndef b():\n    a()\n");
        git(&first, &["init", "-q", "--object-format", format]);
        git(&first, &["add", "a.py"]);
        assert!(reasons(&first, &["--staged"])["b.py"].contains("calls"), "{format}");
        git(&first, &["commit", "-qm", "One"]);
        assert!(reasons(&first, &["HEAD"])["b.py"].contains("calls"), "{format}");
    }
}

#[test]
fn a_test_that_changed_is_to_be_run_too() {
    let sandbox = rings();
    sandbox.write("test_alone.py", "def test_alone():\n    assert True\n");
    sandbox.write("src/unit.rs", "fn one() {}\n\n#[test]\nfn is_one() {\n    one();\n}\n");
    let ran = sandbox.run(&["impact", "--tests", "only", "-l"]);
    assert_eq!(ran.out, "src/unit.rs\ntest_alone.py\ntest_ring.py\n", "{}", ran.err);
    assert!(sandbox.run(&["impact", "--tests", "only"]).out.contains("[changed itself]"));
    assert!(!reasons(&sandbox, &[]).contains_key("test_alone.py"), "it is no other file");
}

#[test]
fn a_change_may_be_lines() {
    let sandbox = rings();
    let changed = |place: &str| sandbox.run(&["impact", place]).err;
    for (place, told) in [
        ("ring.py:2", "1 changed unit"),
        ("ring.py:2-3", "1 changed unit"),
        ("ring.py:5-6", "1 changed unit"),
        ("ring.py:1-6", "3 changed units"),
        ("ring.py:1", "1 changed unit"),
        ("ring.py:5:9", "1 changed unit"),
        ("app.py:1-2", "0 changed units"),
    ] {
        assert!(changed(place).contains(told), "{place}: {}", changed(place));
    }
    for place in ["ring.py:99", "ring.py:99-100"] {
        sandbox.refuses(&["impact", place], "counted from 1, so there is no line");
    }
    for behind in ["0", "3-2", "2x"] {
        let told = format!("ring.py exists, but \"{behind}\" after it is not a line; lines count from 1");
        sandbox.refuses(&["impact", &format!("ring.py:{behind}")], &told);
    }
    assert_eq!(reasons(&sandbox, &["HEAD~1..HEAD"]), reasons(&sandbox, &["HEAD~1...HEAD"]));
}

#[test]
fn what_is_staged_is_a_change_of_its_own() {
    let sandbox = rings();
    for (args, told) in [
        (&["impact", "--staged"][..], "colgrep: nothing is staged\n"),
        (&["impact", "HEAD..HEAD"], "colgrep: HEAD..HEAD changes no file here\n"),
        (&["impact", "--staged", "--json"], ""),
    ] {
        let ran = sandbox.run(args);
        assert_eq!((ran.status, ran.err.as_str()), (1, told), "{args:?}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let readme = sandbox.root().join("README.md");
        let mode =
            |mode: u32| std::fs::set_permissions(&readme, std::fs::Permissions::from_mode(mode)).expect("a mode");
        mode(0o755);
        git(&sandbox, &["add", "README.md"]);
        let ran = sandbox.run(&["impact", "--staged"]);
        assert_eq!((ran.status, ran.err.as_str()), (1, "colgrep: only the mode of README.md changed\n"));
        git(&sandbox, &["commit", "-qm", "Make it a program"]);
        let ran = sandbox.run(&["impact", "HEAD"]);
        assert_eq!((ran.status, ran.err.as_str()), (1, "colgrep: only the mode of README.md changed\n"));
    }
    let uncommitted = reasons(&sandbox, &[]);
    git(&sandbox, &["add", "ring.py"]);
    assert_eq!(reasons(&sandbox, &["--staged"]), uncommitted);
}

#[test]
fn a_change_that_is_not_known_is_refused() {
    let sandbox = rings();
    for (args, expected) in [
        (&["impact", "nosuch"][..], "there is no such file, and git knows no commit nosuch; a change is a commit"),
        (&["impact", "no/such.py"], "there is no such file, and git knows no commit no/such.py"),
        (&["impact", "main...nosuch"], "git knows no commit main...nosuch"),
        (&["impact", "--", "--output=x"], "git knows no commit --output=x"),
        (&["impact", "ring.py", "nosuch"], "there is no file \"nosuch\""),
    ] {
        sandbox.refuses(args, expected);
    }
    let outside = queue();
    outside.refuses(&["impact"], "is in no git repository; name what changed as FILE");
    let found = reasons(&outside, &["src/queue.rs:15"]);
    assert!(found["src/queue.rs"].contains("calls"), "a caller in the changed file itself: {found:?}");
}

#[test]
fn what_changed_itself_is_not_affected() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "lib.py",
        "class Base:\n    def run(self):\n        return helper()\n\n\nclass Heir(Base):\n    def run(self):\n        \
         return helper()\n\n\ndef helper():\n    return 1\n\n\nprint(helper(), Base)\n",
    );
    sandbox.write("src/use.py", "from lib import helper\n\n\ndef use():\n    return helper()\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "One"]);
    let files = |change: &str| reasons(&sandbox, &[change]).into_keys().collect::<Vec<_>>();
    assert_eq!(files("lib.py"), ["src/use.py"]);
    // Of some lines, the rest of the file is.
    assert_eq!(files("lib.py:11-12"), ["lib.py", "src/use.py"]);
    // A branch with a folder's name is one, and other folders are no change.
    git(&sandbox, &["branch", "src"]);
    std::fs::create_dir(sandbox.root().join("other")).expect("a folder");
    assert_eq!(files("src"), files("HEAD"));
    sandbox.refuses(&["impact", "other"], "other is a folder; name its files");
    // From another folder, reasons name files as rows do.
    let ran = run_in(&sandbox, &sandbox.root().join("src"), &["impact", "../lib.py"]);
    assert!(ran.out.starts_with("use.py:4:") && ran.out.contains("changed with ../lib.py"), "{ran:?}");
}

#[test]
fn reasons_name_the_files_of_their_root() {
    let sandbox = rings();
    sandbox.write("two/a.py", "def a():\n    pass\n");
    let mut client = Client::start(&sandbox, &[".", "two"]);
    let name = sandbox.root().file_name().expect("a name").to_string_lossy().into_owned();
    let told = client.good("impact", json!({"change": [format!("{name}/ring.py:2")]}));
    assert!(told.contains(&format!("imports {name}/ring.py")), "{told}");
    assert!(told.contains("calls Ring.push"), "{told}");
}

#[test]
fn an_agent_asks_what_a_change_affects() {
    let sandbox = rings();
    let mut client = Client::start(&sandbox, &[]);
    for arguments in [json!({}), json!({"change": ["ring.py:2"]}), json!({"change": "ring.py:2", "results": 5})] {
        let told = client.good("impact", arguments.clone());
        assert!(told.contains("app.py:4: ") && told.contains("calls Ring.push"), "{arguments}: {told}");
        assert!(!told.contains("alone.py"), "{arguments}: {told}");
        assert!(told.contains("(1 changed unit in 1 file)"), "{arguments}: {told}");
    }
    assert!(client.good("impact", json!({"change": "ring.py:1-6"})).contains("(3 changed units in 1 file)"));
    let told = client.good("impact", json!({"change": ["HEAD"], "tests": "only"}));
    assert!(told.contains("test_ring.py") && !told.contains("fast.py"), "{told}");
    let one = client.good("impact", json!({"results": 1}));
    assert!(one.contains("offset"), "more follow: {one}");
    let told = client.good("impact", json!({"change": ["README.md"], "tests": "only"}));
    assert!(told.starts_with("test_ring.py  [changed with README.md in 1 commit]"), "{told}");
    sandbox.write("new.txt", "Nobody knows it.\n");
    assert_eq!(client.good("impact", json!({"change": ["new.txt"]})).lines().next(), Some("no other file is affected"));
    for (arguments, why) in [
        (json!({"change": ["nosuch"]}), "git knows no commit nosuch"),
        (json!({"change": [":/(a*)*b"]}), "is a pattern of messages"),
        (json!({"change": ["main...HEAD^{/(a*)*b}"]}), "is a pattern of messages"),
        (json!({"change": ["--output=x"]}), "git knows no commit --output=x"),
        (json!({"change": ["ring.py", "nosuch"]}), "there is no file \"nosuch\"; name one commit"),
        (json!({"change": ["/etc/passwd", "ring.py"]}), "there is no file \"/etc/passwd\""),
        (json!({"change": ["ring.py:99"]}), "so there is no line 99"),
        (json!({"change": ["ring.py:0"]}), "\"0\" after it is not a line; lines count from 1"),
        (json!({"change": ["ring.py", "ring.py:3-2"]}), "\"3-2\" after it is not a line; lines count from 1"),
        (json!({"tests": "some"}), "tests"),
        (json!({"results": 0}), "results"),
    ] {
        let (told, failed) = client.call("impact", arguments.clone());
        assert!(failed && told.contains(why), "{arguments}: {told}");
    }
}

#[test]
fn a_root_inside_a_project_tells_of_itself_alone() {
    let sandbox = rings();
    sandbox.write("app/use.py", "from ring import Ring\n\n\ndef use_ring(ring):\n    ring.push(1)\n");
    sandbox.write("app/other.py", "from use import use_ring\n\n\ndef other():\n    use_ring(None)\n");
    git(&sandbox, &["add", "-A"]);
    git(&sandbox, &["commit", "-qm", "Add a folder"]);
    sandbox.write("app/use.py", "from ring import Ring\n\n\ndef use_ring(ring):\n    ring.push(2)\n");
    sandbox.write("ring.py", "class Ring:\n    pass\n");
    let mut client = Client::start(&sandbox, &["app"]);
    let told = client.good("impact", json!({}));
    assert!(told.contains("other.py") && told.contains("in 1 file)"), "{told}");
    assert!(!told.contains("ring.py") && !told.contains("fast.py"), "{told}");
}
