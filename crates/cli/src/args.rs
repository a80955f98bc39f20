//! Every flag and subcommand, defined once.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// Ranked code search: ask in words or names, get the files that answer.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "colgrep",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  colgrep \"parse request\"              files of this project about parsing requests\n  colgrep parseRequest src -k 5        where a name is defined, in src alone\n  colgrep -e 'TODO|FIXME'              every matching line, as grep prints it\n  colgrep -e 'unsafe' \"ring buffer\"    units with a match, ranked by the query\n\nExit status: 0 found, 1 nothing found, 2 an error."
)]
pub struct Args {
    /// What to do, if not search.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The search.
    #[command(flatten)]
    pub search: SearchArgs,
}

/// Subcommands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Search (the same as without a subcommand; also takes queries that are subcommands' names)
    Search(SearchArgs),
    /// Build the index of a project, or bring it up to date
    Init(InitArgs),
    /// Show what is indexed, what was skipped and why
    Status(StatusArgs),
    /// Remove the index of a project
    Clear(ClearArgs),
    /// List the constants of the ranking with their values, ranges and sources
    Knobs(KnobsArgs),
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How rankings are fused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FusionArg {
    /// Relative scores.
    #[default]
    Minmax,
    /// Reciprocal ranks.
    Rrf,
}

/// What the walk takes in.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct WalkArgs {
    /// Index hidden files and folders too
    #[arg(long)]
    pub hidden: bool,
    /// Do not respect .gitignore and .colgrepignore
    #[arg(long)]
    pub no_ignore: bool,
    /// Skip files larger than this (bytes, or with K, M, G)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_filesize: Option<u64>,
    /// Index the home folder or / if that is the root
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Threads to use (default: all cores)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// No progress and no remarks on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// A search.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct SearchArgs {
    /// What to look for, in words or names; files or folders to look in may follow
    #[arg(value_name = "QUERY [PATH]...")]
    pub words: Vec<String>,
    /// Number of files to give
    #[arg(short = 'k', long = "results", value_name = "N", default_value_t = 15)]
    pub results: usize,
    /// Units to show in each file
    #[arg(long, value_name = "M", default_value_t = 1)]
    pub per_file: usize,
    /// Only units with a match of this regular expression; without a query, print every matching line
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN")]
    pub regexp: Vec<String>,
    /// -e is an extended regular expression (it always is; accepted for grep's sake)
    #[arg(short = 'E', long)]
    pub extended_regexp: bool,
    /// -e is plain text
    #[arg(short = 'F', long)]
    pub fixed_strings: bool,
    /// -e matches whole words
    #[arg(short = 'w', long)]
    pub word_regexp: bool,
    /// -e matches upper and lower case alike
    #[arg(short = 'i', long)]
    pub ignore_case: bool,
    /// Search folders recursively (it always does; accepted for grep's sake)
    #[arg(short = 'r', long)]
    pub recursive: bool,
    /// Print only the names of files
    #[arg(short = 'l', long, alias = "files-with-matches")]
    pub files_only: bool,
    /// Print whole units
    #[arg(short = 'c', long)]
    pub content: bool,
    /// Print so many lines of each unit (with -e alone: of context around each match)
    #[arg(short = 'n', long = "lines", value_name = "N")]
    pub lines: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print the JSON Schema of --json and exit
    #[arg(long)]
    pub json_schema: bool,
    /// Only files that match this glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// No files that match this glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// No files below folders of this name (repeatable; a glob)
    #[arg(long, value_name = "NAME")]
    pub exclude_dir: Vec<String>,
    /// Only files of this language (repeatable)
    #[arg(short = 't', long = "type", value_name = "LANG")]
    pub types: Vec<String>,
    /// No prose, configuration or data
    #[arg(long)]
    pub code_only: bool,
    /// Rank by words and structure alone
    #[arg(long)]
    pub keyword_only: bool,
    /// How rankings are fused
    #[arg(long, value_name = "METHOD", default_value = "minmax")]
    pub fusion: FusionArg,
    /// Constants of the ranking: default or classic
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Show how each score came about
    #[arg(long)]
    pub explain: bool,
    /// Search the index as it is
    #[arg(long)]
    pub no_update: bool,
    /// When to colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// What the walk takes in.
    #[command(flatten)]
    pub walk: WalkArgs,
}

/// `init`.
#[derive(Clone, Debug, ClapArgs)]
pub struct InitArgs {
    /// The project (default: the one around the current folder)
    pub path: Option<PathBuf>,
    /// What the walk takes in.
    #[command(flatten)]
    pub walk: WalkArgs,
}

/// `status`.
#[derive(Clone, Debug, ClapArgs)]
pub struct StatusArgs {
    /// The project (default: the one around the current folder)
    pub path: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `clear`.
#[derive(Clone, Debug, ClapArgs)]
pub struct ClearArgs {
    /// The project (default: the one around the current folder)
    pub path: Option<PathBuf>,
    /// Remove the indexes of all projects
    #[arg(long, conflicts_with = "path")]
    pub all: bool,
}

/// `knobs`.
#[derive(Clone, Debug, ClapArgs)]
pub struct KnobsArgs {
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print the Markdown table of the documentation
    #[arg(long)]
    pub markdown: bool,
    /// Values of this profile: default or classic
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// Reads `10`, `10K`, `10M`, `10G` as bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_uppercase();
    let upper = upper.trim_end_matches('B').trim_end_matches('I');
    let (number, shift) = match upper.chars().last() {
        Some('K') => (&upper[..upper.len() - 1], 10),
        Some('M') => (&upper[..upper.len() - 1], 20),
        Some('G') => (&upper[..upper.len() - 1], 30),
        _ => (upper, 0),
    };
    let value: u64 = number.parse().map_err(|_| format!("{text:?} is no size; write for example 500K or 2M"))?;
    value.checked_shl(shift).filter(|v| v >> shift == value).ok_or_else(|| format!("{text:?} is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory as _;
        Args::command().debug_assert();
    }

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("10", Some(10)),
            ("2K", Some(2048)),
            ("1MiB", Some(1 << 20)),
            ("3gb", Some(3 << 30)),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
    }
}
