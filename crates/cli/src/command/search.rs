//! A search: which projects, which filters, the ranking, and what is printed.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::Knobs;
use colgrep_index::ErrorKind;
use colgrep_index::read::Skip;
use colgrep_index::search::{Answer, Request, Watch, search};
use colgrep_index::store::Snapshot;

use super::{grep, in_words, limit_threads, open_updated, walk_options_asked};
use crate::args::{FusionArg, SearchArgs};
use crate::env::{Env, profile};
use crate::output::explain::Explanation;
use crate::output::trace::Trace;
use crate::output::{human, json};
use crate::project::Project;
use crate::{FOUND, NOTHING};

mod filter;

pub(super) use filter::{Filter, PathRules};

pub(super) fn run(args: &SearchArgs, env: &Env) -> Result<u8> {
    if args.json_schema {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&json::schema())?)?;
        return Ok(FOUND);
    }
    limit_threads(&args.walk);
    if let Some(paths) = grep_paths(args)? {
        return grep::run(args, env, &paths);
    }
    let Some((query, paths)) = args.words.split_first() else {
        bail!("no query; say what to look for, as in: colgrep \"parse request\" (or see colgrep --help)");
    };
    if query.trim().is_empty() {
        bail!("the query is empty; say what to look for, as in: colgrep \"parse request\"");
    }
    if args.results == 0 {
        bail!("-k 0 asks for nothing; the smallest number of files is 1");
    }
    let paths: Vec<PathBuf> =
        if paths.is_empty() { vec![PathBuf::from(".")] } else { paths.iter().map(PathBuf::from).collect() };
    let knobs = env.knobs(args.profile.as_deref().map(profile).transpose()?)?;
    let rules = PathRules::new(args)?;
    let mut found = Vec::new();
    for (project, below) in group_by_project(&paths, env)? {
        let first = search_project(args, env, query, project.clone(), &below, &knobs, &rules);
        found.push(match first {
            Err(error) if is_damage(&error) && !args.no_update => {
                remark!("colgrep: {error:#}; building the index anew");
                let lock = project.store.lock(true)?;
                project.store.remove(&lock)?;
                drop(lock);
                search_project(args, env, query, project, &below, &knobs, &rules)?
            }
            result => result?,
        });
    }
    let hits = interleave(&found, args.results);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if args.json {
        json::print(&mut out, &found, &hits)?;
    } else {
        let color = human::wants_color(args.color, env.color, std::io::stdout().is_terminal());
        human::print(&mut out, &found, &hits, args, query, color)?;
    }
    out.flush()?;
    Ok(if hits.is_empty() { NOTHING } else { FOUND })
}

/// The paths of a plain grep: `-e` with no query, where every word given is a path.
///
/// # Errors
/// When a lone word behind `-e` is written as a path and there is none.
fn grep_paths(args: &SearchArgs) -> Result<Option<Vec<PathBuf>>> {
    if args.regexp.is_empty() {
        return Ok(None);
    }
    if let [word] = args.words.as_slice()
        && !word.contains(char::is_whitespace)
        && word.contains('/')
        && !Path::new(word).exists()
    {
        bail!("{word}: no such file or folder");
    }
    let all_paths = args.words.iter().all(|w| Path::new(w).exists());
    Ok(all_paths.then(|| args.words.iter().map(PathBuf::from).collect()))
}

/// Whether the index shows itself damaged.
fn is_damage(error: &anyhow::Error) -> bool {
    error.downcast_ref::<colgrep_index::Error>().is_some_and(|e| e.kind() == ErrorKind::Unusable)
}

/// What one project answered.
pub struct Found {
    /// The project.
    pub project: Project,
    /// Its index.
    pub snapshot: Snapshot,
    /// The ranking.
    pub answer: Answer,
    /// How scores came about, where asked for.
    pub explanation: Option<Explanation>,
}

/// Projects with the relative paths (files or folders; empty for all) that the search is limited to, in order of mention.
fn group_by_project(paths: &[PathBuf], env: &Env) -> Result<Vec<(Project, Vec<String>)>> {
    let mut groups: Vec<(Project, Vec<String>)> = Vec::new();
    for path in paths {
        let (project, below) = Project::around(path, env)?;
        match groups.iter_mut().find(|(p, _)| p.root == project.root) {
            Some((_, all)) => all.push(below),
            None => groups.push((project, vec![below])),
        }
    }
    Ok(groups)
}

fn search_project(
    args: &SearchArgs,
    env: &Env,
    query: &str,
    project: Project,
    below: &[String],
    knobs: &Knobs,
    rules: &PathRules,
) -> Result<Found> {
    let snapshot = open(args, env, &project)?;
    let filter = Filter::new(args, rules, below, &project, &snapshot)?;
    let mut explanation = args.explain.then(Explanation::default);
    let mut trace = env.trace.then(|| Trace::new(query));
    let request = Request {
        query,
        knobs,
        fusion: match args.fusion {
            FusionArg::Minmax => Fusion::MinMax,
            FusionArg::Rrf => Fusion::ReciprocalRank,
        },
        files: args.results,
        units_per_file: args.per_file.max(1),
        filter: filter.as_ref().map(|f| f as _),
        semantic: None,
    };
    let watch: Option<&mut dyn Watch> = match (&mut explanation, &mut trace) {
        (Some(explanation), None) => Some(explanation),
        (None, Some(trace)) => Some(trace),
        (Some(_), Some(_)) => bail!("--explain and COLGREP_TRACE say the same; use one of them"),
        (None, None) => None,
    };
    let answer = search(&snapshot, &request, watch)?;
    if let Some(trace) = &mut trace {
        trace.last(&answer);
    }
    Ok(Found { project, snapshot, answer, explanation })
}

/// Opens a project's index, brought up to date if that is wanted and possible.
fn open(args: &SearchArgs, env: &Env, project: &Project) -> Result<Snapshot> {
    if args.no_update {
        return project.store.open().with_context(|| {
            format!(
                "{} has no index that this colgrep can read; leave out --no-update, or run `colgrep init`",
                project.root.display()
            )
        });
    }
    project.check_size(env, args.walk.yes)?;
    let mut options = walk_options_asked(&args.walk);
    let remarks = !args.walk.quiet;
    if let (Some(asked), Ok(snapshot)) = (options, project.store.open())
        && snapshot.files.walk_options() != asked
    {
        // What is indexed is `init`'s to change: a search must not throw away what another one needs.
        if remarks {
            remark!(
                "colgrep: the index was made with other --hidden, --no-ignore or --max-filesize; `colgrep init` with these flags changes it"
            );
        }
        options = None;
    }
    match open_updated(project, options.as_ref(), false, args.walk.quiet) {
        Ok((snapshot, report)) => {
            let large = snapshot.files.files.iter().filter(|f| f.skip == Some(Skip::TooLarge)).count();
            if remarks && report.wrote && large > 0 {
                let limit = in_words(snapshot.files.filesize_max);
                remark!("colgrep: {large} files larger than {limit} are not indexed; `colgrep status` names them");
            }
            Ok(snapshot)
        }
        Err(error) => match project.store.open() {
            // What is there is better than nothing: another process writes, or the disk is full or read-only.
            Ok(snapshot) => {
                if remarks {
                    let (why, known) = (reason(&error), snapshot.files.files.len());
                    remark!("colgrep: {why}; this answer is from the index as it is ({known} files)");
                }
                Ok(snapshot)
            }
            // The first commit of the other process is still to come.
            Err(_) if error.kind() == ErrorKind::Busy => {
                Ok(open_updated(project, options.as_ref(), true, args.walk.quiet)?.0)
            }
            Err(_) => Err(error.into()),
        },
    }
}

fn reason(error: &colgrep_index::Error) -> String {
    match error.kind() {
        ErrorKind::Busy => "another colgrep is indexing".to_string(),
        _ => error.to_string(),
    }
}

/// The hits of all projects, each as (position in `found`, position in its hits): by rank, since scores of
/// different projects can't be compared.
fn interleave(found: &[Found], files: usize) -> Vec<(usize, usize)> {
    let longest = found.iter().map(|f| f.answer.hits.len()).max().unwrap_or(0);
    let by_rank = (0..longest).flat_map(|rank| (0..found.len()).map(move |f| (f, rank)));
    by_rank.filter(|&(f, rank)| rank < found[f].answer.hits.len()).take(files).collect()
}
