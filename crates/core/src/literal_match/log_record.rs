//! Records of structured logs, of which one field is the message: `{"level":"error","msg":"…"}`, `level=error msg="…"`.

use std::cmp::Reverse;

/// Fields of a message, the likeliest first.
const MESSAGES: [&str; 5] = ["msg", "message", "err", "error", "event"];
/// The first of them, which need no level beside them.
const SURE_MESSAGES: usize = 2;
/// Fields that tell a log's record from other data: levels, and times.
const LEVELS: [&str; 3] = ["level", "severity", "lvl"];
const TIMES: [&str; 4] = ["ts", "time", "timestamp", "@timestamp"];

/// The message of a record on one line, as written there: the longest of several. None if it is a single word, or if the
/// record names the place of its call.
pub fn message_of_record(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_json = text.starts_with('{') && text.ends_with('}');
    let is_pairs = || text.split(' ').next().is_some_and(|first| first.contains('=') && !first.contains('('));
    if text.contains('\n') || !(is_json || is_pairs()) {
        return None;
    }
    // `level={3}` is an attribute of markup.
    let is_value = |value: &&str| !value.starts_with(['{', '(', '[']);
    let has = |keys: &[&str]| keys.iter().any(|key| behind_key(text, key, is_json).filter(is_value).is_some());
    let known = match has(&LEVELS) {
        true => &MESSAGES[..],
        false if has(&TIMES) => &MESSAGES[..SURE_MESSAGES],
        false => return None,
    };
    let messages = known.iter().filter_map(|key| quoted(behind_key(text, key, is_json)?));
    let message = messages.min_by_key(|message| Reverse(message.split_whitespace().count()))?;
    let is_said = message.contains(char::is_whitespace) && !text.split(message).any(names_place);
    is_said.then_some(message)
}

/// Whether a text has a file with a line: `src/log.go:12`.
fn names_place(text: &str) -> bool {
    text.match_indices(':').any(|(at, _)| {
        let file = text[..at].rsplit(['"', ' ', '=', '(', ',']).next().unwrap_or_default();
        let is_file =
            file.rsplit_once('.').is_some_and(|(_, ending)| ending.starts_with(|c: char| c.is_ascii_alphabetic()));
        is_file && text[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    })
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
            (r#"{"level":"error","ts":1.2,"msg":"Files must be provided.","id":"ab"}"#, "Files must be provided."),
            (r#"{"level": 50, "pid": 12, "msg": "no \"a\" here"}"#, r#"no \"a\" here"#),
            (r#"{"severity":"E","message":"failed","error":"no such host"}"#, "no such host"),
            (r#"{"level":"error","msg":"it failed","error":"no such host"}"#, "no such host"),
            (r#"ts=2024-05-01 level=error component=api err="bad input given" duration=3ms"#, "bad input given"),
            (r#"time="2024-05-01T10:00:01.2" level=error msg="bad input given""#, "bad input given"),
            (r#"level="error" msg="é bad""#, "é bad"),
            (r#"{"level":"error","caller":"src/log.go:12","msg":"bad input given"}"#, ""),
            (r#"level=error caller=src/log.go:12 msg="bad input given""#, ""),
            (r#"level={3} message="bad input given""#, ""),
            (r#"{ "time": "Time", "error": "Please try again" }"#, ""),
            (r#"{"msg":"bad input given"}"#, ""),
            (r#"{"level":"error","msg":"failed"}"#, ""),
            (r#"{"level":"error","msg":"bad input \}"#, ""),
            (r#"let level = log(msg="bad input given")"#, ""),
            ("level of the message", ""),
        ] {
            assert_eq!(message_of_record(text).unwrap_or_default(), expected, "{text}");
        }
    }
}
