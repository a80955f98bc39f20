//! The floor: this repository's own queries, found in its own crates. A ranking regression fails here.

mod common;

use common::{bench, copy, here};
use serde_json::Value;

/// A little under what the default profile scores here. Raise it when the ranking gets better; lower it only with a
/// reason in the commit message (`colgrep-bench run` as below, and `compare` with the record before, say which query fell).
const FLOOR: f64 = 0.845;

#[test]
fn our_own_queries_find_their_files() {
    let folder = tempfile::tempdir().expect("a folder");
    // A copy: the name of the checkout's folder and what else lies in it have a say in the ranking.
    copy(&here().join("../crates"), &folder.path().join("repos/colgrep/crates"));
    let text = |path: std::path::PathBuf| path.to_str().expect("UTF-8").to_string();
    let record = text(folder.path().join("record.json"));
    let (annotations, repos) = (text(here().join("annotations")), text(folder.path().join("repos")));
    let data = text(folder.path().join("data"));
    let output =
        bench(&["run", "--annotations", &annotations, "--repos", &repos, "--data-dir", &data, "--out", &record], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record: Value = serde_json::from_str(&std::fs::read_to_string(record).expect("a record")).expect("JSON");
    let queries = record["queries"].as_array().expect("queries");
    assert!(queries.len() >= 20, "the set shrank to {}", queries.len());
    for query in queries {
        for target in query["targets"].as_array().expect("targets") {
            let path = here().join("..").join(target.as_str().expect("a path"));
            assert!(path.is_file(), "{} is no file any more; correct annotations/colgrep.json", path.display());
        }
    }
    let ndcg = record["overall"]["ndcg_10"].as_f64().expect("a number");
    let worst: Vec<String> = queries
        .iter()
        .filter(|q| q["metrics"]["ndcg_10"].as_f64() < Some(0.7))
        .map(|q| format!("{} {} -> {}", q["metrics"]["ndcg_10"], q["query"], q["files"]))
        .collect();
    eprintln!("NDCG@10 {ndcg:.4}\n{}", worst.join("\n"));
    assert!(ndcg >= FLOOR, "NDCG@10 fell to {ndcg:.4}, below {FLOOR}:\n{}", worst.join("\n"));
}
