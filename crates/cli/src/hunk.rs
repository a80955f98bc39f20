//! A change of a text that can be reverted, also after other places of the text have changed.

use anyhow::Result;
use serde::{Deserialize, Serialize};

/// A replacement of `was` by `put`, `at` bytes from the text's beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hunk {
    /// Where the change begins, in bytes.
    pub at: usize,
    /// The text before the change.
    pub was: String,
    /// The text after the change.
    pub put: String,
}

impl Hunk {
    /// The change that makes `new` of `old`; with `lines`, whole lines of them.
    pub fn between(old: &str, new: &str, lines: bool) -> Hunk {
        let mut at = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
        while !old.is_char_boundary(at) || !new.is_char_boundary(at) {
            at -= 1;
        }
        if lines {
            let begin = |at: usize| old[..at].rfind('\n').map_or(0, |end| end + 1);
            at = begin(at);
            // If lines were removed at the end, the line above marks the place.
            if new[at..].trim().is_empty() {
                at = begin(at.saturating_sub(1));
            }
        }
        let rest = old.len().min(new.len()) - at;
        let mut same = old.bytes().rev().zip(new.bytes().rev()).take(rest).take_while(|(a, b)| a == b).count();
        while !old.is_char_boundary(old.len() - same) || !new.is_char_boundary(new.len() - same) {
            same -= 1;
        }
        if lines {
            let tail = &old[old.len() - same..];
            same -= tail.find('\n').map_or(tail.len(), |end| end + 1);
        }
        Hunk { at, was: old[at..old.len() - same].to_string(), put: new[at..new.len() - same].to_string() }
    }

    /// Reverts the change in `text`: where `put` is found at its place, or exactly once elsewhere.
    #[cfg(any(feature = "serve", test))]
    pub fn back(&self, text: &str) -> Option<String> {
        let here = text.get(self.at..).is_some_and(|rest| rest.starts_with(&self.put));
        let mut places = text.match_indices(&self.put).map(|(at, _)| at);
        let at = if here { self.at } else { places.next().filter(|_| places.next().is_none())? };
        Some(format!("{}{}{}", &text[..at], self.was, &text[at + self.put.len()..]))
    }

    /// The same, also in a text whose line ends were changed.
    #[cfg(any(feature = "serve", test))]
    pub fn back_in_any_form(&self, text: &str) -> Option<String> {
        let of_plain = Hunk { at: self.at, was: plain(&self.was), put: plain(&self.put) };
        let back = |text: &str| of_plain.back(text).ok_or_else(|| anyhow::anyhow!("the change is not there"));
        let changed = || in_own_form(text, back).ok();
        self.back(text).or_else(changed)
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// `text` with `\n` line ends and without a byte order mark.
pub fn plain(text: &str) -> String {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).replace("\r\n", "\n")
}

/// Applies `edit` to the plain form of `text`. Inserted text gets the text's own line ends; every other byte is
/// unchanged.
///
/// # Errors
/// The errors of `edit`.
pub fn in_own_form(text: &str, edit: impl FnOnce(&str) -> Result<String>) -> Result<String> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let plain = plain(text);
    let hunk = Hunk::between(&plain, &edit(&plain)?, false);
    let line_end = if body.split('\n').next().is_some_and(|l| l.ends_with('\r')) { "\r\n" } else { "\n" };
    // A place in the plain text, counted in the text: `\r\n` is one step.
    let place = |steps: usize| {
        let mut at = text.len() - body.len();
        (0..steps).for_each(|_| at += if text.as_bytes()[at..].starts_with(b"\r\n") { 2 } else { 1 });
        at
    };
    let put = hunk.put.replace('\n', line_end);
    Ok(format!("{}{put}{}", &text[..place(hunk.at)], &text[place(hunk.at + hunk.was.len())..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_taken_back_byte_for_byte() {
        for (before, after) in [
            ("a\r\nb", "a\r\nb\n\nours\n"),
            ("{\"é\":1}", "{\"é\":1,\"ö\":2}\n"),
            ("{\"ö\":1}", "{\"é\":1,\"ö\":1}"),
            ("aaa", "aaaa"),
            ("a\nb\nc", "a\nbx\nc"),
            ("a\nb\n", "a\nb\nb\n"),
            ("", "x"),
        ] {
            for lines in [false, true] {
                let hunk = Hunk::between(before, after, lines);
                assert_eq!(hunk.back(after).as_deref(), Some(before), "{before:?} → {after:?}: {hunk:?}");
            }
        }
        assert_eq!(Hunk::between("a\nb\nc\n", "a\nbx\nc\n", true).put, "bx\n");
    }

    #[test]
    fn what_moved_is_found_where_it_is_alone() {
        let hunk = Hunk::between("a\nz\n", "a\nours\nz\n", false);
        assert_eq!(hunk.back("more\na\nours\nz\n").as_deref(), Some("more\na\nz\n"));
        assert_eq!(hunk.back("ours\na\nours\nz\n"), None);
        assert_eq!(hunk.back("a\nOURS\nz\n"), None);
    }

    #[test]
    fn what_is_put_in_gets_the_line_ends_around_it() {
        for (before, after) in [
            ("a\r\nb\r\n", "a\r\nb\r\nx\r\ny\r\n"),
            ("\u{feff}a\nb\n", "\u{feff}a\nb\nx\ny\n"),
            ("\u{feff}ä\r\nb\nc\r\n", "\u{feff}ä\r\nb\nc\r\nx\r\ny\r\n"),
            ("\u{feff}", "\u{feff}x\ny\n"),
            ("", "x\ny\n"),
        ] {
            let put = in_own_form(before, |t| Ok(format!("{t}x\ny\n"))).unwrap();
            assert_eq!(put, after);
            assert_eq!(in_own_form(&put, |t| Ok(t.replace("x\ny\n", ""))).unwrap(), before);
        }
    }
}
