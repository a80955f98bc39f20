//! Texts of a few kilobytes whose units would take gigabytes.

use colgrep_syntax::language::{LANGUAGES, Reader, by_name};
use colgrep_syntax::parse::{Parsed, parse};

/// Parses `text` repeated, and checks the size of its units.
fn parsed(language: &str, text: &str, times: usize) -> Parsed {
    let parsed = parse(&text.repeat(times), by_name(language).expect("a row"));
    let units: usize = parsed.units.iter().map(|u| u.body.len() + u.docstring.len() + u.signature.len()).sum();
    assert!(units >> 20 < 24, "{language} {text:?} x {times}: units of {units} bytes");
    parsed
}

#[test]
fn too_many_definitions_become_plain_blocks() {
    // Each name had the whole file as its text: 5.5 GB at 20,000 of them.
    for (language, text, times) in [("cpp", "def a(): pass\n", 6_000), ("python", "a=1\n", 12_000)] {
        let note = parsed(language, text, times).note.unwrap_or_default();
        // On a busy machine the limit of time may come first.
        let is_bounded = note.starts_with("holds too many definitions") || note.starts_with("took too long to parse");
        assert!(is_bounded && note.ends_with("; indexed as plain blocks"), "{language}: {note:?}");
    }
}

#[test]
fn shorter_ones_are_parsed() {
    for (language, text) in [("csharp", "a<b"), ("java", "a<b"), ("cpp", "def a(): pass\n")] {
        assert_eq!(parsed(language, text, 300).note.as_deref(), Some("parsed with syntax errors"), "{language}");
    }
}

#[test]
fn texts_read_by_lines_are_bounded() {
    let outlines = LANGUAGES.iter().filter(|row| matches!(row.reader, Some(Reader::Outline(_))));
    for language in outlines {
        for (text, times) in [
            ("(", 40_000),
            ("a(", 20_000),
            ("a (\n", 10_000),
            ("a a a a a a a a a a a a a a a a a a a a (\n", 1_000),
            ("def a = function a(b: c) {\n", 2_000),
            ("<a id=\"b\">\n", 4_000),
            (" class a", 5_000),
            ("\"(*/*{-\n", 5_000),
        ] {
            parsed(language.name, text, times);
        }
    }
}
