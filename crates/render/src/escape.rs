//! Escapes control characters, so that printed text can neither drive a terminal nor show in another order than it has
//! in its file (CVE-2021-42574).

use std::borrow::Cow;

/// Whether a character changes the direction of those around it.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character controls a terminal instead of being displayed.
pub fn is_driving(c: char) -> bool {
    c.is_control() || is_bidirectional(c)
}

fn escape(text: &str, kept: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_driving(c) && !kept.contains(&c) { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

/// A value as JSON on one line, escaped as by [`in_json`].
///
/// # Errors
/// When the value can't be written as JSON.
pub fn json_text(value: &impl serde::Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(in_json)
}

/// Escapes characters that JSON allows but a terminal obeys: DEL, C1 controls, bidirectional controls. Programs read
/// the same text.
pub fn in_json(json: String) -> String {
    // Line ends between values stay. The other characters occur only in strings, and each is one UTF-16 unit.
    let is_left = |c: char| c >= '\u{7f}' && is_driving(c);
    if !json.contains(is_left) {
        return json;
    }
    json.chars().map(|c| if is_left(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// Escapes all control characters: for names.
pub fn escape_control(text: &str) -> String {
    escape(text, &[])
}

/// Escapes control characters in a file's name for a pipe: a line end in a name must not begin a line of its own. All
/// other bytes stay, also those that are no UTF-8.
pub fn escape_name(name: &[u8]) -> Cow<'_, [u8]> {
    let mut chunks = name.utf8_chunks();
    if !chunks.any(|chunk| chunk.valid().contains(char::is_control)) {
        return Cow::Borrowed(name);
    }
    let mut escaped = Vec::with_capacity(2 * name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c.is_control() {
                true => escaped.extend(c.escape_default().map(|c| c as u8)),
                false => escaped.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        escaped.extend(chunk.invalid());
    }
    Cow::Owned(escaped)
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
    fn names_keep_all_bytes_but_control_characters() {
        for (name, expected) in [
            (&b"src/a b.rs"[..], &b"src/a b.rs"[..]),
            (b"a\nb.rs:1:text\x1b[2J", b"a\\nb.rs:1:text\\u{1b}[2J"),
            (b"caf\xe9", b"caf\xe9"),
            (b"caf\xe9\n\xc3\xa9", b"caf\xe9\\n\xc3\xa9"),
        ] {
            assert_eq!(&*escape_name(name), expected, "{}", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn json_drives_no_terminal_and_says_the_same() {
        let text = "a\u{1b}\u{9b}31m\u{7f}\u{202e}é😀";
        let written = json_text(&text).unwrap();
        assert_eq!(written, r#""a\u001b\u009b31m\u007f\u202eé😀""#);
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        assert_eq!(json_text(&["plain é"]).unwrap(), r#"["plain é"]"#);
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
