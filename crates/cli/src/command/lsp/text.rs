//! Addresses and positions as editors write them: positions are in UTF-16 units.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use colgrep_core::code_line::word_at;
use colgrep_core::query::last_segment;
use colgrep_render::address::{encoded, file_path};
use serde::{Deserialize, Serialize};

/// A position, from 0; characters are UTF-16 units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "a position with `line` and `character`")]
pub(super) struct TextPosition {
    pub(super) line: u32,
    pub(super) character: u32,
}

/// A range; its end is not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "a range with `start` and `end`")]
pub(super) struct TextRange {
    pub(super) start: TextPosition,
    pub(super) end: TextPosition,
}

impl TextRange {
    /// Whole lines, from 1, to the end of the last one.
    pub(super) fn of_lines(lines: &[&str], first: usize, last: usize) -> TextRange {
        let position = |line: usize, character| TextPosition { line: line.saturating_sub(1) as u32, character };
        let end = lines.get(last.wrapping_sub(1)).map_or(0, |line| utf16_length(line));
        TextRange { start: position(first, 0), end: position(last, end) }
    }

    /// Bytes of a line, whose number is from 1.
    fn of_bytes(line: &str, number: usize, from: usize, to: usize) -> TextRange {
        let position = |at: usize| TextPosition {
            line: number.saturating_sub(1) as u32,
            character: utf16_length(line.get(..at).unwrap_or(line)),
        };
        TextRange { start: position(from), end: position(to) }
    }

    /// The name of a unit on a line, from 1; the line's beginning where it is not there.
    pub(super) fn of_name(lines: &[&str], number: usize, name: &str) -> TextRange {
        let line = lines.get(number.wrapping_sub(1)).copied().unwrap_or_default();
        let name = last_segment(name);
        match word_at(line, name).filter(|_| !name.is_empty()) {
            Some(at) => TextRange::of_bytes(line, number, at, at + name.len()),
            None => TextRange::of_bytes(line, number, 0, 0),
        }
    }
}

/// The places of a word on lines, from 1, other than the place `without`.
pub(super) fn occurrences(
    lines: &[&str],
    (first, last): (usize, usize),
    word: &str,
    without: TextRange,
) -> Vec<TextRange> {
    let mut found = Vec::new();
    for (line, number) in lines.iter().zip(1..).take(last).skip(first.saturating_sub(1)) {
        let mut from = 0;
        while !word.is_empty()
            && let Some(at) = line.get(from..).and_then(|rest| word_at(rest, word))
        {
            found.push(TextRange::of_bytes(line, number, from + at, from + at + word.len()));
            from += at + word.len();
        }
    }
    found.retain(|range| *range != without);
    found
}

/// The word at a position in a line; empty if there is none.
pub(super) fn word_around(line: &str, character: u32) -> &str {
    let mut at = line.len();
    let mut units = 0;
    for (byte, c) in line.char_indices() {
        if units >= character {
            at = byte;
            break;
        }
        units += c.len_utf16() as u32;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let start = line[..at]
        .rfind(|c| !is_part(c))
        .map_or(0, |byte| byte + line[byte..].chars().next().map_or(0, char::len_utf8));
    let end = line[at..].find(|c| !is_part(c)).map_or(line.len(), |byte| at + byte);
    &line[start..end]
}

/// Reads a text that may be null.
pub(super) fn text_or_null<'d, D: serde::Deserializer<'d>>(value: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

fn utf16_length(text: &str) -> u32 {
    text.encode_utf16().count() as u32
}

/// The path of a `file:` address.
pub(super) fn path_of(uri: &str) -> Result<PathBuf> {
    file_path(uri).with_context(|| uri.to_string())
}

/// The `file:` address of a path.
pub(super) fn uri_of(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    format!("{}{}", if path.starts_with('/') { "file://" } else { "file:///" }, encoded(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (path, uri) in [("/a/b.rs", "file:///a/b.rs"), ("/a b/ä.rs", "file:///a%20b/%C3%A4.rs")] {
            assert_eq!(uri_of(Path::new(path)), uri);
            assert_eq!(path_of(uri).expect("a path"), Path::new(path));
        }
        assert_eq!(path_of("file://localhost/a.rs").expect("a path"), Path::new("/a.rs"));
        assert_eq!(
            path_of("file:///%zz").expect("a path"),
            Path::new("/%zz"),
            "as clients write it that do not encode"
        );
        assert!(path_of("untitled:a").is_err());
    }

    #[test]
    fn characters_are_utf16_units() {
        let lines = ["/* 😀 */ fn push() { push(1); }"];
        let range = |from, to| TextRange {
            start: TextPosition { line: 0, character: from },
            end: TextPosition { line: 0, character: to },
        };
        assert_eq!(TextRange::of_name(&lines, 1, "Ring.push"), range(12, 16));
        assert_eq!(TextRange::of_name(&lines, 1, "pop"), range(0, 0));
        assert_eq!(occurrences(&lines, (1, 1), "push", range(0, 0)), [range(12, 16), range(21, 25)]);
        assert_eq!(occurrences(&lines, (1, 1), "push", range(12, 16)), [range(21, 25)]);
        assert_eq!(TextRange::of_lines(&lines, 1, 1), range(0, 31));
        for (character, expected) in [(12, "push"), (14, "push"), (16, "push"), (18, ""), (9, "fn"), (99, "")] {
            assert_eq!(word_around(lines[0], character), expected, "{character}");
        }
    }
}
