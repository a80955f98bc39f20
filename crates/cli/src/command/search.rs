//! A search: which projects, which filters, the ranking, and what is printed.

use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use colgrep_core::collapse::FileHit;
use colgrep_core::knob::{Knob, Knobs};
use colgrep_encoder::Multivector;
use colgrep_engine::env::Env;
use colgrep_engine::explain::Explanation;
use colgrep_engine::model::Model;
use colgrep_engine::project::Project;
use colgrep_engine::project::settings_at;
use colgrep_engine::settings::Settings;
use colgrep_index::ErrorKind;
use colgrep_index::lexical::UnitFilter;
use colgrep_index::search::{Answer, Request, Semantic, search};
use colgrep_index::store::Snapshot;
use colgrep_index::update::repair;

use super::{grep, limit_threads, name_runtime};
use crate::args::SearchArgs;
use crate::output::trace::{Trace, Watchers};
use crate::output::{self, json, path};
use crate::{FOUND, NOTHING};

/// Length of a query at most, in bytes: far more than anybody types.
const QUERY_BYTES_MAX: usize = 64 << 10;

mod filter;
pub(crate) mod like;
mod many;
mod open;
mod plan;
mod rules;

pub(crate) use filter::{Filter, Without, not_ranked};
pub(crate) use open::{building, coverage, is_being_built, maker, open};
pub(crate) use rules::{PathRules, type_list};

use plan::{Plan, Task};

pub(super) fn run(args: &SearchArgs, env: &Env) -> Result<u8> {
    if args.json_schema {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&json::schema())?)?;
        return Ok(FOUND);
    }
    if args.type_list {
        write!(std::io::stdout(), "{}", type_list(&settings_at(Path::new("."), env)?))?;
        return Ok(FOUND);
    }
    let plan = Plan::read(args)?;
    let mut args = args.clone();
    args.take_globs();
    let first = plan.paths.iter().find(|path| !grep::is_stdin(path) && path.exists());
    let settings = settings_at(first.map_or(Path::new("."), PathBuf::as_path), env)?;
    let (filesize_max, results) = (args.walk.max_filesize, args.results);
    let repository = if args.model.is_none() { settings.repository_model() } else { None };
    args.fill(&settings);
    limit_threads(&args.walk);
    if let Task::Grep = plan.task {
        // These settings are about the index and the ranking; a plain grep gives every line of every file unless a flag
        // says otherwise.
        (args.walk.max_filesize, args.results) = (filesize_max, results);
        return grep::run(&args, env, &settings, &plan.paths);
    }
    let mut knobs = settings.knobs(env, args.profile.as_deref(), args.alpha.as_deref())?;
    if args.count {
        // Every unit counts, not only those that could win.
        knobs.set(Knob::PoolUnits, &Knob::PoolUnits.declaration().range.1.to_string())?;
    }
    let here = [PathBuf::from(".")];
    let paths = if plan.paths.is_empty() { &here[..] } else { &plan.paths };
    let model = Model::of_search(&args.model_choice(repository), args.rank_by(), &env.working_on(paths))?;
    name_runtime(env);
    let run = Run { args: &args, env, settings: &settings, knobs: &knobs, model: model.as_ref(), results };
    match &plan.task {
        Task::Grep => unreachable!("answered above"),
        Task::Query(query) => run.one(query, paths),
        Task::Like(text) => run.like(text, paths, plan.paths.is_empty()),
        Task::Many(file) => run.many(file, paths),
    }
}

/// Refuses a query that nobody means: each of its words is looked up and kept.
///
/// # Errors
/// When it is too long.
pub(crate) fn check_length(query: &[u8]) -> Result<()> {
    if query.len() > QUERY_BYTES_MAX {
        bail!("a query has at most {QUERY_BYTES_MAX} bytes; say in fewer words what to look for");
    }
    Ok(())
}

/// In what way the index shows itself damaged, if this is what the error says.
pub(crate) fn damage(error: &anyhow::Error) -> Option<&str> {
    let error = error.downcast_ref::<colgrep_index::Error>()?;
    Some(error.message()).filter(|_| error.kind() == ErrorKind::Unusable)
}

/// A project, open for searching.
pub struct Place {
    /// The project.
    pub project: Project,
    /// Its index.
    pub snapshot: Snapshot,
    /// Paths that the search is limited to, from the root (empty: all).
    pub below: Vec<String>,
    /// The same paths as they were given; none where none was.
    given: Vec<PathBuf>,
    /// What flags and settings say about paths.
    pub rules: PathRules,
    /// Both, made into files.
    pub filter: Option<Filter>,
}

impl Place {
    /// How a file, by its path from the root, is named in output: below the path that was given, as grep names it.
    pub fn shown(&self, path: &str) -> PathBuf {
        let given = self.below.iter().zip(&self.given).find(|(below, _)| rules::is_below(path, below));
        match given {
            Some((below, given)) => path::below(given, Path::new(path[below.len()..].trim_start_matches('/'))),
            None => path::from_here(&self.project.root, path),
        }
    }
}

/// What one project answered.
pub struct Found<'p> {
    /// Where.
    pub place: &'p Place,
    /// The ranking.
    pub answer: Answer,
    /// How scores came about, where asked for.
    pub explanation: Option<Explanation>,
}

impl Found<'_> {
    /// The path, from the root, of a hit's file.
    pub fn path(&self, h: usize) -> &str {
        &self.answer.files[self.answer.hits[h].file].path
    }

    /// The lines of a hit's file that match the pattern, where there is one.
    pub fn matching_lines(&self, h: usize) -> Option<&[u32]> {
        self.place.filter.as_ref()?.matches_of(self.path(h), &self.place.snapshot)
    }

    /// How many units of a hit's file match.
    pub fn units_in_file(&self, h: usize) -> u64 {
        let file = self.answer.hits[h].file;
        self.answer.units.iter().filter(|u| u.file == file).count() as u64
    }
}

/// What a ranking is asked with.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The question to the index; how meaning counts is left to the model.
    pub request: Request<'a>,
    /// The model, where meaning counts.
    pub model: Option<&'a Model>,
    /// The vectors of a unit that others are to be like.
    pub like: Option<&'a Multivector>,
    /// Whether the number of files wanted is one of units.
    pub units: bool,
    /// Whether scores are explained.
    pub explain: bool,
    /// Whether steps are written to stderr.
    pub trace: bool,
}

impl<'a> Ask<'a> {
    /// The same question, to be answered with what `filter` allows.
    pub fn with(self, filter: Option<&'a dyn UnitFilter>) -> Ask<'a> {
        Ask { request: Request { filter, ..self.request }, ..self }
    }

    /// Asks one index.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn of(&self, snapshot: &Snapshot) -> Result<(Answer, Option<Explanation>)> {
        let semantic = self.model.map(|m| Semantic { question: self.like, ..m.semantic(snapshot) });
        let request = Request { semantic, ..self.request };
        let mut watchers = Watchers {
            explanation: self.explain.then(Explanation::default),
            trace: self.trace.then(|| Trace::new(self.request.query)),
        };
        let watched = self.explain || self.trace;
        let mut answer = search(snapshot, &request, if watched { Some(&mut watchers) } else { None })?;
        if self.units {
            answer.hits = single_units(&answer, self.request.files);
        }
        if let Some(trace) = &mut watchers.trace {
            trace.last(&answer);
        }
        Ok((answer, watchers.explanation))
    }
}

/// The best units, each as a hit of its own.
fn single_units(answer: &Answer, wanted: usize) -> Vec<FileHit> {
    let best = answer.units.iter().take(wanted);
    best.map(|unit| FileHit { file: unit.file, score: unit.score, units: vec![*unit] }).collect()
}

/// One run of the program: everything that its queries share.
struct Run<'a> {
    args: &'a SearchArgs,
    env: &'a Env,
    settings: &'a Settings,
    knobs: &'a Knobs,
    model: Option<&'a Model>,
    /// Files that a flag asks for, no setting.
    results: Option<usize>,
}

impl Run<'_> {
    /// Opens the projects around `paths`, in order of mention.
    fn open(&self, paths: &[PathBuf]) -> Result<Vec<Place>> {
        let groups = group_by_project(paths, self.env)?;
        groups.into_iter().map(|(project, below, given)| self.place(project, below, given)).collect()
    }

    fn place(&self, mut project: Project, below: Vec<String>, given: Vec<PathBuf>) -> Result<Place> {
        project.settings(self.env)?;
        let snapshot = open(&self.args.walk, !self.args.no_update, self.env, &project, self.model)?;
        let rules = PathRules::new(self.args, self.settings, &project)?;
        if !self.args.walk.quiet {
            not_ranked(&below, &project, &snapshot).for_each(|hinted| remark!("colgrep: {hinted}"));
        }
        let filter = Filter::new(self.args, &rules, &below, &project, &snapshot)?;
        Ok(Place { project, snapshot, below, given, rules, filter })
    }

    fn ask<'q>(&'q self, query: &'q str, wanted: usize) -> Ask<'q> {
        Ask {
            request: Request {
                query,
                knobs: self.knobs,
                fusion: self.args.fusion.unwrap_or_default().into(),
                files: wanted,
                units_per_file: self.args.units_per_file(),
                filter: None,
                semantic: None,
            },
            model: self.model,
            like: None,
            units: self.args.units,
            explain: self.args.explain,
            trace: self.env.trace,
        }
    }

    /// Does `work` in a place; where the index shows itself damaged, mends it and does the work again, once.
    fn mended<T>(&self, place: &mut Place, work: impl Fn(&Place) -> Result<T>) -> Result<T> {
        let error = match work(place) {
            Err(error) if !self.args.no_update && damage(&error).is_some() => error,
            done => return done,
        };
        if !self.args.walk.quiet {
            remark!("colgrep: {}; what is damaged is made anew", damage(&error).unwrap_or_default());
        }
        repair(&place.project.store)?;
        *place = self.place(place.project.clone(), place.below.clone(), place.given.clone())?;
        work(place)
    }

    /// Asks every place.
    fn answers(&self, query: &str, places: &mut [Place], wanted: usize) -> Result<Vec<Reply>> {
        let ask = self.ask(query, wanted);
        let one = |place: &Place| ask.with(place.filter.as_ref().map(|f| f as _)).of(&place.snapshot);
        let mut replies = Vec::with_capacity(places.len());
        for place in places {
            replies.push(self.mended(place, one)?);
        }
        Ok(replies)
    }

    fn one(&self, query: &str, paths: &[PathBuf]) -> Result<u8> {
        let mut places = self.open(paths)?;
        if self.args.files_without_match {
            return self.without_match(query, &mut places);
        }
        let replies = self.answers(query, &mut places, self.args.wanted())?;
        self.print(query, &found(&places, replies))
    }

    fn like(&self, text: &str, paths: &[PathBuf], everywhere: bool) -> Result<u8> {
        let (file, line) = like::parse(text)?;
        let (project, path) = like::locate(&file, self.env)?;
        let mut home = self.place(project.clone(), vec![String::new()], Vec::new())?;
        let like = self.mended(&mut home, |home| like::like(&home.project, &home.snapshot, &path, line, self.model))?;
        let mut places = if everywhere { vec![home] } else { self.open(paths)? };
        let ask = Ask { like: like.vectors.as_ref(), ..self.ask(&like.query, self.args.wanted()) };
        let mut replies = Vec::with_capacity(places.len());
        for place in &mut places {
            let is_home = place.project.root == project.root;
            replies.push(self.mended(place, |place| {
                let inner = place.filter.as_ref().map(|f| f as &dyn UnitFilter);
                // A mended index may have numbered its files anew.
                let file = place.snapshot.files.files.iter().find(|f| f.path == path).map_or(like.file, |f| f.id);
                let without = Without { inner, file, line: like.line };
                ask.with(if is_home { Some(&without) } else { inner }).of(&place.snapshot)
            })?);
        }
        self.print(&like.query, &found(&places, replies))
    }

    /// `-L`: the files that pass all filters on paths and hold no match.
    fn without_match(&self, query: &str, places: &mut [Place]) -> Result<u8> {
        let all = places.iter().map(|p| p.snapshot.files.indexed().count()).max().unwrap_or(0);
        let replies = self.answers(query, places, all.max(1))?;
        let mut names: Vec<(&Place, &str)> = Vec::new();
        for (place, (answer, _)) in places.iter().zip(&replies) {
            let hit: std::collections::HashSet<&str> =
                answer.hits.iter().map(|h| answer.files[h.file].path.as_str()).collect();
            for file in filter::allowed_files(&place.rules, &place.below, &place.snapshot)? {
                if !hit.contains(file.path.as_str()) {
                    names.push((place, &file.path));
                }
            }
        }
        names.truncate(self.results.unwrap_or(usize::MAX));
        if !self.args.silent {
            output::print_names(&names, self.args, self.env, std::io::stdout().is_terminal())?;
        }
        Ok(if names.is_empty() { NOTHING } else { FOUND })
    }

    fn print(&self, query: &str, found: &[Found<'_>]) -> Result<u8> {
        let hits = interleave(found, self.args.wanted());
        if !self.args.silent {
            let terminal = std::io::stdout().is_terminal();
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            output::print(&mut out, found, &hits, self.args, self.env, query, terminal)?;
            out.flush()?;
        }
        Ok(if hits.is_empty() { NOTHING } else { FOUND })
    }
}

/// What one index answers.
type Reply = (Answer, Option<Explanation>);

fn found(places: &[Place], replies: Vec<Reply>) -> Vec<Found<'_>> {
    let both = places.iter().zip(replies);
    both.map(|(place, (answer, explanation))| Found { place, answer, explanation }).collect()
}

/// A project with the paths (files or folders) that a search is limited to: from the root (empty for all), and as given.
type Group = (Project, Vec<String>, Vec<PathBuf>);

/// The projects around `paths`, in order of mention.
fn group_by_project(paths: &[PathBuf], env: &Env) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for path in paths {
        let (project, below) = Project::around(path, env).map_err(|error| {
            let is_word = path.components().count() == 1 && !path.to_string_lossy().contains('.');
            if path.exists() || !is_word {
                return error;
            }
            anyhow!("{error:#} (a query of several words stands in quotes: colgrep \"parse request\")")
        })?;
        let known = groups.iter().position(|(p, ..)| p.root == project.root);
        let known = known.unwrap_or_else(|| {
            groups.push((project, Vec::new(), Vec::new()));
            groups.len() - 1
        });
        groups[known].1.push(below);
        groups[known].2.push(path.clone());
    }
    Ok(groups)
}

/// The hits of all projects, each as (position in `found`, position in its hits): by rank, since scores of
/// different projects can't be compared.
fn interleave(found: &[Found<'_>], wanted: usize) -> Vec<(usize, usize)> {
    let longest = found.iter().map(|f| f.answer.hits.len()).max().unwrap_or(0);
    let by_rank = (0..longest).flat_map(|rank| (0..found.len()).map(move |f| (f, rank)));
    by_rank.filter(|&(f, rank)| rank < found[f].answer.hits.len()).take(wanted).collect()
}
