//! A search over shards elsewhere: `colgrep --shards FILE QUERY`.

use colgrep_render::remark;
use std::cell::Cell;
use std::io::{self, IsTerminal as _, StdoutLock, Write};
use std::path::Path;

use anyhow::{Result, bail};
use colgrep_cluster::{Cluster, ClusterBackend, ClusterScope, LINES_MAX, LineFound};
use colgrep_engine::answer::show::ContextLines;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::settings_at;
use colgrep_engine::{Env, PreparedSearch, Question, Results};

use super::limit_threads;
use crate::args::{Plan, Task};
use crate::{FAILED, FOUND, NOTHING};
use colgrep_render::console::Console;
use colgrep_render::escape::{escape_control, escape_line, in_json};
use colgrep_render::remarks::RemarkKind;
use colgrep_render::shards::told;
use colgrep_render::words::shell_word;
use colgrep_render::{OutputRequest, end};

/// Bytes of an answer that are buffered before output begins.
const HELD_BYTES: usize = 1 << 20;

/// Standard output, buffered until its end or [`HELD_BYTES`]: until then the search can be repeated.
struct HeldOutput<'h> {
    out: StdoutLock<'h>,
    bytes: Vec<u8>,
    has_begun: &'h Cell<bool>,
}

impl Write for HeldOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend(bytes);
        if self.bytes.len() >= HELD_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.has_begun.set(self.has_begun.get() || !self.bytes.is_empty());
        self.out.write_all(&std::mem::take(&mut self.bytes))?;
        self.out.flush()
    }
}

/// Searches the shards that a file names.
///
/// # Errors
/// When the request needs files of this machine, or no shard answers.
pub fn run(plan: &Plan, file: &Path, env: &Env) -> Result<u8> {
    check(plan)?;
    limit_threads(plan.threads);
    if matches!(plan.task, Task::Grep) || plan.request.question == Question::Every {
        return lines_of(plan, file, env);
    }
    let settings = settings_at(Path::new("."), env)?;
    let mut options = plan.output.with(&settings, env, io::stdout().is_terminal())?;
    // No file of this machine could be opened by one.
    options.look.links = colgrep_render::Links::default();
    let cluster = Cluster::open(file, Cluster::tokens(env.shard_token())?, 1)?;
    let request = &plan.request;
    let model = Model::of_search(&plan.open.with(&settings).choice, request.ranking.by, env)?;
    let run = PreparedSearch::new(request, &settings, env)?;
    let console = Console::of_search(plan.output.quiet, false, env);
    plan.hold_remarks(&console, &settings);
    let scope = ClusterScope { allowed: None, scope: &request.scope };
    let shards = ClusterBackend { cluster: &cluster, scope, lines: lines(&options.wish) };
    let has_begun = Cell::new(false);
    let search = || {
        let (ranked, gathered) = run.rank(&shards, model.as_ref(), run.files(), &*console)?;
        let standing = gathered.coverage().clone();
        let results = Results::of_shards((request, run.files()), &gathered, ranked);
        if !options.wish.silent {
            let mut out = HeldOutput { out: io::stdout().lock(), bytes: Vec::new(), has_begun: &has_begun };
            let shards = shell_word(&file.to_string_lossy());
            let scope = (!env.trace).then(|| format!(" --shards {shards}{}", end::typed(&request.scope)));
            colgrep_render::print(&mut out, &results, &options, scope.as_deref(), &console)?;
            out.flush()?;
        }
        Ok((standing, results.is_empty()))
    };
    let is_away = |error: &anyhow::Error| error.downcast_ref().is_some_and(colgrep_engine::Error::is_away);
    let (standing, is_empty) = colgrep_cluster::shown(search, is_away, || !has_begun.get())?;
    let notes = standing.unfinished().into_iter().chain(standing.repeated());
    notes.for_each(|note| console.hold(RemarkKind::Partial, note));
    if standing.told().is_none() {
        console.finish(options.wish.quiet);
    }
    Ok(match standing.told() {
        Some(told) => {
            remark!("colgrep: {told}");
            FAILED
        }
        None if is_empty => NOTHING,
        None => FOUND,
    })
}

/// Prints the lines that a pattern matches, or one of each unit that is listed, as `path:line:text`, or the names of their files.
///
/// # Errors
/// When the pattern is invalid, or no shard answers.
fn lines_of(plan: &Plan, file: &Path, env: &Env) -> Result<u8> {
    let cluster = Cluster::open(file, Cluster::tokens(env.shard_token())?, 1)?;
    let scope = ClusterScope { allowed: None, scope: &plan.request.scope };
    let (found, coverage) = cluster.lines(&scope, LINES_MAX)?;
    let mut out = io::stdout().lock();
    let (mut files, mut last) = (0, None);
    for LineFound { path, line, text } in found.lines.iter().filter(|_| !plan.output.silent) {
        let is_new = last.replace(path) != Some(path);
        files += usize::from(is_new);
        if plan.lines.files.is_some_and(|files_max| files > files_max) {
            break;
        }
        let path = escape_control(path);
        match plan.output.names_only {
            true if is_new => writeln!(out, "{path}")?,
            true => {}
            false => writeln!(out, "{path}:{line}:{}", escape_line(text))?,
        }
    }
    out.flush()?;
    if found.is_cut && !plan.output.quiet {
        remark!("colgrep: only the first {LINES_MAX} lines; narrow it by a path, -t or -g");
    }
    Ok(match coverage.told() {
        Some(told) => {
            remark!("colgrep: {told}");
            FAILED
        }
        None if found.lines.is_empty() => NOTHING,
        None => FOUND,
    })
}

/// Tells the state of the shards that a file names, and of each replica.
///
/// # Errors
/// When the file can't be read, or names no shards.
pub fn status(file: &Path, is_json: bool, env: &Env) -> Result<u8> {
    let seen = Cluster::open(file, Cluster::tokens(env.shard_token())?, 1)?.health(None)?;
    let text = if is_json { in_json(serde_json::to_string_pretty(&seen)?) + "\n" } else { told(&seen) };
    write!(io::stdout(), "{text}")?;
    Ok(if seen.coverage.is_whole() { FOUND } else { FAILED })
}

/// Refuses what shards can't answer.
fn check(plan: &Plan) -> Result<()> {
    match &plan.request.question {
        Question::Text(_) => {}
        Question::Every => check_lines(plan)?,
        _ => bail!("--shards needs a query, a pattern (-e), or --calls, --called-by or --kind"),
    }
    match plan.task {
        Task::Rank => {}
        Task::Grep => check_lines(plan)?,
        Task::Levels(_) => {
            bail!("--depth follows calls in indexes of this machine; leave out one of --shards and --depth")
        }
        Task::Without | Task::Files | Task::Many(_) | Task::TypeList | Task::JsonSchema => {
            bail!("--shards answers one query; -L, --files and --queries-from are about files of this machine")
        }
    }
    if plan.request.scope.changes.is_some() {
        bail!(
            "--shards: what git says is changed is known on the shards' machines alone; leave out --changed and --since"
        );
    }
    if plan.request.shape.every_match {
        bail!("--shards ranks and counts no matches; leave out --count");
    }
    Ok(())
}

/// Refuses forms of matching lines that need the files.
fn check_lines(plan: &Plan) -> Result<()> {
    let (lines, output) = (&plan.lines, &plan.output);
    let is_other = lines.invert || lines.only_matching || lines.files_without_match || lines.max_count.is_some();
    let has_context = [output.before, output.behind, output.around].iter().any(Option::is_some);
    if is_other || has_context || output.count || output.format.is_json() {
        bail!(
            "--shards: -e, --calls, --called-by and --kind print lines of indexed files, or their names with -l, and nothing \
             around them"
        );
    }
    Ok(())
}

/// The lines that the output may show of a file.
fn lines(wish: &OutputRequest) -> ContextLines {
    let shown = [wish.lines, wish.before, wish.behind, wish.around].into_iter().flatten().max();
    ContextLines {
        around: ContextLines::around(shown),
        are_whole: wish.content || wish.format.is_json() || wish.pack.is_some(),
    }
}
