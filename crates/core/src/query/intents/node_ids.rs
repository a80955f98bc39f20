//! Files and names written as one piece.

use std::borrow::Cow;

use crate::language::LanguageFacts;

/// Splits pytest's names of tests into words: `tests/test_q.py::TestQueue::test_push[1]` names a file, a class and a
/// method. Also splits a text of just a file and a name: `src/a.py:parse`.
pub fn split_node_ids<'t>(text: &'t str, facts: &LanguageFacts) -> Cow<'t, str> {
    if let Some((file, name)) = named_place(text.trim(), facts) {
        return Cow::Owned(format!("{file} {name}"));
    }
    let is_node_id = |word: &&str| word.split_once("::").is_some_and(|(file, _)| facts.is_file_name(file));
    if !text.contains("::") || !text.split_whitespace().any(|word| is_node_id(&word)) {
        return Cow::Borrowed(text);
    }
    let apart = |word: &str| match is_node_id(&word.trim_end()) {
        true => word.split('[').next().unwrap_or_default().replace("::", " ") + &word[word.trim_end().len()..],
        false => word.to_string(),
    };
    Cow::Owned(text.split_inclusive(char::is_whitespace).map(apart).collect())
}

/// The file and the name in `src/a.py:parse`. `a.rs:L12` and `a.cs:line` are places.
fn named_place<'t>(text: &'t str, facts: &LanguageFacts) -> Option<(&'t str, &'t str)> {
    let (file, name) = text.split_once(':')?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let is_line = name == "line" || name.strip_prefix('L').is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
    let is_file = !file.contains(char::is_whitespace) && facts.is_file_name(&file.to_lowercase());
    (is_name && !is_line && is_file).then_some((file, name))
}
