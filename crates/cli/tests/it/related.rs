//! Calls over several levels, and what a change affects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::common::mcp::Client;
use crate::common::{Sandbox, git};
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
    let ran = sandbox.run(&["--calls", "push", "--depth", "1", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).expect("JSON");
    let told = found.as_array().expect("rows").iter();
    let told: Vec<_> = told.map(|row| (&row["qualified_name"], &row["certainty"], &row["level"])).collect();
    assert_eq!(format!("{told:?}").matches("by name").count(), 2, "{told:?}");
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
    let found = reasons(&sandbox, &["app.py:4"]);
    has(&found, "README.md", &["names"]);
    has(&found, "ring.py", &["together"]);
    // The last commit changed the caller and `pop`, which nothing overrides.
    let found = reasons(&sandbox, &["HEAD"]);
    has(&found, "fast.py", &["imports"]);
    assert!(!found["fast.py"].contains("overrides") && !found.contains_key("app.py"), "{found:?}");
    assert_eq!(reasons(&sandbox, &["HEAD~1..."]), found, "the same as a range");
    let ran = sandbox.run(&["impact", "--tests", "only", "-l"]);
    assert_eq!(ran.out, "test_ring.py\n", "{}", ran.err);
    let ran = sandbox.run(&["impact", "--tests", "exclude", "-l"]);
    assert!(!ran.out.contains("test_ring.py") && ran.out.contains("app.py"), "{ran:?}");
    assert_eq!(sandbox.run(&["impact", "-k", "1", "-l"]).out.lines().count(), 1);
    let ran = sandbox.run(&["impact"]);
    assert!(ran.out.contains("overrides Ring.push") && ran.err.contains("1 changed unit in 1 file"), "{ran:?}");
}

#[test]
fn what_is_staged_is_a_change_of_its_own() {
    let sandbox = rings();
    assert_eq!(sandbox.run(&["impact", "--staged"]).status, 1);
    let uncommitted = reasons(&sandbox, &[]);
    git(&sandbox, &["add", "ring.py"]);
    assert_eq!(reasons(&sandbox, &["--staged"]), uncommitted);
}

#[test]
fn a_change_that_is_not_known_is_refused() {
    let sandbox = rings();
    for (args, expected) in [
        (&["impact", "nosuch"][..], "git knows no commit nosuch; a change is a commit"),
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
fn an_agent_asks_what_a_change_affects() {
    let sandbox = rings();
    let mut client = Client::start(&sandbox, &[]);
    for arguments in [json!({}), json!({"change": ["ring.py:2"]}), json!({"change": "ring.py:2", "results": 5})] {
        let told = client.good("impact", arguments.clone());
        assert!(told.contains("app.py:4: ") && told.contains("calls Ring.push"), "{arguments}: {told}");
        assert!(!told.contains("alone.py"), "{arguments}: {told}");
        assert!(told.contains("(1 changed unit in 1 file)"), "{arguments}: {told}");
    }
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
