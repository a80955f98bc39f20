//! Transcripts that agents write of their sessions: a JSON object per line. Each format is a row of one table.

mod claude;
mod codex;
mod command;

use std::collections::BTreeSet;

use serde_json::Value;

use self::command::of_command;
use crate::moment::Moment;

/// Maximum length of either side of a turn, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Maximum of tool uses per turn.
const TOOLS_MAX: usize = 2_000;

#[derive(Debug)]
pub(super) struct TranscriptFormat {
    /// Whether a file of this name has it.
    pub(super) is_named: fn(&str) -> bool,
    /// Reads one line; returns false if its kind is unknown.
    read: fn(&mut Transcript, &Value) -> bool,
}

/// Every format, the one with the narrower name first.
pub(super) static FORMATS: &[TranscriptFormat] = &[codex::FORMAT, claude::FORMAT];

/// The paths that a tool's arguments name.
#[derive(Clone, Copy, Debug)]
enum ToolPaths {
    Path(&'static str),
    /// It is a command: its words that are paths, with the rules for queries.
    Command(&'static str),
    /// It is a patch: files that its headers name.
    Patch(&'static str),
}

/// Tools and the arguments with their paths. No other argument is kept.
static TOOLS: &[(&str, ToolPaths)] = &[
    ("Read", ToolPaths::Path("file_path")),
    ("Edit", ToolPaths::Path("file_path")),
    ("MultiEdit", ToolPaths::Path("file_path")),
    ("Write", ToolPaths::Path("file_path")),
    ("NotebookEdit", ToolPaths::Path("notebook_path")),
    ("NotebookRead", ToolPaths::Path("notebook_path")),
    ("Grep", ToolPaths::Path("path")),
    ("Glob", ToolPaths::Path("path")),
    ("LS", ToolPaths::Path("path")),
    ("Bash", ToolPaths::Command("command")),
    ("shell", ToolPaths::Command("command")),
    ("shell_command", ToolPaths::Command("command")),
    ("exec_command", ToolPaths::Command("cmd")),
    ("local_shell_call", ToolPaths::Command("command")),
    ("apply_patch", ToolPaths::Patch("input")),
    ("view_image", ToolPaths::Path("path")),
];

/// A person's question, and what the agent said and did until the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) line: u32,
    /// Last line.
    pub(super) end: u32,
    pub(super) time: Moment,
    pub(super) user: String,
    /// The agent's text.
    pub(super) assistant: String,
    /// Tool, path as written, and the folder that it is relative to.
    pub(super) tools: BTreeSet<(String, String, String)>,
}

#[derive(Debug)]
pub(super) struct Transcript {
    format: &'static TranscriptFormat,
    number: u32,
    /// The folder of the session, then of the current line.
    pub(super) folder: Option<String>,
    /// The turns, the current one last.
    pub(super) turns: Vec<Turn>,
    /// Lines that were not understood.
    pub(super) unknown: u64,
}

impl Transcript {
    pub(super) fn new(format: &'static TranscriptFormat) -> Transcript {
        Transcript { format, number: 0, folder: None, turns: Vec::new(), unknown: 0 }
    }

    pub(super) fn line(&mut self, number: u32, line: &[u8]) {
        self.number = number;
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let read = self.format.read;
        let is_known = serde_json::from_slice(line).is_ok_and(|value: Value| read(self, &value));
        if !is_known {
            self.unknown += 1;
        } else if let Some(turn) = self.turns.last_mut() {
            turn.end = number;
        }
    }

    /// The whole transcript, without turns that have no question.
    pub(super) fn finished(mut self) -> Transcript {
        self.turns.retain(|turn| !turn.user.trim().is_empty());
        self
    }

    /// A question begins a turn.
    fn asked(&mut self, text: &str, time: Option<&Value>) {
        let text = without_reminders(text);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let user = text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_string();
        let time = time.and_then(Value::as_str).and_then(Moment::read).unwrap_or_default();
        self.turns.push(Turn { line: self.number, end: self.number, time, user, ..Turn::default() });
    }

    /// Adds the agent's text.
    fn said(&mut self, text: &str) {
        let Some(turn) = self.turns.last_mut() else { return };
        let room = TEXT_BYTES_MAX.saturating_sub(turn.assistant.len());
        if !turn.assistant.is_empty() {
            turn.assistant.push('\n');
        }
        turn.assistant.push_str(&text[..text.floor_char_boundary(room)]);
    }

    /// The agent used a tool with these arguments.
    fn used(&mut self, tool: &str, arguments: &Value) {
        let Some((_, names)) = TOOLS.iter().find(|(name, _)| *name == tool) else { return };
        let (key, paths): (_, fn(&str) -> Vec<String>) = match names {
            ToolPaths::Path(key) => (key, |path| vec![path.to_string()]),
            ToolPaths::Command(key) => (key, of_command),
            ToolPaths::Patch(key) => (key, of_patch),
        };
        let given = &arguments[*key];
        let words: Option<Vec<&str>> = given.as_array().map(|all| all.iter().filter_map(Value::as_str).collect());
        let given = words.as_ref().map_or_else(|| given.as_str().unwrap_or_default().to_string(), |all| all.join(" "));
        let folder = ["workdir", "cwd"].iter().find_map(|key| arguments[*key].as_str());
        let folder = folder.or(self.folder.as_deref()).unwrap_or_default().to_string();
        // `bash -lc 'apply_patch …'` names its files in the patch.
        let paths = match words {
            _ if given.contains("*** Begin Patch") => of_patch(&given),
            // A word with blanks stays one.
            Some(words) => paths(&shlex::try_join(words).unwrap_or_default()),
            None => paths(&given),
        };
        let Some(turn) = self.turns.last_mut() else { return };
        for path in paths.into_iter().filter(|path| !path.is_empty()) {
            if turn.tools.len() < TOOLS_MAX {
                turn.tools.insert((tool.to_string(), path, folder.clone()));
            }
        }
    }
}

/// The files that the headers of a patch name.
fn of_patch(patch: &str) -> Vec<String> {
    let headers = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let named =
        patch.lines().filter_map(|line| headers.iter().find_map(|header| line.trim_start().strip_prefix(header)));
    named.map(|path| path.trim().to_string()).collect()
}

/// The mark around files and output that the program around an agent adds to a question.
const REMINDER: &str = "system-reminder";
/// All such marks; an editor adds the others, to say what is open.
const PUT_IN: [&str; 4] = [REMINDER, "ide_opened_file", "ide_selection", "ide_diagnostics"];

/// A text without the additions of the program around the agent. An unclosed one is a truncated reminder; any other
/// mark may be the question's subject.
fn without_reminders(text: &str) -> String {
    let mut all = text.to_string();
    for mark in PUT_IN {
        let (opens, closes) = (format!("<{mark}>"), format!("</{mark}>"));
        if !all.contains(&opens) {
            continue;
        }
        let (mut kept, mut rest) = (String::with_capacity(all.len()), all.as_str());
        while let Some((before, behind)) = rest.split_once(&opens) {
            rest = match behind.split_once(&closes) {
                Some((_, behind)) => behind,
                None if mark == REMINDER => "",
                None => break,
            };
            kept.push_str(before);
        }
        kept.push_str(rest);
        all = kept;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(tool: &str, arguments: &str) -> String {
        let mut transcript = Transcript::new(&FORMATS[0]);
        transcript.folder = Some("/app".to_string());
        transcript.asked("go", None);
        transcript.used(tool, &serde_json::from_str(arguments).expect("JSON"));
        let of = |(_, path, folder): &(String, String, String)| format!("{folder}:{path}");
        transcript.turns[0].tools.iter().map(of).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tools_name_paths_by_their_arguments() {
        for (tool, arguments, expected) in [
            ("Read", r#"{"file_path": "/app/src/a.py", "limit": 5}"#, "/app:/app/src/a.py"),
            (
                "Edit",
                r#"{"file_path": "/app/src/a.py", "old_string": "see b.py", "new_string": "x/y"}"#,
                "/app:/app/src/a.py",
            ),
            ("Write", r#"{"file_path": "src/a.py", "content": "import b/c.py"}"#, "/app:src/a.py"),
            ("NotebookEdit", r#"{"notebook_path": "n.ipynb"}"#, "/app:n.ipynb"),
            ("Grep", r#"{"pattern": "src/x.py", "path": "src"}"#, "/app:src"),
            ("Bash", r#"{"command": "cd /app && pytest tests/test_a.py -k 'one' > out"}"#, "/app:/app/tests/test_a.py"),
            ("Bash", r#"{"command": "python setup.py:12"}"#, "/app:setup.py"),
            ("shell", r#"{"command": ["bash", "-lc", "cat src/b.rs"], "workdir": "/app/sub"}"#, "/app/sub:src/b.rs"),
            ("shell", r#"{"command": ["bash", "-lc", "cd lib && cat b.rs"]}"#, "/app:lib/b.rs"),
            (
                "apply_patch",
                r#"{"input": "*** Begin Patch\n*** Update File: src/c.rs\n@@\n-see d.rs\n"}"#,
                "/app:src/c.rs",
            ),
            ("WebFetch", r#"{"url": "https://a.b/c.py"}"#, ""),
        ] {
            assert_eq!(paths(tool, arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn what_the_program_put_in_is_left_out() {
        assert_eq!(without_reminders("a <system-reminder>secret</system-reminder>b"), "a b");
        assert_eq!(without_reminders("a <system-reminder>secret"), "a ");
        assert_eq!(without_reminders("what is <ide_selection> here?"), "what is <ide_selection> here?");
        assert_eq!(
            without_reminders("<ide_selection>secret</ide_selection>a<ide_opened_file>x</ide_opened_file>"),
            "a"
        );
    }
}
