//! The translated questions: complete, of existing English ones, and divided by repository.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{here, read};
use serde_json::Value;

const LANGUAGES: [&str; 8] = ["zh", "ja", "ko", "ru", "es", "de", "fr", "pt"];
const PARTS: [&str; 2] = ["tuning", "aside"];

fn rows_of(path: &str) -> Vec<Value> {
    read(here().join(path)).as_array().expect(path).clone()
}

/// The rows of a part by repository.
fn part(name: &str) -> BTreeMap<String, Vec<Value>> {
    let folder = format!("translations/{name}/annotations");
    let files = std::fs::read_dir(here().join(&folder)).expect("a folder").flatten();
    let names = files.map(|file| file.file_name().into_string().expect("UTF-8"));
    names.map(|name| (name.replace(".json", ""), rows_of(&format!("{folder}/{name}")))).collect()
}

/// The English questions of a repository with the files that answer them, `relevant` first.
fn originals(repository: &str) -> BTreeMap<String, (Value, Value)> {
    if repository.contains('+') {
        let questions = rows_of(&format!("places/questions/{repository}.json"));
        let answers = |q: &Value| {
            let place = q["place"]["path"].clone();
            let also: BTreeSet<&str> =
                q["also"].as_array().into_iter().flatten().filter_map(|a| a["path"].as_str()).collect();
            let also: Vec<&str> = also.into_iter().filter(|path| place != *path).collect();
            (Value::from(vec![place]), Value::from(also))
        };
        questions.iter().map(|q| (q["question"].as_str().expect("text").to_string(), answers(q))).collect()
    } else {
        let questions = rows_of(&format!("paraphrases/annotations/{repository}.json"));
        let answers = |q: &Value| (q["relevant"].clone(), q["secondary"].clone());
        questions.iter().map(|q| (q["query"].as_str().expect("text").to_string(), answers(q))).collect()
    }
}

#[test]
fn every_question_is_an_english_one_in_eight_languages() {
    for name in PARTS {
        let (mut questions, mut mixed) = (0, 0);
        for (repository, rows) in part(name) {
            let originals = originals(&repository);
            let mut by_original: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
            for row in &rows {
                by_original.entry(row["original"].as_str().expect("an original")).or_default().push(row);
            }
            for rows in by_original.values() {
                let languages: Vec<&str> = rows.iter().filter_map(|row| row["category"].as_str()).collect();
                assert_eq!(languages, [&["en"][..], &LANGUAGES].concat(), "{repository}: {rows:?}");
                let english = rows[0]["query"].as_str().expect("text");
                let (relevant, secondary) = originals.get(english).expect(english);
                for row in rows {
                    assert_eq!((&row["relevant"], &row["secondary"]), (relevant, secondary), "{row}");
                }
                questions += 1;
                mixed += usize::from(rows[1..].iter().all(|row| row["mixed"] == true));
            }
        }
        assert_eq!((questions, mixed), (200, 20), "{name}");
    }
}

#[test]
fn the_parts_share_no_repository() {
    let aside = part("aside");
    let both: Vec<String> = part("tuning").into_keys().filter(|name| aside.contains_key(name)).collect();
    assert!(both.is_empty(), "{both:?}");
}

#[test]
fn chinese_and_japanese_are_written_without_spaces() {
    let is_wide = |c: char| matches!(c, '\u{3000}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}');
    for row in PARTS.into_iter().flat_map(part).flat_map(|(_, rows)| rows) {
        let query = row["query"].as_str().expect("text");
        let chars: Vec<char> = query.chars().collect();
        let is_spaced = chars.windows(3).any(|c| c[1] == ' ' && (is_wide(c[0]) || is_wide(c[2])));
        assert!(!is_spaced || !["zh", "ja"].iter().any(|l| row["category"] == *l), "{query}");
    }
}
