//! `run` gives the numbers of a user who runs colgrep once a query and scores what it prints.

use std::path::Path;

use crate::common::{bench, bench_kiosk, corpus_args, here, kiosk, printed, read};
use serde_json::Value;

/// NDCG@10 written once more, from the definition: the twin of `metric::ndcg`.
fn ndcg(files: &[String], targets: &[String]) -> f64 {
    let mut gain = 0.0;
    for (i, file) in files.iter().take(10).enumerate() {
        let first_of = |t: &String| files.iter().position(|f| f.ends_with(&format!("/{t}"))) == Some(i);
        if targets.iter().any(|t| file.ends_with(&format!("/{t}")) && first_of(t)) {
            gain += 1.0 / (i as f64 + 2.0).log2();
        }
    }
    let ideal: f64 = (0..targets.len().min(10)).map(|i| 1.0 / (i as f64 + 2.0).log2()).sum();
    gain / ideal
}

fn strings(value: &Value) -> Vec<String> {
    let paths = value.as_array().into_iter().flatten();
    paths.filter_map(|t| Some(t.as_str().or_else(|| t["path"].as_str())?.to_string())).collect()
}

/// Runs colgrep as a process for every query; gives each query's NDCG@10.
fn as_a_user(folder: &Path, tasks: &Value, flags: &[&str], vars: &[(&str, &str)]) -> Vec<f64> {
    let data = folder.join("data-of-user");
    let mut vars = vars.to_vec();
    vars.push(("COLGREP_DATA_DIR", data.to_str().unwrap()));
    let root = folder.join("repos/kiosk");
    let root = root.to_str().unwrap();
    assert!(bench(&["colgrep", "init", "-y", root], &vars).status.success());
    let score = |task: &Value| {
        let question = [task["query"].as_str().unwrap(), root];
        let output = bench(&[&["colgrep", "--json", "-k", "10"], flags, &question].concat(), &vars);
        let hits: Value = serde_json::from_slice(&output.stdout).unwrap();
        let files: Vec<String> =
            hits.as_array().unwrap().iter().map(|h| h["unit"]["file"].as_str().unwrap().to_string()).collect();
        let targets = [strings(&task["relevant"]), strings(&task["secondary"])].concat();
        ndcg(&files, &targets)
    };
    tasks.as_array().unwrap().iter().map(score).collect()
}

/// Measures in-process and by processes, the same flags and variables given to both; gives each query's NDCG@10.
fn check_against_processes(tasks: &Value, flags: &[&str], vars: &[(&str, &str)]) -> Vec<f64> {
    let folder = kiosk();
    let (record, annotations) = (folder.path().join("record.json"), folder.path().join("annotations"));
    std::fs::create_dir(&annotations).unwrap();
    std::fs::write(annotations.join("kiosk.json"), tasks.to_string()).unwrap();
    let mut corpus = corpus_args(folder.path());
    corpus[1] = annotations.to_str().unwrap().to_string();
    let corpus: Vec<&str> = corpus.iter().map(String::as_str).collect();
    printed(&[&["run"], &corpus[..], flags, &["--out", record.to_str().unwrap()]].concat(), vars);
    let record = read(record);
    let own: Vec<f64> =
        record["queries"].as_array().unwrap().iter().map(|q| q["metrics"]["ndcg_10"].as_f64().unwrap()).collect();
    let user = as_a_user(folder.path(), tasks, flags, vars);
    assert_eq!(own.len(), user.len());
    for (a, b) in own.iter().zip(&user) {
        assert!((a - b).abs() < 0.0005, "{flags:?} {vars:?}: in-process {own:?}, by processes {user:?}");
    }
    let mean = user.iter().sum::<f64>() / user.len() as f64;
    assert!((record["overall"]["ndcg_10"].as_f64().unwrap() - mean).abs() < 0.0005);
    own
}

#[test]
fn the_numbers_are_those_of_the_program_under_any_setting() {
    let tasks = read(here().join("fixtures/annotations/kiosk.json"));
    let default = check_against_processes(&tasks, &[], &[]);
    assert!(default[..2].iter().all(|n| *n == 1.0), "the plain ones are found: {default:?}");
    assert_eq!(default[6], 0.0, "words that neither the index nor the model knows find nothing");
    let classic = check_against_processes(&tasks, &[], &[("COLGREP_PROFILE", "classic")]);
    let changed =
        check_against_processes(&tasks, &[], &[("COLGREP_STRONG_PENALTY", "1"), ("COLGREP_DEPTH_BOOST", "5")]);
    assert!(changed != default && classic != default, "settings reach the ranking");
}

#[test]
fn what_only_the_model_finds_is_found_in_both_ways() {
    // The project contains none of these words, but "receipt", "card" and "bank".
    let tasks = serde_json::json!([{"query": "customer transaction", "relevant": ["src/payment.py"]}]);
    assert_eq!(check_against_processes(&tasks, &[], &[]), [1.0], "the model knows what it is like");
    assert_eq!(check_against_processes(&tasks, &["--semantic-only"], &[]), [1.0], "words have no say here");
    assert_eq!(check_against_processes(&tasks, &["--keyword-only"], &[]), [0.0], "and find nothing alone");
}

#[test]
fn the_summary_names_every_breakdown() {
    let folder = kiosk();
    let text = bench_kiosk(folder.path(), "run", &[], &[]);
    for row in [
        "| pool@200 |",
        "| all | 7 |",
        "| fixtures | 7 |",
        "| semantic | 4 |",
        "| symbol | 1 |",
        "| python | 7 |",
        "| kiosk | 7 |",
    ] {
        assert!(text.contains(row), "{row} is missing in {text}");
    }
}

#[test]
fn a_category_is_measured_alone() {
    let folder = kiosk();
    let text = bench_kiosk(folder.path(), "run", &["--keyword-only", "--category", "semantic"], &[]);
    assert!(text.contains("| all | 4 |") && !text.contains("| symbol |"), "{text}");
    let both = ["--keyword-only", "--category", "semantic", "--category", "symbol"];
    let text = bench_kiosk(folder.path(), "run", &both, &[]);
    assert!(text.contains("| all | 5 |") && text.contains("| symbol | 1 |"), "{text}");
}

#[test]
fn errors_say_what_to_do_and_end_with_2() {
    let folder = kiosk();
    let corpus = corpus_args(folder.path());
    let check = |args: &[&str], vars: &[(&str, &str)], expected: &str| {
        let output = bench(args, vars);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{args:?}: {message}");
    };
    let mut run = vec!["run"];
    run.extend(corpus.iter().map(String::as_str));
    check(&run, &[("COLGREP_K1", "x")], "COLGREP_K1=x: expected a number from 0 to 10");
    check(&run, &[("COLGREP_K2", "1")], "did you mean COLGREP_K1?");
    check(
        &[&run[..], &["--only", "nothing"]].concat(),
        &[],
        "--only nothing: no folder of annotations has a nothing.json",
    );
    check(&[&run[..], &["--category", "nothing"]].concat(), &[], "--category nothing: no annotation has this category");
    check(&["run", "--annotations", "/nonexistent", "--repos", "/"], &[], "annotations in /nonexistent");
}
