//! Attributes and decorators at the beginning of lines, with their brackets, over several lines.

use crate::token::is_word_char;

/// Beginnings of attributes and decorators.
const ATTRIBUTE_MARKS: &[&str] = &["@", "#[", "#![", "[", "%[", "-spec"];

/// The attributes at the beginning of a line.
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes {
    /// Where the code after them begins.
    end: usize,
    /// Whether the last one has no brackets and may be about the code after it: `@spec x(binary)`, `-spec x(binary)`.
    is_bare: bool,
    /// Brackets still open at the end of the line.
    open: usize,
}

impl Attributes {
    /// The attributes of the next line, which may continue open brackets.
    pub(super) fn below(self, line: &str) -> Attributes {
        let (mut from, mut open, mut is_bare) = (line.len() - line.trim_start().len(), self.open, false);
        loop {
            let begun = ATTRIBUTE_MARKS.iter().find(|mark| open == 0 && line[from..].starts_with(**mark));
            if begun.is_none() && open == 0 {
                return Attributes { end: from, is_bare, open };
            }
            let mark = begun.copied().unwrap_or_default();
            let mut end = from + mark.len();
            open += usize::from(mark.ends_with('['));
            for c in line[end..].chars() {
                match c {
                    '(' | '[' => open += 1,
                    ')' | ']' => open = open.saturating_sub(1),
                    _ if open > 0 || is_word_char(c) || matches!(c, '.' | ':') => {}
                    _ => break,
                }
                end += c.len_utf8();
                if open == 0 && matches!(c, ')' | ']') {
                    break;
                }
            }
            from = end + line[end..].len() - line[end..].trim_start().len();
            is_bare = matches!(mark, "@" | "-spec") && !line[..end].ends_with(')');
            // `@deprecated "x is old"`: an attribute without brackets extends to the end of the line.
            if open > 0 || (is_bare && line[from..].starts_with(['"', '\'', '~'])) {
                return Attributes { end: line.len(), is_bare, open };
            }
        }
    }

    /// Whether the place `at` is in one of them (`@JvmName("x")`, `#[x]`), or is what one applies to.
    pub(super) fn hold(self, at: usize) -> bool {
        at < self.end || (self.is_bare && at == self.end)
    }
}
