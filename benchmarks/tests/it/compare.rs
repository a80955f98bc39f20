//! `compare` counts, names and fails as it should.

use crate::common::{bench, bench_kiosk, kiosk};
use serde_json::Value;

#[test]
fn a_regression_beyond_the_bound_fails_and_is_named() {
    let folder = kiosk();
    let (a, b) = (folder.path().join("a.json"), folder.path().join("b.json"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    bench_kiosk(folder.path(), "run", &["--out", a], &[]);
    // Depth over all: the file at the root comes first, whatever was asked.
    bench_kiosk(folder.path(), "run", &["--out", b], &[("COLGREP_DEPTH_BOOST", "5")]);
    let check = |args: &[&str], status: i32, expected: &[&str]| {
        let output = bench(&[&["compare"], args].concat(), &[]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
        for part in expected {
            assert!(text.contains(part), "{part:?} is missing in {text}");
        }
    };
    let same = ["difference +0.0000", "(same;", "0 better, 0 worse, 7 the same", "recall@5", "recall@10"];
    check(&[a, a, "--fail-below", "-0.002"], 0, &same);
    let why = ["src/payment.py, right: 1 -> ", "main.py, overtook it: ", "* depth ", "  answer "];
    check(&[a, b], 0, &[&["COLGREP_DEPTH_BOOST: 0.2 -> 5", "\"charge a card\""][..], &why].concat());
    check(&[a, b, "--fail-below", "-0.002"], 1, &[]);
    check(&[b, a, "--fail-below", "-0.002"], 0, &[]);
    check(&[a, "/nonexistent"], 2, &[]);
}

#[test]
fn records_say_what_each_step_did_and_older_ones_are_read_without() {
    let folder = kiosk();
    let (a, b) = (folder.path().join("a.json"), folder.path().join("b.json"));
    bench_kiosk(folder.path(), "run", &["--out", a.to_str().unwrap()], &[]);
    let mut record: Value = serde_json::from_str(&std::fs::read_to_string(&a).unwrap()).unwrap();
    let steps: Vec<String> = serde_json::from_value(record["steps"].clone()).unwrap();
    assert_eq!(steps[..3], ["bm25", "semantic", "fused"]);
    assert!(steps.iter().any(|s| s == "depth") && !steps.iter().any(|s| s == "coherence_boost"), "{steps:?}");
    for query in record["queries"].as_array().unwrap() {
        let trace = query["trace"].as_array().unwrap();
        // The last step gives the answer: its files, in its order.
        let files: Vec<&Value> = trace.iter().map(|t| &t["file"]).take(10).collect();
        assert_eq!(files, query["files"].as_array().unwrap().iter().collect::<Vec<_>>(), "{query}");
        for (i, file) in trace.iter().enumerate() {
            let ranks = file["ranks"].as_array().unwrap();
            assert!(ranks.len() == steps.len() && file["scores"].as_array().unwrap().len() == steps.len());
            assert_eq!(ranks[steps.len() - 1], i + 1, "seven files: all are traced");
            assert!(file["ranks"][0] != 0 || file["ranks"][1] != 0, "some retriever found it: {file}");
        }
    }
    // A record of before there were traces, in which the first query was answered better.
    record.as_object_mut().unwrap().remove("steps");
    for query in record["queries"].as_array_mut().unwrap() {
        query.as_object_mut().unwrap().remove("trace");
        query["metrics"]["ndcg_10"] = 2.0.into();
    }
    std::fs::write(&b, record.to_string()).unwrap();
    let output = bench(&["compare", b.to_str().unwrap(), a.to_str().unwrap()], &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("no trace of a right file in A"), "{text}");
}
