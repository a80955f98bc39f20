//! The floor for sessions in `log`: turns of made transcripts are found by questions in other words.

use std::collections::HashSet;

use crate::common::{bench, here, printed, read, text};

const SET: &str = "transcripts/quayside.json";

/// The row of the printed table that begins so, by cells.
fn row(printed: &str, first: &str) -> Vec<String> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_string()).skip(1).collect::<Vec<_>>();
    printed.lines().map(cells).find(|cells| cells.first().is_some_and(|c| c == first)).expect(printed)
}

#[test]
fn turns_are_found_by_questions_in_other_words() {
    let set = text(here().join(SET));
    // Meaning alone scores every candidate again, which takes minutes unoptimised.
    let args = ["recall", "--transcripts", &set, "--ways"];
    let printed = printed(&[&args[..], &["words,both", "--floor", "words=0.5", "--floor", "both=0.53"]].concat(), &[]);
    for kind in ["recalled", "paraphrase"] {
        let row = row(&printed, kind);
        let number = |at: usize| row[at].parse::<f64>().expect("a number");
        let (questions, words, both) = (number(3), number(4), number(5));
        assert!(questions >= 60.0, "{printed}");
        assert!(both > words, "meaning adds to words: {printed}");
    }
    let output = bench(&[&args[..], &["words", "--floor", "words=1"]].concat(), &[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && printed.contains("Below the floor: words 0."), "{printed}");
    assert_eq!(bench(&[&args[..], &["words", "--floor", "both=0"]].concat(), &[]).status.code(), Some(2));
}

/// The words of a text that tell something, in lower case, cut after five letters.
fn content(text: &str) -> HashSet<String> {
    const SMALL: &str = " a an and any are as at be by do does each for from had has how i in into is it its more must my no \
        not of on one or so than that the their them there they this to too up was way we were what when where which \
        who why will with ";
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase);
    let told = words.filter(|word| !SMALL.contains(&format!(" {word} ")));
    told.map(|word| word.chars().take(5).collect()).collect()
}

#[test]
fn the_questions_are_paraphrases() {
    let set = read(here().join(SET));
    let sessions = set["sessions"].as_array().expect("sessions");
    let forms: HashSet<&str> = sessions.iter().filter_map(|session| session["form"].as_str()).collect();
    assert_eq!(forms.len(), 2);
    let turns = sessions.iter().flat_map(|session| session["turns"].as_array().expect("turns"));
    let mut asked = HashSet::new();
    for turn in turns {
        let part = |name: &str| turn[name].as_str().unwrap_or_default();
        let Some(question) = turn["paraphrase"].as_str() else { continue };
        assert!(asked.insert(question), "{question}: asked twice");
        let (words, own) = (content(question), content(&format!("{} {}", part("asked"), part("said"))));
        let taken = words.intersection(&own).count();
        assert!(3 * taken <= words.len(), "{question}: it takes {taken} of {} words of the turn", words.len());
        assert!(turn["recalled"].is_string(), "{question}: it stands alone");
    }
}
