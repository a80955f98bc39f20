//! `-e PATTERN` alone: every matching line, as grep prints it, by ripgrep's engine.

use std::fs::File;
use std::io::{IsTerminal as _, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use colgrep_index::language;
use colgrep_index::walk::{WalkOptions, walk};
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch, sinks};
use rayon::prelude::*;
use serde_json::json;

use super::search::PathRules;
use super::walk_options;
use crate::args::SearchArgs;
use crate::env::Env;
use crate::output::{human, style};
use crate::{FOUND, NOTHING};

/// The matcher that the flags describe.
///
/// # Errors
/// On an invalid pattern, with the place of the fault.
pub fn matcher(args: &SearchArgs) -> Result<RegexMatcher> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(args.ignore_case)
        .word(args.word_regexp)
        .fixed_strings(args.fixed_strings)
        .line_terminator(Some(b'\n'));
    builder.build_many(&args.regexp).with_context(|| {
        format!("-e {:?} is no valid pattern; use -F to search for it as plain text", args.regexp.join(" "))
    })
}

fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .before_context(context)
        .after_context(context)
        .build()
}

/// The numbers of matching lines in each file; none for a file that can't be read.
pub fn lines_in_files(matcher: &RegexMatcher, root: &Path, paths: &[&str]) -> Vec<Vec<u32>> {
    paths
        .par_iter()
        .map(|path| {
            let mut lines = Vec::new();
            let sink = sinks::Bytes(|line, _| {
                lines.push(line as u32);
                Ok(true)
            });
            let _ = searcher(0).search_path(matcher, root.join(path), sink);
            lines
        })
        .collect()
}

pub(super) fn run(args: &SearchArgs, env: &Env, paths: &[PathBuf]) -> Result<u8> {
    if args.content || args.explain {
        bail!("--content and --explain are about units and need a query beside -e");
    }
    let matcher = matcher(args)?;
    let rules = PathRules::new(args)?;
    // Every match of every file: the index's size limit does not hold here unless it is asked for.
    let filesize_max = args.walk.max_filesize.unwrap_or(u64::MAX);
    let options = WalkOptions { filesize_max, ..walk_options(&args.walk) };
    let color = !args.json && human::wants_color(args.color, env.color, std::io::stdout().is_terminal());
    let here = [PathBuf::from(".")];
    let mut found = false;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut rows = Vec::new();
    for path in if paths.is_empty() { &here } else { paths } {
        let files = files_below(path, &options, &rules)?;
        // Files are searched side by side, in portions, and printed in order.
        for portion in files.chunks(256) {
            let printed: Vec<Result<Lines>> =
                portion.par_iter().map(|(full, shown)| search_file(args, &matcher, full, shown, color)).collect();
            for lines in printed {
                let lines = lines?;
                found |= lines.any;
                out.write_all(&lines.text)?;
                rows.extend(lines.rows);
            }
        }
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&rows)?)?;
    }
    out.flush()?;
    Ok(if found { FOUND } else { NOTHING })
}

/// (path to open, path to show) of each file, in order.
fn files_below(path: &Path, options: &WalkOptions, rules: &PathRules) -> Result<Vec<(PathBuf, String)>> {
    if path.is_file() {
        return Ok(vec![(path.to_path_buf(), path.display().to_string())]);
    }
    let walked = walk(path, None, options)?;
    for (what, _) in walked.unreadable.iter().filter(|(_, reason)| reason == "unreadable") {
        remark!("colgrep: {what}");
    }
    let mut files = Vec::new();
    for file in walked.files {
        let full = path.join(&file.path);
        let named = || language::detect(Path::new(&file.path), &head(&full)).name;
        if file.size <= options.filesize_max && rules.allow(&file.path, named) {
            let shown = if path == Path::new(".") { file.path.clone() } else { full.display().to_string() };
            files.push((full, shown));
        }
    }
    Ok(files)
}

/// The first bytes of a file: what tells its language where the name does not.
fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(8 << 10).read_to_end(&mut bytes);
    }
    bytes
}

/// What one file gives.
#[derive(Default)]
struct Lines {
    any: bool,
    text: Vec<u8>,
    rows: Vec<serde_json::Value>,
}

fn search_file(args: &SearchArgs, matcher: &RegexMatcher, full: &Path, shown: &str, color: bool) -> Result<Lines> {
    let mut printer = Printer { args, matcher, shown, color, lines: Lines::default() };
    match searcher(args.lines.unwrap_or(0)).search_path(matcher, full, &mut printer) {
        Ok(()) => Ok(printer.lines),
        // A file that went away or can't be read is no failure of the others.
        Err(error) => {
            if !args.walk.quiet {
                remark!("colgrep: {shown}: {error}");
            }
            Ok(printer.lines)
        }
    }
}

struct Printer<'a> {
    args: &'a SearchArgs,
    matcher: &'a RegexMatcher,
    shown: &'a str,
    color: bool,
    lines: Lines,
}

impl Printer<'_> {
    fn line(&mut self, number: Option<u64>, separator: char, bytes: &[u8], highlight: bool) -> std::io::Result<()> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let (path, line) = (style::PATH, style::LINE);
        let out = &mut self.lines.text;
        let shown = human::escape_control(self.shown);
        style::paint(out, path, self.color, &shown)?;
        write!(out, "{separator}")?;
        style::paint(out, line, self.color, &number.unwrap_or(0).to_string())?;
        write!(out, "{separator}")?;
        let mut at = 0;
        if highlight && self.color {
            let (matcher, out) = (self.matcher, &mut self.lines.text);
            let mut failed = Ok(());
            let _ = matcher.find_iter(bytes, |m| {
                failed = out.write_all(&bytes[at..m.start()]).and_then(|()| {
                    style::paint(out, style::MATCH, true, &String::from_utf8_lossy(&bytes[m.start()..m.end()]))
                });
                at = m.end();
                failed.is_ok()
            });
            failed?;
        }
        let out = &mut self.lines.text;
        out.write_all(&bytes[at..])?;
        out.write_all(b"\n")
    }
}

impl Sink for &mut Printer<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> std::io::Result<bool> {
        self.lines.any = true;
        if self.args.files_only {
            if self.args.json {
                self.lines.rows.push(json!({"file": self.shown}));
            } else {
                let shown = human::escape_control(self.shown);
                writeln!(self.lines.text, "{shown}")?;
            }
            return Ok(false);
        }
        if self.args.json {
            let text = String::from_utf8_lossy(found.bytes());
            let text = text.trim_end_matches(['\n', '\r']);
            self.lines.rows.push(json!({"file": self.shown, "line": found.line_number(), "text": text}));
            return Ok(true);
        }
        self.line(found.line_number(), ':', found.bytes(), true)?;
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> std::io::Result<bool> {
        if !self.args.json && !self.args.files_only {
            self.line(context.line_number(), '-', context.bytes(), false)?;
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> std::io::Result<bool> {
        if !self.args.json && !self.args.files_only {
            writeln!(self.lines.text, "--")?;
        }
        Ok(true)
    }
}
