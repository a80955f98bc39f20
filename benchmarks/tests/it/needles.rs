//! The floor for documents: needles of this repository's own documentation are found by their sections.

use std::collections::HashSet;

use crate::common::{bench, copy, here, printed, read, text};

#[test]
fn sections_of_our_own_documentation_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&here().join("../docs"), &folder.path().join("repos/colgrep/docs"));
    let [repos, data, record] = ["repos", "data", "record.json"].map(|name| text(folder.path().join(name)));
    let needles = text(here().join("needles/colgrep.json"));
    let args = ["needles", "--needles", &needles, "--repos", &repos, "--data-dir", &data, "--out", &record];
    // A little below the current results by words, all of the own ones and .64 of all; the model is slow unoptimised.
    let by_words = ["--keyword-only", "--floor", "own=0.9", "--floor", "all=0.55"];
    printed(&[&args[..], &by_words].concat(), &[]);
    let found = read(&record);
    assert!(found["questions"].as_array().is_some_and(|q| q.len() >= 36), "the set shrank");
    // A missed floor fails, and a record compared with itself shows no change.
    let output = bench(&[&args[..], &["--keyword-only", "--floor", "all=1", "--against", &record]].concat(), &[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("Below the floor: all 0.") && printed.contains("| all | 36 | 0 | 0 | +0.0000"),
        "{printed}"
    );
}

/// The words of a text that tell something, in lower case and without an ending.
fn content(text: &str) -> HashSet<String> {
    const SMALL: &str = " a an and any are as at be by do does each for from how i in into is it my of on or that the their \
        them there to use using what when which who with without ";
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let told = words.filter(|word| !word.is_empty() && !SMALL.contains(&format!(" {word} ")));
    let ends = ["ing", "ions", "ion", "ed", "es", "s", "e"];
    let stem = |word: String| {
        let end = ends.iter().find(|end| word.ends_with(**end) && word.len() >= end.len() + 3);
        word[..word.len() - end.map_or(0, |end| end.len())].to_string()
    };
    told.map(stem).collect()
}

fn runs_of_four(text: &str) -> HashSet<Vec<String>> {
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    words.windows(4).map(<[String]>::to_vec).collect()
}

#[test]
fn the_needles_of_other_documentations_keep_their_rules() {
    for (file, keeps_rules) in [("documentation.json", true), ("oblique.json", false)] {
        let set = read(here().join("needles").join(file));
        let needles = set["needles"].as_array().expect("needles");
        assert!(needles.len() >= 100, "{}", needles.len());
        for needle in needles {
            let part = |name: &str| {
                needle[name].as_str().filter(|text| !text.trim().is_empty()).unwrap_or_else(|| panic!("{needle}"))
            };
            let (own, heading) = (part("own"), part("heading"));
            assert!(part("paraphrase") != part("task") && !part("file").starts_with('/'));
            for question in [part("paraphrase"), part("task")] {
                let (words, named) = (content(question), content(heading));
                let taken = words.intersection(&named).count();
                assert!(!keeps_rules || 2 * taken <= named.len().max(1), "{question}: it names {heading}");
                assert!(!keeps_rules || runs_of_four(question).is_disjoint(&runs_of_four(own)), "{question}");
                assert!(!keeps_rules || words.intersection(&content(own)).count() * 4 <= words.len() * 3, "{question}");
            }
            let source = &set["repositories"][part("repository")];
            assert!(source["revision"].as_str().is_some_and(|r| r.len() == 40), "{needle}");
        }
    }
}
