//! The flags of the subcommands other than search.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, ValueEnum, ValueHint};
use clap_complete::Shell;

#[cfg(feature = "serve")]
use colgrep_server::args::{McpArgs, ServeArgs};

use super::suggest;
use super::walk::WalkArgs;

#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// Project to use (default: the current folder's)
    pub path: Option<PathBuf>,
    /// Model for the vectors: default (built in), a folder, or a Hugging Face name
    #[arg(long, value_name = "ID|FOLDER", value_hint = ValueHint::DirPath, help_heading = "Indexing")]
    pub model: Option<String>,
    /// Finish the index in the background after a search.
    #[arg(long, hide = true)]
    pub behind: bool,
    /// Options of the walk.
    #[command(flatten)]
    pub walk: WalkArgs,
}

#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    /// Project to use (default: the current folder's)
    pub path: Option<PathBuf>,
    /// Show the state of the shards and replicas in this JSON file instead; exit status 2 if one is missing
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "path")]
    pub shards: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
pub struct ClearArgs {
    /// Project, which may no longer exist (default: the current folder's)
    pub path: Option<PathBuf>,
    /// Remove the indexes of all projects
    #[arg(long, conflicts_with = "path")]
    pub all: bool,
    /// Remove the indexes of projects that no longer exist
    #[arg(long, conflicts_with_all = ["path", "all"])]
    pub gone: bool,
    /// Don't print what was removed
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Clone, Debug, Args)]
pub struct OutlineArgs {
    /// The file; it need not be indexed
    pub file: PathBuf,
    /// Include constants, fields and lines outside units
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print each unit's text as enriched for search: keywords and entities, an empty line, the text
    #[arg(long)]
    pub enriched: bool,
}

#[derive(Clone, Debug, Args)]
pub struct SettingsArgs {
    /// Setting name, such as results or ranking.alpha
    #[arg(value_parser = suggest::SETTING, hide_possible_values = true)]
    pub key: Option<String>,
    /// New value, written to the user's file; several for a list
    #[arg(allow_negative_numbers = true)]
    pub value: Vec<String>,
    /// Show all settings and where each value comes from (default without arguments)
    #[arg(long, conflicts_with_all = ["key", "value"])]
    pub show: bool,
    /// Remove the setting from the user's file
    #[arg(long, requires = "key", conflicts_with = "value")]
    pub unset: bool,
    /// Accept everything in the repository's current .colgrep.toml, including its model, hidden files, larger files
    /// and links
    #[arg(long, conflicts_with_all = ["key", "value", "unset", "untrust", "show", "json"])]
    pub trust: bool,
    /// Accept only harmless settings from it again
    #[arg(long, conflicts_with_all = ["key", "value", "unset", "show", "json"])]
    pub untrust: bool,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["value", "unset"])]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
pub struct SetModelArgs {
    /// `default` (built in), a folder with model.onnx and tokenizer.json, or a Hugging Face name such as
    /// lightonai/LateOn-Code-edge
    #[arg(value_name = "ID|FOLDER", value_hint = ValueHint::DirPath)]
    pub model: String,
}

#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// Project to use (default: the current folder's)
    pub path: Option<PathBuf>,
    /// Verify every checksum in the index; exit status 2 if something is damaged
    #[arg(long)]
    pub verify: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
pub struct KnobsArgs {
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print the Markdown table for the documentation
    #[arg(long)]
    pub markdown: bool,
    /// Show the values of this profile: default or classic
    #[arg(long, value_name = "NAME", value_parser = suggest::PROFILE, hide_possible_values = true)]
    pub profile: Option<String>,
}

/// Arguments of a subcommand that this build leaves out.
#[cfg(not(feature = "serve"))]
#[derive(Clone, Debug, Args)]
pub struct LeftOutArgs {
    /// Arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub args: Vec<OsString>,
}

#[cfg(not(feature = "serve"))]
pub type McpCommand = LeftOutArgs;
#[cfg(not(feature = "serve"))]
pub type ServeCommand = LeftOutArgs;

#[cfg(feature = "serve")]
#[derive(Clone, Debug, Args)]
pub struct McpCommand {
    /// What is served.
    #[command(flatten)]
    pub server: McpArgs,
    /// Options of the walk.
    #[command(flatten)]
    pub walk: WalkArgs,
}

#[cfg(feature = "serve")]
#[derive(Clone, Debug, Args)]
pub struct ServeCommand {
    /// What is served, where and to whom.
    #[command(flatten)]
    pub server: ServeArgs,
    /// Options of the walk.
    #[command(flatten)]
    pub walk: WalkArgs,
}

#[derive(Clone, Debug, Args)]
pub struct LspArgs {
    /// Accepted, since many editors pass it: standard input and output are always used
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// Coding agents that `install` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    /// Claude Code: CLAUDE.md, .mcp.json, .claude/settings.json.
    ClaudeCode,
    /// OpenAI Codex: AGENTS.md, .codex/config.toml, .codex/hooks.json.
    Codex,
    /// OpenCode: AGENTS.md, opencode.json.
    Opencode,
    /// Cursor: .cursor/rules, .cursor/mcp.json, .cursor/hooks.json.
    Cursor,
    /// Gemini CLI: GEMINI.md, .gemini/settings.json.
    Gemini,
    /// GitHub Copilot, also in VS Code: .github/copilot-instructions.md, .vscode/mcp.json, .github/hooks.
    #[value(alias = "vscode")]
    Copilot,
    /// Amp: AGENTS.md, .amp/settings.json.
    Amp,
    /// Cline: AGENTS.md; the user's .cline/rules and .cline/data/settings.
    Cline,
    /// Junie of JetBrains: .junie/AGENTS.md, .junie/mcp/mcp.json.
    #[value(alias = "jetbrains")]
    Junie,
    /// Kiro: .kiro/steering, .kiro/settings/mcp.json.
    Kiro,
    /// Windsurf: .windsurf/rules; the user's .codeium/windsurf.
    Windsurf,
    /// Zed: AGENTS.md, .zed/settings.json.
    Zed,
}

#[derive(Clone, Debug, Args)]
pub struct InstallArgs {
    /// The coding agent
    pub agent: Agent,
    /// Write to the agent's files in this project instead of the user's
    #[arg(long)]
    pub project: bool,
    /// Show what would be written without writing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Args)]
pub struct HookArgs {
    /// The coding agent whose JSON format to print
    pub agent: Agent,
}

/// Rewrites spellings that clap can't parse: `--install-claude-code` for `install claude-code`, as in similar tools,
/// likewise for `uninstall` and the other agents; `--shards FILE status` for `status --shards FILE`; a bare `-n`
/// anywhere with `--calls` and `--called-by`; and the query `help` followed by flags or paths, which clap takes for its
/// command.
pub(crate) fn respelled(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    // The word after the file, which may be joined by `=`.
    let behind = match args.get(1).and_then(|arg| arg.to_str()) {
        Some("--shards") => 3,
        Some(arg) if arg.starts_with("--shards=") => 2,
        _ => usize::MAX,
    };
    if args.get(behind).is_some_and(|arg| arg == "status") {
        let status = args.remove(behind);
        args.insert(1, status);
    }
    if asks_for_help_as_word(&args) {
        args.insert(1, "search".into());
    }
    let Some(first) = args.get(1).and_then(|a| a.to_str()) else { return args };
    for verb in ["install", "uninstall"] {
        let agent = first.strip_prefix("--").and_then(|a| a.strip_prefix(verb)).and_then(|a| a.strip_prefix('-'));
        if let Some(agent) = agent.filter(|a| Agent::from_str(a, false).is_ok()) {
            let words = [OsString::from(verb), OsString::from(agent)];
            args.splice(1..2, words);
            break;
        }
    }
    let asks_for_calls = args.iter().filter_map(|arg| arg.to_str()).any(is_of_calls);
    if let Some(at) = args.iter().position(|arg| arg == "-n").filter(|_| asks_for_calls) {
        let is_number = |arg: &OsString| arg.to_str().is_some_and(|text| text.parse::<usize>().is_ok());
        if !args.get(at + 1).is_some_and(is_number) {
            args[at] = "-n0".into();
        }
    }
    args
}

/// The command that a word is but for one slip: a letter too many, too few or another one, or two letters exchanged.
pub(crate) fn command_like(word: &str) -> Option<String> {
    let command = super::Args::command();
    let mut names = command.get_subcommands().map(clap::Command::get_name);
    names.find(|name| is_slip(word, name)).map(str::to_string)
}

fn is_slip(typed: &str, name: &str) -> bool {
    let (mut one, mut other): (Vec<char>, Vec<char>) = (typed.chars().collect(), name.chars().collect());
    if one == other || other.len() < 4 {
        return false;
    }
    while one.last().is_some() && one.last() == other.last() {
        one.pop();
        other.pop();
    }
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    match (&one[same..], &other[same..]) {
        ([] | [_], [] | [_]) => true,
        ([a, b], [c, d]) => (a, b) == (d, c),
        _ => false,
    }
}

/// Whether `help` is a query: it is followed by a flag, or by an existing path that is not a command.
fn asks_for_help_as_word(args: &[OsString]) -> bool {
    let [_, help, behind, ..] = args else { return false };
    let is_command = || super::Args::command().find_subcommand(behind).is_some();
    let is_flag = behind.to_string_lossy().starts_with('-');
    help == "help" && (is_flag || (Path::new(behind).exists() && !is_command()))
}

fn is_of_calls(arg: &str) -> bool {
    ["--calls", "--called-by"]
        .iter()
        .any(|flag| arg.strip_prefix(flag).is_some_and(|s| s.is_empty() || s.starts_with('=')))
}

/// The arguments with an unknown flag taken as the query, if it can't be a flag: it contains a space or begins with
/// `->`.
pub(crate) fn with_odd_query(args: &[OsString], error: &clap::Error) -> Option<Vec<OsString>> {
    let is_unexplained = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidValue);
    let is_odd = |arg: &OsString| {
        let text = arg.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        text.starts_with("->") || (text.starts_with('-') && name.contains(char::is_whitespace))
    };
    let at = args.iter().position(is_odd).filter(|_| is_unexplained)?;
    let mut args = args.to_vec();
    let mut query = OsString::from("--query=");
    query.push(&args[at]);
    args[at] = query;
    Some(args)
}

#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Print the page of this subcommand
    pub command: Option<String>,
    /// Print the reference of all commands in Markdown
    #[arg(long, conflicts_with = "command")]
    pub markdown: bool,
}
