//! The floor for documents (002.16): needles of this repository's own documentation are found by their sections.

mod common;

use common::{bench, copy, here};
use serde_json::Value;

#[test]
fn r002_16_sections_of_our_own_documentation_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&here().join("../docs"), &folder.path().join("repos/colgrep/docs"));
    let text = |path: std::path::PathBuf| path.to_str().expect("UTF-8").to_string();
    let [repos, data, record] = ["repos", "data", "record.json"].map(|name| text(folder.path().join(name)));
    let needles = text(here().join("needles/colgrep.json"));
    let args = ["needles", "--needles", &needles, "--repos", &repos, "--data-dir", &data, "--out", &record];
    // A little under what is found now by words, all of the own ones and .64 of all; the model is slow unoptimised.
    let by_words = ["--keyword-only", "--floor", "own=0.9", "--floor", "all=0.55"];
    let output = bench(&[&args[..], &by_words].concat(), &[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_str(&std::fs::read_to_string(&record).expect("a record")).expect("JSON");
    assert!(found["questions"].as_array().is_some_and(|q| q.len() >= 36), "the set shrank");
    // A floor that is not reached is no success, and a record against itself shows no change.
    let output = bench(&[&args[..], &["--keyword-only", "--floor", "all=1", "--against", &record]].concat(), &[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("Below the floor: all 0.") && printed.contains("| all | 36 | 0 | 0 | +0.000"),
        "{printed}"
    );
}

#[test]
fn the_needles_of_other_documentations_are_whole() {
    let text = std::fs::read_to_string(here().join("needles/documentation.json")).expect("a file");
    let set: Value = serde_json::from_str(&text).expect("JSON");
    let needles = set["needles"].as_array().expect("needles");
    assert!(needles.len() >= 100, "{}", needles.len());
    for needle in needles {
        let part = |name: &str| {
            needle[name].as_str().filter(|text| !text.trim().is_empty()).unwrap_or_else(|| panic!("{needle}"))
        };
        let (own, paraphrase, task) = (part("own"), part("paraphrase"), part("task"));
        assert!(
            own != paraphrase && paraphrase != task && !part("heading").is_empty() && !part("file").starts_with('/')
        );
        let source = &set["repositories"][part("repository")];
        assert!(source["revision"].as_str().is_some_and(|r| r.len() == 40), "{needle}");
    }
}
