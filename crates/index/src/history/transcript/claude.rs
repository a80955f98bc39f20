//! Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`. A line has a `type`; messages contain text or a list of
//! parts.

use serde_json::Value;

use super::{Transcript, TranscriptFormat};

pub(super) const FORMAT: TranscriptFormat = TranscriptFormat { is_named: |name| name.ends_with(".jsonl"), read };

/// Lines known to contain no part of a turn.
const OTHERS: [&str; 10] = [
    "summary",
    "system",
    "progress",
    "attachment",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "custom-title",
    "agent-name",
    "permission-mode",
];
/// Beginnings of texts that a program adds as a person's: commands of the terminal, and their output.
const NOT_ASKED: [&str; 6] = [
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-",
    "<task-notification>",
    "Caveat: The messages below",
];
/// Arguments of a person's command to the agent: `/review the retry`.
const ARGUMENTS: (&str, &str) = ("<command-args>", "</command-args>");
/// Its texts for a person's interruption.
const INTERRUPTIONS: [&str; 2] = ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];

fn read(transcript: &mut Transcript, line: &Value) -> bool {
    let Some(kind) = line["type"].as_str() else { return false };
    if let Some(folder) = line["cwd"].as_str() {
        transcript.folder = Some(folder.to_string());
    }
    let is_aside = line["isSidechain"].as_bool() == Some(true);
    let content = &line["message"]["content"];
    match kind {
        "user" => {
            let is_set = |key: &str| line[key].as_bool() == Some(true);
            // The summary of a session is the agent's.
            let is_asked = !is_aside && !is_set("isMeta") && !is_set("isCompactSummary");
            if is_asked {
                let text = asked(content);
                transcript.asked(&text, line.get("timestamp"));
            }
            content.is_string() || content.is_array()
        }
        "assistant" => {
            for part in content.as_array().into_iter().flatten() {
                match part["type"].as_str() {
                    Some("text") if !is_aside => transcript.said(part["text"].as_str().unwrap_or_default()),
                    Some("tool_use") => transcript.used(part["name"].as_str().unwrap_or_default(), &part["input"]),
                    _ => {}
                }
            }
            if let (Some(text), false) = (content.as_str(), is_aside) {
                transcript.said(text);
            }
            content.is_string() || content.is_array()
        }
        other => OTHERS.contains(&other),
    }
}

/// What a person wrote: only texts. The same messages also carry tool output.
fn asked(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten();
    let texts = parts.filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
    let texts: Vec<&str> = content.as_str().into_iter().chain(texts).collect();
    let own = texts.into_iter().filter_map(|text| if is_put_in(text.trim()) { arguments(text) } else { Some(text) });
    own.collect::<Vec<_>>().join("\n")
}

/// The arguments of a command to the agent.
fn arguments(text: &str) -> Option<&str> {
    let is_command = ["<command-name>", "<command-message>"].iter().any(|begin| text.trim().starts_with(begin));
    let (_, rest) = text.split_once(ARGUMENTS.0).filter(|_| is_command)?;
    let (given, _) = rest.split_once(ARGUMENTS.1)?;
    Some(given.trim()).filter(|given| !given.is_empty())
}

fn is_put_in(text: &str) -> bool {
    NOT_ASKED.iter().any(|begin| text.starts_with(begin)) || INTERRUPTIONS.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::super::{FORMATS, Transcript};

    #[test]
    fn what_a_command_was_given_is_a_question_and_what_programs_say_is_none() {
        let mut transcript = Transcript::new(&FORMATS[1]);
        let lines = [
            r#"{"type": "user", "message": {"content": "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the retry</command-args>"}}"#,
            r#"{"type": "user", "message": {"content": "<command-name>/clear</command-name>\n<command-args></command-args>"}}"#,
            r#"{"type": "user", "isCompactSummary": true, "message": {"content": "This session is being continued"}}"#,
            r#"{"type": "user", "message": {"content": "<task-notification>done</task-notification>"}}"#,
            r#"{"type": "user", "message": {"content": [{"type": "text", "text": "<ide_opened_file>The user opened a.py</ide_opened_file>"}, {"type": "text", "text": "<ide_selection>secret = 1</ide_selection>mend the pool"}]}}"#,
        ];
        for (number, line) in (1..).zip(lines) {
            transcript.line(number, line.as_bytes());
        }
        let asked: Vec<&str> = transcript.turns.iter().map(|turn| turn.user.as_str()).collect();
        assert_eq!((asked, transcript.unknown), (vec!["the retry", "mend the pool"], 0));
    }

    #[test]
    fn an_interruption_is_no_question() {
        let mut transcript = Transcript::new(&FORMATS[1]);
        let contents = [
            r#""mend the retry""#,
            r#""[Request interrupted by user]""#,
            r#"[{"type": "text", "text": "[Request interrupted by user for tool use]"}]"#,
            r#"[{"type": "text", "text": "[Request interrupted by user]"}, {"type": "text", "text": "mend the pool"}]"#,
            r#""why is \"[Request interrupted by user]\" shown?""#,
        ];
        for (number, content) in (1..).zip(contents) {
            let line = format!(r#"{{"type": "user", "message": {{"content": {content}}}}}"#);
            transcript.line(number, line.as_bytes());
        }
        let asked: Vec<&str> = transcript.turns.iter().map(|turn| turn.user.as_str()).collect();
        assert_eq!(asked, ["mend the retry", "mend the pool", "why is \"[Request interrupted by user]\" shown?"]);
        assert_eq!((transcript.unknown, transcript.turns[0].end), (0, 3));
    }
}
