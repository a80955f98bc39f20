//! `self` and `speed` measure what they say, on projects made here.

use std::process::Command;

use crate::common::{bench, here, kiosk, printed, read, text};
use serde_json::Value;

#[test]
fn known_items_are_drawn_and_found() {
    let folder = kiosk();
    let (data, out) = (folder.path().join("data"), folder.path().join("known.json"));
    let repos = text(folder.path().join("repos"));
    let args = ["known", "--repos", &repos, "--only", "kiosk", "--data-dir", &text(&data), "--out", &text(&out)];
    printed(&args, &[]);
    let record = read(&out);
    let items = record["items"].as_array().unwrap();
    let of = |kind: &str| items.iter().filter(|i| i["kind"] == kind).collect::<Vec<_>>();
    assert!(!of("name").is_empty() && !of("place").is_empty(), "{items:?}");
    for place in of("place") {
        assert_eq!(place["line_rank"], 1, "{place}");
    }
    for item in items {
        let answers = item["answers"].as_array().unwrap();
        let shown = item["shown"].as_array().unwrap();
        let rank = shown.iter().position(|s| answers.contains(s)).map_or(Value::Null, |i| (i + 1).into());
        assert_eq!(item["line_rank"], rank, "the record says what was shown: {item}");
    }
}

#[test]
fn a_repositorys_own_commits_and_documentation_are_asked() {
    let folder = kiosk();
    let repository = folder.path().join("repos/kiosk");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        let output = command.args(args).current_dir(&repository).output().expect("git");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "src/payment.py", "docs"]);
    git(&["commit", "-qm", "feat: charge cards of visitors (#1)"]);
    git(&["add", "src"]);
    git(&["commit", "-qm", "Bump the printer to 2.0"]);
    let (data, out) = (folder.path().join("data"), folder.path().join("self.json"));
    let written = folder.path().join("written");
    let args =
        ["self", &text(&repository), "--data-dir", &text(&data), "--out", &text(&out), "--write", &text(&written)];
    printed(&args, &[]);
    let record = read(&out);
    let of = |category: &str| {
        let queries = record["queries"].as_array().unwrap();
        queries.iter().filter(|q| q["category"] == category).cloned().collect::<Vec<Value>>()
    };
    let commits = of("commits");
    assert_eq!(commits.len(), 1, "{commits:?}");
    assert_eq!(
        (commits[0]["query"].as_str(), commits[0]["targets"][0].as_str()),
        (Some("charge cards of visitors"), Some("src/payment.py"))
    );
    assert!(of("documentation").len() >= 8);
    assert!(record["by_category"]["documentation"]["ndcg_10"].as_f64().unwrap() > 0.9, "its words are in the index");
    // What was written is a set of annotations: the same queries give the same numbers.
    let again = folder.path().join("again.json");
    let args = [
        "run",
        "--annotations",
        &text(&written),
        "--repos",
        &text(folder.path().join("repos")),
        "--data-dir",
        &text(&data),
        "--out",
        &text(&again),
    ];
    printed(&args, &[]);
    let again = read(&again);
    assert_eq!(again["overall"]["ndcg_10"], record["overall"]["ndcg_10"]);
}

#[test]
fn speed_measures_every_row_and_leaves_the_sources_alone() {
    let folder = kiosk();
    let before = std::fs::read_dir(folder.path().join("repos/kiosk")).unwrap().count();
    let out = folder.path().join("speed.json");
    let (repos, out_text) = (folder.path().join("repos"), out.to_str().unwrap().to_string());
    let annotations = here().join("fixtures/annotations");
    let args = [
        "speed",
        "--repos",
        repos.to_str().unwrap(),
        "--runs",
        "2",
        "--cold-runs",
        "1",
        "--synthetic",
        "60",
        "--annotations",
        annotations.to_str().unwrap(),
        "--out",
        &out_text,
    ];
    let table = printed(&args, &[]);
    let result = read(&out);
    let projects = result["projects"].as_array().unwrap();
    assert_eq!(projects.len(), 2);
    for project in projects {
        for row in ["cold_ms", "unchanged_ms", "query_ms", "server_ms"] {
            assert!(project[row]["min"].as_f64() > Some(0.0), "{row}: {project}");
        }
        assert!(project["cold_memory"].as_u64() > Some(1 << 20) && project["index_bytes"].as_u64() > Some(0));
        assert_eq!(project["peers"].as_array().unwrap().iter().filter(|p| p["name"] == "zoekt").count(), 1);
    }
    let asked = read(annotations.join("kiosk.json")).as_array().map_or(0, Vec::len);
    assert_eq!(projects[0]["questions"]["count"], asked);
    assert!(projects[0]["questions"]["again_ms"]["min"].as_f64() > Some(0.0) && projects[1]["questions"].is_null());
    assert!(table.contains(&format!("| median of 1 projects | {asked} |")), "{table}");
    // What was measured can be drawn.
    let pictures = folder.path().join("pictures");
    printed(&["plot", "--speed", &out_text, "--out", pictures.to_str().unwrap()], &[]);
    let picture = std::fs::read_to_string(pictures.join("query-against-size.svg")).unwrap();
    for name in ["colgrep, whole process", "colgrep, a running server", "kiosk"] {
        assert!(picture.contains(name), "{name} is missing: {picture}");
    }
    assert!(projects[0]["changed_ms"].is_null() && projects[1]["changed_ms"]["min"].as_f64() > Some(0.0));
    assert_eq!(projects[1]["files"], 60);
    assert_eq!(std::fs::read_dir(folder.path().join("repos/kiosk")).unwrap().count(), before);
    let missing = bench(&["speed", "--colgrep", "/nonexistent", "--synthetic", "1"], &[]);
    assert_eq!(missing.status.code(), Some(2));
}
