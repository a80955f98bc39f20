//! `sweep` gives the numbers of `run` under the same variables, resumes, and claims only significant wins.

use crate::common::{bench, bench_kiosk, copy, corpus_args, here, kiosk, printed, read};

/// Three projects of the same files under other names, so that there are repositories to deal into folds.
fn three() -> (tempfile::TempDir, Vec<String>) {
    let folder = kiosk();
    let annotations = folder.path().join("annotations");
    std::fs::create_dir_all(&annotations).unwrap();
    for name in ["kiosk", "booth", "stall"] {
        copy(&here().join("fixtures/kiosk"), &folder.path().join("repos").join(name));
        let from = here().join("fixtures/annotations/kiosk.json");
        std::fs::copy(from, annotations.join(format!("{name}.json"))).unwrap();
    }
    let mut corpus = corpus_args(folder.path());
    corpus[1] = annotations.to_str().unwrap().to_string();
    (folder, corpus)
}

fn sweep(corpus: &[String], args: &[&str], vars: &[(&str, &str)]) -> String {
    let mut all = vec!["sweep"];
    all.extend(corpus.iter().map(String::as_str));
    all.extend(args);
    printed(&all, vars)
}

#[test]
fn every_setting_scores_as_run_does_under_its_variables() {
    let (folder, corpus) = three();
    let out = folder.path().join("sweep.json");
    let knobs =
        ["--knob", "COLGREP_DEPTH_BOOST=0.1,5", "--knob", "COLGREP_ALPHA=0,1", "--knob", "COLGREP_TRUST_HIGH=0.3,2"];
    let last = ["--folds", "3", "--out", out.to_str().unwrap()];
    sweep(&corpus, &[&knobs[..], &last].concat(), &[("COLGREP_STRONG_PENALTY", "0.9")]);
    let sweep = read(&out);
    let settings = sweep["settings"].as_array().unwrap();
    assert_eq!(settings.len(), 9, "two by two by two and the baseline");
    let mut distinct: Vec<String> = Vec::new();
    for setting in settings {
        let mut vars = vec![("COLGREP_STRONG_PENALTY".to_string(), "0.9".to_string())];
        for (name, value) in setting["setting"].as_object().unwrap() {
            vars.push((name.clone(), value.to_string()));
        }
        let vars: Vec<(&str, &str)> = vars.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let record = folder.path().join("run.json");
        let mut all = vec!["run"];
        all.extend(corpus.iter().map(String::as_str));
        all.extend(["--out", record.to_str().unwrap()]);
        printed(&all, &vars);
        let expected = read(&record)["overall"]["ndcg_10"].as_f64().unwrap();
        let got = setting["ndcg_10"].as_f64().unwrap();
        assert!((got - expected).abs() < 2e-6, "{setting}: run gives {expected}");
        distinct.push(format!("{got:.4}"));
    }
    distinct.sort();
    distinct.dedup();
    assert!(distinct.len() > 1, "the settings differ: {distinct:?}");
}

#[test]
fn a_second_sweep_repeats_nothing() {
    let (folder, corpus) = three();
    let keep = folder.path().join("kept.jsonl");
    let args = ["--knob", "COLGREP_DEPTH_BOOST=0,1,2", "--folds", "3", "--keep", keep.to_str().unwrap()];
    let first = sweep(&corpus, &args, &[]);
    assert!(first.contains("\n4 settings over 21 queries") && first.contains("1 retrievals); 0 were known"), "{first}");
    let second = sweep(&corpus, &args, &[]);
    assert!(second.contains("\n0 settings over 21 queries") && second.contains("; 4 were known"), "{second}");
    let body = |text: &str| text[..text.find(" settings over").unwrap() - 1].to_string();
    assert_eq!(body(&first), body(&second), "the same judgement");
    let mut all = vec!["sweep"];
    all.extend(corpus.iter().map(String::as_str));
    all.extend(args);
    let other = bench(&all, &[("COLGREP_B", "0")]);
    assert_eq!(other.status.code(), Some(2), "another baseline must not mix");
    all.push("--keyword-only");
    assert_eq!(bench(&all, &[]).status.code(), Some(2), "nor another ranking");
}

#[test]
fn every_mode_ends_with_a_judgement_that_claims_no_noise() {
    let (_folder, corpus) = three();
    for mode in [&["--mode", "coordinate"][..], &["--mode", "random", "--trials", "3"]] {
        let knobs = ["--folds", "3", "--knob", "COLGREP_STEM_BOOST", "--knob", "COLGREP_STRONG_PENALTY"];
        let text = sweep(&corpus, &[&knobs[..], mode].concat(), &[]);
        let held_out = text.lines().find(|l| l.starts_with("  together")).unwrap();
        let claims = text.contains("# a win");
        assert_eq!(claims, held_out.ends_with("(better)"), "{text}");
    }
}

#[test]
fn ablation_names_the_stages_in_force_alone() {
    let folder = kiosk();
    let text = bench_kiosk(folder.path(), "ablate", &[], &[]);
    assert!(text.contains("### A retriever off") && text.contains("| `bm25` |") && text.contains("| `semantic` |"));
    assert!(text.contains("| `multi_unit` |") && text.contains("| `path_penalty_last` |"), "{text}");
    assert!(!text.contains("`coherence_boost`") && !text.contains("`path_penalty`"), "{text}");
    let classic = bench_kiosk(folder.path(), "ablate", &["--profile", "classic"], &[]);
    assert!(classic.contains("| `coherence_boost` |") && classic.contains("| `path_penalty` |"), "{classic}");
    assert!(!classic.contains("`path_penalty_last`") && !classic.contains("`sibling`"), "{classic}");
}
