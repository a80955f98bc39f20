//! The flags of a search.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use colgrep_core::UnitKind;
use colgrep_core::fuse::Fusion;
use colgrep_core::tag::Hint;
use colgrep_engine::settings::parse_size;
use colgrep_index::mode::VectorMode;

use super::size::{parse_lines, parse_share, positive};
use super::{RipgrepArgs, suggest};

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

impl From<FusionArg> for Fusion {
    fn from(arg: FusionArg) -> Fusion {
        match arg {
            FusionArg::Minmax => Fusion::MinMax,
            FusionArg::Rrf => Fusion::ReciprocalRank,
        }
    }
}

/// What the index keeps for the ranking by meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum IndexMode {
    /// Vectors of every unit.
    #[default]
    Full,
    /// None: a search makes those of the best candidates itself. The smallest index; finds less by meaning.
    Lite,
    /// None: searches are by keywords alone.
    Keyword,
}

impl From<IndexMode> for VectorMode {
    fn from(mode: IndexMode) -> VectorMode {
        match mode {
            IndexMode::Full => VectorMode::Full,
            IndexMode::Lite => VectorMode::Lite,
            IndexMode::Keyword => VectorMode::Keyword,
        }
    }
}

impl From<VectorMode> for IndexMode {
    fn from(mode: VectorMode) -> IndexMode {
        match mode {
            VectorMode::Full => IndexMode::Full,
            VectorMode::Lite => IndexMode::Lite,
            VectorMode::Keyword => IndexMode::Keyword,
        }
    }
}

/// What becomes of test files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TestsArg {
    /// Ranked below what they test.
    #[default]
    Auto,
    /// Nothing but tests is found.
    Only,
    /// Left out.
    Exclude,
}

/// Options of the walk.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Indexing")]
pub struct WalkArgs {
    /// Index hidden files and folders too (--no-hidden: leave them out although a setting takes them in). As with
    /// --no-ignore and --max-filesize, an index that exists is changed by `init` alone; -e alone always follows
    #[arg(long, short_alias = '.', overrides_with = "no_hidden")]
    pub hidden: bool,
    /// Leave hidden files out although a setting takes them in
    #[arg(long, hide = true, overrides_with = "hidden")]
    pub no_hidden: bool,
    /// Index files whose names are those of keys and passwords (.env, id_rsa, *.pem) too (--no-secrets: leave them out
    /// although a setting takes them in; where an index exists, `init` alone changes it)
    #[arg(long, overrides_with = "no_secrets")]
    pub secrets: bool,
    /// Leave secrets out although a setting takes them in
    #[arg(long, hide = true, overrides_with = "secrets")]
    pub no_secrets: bool,
    /// Do not respect .gitignore and .colgrepignore (where an index exists, `init` alone changes it)
    #[arg(long)]
    pub no_ignore: bool,
    /// Skip files larger than this (bytes, or with K, M, G; default 1M; where an index exists, `init` alone changes it)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_filesize: Option<u64>,
    /// What is kept for the ranking by meaning: vectors of all units (full), none, made at each search for the best
    /// candidates (lite), or nothing (keyword). The index keeps what `init` was told [default: full]
    #[arg(long, value_name = "MODE")]
    pub index_mode: Option<IndexMode>,
    /// Index the root though it is the home folder, one of the system or of temporary files, /, the folder of a lone file, or
    /// no git repository and holds several of them or more than 50,000 files
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Threads to use (default, and 0: all cores)
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<usize>,
    /// No progress and no remarks on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// A search.
#[derive(Clone, Debug, Default, Args)]
pub struct SearchArgs {
    /// What to look for, in words or names; files or folders to look in may follow. With -e, a first word that is an
    /// existing file or folder is a place to look in (- is stdin), and any other is a query unless it is written as a path
    #[arg(value_name = "QUERY [PATH]...", value_hint = ValueHint::AnyPath)]
    pub words: Vec<OsString>,
    /// The query, where it could be taken for something else; every word given is then a path
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["like", "queries_from"])]
    pub query: Option<OsString>,
    /// Search the projects of a group of the settings too, together with the paths given: `[groups] NAME = ["~/src/a", …]`;
    /// may come several times
    #[arg(long = "group", value_name = "NAME")]
    pub groups: Vec<String>,
    /// Search over shards (`colgrep serve --shard`) instead of folders here: a JSON file with the replicas of each,
    /// {"shards": [["HOST:PORT", …], …]}; a path then begins with the name of a repository. COLGREP_SHARD_TOKEN holds the
    /// shards' token
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub shards: Option<PathBuf>,
    /// Number of files to give: exactly so many wherever so many match [default: 15; with -e alone: all]; text leaves out
    /// what --all shows
    #[arg(short = 'k', long = "results", value_name = "N")]
    pub results: Option<usize>,
    /// Show results that are hardly ever right too: what is near by a word or by meaning at best
    #[arg(long, conflicts_with = "min_strength")]
    pub all: bool,
    /// Leave out files whose strength, the chance from 0 to 1 that they are right, is below F; in JSON too
    #[arg(long, value_name = "F", value_parser = parse_share)]
    pub min_strength: Option<f32>,
    /// Units to show in each file [default: 1; in a documentation up to 3 sections of a page]
    #[arg(long, value_name = "M", value_parser = positive)]
    pub per_file: Option<usize>,
    /// -k counts units instead of files; several may lie in one file
    #[arg(long, conflicts_with = "per_file")]
    pub units: bool,
    /// Units like the one on that line of a file (a column behind the line is left out), or like the one with that id of
    /// --json; every word given is then a path to look in
    #[arg(long, value_name = "FILE:LINE|ID", value_hint = ValueHint::FilePath, conflicts_with_all = ["regexp", "queries_from"])]
    pub like: Option<String>,
    /// Answer many queries, one a line of FILE (- for stdin), with one JSON object each; every word given is then a path
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "explain", "files_only", "files_without_match", "count", "silent", "content", "vimgrep", "null",
            "lines", "after_context", "before_context", "context", "heading",
        ]
    )]
    pub queries_from: Option<PathBuf>,

    /// Only units with a match of this regular expression; without a query, print every matching line (repeatable)
    #[arg(
        short = 'e',
        long = "regexp",
        alias = "pattern",
        value_name = "PATTERN",
        allow_hyphen_values = true,
        help_heading = "Patterns"
    )]
    pub regexp: Vec<String>,
    /// -e is an extended regular expression (it always is; accepted for grep's sake)
    #[arg(short = 'E', long, help_heading = "Patterns")]
    pub extended_regexp: bool,
    /// -e is plain text
    #[arg(short = 'F', long, help_heading = "Patterns")]
    pub fixed_strings: bool,
    /// -e matches whole words
    #[arg(short = 'w', long, help_heading = "Patterns")]
    pub word_regexp: bool,
    /// -e, --calls and --called-by match upper and lower case alike
    #[arg(short = 'i', long, overrides_with = "smart_case", help_heading = "Patterns")]
    pub ignore_case: bool,
    /// -e matches upper and lower case alike, unless it holds an upper case letter
    #[arg(short = 'S', long, overrides_with = "ignore_case", help_heading = "Patterns")]
    pub smart_case: bool,
    /// -e matches whole lines
    #[arg(short = 'x', long, help_heading = "Patterns")]
    pub line_regexp: bool,
    /// With -e alone: print the lines that do not match
    #[arg(short = 'v', long, help_heading = "Patterns")]
    pub invert_match: bool,
    /// With -e alone: print only what matches, each match on a line
    #[arg(short = 'o', long, conflicts_with = "invert_match", help_heading = "Patterns")]
    pub only_matching: bool,
    /// With -e alone: at most so many lines of each file
    #[arg(short = 'm', long, value_name = "N", help_heading = "Patterns")]
    pub max_count: Option<u64>,
    /// Of grep, and not to be had here.
    #[arg(short = 'P', long, alias = "pcre2", hide = true)]
    pub perl_regexp: bool,
    /// No messages about files that can't be read
    #[arg(short = 's', long, help_heading = "Patterns")]
    pub no_messages: bool,
    /// Search folders recursively (it always does; accepted for grep's sake)
    #[arg(short = 'r', long, short_alias = 'R', help_heading = "Patterns")]
    pub recursive: bool,
    /// Print file names (it always does; accepted for grep's sake)
    #[arg(short = 'H', long, help_heading = "Patterns")]
    pub with_filename: bool,

    /// Only files that match this glob: a file or folder at any depth, from the project's root with / in front (repeatable)
    #[arg(long, value_name = "GLOB", value_hint = ValueHint::AnyPath, help_heading = "Filters (they apply before the ranking)")]
    pub include: Vec<String>,
    /// No files that match this glob (repeatable)
    #[arg(long, value_name = "GLOB", value_hint = ValueHint::AnyPath, help_heading = "Filters (they apply before the ranking)")]
    pub exclude: Vec<String>,
    /// As --include, or with ! in front as --exclude (accepted for ripgrep's sake)
    #[arg(short = 'g', long, value_name = "GLOB", value_hint = ValueHint::AnyPath, help_heading = "Filters (they apply before the ranking)")]
    pub glob: Vec<String>,
    /// No files below folders that match this glob (repeatable)
    #[arg(long, value_name = "GLOB", value_hint = ValueHint::DirPath, help_heading = "Filters (they apply before the ranking)")]
    pub exclude_dir: Vec<String>,
    /// Only files of this language or of this type of the settings (repeatable; --type-list shows them)
    #[arg(
        short = 't',
        long = "type",
        value_name = "LANG",
        value_parser = suggest::TYPE,
        hide_possible_values = true,
        help_heading = "Filters (they apply before the ranking)"
    )]
    pub types: Vec<String>,
    /// List the languages and types that -t takes, and exit
    #[arg(long, exclusive = true, help_heading = "Filters (they apply before the ranking)")]
    pub type_list: bool,
    /// No prose, configuration or data (--no-code-only: these too although a setting leaves them out)
    #[arg(long, overrides_with = "no_code_only", help_heading = "Filters (they apply before the ranking)")]
    pub code_only: bool,
    /// Prose, configuration and data too, although a setting leaves them out
    #[arg(long, hide = true, overrides_with = "code_only")]
    pub no_code_only: bool,
    /// Tests, by their path or inside other files (those with -e alone by their path): rank them lower, give them only, or
    /// leave them out [default: auto]
    #[arg(long, value_name = "WHAT", help_heading = "Filters (they apply before the ranking)")]
    pub tests: Option<TestsArg>,
    /// Only units that call this name, in whatever way it is qualified; without a query, list them (repeatable; -i: upper and
    /// lower case alike; with -n N, N lines from the call on)
    #[arg(long, value_name = "NAME", help_heading = "Filters (they apply before the ranking)")]
    pub calls: Vec<String>,
    /// Only definitions of what the units of this name call (push, or RingBuffer.push); without a query, list them
    /// (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Filters (they apply before the ranking)")]
    pub called_by: Vec<String>,
    /// Only units of this kind; without a query, list them (repeatable)
    #[arg(
        long = "kind",
        value_name = "KIND",
        value_parser = suggest::kind(),
        ignore_case = true,
        help_heading = "Filters (they apply before the ranking)"
    )]
    pub kinds: Vec<UnitKind>,
    /// Only files with changes that git has not committed, new files included
    #[arg(long, help_heading = "Filters (they apply before the ranking)")]
    pub changed: bool,
    /// Only files that differ from this commit, branch or tag, new files included; A...B: from where A and B parted
    #[arg(
        long,
        value_name = "REF",
        conflicts_with = "changed",
        help_heading = "Filters (they apply before the ranking)"
    )]
    pub since: Option<String>,

    /// Print so many lines of each unit (with -e alone: of context around each match; with --calls alone: from the call on)
    // grep's `-n` takes no value, so the value is optional at the end. A flag after it, read as its value, gets the
    // parser's hint.
    #[arg(
        short = 'n',
        long = "lines",
        value_name = "N",
        value_parser = parse_lines,
        num_args = 0..=1,
        default_missing_value = "0",
        allow_hyphen_values = true,
        help_heading = "Output"
    )]
    pub lines: Option<usize>,
    /// Print so many lines behind each line that is shown
    #[arg(short = 'A', long, value_name = "N", help_heading = "Output")]
    pub after_context: Option<usize>,
    /// Print so many lines before each line that is shown
    #[arg(short = 'B', long, value_name = "N", help_heading = "Output")]
    pub before_context: Option<usize>,
    /// Print so many lines before and behind
    #[arg(short = 'C', long, value_name = "N", help_heading = "Output")]
    pub context: Option<usize>,
    /// Print whole units
    #[arg(short = 'c', long, help_heading = "Output")]
    pub content: bool,
    /// Print only the names of files
    #[arg(short = 'l', long, alias = "files-with-matches", help_heading = "Output")]
    pub files_only: bool,
    /// Print only the names of files in which nothing matches (of a query: no word of it, whatever is found by meaning)
    #[arg(short = 'L', long, conflicts_with_all = ["files_only", "count"], help_heading = "Output")]
    pub files_without_match: bool,
    /// Print how many units match in each file: hold a word of the query (with -e alone: how many lines; with -o, or -U across lines, how many matches)
    #[arg(long, conflicts_with = "files_only", help_heading = "Output")]
    pub count: bool,
    /// Print nothing; the exit status tells
    #[arg(short = 'q', long = "silent", help_heading = "Output")]
    pub silent: bool,
    /// A NUL byte behind each file name: for xargs -0
    #[arg(short = '0', long, help_heading = "Output")]
    pub null: bool,
    /// Print path:line:column:text, one line a unit (with -e alone: a match); the column is that of the first match of -e,
    /// else of a word of the query
    #[arg(long, conflicts_with_all = ["json", "jsonl", "files_only", "count", "content"], help_heading = "Output")]
    pub vimgrep: bool,
    /// Print one JSON array
    #[arg(long, conflicts_with = "jsonl", help_heading = "Output")]
    pub json: bool,
    /// Print one JSON object a line, each as soon as it is there
    #[arg(long, help_heading = "Output")]
    pub jsonl: bool,
    /// Print the JSON Schema of --json (and of the rows of --jsonl and --queries-from) and exit
    #[arg(long, exclusive = true, help_heading = "Output")]
    pub json_schema: bool,
    /// Print at most so many tokens (of --queries-from: for each query), counted as bytes / 4: what does not fit is left
    /// out, from the end, and stderr says so
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Output")]
    pub max_tokens: Option<usize>,
    /// Print a pack of so many tokens (bytes / 4) for a reader with a budget: the first unit in full, long ones cut in the
    /// middle, the next with signature and first sentence, the rest a line each
    #[arg(
        long,
        value_name = "TOKENS",
        value_parser = positive,
        conflicts_with_all = [
            "max_tokens", "vimgrep", "files_only", "files_without_match", "count", "content", "lines", "after_context",
            "before_context", "context", "explain", "queries_from", "per_file", "units", "heading", "null",
        ],
        help_heading = "Output"
    )]
    pub pack: Option<usize>,
    /// File names on lines of their own (default on a terminal)
    #[arg(long, overrides_with = "no_heading", help_heading = "Output")]
    pub heading: bool,
    /// File names on every line (default elsewhere)
    #[arg(long, overrides_with = "heading", help_heading = "Output")]
    pub no_heading: bool,
    /// When to colour, and to highlight syntax [default: auto]
    #[arg(long, value_name = "WHEN", help_heading = "Output")]
    pub color: Option<Color>,
    /// Links to files where there is colour: default, none, file, kitty, vscode, cursor and ripgrep's other names, or
    /// a format with {path}, {line}, {column} and {host} [default: none]
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = suggest::LINKS,
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub hyperlink_format: Option<String>,

    /// Rank by words and structure alone
    #[arg(long, conflicts_with = "semantic_only", help_heading = "Ranking")]
    pub keyword_only: bool,
    /// Rank by meaning alone
    #[arg(long, help_heading = "Ranking")]
    pub semantic_only: bool,
    /// Weight of meaning against words, 0 to 1, where the query's words are trusted: COLGREP_ALPHA for this search
    #[arg(long, value_name = "F", help_heading = "Ranking")]
    pub alpha: Option<String>,
    /// How the rankings by words and by meaning become one [default: minmax]
    #[arg(long, value_name = "METHOD", help_heading = "Ranking")]
    pub fusion: Option<FusionArg>,
    /// The model that ranks by meaning: default (the one in the program), a folder or a hub's name
    #[arg(
        long,
        value_name = "ID|FOLDER",
        value_hint = ValueHint::DirPath,
        conflicts_with = "keyword_only",
        help_heading = "Ranking"
    )]
    pub model: Option<String>,
    /// Constants of the ranking: default or classic
    #[arg(
        long,
        value_name = "NAME",
        value_parser = suggest::PROFILE,
        hide_possible_values = true,
        help_heading = "Ranking"
    )]
    pub profile: Option<String>,
    /// A tag that is expected of what is wanted: KIND is subsystem, purpose, type, concept, feature, tag or keyword; units
    /// that have it come earlier, and none is left out (repeatable)
    #[arg(long = "hint", value_name = "KIND=WORD", value_parser = str::parse::<Hint>, help_heading = "Ranking")]
    pub hints: Vec<Hint>,
    /// Terms that belong to words of the query in some field: a JSON file {"word": ["term", …]}, or kubernetes; where a
    /// word matches, the terms are searched for too, and words weigh more against meaning
    #[arg(
        long,
        value_name = "FILE|NAME",
        value_hint = ValueHint::FilePath,
        overrides_with = "no_expand",
        conflicts_with_all = ["like", "semantic_only"],
        help_heading = "Ranking"
    )]
    pub expand: Option<PathBuf>,
    /// Search for the query's words alone although the settings have terms for them
    #[arg(long, overrides_with = "expand", help_heading = "Ranking")]
    pub no_expand: bool,
    /// Where you stand: what belongs to that file comes earlier (what a test tests, imports, files that changed together
    /// with it), and nothing is left out; with a line, also where the names are defined that are called there
    #[arg(long, value_name = "FILE[:LINE]", value_hint = ValueHint::FilePath, help_heading = "Ranking")]
    pub near: Option<String>,
    /// Show how each score came about
    #[arg(long, help_heading = "Ranking")]
    pub explain: bool,
    /// Search the index as it is
    #[arg(long, help_heading = "Indexing")]
    pub no_update: bool,
    /// Take the index of what is checked out from here first, if somebody pushed it: s3://BUCKET/FOLDER, gs://, az://, or a
    /// folder [default: the setting `remote`, for a project without an index]
    #[arg(long, value_name = "URL", value_hint = ValueHint::AnyPath, help_heading = "Indexing", conflicts_with = "no_update")]
    pub remote: Option<String>,
    /// Options of the walk.
    #[command(flatten)]
    pub walk: WalkArgs,
    /// Flags of ripgrep.
    #[command(flatten)]
    pub ripgrep: RipgrepArgs,
}
