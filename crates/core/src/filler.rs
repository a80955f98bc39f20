//! Fillers: words of politeness and of reference that people put around a question, and that no text answers.

use crate::token::{is_stop_word, words};

/// The words, in lower case, as they stand between blanks with the punctuation of a sentence taken off.
const FILLERS: [&str; 11] = ["e.g", "i.e", "etc", "eg", "ie", "aka", "please", "thanks", "help", "github", "issue"];
/// What a sentence puts around a word.
const PUNCTUATION: &[char] = &['.', ',', ';', ':', '(', ')', '!', '?'];

/// What a word of the query is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    Filler,
    /// Stop words and punctuation: they go where fillers stand on both sides.
    Glue,
    Content,
}

/// The query without its fillers; `None` where there is none, or nothing of content would be left. What stands in
/// double quotes stays, and so does the call `help()`.
pub fn without_fillers(text: &str) -> Option<String> {
    let mut is_quoted = false;
    let mut parts: Vec<(&str, Worth)> = Vec::new();
    for word in text.split_whitespace() {
        let quotes = word.matches('"').count();
        let worth = if is_quoted || quotes > 0 { Worth::Content } else { worth(word) };
        is_quoted ^= quotes % 2 == 1;
        parts.push((word, worth));
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

fn worth(word: &str) -> Worth {
    let bare = word.trim_matches(PUNCTUATION).to_lowercase();
    let is_call = word.trim_end_matches([',', '.', ';', ':']).ends_with("()");
    if FILLERS.contains(&bare.as_str()) && !is_call {
        return Worth::Filler;
    }
    let has_words = words(word).next().is_some();
    if !has_words || is_stop_word(&bare) { Worth::Glue } else { Worth::Content }
}

/// The text of the words that stay, with the blanks between them as typed; a comma in front of fillers goes with them.
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

    #[test]
    fn s000_1_fillers_are_dropped_in_any_case() {
        for filler in FILLERS {
            for filler in [filler.to_string(), filler.to_uppercase()] {
                assert_eq!(without_fillers(&format!("{filler} retry")).as_deref(), Some("retry"), "{filler}");
            }
        }
    }

    #[test]
    fn s000_2_their_punctuation_goes_with_them() {
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
    fn s000_3_words_of_programs_stay() {
        for word in
            ["async", "function", "class", "def", "in", "GitHubIssue", "help()", "helper", "issues", "github.com"]
        {
            assert_eq!(without_fillers(&format!("{word} retry")), None, "{word}");
        }
    }

    #[test]
    fn s000_4_fillers_stay_where_nothing_else_is() {
        for text in ["help", "github issue", "please help with the issue", "", "\"please help\" retry"] {
            assert_eq!(without_fillers(text), None, "{text}");
        }
    }
}
