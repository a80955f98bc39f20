//! The words and signs of a text in a language like C, for what is decided before a grammar reads it.

use std::ops::Range;

/// A token between white space and comments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece {
    Word,
    /// A word in upper case with an underscore, which may be a macro.
    Upper,
    Sign(u8),
}

/// The words and signs of a text, without comments, strings and lines of the preprocessor.
pub(super) fn pieces(text: &str) -> Vec<(Piece, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut i, mut line_begins) = (0, true);
    while i < bytes.len() {
        let start = i;
        let byte = bytes[i];
        match byte {
            b'\n' => {
                line_begins = true;
                i += 1;
                continue;
            }
            b if b.is_ascii_whitespace() => {
                i += 1;
                continue;
            }
            b'#' if line_begins => i = end_of_line(bytes, i),
            b'/' if bytes.get(i + 1) == Some(&b'/') => i = end_of_line(bytes, i),
            b'/' if bytes.get(i + 1) == Some(&b'*') => {
                i = text[i + 2..].find("*/").map_or(bytes.len(), |end| i + end + 4)
            }
            b'"' if text[..i].ends_with('R') => i = end_of_raw(text, i),
            b'"' | b'\'' => i = end_of_string(bytes, i),
            b if b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80 => {
                while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_' || bytes[i] >= 0x80) {
                    i += 1;
                }
                found.push((if is_upper(&text[start..i]) { Piece::Upper } else { Piece::Word }, start..i));
            }
            _ => {
                i += 1;
                found.push((Piece::Sign(byte), start..i));
            }
        }
        line_begins = false;
    }
    found
}

/// `ABSL_API`: upper case with an underscore inside.
fn is_upper(word: &str) -> bool {
    let inside = word.trim_matches('_');
    inside.contains('_')
        && inside.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// The end of the line, including those that a backslash joins to it.
pub(super) fn end_of_line(bytes: &[u8], from: usize) -> usize {
    let mut i = from;
    while i < bytes.len()
        && (bytes[i] != b'\n' || bytes[i - 1] == b'\\' || bytes[i - 1] == b'\r' && bytes[i - 2] == b'\\')
    {
        i += 1;
    }
    i
}

/// The end of a string or character, at the latest the end of its line. `1'000` is a number.
pub(super) fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let quote = bytes[from];
    if quote == b'\'' && from > 0 && bytes[from - 1].is_ascii_alphanumeric() {
        return from + 1;
    }
    let mut i = from + 1;
    while i < bytes.len() && bytes[i] != quote && bytes[i] != b'\n' {
        i += if bytes[i] == b'\\' { 2 } else { 1 };
    }
    (i + 1).min(bytes.len())
}

/// The end of a raw string `R"x(…)x"`.
fn end_of_raw(text: &str, from: usize) -> usize {
    let Some(open) = text.as_bytes()[from..].iter().take(20).position(|b| *b == b'(') else { return from + 1 };
    let close = format!("){}\"", &text[from + 1..from + open]);
    text[from + open..].find(&close).map_or(text.len(), |end| from + open + end + close.len())
}
