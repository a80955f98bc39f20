//! The table of coding agents: which files each of them documents, and what goes into them.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::edit::Edit;
use crate::args::Agent;
use crate::env::Env;

/// A file and what is put into it.
pub struct Target {
    /// The file.
    pub path: PathBuf,
    /// What is put in and cut out.
    pub edit: Edit,
}

/// What an agent reads about colgrep: what it does, and nothing that the agent should do.
pub const TEXT: &str = "\
## colgrep

`colgrep` is a code search on this machine. It works without network, keeps its own index current, and ranks functions,
classes, constants and headings by a question in words or by a name.

- `colgrep \"parse request\"` gives the files that answer best, as `path:line:text`; `-k N` is the number of files, `-c`
  prints whole units, `--max-tokens N` limits the length, `--json` is for programs.
- `colgrep -e 'TODO|FIXME'` gives every line that matches, as grep does; with a query behind it, it filters before ranking.
- `colgrep outline FILE` lists the units of a file; `colgrep --like FILE:LINE` gives units like the one on that line.

Exit status: 0 found, 1 nothing found, 2 an error. The MCP server `colgrep` offers the same as the tools search, grep,
outline, read_unit, find_related and status.
";

const CURSOR_HEAD: &str =
    "---\ndescription: What the colgrep code search on this machine does\nalwaysApply: true\n---\n\n";

/// The files of one agent below `folder`: the user's home, or a project.
pub fn targets(agent: Agent, project: bool, folder: &Path, env: &Env) -> Vec<Target> {
    // What a team commits names the program; what is the user's own names the file, for programs without a shell's PATH.
    let command = match std::env::current_exe() {
        Ok(path) if !project => path.display().to_string(),
        _ => "colgrep".to_string(),
    };
    let notes = |path: &str| Target { path: folder.join(path), edit: Edit::Section(TEXT) };
    let server = |path: &str, key: &'static str, value| Target {
        path: folder.join(path),
        edit: Edit::Json { table: key, value },
    };
    let stdio = json!({"command": command, "args": ["mcp"]});
    let typed = json!({"type": "stdio", "command": command, "args": ["mcp"]});
    match (agent, project) {
        (Agent::ClaudeCode, true) => vec![notes("CLAUDE.md"), server(".mcp.json", "mcpServers", typed)],
        (Agent::ClaudeCode, false) => vec![notes(".claude/CLAUDE.md"), server(".claude.json", "mcpServers", typed)],
        (Agent::Codex, true) => vec![notes("AGENTS.md"), codex(folder.join(".codex/config.toml"), command)],
        (Agent::Codex, false) => {
            let home = env.codex_home.clone().unwrap_or_else(|| folder.join(".codex"));
            let notes = Target { path: home.join("AGENTS.md"), edit: Edit::Section(TEXT) };
            vec![notes, codex(home.join("config.toml"), command)]
        }
        (Agent::Opencode, project) => {
            let value = json!({"type": "local", "command": [command, "mcp"], "enabled": true});
            let home = if project {
                folder.to_path_buf()
            } else {
                env.config_home().unwrap_or(folder.join(".config")).join("opencode")
            };
            let with_comments = home.join("opencode.jsonc");
            let file = if with_comments.is_file() { with_comments } else { home.join("opencode.json") };
            vec![
                Target { path: home.join("AGENTS.md"), edit: Edit::Section(TEXT) },
                Target { path: file, edit: Edit::Json { table: "mcp", value } },
            ]
        }
        (Agent::Cursor, true) => {
            let rule = Target {
                path: folder.join(".cursor/rules/colgrep.mdc"),
                edit: Edit::Whole(format!("{CURSOR_HEAD}{TEXT}")),
            };
            vec![rule, server(".cursor/mcp.json", "mcpServers", stdio)]
        }
        // The user's rules of Cursor are kept in its own settings, in no file.
        (Agent::Cursor, false) => vec![server(".cursor/mcp.json", "mcpServers", stdio)],
        (Agent::Gemini, true) => vec![notes("GEMINI.md"), server(".gemini/settings.json", "mcpServers", stdio)],
        (Agent::Gemini, false) => {
            vec![notes(".gemini/GEMINI.md"), server(".gemini/settings.json", "mcpServers", stdio)]
        }
        (Agent::Copilot, true) => {
            vec![notes(".github/copilot-instructions.md"), server(".vscode/mcp.json", "servers", typed)]
        }
        (Agent::Copilot, false) => {
            let value = json!({"type": "local", "command": command, "args": ["mcp"], "tools": ["*"]});
            vec![notes(".copilot/copilot-instructions.md"), server(".copilot/mcp-config.json", "mcpServers", value)]
        }
    }
}

fn codex(path: PathBuf, command: String) -> Target {
    Target { path, edit: Edit::CodexServer { command } }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
