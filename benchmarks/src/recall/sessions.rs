//! Made-up transcripts: sessions of an agent, with questions for most turns.
//!
//! [`lay_out`] turns a short file of sessions into transcripts in both formats, with the rows that programs add: times,
//! calls of tools and their results, meaningless rows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use colgrep_index::history::{HistorySource, TranscriptFolders};
use colgrep_index::store::Store;
use colgrep_index::update::Updater;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{RecallMeasure, Scores, tell};

/// Sessions in one project.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Transcripts {
    /// Where the sessions ran. Nothing need be there: paths are compared as text.
    project: PathBuf,
    sessions: Vec<RecallSession>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecallSession {
    /// The transcript's name without `.jsonl`.
    name: String,
    form: TranscriptForm,
    date: String,
    turns: Vec<RecallTurn>,
}

/// Who writes transcripts so.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TranscriptForm {
    Claude,
    Codex,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecallTurn {
    /// What a person asked the agent.
    asked: String,
    said: String,
    /// Tools that it used, each with a path or a command.
    #[serde(default)]
    tools: Vec<(String, String)>,
    /// What the last tool answered: nothing that may be found.
    #[serde(default)]
    answered: Option<String>,
    /// What somebody asks later who recalls words of this turn.
    #[serde(default)]
    recalled: Option<String>,
    /// What somebody asks later who recalls what was done, and none of the words.
    #[serde(default)]
    paraphrase: Option<String>,
}

/// How turns are asked for: the name in tables, and the question.
type Asked = (&'static str, fn(&RecallTurn) -> Option<&String>);
const ASKED: [Asked; 2] =
    [("recalled", |turn| turn.recalled.as_ref()), ("paraphrase", |turn| turn.paraphrase.as_ref())];

impl RecallMeasure<'_> {
    /// The scores of each session's questions, grouped by kind.
    pub(super) fn transcripts(&self, file: &Path, alphas: &[f32]) -> Result<Vec<Vec<Scores>>> {
        let shown = file.display();
        let text = fs::read_to_string(file).with_context(|| format!("can't read {shown}"))?;
        let set: Transcripts = serde_json::from_str(&text).with_context(|| format!("{shown} holds no transcripts"))?;
        let folder = tempfile::tempdir()?;
        let transcripts = folder.path().canonicalize()?.join("transcripts");
        fs::create_dir(&transcripts)?;
        let lines: Vec<Vec<u32>> =
            set.sessions.iter().map(|session| lay_out(session, &set.project, &transcripts)).collect::<Result<_>>()?;
        let store = Store::new(folder.path().join("index"));
        let sessions = TranscriptFolders::new(vec![transcripts.clone()], vec![set.project.clone()]);
        let source = HistorySource { git: None, common: &set.project, sessions: &sessions };
        let encoding = self.model.encoding(None);
        let (snapshot, _) = Updater::new(&store, &set.project).source(&source).encoding(encoding.as_ref()).run()?;
        let mut documents = Vec::new();
        for session in &set.sessions {
            let path = transcripts.join(format!("{}.jsonl", session.name));
            let Some(record) = snapshot.files.indexed().find(|record| Path::new(&record.path) == path) else {
                bail!("{shown}: the session {} was not indexed", session.name);
            };
            documents.push(record.id);
        }
        let turns: usize = lines.iter().map(Vec::len).sum();
        let mut all = Vec::new();
        for (kind, question) in ASKED {
            let of_kind = set.sessions.iter().zip(&documents).zip(&lines).map(|((session, document), lines)| {
                let asked = session.turns.iter().zip(lines).filter_map(|(turn, line)| Some((question(turn)?, *line)));
                asked.map(|(question, line)| self.scores(&snapshot, question, (*document, line))).collect()
            });
            let of_kind = of_kind.collect::<Result<Vec<Vec<Scores>>>>()?;
            tell(kind, Some(turns), &of_kind, alphas);
            all.extend(of_kind);
        }
        Ok(all)
    }
}

/// Writes a session as its agent would, and gives the line of each turn.
fn lay_out(session: &RecallSession, project: &Path, folder: &Path) -> Result<Vec<u32>> {
    let cwd = project.to_string_lossy().into_owned();
    let mut rows = vec![match session.form {
        TranscriptForm::Claude => json!({"type": "summary", "summary": session.name}),
        TranscriptForm::Codex => json!({"type": "session_meta", "payload": {"id": session.name, "cwd": cwd}}),
    }];
    let mut lines = Vec::new();
    for (turn, hour) in session.turns.iter().zip(8..) {
        lines.push(u32::try_from(rows.len() + 1)?);
        let time = format!("{}T{hour:02}:00:00Z", session.date);
        match session.form {
            TranscriptForm::Claude => rows.extend(as_claude(turn, &cwd, &time)),
            TranscriptForm::Codex => rows.extend(as_codex(turn, &cwd, &time)),
        }
    }
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    fs::write(folder.join(format!("{}.jsonl", session.name)), text)?;
    Ok(lines)
}

fn as_claude(turn: &RecallTurn, cwd: &str, time: &str) -> Vec<Value> {
    let row = |role: &str, content: Value| json!({"type": role, "cwd": cwd, "timestamp": time, "message": {"role": role, "content": content}});
    let use_of = |(tool, given): &(String, String)| {
        let input = match tool.as_str() {
            "Bash" => json!({"command": given}),
            "Grep" | "Glob" => json!({"pattern": "x", "path": given}),
            _ => json!({"file_path": Path::new(cwd).join(given)}),
        };
        json!({"type": "tool_use", "name": tool, "input": input})
    };
    let mut said = vec![json!({"type": "text", "text": turn.said})];
    said.extend(turn.tools.iter().map(use_of));
    let mut rows = vec![row("user", json!(turn.asked)), row("assistant", json!(said))];
    rows.extend(turn.answered.iter().map(|answer| row("user", json!([{"type": "tool_result", "content": answer}]))));
    rows
}

fn as_codex(turn: &RecallTurn, cwd: &str, time: &str) -> Vec<Value> {
    let row = |payload: Value| json!({"timestamp": time, "type": "response_item", "payload": payload});
    let message = |role: &str, kind: &str, text: &str| {
        row(json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let use_of = |(tool, given): &(String, String)| match tool.as_str() {
        "apply_patch" => {
            let patch = format!("*** Begin Patch\n*** Update File: {given}\n@@\n*** End Patch\n");
            row(json!({"type": "custom_tool_call", "name": tool, "input": patch}))
        }
        _ => {
            let arguments = json!({"command": ["bash", "-lc", given], "workdir": cwd}).to_string();
            row(json!({"type": "function_call", "name": tool, "arguments": arguments}))
        }
    };
    let mut rows = vec![message("user", "input_text", &turn.asked)];
    rows.extend(turn.tools.iter().map(use_of));
    rows.extend(turn.answered.iter().map(|answer| row(json!({"type": "function_call_output", "output": answer}))));
    rows.push(message("assistant", "output_text", &turn.said));
    rows
}
