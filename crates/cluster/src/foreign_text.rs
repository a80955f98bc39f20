//! Text that another process wrote and that is shown here: it may be anything.

/// Maximum length of such a text, in characters.
const CHARS_MAX: usize = 300;

/// The text on one line, without control and bidirectional characters, cut to the maximum length.
pub fn plain(text: &str) -> String {
    let is_odd = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut chars = text.chars().map(|c| if is_odd(c) { '\u{fffd}' } else { c });
    let mut shown: String = chars.by_ref().take(CHARS_MAX).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Whether a text is a name as repositories have them: in one line, and not long.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && plain(text) == text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_one_plain_line() {
        assert_eq!(plain("no such path: src/é"), "no such path: src/é");
        assert_eq!(plain("a\nb\u{1b}[2J\u{202e}c"), "a\u{fffd}b\u{fffd}[2J\u{fffd}c");
        assert_eq!(plain(&"x".repeat(1_000)).chars().count(), CHARS_MAX + 1);
        assert!(is_name("acme-web") && !is_name("") && !is_name("a\nb") && !is_name(&"x".repeat(400)));
    }
}
