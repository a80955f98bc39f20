//! Leaves out of a notebook what is not indexed: outputs, which may be images of megabytes.

/// Keys whose arrays and objects are left out.
const LEFT_OUT: [&str; 3] = ["outputs", "attachments", "widgets"];

/// The text of a notebook with empty outputs, attachments and states of widgets, with as many lines as before.
pub(super) fn without_outputs(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut kept = String::new();
    // Up to where the text is kept or left out.
    let mut done = 0;
    let mut at = 0;
    while let Some(from) = memchr::memchr(b'"', &bytes[at..]).map(|from| at + from) {
        let end = string_end(bytes, from);
        at = end;
        let name = text.get(from + 1..end.saturating_sub(1)).unwrap_or_default();
        if !LEFT_OUT.contains(&name) {
            continue;
        }
        // A key is followed by a colon.
        let Some(opens) = after_colon(bytes, end).filter(|opens| matches!(bytes[*opens], b'[' | b'{')) else {
            continue;
        };
        let closes = bracket_end(bytes, opens);
        kept.push_str(&text[done..=opens]);
        let lines = memchr::memchr_iter(b'\n', &bytes[opens..closes]).count();
        kept.extend(std::iter::repeat_n('\n', lines));
        (done, at) = (closes, closes);
    }
    kept.push_str(&text[done..]);
    kept
}

/// The place after the string that begins at `from`.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while let Some(next) = memchr::memchr2(b'"', b'\\', &bytes[at..]).map(|next| at + next) {
        match bytes[next] {
            b'"' => return next + 1,
            _ => at = bytes.len().min(next + 2),
        }
    }
    bytes.len()
}

/// The place of the value after a colon, blanks left out.
fn after_colon(bytes: &[u8], at: usize) -> Option<usize> {
    let next = |from: usize| Some(from + bytes[from..].iter().position(|b| !b.is_ascii_whitespace())?);
    let colon = next(at).filter(|colon| bytes[*colon] == b':')?;
    next(colon + 1)
}

/// The place of the bracket that closes the one at `opens`; the end of the text if none does.
fn bracket_end(bytes: &[u8], opens: usize) -> usize {
    let (mut at, mut depth) = (opens, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_go_and_lines_stay() {
        for (text, expected) in [
            (r#"{"outputs": [{"png": "a]\"b"}], "source": ["x"]}"#, r#"{"outputs": [], "source": ["x"]}"#),
            ("{\"outputs\" :\n[\n1,\n[2]\n], \"a\": 1}", "{\"outputs\" :\n[\n\n\n], \"a\": 1}"),
            (r#"{"attachments": {"a.png": {"image/png": "xx"}}}"#, r#"{"attachments": {}}"#),
            // No key, no array, text in a source, a text that is cut.
            (r#"["outputs", [1]]"#, r#"["outputs", [1]]"#),
            (r#"{"outputs": 7}"#, r#"{"outputs": 7}"#),
            (r#"{"source": "\"outputs\": [1]"}"#, r#"{"source": "\"outputs\": [1]"}"#),
            (r#"{"outputs": [1, 2"#, r#"{"outputs": ["#),
            (r#"{"outputs"#, r#"{"outputs"#),
            ("{\"a\": \"\\", "{\"a\": \"\\"),
            ("", ""),
        ] {
            assert_eq!(without_outputs(text), expected, "{text}");
        }
    }
}
