//! Recognizes type definitions by their form, where a grammar can't parse them.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::language::LANGUAGES;

/// What follows a keyword: maybe a macro, then the name; group 2 marks a use or a forward declaration.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let macro_word = r"[A-Z_][A-Z0-9_]*(?:\([^)\n]*\))?[ \t]+";
    let name = r"(?:[\w.:]*(?:\.|::))?\w+";
    Regex::new(&format!(r"^[ \t]+(?:{macro_word})?({name})\b[ \t]*([;,)]?)")).expect("a valid pattern")
});

/// The keywords of all languages.
static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let words: HashSet<&str> = LANGUAGES.iter().flat_map(|l| l.type_keywords).copied().collect();
    let bytes_max = words.iter().map(|word| word.len()).max().unwrap_or_default();
    let mut begins = [false; 256];
    words.iter().filter_map(|word| word.bytes().next()).for_each(|first| begins[usize::from(first)] = true);
    Keywords { words, begins, bytes_max }
});

struct Keywords {
    words: HashSet<&'static str>,
    /// Whether one of them begins with a byte.
    begins: [bool; 256],
    bytes_max: usize,
}

impl Keywords {
    /// The end of the first keyword at or after `from` that a blank follows. A keyword begins a line, or follows a blank
    /// at or after `from`.
    fn next_end(&self, text: &str, from: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let is_blank = |byte: u8| matches!(byte, b' ' | b'\t');
        (from..bytes.len()).find_map(|at| {
            let follows = |before: usize| bytes[before] == b'\n' || (before >= from && is_blank(bytes[before]));
            if !self.begins[usize::from(bytes[at])] || !at.checked_sub(1).is_none_or(follows) {
                return None;
            }
            let length = bytes[at..].iter().take(self.bytes_max + 1).position(|byte| is_blank(*byte))?;
            text.get(at..at + length).filter(|word| self.words.contains(word)).map(|word| at + word.len())
        })
    }
}

/// Names that the text appears to define as types: a keyword, maybe a macro, a name, no semicolon. For code that a
/// grammar can't parse (macros before names, dialects).
pub fn textual_types(text: &str) -> Vec<String> {
    let (mut names, mut from) = (Vec::new(), 0);
    while let Some(end) = KEYWORDS.next_end(text, from) {
        let Some(found) = NAME.captures(&text[end..]) else {
            from = end;
            continue;
        };
        from = end + found[0].len();
        let name = colgrep_core::query::last_segment(&found[1]);
        if found[2].is_empty() && name.len() > 1 && name.len() < 100 {
            names.push(name.to_string());
        }
    }
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
            ("a class\tFoo {\n\tenum class Kind {", "Foo class"),
            ("class class Foo", "class"),
            ("class  é class Foo", "é"),
            ("class", ""),
            ("class ", ""),
            ("class\nFoo", ""),
            ("\nstruct Foo(a, b);", "Foo"),
        ] {
            assert_eq!(textual_types(text).join(" "), expected, "{text:?}");
        }
    }
}
