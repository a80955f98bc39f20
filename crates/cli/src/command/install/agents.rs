//! The table of coding agents: which files each of them documents, and what goes into them.
//!
//! Read in November 2026. Hooks at a session's start: Claude Code <https://docs.claude.com/en/docs/claude-code/hooks>;
//! Codex <https://developers.openai.com/codex/hooks> and the schema of its answers in `codex-rs/hooks/schema` of
//! openai/codex; Cursor <https://cursor.com/docs/agent/hooks> (known here from what others quote of it); Gemini CLI
//! <https://geminicli.com/docs/hooks/reference>, and for its notes
//! <https://geminicli.com/docs/cli/gemini-md>; Copilot <https://docs.github.com/en/copilot/reference/hooks-reference>,
//! and for its folder and its servers <https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-config-dir-reference>.
//! OpenCode documents plugins (programs in JavaScript) and no hook of a command: <https://opencode.ai/docs/plugins>.
//!
//! Servers and notes of agents without a hook at a session's start: Amp <https://ampcode.com/manual>; Cline
//! <https://docs.cline.bot/getting-started/config> and <https://docs.cline.bot/features/cline-rules/overview>; Junie, the
//! agent of JetBrains, <https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html> and
//! <https://junie.jetbrains.com/docs/guidelines-and-memory.html>; Kiro <https://kiro.dev/docs/mcp/configuration> and
//! <https://kiro.dev/docs/steering>; Windsurf <https://docs.windsurf.com/windsurf/cascade/mcp> and
//! <https://docs.windsurf.com/windsurf/cascade/memories>; Zed <https://zed.dev/docs/ai/mcp> and
//! <https://zed.dev/docs/ai/rules>. VS Code also reads Copilot's files:
//! <https://code.visualstudio.com/docs/agents/reference/mcp-configuration>. Roo Code has ended:
//! <https://docs.roocode.com/sunset>.

use std::path::{Path, PathBuf};

use colgrep_engine::settings::env::Env;
use serde_json::{Value, json};

use super::edit::{Edit, HOOK, OwnedPart};
use super::json::{Hook, JsonServerEntry, value_at};
use super::section::Section;
use super::toml::CodexServer;
use crate::args::Agent;
use crate::files::read;
use crate::hunk::plain;

/// A file and its edits.
pub struct InstallTarget {
    pub path: PathBuf,
    /// The edits, in order.
    pub edits: Vec<Edit>,
}

/// The text about colgrep for agents: facts, no instructions.
pub const TEXT: &str = "\
## colgrep

`colgrep` is a code search on this machine. It works without network, keeps its own index current, and ranks functions,
classes, constants and headings by a question in words or by a name.

- `colgrep \"parse request\"` gives the files that answer best, as `path:line:text`; `-k N` is the number of files, `-c`
  prints whole units, `--max-tokens N` limits the length, `--json` is for programs.
- `colgrep -e 'TODO|FIXME'` gives every line that matches, as grep does; with a query behind it, it filters before ranking.
- Folders behind the question are ranked together as one index: `colgrep \"retry policy\" ../api ../web`; `--group NAME`
  stands for those of a group in the user's settings.
- `colgrep outline FILE` lists the units of a file; `colgrep --like FILE:LINE` gives units like the one on that line.
- `colgrep impact` ranks the files that the uncommitted changes affect, with reasons; `--tests only` the tests among them.

Exit status: 0 found, 1 nothing found, 2 an error. The MCP server `colgrep` offers the same as the tools search, outline,
history, impact and status; its search also lists matching lines (pattern) and reads one unit (name, or file as FILE:LINE).
";

const CURSOR_HEAD: &str =
    "---\ndescription: What the colgrep code search on this machine does\nalwaysApply: true\n---\n\n";
const WINDSURF_HEAD: &str =
    "---\ntrigger: always_on\ndescription: What the colgrep code search on this machine does\n---\n\n";

/// Notes of a project that Zed reads instead of AGENTS.md, in its order.
const ZED_NOTES: [&str; 6] =
    [".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md"];

/// Longest time that an agent waits for the hook, which needs some milliseconds.
const HOOK_SECONDS_MAX: u64 = 10;

/// The files of one agent below `folder`: the user's home, or a project.
pub fn targets(agent: Agent, project: bool, folder: &Path, env: &Env) -> Vec<InstallTarget> {
    // A team's committed files name the program; the user's own name its path, for programs without a shell's PATH.
    let command = match env.program() {
        Some(path) if !project => path.display().to_string(),
        _ => "colgrep".to_string(),
    };
    let files = AgentFiles { folder, agent: super::name(agent), command };
    match (agent, project) {
        (Agent::ClaudeCode, true) => {
            vec![files.notes("CLAUDE.md"), files.server(".mcp.json", files.typed()), files.claude_hook()]
        }
        (Agent::ClaudeCode, false) => match &env.claude_home {
            // With its own folder, Claude Code also keeps the files there that are otherwise directly in the home
            // folder.
            Some(own) => {
                let files = AgentFiles { folder: own, ..files };
                vec![
                    files.notes("CLAUDE.md"),
                    files.server(".claude.json", files.typed()),
                    files.file("settings.json", files.claude_entry()),
                ]
            }
            None => {
                vec![files.notes(".claude/CLAUDE.md"), files.server(".claude.json", files.typed()), files.claude_hook()]
            }
        },
        (Agent::Codex, true) => codex(&files, &folder.join(".codex"), folder),
        (Agent::Codex, false) => {
            let home = env.codex_home.clone().unwrap_or_else(|| folder.join(".codex"));
            codex(&files, &home, &home)
        }
        (Agent::Opencode, project) => {
            let value = json!({"type": "local", "command": [files.command, "mcp"], "enabled": true});
            let usual = if project { folder.to_path_buf() } else { config(folder, env).join("opencode") };
            let home = env.opencode_home.clone().filter(|_| !project).unwrap_or_else(|| usual.clone());
            let server = JsonServerEntry { table: "mcp", value };
            // OpenCode reads the first notes that it finds: new ones in its own folder would hide the usual ones.
            let mut texts = vec![usual.join("AGENTS.md"), home.join("AGENTS.md")];
            texts.dedup();
            if texts.iter().any(|path| path.is_file()) {
                texts.retain(|path| path.is_file());
            } else {
                texts = vec![home.join("AGENTS.md")];
            }
            let server = target(with_comments(home.join("opencode.json")), server);
            texts.into_iter().map(notes).chain([server]).collect()
        }
        (Agent::Cursor, project) => {
            let entry = json!({"command": files.hook(), "timeout": HOOK_SECONDS_MAX});
            let hook = files.file(".cursor/hooks.json", Hook { event: "sessionStart", entry, versioned: true });
            let mut targets = vec![files.server(".cursor/mcp.json", files.stdio()), hook];
            // Cursor keeps the user's rules in its own settings, not in a file.
            if project {
                targets.push(files.file(".cursor/rules/colgrep.mdc", Section { head: CURSOR_HEAD, text: TEXT }));
            }
            targets
        }
        (Agent::Gemini, project) => {
            let home = env.gemini_home.as_deref().or(env.home.as_deref());
            let folder = home.filter(|_| !project).unwrap_or(folder);
            let files = AgentFiles { folder, ..files };
            let notes = |name: &str| files.notes(&format!("{}{name}", if project { "" } else { ".gemini/" }));
            let server = JsonServerEntry { table: "mcpServers", value: files.stdio() };
            // Its timeouts are milliseconds.
            let hook = json!({"name": "colgrep", "type": "command", "command": files.hook(), "timeout": 1_000 * HOOK_SECONDS_MAX});
            let hook = Hook { event: "SessionStart", entry: json!({"hooks": [hook]}), versioned: false };
            let mut settings = files.file(".gemini/settings.json", server);
            settings.edits.push(Edit::new(hook));
            let named = [Some(folder), home].into_iter().flatten().find_map(gemini_notes);
            let (own, instead) = (notes("GEMINI.md"), named.filter(|name| name != "GEMINI.md"));
            let is_read = instead.is_none() || own.path.is_file();
            instead.map(|name| notes(&name)).into_iter().chain(is_read.then_some(own)).chain([settings]).collect()
        }
        (Agent::Copilot, true) => {
            let editors = JsonServerEntry { table: "servers", value: files.typed() };
            vec![
                files.notes(".github/copilot-instructions.md"),
                files.file(".vscode/mcp.json", editors),
                files.server(".github/mcp.json", files.copilot()),
                files.copilot_hook(".github/hooks/colgrep.json"),
            ]
        }
        (Agent::Copilot, false) => {
            let home = env.copilot_home.clone().unwrap_or_else(|| folder.join(".copilot"));
            let files = AgentFiles { folder: &home, ..files };
            vec![
                files.notes("copilot-instructions.md"),
                files.server("mcp-config.json", files.copilot()),
                files.copilot_hook("hooks/colgrep.json"),
            ]
        }
        (Agent::Amp, project) => {
            let home = if project { folder.join(".amp") } else { config(folder, env).join("amp") };
            let server = JsonServerEntry { table: "amp.mcpServers", value: files.stdio() };
            let text = if project { folder } else { &home }.join("AGENTS.md");
            let named = env.amp_settings.clone().filter(|_| !project);
            let settings = named.unwrap_or_else(|| with_comments(home.join("settings.json")));
            vec![notes(text), target(settings, server)]
        }
        // Cline has servers of the user only.
        (Agent::Cline, true) => vec![files.notes("AGENTS.md")],
        (Agent::Cline, false) => {
            let home = env.cline_home.clone().unwrap_or_else(|| folder.join(".cline"));
            let files = AgentFiles { folder: &home, ..files };
            vec![files.notes("rules/colgrep.md"), files.server("data/settings/cline_mcp_settings.json", files.stdio())]
        }
        (Agent::Junie, project) => {
            let mut targets = vec![files.server(".junie/mcp/mcp.json", files.stdio())];
            // Junie documents no notes of the user.
            if project {
                targets.push(files.notes(".junie/AGENTS.md"));
            }
            targets
        }
        (Agent::Kiro, _) => {
            vec![files.notes(".kiro/steering/colgrep.md"), files.server(".kiro/settings/mcp.json", files.stdio())]
        }
        // Windsurf has servers of the user only.
        (Agent::Windsurf, true) => {
            vec![files.file(".windsurf/rules/colgrep.md", Section { head: WINDSURF_HEAD, text: TEXT })]
        }
        (Agent::Windsurf, false) => vec![
            files.notes(".codeium/windsurf/memories/global_rules.md"),
            files.server(".codeium/windsurf/mcp_config.json", files.stdio()),
        ],
        (Agent::Zed, project) => {
            let home = if project { folder.join(".zed") } else { config(folder, env).join("zed") };
            let server = JsonServerEntry { table: "context_servers", value: files.stdio() };
            let text = if project { folder } else { &home }.join("AGENTS.md");
            let mut targets = vec![notes(text), target(home.join("settings.json"), server)];
            let instead = ZED_NOTES.iter().map(|name| folder.join(name)).find(|path| project && path.is_file());
            targets.extend(instead.map(notes));
            targets
        }
    }
}

/// The folder of the user's settings.
fn config(home: &Path, env: &Env) -> PathBuf {
    env.config_home().unwrap_or_else(|| home.join(".config"))
}

/// The file that Gemini CLI reads as notes instead of GEMINI.md, where the settings in a folder name one.
fn gemini_notes(folder: &Path) -> Option<String> {
    let settings = read(&folder.join(".gemini/settings.json")).ok()??;
    let names = value_at(&plain(&settings), &["context", "fileName"])?;
    let all: Vec<&str> = match &names {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let is_own = |name: &&&str| **name == "GEMINI.md";
    let name = all.iter().find(is_own).or(all.first())?;
    // A path may lead anywhere.
    Some((*name).to_string()).filter(|name| !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with(".."))
}

/// A JSON file, or the one beside it that may have comments if there is one.
fn with_comments(file: PathBuf) -> PathBuf {
    let other = file.with_extension("jsonc");
    if other.is_file() { other } else { file }
}

/// Where an agent keeps transcripts of its sessions that `colgrep log` can read.
pub fn transcripts(agent: Agent, env: &Env) -> Option<PathBuf> {
    let home = env.home.as_ref();
    match agent {
        Agent::ClaudeCode => {
            let own = env.claude_home.clone().or_else(|| Some(home?.join(".claude")))?;
            Some(own.join("projects"))
        }
        Agent::Codex => {
            let own = env.codex_home.clone().or_else(|| Some(home?.join(".codex")))?;
            Some(own.join("sessions"))
        }
        _ => None,
    }
}

/// Codex' notes lie in `folder`, the rest in `home`. Codex asks its user before it runs a new hook.
fn codex(files: &AgentFiles<'_>, home: &Path, folder: &Path) -> Vec<InstallTarget> {
    let server = CodexServer { command: files.command.clone() };
    let hook = files.grouped_hook("startup|clear");
    let mut targets = vec![
        notes(folder.join("AGENTS.md")),
        target(home.join("config.toml"), server),
        target(home.join("hooks.json"), hook),
    ];
    // Codex reads it instead of AGENTS.md.
    let instead = folder.join("AGENTS.override.md");
    if instead.is_file() {
        targets.push(notes(instead));
    }
    targets
}

fn target(path: PathBuf, part: impl OwnedPart + 'static) -> InstallTarget {
    InstallTarget { path, edits: vec![Edit::new(part)] }
}

fn notes(path: PathBuf) -> InstallTarget {
    target(path, Section { head: "", text: TEXT })
}

/// What the entries of one agent are made of.
struct AgentFiles<'a> {
    folder: &'a Path,
    agent: String,
    command: String,
}

impl AgentFiles<'_> {
    fn file(&self, path: &str, part: impl OwnedPart + 'static) -> InstallTarget {
        target(self.folder.join(path), part)
    }

    fn notes(&self, path: &str) -> InstallTarget {
        notes(self.folder.join(path))
    }

    fn server(&self, path: &str, value: Value) -> InstallTarget {
        self.file(path, JsonServerEntry { table: "mcpServers", value })
    }

    fn stdio(&self) -> Value {
        json!({"command": self.command, "args": ["mcp"]})
    }

    fn typed(&self) -> Value {
        json!({"type": "stdio", "command": self.command, "args": ["mcp"]})
    }

    fn copilot(&self) -> Value {
        json!({"type": "local", "command": self.command, "args": ["mcp"], "tools": ["*"]})
    }

    /// The command that a shell runs.
    fn hook(&self) -> String {
        format!("{} {HOOK} {}", in_shell(&self.command), self.agent)
    }

    /// A hook in Claude Code's form, which Codex shares. A resumed session has heard it already.
    fn grouped_hook(&self, matcher: &str) -> Hook {
        let run = json!({"type": "command", "command": self.hook(), "timeout": HOOK_SECONDS_MAX});
        let entry = json!({"matcher": matcher, "hooks": [run]});
        Hook { event: "SessionStart", entry, versioned: false }
    }

    fn claude_hook(&self) -> InstallTarget {
        self.file(".claude/settings.json", self.claude_entry())
    }

    fn claude_entry(&self) -> Hook {
        self.grouped_hook("startup|clear|compact")
    }

    fn copilot_hook(&self, path: &str) -> InstallTarget {
        let entry = json!({"type": "command", "command": self.hook(), "timeoutSec": HOOK_SECONDS_MAX});
        self.file(path, Hook { event: "sessionStart", entry, versioned: true })
    }
}

/// A program's path as one word of a shell.
fn in_shell(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    match path.chars().all(plain) {
        true => path.to_string(),
        false if cfg!(windows) => format!("\"{path}\""),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use colgrep_server::mcp::{INSTRUCTIONS, LISTED};

    use super::*;

    #[test]
    fn paths_are_one_word_of_a_shell() {
        for (path, expected) in
            [("/usr/bin/colgrep", "/usr/bin/colgrep"), ("/a b/colgrep", "'/a b/colgrep'"), ("/it's/c", r"'/it'\''s/c'")]
        {
            if !cfg!(windows) {
                assert_eq!(in_shell(path), expected);
            }
        }
    }

    #[test]
    fn the_text_states_and_never_commands() {
        let lower = TEXT.to_lowercase();
        for word in [
            "must",
            "always",
            "never",
            "should",
            "prefer",
            "instead of",
            "do not",
            "don't",
            "please",
            "important",
            "use ",
        ] {
            assert!(!lower.contains(word), "{word:?} tells the agent what to do");
        }
        for flag in ["-k N", "--max-tokens N", "outline FILE", "--like FILE:LINE"] {
            assert!(TEXT.contains(flag), "{flag}");
        }
    }

    #[test]
    fn every_tool_is_named_to_agents() {
        // Notes for agents describe the command line first; the tools come in their last sentence.
        let (_, notes) = TEXT.split_once("offers the same as the tools").expect("a sentence of tools");
        for name in LISTED {
            assert!(INSTRUCTIONS.contains(&format!("`{name}`")), "INSTRUCTIONS of mcp.rs leave out {name}");
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            assert!(
                notes.split(|c: char| !is_word(c)).any(|word| word == name),
                "the notes of install leave out {name}"
            );
        }
    }
}
