//! Questions for the definition of a name.

use super::callers::called;
use crate::written::is_odd;

/// The name in "where is NAME defined", "where is NAME", "the definition of NAME", "NAME definition", where it is written
/// as no word of a sentence is.
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
