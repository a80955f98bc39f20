//! Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-TIME-SESSION.jsonl`. A line has a `type` and a `payload`; older files
//! have the payload itself.

use serde_json::Value;

use super::{Transcript, TranscriptFormat};

pub(super) const FORMAT: TranscriptFormat =
    TranscriptFormat { is_named: |name| name.starts_with("rollout-") && name.ends_with(".jsonl"), read };

/// Lines and payloads known to contain no part of a turn, or to repeat it.
const OTHERS: [&str; 12] = [
    "event_msg",
    "compacted",
    "ghost_snapshot",
    "state",
    "reasoning",
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "web_search_call",
    "compaction",
    "compaction_summary",
    "other",
];
/// Beginnings of texts that the program adds as a person's.
const NOT_ASKED: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
    "<permissions",
    "<turn_aborted>",
    "# AGENTS.md instructions",
];
/// An editor's text before a question ends with this title.
const REQUEST: &str = "## My request for Codex:";

fn read(transcript: &mut Transcript, line: &Value) -> bool {
    let payload = line.get("payload").unwrap_or(line);
    if let Some(folder) = payload["cwd"].as_str() {
        transcript.folder = Some(folder.to_string());
    }
    match line["type"].as_str() {
        Some("session_meta" | "turn_context") => true,
        Some("response_item") => item(transcript, payload, line.get("timestamp")),
        Some(other) if OTHERS.contains(&other) => true,
        Some(_) => item(transcript, line, line.get("timestamp")),
        // The first line of older files, and their state.
        None => line.get("id").is_some() || line.get("record_type").is_some(),
    }
}

fn item(transcript: &mut Transcript, item: &Value, time: Option<&Value>) -> bool {
    let Some(kind) = item["type"].as_str() else { return false };
    match (kind, item["role"].as_str()) {
        ("message", Some("user")) => {
            let own: Vec<&str> = texts(item).filter(|text| !is_put_in(text)).map(request).collect();
            if let Some(folder) = texts(item).find_map(folder_of_context) {
                transcript.folder = Some(folder.to_string());
            }
            transcript.asked(&own.join("\n"), time);
        }
        ("message", Some("assistant")) => texts(item).for_each(|text| transcript.said(text)),
        ("message", _) => {}
        ("function_call", _) => {
            let arguments = item["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok());
            transcript.used(item["name"].as_str().unwrap_or_default(), &arguments.unwrap_or_default());
        }
        ("custom_tool_call", _) => transcript.used(item["name"].as_str().unwrap_or_default(), item),
        ("local_shell_call", _) => transcript.used(kind, &item["action"]),
        (other, _) => return OTHERS.contains(&other),
    }
    true
}

fn texts(item: &Value) -> impl Iterator<Item = &str> {
    item["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str())
}

/// A person's question, without the context that their editor adds.
fn request(text: &str) -> &str {
    match text.trim_start().starts_with("# Context from my IDE setup:") {
        true => text.split_once(REQUEST).map_or("", |(_, request)| request),
        false => text,
    }
}

fn is_put_in(text: &str) -> bool {
    NOT_ASKED.iter().any(|begin| text.trim_start().starts_with(begin))
}

/// The folder that older files name only in their first message.
fn folder_of_context(text: &str) -> Option<&str> {
    let inner = text.trim_start().strip_prefix("<environment_context>")?;
    let tagged = inner.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>")).map(|(folder, _)| folder);
    tagged.or_else(|| inner.lines().find_map(|line| line.trim().strip_prefix("Current working directory: ")))
}
