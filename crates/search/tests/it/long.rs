//! Long queries: a pasted issue in a small project.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::project::request;
use colgrep_core::collapse::PerFile;
use colgrep_core::knob::{Knob, Knobs, Profile};
use colgrep_core::rank::LongFacts;
use colgrep_index::store::{Snapshot, Store};
use colgrep_index::update::Updater;
use colgrep_search::{CorpusAnswer, Request, search_one};

const FILES: [(&str, &str); 6] = [
    (
        "src/pool.py",
        "class Pool:\n    def take(self):\n        \"\"\"Takes a socket.\"\"\"\n        return self.free.pop()\n",
    ),
    ("src/net/dial.py", "def dial(host):\n    \"\"\"Opens a connection.\"\"\"\n    return connect(host)\n"),
    ("src/retry.py", "def retry(step):\n    \"\"\"Repeats a step after a timeout.\"\"\"\n    return step()\n"),
    (
        "src/describe.py",
        "def describe(bug):\n    \"\"\"Steps to describe expected behavior and environment.\"\"\"\n    return bug\n",
    ),
    (
        "tests/test_retry.py",
        "def test_retry():\n    \"\"\"Repeats a step after a timeout, as in the example.\"\"\"\n    assert retry(step)\n",
    ),
    ("CHANGES.md", "# Changes\n\nA step is repeated after a timeout. A connection is taken from the pool.\n"),
];

const ISSUE: &str = "[Bug] Steps are not repeated after a timeout\n\n### Describe the bug\n\nThis is an example of what \
    \"never stands anywhere\" in the tests says:\n\n```\nTraceback (most recent call last):\n  \
    File \"/usr/lib/python3/site-packages/src/net/dial.py\", line 2, in dial\n```\n\nI call `Pool.take` and then wait.\n\n\
    ### Environment\n\n- OS: describe steps expected behavior environment\n";

fn open(base: &Path) -> Snapshot {
    for (path, text) in FILES {
        let path = base.join("wire").join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    Updater::new(&Store::new(base.join("data")), &base.join("wire")).run().expect("an index").0
}

fn ask(snapshot: &Snapshot, query: &str, set: &[(Knob, &str)]) -> CorpusAnswer {
    let mut knobs = Knobs::of(Profile::Default);
    set.iter().for_each(|(knob, value)| knobs.set(*knob, value).expect("a value"));
    let request = Request { files: 6, units_per_file: PerFile::Usual, ..request(query, &knobs) };
    search_one(snapshot, None, &request, None).expect("an answer")
}

fn paths(answer: &CorpusAnswer) -> Vec<&str> {
    answer.hits.iter().map(|hit| answer.files[hit.file].path.as_str()).collect()
}

#[test]
fn an_issue_is_searched_by_its_parts() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = open(folder.path());
    let answer = ask(&snapshot, ISSUE, &[]);
    let facts: HashMap<&str, LongFacts> = answer.files.iter().map(|file| (file.path.as_str(), file.long)).collect();
    assert_eq!((facts["src/net/dial.py"].path, facts["src/retry.py"].path), (1.0, 0.0), "the frame's file");
    assert!(facts["src/retry.py"].title > 0.9 && facts["src/describe.py"].title < 0.8, "the title alone");
    let found = paths(&answer);
    let rank = |path: &str| found.iter().position(|found| *found == path);
    let noise = rank("src/describe.py").unwrap_or(usize::MAX);
    for path in ["src/retry.py", "src/pool.py", "src/net/dial.py"] {
        assert!(rank(path).expect(path) < noise, "{found:?}");
    }
    let told = answer.query.told();
    assert_eq!(told[0], "title \"Steps are not repeated after a timeout\"");
    assert!(told.iter().any(|clue| clue.starts_with("place ") && clue.ends_with("src/net/dial.py:2")), "{told:?}");
    // "example" and "tests" in the text do not ask for such files.
    assert!(
        rank("src/retry.py") < rank("tests/test_retry.py") && rank("src/retry.py") < rank("CHANGES.md"),
        "{found:?}"
    );
}

#[test]
fn a_quote_in_an_issue_is_no_condition() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = open(folder.path());
    let on_a_line = "\"never stands anywhere\" is printed after a timeout";
    assert_eq!(paths(&ask(&snapshot, on_a_line, &[])), [""; 0]);
    assert!(!paths(&ask(&snapshot, ISSUE, &[])).is_empty());
    let title = "\"never stands anywhere\" is printed after a timeout\n\nAnd then a step is not repeated at all.";
    assert!(paths(&ask(&snapshot, title, &[])).contains(&"src/retry.py"));
}

#[test]
fn no_other_query_is_read_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = open(folder.path());
    for query in [
        "steps repeated after a timeout",
        "Pool.take",
        "src/net/dial.py:2",
        "def dial(host):\n    return connect(host)",
    ] {
        let (with, without) = (ask(&snapshot, query, &[]), ask(&snapshot, query, &[(Knob::LongQueries, "0")]));
        assert_eq!((with.query.long.is_none(), with.units), (true, without.units), "{query}");
    }
    // A pasted passage of a file finds that file.
    let passage = "A step is repeated after a timeout.\nA connection is taken from the pool.";
    assert_eq!(paths(&ask(&snapshot, passage, &[]))[0], "CHANGES.md");
}
