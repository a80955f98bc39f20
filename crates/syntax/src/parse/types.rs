//! Recognizes type definitions by their form, where a grammar can't parse them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::language::LANGUAGES;

/// A keyword of any language, maybe a macro, then the name; group 2 marks a use or a forward declaration.
static TYPE_DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    let keywords: BTreeSet<&str> = LANGUAGES.iter().flat_map(|l| l.type_keywords).copied().collect();
    let keywords = keywords.into_iter().collect::<Vec<_>>().join("|");
    let macro_word = r"[A-Z_][A-Z0-9_]*(?:\([^)\n]*\))?[ \t]+";
    let name = r"(?:[\w.:]*(?:\.|::))?\w+";
    Regex::new(&format!(r"(?m)(?:^|[ \t])(?:{keywords})[ \t]+(?:{macro_word})?({name})\b[ \t]*([;,)]?)"))
        .expect("a valid pattern")
});

/// Names that the text appears to define as types: a keyword, maybe a macro, a name, no semicolon. For code that a
/// grammar can't parse (macros before names, dialects).
pub fn textual_types(text: &str) -> Vec<String> {
    let mut names: Vec<String> = TYPE_DEFINITION
        .captures_iter(text)
        .filter(|c| c.get(2).is_none_or(|end| end.is_empty()))
        .filter_map(|c| Some(colgrep_core::query::last_segment(c.get(1)?.as_str()).to_string()))
        .filter(|name| name.len() > 1 && name.len() < 100)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_their_look() {
        for (text, expected) in [
            ("class ABSL_API Foo {", "Foo"),
            ("struct Foo;", ""),
            ("pub struct Foo<T> {", "Foo"),
            ("class Outer::Inner : Base {", "Inner"),
            ("defmodule My.App do", "App"),
            ("the class of things", "of"),
            ("void f(struct foo *x)", ""),
            ("subclass Foo", ""),
        ] {
            assert_eq!(textual_types(text).join(" "), expected, "{text:?}");
        }
    }
}
