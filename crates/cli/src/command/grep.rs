//! `-e PATTERN` alone: every matching line, as grep prints it, by ripgrep's engine.

use std::fs::File;
use std::io::{IsTerminal as _, Read as _, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use colgrep_engine::env::Env;
use colgrep_engine::hint::Hinted;
use colgrep_engine::project::Project;
use colgrep_engine::settings::Settings;
use colgrep_index::walk::{LeftOut, MISNAMED, SPECIAL, WalkOptions, walk};
use colgrep_syntax::language;
use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks};
use rayon::prelude::*;

use super::search::PathRules;
use super::{tell_unheeded, walk_options};
use crate::args::SearchArgs;
use crate::output::budget::Budget;
use crate::output::{Look, line, path as name};
use crate::{FAILED, FOUND, NOTHING};

mod printer;

use printer::{Lines, Printer};

/// Files that are searched side by side before their lines are printed.
const PORTION: usize = 256;
/// First bytes of a file: what tells its language where the name does not.
const HEAD_BYTES: u64 = 8 << 10;

/// The matcher that the flags describe.
///
/// # Errors
/// On an invalid pattern, with the place of the fault.
pub fn matcher(args: &SearchArgs) -> Result<RegexMatcher> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(args.ignore_case)
        .case_smart(args.smart_case)
        .whole_line(args.line_regexp)
        .word(args.word_regexp)
        .fixed_strings(args.fixed_strings)
        // `^` and `$` speak of each line, also where many are looked at together.
        .multi_line(true)
        // `$` stands before the whole of a line's end, be it \n or \r\n.
        .crlf(true);
    let built = builder.build_many(&args.regexp).or_else(|error| match error.kind() {
        // Where the pattern asks for \r itself, that is text, and lines end in \n alone.
        ErrorKind::NotAllowed(_) => builder.crlf(false).line_terminator(Some(b'\n')).build_many(&args.regexp),
        _ => Err(error),
    });
    built.map_err(|error| {
        let pattern = args.regexp.join(" ");
        match error.kind() {
            ErrorKind::NotAllowed(_) => {
                anyhow!("{pattern:?} asks for the end of a line; each line is searched by itself, without its end")
            }
            _ if args.fixed_strings => anyhow!("{pattern:?} can't be searched for: {error}"),
            _ => anyhow!(error).context(Hinted {
                what: format!("{pattern:?} is no valid pattern"),
                shell: "use -F to search for it as plain text".to_string(),
                tool: "`grep` with `fixed` searches for it as plain text".to_string(),
            }),
        }
    })
}

/// Where the pattern matches in a line; nothing where it matches nothing at all (`x*`).
pub fn places(matcher: &RegexMatcher, line: &[u8]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let _ = matcher.find_iter(line, |m| {
        if !m.is_empty() {
            places.push(m.start()..m.end());
        }
        true
    });
    places
}

/// Where lines end for a pattern: what it can match is no part of that.
fn line_end(matcher: &RegexMatcher) -> LineTerminator {
    matcher.line_terminator().unwrap_or_default()
}

fn searcher(before: usize, after: usize, args: &SearchArgs, matcher: &RegexMatcher) -> Searcher {
    SearcherBuilder::new()
        .invert_match(args.invert_match)
        .max_matches(args.max_count)
        .line_number(true)
        .line_terminator(line_end(matcher))
        // As grep: what stands before a NUL byte is text; a match behind it is only reported.
        .binary_detection(BinaryDetection::convert(0))
        .before_context(before)
        .after_context(after)
        .build()
}

/// The numbers of matching lines in each file; none for a file that can't be read.
///
/// # Errors
/// On an invalid pattern.
pub fn lines_in_files(args: &SearchArgs, root: &Path, paths: &[&str]) -> Result<Vec<Vec<u32>>> {
    let matcher = matcher(args)?;
    let lines = paths
        .par_iter()
        .map(|path| {
            let mut lines = Vec::new();
            let sink = sinks::Bytes(|line, _| {
                lines.push(line as u32);
                Ok(true)
            });
            let _ = searcher(0, 0, args, &matcher).search_path(&matcher, root.join(path), sink);
            lines
        })
        .collect();
    Ok(lines)
}

pub(super) fn run(args: &SearchArgs, env: &Env, settings: &Settings, paths: &[PathBuf]) -> Result<u8> {
    let matcher = matcher(args)?;
    // Every match of every file: the index's size limit does not hold here unless it is asked for.
    let filesize_max = args.walk.max_filesize.unwrap_or(u64::MAX);
    let options = WalkOptions { filesize_max, ..walk_options(&args.walk) };
    let terminal = std::io::stdout().is_terminal();
    let look = Look::new(args, env, terminal)?;
    let here = [PathBuf::from(".")];
    let mut out = Out::new(args);
    let mut failed = false;
    // No line is the answer to -m 0, as in grep.
    let nothing = args.max_count == Some(0) && !args.files_without_match;
    let paths = if paths.is_empty() { &here } else { paths };
    'paths: for path in if nothing { &[] } else { paths } {
        let (files, complete) = files_below(path, args, env, settings, &options)?;
        failed |= !complete;
        // Files are searched side by side, in portions, and printed in order.
        for portion in files.chunks(PORTION) {
            let searched: Vec<Lines> =
                portion.par_iter().map(|file| search_file(args, &matcher, file, &look)).collect();
            for (file, lines) in portion.iter().zip(searched) {
                failed |= lines.failed;
                if !out.write(args, lines, file)? {
                    break 'paths;
                }
            }
        }
    }
    out.finish(args)?;
    Ok(match (failed, out.found) {
        (_, true) if args.silent => FOUND,
        (true, _) => FAILED,
        (false, true) => FOUND,
        (false, false) => NOTHING,
    })
}

/// The lines that match below `path`, each with its end, in order, undressed and cut to a readable length; no more
/// files are searched when there are `enough`.
///
/// # Errors
/// On a bad pattern or glob.
pub fn lines(args: &SearchArgs, env: &Env, settings: &Settings, path: &Path, enough: usize) -> Result<Vec<String>> {
    let matcher = matcher(args)?;
    let filesize_max = args.walk.max_filesize.unwrap_or(u64::MAX);
    let options = WalkOptions { filesize_max, ..walk_options(&args.walk) };
    let (files, _) = files_below(path, args, env, settings, &options)?;
    let look = Look { width: Some(line::COLUMNS_MAX), ..Look::default() };
    let mut lines = Vec::new();
    for portion in files.chunks(PORTION) {
        let searched: Vec<Lines> = portion.par_iter().map(|file| search_file(args, &matcher, file, &look)).collect();
        for found in searched {
            let text = String::from_utf8_lossy(&found.text);
            lines.extend(text.lines().map(|l| format!("{}\n", line::shortened(l))));
        }
        if lines.len() >= enough {
            break;
        }
    }
    Ok(lines)
}

/// Standard output, as far as the budget reaches.
struct Out {
    out: std::io::BufWriter<std::io::StdoutLock<'static>>,
    budget: Budget,
    found: bool,
    /// Files that gave something.
    files: usize,
    rows: usize,
    blocks: usize,
    cut: bool,
}

impl Out {
    fn new(args: &SearchArgs) -> Out {
        let mut budget = Budget::new(args.max_tokens);
        if args.json {
            budget.take(3);
        }
        let out = std::io::BufWriter::new(std::io::stdout().lock());
        Out { out, budget, found: false, files: 0, rows: 0, blocks: 0, cut: false }
    }

    /// Prints what one file gave; whether more is wanted.
    fn write(&mut self, args: &SearchArgs, lines: Lines, file: &Target) -> Result<bool> {
        self.found |= lines.any;
        self.files += usize::from(lines.any);
        // Rows for programs have no place for it.
        if lines.binary && (args.json || args.jsonl) && !args.no_messages && !args.silent {
            remark!("colgrep: {}: binary file matches", file.shown.display());
        }
        if args.silent {
            return Ok(!self.found);
        }
        for row in lines.rows {
            let row = serde_json::to_string(&row)?;
            if !self.budget.take(row.len() + 1) {
                self.cut = true;
                return Ok(false);
            }
            match (args.jsonl, self.rows) {
                (true, _) => writeln!(self.out, "{row}")?,
                (false, 0) => write!(self.out, "[{row}")?,
                (false, _) => write!(self.out, ",{row}")?,
            }
            self.rows += 1;
        }
        let more = args.results.is_none_or(|wanted| self.files < wanted);
        if lines.text.is_empty() {
            return Ok(more);
        }
        // Between two files' lines: an empty line under headings, grep's mark where there is context.
        let (before, after) = context(args);
        let between: &[u8] = match (self.blocks, lines.heading, before + after > 0 && lines.shows_lines) {
            (0, ..) => b"",
            (_, true, _) => b"\n",
            (_, false, true) => b"--\n",
            _ => b"",
        };
        self.blocks += 1;
        let block = [between, &lines.text].concat();
        let part = self.budget.take_lines(&block);
        self.out.write_all(part)?;
        self.cut = part.len() < block.len();
        Ok(!self.cut && more)
    }

    fn finish(&mut self, args: &SearchArgs) -> Result<()> {
        if args.json && !args.silent {
            writeln!(self.out, "{}", if self.rows == 0 { "[]" } else { "]" })?;
        }
        self.out.flush()?;
        if self.cut && !args.walk.quiet {
            remark!("colgrep: more matches than fit into --max-tokens {}", args.max_tokens.unwrap_or_default());
        }
        Ok(())
    }
}

/// Lines of context before and behind a match; none where rows are matches alone.
fn context(args: &SearchArgs) -> (usize, usize) {
    if args.vimgrep || args.json || args.jsonl || args.only_matching {
        return (0, 0);
    }
    let both = args.context.or(args.lines).unwrap_or(0);
    (args.before_context.unwrap_or(both), args.after_context.unwrap_or(both))
}

/// A file to search.
pub struct Target {
    /// Path to open; that of [`is_stdin`] for standard input.
    pub full: PathBuf,
    /// Path to show: as it was given.
    pub shown: PathBuf,
}

/// Whether a path is grep's name for standard input. A file of that name is `./-`.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The files below `path` that the rules allow, in order, and whether everything could be read. What can't be is told,
/// and no failure of the others.
fn files_below(
    path: &Path,
    args: &SearchArgs,
    env: &Env,
    settings: &Settings,
    options: &WalkOptions,
) -> Result<(Vec<Target>, bool)> {
    if is_stdin(path) {
        return Ok((vec![Target { full: path.to_path_buf(), shown: name::STDIN.into() }], true));
    }
    let unread = |error: anyhow::Error| {
        if !args.no_messages {
            remark!("colgrep: {error:#}");
        }
        Ok((Vec::new(), false))
    };
    let (project, below) = match Project::around(path, env) {
        Ok(found) => found,
        Err(error) => return unread(error),
    };
    let rules = PathRules::new(args, settings, &project)?.named(&below);
    let allowed = |from_root: &str, full: &Path| {
        rules.allow(from_root, || language::detect(Path::new(from_root), &head(full)).name)
    };
    if path.is_file() {
        let target = Target { full: path.to_path_buf(), shown: path.to_path_buf() };
        return Ok((if allowed(&below, path) { vec![target] } else { Vec::new() }, true));
    }
    let walked = match walk(path, &LeftOut::default(), options) {
        Ok(walked) => walked,
        Err(error) => return unread(error.into()),
    };
    if !args.no_messages {
        tell_unheeded(&walked.unheeded);
    }
    let mut complete = true;
    for (what, reason) in walked.unreadable.iter().filter(|(_, reason)| reason != SPECIAL && reason != MISNAMED) {
        complete = false;
        if !args.no_messages {
            remark!("colgrep: {}: {reason}", name::below(path, Path::new(what)).display());
        }
    }
    let mut found: Vec<(PathBuf, u64)> = walked.files.into_iter().map(|f| (f.path.into(), f.size)).collect();
    if !walked.misnamed.is_empty() {
        found.extend(walked.misnamed);
        found.sort_by(|a, b| a.0.as_os_str().cmp(b.0.as_os_str()));
    }
    let mut files = Vec::new();
    for (inside, size) in found {
        let full = path.join(&inside);
        let name = inside.to_string_lossy();
        let from_root = if below.is_empty() { name.into_owned() } else { format!("{below}/{name}") };
        if size <= options.filesize_max && allowed(&from_root, &full) {
            files.push(Target { full, shown: name::below(path, &inside) });
        }
    }
    Ok((files, complete))
}

fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(HEAD_BYTES).read_to_end(&mut bytes);
    }
    bytes
}

fn search_file(args: &SearchArgs, matcher: &RegexMatcher, file: &Target, look: &Look) -> Lines {
    let (before, after) = context(args);
    let mut printer = Printer::new(args, matcher, file, look);
    let mut searcher = searcher(before, after, args, matcher);
    let searched = if is_stdin(&file.full) {
        searcher.search_reader(matcher, std::io::stdin().lock(), &mut printer)
    } else {
        searcher.search_path(matcher, &file.full, &mut printer)
    };
    let mut lines = printer.into_lines();
    // A file that went away or can't be read is told, and no failure of the others.
    if let Err(error) = searched {
        lines.failed = true;
        if !args.no_messages {
            remark!("colgrep: {}: {error}", file.shown.display());
        }
    }
    lines
}
