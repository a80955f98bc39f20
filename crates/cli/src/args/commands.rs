//! The flags of the subcommands other than search.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, ValueEnum, ValueHint};
use clap_complete::Shell;
use colgrep_engine::request::operators::is_filter;
use colgrep_render::words::shell_word;

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
/// anywhere with `--calls` and `--called-by`; a query of filters that are words of their own; and the query `help`
/// followed by flags or paths, which clap takes for its command.
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
    join_filters(&mut args);
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

/// Makes one query of filters that are words of their own, as in `lang:rust -file:vendor`: clap takes the second for a
/// path, and `-file:` for `-f`. Words that are neither filters nor existing paths leave the line as it is.
fn join_filters(args: &mut Vec<OsString>) {
    let command = super::Args::command();
    let word = |at: usize| args.get(at).and_then(|arg| arg.to_str()).unwrap_or_default();
    let is_of_search = word(1) == "search";
    let is_of_command = !is_of_search && command.find_subcommand(word(1)).is_some();
    if is_of_command || args.iter().any(|arg| arg.to_string_lossy().starts_with("--query")) {
        return;
    }
    let takes_value = |flag: &str| {
        command.get_arguments().filter(|arg| arg.get_action().takes_values()).any(|arg| {
            arg.get_short().is_some_and(|short| flag.strip_prefix('-') == Some(short.to_string().as_str()))
                || arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long))
        })
    };
    // What begins with a filter that excludes is a query, if it has spaces.
    let is_query = |text: &str| {
        let mut words = text.split_whitespace();
        let is_one = words.next().is_some_and(is_filter);
        is_one && (words.all(is_filter) || text.starts_with('-')) && !exists(text.strip_prefix("-f").unwrap_or(text))
    };
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let is_word = |at: &usize| !takes_value(word(at - 1)) && (is_query(word(*at)) || !word(*at).starts_with('-'));
    let words: Vec<usize> = (1 + usize::from(is_of_search)..end).filter(is_word).collect();
    let (filters, places) = words.split_at(words.iter().take_while(|at| is_query(word(**at))).count());
    let Some(first) = filters.first().copied() else { return };
    if (filters.len() == 1 && !word(first).starts_with('-')) || !places.iter().all(|at| exists(word(*at))) {
        return;
    }
    let texts: Vec<&str> = filters.iter().map(|at| word(*at)).collect();
    let joined = format!("--query={}", texts.join(" "));
    for at in filters.iter().rev() {
        args.remove(*at);
    }
    args.insert(first, joined.into());
}

fn exists(path: &str) -> bool {
    Path::new(path).exists()
}

/// How the words of a command line that a command refuses are searched for; `told` is why it refuses them.
pub(crate) fn as_query(line: &[OsString], told: &str) -> Option<String> {
    let words: Vec<&str> = line.iter().skip(1).map(|word| word.to_str()).collect::<Option<_>>()?;
    let (first, others) = words.split_first()?;
    let is_command =
        *first != "search" && (*first == "help" || super::Args::command().find_subcommand(first).is_some());
    let is_word = |word: &&str| {
        !word.starts_with('-') && word.chars().all(|c| c.is_alphanumeric() || "_-".contains(c)) && !word.is_empty()
    };
    // What the command or clap proposes is nearer; an argument of `pull` and `push` is a name of any form.
    let has_advice = ["`colgrep search ", "tip: ", "did you mean", "similar"].iter().any(|mark| told.contains(mark));
    let is_about_words =
        others.iter().any(|word| told.contains(word)) && !has_advice && !["pull", "push"].contains(first);
    let is_there = others.first().is_none_or(|word| Path::new(word).exists());
    let is_query = is_command && !is_there && is_about_words && others.iter().all(is_word);
    is_query.then(|| format!("`colgrep {}` searches for the words", shell_word(&words.join(" "))))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Vec<OsString> {
        std::iter::once(&"colgrep").chain(words).map(OsString::from).collect()
    }

    #[test]
    fn filters_that_are_words_of_their_own_are_one_query() {
        for (words, expected) in [
            (&["lang:tsx", "kind:function"][..], &["--query=lang:tsx kind:function"][..]),
            (&["-k", "5", "lang:tsx", "-file:a.b", "src"], &["-k", "5", "--query=lang:tsx -file:a.b", "src"]),
            (&["-file:vendor parse", "src"], &["--query=-file:vendor parse", "src"]),
            (&["lang:tsx", "-l", "kind:function"], &["--query=lang:tsx kind:function", "-l"]),
            (&["-kind:function"], &["-kind:function"]),
            (&["parse", "user", "lang:tsx", "kind:function"], &["parse", "user", "lang:tsx", "kind:function"]),
            (&["-l", "parse", "-file:vendor"], &["-l", "parse", "-file:vendor"]),
            (&["parse user", "src", "-file:user"], &["parse user", "src", "-file:user"]),
            (&["-file:user", "parse"], &["-file:user", "parse"]),
            (&["search", "-path:vendor"], &["search", "--query=-path:vendor"]),
            (&["lang:tsx"], &["lang:tsx"]),
            (&["-e", "-file:x"], &["-e", "-file:x"]),
            (&["x", "--", "-file:x"], &["x", "--", "-file:x"]),
            (&["log", "lang:tsx", "kind:function"], &["log", "lang:tsx", "kind:function"]),
        ] {
            assert_eq!(respelled(line(words).into_iter()), line(expected), "{words:?}");
        }
    }

    #[test]
    fn a_query_that_begins_like_a_command_is_told() {
        for (words, told, expected) in [
            (&["status", "code"][..], "code: not found", Some("`colgrep 'status code'` searches for the words")),
            (&["help", "me"], "unrecognized subcommand 'me'", Some("`colgrep 'help me'` searches for the words")),
            (&["status", "code"], "the disk is full", None),
            (&["install", "codx"], "invalid value 'codx'\n\n  tip: a similar value exists: 'codex'", None),
            (&["pull", "origin"], "origin: is not an address", None),
            (&["status", "--json", "code"], "code: not found", None),
            (&["push", "code"], "code: `colgrep search push code` searches for the word", None),
            (&["search", "code"], "code: not found", None),
            (&["random", "code"], "code: not found", None),
        ] {
            assert_eq!(as_query(&line(words), told).as_deref(), expected, "{words:?}");
        }
    }
}
