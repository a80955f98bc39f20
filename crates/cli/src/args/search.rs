//! The flags of a search, and what the engine and the output make of them.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, ValueEnum, ValueHint};
use colgrep_core::UnitKind;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knob, Knobs, Profile};
use colgrep_core::tag::Hint;
use colgrep_engine::answer::pack;
use colgrep_engine::project::open::BUDGET;
use colgrep_engine::request::terms;
use colgrep_engine::settings::env::profile;
use colgrep_engine::{
    Background, Changes, Detail, Facts, OpenOptions, Pattern, Question, RankBy, RankingOptions, Scope, SearchRequest,
    Shape, Standpoint, Tests, Weakest,
};
use colgrep_render::matches::LineOptions;
use colgrep_render::{Format, OutputRequest, When};

use super::format::FormatArg;
use super::size::{parse_lines, parse_share, positive};
use super::walk::either;
use super::{RipgrepArgs, WalkArgs, suggest};

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

impl From<Color> for When {
    fn from(arg: Color) -> When {
        match arg {
            Color::Auto => When::Auto,
            Color::Always => When::Always,
            Color::Never => When::Never,
        }
    }
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

impl From<TestsArg> for Tests {
    fn from(arg: TestsArg) -> Tests {
        match arg {
            TestsArg::Auto => Tests::Auto,
            TestsArg::Only => Tests::Only,
            TestsArg::Exclude => Tests::Exclude,
        }
    }
}

/// A search.
#[derive(Clone, Debug, Default, Args)]
pub struct SearchArgs {
    /// Words or names to search for, then files or folders to search
    ///
    /// With -e, a first word that is an existing file or folder (- is stdin) or written as a path is a path; any other
    /// is the query.
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
    #[arg(short = 'k', long = "results", aliases = ["limit", "top-k"], value_name = "N", value_parser = positive)]
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
            "explain", "files_only", "files_without_match", "count", "silent", "content", "null",
            "lines", "after_context", "before_context", "context",
        ]
    )]
    pub queries_from: Option<PathBuf>,

    /// Only units that match; without a query, every matching line
    ///
    /// PATTERN is a regular expression (repeatable).
    #[arg(
        short = 'e',
        long = "regexp",
        alias = "pattern",
        value_name = "PATTERN",
        allow_hyphen_values = true,
        help_heading = "Patterns"
    )]
    pub regexp: Vec<String>,
    /// Show only units with code like this, as in 'foo($A, $$$)': $A is any node, $$$ any number of nodes; without a
    /// query, print every match; with -e, the matches of -e inside
    #[arg(long = "ast", value_name = "CODE", allow_hyphen_values = true, help_heading = "Patterns")]
    pub structure: Option<String>,
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
    /// Only files that match GLOB; with a leading ! skip them
    ///
    /// Like --include and --exclude, for compatibility with ripgrep.
    #[arg(short = 'g', long, value_name = "GLOB", value_hint = ValueHint::AnyPath, help_heading = "Filters (applied before ranking)")]
    pub glob: Vec<String>,
    /// Skip folders that match GLOB (repeatable)
    #[arg(long, value_name = "GLOB", value_hint = ValueHint::DirPath, help_heading = "Filters (applied before ranking)")]
    pub exclude_dir: Vec<String>,
    /// Only files of this language (see --type-list)
    ///
    /// Types from the settings count too (repeatable).
    #[arg(
        short = 't',
        long = "type",
        aliases = ["lang", "language"],
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
    /// Rank tests lower (auto), show only them, or exclude them
    ///
    /// Tests are known by path or inside other files, with -e alone by path [default: auto].
    #[arg(long, value_name = "WHAT", help_heading = "Filters (applied before ranking)")]
    pub tests: Option<TestsArg>,
    /// Only units that call NAME; without a query, list them
    ///
    /// NAME may be qualified or not (repeatable; -i ignores case; -n N shows N lines from the call).
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

    /// Show N lines of each unit
    ///
    /// With -e alone N lines of context around each match, with --calls alone N lines from the call.
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
    /// The format of results.
    #[command(flatten)]
    pub format: FormatArg,
    /// Print the JSON Schema of --json (and of the rows of --jsonl, --queries-from, impact, log and outline) and exit
    #[arg(long, exclusive = true, help_heading = "Output")]
    pub json_schema: bool,
    /// Print at most N tokens (bytes / 4; per query with --queries-from), dropping results from the end with a note on
    /// stderr
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Output")]
    pub max_tokens: Option<usize>,
    /// Fit results into TOKENS tokens, the best in full
    ///
    /// A token is four bytes. The first unit is printed in full (long ones cut in the middle), the next with signature
    /// and first sentence, the rest in one line each.
    #[arg(
        long,
        value_name = "TOKENS",
        value_parser = positive,
        conflicts_with_all = [
            "max_tokens", "files_only", "files_without_match", "count", "content", "lines", "after_context",
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

impl SearchArgs {
    /// The question with everything that the flags say of it.
    ///
    /// # Errors
    /// When a constant of the ranking does not fit, or a table of terms can't be read.
    pub fn request(&self, question: Question, paths: Vec<PathBuf>) -> Result<SearchRequest> {
        let mut request = SearchRequest::default();
        request.question = question;
        request.background = self.background()?;
        request.scope = self.scope(paths);
        request.ranking = self.ranking()?;
        request.shape = self.shape();
        Ok(request)
    }

    fn background(&self) -> Result<Background> {
        let mut background = Background::default();
        background.hints.clone_from(&self.hints);
        background.terms = self.expand.as_deref().map(terms::table).transpose()?.unwrap_or_default();
        background.no_settings_terms = self.no_expand;
        background.near = self.near.as_deref().map(Standpoint::read);
        if let Some(near) = background.near.as_ref().filter(|near| !near.file.exists()) {
            bail!("--near {}: no such file", near.file.display());
        }
        Ok(background)
    }

    fn scope(&self, paths: Vec<PathBuf>) -> Scope {
        let mut scope = Scope::default();
        scope.paths = paths;
        (scope.include, scope.exclude) = (self.include.clone(), self.exclude.clone());
        for glob in &self.glob {
            match glob.strip_prefix('!') {
                Some(not) => scope.exclude.push(not.to_string()),
                None => scope.include.push(glob.clone()),
            }
        }
        for glob in &self.ripgrep.iglob {
            match glob.strip_prefix('!') {
                Some(not) => scope.exclude_any_case.push(not.to_string()),
                None => scope.include_any_case.push(glob.clone()),
            }
        }
        scope.types_not.clone_from(&self.ripgrep.types_not);
        scope.max_depth = self.ripgrep.max_depth;
        scope.exclude_dir.clone_from(&self.exclude_dir);
        scope.types.clone_from(&self.types);
        scope.code_only = either(self.code_only, self.no_code_only);
        scope.tests = self.tests.map(Tests::from);
        scope.changes = match &self.since {
            Some(since) => Some(Changes::Since(since.clone())),
            None => self.changed.then_some(Changes::Uncommitted),
        };
        scope.pattern = (!self.regexp.is_empty()).then(|| self.pattern());
        scope.structure.clone_from(&self.structure);
        scope.facts = self.facts();
        scope
    }

    /// What is asked of the units' code.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        (facts.calls, facts.called_by) = (self.calls.clone(), self.called_by.clone());
        facts.kinds.clone_from(&self.kinds);
        facts.ignore_case = self.ignore_case;
        facts
    }

    fn pattern(&self) -> Pattern {
        let mut pattern = Pattern::default();
        pattern.expressions.clone_from(&self.regexp);
        (pattern.fixed, pattern.word, pattern.line) = (self.fixed_strings, self.word_regexp, self.line_regexp);
        (pattern.ignore_case, pattern.smart_case) = (self.ignore_case, self.smart_case);
        pattern.multiline = self.ripgrep.multiline;
        pattern
    }

    fn ranking(&self) -> Result<RankingOptions> {
        let mut ranking = RankingOptions::default();
        ranking.by = match (self.keyword_only, self.semantic_only) {
            (true, _) => RankBy::Words,
            (false, true) => RankBy::Meaning,
            (false, false) => RankBy::Both,
        };
        ranking.fusion = self.fusion.map(Into::into);
        ranking.profile = self.profile.as_deref().map(|name| profile(name).context("--profile")).transpose()?;
        ranking.alpha = self.alpha.as_deref().map(alpha).transpose()?;
        Ok(ranking)
    }

    fn shape(&self) -> Shape {
        let mut shape = Shape::default();
        (shape.files, shape.units_per_file) = (self.results, self.per_file);
        (shape.single_units, shape.every_match, shape.explain) = (self.units, self.count, self.explain);
        shape.call_lines = self.lines.is_some();
        // Every unit with a word counts, however weak.
        shape.weakest = match (self.all || self.files_without_match, self.min_strength) {
            (true, _) => Weakest::Strength(0.0),
            (false, Some(least)) => Weakest::Strength(least),
            // Programs judge for themselves.
            (false, None) if self.format().is_json() => Weakest::Any,
            (false, None) => Weakest::Floor,
        };
        if self.pack.is_some() {
            shape.files = self.results.or(Some(pack::FILES_MAX));
            (shape.units_per_file, shape.detail) = (Some(pack::UNITS_PER_FILE), Detail::Parts);
            return shape;
        }
        let mut flags = Format::FLAGS.iter();
        shape.detail = match flags.find(|(format, _)| *format == self.format()) {
            _ if self.names_only() => Detail::Names,
            Some((_, flag)) => flag.detail,
            None => Detail::Lines,
        };
        shape
    }

    pub(super) fn names_only(&self) -> bool {
        self.files_only || self.count
    }

    /// How results are written.
    pub fn format(&self) -> Format {
        match self.format.0 {
            Format::Text if self.queries_from.is_some() => Format::JsonLines,
            format => format,
        }
    }

    /// What is printed of an answer.
    pub fn output(&self) -> OutputRequest {
        OutputRequest {
            format: self.format(),
            names_only: self.names_only(),
            count: self.count,
            null: self.null,
            content: self.content,
            lines: self.lines,
            before: self.before_context,
            behind: self.after_context,
            around: self.context,
            max_tokens: self.max_tokens,
            pack: self.pack,
            quiet: self.walk.quiet,
            silent: self.silent,
            heading: either(self.heading, self.no_heading).or(self.ripgrep.pretty.then_some(true)),
            color: self.color.map(When::from).or(self.ripgrep.pretty.then_some(When::Always)),
            many_lines: self.per_file.is_some_and(|n| n > 1)
                || self.content
                || self.explain
                || [self.before_context, self.after_context, self.context].iter().any(|n| n.is_some_and(|n| n > 0)),
            all: self.results.is_some(),
            no_number: self.ripgrep.no_line_number,
            no_name: self.ripgrep.no_filename,
            column: self.ripgrep.column,
            line_bytes_max: self.ripgrep.max_columns.filter(|bytes| *bytes > 0),
            links: self.hyperlink_format.clone(),
        }
    }

    /// What a plain grep prints of lines.
    pub fn lines(&self) -> LineOptions {
        LineOptions {
            invert: self.invert_match,
            only_matching: self.only_matching,
            max_count: self.max_count,
            files_without_match: self.files_without_match,
            text_only: false,
            no_messages: self.no_messages,
            files: self.results,
        }
    }

    pub fn open_options(&self) -> OpenOptions {
        let mut options = self.walk.open_options(self.model.clone());
        options.update = !self.no_update;
        (options.hurried, options.behind) = ((!self.wait).then_some(BUDGET), true);
        options.no_ignore |= self.ripgrep.unrestricted > 0;
        if self.ripgrep.unrestricted > 1 {
            options.hidden = Some(true);
        }
        options
    }
}

/// Reads what `--alpha` takes.
fn alpha(text: &str) -> Result<f64> {
    let mut knobs = Knobs::of(Profile::Default);
    let expected = Knob::Alpha.declaration().expected();
    knobs.set(Knob::Alpha, text).map_err(|_| anyhow!("--alpha {text}: expected {expected}"))?;
    Ok(knobs.number(Knob::Alpha))
}

/// Classes of flags, which [`plan`](super::plan) refuses where they have no effect.
impl SearchArgs {
    /// Whether there is a pattern, of lines or of code.
    pub(super) fn has_pattern(&self) -> bool {
        !self.regexp.is_empty() || self.structure.is_some()
    }

    /// Flags that limit which files are searched.
    pub(super) fn file_flags(&self) -> [(bool, &'static str); 11] {
        [
            (!self.include.is_empty(), "--include"),
            (!self.exclude.is_empty(), "--exclude"),
            (!self.glob.is_empty(), "-g"),
            (!self.ripgrep.iglob.is_empty(), "--iglob"),
            (!self.exclude_dir.is_empty(), "--exclude-dir"),
            (!self.types.is_empty(), "-t"),
            (!self.ripgrep.types_not.is_empty(), "-T"),
            (self.code_only, "--code-only"),
            (self.tests.is_some(), "--tests"),
            (self.changed, "--changed"),
            (self.since.is_some(), "--since"),
        ]
    }

    /// Flags that say how units are ranked.
    pub(super) fn ranking_flags(&self) -> Vec<(bool, &'static str)> {
        vec![
            (self.explain, "--explain"),
            (self.keyword_only, "--keyword-only"),
            (self.semantic_only, "--semantic-only"),
            (self.alpha.is_some(), "--alpha"),
            (self.fusion.is_some(), "--fusion"),
            (self.model.is_some(), "--model"),
            (self.profile.is_some(), "--profile"),
            (self.all, "--all"),
            (self.min_strength.is_some(), "--min-strength"),
        ]
    }

    pub(super) fn background_flags(&self) -> Vec<(bool, &'static str)> {
        vec![
            (!self.hints.is_empty(), "--hint"),
            (self.expand.is_some(), "--expand"),
            (self.no_expand, "--no-expand"),
            (self.near.is_some(), "--near"),
        ]
    }

    /// Flags that say which units are found, how they are ranked and how they are printed.
    pub(super) fn unit_flags(&self) -> Vec<(bool, &'static str)> {
        let mut flags =
            vec![(self.content, "--content"), (self.units, "--units"), (self.per_file.is_some(), "--per-file")];
        flags.extend(self.ranking_flags());
        flags.extend(self.background_flags());
        flags.push((self.pack.is_some(), "--pack"));
        flags
    }

    /// Flags about what calls what, and kinds.
    pub(super) fn structure_flags(&self) -> [(bool, &'static str); 3] {
        [
            (!self.calls.is_empty(), "--calls"),
            (!self.called_by.is_empty(), "--called-by"),
            (!self.kinds.is_empty(), "--kind"),
        ]
    }

    pub(super) fn indexing_flags(&self) -> Vec<(bool, &'static str)> {
        let mode = (self.walk.index_mode.is_some(), "--index-mode");
        vec![(self.no_update, "--no-update"), (self.wait, "--wait"), mode, (self.remote.is_some(), "--remote")]
    }

    /// Flags for the form of single lines.
    pub(super) fn line_flags(&self) -> [(bool, &'static str); 4] {
        [
            (self.ripgrep.no_line_number, "-N"),
            (self.ripgrep.no_filename, "-I"),
            (self.ripgrep.column, "--column"),
            (self.ripgrep.max_columns.is_some(), "-M"),
        ]
    }

    /// Flags for the lines shown of a result.
    pub(super) fn around_flags(&self) -> [(bool, &'static str); 4] {
        [
            (self.lines.is_some(), "-n"),
            (self.before_context.is_some(), "-B"),
            (self.after_context.is_some(), "-A"),
            (self.context.is_some(), "-C"),
        ]
    }
}
