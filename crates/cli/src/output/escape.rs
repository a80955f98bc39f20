//! Escapes control characters, so that printed text can neither drive a terminal nor show in another order than it has
//! in its file (CVE-2021-42574).

/// Whether a character changes the direction of those around it.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escape(text: &str, kept: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let drives = c.is_control() || is_bidirectional(c);
        if drives && !kept.contains(&c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

/// Escapes all control characters: for names.
pub fn escape_control(text: &str) -> String {
    escape(text, &[])
}

/// Escapes all but tabs: for lines of a file.
pub fn escape_line(text: &str) -> String {
    escape(text, &['\t'])
}

/// Escapes all but tabs and line ends: for messages and reports.
pub fn escape_text(text: &str) -> String {
    escape(text, &['\t', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        let text = "a\x1b[31m\tb\n\u{9b}c";
        assert_eq!(escape_control(text), "a\\u{1b}[31m\\tb\\n\\u{9b}c");
        assert_eq!(escape_line(text), "a\\u{1b}[31m\tb\\n\\u{9b}c");
        assert_eq!(escape_text(text), "a\\u{1b}[31m\tb\n\\u{9b}c");
    }

    #[test]
    fn nothing_is_shown_in_another_order() {
        for c in ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'] {
            let expected = format!("if a {} b", c.escape_unicode());
            for shown in [escape_control, escape_line, escape_text] {
                assert_eq!(shown(&format!("if a {c} b")), expected);
            }
        }
        assert_eq!(escape_line("\u{5d0}\u{200d}\u{2065}\u{206a}"), "\u{5d0}\u{200d}\u{2065}\u{206a}");
    }
}
