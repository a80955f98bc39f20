//! Control characters written as escapes, so that what is shown can't drive a terminal.

fn escape(text: &str, kept: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && !kept.contains(&c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

/// A name: all of them.
pub fn escape_control(text: &str) -> String {
    escape(text, &[])
}

/// A line of a file: all but tabs.
pub fn escape_line(text: &str) -> String {
    escape(text, &['\t'])
}

/// A message or a report: all but tabs and the ends of its lines.
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
}
