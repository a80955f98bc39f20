//! Records of structured logs, of which one field is the message: `{"level":"error","msg":"…"}`, `level=error msg="…"`.

/// Fields of a message, the likeliest first.
const MESSAGES: [&str; 5] = ["msg", "message", "err", "error", "event"];
/// Fields that tell a log's record from other data.
const HEADS: [&str; 7] = ["level", "severity", "lvl", "ts", "time", "timestamp", "@timestamp"];

/// The message of a record on one line, as written there; none if it is a single word.
pub fn message_of_record(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_json = text.starts_with('{') && text.ends_with('}');
    let is_pairs = || text.split(' ').next().is_some_and(|first| first.contains('=') && !first.contains(['(', '"']));
    if text.contains('\n') || !(is_json || is_pairs() || text.starts_with("time=\"")) {
        return None;
    }
    HEADS.iter().find_map(|head| behind_key(text, head, is_json))?;
    let mut messages = MESSAGES.iter().filter_map(|key| quoted(behind_key(text, key, is_json)?));
    messages.find(|message| message.contains(char::is_whitespace))
}

/// The text after a field's name and its mark.
fn behind_key<'t>(text: &'t str, key: &str, is_json: bool) -> Option<&'t str> {
    text.match_indices(key).find_map(|(at, _)| {
        let (front, behind) = (&text[..at], &text[at + key.len()..]);
        match is_json {
            true => behind.strip_prefix('"')?.trim_start().strip_prefix(':').filter(|_| front.ends_with('"')),
            false => behind.strip_prefix('=').filter(|_| front.is_empty() || front.ends_with(' ')),
        }
    })
}

/// The inside of the literal at the front of a text.
fn quoted(text: &str) -> Option<&str> {
    let inside = text.trim_start().strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some(&inside[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_record_is_told_from_its_other_fields() {
        for (text, expected) in [
            (
                r#"{"level":"error","ts":1.2,"caller":"x.go:33","msg":"Files must be provided.","id":"ab"}"#,
                "Files must be provided.",
            ),
            (r#"{"level": 50, "pid": 12, "msg": "no \"a\" here"}"#, r#"no \"a\" here"#),
            (r#"{"severity":"E","message":"failed","error":"no such host"}"#, "no such host"),
            (r#"ts=2024-05-01 level=error component=api err="bad input given" duration=3ms"#, "bad input given"),
            (r#"time="2024-05-01 10:00" level=error msg="bad input given""#, "bad input given"),
            (r#"{"msg":"bad input given"}"#, ""),
            (r#"{"level":"error","msg":"failed"}"#, ""),
            (r#"let level = log(msg="bad input given")"#, ""),
            ("level of the message", ""),
        ] {
            assert_eq!(message_of_record(text).unwrap_or_default(), expected, "{text}");
        }
    }
}
