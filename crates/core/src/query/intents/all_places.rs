//! Requests for all places of a name: "find all references to NAME", "rename NAME to OTHER".

use super::questions::called;
use crate::identifier_style::{is_odd, is_token};
use crate::language::LanguageFacts;

/// Words that ask for all places of a name.
const ASKS: &[&str] = &[
    "everywhere",
    "instances",
    "mention",
    "mentions",
    "occurrence",
    "occurrences",
    "place",
    "places",
    "reference",
    "references",
    "rename",
    "replace",
    "usage",
    "usages",
    "uses",
];
/// Those that ask for a change of the name.
const CHANGES: &[&str] = &["rename", "replace"];
/// Words between the name and the new one.
const BETWEEN: &[&str] = &["to", "with", "by", "into", "as", "->", "=>", "→"];
/// Other words that such a request may have.
const BESIDE: &str = "I a all and any argument can class code codebase constant contain containing contains every field \
                      file files find for function get gets give has have hold holding holds i in is it list me mentioned \
                      mentioning method need of our parameter please project referenced references repo repository show \
                      symbol that the this throughout to type use used using variable want we where which whole with you";

/// The name whose every place a text asks for, if it asks for nothing else and the name does not look like a plain
/// word. A file does not count.
pub fn all_places_of(text: &str, facts: &LanguageFacts) -> Option<String> {
    if text.trim().contains('\n') {
        return None;
    }
    let words: Vec<String> = text.split_whitespace().enumerate().map(|(at, word)| plain(at, word)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let at = words.iter().position(|word| !is_said(word))?;
    let written = text.split_whitespace().nth(at)?;
    let name = called(written)?;
    let (front, mut behind) = (&words[..at], &words[at + 1..]);
    let changes = front.iter().any(|word| CHANGES.contains(word));
    if changes
        && let [between, _, rest @ ..] = behind
        && BETWEEN.contains(between)
    {
        behind = rest;
    }
    // "Rename name to Title" asks for another name.
    let is_other = match front {
        [.., before, last] => changes && BETWEEN.contains(last) && !matches!(*before, "reference" | "references"),
        _ => false,
    };
    let asks = front.iter().chain(behind).any(|word| ASKS.contains(word)) && behind.iter().all(|word| is_said(word));
    let is_capital = at > 0 && name.starts_with(char::is_uppercase);
    let is_file = name.contains('/') || facts.is_file_name(&name.to_lowercase());
    let is_name = !is_file && (is_capital || is_odd(written) || is_token(&name));
    (asks && !is_other && is_name).then_some(name)
}

/// A word without trailing punctuation, the first one of a text in lower case.
fn plain(at: usize, word: &str) -> String {
    let word = word.trim_end_matches(['?', '.', ',', '!']);
    if at == 0 { word.to_lowercase() } else { word.to_string() }
}

fn is_said(word: &str) -> bool {
    ASKS.contains(&word) || BESIDE.split(' ').any(|said| said == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_of_a_name_are_asked_for_in_words() {
        for (text, expected) in [
            ("find all references to allow_hops", "allow_hops"),
            ("all usages of allow_hops", "allow_hops"),
            ("Uses of `parseRequest()`?", "parseRequest"),
            ("every place that mentions allow_hops", "allow_hops"),
            ("everywhere allow_hops is used", "allow_hops"),
            ("occurrences of MAX_LEN in this repo", "MAX_LEN"),
            ("show me all mentions of Session.get", "Session.get"),
            ("find all references to Session", "Session"),
            ("allow_hops usages", "allow_hops"),
            ("rename allow_hops", "allow_hops"),
            ("Rename allow_hops to follow_hops", "allow_hops"),
            ("I want to rename the function allow_hops to follow everywhere.", "allow_hops"),
            ("replace allow_hops with follow_hops", "allow_hops"),
            ("replace allow_hops everywhere", "allow_hops"),
            ("replace all references to allow_hops by follow_hops in all files", "allow_hops"),
            // Prose, and words that are not names.
            ("rename the file to a new name", ""),
            ("rename file to Title", ""),
            ("replace tabs with spaces", ""),
            ("replace the URL of a request", ""),
            ("uses of memory in tests", ""),
            ("references to an expired session", ""),
            // Other questions.
            ("where is allow_hops used", ""),
            ("who uses allow_hops", ""),
            ("references to allow_hops in src", ""),
            ("how does a rename reach allow_hops", ""),
            ("rename a.py to b.py", ""),
            ("references to src/net", ""),
            ("allow_hops", ""),
            ("rename allow_hops\nto follow_hops", ""),
            ("", ""),
        ] {
            assert_eq!(all_places_of(text, &LanguageFacts::sample()).unwrap_or_default(), expected, "{text:?}");
        }
    }
}
