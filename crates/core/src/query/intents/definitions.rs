//! Questions for the definition of a name, and for a name in a file.

use super::callers::called;
use super::is_written;
use crate::identifier_style::is_odd;

/// Words that join a name to its file.
const JOINTS: &[&str] = &["at", "file", "from", "in", "inside", "of", "the", "within"];
/// Words of a question for a name.
const SAID: &[&str] = &[
    "class",
    "const",
    "constant",
    "declaration",
    "declared",
    "def",
    "defined",
    "definition",
    "enum",
    "find",
    "fn",
    "func",
    "function",
    "implementation",
    "implemented",
    "interface",
    "is",
    "macro",
    "method",
    "show",
    "struct",
    "trait",
    "type",
    "variable",
    "where",
];

/// The name in "where is NAME defined", "where is NAME", "the definition of NAME", "NAME definition", if it is written as no word
/// of a sentence is.
pub(super) fn definition_of(text: &str) -> Option<String> {
    let written: Vec<&str> = text.split_whitespace().collect();
    let lower: Vec<String> = written.iter().map(|word| word.trim_end_matches(['?', '.', ',']).to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let at = match lower.as_slice() {
        ["where", "is", _] | ["where", "is", _, "declared" | "defined" | "implemented"] => 2,
        [.., "definition", "of", _] => lower.len() - 1,
        [_, "definition"] => 0,
        _ => return None,
    };
    written.get(at).filter(|word| is_odd(word)).and_then(|word| called(word))
}

/// Whether a word joins a name to its file: "in", "of".
pub fn is_joint(word: &str) -> bool {
    is_one_of(word, JOINTS)
}

/// The name in "NAME in FILE", "FILE NAME", "where is NAME defined in FILE": all that the text says besides the file. A word of
/// such questions is a name itself if it stands there alone (`find in FILE`).
pub(super) fn name_beside(text: &str, file: &str) -> Option<String> {
    if text.trim().contains('\n') {
        return None;
    }
    let is_beside = |word: &&str| !is_written(word, file) && !is_joint(word);
    let mut beside: Vec<&str> = text.split_whitespace().filter(is_beside).collect();
    if beside.len() > 1 {
        beside.retain(|word| !is_one_of(word, SAID));
    }
    let [written] = beside.as_slice() else { return None };
    called(written).filter(|name| is_name(name))
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.contains(&word.trim_end_matches(['?', '.', ',', ':']).to_lowercase().as_str())
}

/// Whether a word can be a name or a path of names.
fn is_name(word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_.:#$!?->~".contains(c);
    word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')) && word.chars().all(is_part)
}
