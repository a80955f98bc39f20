//! Every flag and subcommand, defined once: help, man page, completions and `docs/generated/cli.md` come from here.

mod chapters;
mod commands;
pub mod line;
mod log;
mod plan;
mod request;
mod ripgrep;
mod search;
mod share;
mod size;
mod suggest;

use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use chapters::CHAPTERS;
pub use commands::*;
pub(crate) use commands::{respelled, with_odd_query};
pub use log::LogArgs;
pub use plan::{Plan, Task};
pub use ripgrep::*;
pub use search::*;
pub use share::{PullArgs, PushArgs};

/// Arguments that can't be combined with `--stats`.
const STATS_ALONE: [&str; 14] = [
    "words",
    "query",
    "results",
    "like",
    "queries_from",
    "regexp",
    "type_list",
    "json_schema",
    "jsonl",
    "vimgrep",
    "files_only",
    "files_without_match",
    "count",
    "content",
];

/// Ranked code search: ask in words or names, get the files that answer.
///
/// The first search in a project builds its index, later ones bring it up to date. Results go to stdout, everything
/// else to stderr. Defaults of many flags can be set with `colgrep settings` or in a `.colgrep.toml`.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "colgrep",
    version,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    subcommand_negates_reqs = true,
    override_usage = "colgrep [OPTIONS] QUERY [PATH]...\n       colgrep [OPTIONS] -e PATTERN [PATH]...\n       colgrep COMMAND",
    after_help = chapters::brief(),
    after_long_help = chapters::whole()
)]
pub struct Args {
    /// What to do, if not search.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Show how large the indexes of all projects are, also as --json, and exit
    #[arg(long, conflicts_with_all = STATS_ALONE)]
    pub stats: bool,
    /// The search.
    #[command(flatten)]
    pub search: SearchArgs,
}

/// Subcommands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Search (the same as without a subcommand; also takes queries that are subcommands' names)
    Search(Box<SearchArgs>),
    /// Build the index of a project, or bring it up to date
    Init(InitArgs),
    /// Show what is indexed, what was skipped and why
    Status(StatusArgs),
    /// Share the index of a project: send it to a bucket or a folder, brought up to date before
    Push(PushArgs),
    /// Take the index of a project that somebody shared, and bring it up to date with what is checked out
    Pull(PullArgs),
    /// Remove the index of a project
    Clear(ClearArgs),
    /// List the units of a file: functions, classes, constants, headings
    Outline(OutlineArgs),
    /// Look through the history: commits, and sessions of agents, ranked by a question or the newest first
    Log(Box<LogArgs>),
    /// Show or change settings: the user's file, and where each value comes from
    Settings(SettingsArgs),
    /// Choose the model of the semantic ranking (writes the setting `model`)
    SetModel(SetModelArgs),
    /// Say in plain words what index, model and settings are in use, and what could be better
    Doctor(DoctorArgs),
    /// List the constants of the ranking with their values, ranges and sources
    Knobs(KnobsArgs),
    /// Serve searches to coding agents: an MCP server on stdin and stdout
    Mcp(McpCommand),
    /// Serve searches over HTTP, and a page for people
    Serve(ServeCommand),
    /// Make colgrep known to a coding agent (also spelled --install-claude-code and so on)
    Install(InstallArgs),
    /// Take back what `install` wrote (also spelled --uninstall-claude-code and so on)
    Uninstall(InstallArgs),
    /// Print what is indexed here as a coding agent's hook reads it (`install` writes that hook)
    Hook(HookArgs),
    /// Print a shell's completions
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

/// The flags and commands of `-h`, which fits a screen; `--help` has all.
const SHORT_FLAGS: [&str; 16] = [
    "words",
    "results",
    "regexp",
    "fixed_strings",
    "ignore_case",
    "word_regexp",
    "glob",
    "types",
    "tests",
    "calls",
    "changed",
    "lines",
    "content",
    "files_only",
    "json",
    "pack",
];
const SHORT_COMMANDS: [&str; 8] = ["init", "status", "outline", "log", "settings", "doctor", "install", "serve"];

impl Args {
    /// Parses a command line.
    ///
    /// # Errors
    /// What clap says: an error, or help that is asked for.
    pub fn parse_line(line: &[OsString]) -> Result<Args, clap::Error> {
        let is_short = |arg: &clap::Arg| SHORT_FLAGS.contains(&arg.get_id().as_str());
        let mut command = Args::command().mut_args(|arg| {
            let hidden = !is_short(&arg);
            arg.hide_short_help(hidden)
        });
        if line.iter().any(|arg| arg == "-h") {
            command = command.mut_subcommands(|command| {
                let hidden = !SHORT_COMMANDS.contains(&command.get_name());
                command.hide(hidden)
            });
        }
        let mut matches = command.try_get_matches_from(line)?;
        Args::from_arg_matches_mut(&mut matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }
}
