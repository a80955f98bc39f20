//! Attributes and decorators at the front of lines, as far as they go: over brackets, onto the lines below.

use crate::token::is_word_char;

/// What attributes and decorators begin with.
const ATTRIBUTE_MARKS: &[&str] = &["@", "#[", "#![", "[", "%["];

/// The attributes at a line's front.
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes {
    /// Where what stands behind them begins.
    end: usize,
    /// Whether the last one has no brackets and may be about what stands behind it: `@spec x(binary)`.
    is_bare: bool,
    /// Brackets that are open behind the line.
    open: usize,
}

impl Attributes {
    /// Those of the line below: what is open goes on there.
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
            is_bare = mark == "@" && !line[..end].ends_with(')');
            // `@deprecated "x is old"`: one without brackets goes on to the line's end.
            if open > 0 || (is_bare && line[from..].starts_with(['"', '\'', '~'])) {
                return Attributes { end: line.len(), is_bare, open };
            }
        }
    }

    /// Whether what stands at `at` belongs to one of them (`@JvmName("x")`, `#[x]`), or is all that one is about.
    pub(super) fn hold(self, at: usize) -> bool {
        at < self.end || (self.is_bare && at == self.end)
    }
}
