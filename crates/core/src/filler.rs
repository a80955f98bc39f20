//! Removes fillers, which are words of politeness and reference in a question that no text answers, and lines of mere
//! courtesy.

use crate::query::wording::phrase_len;
use crate::token::{is_stop_word, words};

/// Fillers in lower case, without the punctuation around them.
const FILLERS: [&str; 8] = ["e.g", "i.e", "etc", "eg", "ie", "aka", "please", "thanks"];
/// Fillers that some projects are about.
const TOPICAL_FILLERS: [&str; 3] = ["help", "github", "issue"];
/// Words of greetings and thanks, besides fillers.
const GREETINGS: [&str; 10] =
    ["hi", "hello", "hey", "thank", "thx", "cheers", "regards", "morning", "afternoon", "evening"];
/// Other words that such lines contain.
const BESIDE_GREETINGS: &str = "advance all anyone best can good so team could everybody everyone folks guys kind lot many me much someone there you";
/// What people put before a question; `|` separates alternatives.
const LEADS: &[&str] = &[
    "hi|hello|hey",
    "i want|need to know|understand|see",
    "i would like to know|understand|see",
    "i'd like to know|understand|see",
    "i am wondering|curious",
    "i'm wondering|curious",
    "i wonder",
    "do you know",
    "can|could|would you tell|show me",
    "can|could|would you please tell|show me",
    "can|could|would you explain",
    "tell|show me",
];
/// Words that begin a question.
const INTERROGATIVES: &[&str] = &["how", "if", "what", "when", "where", "whether", "which", "who", "why"];
/// Adverbs after the first or the second word of a question that add nothing.
const ADVERBS: &[&str] = &["actually", "exactly", "really"];
/// What people put after a question.
const TAILS: &str = "in this|our repo|repository|codebase|project";
/// Punctuation around a word in a sentence.
const PUNCTUATION: &[char] = &['.', ',', ';', ':', '(', ')', '!', '?'];

/// Role of a word in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    Filler,
    /// A filler, unless the project uses it in names.
    Topical,
    /// Stop words and punctuation, dropped between two fillers.
    Glue,
    Content,
}

/// The query without its fillers; `None` if it has none, or if no content would be left. Text in double quotes and the
/// call `help()` stay. `is_name` says whether the project uses a word in names: "signature help" may be one, "please
/// help with the issue" is not.
pub fn without_fillers(text: &str, mut is_name: impl FnMut(&str) -> bool) -> Option<String> {
    let mut is_quoted = false;
    let mut parts: Vec<(&str, Worth)> = Vec::new();
    for word in text.split_whitespace() {
        let quotes = word.matches('"').count();
        let worth = if is_quoted || quotes > 0 { Worth::Content } else { worth(word) };
        is_quoted ^= quotes % 2 == 1;
        parts.push((word, worth));
    }
    mark_frame(&mut parts);
    for i in 0..parts.len() {
        if parts[i].1 == Worth::Topical {
            let word = parts[i].0.trim_matches(PUNCTUATION).to_lowercase();
            let is_content = !has_company(&parts, i) && is_name(&word);
            parts[i].1 = if is_content { Worth::Content } else { Worth::Filler };
        }
    }
    let is_filler = |(_, worth): &(&str, Worth)| *worth == Worth::Filler;
    if !parts.iter().any(is_filler) || !parts.iter().any(|(_, worth)| *worth == Worth::Content) {
        return None;
    }
    for i in 0..parts.len() {
        if parts[i].1 == Worth::Glue && i > 0 && is_filler(&parts[i - 1]) {
            let behind = parts[i..].iter().find(|(_, worth)| *worth != Worth::Glue);
            if behind.is_some_and(is_filler) {
                parts[i].1 = Worth::Filler;
            }
        }
    }
    Some(joined(text, &parts))
}

/// Marks what is around a question: a greeting or a request before its first word, adverbs after that, and "in this
/// repository" at its end.
fn mark_frame(parts: &mut [(&str, Worth)]) {
    let lower: Vec<String> = parts.iter().map(|(word, _)| word.trim_matches(PUNCTUATION).to_lowercase()).collect();
    let begins = |phrase: &str, at: usize| phrase_len(phrase, lower[at..].iter().map(String::as_str));
    let mut start = 0;
    while let Some((_, worth)) = parts.get(start) {
        let is_filler = (*worth == Worth::Filler).then_some(1);
        let Some(count) = is_filler.or_else(|| LEADS.iter().find_map(|lead| begins(lead, start))) else { break };
        start += count;
    }
    if !lower.get(start).is_some_and(|word| INTERROGATIVES.contains(&word.as_str())) {
        return;
    }
    let is_adverb = |at: &usize| lower.get(*at).is_some_and(|word| ADVERBS.contains(&word.as_str()));
    let adverbs: Vec<usize> = [start + 1, start + 2].into_iter().filter(is_adverb).collect();
    let words = TAILS.split(' ').count();
    let tail = lower.len().checked_sub(words).filter(|at| *at > start + 1 && begins(TAILS, *at).is_some());
    let tail = tail.map_or(lower.len()..lower.len(), |at| at..lower.len());
    for at in (0..start).chain(adverbs).chain(tail) {
        parts[at].1 = Worth::Filler;
    }
}

/// The text without courtesy lines at its beginning and end; unchanged if it has no other lines.
pub fn without_courtesy(text: &str) -> &str {
    let mut told = text.lines().filter(|line| !line.trim().is_empty() && !is_courtesy(line));
    let Some(first) = told.next() else { return text };
    let last = told.next_back().unwrap_or(first);
    let place = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let (start, end) = (place(first), place(last) + last.len());
    let start = if text[..start].lines().any(is_courtesy) { start } else { 0 };
    let end = if text[end..].lines().any(is_courtesy) { end } else { text.len() };
    &text[start..end]
}

/// Whether a line has nothing but fillers, greetings and thanks. `help:` and `github:` introduce the next lines and do
/// not count.
pub(crate) fn is_courtesy(line: &str) -> bool {
    let mut is_said = false;
    for word in line.split_whitespace() {
        match worth(word) {
            Worth::Filler => is_said = true,
            Worth::Topical => is_said |= !line.trim_end().ends_with(':'),
            Worth::Glue => {}
            Worth::Content => {
                // `hello()` is a call.
                let bare = word.trim_matches(['.', ',', ';', ':', '!', '?']).to_lowercase();
                let greets = GREETINGS.contains(&bare.as_str());
                if !greets && !BESIDE_GREETINGS.split(' ').any(|word| word == bare) {
                    return false;
                }
                is_said |= greets;
            }
        }
    }
    is_said
}

/// Whether the word has another filler next to it, with no content between.
fn has_company(parts: &[(&str, Worth)], i: usize) -> bool {
    let is_company = |part: Option<&(&str, Worth)>| part.is_some_and(|(_, worth)| *worth != Worth::Content);
    let is_glue = |(_, worth): &&(&str, Worth)| *worth == Worth::Glue;
    is_company(parts[..i].iter().rev().find(|p| !is_glue(p))) || is_company(parts[i + 1..].iter().find(|p| !is_glue(p)))
}

fn worth(word: &str) -> Worth {
    let bare = word.trim_matches(PUNCTUATION).to_lowercase();
    let is_call = word.trim_end_matches([',', '.', ';', ':']).ends_with("()");
    if FILLERS.contains(&bare.as_str()) {
        return Worth::Filler;
    }
    if TOPICAL_FILLERS.contains(&bare.as_str()) && !is_call {
        return Worth::Topical;
    }
    let has_words = words(word).next().is_some();
    if !has_words || is_stop_word(&bare) { Worth::Glue } else { Worth::Content }
}

/// The text of the remaining words, with the blanks between them as typed; a comma before fillers is removed with them.
fn joined(text: &str, parts: &[(&str, Worth)]) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut end, mut was_cut) = (0, false);
    for (word, worth) in parts {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        if *worth == Worth::Filler {
            let before = kept.trim_end_matches([',', ';', ':']).len();
            kept.truncate(before);
            was_cut = true;
        } else {
            if !kept.is_empty() {
                kept.push_str(if was_cut { " " } else { &text[end..start] });
            }
            kept.push_str(word);
            was_cut = false;
        }
        end = start + word.len();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs in a project without names.
    fn without_fillers(text: &str) -> Option<String> {
        super::without_fillers(text, |_| false)
    }

    #[test]
    fn what_the_project_is_about_stays_where_it_stands_alone() {
        for (text, expected) in [
            ("signature help when calling", "signature help when calling"),
            ("how is an issue closed", "how is an issue closed"),
            ("please help with the issue: close a socket", "close a socket"),
            ("close a socket, see the issue on github", "close a socket, see the"),
            ("please close the issue", "close the issue"),
            ("thanks, close the issue etc", "close the"),
        ] {
            let found = super::without_fillers(text, |_| true);
            assert_eq!(found.as_deref().unwrap_or(text), expected, "{text}");
        }
    }

    #[test]
    fn fillers_are_dropped_in_any_case() {
        for filler in FILLERS.iter().chain(&TOPICAL_FILLERS) {
            for filler in [filler.to_string(), filler.to_uppercase()] {
                assert_eq!(without_fillers(&format!("{filler} retry")).as_deref(), Some("retry"), "{filler}");
            }
        }
    }

    #[test]
    fn what_is_around_a_question_goes() {
        let question = "where is it decided when to retry";
        for around in [
            "hi, Q? thanks",
            "hello Q",
            "I want to know Q",
            "please tell me Q",
            "show me Q",
            "can you tell me Q?",
            "Q in this repo",
            "hey, could you please show me Q in our codebase?",
            "I wonder Q",
            "I'd like to know Q",
        ] {
            let found = without_fillers(&around.replace('Q', question));
            assert_eq!(found.as_deref().map(|found| found.trim_end_matches('?')), Some(question), "{around}");
        }
        assert_eq!(without_fillers("where exactly is it set").as_deref(), Some("where is it set"));
        assert_eq!(without_fillers("where is it actually set").as_deref(), None, "too far in to be sure");
        for other in ["show me the parser", "hello world", "tell me", "in this project", "files in this repository"] {
            assert_eq!(without_fillers(other), None, "{other}");
        }
    }

    #[test]
    fn their_punctuation_goes_with_them() {
        for (text, expected) in [
            ("parse formats (e.g. json) please!", "parse formats json)"),
            ("parse formats e.g. json, please!", "parse formats json"),
            ("please, close the socket; thanks.", "close the socket"),
            ("please help with the issue: how to close a socket, thanks", "how to close a socket"),
            ("close a socket (i.e.) twice", "close a socket twice"),
            ("retry,  backoff etc. of clients", "retry,  backoff of clients"),
        ] {
            assert_eq!(without_fillers(text).as_deref().unwrap_or(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_of_courtesy_go_in_front_and_behind() {
        for (text, expected) in [
            ("Please help!\n\nhow to close a socket", "how to close a socket"),
            ("Hi all,\nhow to close a socket?\n\nThanks in advance!\n", "how to close a socket?"),
            ("hello\r\n  close\n\nthanks\n\nit\nThank you :)", "  close\n\nthanks\n\nit"),
            ("Can someone help me?\nclose", "close"),
            ("Good morning team\nclose\nthank you so much", "close"),
            ("\nclose a socket\n", "\nclose a socket\n"),
            ("please help\n\nthanks", "please help\n\nthanks"),
            ("hi", "hi"),
            ("Hello, world!\nclose", "Hello, world!\nclose"),
            ("hello();\nclose();", "hello();\nclose();"),
            ("help:\n\t@echo close", "help:\n\t@echo close"),
            ("how to\nclose a socket", "how to\nclose a socket"),
            ("please close\na socket, thanks", "please close\na socket, thanks"),
        ] {
            assert_eq!(without_courtesy(text), expected, "{text}");
        }
    }

    #[test]
    fn words_of_programs_stay() {
        for word in
            ["async", "function", "class", "def", "in", "GitHubIssue", "help()", "helper", "issues", "github.com"]
        {
            assert_eq!(without_fillers(&format!("{word} retry")), None, "{word}");
        }
    }

    #[test]
    fn fillers_stay_where_nothing_else_is() {
        for text in ["help", "github issue", "please help with the issue", "", "\"please help\" retry"] {
            assert_eq!(without_fillers(text), None, "{text}");
        }
    }
}
