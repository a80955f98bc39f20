//! The questions about places, and the command that asks them.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::common::{bench, copy, here, printed, read, text};
use serde_json::{Value, json};

fn write(path: &Path, value: &Value) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, value.to_string()).expect("a file");
}

#[test]
fn the_unit_that_answers_is_told_from_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&here().join("fixtures/kiosk"), &folder.path().join("repos/made+kiosk"));
    let sources = json!([
        {"name": "made/kiosk", "revision": "0".repeat(40), "aside": false, "language": "python"},
        {"name": "made/other", "revision": "0".repeat(40), "aside": true, "language": "python"},
    ]);
    write(&folder.path().join("places/repositories.json"), &sources);
    let payment = |name: &str, lines: [u32; 2]| json!({"path": "src/payment.py", "name": name, "lines": lines});
    let questions = json!([
        {"question": "charge a card", "kind": "phrase", "place": payment("charge_card", [8, 14])},
        // The label is of another unit of the file that is found.
        {"question": "charge card retry", "kind": "phrase", "place": payment("refund", [17, 19])},
        {"question": "zeppelin mooring", "kind": "phrase", "place": payment("refund", [17, 19]), "read": 1},
    ]);
    write(&folder.path().join("places/questions/made+kiosk.json"), &questions);
    write(&folder.path().join("places/questions/made+other.json"), &questions);
    let [places, repos, data, out] = ["places", "repos", "data", "out.json"].map(|name| text(folder.path().join(name)));
    let args = ["places", "--places", &places, "--repos", &repos, "--data-dir", &data, "--keyword-only"];
    printed(&[&args[..], &["--out", &out]].concat(), &[]);
    let record = read(&out);
    let asked = record["questions"].as_array().expect("questions");
    assert_eq!(asked.len(), 3, "{record}");
    let of = |at: usize| (&asked[at]["rank"], &asked[at]["file_rank"], &asked[at]["is_line_inside"]);
    assert_eq!(of(0), (&json!(1), &json!(1), &json!(true)), "{record}");
    assert_eq!(of(1), (&Value::Null, &json!(1), &json!(false)), "{record}");
    assert_eq!(of(2), (&Value::Null, &Value::Null, &json!(false)), "{record}");
    assert_eq!(asked[0]["packs"], json!([true, true, true]), "{record}");
    assert_eq!(asked[2]["packs"], json!([false, false, false]), "{record}");

    let printed = printed(&[&args[..], &["--against", &out]].concat(), &[]);
    assert!(printed.contains("| unit first | 0 | 0 | +0.0000 ± 0.0000 | same |"), "{printed}");

    // Sources of another commit are an error, not a score.
    write(
        &folder.path().join("places/questions/made+kiosk.json"),
        &json!([{"question": "charge a card", "kind": "phrase", "place": payment("charge_card", [800, 814])}]),
    );
    let output = bench(&args, &[]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("has no lines 800-814"), "{told}");
}

#[test]
fn the_questions_about_places_keep_their_rules() {
    let folder = here().join("places");
    let sources = read(folder.join("repositories.json"));
    let sources: BTreeMap<String, &Value> = sources
        .as_array()
        .expect("repositories")
        .iter()
        .map(|source| (source["name"].as_str().expect("a name").replace('/', "+"), source))
        .collect();
    let trained = std::fs::read_to_string(here().join("../crates/encoder/train/repositories.tsv")).expect("a list");
    let trained: HashSet<String> =
        trained.lines().filter_map(|line| Some(line.split('\t').next()?.replace('/', "+").to_lowercase())).collect();
    let kinds = ["where", "happens", "ensures", "how", "errand", "thing", "phrase"];
    let (mut count, mut aside) = (0, 0);
    for (name, source) in &sources {
        assert!(source["revision"].as_str().is_some_and(|revision| revision.len() == 40), "{name}");
        assert!(!trained.contains(&name.to_lowercase()), "{name} is trained on");
        aside += usize::from(source["aside"] == json!(true));
        let questions = read(folder.join("questions").join(format!("{name}.json")));
        let mut asked = HashSet::new();
        for question in questions.as_array().expect("questions") {
            let text = question["question"].as_str().expect("a question");
            assert!(asked.insert(text.to_lowercase()), "{name} asks twice: {text}");
            assert!(kinds.contains(&question["kind"].as_str().expect("a kind")), "{name}: {text}");
            let also = question["also"].as_array().into_iter().flatten();
            for place in also.chain([&question["place"]]) {
                let line = |at: usize| place["lines"][at].as_u64().expect("a line");
                assert!(0 < line(0) && line(0) <= line(1), "{name}: {text}");
                assert!(place["path"].as_str().is_some_and(|path| !path.starts_with('/')), "{name}: {text}");
            }
            count += 1;
        }
    }
    let files = std::fs::read_dir(folder.join("questions")).expect("a folder").count();
    assert_eq!(files, sources.len(), "every file of questions belongs to a listed repository");
    assert!(3 * aside >= sources.len(), "{aside} of {} repositories are set aside", sources.len());
    assert!(count >= 1_000, "{count} questions");
}
