//! Flags that mean what they mean in ripgrep, and what to do instead of those that are not here.

use std::io::Read as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::{ArgAction, Args, ValueEnum, ValueHint};

use colgrep_render::grep::SortBy;
use colgrep_render::path::is_stdin;

use super::suggest;

/// By what files are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SortArg {
    /// Don't sort (files come by path).
    None,
    /// Sort by path.
    #[default]
    Path,
    /// Sort by last modified time.
    Modified,
    /// Sort by last access time.
    Accessed,
    /// Sort by creation time.
    Created,
}

/// Flags of ripgrep.
#[derive(Clone, Debug, Default, Args)]
pub struct RipgrepArgs {
    /// Match across lines with -e; . doesn't match a line end, (?s:.) does
    #[arg(short = 'U', long, help_heading = "Patterns")]
    pub multiline: bool,
    /// Add patterns from FILE, one per line, to those of -e (- for stdin; repeatable)
    #[arg(short = 'f', long = "file", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Patterns")]
    pub pattern_files: Vec<PathBuf>,

    /// Skip files of this language or type (repeatable)
    #[arg(
        short = 'T',
        long = "type-not",
        value_name = "LANG",
        value_parser = suggest::TYPE,
        hide_possible_values = true,
        help_heading = "Filters (applied before ranking)"
    )]
    pub types_not: Vec<String>,
    /// Like -g, ignoring case (repeatable)
    #[arg(long, value_name = "GLOB", value_hint = ValueHint::AnyPath, help_heading = "Filters (applied before ranking)")]
    pub iglob: Vec<String>,
    /// Descend at most N folders; 1 is only files directly in the searched folders
    #[arg(short = 'd', long, alias = "maxdepth", value_name = "N", help_heading = "Filters (applied before ranking)")]
    pub max_depth: Option<usize>,
    /// Search files that ignore files exclude (--no-ignore); twice: hidden files too (--hidden)
    #[arg(short = 'u', long, action = ArgAction::Count, help_heading = "Filters (applied before ranking)")]
    pub unrestricted: u8,

    /// Print the names of the files that would be searched; all arguments are then paths
    #[arg(
        long,
        conflicts_with_all = [
            "regexp", "query", "like", "queries_from", "pattern_files", "content", "count", "files_without_match",
        ],
        help_heading = "Output"
    )]
    pub files: bool,
    /// Sort the output of --files and of -e alone [default: path]
    #[arg(long, value_name = "BY", help_heading = "Output")]
    pub sort: Option<SortArg>,
    /// Like --sort, in reverse order
    #[arg(long, value_name = "BY", conflicts_with = "sort", help_heading = "Output")]
    pub sortr: Option<SortArg>,
    /// Don't print line numbers
    #[arg(short = 'N', long, overrides_with = "line_number", help_heading = "Output")]
    pub no_line_number: bool,
    /// Print line numbers (the default).
    #[arg(long, hide = true, overrides_with = "no_line_number")]
    pub line_number: bool,
    /// Don't print file names
    #[arg(short = 'I', long, overrides_with = "with_filename", help_heading = "Output")]
    pub no_filename: bool,
    /// Print the column of the first match (of -e, or else of a query word)
    #[arg(long, overrides_with = "no_column", help_heading = "Output")]
    pub column: bool,
    /// Don't print columns.
    #[arg(long, hide = true, overrides_with = "column")]
    pub no_column: bool,
    /// Omit lines longer than BYTES bytes, with a note (ranked results: cut them); 0: no limit
    #[arg(short = 'M', long, value_name = "BYTES", help_heading = "Output")]
    pub max_columns: Option<usize>,
    /// Same as --color always --heading
    #[arg(short = 'p', long, help_heading = "Output")]
    pub pretty: bool,
}

/// Largest file of patterns, in bytes.
const PATTERN_BYTES_MAX: u64 = 16 << 20;

impl RipgrepArgs {
    /// The patterns of the files, in order.
    ///
    /// # Errors
    /// When a file can't be read, is not UTF-8 or is too large, or where all are empty and there are no `others`.
    pub fn patterns(&self, others: &[String]) -> Result<Vec<String>> {
        let mut patterns = Vec::new();
        for file in &self.pattern_files {
            let mut text = String::new();
            let most = PATTERN_BYTES_MAX + 1;
            let read = match is_stdin(file) {
                true => std::io::stdin().lock().take(most).read_to_string(&mut text),
                false => std::fs::File::open(file).and_then(|file| file.take(most).read_to_string(&mut text)),
            };
            let read = read.with_context(|| format!("-f {}", file.display()))?;
            if read as u64 == most {
                bail!("-f {}: more than {} MiB of patterns", file.display(), PATTERN_BYTES_MAX >> 20);
            }
            patterns.extend(text.lines().map(str::to_string));
        }
        if let (Some(file), true) = (self.pattern_files.first(), patterns.is_empty() && others.is_empty()) {
            bail!("-f {}: there is no pattern in it, so nothing can match", file.display());
        }
        Ok(patterns)
    }

    /// By what files are sorted, and whether the other way round.
    pub fn sorting(&self) -> (SortBy, bool) {
        (self.sort.or(self.sortr).unwrap_or_default().into(), self.sortr.is_some())
    }
}

impl From<SortArg> for SortBy {
    fn from(arg: SortArg) -> SortBy {
        match arg {
            SortArg::None => SortBy::None,
            SortArg::Path => SortBy::Path,
            SortArg::Modified => SortBy::Modified,
            SortArg::Accessed => SortBy::Accessed,
            SortArg::Created => SortBy::Created,
        }
    }
}

/// Flags of ripgrep that are not here, each with what to do instead.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &["-a", "--text", "--no-text", "--binary", "--no-binary"],
        "of a match after a NUL byte only the file is named; `grep -a` prints it",
    ),
    (&["-b", "--byte-offset", "--no-byte-offset"], "places are lines and columns (--column); `rg -b` prints offsets"),
    (&["-z", "--search-zip", "--no-search-zip"], "unpack it first: zcat FILE | colgrep -e PATTERN -"),
    (
        &["--replace"],
        "nothing is replaced; `colgrep -e PATTERN -l -0 | xargs -0 sed -i s/…/…/` changes the files that match",
    ),
    (&["--passthru", "--passthrough"], "-C N prints so many lines around each match"),
    (&["--count-matches"], "`--count -o` counts matches, and --count matching lines"),
    (&["--include-zero", "--no-include-zero"], "-L names the files in which nothing matches"),
    (&["--trim", "--no-trim"], "lines are printed whole; `colgrep -e PATTERN -I -N | sed 's/^ *//'` trims them"),
    (&["--max-columns-preview", "--no-max-columns-preview"], "-M leaves long lines out; without it they are whole"),
    (&["--case-sensitive"], "that is what it does, unless -i or -S is given"),
    (&["--glob-case-insensitive", "--no-glob-case-insensitive"], "--iglob GLOB takes globs in any case of letters"),
    (&["--follow", "--no-follow"], "links are not followed; name the folder that they lead to: colgrep QUERY FOLDER"),
    (&["--one-file-system", "--no-one-file-system"], "a setting leaves folders out: colgrep settings ignore mounted/"),
    (
        &["--ignore-file", "--ignore-file-case-insensitive", "--no-ignore-file-case-insensitive"],
        "name the file .colgrepignore, or leave files out by the setting `ignore`",
    ),
    (
        &[
            "--no-ignore-dot",
            "--no-ignore-exclude",
            "--no-ignore-files",
            "--no-ignore-global",
            "--no-ignore-parent",
            "--no-ignore-vcs",
            "--no-require-git",
        ],
        "--no-ignore disregards all ignore files",
    ),
    (
        &[
            "--ignore",
            "--ignore-dot",
            "--ignore-exclude",
            "--ignore-files",
            "--ignore-global",
            "--ignore-parent",
            "--ignore-vcs",
            "--require-git",
        ],
        "ignore files count, unless --no-ignore is given",
    ),
    (&["--no-ignore-messages", "--ignore-messages", "--messages"], "-s leaves out messages about files"),
    (&["--type-add", "--type-clear"], "types of your own are settings: colgrep settings types.web '*.html' '*.css'"),
    (&["--encoding", "--no-encoding"], "text is UTF-8, or UTF-16 with its mark; `iconv` turns another into that"),
    (
        &["--pre", "--pre-glob", "--no-pre"],
        "no program is run on files; pipe its output: PROGRAM FILE | colgrep -e PATTERN -",
    ),
    (&["--path-separator"], "paths are printed with the system's separator"),
    (
        &["--context-separator", "--no-context-separator", "--field-context-separator", "--field-match-separator"],
        "separators are grep's; --json and --jsonl print rows for programs",
    ),
    (&["--colors"], "the colours are ripgrep's own; --color never prints none"),
    (&["--multiline-dotall", "--no-multiline-dotall"], "write (?s:.) where . is to match line ends too, with -U"),
    (
        &["--no-multiline", "--no-unicode", "--no-pcre2-unicode", "--unicode", "--pcre2-unicode"],
        "patterns speak Unicode; (?-u) switches that off",
    ),
    (&["--crlf", "--no-crlf"], "both line ends count, each file's own"),
    (&["--null-data"], "lines end in a line end; `tr '\\0' '\\n' | colgrep -e PATTERN -` searches others"),
    (&["--stop-on-nonmatch"], "-m N ends after so many lines of each file"),
    (
        &["--engine", "--auto-hybrid-regex", "--no-auto-hybrid-regex", "--no-pcre2", "--pcre2-version"],
        "there is one engine: that of ripgrep without -P",
    ),
    (
        &["--dfa-size-limit", "--regex-size-limit"],
        "a pattern that is too large is told; two of them (-e … -e …) have a limit each",
    ),
    (
        &["--mmap", "--no-mmap", "--line-buffered", "--no-line-buffered", "--block-buffered", "--no-block-buffered"],
        "how files are read and output is written is not to choose; leave it out",
    ),
    (
        &["--debug", "--trace", "--no-config", "--no-stats"],
        "--explain tells how a score came about, `colgrep doctor` what is in use, `colgrep settings` what is set",
    ),
    (&["--no-heading-color", "--hostname-bin"], "links take the host's own name; --hyperlink-format with {host}"),
    (&["--generate"], "`colgrep completions SHELL` and `colgrep man` print these"),
    (&["--sort-files", "--no-sort-files"], "--sort path sorts files"),
    (&["--no-json"], "leave --json out"),
    (&["--exact", "--literal"], "-F -e TEXT finds a text as it is"),
    (&["--path", "--paths", "--dir", "--directory"], "files and folders follow the query: colgrep QUERY src"),
    (&["--no-fixed-strings", "--no-invert-match"], "leave the flag out that it takes back"),
];

/// Flags that don't take a pattern here, each with what to do instead.
const ALONE: &[(&str, &str)] = &[
    (
        "--stats",
        "--stats is used alone: it lists the indexes of this machine; --count gives the matching lines of each file",
    ),
    ("--type-list", "--type-list is used alone; -t LANG searches the files of one language"),
    (
        "--files",
        "--files only lists the names of files and takes neither a pattern nor flags of matches: every word is a path \
         then; -l names the files that match",
    ),
];

/// What to do instead of a flag of ripgrep that does not go with a pattern here. `flags` are those in conflict, as written in
/// a usage.
pub fn instead_of_both<'f>(mut flags: impl Iterator<Item = &'f str>) -> Option<&'static str> {
    let find = |flag: &str| ALONE.iter().find(|(name, _)| flag.split(' ').next() == Some(name));
    flags.find_map(find).map(|(_, instead)| *instead)
}

/// What to do instead of a flag of ripgrep that is not here.
pub fn instead_of(flag: &str) -> Option<&'static str> {
    let name = flag.split('=').next().unwrap_or(flag);
    ELSEWHERE.iter().find(|(names, _)| names.contains(&name)).map(|(_, instead)| *instead)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn a_flag_is_here_or_elsewhere_and_not_both() {
        let command = crate::args::Args::command();
        let here: Vec<String> = command
            .get_arguments()
            .flat_map(|arg| {
                let long = arg.get_long_and_visible_aliases().unwrap_or_default().into_iter().map(|l| format!("--{l}"));
                let short =
                    arg.get_short_and_visible_aliases().unwrap_or_default().into_iter().map(|s| format!("-{s}"));
                long.chain(short).collect::<Vec<_>>()
            })
            .collect();
        let mut seen = std::collections::HashSet::new();
        for name in ELSEWHERE.iter().flat_map(|(names, _)| *names) {
            assert!(!here.iter().any(|h| h == name), "{name} is here");
            assert!(seen.insert(name), "{name} stands twice");
        }
    }
}
