//! `colgrep hook AGENT`: what an agent's hook prints at a session's start. `install` writes that hook.
//!
//! It states what is indexed around the session's folder, in the JSON that the agent documents. It indexes nothing and
//! walks no tree. Errors go to stderr only, so that they never block a session.

use colgrep_render::remark;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Result;
use colgrep_engine::project::Project;
use colgrep_engine::settings::env::Env;
use colgrep_index::ErrorKind;
use serde_json::{Value, json};

use crate::FOUND;
use crate::args::{Agent, HookArgs};
use colgrep_render::escape::escape_control;
use colgrep_render::words::counted;

/// Longest time that the agent's own message is waited for.
const MESSAGE_PATIENCE: Duration = Duration::from_millis(500);
/// Longest message that is read, in bytes.
const MESSAGE_BYTES_MAX: u64 = 1 << 20;
/// Languages that are named, the most frequent ones.
const LANGUAGES_MAX: usize = 5;

pub(super) fn run(args: &HookArgs, env: &Env) -> Result<u8> {
    let folder = message().as_ref().and_then(session_folder).unwrap_or_else(|| PathBuf::from("."));
    let facts = facts(&folder, env).unwrap_or_else(|error| {
        remark!("colgrep: {}", colgrep_render::advice::told(&error));
        None
    });
    let mut out = std::io::stdout().lock();
    match (answer(args.agent, facts.as_deref().unwrap_or_default()), &facts) {
        (Some(answer), Some(_)) => writeln!(out, "{answer}")?,
        (Some(_), None) => writeln!(out, "{}", json!({}))?,
        (None, facts) => write!(out, "{}", facts.as_deref().unwrap_or_default())?,
    }
    Ok(FOUND)
}

/// The text in the shape that each agent documents, where it has a hook; `install/agents.rs` names the pages.
fn answer(agent: Agent, text: &str) -> Option<Value> {
    match agent {
        Agent::Cursor => Some(json!({"additional_context": text})),
        Agent::Copilot => Some(json!({"additionalContext": text})),
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini => {
            Some(json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}))
        }
        Agent::Opencode | Agent::Amp | Agent::Cline | Agent::Junie | Agent::Kiro | Agent::Windsurf | Agent::Zed => None,
    }
}

/// The JSON that the agent writes to standard input.
fn message() -> Option<Value> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (sender, receiver) = mpsc::channel();
    // Don't block the session on a pipe that nobody closes.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = std::io::stdin().take(MESSAGE_BYTES_MAX).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    serde_json::from_slice(&receiver.recv_timeout(MESSAGE_PATIENCE).ok()?).ok()
}

fn session_folder(message: &Value) -> Option<PathBuf> {
    // Cursor runs a user's hooks elsewhere and names the folders.
    let folder = message["workspace_roots"][0].as_str().or(message["cwd"].as_str())?;
    Some(PathBuf::from(folder)).filter(|f| f.is_dir())
}

/// What is indexed around `folder`; `None` outside a project.
fn facts(folder: &Path, env: &Env) -> Result<Option<String>> {
    let (project, _) = Project::around(folder, env)?;
    if project.check_size(env, false).is_err() {
        return Ok(None);
    }
    let root = escape_control(&project.root.display().to_string());
    let state = match project.store.open() {
        Ok(snapshot) => {
            let files = counted(snapshot.files.indexed().count() as u64, "file");
            let units = snapshot.files.units();
            let units = counted(units, "unit");
            let named: Vec<&str> =
                snapshot.files.languages().into_iter().filter(|l| *l != "unknown").take(LANGUAGES_MAX).collect();
            let build = if snapshot.files.complete { "" } else { "; its build is not finished" };
            format!(
                "The index of {root} holds {files} with {units} ({}){build}; each search brings it up to date.",
                named.join(", ")
            )
        }
        Err(error) if error.kind() == ErrorKind::Missing => {
            format!("{root} has no index yet; the first search builds it.")
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Some(format!(
        "colgrep {} (ranked code search on this machine): {state} `colgrep \"QUESTION OR NAME\"` gives the files that answer, \
`colgrep --help` lists the rest.\n",
        env!("CARGO_PKG_VERSION")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_gets_the_shape_that_it_reads() {
        for (agent, expected) in [
            (Agent::ClaudeCode, r#"{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"SessionStart"}}"#),
            (Agent::Codex, r#"{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"SessionStart"}}"#),
            (Agent::Gemini, r#"{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"SessionStart"}}"#),
            (Agent::Cursor, r#"{"additional_context":"x"}"#),
            (Agent::Copilot, r#"{"additionalContext":"x"}"#),
        ] {
            let told: Value = serde_json::from_str(expected).unwrap();
            assert_eq!(answer(agent, "x"), Some(told), "{agent:?}");
        }
        assert_eq!(answer(Agent::Opencode, "x"), None);
    }

    #[test]
    fn the_session_is_where_the_agent_says() {
        let here = std::env::temp_dir();
        let here = here.to_str().unwrap();
        for (message, expected) in [
            (json!({"cwd": here}), Some(here)),
            (json!({"workspace_roots": [here], "cwd": "/nowhere/at/all"}), Some(here)),
            (json!({"cwd": "/nowhere/at/all"}), None),
            (json!([]), None),
        ] {
            assert_eq!(session_folder(&message).as_deref(), expected.map(Path::new), "{message}");
        }
    }
}
