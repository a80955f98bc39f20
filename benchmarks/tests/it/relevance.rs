//! The floors: this repository's own queries, found in its own crates, and those of the sample projects. A ranking
//! regression fails here.

use std::path::Path;

use crate::common::{bench, copy, here, read, text};

/// A little under what the default profile scores. Raise them when the ranking gets better; lower them only with a
/// reason in the commit message (`colgrep-bench run` as below, and `compare` with the record before, say which query fell).
const FLOOR_OWN: f64 = 0.775;
const FLOOR_FIXTURES: f64 = 0.74;

#[test]
fn our_own_queries_find_their_files() {
    let folder = tempfile::tempdir().expect("a folder");
    // Use a copy, since the checkout's name and its other files affect the ranking.
    copy(&here().join("../crates"), &folder.path().join("repos/colgrep/crates"));
    check(folder.path(), &here().join("annotations"), 30, FLOOR_OWN);
}

#[test]
fn queries_of_the_stand_in_projects_find_their_files() {
    let folder = tempfile::tempdir().expect("a folder");
    for project in ["kiosk", "seedbed", "tidewatch"] {
        copy(&here().join("fixtures").join(project), &folder.path().join("repos").join(project));
    }
    check(folder.path(), &here().join("fixtures/annotations"), 40, FLOOR_FIXTURES);
}

/// Measures the projects in `folder/repos`: all right answers are there, and the mean is not below the floor.
fn check(folder: &Path, annotations: &Path, queries_min: usize, floor: f64) {
    let (repos, record) = (text(folder.join("repos")), text(folder.join("record.json")));
    let data = text(folder.join("data"));
    let annotations = annotations.to_str().expect("UTF-8");
    let output =
        bench(&["run", "--annotations", annotations, "--repos", &repos, "--data-dir", &data, "--out", &record], &[]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    assert!(!messages.contains("not in the index"), "correct the annotations: {messages}");
    let record = read(record);
    let queries = record["queries"].as_array().expect("queries");
    assert!(queries.len() >= queries_min, "the set shrank to {}", queries.len());
    let ndcg = record["overall"]["ndcg_10"].as_f64().expect("a number");
    let worst: Vec<String> = queries
        .iter()
        .filter(|q| q["metrics"]["ndcg_10"].as_f64() < Some(0.7))
        .map(|q| format!("{} {} -> {}", q["metrics"]["ndcg_10"], q["query"], q["files"]))
        .collect();
    eprintln!("NDCG@10 {ndcg:.4}\n{}", worst.join("\n"));
    assert!(ndcg >= floor, "NDCG@10 fell to {ndcg:.4}, below {floor}:\n{}", worst.join("\n"));
}
