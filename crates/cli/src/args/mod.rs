//! Every flag and subcommand, defined once: help, man page, completions and `docs/generated/cli.md` come from here.

mod chapters;
mod commands;
mod format;
mod impact;
pub mod line;
mod log;
mod plan;
mod ripgrep;
mod search;
mod share;
mod size;
mod suggest;
mod walk;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use colgrep_render::Format;

pub(crate) use chapters::CHAPTERS;
pub use commands::*;
pub(crate) use commands::{as_query, command_like, respelled, with_odd_query};
pub use impact::ImpactArgs;
pub use log::LogArgs;
pub use plan::{Plan, Task};
pub use ripgrep::*;
pub use search::*;
pub use share::{PullArgs, PushArgs};
pub use walk::*;

/// Arguments that can't be combined with `--stats`.
fn not_with_stats() -> impl Iterator<Item = &'static str> {
    let formats = Format::FLAGS.iter().filter(|(format, _)| *format != Format::Json).map(|(_, flag)| flag.name);
    formats.chain([
        "words",
        "query",
        "results",
        "like",
        "queries_from",
        "regexp",
        "type_list",
        "json_schema",
        "files_only",
        "files_without_match",
        "count",
        "content",
    ])
}

/// What `--version` prints after the name: enough to tell this program from others of its name.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nRanked code search by words, names, structure and meaning.\nNot the program called colgrep on crates.io."
);

/// Ranked code search by words, names and meaning.
///
/// The first search in a project builds its index; later searches update it. Results go to stdout, everything else to
/// stderr. Set defaults with `colgrep settings` or in a `.colgrep.toml`.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "colgrep",
    version,
    long_version = LONG_VERSION,
    arg_required_else_help = true,
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
    /// Show the size of all indexes and exit (takes --json)
    #[arg(long, conflicts_with_all = not_with_stats())]
    pub stats: bool,
    /// The search.
    #[command(flatten)]
    pub search: SearchArgs,
    /// Whether the command has the flag `-y`.
    #[arg(skip)]
    pub takes_yes: bool,
}

/// Subcommands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Search (the default; also takes queries that are names of commands)
    Search(Box<SearchArgs>),
    /// Build or update the index of a project
    Init(InitArgs),
    /// Show what is indexed, what was skipped and why
    Status(StatusArgs),
    /// Update the index of a project and share it in a bucket or folder
    Push(PushArgs),
    /// Download a shared index and update it to the current checkout
    Pull(PullArgs),
    /// Remove the index of a project
    Clear(ClearArgs),
    /// List the units of a file: functions, classes, constants, headings
    Outline(OutlineArgs),
    /// Search commits and agent sessions, ranked by a query or newest first
    Log(Box<LogArgs>),
    /// Show what else a change affects, ranked, with reasons: callers, tests, files changed together
    Impact(Box<ImpactArgs>),
    /// Show or change user settings
    Settings(SettingsArgs),
    /// Choose the model for ranking by meaning (writes the setting `model`)
    SetModel(SetModelArgs),
    /// Check the index, model and settings
    Doctor(DoctorArgs),
    /// List the ranking constants with values, ranges and sources
    Knobs(KnobsArgs),
    /// Run an MCP server for coding agents on stdin and stdout
    Mcp(McpCommand),
    /// Serve searches and a web page over HTTP
    Serve(ServeCommand),
    /// Run a language server for editors on stdin and stdout: symbols and call hierarchy
    Lsp(LspArgs),
    /// Set up a coding agent to use colgrep (also spelled --install-claude-code and so on)
    Install(InstallArgs),
    /// Undo `install` (also spelled --uninstall-claude-code and so on)
    Uninstall(InstallArgs),
    /// Print what is indexed here for a coding agent's hook (which `install` writes)
    Hook(HookArgs),
    /// Print shell completions
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
        let mut command = Args::command().mut_subcommands(|command| command.mut_args(with_negative)).mut_args(|arg| {
            let hidden = !is_short(&arg);
            with_negative(arg).hide_short_help(hidden)
        });
        // Without arguments clap prints the short help.
        if line.len() < 2 || line.iter().any(|arg| arg == "-h") {
            command = command.mut_subcommands(|command| {
                let hidden = !SHORT_COMMANDS.contains(&command.get_name());
                command.hide(hidden)
            });
        }
        let mut matches = command.try_get_matches_from_mut(line)?;
        let own = matches.subcommand_name().and_then(|name| command.find_subcommand(name)).unwrap_or(&command);
        let takes_yes = own.get_arguments().any(|arg| arg.get_short() == Some('y'));
        let given = matches.subcommand().map_or(&matches, |(_, given)| given);
        let empty = own.get_arguments().find(|arg| is_given_empty(arg, given)).map(ToString::to_string);
        if let Some(flag) = empty {
            let told = format!("{flag} takes a value, not an empty one");
            return Err(command.error(ErrorKind::ValueValidation, told));
        }
        Ok(Args { takes_yes, ..Args::from_arg_matches_mut(&mut matches)? })
    }
}

/// Flags that take an empty value, or refuse it themselves.
const EMPTY: [&str; 4] = ["regexp", "structure", "query", "hyperlink_format"];

/// Whether a flag has an empty value, which asks for nothing.
fn is_given_empty(arg: &clap::Arg, given: &clap::ArgMatches) -> bool {
    let takes_one = arg.get_action().takes_values() && !arg.is_positional() && !EMPTY.contains(&arg.get_id().as_str());
    let values = || given.get_raw(arg.get_id().as_str()).into_iter().flatten();
    takes_one && values().any(|value| value.as_encoded_bytes().trim_ascii().is_empty())
}

/// The flag, whose value may be a negative number: what it takes is then said, rather than that `-1` is no flag.
fn with_negative(arg: clap::Arg) -> clap::Arg {
    let takes_value = arg.get_action().takes_values() && !arg.is_positional() && !arg.is_allow_hyphen_values_set();
    if takes_value { arg.allow_negative_numbers(true) } else { arg }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn it_is_known_which_commands_confirm() {
        for (line, takes_yes) in [
            (&["colgrep", "retry"][..], true),
            (&["colgrep", "search", "retry"], true),
            (&["colgrep", "init"], true),
            (&["colgrep", "impact"], false),
            (&["colgrep", "lsp"], false),
        ] {
            let line: Vec<OsString> = line.iter().map(OsString::from).collect();
            assert_eq!(Args::parse_line(&line).expect("a command line").takes_yes, takes_yes, "{line:?}");
        }
    }
}
