//! What it costs to see the right place.

use std::process::Command;

use crate::common::{bench, corpus_args, kiosk};
use serde_json::Value;

#[test]
fn every_arm_is_charged_for_what_it_prints() {
    if Command::new("rg").arg("--version").output().is_err() {
        eprintln!("skipped: rg is not on PATH");
        return;
    }
    let folder = kiosk();
    let out = folder.path().join("out.json").to_str().expect("UTF-8").to_string();
    let mut args = vec!["economy".to_string()];
    args.extend(corpus_args(folder.path()));
    args.extend(["--keyword-only", "--every", "3", "--out", &out].map(String::from));
    let output = bench(&args.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record: Value = serde_json::from_str(&std::fs::read_to_string(&out).expect("a record")).expect("JSON");
    assert_eq!(record["asked_for"], "annotated files", "{record}");
    // Of seven questions, the first, the fourth and the seventh.
    let questions = record["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 3, "{record}");
    assert_eq!(questions[0]["query"], "charge a card", "{record}");
    let arms = questions[0]["arms"].as_array().expect("arms");
    assert_eq!(arms.len(), record["arms"].as_array().map_or(0, Vec::len), "{record}");
    for arm in arms {
        assert!(arm["is_found"] == true && arm["calls"] == 1, "{record}");
        assert!(arm["characters"].as_u64().is_some_and(|characters| characters > 20), "{record}");
    }
}
