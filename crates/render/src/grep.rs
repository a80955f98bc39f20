//! `-e PATTERN` alone: every matching line, as grep prints it, by ripgrep's engine.

mod ordered;

use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use colgrep_engine::OpenOptions;
use colgrep_engine::project::open::go_on_unless;
use colgrep_engine::project::tree::files_below;
use colgrep_engine::request::pattern::{LineMatcher, first_place, matcher, searcher, searcher_of};
use colgrep_engine::request::structure::StructureMatcher;
use colgrep_engine::request::{Pattern, Scope};
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use colgrep_index::signature::Needed;
use colgrep_index::walk::WalkOptions;
use grep_matcher::LineTerminator;
use grep_searcher::Searcher;
use ordered::OrderedSink;

use crate::advice;
use crate::budget::TokenBudget;
use crate::console::tell_unheeded;
use crate::empty::Naming;
use crate::escape::json_text;
use crate::matches::{FileOutput, LineOptions, SearchedFile, WalkedFolder};
use crate::notice::unsearched;
use crate::path::absolute_name;
use crate::{Format, Look, OutputOptions, OutputRequest, empty, line, path as name};

/// Bytes of output that are written at once.
const OUT_BYTES: usize = 64 << 10;

/// Walk options of a grep, which covers every file: the index's size limit applies only if it is given explicitly.
fn walk_options(open: &OpenOptions, settings: &Settings) -> WalkOptions {
    WalkOptions { filesize_max: open.filesize_max.unwrap_or(u64::MAX), ..open.with(settings).walk }
}

/// A grep: its pattern, its places, and the handling of lines.
struct LineGrep<'a> {
    scope: &'a Scope,
    walk: WalkOptions,
    settings: &'a Settings,
    env: &'a Env,
    matcher: LineMatcher,
    /// The structural pattern; `matcher` then applies inside its matches, if there is one.
    structure: Option<StructureMatcher>,
    options: &'a OutputOptions,
    of_lines: &'a LineOptions,
    /// The root that all files have to lie in; without one, each folder that is searched is the root of its files.
    root: Option<Arc<WalkedFolder>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// By nothing: as they come, which is by path.
    None,
    #[default]
    Path,
    /// By the time of the last change.
    Modified,
    /// By the time of the last access.
    Accessed,
    /// By the time when they were made.
    Created,
}

/// Sorts files; those whose time is not known come first.
pub fn sort_by<T>(files: &mut [T], (by, reversed): (SortBy, bool), path: impl Fn(&T) -> Option<&Path>) {
    let time = |file: &T| {
        let metadata = path(file)?.metadata().ok()?;
        match by {
            SortBy::Modified => metadata.modified().ok(),
            SortBy::Accessed => metadata.accessed().ok(),
            SortBy::Created => metadata.created().ok(),
            SortBy::None | SortBy::Path => None,
        }
    };
    if !matches!(by, SortBy::None | SortBy::Path) {
        files.sort_by_cached_key(time);
    }
    // Forwards, the given paths keep their order; backwards, all files are one list.
    if by == SortBy::Path && reversed {
        files.sort_by(|a, b| path(a).cmp(&path(b)));
    }
    if reversed && by != SortBy::None {
        files.reverse();
    }
}

/// A search for lines as the command line asks for it.
#[derive(Clone, Copy, Debug)]
pub struct LineSearch<'a> {
    /// Where it looks, and for which pattern.
    pub scope: &'a Scope,
    /// How trees are walked.
    pub open: &'a OpenOptions,
    pub lines: &'a LineOptions,
    /// What the answer looks like.
    pub wish: &'a OutputRequest,
    /// The order of files, and whether it is reversed.
    pub sorting: (SortBy, bool),
}

/// The outcome of a search for lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineOutcome {
    /// Something matched.
    pub found: bool,
    /// Something could not be read.
    pub failed: bool,
}

/// Prints the lines that match.
///
/// # Errors
/// When the pattern or a glob is wrong, or stdout can't be written.
pub fn print_lines(asked: &LineSearch<'_>, env: &Env, settings: &Settings) -> Result<LineOutcome> {
    let options = asked.wish.with(settings, env, std::io::stdout().is_terminal())?;
    let pattern = asked.scope.pattern.clone().unwrap_or_default();
    let grep = asked.grep(&options, &pattern, (settings, env))?;
    let mut out = Out::new(&grep);
    // With -m 0 nothing matches, as in grep.
    let nothing = asked.lines.max_count == Some(0) && !asked.lines.files_without_match;
    let (files, complete) = match nothing {
        true => (Vec::new(), true),
        false => grep.sorted_files(asked.sorting)?,
    };
    grep.search_in_order(&files, &mut out)?;
    let (found, mut failed) = (out.found, out.failed || !complete);
    out.finish()?;
    let mut is_told = false;
    if let Some(structure) = &grep.structure {
        let coverage = structure.coverage();
        if !found && !failed {
            coverage.check(structure.pattern())?;
        }
        is_told = coverage.tells(!found || asked.lines.files_without_match);
        if is_told && !options.wish.quiet {
            grep.tell(&unsearched(&coverage, !found || asked.lines.files_without_match));
        }
        failed |= !found && coverage.failed > 0;
    }
    if !found && !failed && !nothing && !is_told {
        asked.tell_empty(&options, files.len(), (settings, env))?;
    }
    Ok(LineOutcome { found, failed: failed && !(found && options.wish.silent) })
}

/// Prints the names of the files that [`print_lines`] would search.
///
/// # Errors
/// When a glob is wrong, or stdout can't be written.
pub fn print_files(asked: &LineSearch<'_>, env: &Env, settings: &Settings) -> Result<LineOutcome> {
    let options = asked.wish.with(settings, env, std::io::stdout().is_terminal())?;
    let grep = asked.grep(&options, &Pattern::default(), (settings, env))?;
    let (mut files, complete) = grep.sorted_files(asked.sorting)?;
    files.truncate(asked.lines.files.unwrap_or(usize::MAX));
    if files.is_empty() && complete {
        asked.tell_empty(&options, 0, (settings, env))?;
    }
    if !options.wish.silent {
        let full = |file: &SearchedFile| file.full.as_ref().map_or_else(String::new, |path| absolute_name(path));
        crate::write_names(files.iter().map(|file| (file.shown.clone(), full(file))), &options)?;
    }
    Ok(LineOutcome { found: !files.is_empty(), failed: !complete })
}

impl<'a> LineSearch<'a> {
    /// Says why nothing was found in `files` files, where that is about how it was asked for.
    fn tell_empty(&self, options: &OutputOptions, files: usize, (settings, env): (&Settings, &Env)) -> Result<()> {
        let wish = &options.wish;
        let is_told = !(wish.quiet || wish.silent || wish.format.is_json() || self.lines.no_messages);
        if let Some(why) = empty::of_lines(self.scope, files, Naming::Flags).filter(|_| is_told) {
            remark!("colgrep: {}", empty::of_changes(why, self.scope, settings, env)?);
        }
        Ok(())
    }

    fn grep(
        &self,
        options: &'a OutputOptions,
        pattern: &Pattern,
        (settings, env): (&'a Settings, &'a Env),
    ) -> Result<LineGrep<'a>> {
        let (scope, of_lines) = (self.scope, self.lines);
        Ok(LineGrep {
            scope,
            walk: walk_options(self.open, settings),
            settings,
            env,
            matcher: matcher(pattern)?,
            structure: scope.structure.as_deref().map(StructureMatcher::new).transpose()?,
            options,
            of_lines,
            root: None,
        })
    }
}

/// A path that a server searches for lines.
#[derive(Clone, Copy)]
pub struct ServedPath<'a> {
    /// The path, from which its lines are named.
    pub path: &'a Path,
    /// The root around it, absolute: nothing outside is opened.
    pub root: &'a Path,
    /// Whether a file is served, by its absolute path.
    pub serves: &'a dyn Fn(&Path) -> bool,
    /// Whether nobody wants the lines any more.
    pub stops: &'a dyn Fn() -> bool,
}

/// How much a search for lines gives, at most.
#[derive(Clone, Copy, Debug)]
pub struct LineBounds {
    /// Lines; one file may have more.
    pub lines: usize,
    /// Files with a line.
    pub files: usize,
}

/// Lines for an agent.
#[derive(Debug, Default)]
pub struct FoundLines {
    /// The lines, each with its end.
    pub lines: Vec<String>,
    /// What could not be read.
    pub unreadable: Vec<PathBuf>,
    /// How many files there were to search.
    pub searched: usize,
    /// How many of them have a line.
    pub files: usize,
}

/// The matching lines below a path, with `around` lines of context, in order, without escape sequences and cut to a
/// readable length; with `text_only` without binary files that are not named. No more files are searched when there are
/// enough.
///
/// # Errors
/// On a bad pattern or glob.
pub fn lines(
    scope: &Scope,
    (around, text_only): (usize, bool),
    open: &OpenOptions,
    (settings, env): (&Settings, &Env),
    served: &ServedPath<'_>,
    bounds: LineBounds,
) -> Result<FoundLines> {
    let options = OutputOptions {
        wish: OutputRequest { around: Some(around), quiet: true, ..OutputRequest::default() },
        look: Look { width: Some(line::COLUMNS_MAX), ..Look::default() },
    };
    let grep = LineGrep {
        scope,
        walk: walk_options(open, settings),
        settings,
        env,
        matcher: matcher(scope.pattern.as_ref().unwrap_or(&Pattern::default()))?,
        structure: None,
        options: &options,
        of_lines: &LineOptions { no_messages: true, text_only, ..LineOptions::default() },
        root: Some(WalkedFolder::open(served.root)?),
    };
    let (files, unreadable) = grep.files_below(served.path)?;
    let full = |path: &PathBuf| std::path::absolute(path).ok();
    let is_served = |file: &SearchedFile| file.full.as_ref().and_then(full).is_some_and(|full| (served.serves)(&full));
    let files: Vec<SearchedFile> = files.into_iter().filter(is_served).map(of_its_root).collect();
    let found = FoundLines { unreadable, searched: files.len(), ..FoundLines::default() };
    let mut collected = CollectedLines { matcher: &grep.matcher, found, bounds, stops: served.stops };
    grep.search_in_order(&files, &mut collected)?;
    Ok(collected.found)
}

/// Collects lines for an agent.
struct CollectedLines<'a> {
    matcher: &'a LineMatcher,
    found: FoundLines,
    bounds: LineBounds,
    stops: &'a dyn Fn() -> bool,
}

impl OrderedSink for CollectedLines<'_> {
    fn take(&mut self, file: &SearchedFile, part: FileOutput) -> Result<bool> {
        let lies = file.full.as_ref().filter(|full| full.is_absolute()).unwrap_or(&file.shown);
        let FoundLines { lines, unreadable, files, .. } = &mut self.found;
        unreadable.extend(part.failed.then(|| lies.clone()));
        let text = String::from_utf8_lossy(&part.text);
        let name = file.shown.to_string_lossy();
        lines.extend(text.lines().map(|l| format!("{}\n", around_match(l, &name, self.matcher))));
        *files += usize::from(!part.text.is_empty() && !part.continued);
        Ok(lines.len() < self.bounds.lines && (part.goes_on || *files < self.bounds.files))
    }

    fn flush(&mut self) -> Result<()> {
        Ok(go_on_unless(self.stops)?)
    }
}

/// A row as plain text, cut to the length of a line for agents, around the match if it is beyond that.
fn around_match(row: &str, name: &str, matcher: &LineMatcher) -> String {
    let is_mark = |c: char| c == ':' || c == '-';
    let numbered = row.strip_prefix(name).and_then(|rest| rest.strip_prefix(is_mark));
    let content = numbered.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let Some(content) = content.and_then(|rest| rest.strip_prefix(is_mark)) else { return line::shortened(row) };
    let front = &row[..row.len() - content.len()];
    let columns = line::COLUMNS_MAX.saturating_sub(front.chars().count() + 1);
    if content.len() < columns {
        return line::shortened(row);
    }
    match line::shown_from(content, columns, first_place(matcher, content.as_bytes()).as_slice()) {
        0 => line::shortened(row),
        from => line::shortened(&format!("{front}…{}", &content[from..])),
    }
}

/// A file of several roots, named by its own.
fn of_its_root(file: SearchedFile) -> SearchedFile {
    let name = file.full.as_deref().and_then(name::in_root).map(PathBuf::from);
    SearchedFile { shown: name.unwrap_or(file.shown), ..file }
}

impl LineGrep<'_> {
    /// The files below the paths of the scope, sorted, and whether everything could be read.
    fn sorted_files(&self, sorting: (SortBy, bool)) -> Result<(Vec<SearchedFile>, bool)> {
        let here = [PathBuf::from(".")];
        let paths = if self.scope.paths.is_empty() { &here[..] } else { &self.scope.paths };
        let (mut all, mut complete) = (Vec::new(), true);
        for path in paths {
            let (mut files, unreadable) = self.files_below(path)?;
            if sorting.0 == SortBy::Path {
                // By components: a folder's files precede `folder.c`.
                files.sort_by(|a, b| a.shown.cmp(&b.shown));
            }
            all.extend(files);
            complete &= unreadable.is_empty();
        }
        sort_by(&mut all, sorting, |file| file.full.as_deref());
        Ok((all, complete))
    }

    /// The files below `path` that the rules allow, in order, and what the walk could not read, which is reported
    /// without failing.
    fn files_below(&self, path: &Path) -> Result<(Vec<SearchedFile>, Vec<PathBuf>)> {
        if name::is_stdin(path) {
            let stdin = SearchedFile { full: None, around: None, shown: name::STDIN.into(), is_named: true };
            return Ok((vec![stdin], Vec::new()));
        }
        // A server reads nothing that may never end.
        if self.root.is_none() && name::is_stream(path) {
            let stream =
                SearchedFile { full: Some(path.to_path_buf()), around: None, shown: path.into(), is_named: true };
            return Ok((vec![stream], Vec::new()));
        }
        let tree = match files_below(path, self.scope, self.settings, &self.walk, self.needed(), self.env)? {
            Ok(tree) => tree,
            Err(error) => {
                self.tell(&advice::told(&error.into()));
                return Ok((Vec::new(), vec![path.to_path_buf()]));
            }
        };
        if !self.of_lines.no_messages {
            tell_unheeded(&tree.unheeded);
        }
        let mut unreadable = Vec::new();
        for (what, reason) in &tree.unreadable {
            let shown = name::below(path, what);
            self.tell(&format!("{}: {reason}", shown.display()));
            unreadable.push(shown);
        }
        let is_folder = tree.files.iter().any(|inside| !inside.as_os_str().is_empty());
        let around = match &self.root {
            Some(root) => Some(Arc::clone(root)),
            None if is_folder => match WalkedFolder::open(path) {
                Ok(around) => Some(around),
                Err(error) => {
                    self.tell(&format!("{}: {error}", path.display()));
                    return Ok((Vec::new(), vec![path.to_path_buf()]));
                }
            },
            // Who names a file may name a link.
            None => None,
        };
        let target = |inside: PathBuf| {
            let (around, is_named) = (around.clone(), inside.as_os_str().is_empty());
            let (full, shown) = match is_named {
                true => (path.to_path_buf(), path.to_path_buf()),
                false => (path.join(&inside), name::below(path, &inside)),
            };
            SearchedFile { full: Some(full), around, shown, is_named }
        };
        Ok((tree.files.into_iter().map(target).collect(), unreadable))
    }

    /// The text that a file needs to produce output.
    fn needed(&self) -> &Needed {
        match self.of_lines.invert || self.of_lines.files_without_match {
            true => &Needed::Nothing,
            false => self.matcher.needed(),
        }
    }

    /// Says what could not be read, unless nobody wants to know.
    fn tell(&self, what: &str) {
        if !self.of_lines.no_messages {
            remark!("colgrep: {what}");
        }
    }

    /// The pattern of lines, if one is given.
    fn lines(&self) -> Option<&LineMatcher> {
        self.scope.pattern.as_ref().map(|_| &self.matcher)
    }

    fn searcher(&self) -> Searcher {
        let (before, behind) = self.around();
        let mut searcher = match (&self.structure, self.lines()) {
            // Code may go over many lines.
            (Some(_), None) => searcher_of(LineTerminator::default(), true),
            _ => searcher(&self.matcher),
        };
        searcher
            // A structure's text is decoded already.
            .bom_sniffing(self.structure.is_none())
            .invert_match(self.of_lines.invert)
            .max_matches(self.of_lines.max_count)
            .before_context(before)
            .after_context(behind)
            .build()
    }

    /// Lines of context before and after a match; none where rows are for programs. A number of lines, which a setting
    /// may give, counts where matches are whole lines.
    fn around(&self) -> (usize, usize) {
        let wish = &self.options.wish;
        if wish.format != Format::Text {
            return (0, 0);
        }
        let both = wish.around.or(wish.lines.filter(|_| !self.of_lines.only_matching)).unwrap_or(0);
        (wish.before.unwrap_or(both), wish.behind.unwrap_or(both))
    }
}

/// Standard output, up to the budget.
struct Out<'a> {
    grep: &'a LineGrep<'a>,
    out: std::io::BufWriter<std::io::StdoutLock<'static>>,
    budget: TokenBudget,
    found: bool,
    failed: bool,
    /// Files in which something matched.
    files: usize,
    /// Whether these include the current file.
    is_counted: bool,
    rows: usize,
    blocks: usize,
    cut: bool,
}

impl<'a> Out<'a> {
    fn new(grep: &'a LineGrep<'a>) -> Out<'a> {
        let mut budget = TokenBudget::new(grep.options.wish.max_tokens);
        if grep.options.wish.format == Format::Json {
            budget.take(3);
        }
        let out = std::io::BufWriter::with_capacity(OUT_BYTES, std::io::stdout().lock());
        Out {
            grep,
            out,
            budget,
            found: false,
            failed: false,
            is_counted: false,
            files: 0,
            rows: 0,
            blocks: 0,
            cut: false,
        }
    }

    fn finish(mut self) -> Result<()> {
        let wish = &self.grep.options.wish;
        if wish.format == Format::Json && !wish.silent {
            writeln!(self.out, "{}", if self.rows == 0 { "[]" } else { "]" })?;
        }
        self.out.flush()?;
        if self.cut && !wish.quiet {
            remark!("colgrep: more matches than fit into --max-tokens {}", wish.max_tokens.unwrap_or_default());
        }
        Ok(())
    }
}

impl OrderedSink for Out<'_> {
    fn take(&mut self, file: &SearchedFile, part: FileOutput) -> Result<bool> {
        let wish = &self.grep.options.wish;
        self.found |= part.any;
        self.failed |= part.failed;
        self.is_counted &= part.continued;
        if part.any && !self.is_counted {
            self.is_counted = true;
            self.files += 1;
        }
        // Rows for programs have no place for it.
        if part.binary && wish.format.is_json() && !wish.silent {
            self.grep.tell(&format!("{}: binary file matches", file.shown.display()));
        }
        if wish.silent {
            return Ok(!self.found);
        }
        for row in part.rows {
            let row = json_text(&row)?;
            if !self.budget.take(row.len() + 1) {
                self.cut = true;
                return Ok(false);
            }
            match (wish.format == Format::JsonLines, self.rows) {
                (true, _) => writeln!(self.out, "{row}")?,
                (false, 0) => write!(self.out, "[{row}")?,
                (false, _) => write!(self.out, ",{row}")?,
            }
            self.rows += 1;
        }
        // The last part of a file ends the search, not its first.
        let more = part.goes_on || self.grep.of_lines.files.is_none_or(|wanted| self.files < wanted);
        if part.text.is_empty() {
            return Ok(more);
        }
        // Between two files' lines: an empty line under headings, grep's mark where there is context.
        let (before, behind) = self.grep.around();
        let between: &[u8] = match (self.blocks, part.heading, before.max(behind) > 0 && part.shows_lines) {
            _ if part.continued => b"",
            (0, ..) => b"",
            (_, true, _) => b"\n",
            (_, false, true) => b"--\n",
            _ => b"",
        };
        self.blocks += 1;
        let block = [between, &part.text].concat();
        let fits = self.budget.take_lines(&block);
        self.out.write_all(fits)?;
        self.cut = fits.len() < block.len();
        Ok(!self.cut && more)
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()?;
        Ok(())
    }
}
