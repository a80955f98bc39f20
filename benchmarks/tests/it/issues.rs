//! Issues with their fixes: the list is drawn from clones, and asked; the list that is kept keeps its rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::common::{bench, here, printed, read, text};
use serde_json::{Value, json};

/// A message that reads like an issue.
const MESSAGE: &str = "fix(gate): Fix a bug where tickets of the day before are refused\n\n\
    `open_gate` fails with an error for a ticket that was bought before midnight, though it should be taken until\n\
    three. The traceback ends in `TicketStore.lookup`, which finds nothing and raises an exception.\n\n\
    This commit looks a day further back.\n\nSigned-off-by: A Person <a@b.c>\n";

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=A Person", "-c", "user.email=a@b.c", "-c", "commit.gpgSign=false"])
        .args(args)
        .output()
        .expect("git");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_string()
}

/// A repository of two files whose last commit fixes one of them.
fn gates(folder: &Path) -> (String, String) {
    let write = |path: &str, text: &str| std::fs::write(folder.join(path), text).expect("a file");
    std::fs::create_dir_all(folder.join("tests")).expect("a folder");
    git(folder, &["init", "-q", "-b", "main"]);
    write("store.py", "class TicketStore:\n    def lookup(self, number):\n        return self.today[number]\n");
    write("lamp.py", "def switch_lamp(lamp):\n    lamp.on = not lamp.on\n");
    write("gone.py", "def sweep_floor(floor):\n    floor.clear()\n");
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", "Gates, lamps and floors"]);
    let base = git(folder, &["rev-parse", "HEAD"]);
    write("store.py", "class TicketStore:\n    def lookup(self, number):\n        return self.lately[number]\n");
    write("tests/test_store.py", "def test_lookup():\n    pass\n");
    git(folder, &["rm", "-q", "gone.py"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", MESSAGE]);
    (base, git(folder, &["rev-parse", "HEAD"]))
}

#[test]
fn frontier_19_issues_are_drawn_from_a_history_and_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| text(folder.path().join(name));
    let clone = folder.path().join("clones/a+gates");
    std::fs::create_dir_all(&clone).expect("a folder");
    let (base, fix) = gates(&clone);
    let sources = json!({"most": 20, "most_of_history": 12, "most_of_file": 3, "sets": [],
        "histories": {"a/gates": {"language": "python", "revision": fix}}});
    std::fs::write(folder.path().join("sources.json"), sources.to_string()).expect("a file");
    let [clones, list, record, from] = ["clones", "list.json", "record.json", "sources.json"].map(place);
    let draw = ["issues", "--clones", &clones, "--draw", &from, "--out", &list];
    printed(&draw, &[]);
    let drawn = read(&list);
    let instance = &drawn["instances"][0];
    assert_eq!((instance["base"].as_str(), instance["fix"].as_str()), (Some(base.as_str()), Some(fix.as_str())));
    assert_eq!(instance["files"], json!(["gone.py", "store.py"]));
    // What is reserved is not drawn from.
    std::fs::write(folder.path().join("reserved.txt"), "# Not these\nA/Gates\n").expect("a file");
    let output = bench(&[&draw[..], &["--reserved", &place("reserved.txt")]].concat(), &[]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));

    let ask = ["issues", "--clones", &clones, "--list", &list, "--keyword-only", "--out", &record];
    let table = printed(&ask, &[]);
    assert!(table.contains("| whole text, words | 1 | 100.0 ± 0.0 |"), "{table}");
    let found = read(&record);
    assert_eq!(found["asked"][0]["unread"], 0, "the commit below the fix is laid out: {found}");
    assert!(!clone.join(".git/index.lock").exists() && git(&clone, &["status", "--porcelain"]).is_empty());
    // A record prints the same again, and no instance twice.
    let again = printed(&["issues", "--record", &record, "--against", &record], &[]);
    assert!(again.contains("| whole text, words | 1 | 100.0 ± 0.0 |") && again.contains("0 – 0"), "{again}");
    assert_eq!(bench(&["issues", "--record", &record, "--record", &record], &[]).status.code(), Some(2));
    // Another text than the list's is refused.
    let mut other = drawn.clone();
    other["instances"][0]["text"] = json!("0000000000000000");
    std::fs::write(&list, other.to_string()).expect("a list");
    let output = bench(&ask, &[]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("draw the list anew"), "{told}");
}

#[test]
fn frontier_19_the_list_keeps_its_rules() {
    let [list, sources] = ["instances.json", "sources.json"].map(|name| read(here().join("issues").join(name)));
    let instances = list["instances"].as_array().expect("instances");
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let mut ids = BTreeSet::new();
    let mut files: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut repositories: BTreeMap<String, usize> = BTreeMap::new();
    let mut issues = 0;
    for instance in instances {
        let repository = text(&instance["repository"]);
        let (set, fix) = (instance.get("set"), instance.get("fix"));
        assert!(set.is_some() != fix.is_some(), "{instance}");
        issues += usize::from(set.is_some());
        assert!(ids.insert((repository.clone(), text(fix.unwrap_or(&instance["key"])))), "{instance}: twice");
        let answers = instance["files"].as_array().expect("files");
        assert!((1..=3).contains(&answers.len()), "{instance}");
        for file in answers {
            *files.entry((repository.clone(), text(file))).or_default() += 1;
        }
        assert!(text(&instance["base"]).len() == 40 && text(&instance["text"]).len() == 16, "{instance}");
        *repositories.entry(repository).or_default() += 1;
    }
    let languages: BTreeSet<String> = instances.iter().map(|instance| text(&instance["language"])).collect();
    assert!(instances.len() >= 400 && issues >= 250, "{} instances, {issues} of them issues", instances.len());
    assert!(languages.len() >= 5 && repositories.len() >= 25, "{languages:?}, {} repositories", repositories.len());
    assert!(repositories.values().all(|n| *n <= 20) && files.values().all(|n| *n <= 3));
    for set in sources["sets"].as_array().expect("sets") {
        assert_eq!(list["sets"][text(&set["repository"])], set["revision"]);
    }
}
