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
    /// Colour output to a terminal.
    #[default]
    Auto,
    /// Always colour.
    Always,
    /// Never colour.
    Never,
}

/// How rankings are fused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FusionArg {
    /// Add normalized scores.
    #[default]
    Minmax,
    /// Add reciprocal ranks.
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
    /// No vectors; a search embeds its best candidates. Smallest index, weaker ranking by meaning.
    Lite,
    /// No vectors; searches rank by keywords only.
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
    /// Rank tests below the code they test.
    #[default]
    Auto,
    /// Show only tests.
    Only,
    /// Leave tests out.
    Exclude,
}

/// Options of the walk.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Indexing")]
pub struct WalkArgs {
    /// Index hidden files (--no-hidden: skip them despite a setting; only `init` changes an existing index; -e alone
    /// always obeys)
    #[arg(long, short_alias = '.', overrides_with = "no_hidden")]
    pub hidden: bool,
    /// Skip hidden files despite a setting
    #[arg(long, hide = true, overrides_with = "hidden")]
    pub no_hidden: bool,
    /// Index files named like secrets: .env, id_rsa, *.pem (--no-secrets: skip them despite a setting; only `init`
    /// changes an existing index)
    #[arg(long, overrides_with = "no_secrets")]
    pub secrets: bool,
    /// Skip secrets despite a setting
    #[arg(long, hide = true, overrides_with = "secrets")]
    pub no_secrets: bool,
    /// Don't respect .gitignore and .colgrepignore (existing index: see --hidden)
    #[arg(long)]
    pub no_ignore: bool,
    /// Skip files larger than SIZE: bytes, or with K, M, G (default 1M; existing index: see --hidden)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_filesize: Option<u64>,
    /// Vectors to store for ranking by meaning; an existing index keeps its mode until `init` [default: full]
    #[arg(long, value_name = "MODE")]
    pub index_mode: Option<IndexMode>,
    /// Index the root even if it is /, a home, system or temporary folder, a lone file's folder, or no git repository
    /// and contains several or over 50,000 files
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Threads to use (default and 0: all cores)
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<usize>,
    /// Hide progress and remarks on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// A search.
#[derive(Clone, Debug, Default, Args)]
pub struct SearchArgs {
    /// Words or names to search for, then files or folders to search. With -e, a first word that is an existing file
    /// or folder (- is stdin) or written as a path is a path; any other is the query
    #[arg(value_name = "QUERY [PATH]...", value_hint = ValueHint::AnyPath)]
    pub words: Vec<OsString>,
    /// The query, if it could be mistaken for something else; all arguments are then paths
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["like", "queries_from"])]
    pub query: Option<OsString>,
    /// Also search the projects of a group from the settings: `[groups] NAME = ["~/src/a", …]` (repeatable)
    #[arg(long = "group", value_name = "NAME")]
    pub groups: Vec<String>,
    /// Search shards (`colgrep serve --shard`) instead of local folders: a JSON file with the replicas of each,
    /// {"shards": [["HOST:PORT", …], …]}. Paths then start with a repository's name. COLGREP_SHARD_TOKEN holds the
    /// shards' token
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub shards: Option<PathBuf>,
    /// Number of files to show [default: 15; with -e alone: all]
    #[arg(short = 'k', long = "results", value_name = "N")]
    pub results: Option<usize>,
    /// Show unlikely results too, which text output hides by default
    #[arg(long, conflicts_with = "min_strength")]
    pub all: bool,
    /// Hide files whose strength (the probability of being right, 0 to 1) is below F, in JSON too
    #[arg(long, value_name = "F", value_parser = parse_share)]
    pub min_strength: Option<f32>,
    /// Units to show per file [default: 1; in documentation, up to 3 sections of a page]
    #[arg(long, value_name = "M", value_parser = positive)]
    pub per_file: Option<usize>,
    /// Count units instead of files with -k
    #[arg(long, conflicts_with = "per_file")]
    pub units: bool,
    /// Find units similar to the one on this line (ignoring a column) or with this ID from --json; all arguments are
    /// then paths
    #[arg(long, value_name = "FILE:LINE|ID", value_hint = ValueHint::FilePath, conflicts_with_all = ["regexp", "queries_from"])]
    pub like: Option<String>,
    /// Answer each line of FILE (- for stdin) as a query, with one JSON object each; all arguments are then paths
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "explain", "files_only", "files_without_match", "count", "silent", "content", "vimgrep", "null",
            "lines", "after_context", "before_context", "context", "heading",
        ]
    )]
    pub queries_from: Option<PathBuf>,

    /// Show only units that match this regular expression; without a query, print every matching line (repeatable)
    #[arg(
        short = 'e',
        long = "regexp",
        alias = "pattern",
        value_name = "PATTERN",
        allow_hyphen_values = true,
        help_heading = "Patterns"
    )]
    pub regexp: Vec<String>,
    /// Use extended regular expressions with -e (always on; for compatibility with grep)
    #[arg(short = 'E', long, help_heading = "Patterns")]
    pub extended_regexp: bool,
    /// Treat patterns as literal strings
    #[arg(short = 'F', long, help_heading = "Patterns")]
    pub fixed_strings: bool,
    /// Match whole words only with -e
    #[arg(short = 'w', long, help_heading = "Patterns")]
    pub word_regexp: bool,
    /// Ignore case in -e, --calls and --called-by
    #[arg(short = 'i', long, overrides_with = "smart_case", help_heading = "Patterns")]
    pub ignore_case: bool,
    /// Ignore case in -e unless the pattern contains an uppercase letter
    #[arg(short = 'S', long, overrides_with = "ignore_case", help_heading = "Patterns")]
    pub smart_case: bool,
    /// Match whole lines only with -e
    #[arg(short = 'x', long, help_heading = "Patterns")]
    pub line_regexp: bool,
    /// With -e alone: print non-matching lines
    #[arg(short = 'v', long, help_heading = "Patterns")]
    pub invert_match: bool,
    /// With -e alone: print only the matches, one per line
    #[arg(short = 'o', long, conflicts_with = "invert_match", help_heading = "Patterns")]
    pub only_matching: bool,
    /// With -e alone: print at most N lines per file
    #[arg(short = 'm', long, value_name = "N", help_heading = "Patterns")]
    pub max_count: Option<u64>,
    /// grep's flag; not supported.
    #[arg(short = 'P', long, alias = "pcre2", hide = true)]
    pub perl_regexp: bool,
    /// Suppress messages about unreadable files
    #[arg(short = 's', long, help_heading = "Patterns")]
    pub no_messages: bool,
    /// Search folders recursively (always on; for compatibility with grep)
    #[arg(short = 'r', long, short_alias = 'R', help_heading = "Patterns")]
    pub recursive: bool,
    /// Print file names (always on; for compatibility with grep)
    #[arg(short = 'H', long, help_heading = "Patterns")]
    pub with_filename: bool,

    /// Only files that match GLOB: a file or folder at any depth, or from the project's root with a leading /
    /// (repeatable)
    #[arg(long, value_name = "GLOB", value_hint = ValueHint::AnyPath, help_heading = "Filters (applied before ranking)")]
    pub include: Vec<String>,
    /// Skip files that match GLOB (repeatable)
    #[arg(long, value_name = "GLOB", value_hint = ValueHint::AnyPath, help_heading = "Filters (applied before ranking)")]
    pub exclude: Vec<String>,
    /// Like --include, or with a leading ! like --exclude (for compatibility with ripgrep)
    #[arg(short = 'g', long, value_name = "GLOB", value_hint = ValueHint::AnyPath, help_heading = "Filters (applied before ranking)")]
    pub glob: Vec<String>,
    /// Skip folders that match GLOB (repeatable)
    #[arg(long, value_name = "GLOB", value_hint = ValueHint::DirPath, help_heading = "Filters (applied before ranking)")]
    pub exclude_dir: Vec<String>,
    /// Only files of this language or of this type from the settings (repeatable; see --type-list)
    #[arg(
        short = 't',
        long = "type",
        value_name = "LANG",
        value_parser = suggest::TYPE,
        hide_possible_values = true,
        help_heading = "Filters (applied before ranking)"
    )]
    pub types: Vec<String>,
    /// List the languages and types for -t and exit
    #[arg(long, exclusive = true, help_heading = "Filters (applied before ranking)")]
    pub type_list: bool,
    /// Skip prose, configuration and data (--no-code-only: keep them despite a setting)
    #[arg(long, overrides_with = "no_code_only", help_heading = "Filters (applied before ranking)")]
    pub code_only: bool,
    /// Keep prose, configuration and data despite a setting
    #[arg(long, hide = true, overrides_with = "code_only")]
    pub no_code_only: bool,
    /// Rank tests lower (auto), show only tests, or exclude them. Tests are known by path or inside other files, with
    /// -e alone by path [default: auto]
    #[arg(long, value_name = "WHAT", help_heading = "Filters (applied before ranking)")]
    pub tests: Option<TestsArg>,
    /// Only units that call NAME, however qualified; without a query, list them (repeatable; -i ignores case; -n N
    /// shows N lines from the call)
    #[arg(long, value_name = "NAME", help_heading = "Filters (applied before ranking)")]
    pub calls: Vec<String>,
    /// Only definitions that units named NAME call (push or RingBuffer.push); without a query, list them (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Filters (applied before ranking)")]
    pub called_by: Vec<String>,
    /// Follow --calls or --called-by over N levels, without a query: each unit with its level, and whether the calls are
    /// resolved or known by name alone
    #[arg(
        long,
        value_name = "N",
        value_parser = positive,
        help_heading = "Filters (applied before ranking)"
    )]
    pub depth: Option<usize>,
    /// Only units of this kind; without a query, list them (repeatable)
    #[arg(
        long = "kind",
        value_name = "KIND",
        value_parser = suggest::kind(),
        ignore_case = true,
        help_heading = "Filters (applied before ranking)"
    )]
    pub kinds: Vec<UnitKind>,
    /// Only files with uncommitted changes, including new files
    #[arg(long, help_heading = "Filters (applied before ranking)")]
    pub changed: bool,
    /// Only files that differ from this commit, branch or tag, including new files; A...B: from their merge base
    #[arg(long, value_name = "REF", conflicts_with = "changed", help_heading = "Filters (applied before ranking)")]
    pub since: Option<String>,

    /// Show N lines of each unit (with -e alone: of context around each match; with --calls alone: from the call)
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
    /// Show N lines after each shown line
    #[arg(short = 'A', long, value_name = "N", help_heading = "Output")]
    pub after_context: Option<usize>,
    /// Show N lines before each shown line
    #[arg(short = 'B', long, value_name = "N", help_heading = "Output")]
    pub before_context: Option<usize>,
    /// Show N lines before and after each shown line
    #[arg(short = 'C', long, value_name = "N", help_heading = "Output")]
    pub context: Option<usize>,
    /// Show whole units
    #[arg(short = 'c', long, help_heading = "Output")]
    pub content: bool,
    /// Print only file names
    #[arg(short = 'l', long, alias = "files-with-matches", help_heading = "Output")]
    pub files_only: bool,
    /// Print only names of files without a match (for a query: without any of its words)
    #[arg(short = 'L', long, conflicts_with_all = ["files_only", "count"], help_heading = "Output")]
    pub files_without_match: bool,
    /// Print the number of matching units per file: those with a word of the query (with -e alone: of lines; with -o,
    /// or -U across lines: of matches)
    #[arg(long, conflicts_with = "files_only", help_heading = "Output")]
    pub count: bool,
    /// Print nothing; only set the exit status
    #[arg(short = 'q', long = "silent", help_heading = "Output")]
    pub silent: bool,
    /// Print a NUL byte after each file name, for xargs -0
    #[arg(short = '0', long, help_heading = "Output")]
    pub null: bool,
    /// Print path:line:column:text, one line per unit (with -e alone: per match); the column is that of the first
    /// match of -e, or else of a query word
    #[arg(long, conflicts_with_all = ["json", "jsonl", "files_only", "count", "content"], help_heading = "Output")]
    pub vimgrep: bool,
    /// Print a JSON array
    #[arg(long, conflicts_with = "jsonl", help_heading = "Output")]
    pub json: bool,
    /// Print one JSON object per line, as soon as it is ready
    #[arg(long, help_heading = "Output")]
    pub jsonl: bool,
    /// Print the JSON Schema of --json (and the rows of --jsonl and --queries-from) and exit
    #[arg(long, exclusive = true, help_heading = "Output")]
    pub json_schema: bool,
    /// Print at most N tokens (bytes / 4; per query with --queries-from), dropping results from the end with a note on
    /// stderr
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Output")]
    pub max_tokens: Option<usize>,
    /// Fit results into TOKENS tokens (bytes / 4): the first unit in full (long ones cut in the middle), the next with
    /// signature and first sentence, the rest one line each
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
    /// Print file names on their own lines (default on a terminal)
    #[arg(long, overrides_with = "no_heading", help_heading = "Output")]
    pub heading: bool,
    /// Print file names on every line (default elsewhere)
    #[arg(long, overrides_with = "heading", help_heading = "Output")]
    pub no_heading: bool,
    /// When to use colour and syntax highlighting [default: auto]
    #[arg(long, value_name = "WHEN", help_heading = "Output")]
    pub color: Option<Color>,
    /// Link to files in coloured output: default, none, file, kitty, vscode, cursor, another of ripgrep's names, or a
    /// format with {path}, {line}, {column} and {host} [default: none]
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = suggest::LINKS,
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub hyperlink_format: Option<String>,

    /// Rank by words and structure only
    #[arg(long, conflicts_with = "semantic_only", help_heading = "Ranking")]
    pub keyword_only: bool,
    /// Rank by meaning only
    #[arg(long, help_heading = "Ranking")]
    pub semantic_only: bool,
    /// Weight of meaning against words, 0 to 1, where the query's words are trusted (overrides COLGREP_ALPHA)
    #[arg(long, value_name = "F", help_heading = "Ranking")]
    pub alpha: Option<String>,
    /// How to combine the rankings by words and by meaning [default: minmax]
    #[arg(long, value_name = "METHOD", help_heading = "Ranking")]
    pub fusion: Option<FusionArg>,
    /// Model for ranking by meaning: default (built in), a folder, or a Hugging Face name
    #[arg(
        long,
        value_name = "ID|FOLDER",
        value_hint = ValueHint::DirPath,
        conflicts_with = "keyword_only",
        help_heading = "Ranking"
    )]
    pub model: Option<String>,
    /// Ranking constants: default or classic
    #[arg(
        long,
        value_name = "NAME",
        value_parser = suggest::PROFILE,
        hide_possible_values = true,
        help_heading = "Ranking"
    )]
    pub profile: Option<String>,
    /// Rank units with this tag higher; KIND is subsystem, purpose, type, concept, feature, tag or keyword
    /// (repeatable)
    #[arg(long = "hint", value_name = "KIND=WORD", value_parser = str::parse::<Hint>, help_heading = "Ranking")]
    pub hints: Vec<Hint>,
    /// Also search for related terms of the query's words: a JSON file {"word": ["term", …]}, or kubernetes. Where a
    /// word has terms, words weigh more against meaning
    #[arg(
        long,
        value_name = "FILE|NAME",
        value_hint = ValueHint::FilePath,
        overrides_with = "no_expand",
        conflicts_with_all = ["like", "semantic_only"],
        help_heading = "Ranking"
    )]
    pub expand: Option<PathBuf>,
    /// Don't add related terms from the settings
    #[arg(long, overrides_with = "expand", help_heading = "Ranking")]
    pub no_expand: bool,
    /// Rank what belongs to FILE higher: code that it tests or imports, files changed together with it; with LINE,
    /// also definitions of the names called there
    #[arg(long, value_name = "FILE[:LINE]", value_hint = ValueHint::FilePath, help_heading = "Ranking")]
    pub near: Option<String>,
    /// Show how each score was computed
    #[arg(long, help_heading = "Ranking")]
    pub explain: bool,
    /// Search the index without updating it
    #[arg(long, help_heading = "Indexing")]
    pub no_update: bool,
    /// Read every new and changed file before answering, however long that takes
    #[arg(long, help_heading = "Indexing")]
    pub wait: bool,
    /// First download the shared index of the current checkout, if any: s3://BUCKET/FOLDER, gs://, az://, or a folder
    /// [default: the setting `remote`, for a project without an index]
    #[arg(long, value_name = "URL", value_hint = ValueHint::AnyPath, help_heading = "Indexing", conflicts_with = "no_update")]
    pub remote: Option<String>,
    /// Options of the walk.
    #[command(flatten)]
    pub walk: WalkArgs,
    /// Flags of ripgrep.
    #[command(flatten)]
    pub ripgrep: RipgrepArgs,
}
