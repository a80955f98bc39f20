//! A session: projects opened once and searched any number of times.

pub mod corpus;
pub mod project_searcher;
pub mod related;
pub(crate) mod relocate;
pub mod symbols;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use colgrep_index::ids::StableId;
use colgrep_index::store::{FileRecord, Snapshot};
use colgrep_index::update::ReadFirst;
use colgrep_index::worktree::sibling_roots;

use crate::answer::list::Length;
use crate::answer::results::{PORTION, Results};
use crate::answer::{Answer, FileAnswer};
use crate::error::{Error, Refused, Result};
use crate::history::cochange::{Histories, Past};
use crate::notice::{Listener, NotUpdated, Notice};
use crate::project::Project;
use crate::project::damage::{Suspicion, damage, guarded, repair_after};
use crate::project::dedup_roots::searched_once;
use crate::project::model::Model;
use crate::project::open::{OpenOptions, Opening, name_runtime, open};
use crate::relations::unknown::UnknownCalls;
use crate::request::filter::not_ranked;
use crate::request::like::{Like, like, like_with};
use crate::request::near::{NearFile, check_file};
use crate::request::structure::StructureCoverage;
use crate::request::{Detail, Facts, Question, RankBy, Scope, SearchRequest, Standpoint, check_length};
use crate::run::{PreparedSearch, rankings};
use crate::session::corpus::RankedTogether;
use crate::session::project_searcher::{ProjectSearcher, Within};
use crate::settings::Settings;
use crate::settings::env::Env;

/// Opens projects and answers questions about them. An index stays the same snapshot, unless it has to be repaired.
pub struct Session {
    env: Env,
    listener: Arc<dyn Listener>,
    opening: Opening,
    settings: Settings,
    model: Option<Model>,
    /// Projects by the paths they were found from.
    found: Vec<(PathBuf, Project, String)>,
    opened: Vec<(Project, Arc<Snapshot>)>,
    places: Vec<ProjectSearcher>,
    histories: Histories,
    /// The scope for which `places` were made.
    scope: Scope,
    /// The words of the question, whose files an update in a hurry reads first.
    words: Vec<String>,
    /// What the open indexes lack, until an answer is given.
    partial: Vec<Notice>,
    /// Whether the last answer is "nothing" or "all", and an index lacked changes then.
    may_lack: bool,
    /// Whether `places` are all of `scope`; false after an error, or while a unit to compare with is looked up.
    is_scoped: bool,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("opening", &self.opening).field("places", &self.places).finish_non_exhaustive()
    }
}

impl Session {
    /// A session with the settings in force at `start`. Nothing is opened yet.
    ///
    /// # Errors
    /// When a settings file can't be read or is not to be understood.
    pub fn new(env: Env, start: &Path, options: &OpenOptions, listener: Arc<dyn Listener>) -> Result<Session> {
        let settings = Settings::read(&env, start)?;
        // A path that does not exist is reported when it is searched.
        let found = Project::around(start, &env).ok();
        let settings = match &found {
            Some((project, _)) => settings.of_index(project.mode()),
            None => settings,
        };
        let opening = options.in_environment(&settings, Some(&env));
        let found = found.map(|(project, below)| (start.to_path_buf(), project, below)).into_iter().collect();
        let (opened, places) = (Vec::new(), Vec::new());
        Ok(Session {
            env,
            listener,
            opening,
            settings,
            model: None,
            found,
            opened,
            places,
            histories: Histories::default(),
            scope: Scope::default(),
            words: Vec::new(),
            partial: Vec::new(),
            may_lack: false,
            is_scoped: false,
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The open projects with an unfinished index, if the caller lets a background process go on with them.
    pub fn unfinished(&self) -> impl Iterator<Item = &Project> {
        let lacks = |snapshot: &Snapshot| {
            !snapshot.files.complete || self.model.as_ref().is_some_and(|model| model.lacks(snapshot))
        };
        let opened = self.opened.iter().filter(move |(_, snapshot)| lacks(snapshot));
        opened.map(|(project, _)| project).filter(|_| self.opening.behind && self.opening.update)
    }

    /// Whether a path of the scope can't be read, so that no answer comes from it.
    pub fn has_unreadable(&self) -> bool {
        self.places.iter().flat_map(ProjectSearcher::not_ranked).any(|of| of.why.is_unreadable())
    }

    /// Whether the last answer is "nothing" or "all", of an index that could not be brought up to date.
    pub fn may_lack(&self) -> bool {
        self.may_lack
    }

    /// Opens the model and the projects that a request needs. [`Session::search`] and [`Session::rank`] do this
    /// themselves.
    ///
    /// # Errors
    /// When a path is not to be searched, or an index can't be read or built.
    pub fn open(&mut self, request: &SearchRequest) -> Result<()> {
        self.prepare(request)?;
        self.open_scope(&request.scope)?;
        self.tell_partial();
        Ok(())
    }

    /// Answers a request.
    ///
    /// # Errors
    /// When a path is not to be searched, the request can't be answered, or an index can't be read or built.
    pub fn search(&mut self, request: &SearchRequest) -> Result<Answer> {
        let results = self.rank(request)?;
        let files = results.files(0..results.len())?;
        Ok(Answer { query: results.query.clone(), files })
    }

    /// Ranks files. Their text is read later, when [`Results`] is asked for it.
    pub fn rank(&mut self, request: &SearchRequest) -> Result<Results<'_>> {
        self.prepare(request)?;
        let (mut query, mut ranked, mut first, mut wanted) = self.ranked_once(request)?;
        if ranked.is_empty() && self.forget_partial() {
            (query, ranked, first, wanted) = self.ranked_once(request)?;
        }
        let is_of_all = ranked.is_empty() || request.needs_all();
        let is_old =
            self.partial.iter().any(|notice| matches!(notice, Notice::AsItIs { why: NotUpdated::Failed { .. }, .. }));
        let is_part = self.opened.iter().any(|(_, snapshot)| !snapshot.files.complete);
        self.may_lack = is_of_all && (is_old || is_part);
        self.tell_partial();
        self.tell_unsearched(ranked.is_empty());
        let (places, repairs, detail) = (&self.places, self.opening.update, request.shape.detail);
        let (is_list, has_end, first) = (request.question == Question::Every, request.has_end(), Mutex::new(first));
        let is_narrowed = matches!(request.question, Question::Text(_)) && request.scope.has_pattern();
        let only_matches = is_narrowed && ranked.is_empty() && places.iter().any(allows_some);
        let has_files = !ranked.is_empty() || places.iter().any(ProjectSearcher::has_files);
        let unknown_calls = match ranked.is_empty() {
            true => self.unknown_calls(&request.scope.facts)?,
            false => UnknownCalls::default(),
        };
        let uncalled = match ranked.uncalled() {
            Some(name) => Some((name.to_string(), self.unknown_calls(&Facts::calling(name))?)),
            None => None,
        };
        let parts = places;
        Ok(Results {
            query,
            is_list,
            has_end,
            only_matches,
            has_files,
            unknown_calls,
            uncalled,
            wanted,
            parts,
            ranked,
            detail,
            repairs,
            first,
        })
    }

    /// Opens the scope and ranks: the text that was ranked by, the ranking, its first files, and the number of files that
    /// it has at most.
    fn ranked_once(&mut self, request: &SearchRequest) -> Result<(String, RankedTogether, Vec<FileAnswer>, usize)> {
        let like = match &request.question {
            Question::Text(query) => {
                check_length(query.as_bytes())?;
                self.open_scope(&request.scope)?;
                None
            }
            Question::Every => {
                self.open_scope(&request.scope)?;
                None
            }
            Question::Like { file, line } => Some(self.like(file, *line, &request.scope)?),
            Question::LikeUnit(id) => Some(self.like_with(*id, &request.scope)?),
        };
        let run = self.run_of(request, like.as_ref())?;
        let (ranked, first) = self.ranked_and_read(request, &run)?;
        // Whole, though a long one is searched in part.
        let query = match &request.question {
            Question::Text(query) => query.as_str(),
            _ => run.query(),
        };
        Ok((query.to_string(), ranked, first, run.files()))
    }

    /// Makes ready for a request, before anything is opened for it.
    fn prepare(&mut self, request: &SearchRequest) -> Result<()> {
        self.need_model(request, rankings(request))?;
        self.words = request.words();
        self.opening.for_all = request.needs_all();
        if self.opening.for_all {
            self.forget_partial();
        }
        Ok(())
    }

    /// Forgets open indexes that lack files, so that they are opened again with all of them: "nothing" and "all" are true
    /// only of a whole tree. Returns whether there were any.
    fn forget_partial(&mut self) -> bool {
        let count = self.opened.len();
        if self.opening.update {
            self.opened.retain(|(_, snapshot)| snapshot.files.complete);
        }
        let is_any = self.opened.len() < count;
        if is_any {
            (self.opening.for_all, self.is_scoped) = (true, false);
            self.partial.clear();
        }
        is_any
    }

    /// Reports what the open indexes lack.
    fn tell_partial(&mut self) {
        let partial = std::mem::take(&mut self.partial);
        partial.iter().filter(|_| self.listener.hears()).for_each(|notice| self.listener.notice(notice));
    }

    /// Ranks files and reads the first of them, so that damage of the shown records is noticed before any output, and so
    /// is that their files changed. Names are not read from units, so none is read for them.
    fn ranked_and_read(
        &mut self,
        request: &SearchRequest,
        run: &PreparedSearch<'_>,
    ) -> Result<(RankedTogether, Vec<FileAnswer>)> {
        let detail = request.shape.detail;
        let count = if detail == Detail::Names { 0 } else { PORTION };
        let read = |ranked: &mut RankedTogether, places: &Vec<ProjectSearcher>| {
            if detail == Detail::Names {
                ranked.retain(|place, _, path| places[place].is_there(path));
            }
            let mut files: Vec<FileAnswer> = Vec::new();
            while files.len() < count.min(ranked.len()) {
                files.extend(ranked.read(places, files.len()..count.min(ranked.len()), detail)?);
            }
            Ok::<_, Box<(usize, Error)>>(files)
        };
        let mut ranked = self.ranked(request, run, run.files())?;
        let (place, error) = match read(&mut ranked, &self.places) {
            Ok(files) => return Ok((ranked, files)),
            Err(failed) => *failed,
        };
        if !self.is_to_be_repaired(&error) {
            return Err(error);
        }
        self.reopen(place, &error, Suspicion::Certain)?;
        let mut ranked = self.ranked(request, run, run.files())?;
        let files = read(&mut ranked, &self.places).map_err(|failed| failed.1)?;
        Ok((ranked, files))
    }

    /// The files of the scope without a word of the query in any unit, by project and path, at most
    /// `request.shape.files`.
    pub fn files_without(&mut self, request: &SearchRequest) -> Result<Vec<FileAnswer>> {
        self.need_model(request, RankBy::Words)?;
        self.opening.for_all = true;
        self.forget_partial();
        self.open_scope(&request.scope)?;
        self.tell_partial();
        self.tell_unsearched(true);
        let all: usize = self.places.iter().map(|p| p.snapshot.files.indexed().count()).sum();
        let words = request.clone().by(RankBy::Words);
        let run = self.run_of(&words, None)?;
        let ranked = self.ranked(&words, &run, all.max(1))?.ranked;
        let mut files = Vec::new();
        for (place, ranked) in self.places.iter().zip(&ranked) {
            files.extend(place.files_without(ranked)?);
        }
        files.truncate(request.shape.files.unwrap_or(usize::MAX));
        Ok(files)
    }

    /// Completes a request with the session's settings.
    fn run_of<'r>(&mut self, request: &'r SearchRequest, like: Option<&'r Like>) -> Result<PreparedSearch<'r>> {
        let run = PreparedSearch::new(request, &self.settings, &self.env)?.like(like);
        if request.question == Question::Every {
            return Ok(run);
        }
        let near = request.background.near.as_ref().map(|near| self.near(near, &request.scope)).transpose()?;
        Ok(run.near(near).past(&self.places, self.past()))
    }

    /// Ranks the files of all places together, or lists their units.
    fn ranked(&mut self, request: &SearchRequest, run: &PreparedSearch<'_>, files: usize) -> Result<RankedTogether> {
        if request.question == Question::Every {
            let units_per_file = request.shape.units_per_file.unwrap_or(usize::MAX);
            let length = Length { results: files, units_per_file, single_units: request.shape.single_units };
            return self.repaired_together(|places, _| corpus::list(places, length, request.shape.call_lines));
        }
        let listener = Arc::clone(&self.listener);
        self.repaired_together(|places, model| Ok(run.rank(places, model, files, &*listener)?.0))
    }

    /// Opens the model, if the request's rankings need one.
    fn need_model(&mut self, request: &SearchRequest, by: RankBy) -> Result<()> {
        if self.model.is_none() {
            let file = match &request.question {
                Question::Like { file, .. } => Some(file),
                Question::Text(_) | Question::Every | Question::LikeUnit(_) => None,
            };
            let env = self.env.working_on(request.scope.paths.iter().chain(file));
            self.model = Model::of_search(&self.opening.choice, by, &env)?;
            name_runtime(&*self.listener);
        }
        Ok(())
    }

    /// Makes the places of a scope, unless they are made already.
    fn open_scope(&mut self, scope: &Scope) -> Result<()> {
        if self.is_scoped && self.scope == *scope {
            return Ok(());
        }
        let here = [PathBuf::from(".")];
        let mut groups: Vec<(Project, Within)> = Vec::new();
        for path in if scope.paths.is_empty() { &here[..] } else { &scope.paths } {
            let (project, below) = self.project(path)?;
            let known = groups.iter().position(|(p, _)| p.root == project.root);
            let known = known.unwrap_or_else(|| {
                groups.push((project, Within::default()));
                groups.len() - 1
            });
            groups[known].1.below.push(below);
            groups[known].1.given.push(path.clone());
        }
        (self.scope, self.is_scoped) = (scope.clone(), false);
        let places = groups.into_iter().map(|(project, within)| self.place(project, within));
        self.places = searched_once(places.collect::<Result<_>>()?)?;
        self.is_scoped = true;
        self.structure_coverage().check(scope.structure.as_deref().unwrap_or_default())
    }

    /// Reports files in which the structural pattern was not matched; `is_all`: nothing was found in others.
    fn tell_unsearched(&self, is_all: bool) {
        let coverage = self.structure_coverage();
        if coverage.tells(is_all) {
            self.listener.notice(&Notice::Unsearched { coverage, is_all });
        }
    }

    /// Which files the structural pattern was not matched in.
    fn structure_coverage(&self) -> StructureCoverage {
        let mut all = StructureCoverage::default();
        self.places.iter().filter_map(ProjectSearcher::structure_coverage).for_each(|of_place| all.add(of_place));
        all
    }

    /// The project around a path, looked for once.
    fn project(&mut self, path: &Path) -> Result<(Project, String)> {
        if let Some((_, project, below)) = self.found.iter().find(|(known, ..)| known == path) {
            return Ok((project.clone(), below.clone()));
        }
        let (project, below) = Project::around(path, &self.env)?;
        self.found.push((path.to_path_buf(), project.clone(), below.clone()));
        Ok((project, below))
    }

    /// A project, opened unless it is open already, with the scope's filter. What the filter reads of the index may be
    /// damaged too.
    fn place(&mut self, project: Project, within: Within) -> Result<ProjectSearcher> {
        let (project, snapshot) = self.opened(project, &within.below)?;
        let place = match self.filtered(&project, Arc::clone(&snapshot), &within) {
            Err(error) if self.is_to_be_repaired(&error) => {
                repair_after(&error, &project.store, Some(&snapshot), Suspicion::Certain)?;
                let (project, snapshot) = self.opened_anew(project, &within.below)?;
                self.filtered(&project, snapshot, &within)
            }
            done => done,
        }?;
        if self.listener.hears() {
            place.not_ranked().for_each(|of| self.listener.notice(&Notice::NotRanked(of)));
            place.unreadable().iter().for_each(|told| self.listener.notice(told));
        }
        Ok(place)
    }

    /// An open project with the scope's filter.
    fn filtered(&self, project: &Project, snapshot: Arc<Snapshot>, within: &Within) -> Result<ProjectSearcher> {
        let no_ignore = self.opening.walk.no_ignore;
        guarded(|| {
            let (scope, settings, stops) = (&self.scope, &self.settings, || self.listener.stops());
            ProjectSearcher::new(project.clone(), snapshot, within.clone(), scope, no_ignore, settings, &stops)
        })
    }

    /// A project with its index, opened unless it is open already.
    fn opened(&mut self, mut project: Project, paths: &[String]) -> Result<(Project, Arc<Snapshot>)> {
        if let Some(known) = self.opened.iter().find(|(known, _)| known.root == project.root) {
            return Ok(known.clone());
        }
        project.settings_beside(&self.settings, &self.env)?;
        let first = ReadFirst { paths: paths.to_vec(), words: self.words.clone() };
        let (model, listener) = (self.model.as_ref(), &*self.listener);
        let (snapshot, partial) = open(&self.opening, (&self.env, &project), model, &first, listener)?;
        self.partial.extend(partial);
        let snapshot = Arc::new(snapshot);
        self.opened.push((project.clone(), Arc::clone(&snapshot)));
        Ok((project, snapshot))
    }

    /// The same after a repair.
    fn opened_anew(&mut self, project: Project, paths: &[String]) -> Result<(Project, Arc<Snapshot>)> {
        self.opened.retain(|(known, _)| known.root != project.root);
        self.opened(project, paths)
    }

    /// The question for units like the one on a line; leaves the places of the scope open.
    fn like(&mut self, file: &Path, line: u32, scope: &Scope) -> Result<Like> {
        check_file(file)?;
        let (project, path) = self.project(file)?;
        (self.scope, self.is_scoped) = (scope.clone(), false);
        self.places = vec![self.place(project, Within::everything())?];
        let question = self.repaired(0, |home, model| like(&home.project, &home.snapshot, &path, line, model))?;
        if !scope.paths.is_empty() {
            self.open_scope(scope)?;
        }
        Ok(question)
    }

    /// The question for units like the one with an id, of the project around the scope's first path; leaves the places
    /// of the scope open.
    fn like_with(&mut self, id: StableId, scope: &Scope) -> Result<Like> {
        let (project, _) = self.project(scope.paths.first().map_or(Path::new("."), PathBuf::as_path))?;
        (self.scope, self.is_scoped) = (scope.clone(), false);
        self.places = vec![self.place(project, Within::everything())?];
        let question = self.repaired(0, |home, model| like_with(&home.project, &home.snapshot, id, model))?;
        if !scope.paths.is_empty() {
            self.open_scope(scope)?;
        }
        Ok(question)
    }

    /// The reader's file, in one of the places.
    fn near(&mut self, at: &Standpoint, scope: &Scope) -> Result<NearFile> {
        check_file(&at.file)?;
        let (project, path) = self.project(&at.file)?;
        let place_at = |root: &Path| self.places.iter().find(|place| place.project.root == root);
        // In another worktree it is the same file.
        let beside = || sibling_roots(&project.root).iter().find_map(|root| place_at(root));
        let Some(place) = place_at(&project.root).or_else(beside) else {
            return Err(Refused::OtherProject { path: at.file.clone() }.into());
        };
        let near = NearFile::new(at, &project.root, &place.project, path, scope, &self.past())?;
        if self.listener.hears() {
            let own = std::slice::from_ref(&near.near.path);
            let unknown = not_ranked(own, &place.project, &place.snapshot);
            unknown.for_each(|of| self.listener.notice(&Notice::NearUnknown(of)));
        }
        Ok(near)
    }

    /// Access to the projects' histories.
    fn past(&self) -> Past<'_> {
        let Session { histories, settings, env, listener, .. } = self;
        Past { histories, settings, env, listener: &**listener }
    }

    /// Runs `work` over all places. If an index turns out to be damaged, repairs those that are and runs `work` once more.
    fn repaired_together<T>(&mut self, work: impl Fn(&Vec<ProjectSearcher>, Option<&Model>) -> Result<T>) -> Result<T> {
        let error = match guarded(|| work(&self.places, self.model.as_ref())) {
            Err(error) if self.is_to_be_repaired(&error) => error,
            done => return done,
        };
        let suspicions = Suspicion::of_each(self.places.iter().map(|place| Some(&*place.snapshot)));
        for (at, suspicion) in suspicions.into_iter().enumerate() {
            self.reopen(at, &error, suspicion)?;
        }
        guarded(|| work(&self.places, self.model.as_ref()))
    }

    /// Whether an error is damage of an index that can be repaired; if so, it is reported.
    fn is_to_be_repaired(&self, error: &Error) -> bool {
        let how = damage(error).filter(|_| self.opening.update);
        if let Some(how) = &how {
            self.listener.notice(&Notice::Damaged(how.clone()));
        }
        how.is_some()
    }

    /// Repairs what is damaged of a place's index, and opens it again; arguments as of [`repair_after`].
    fn reopen(&mut self, at: usize, error: &Error, suspicion: Suspicion) -> Result<()> {
        let ProjectSearcher { project, snapshot, within, .. } = &self.places[at];
        repair_after(error, &project.store, Some(snapshot), suspicion)?;
        let (project, within) = (project.clone(), within.clone());
        let (project, _) = self.opened_anew(project, &within.below)?;
        self.places[at] = self.place(project, within)?;
        Ok(())
    }

    /// Runs `work` in a place. If its index turns out to be damaged, repairs it and runs `work` once more.
    fn repaired<T>(&mut self, at: usize, work: impl Fn(&ProjectSearcher, Option<&Model>) -> Result<T>) -> Result<T> {
        let error = match guarded(|| work(&self.places[at], self.model.as_ref())) {
            Err(error) if self.is_to_be_repaired(&error) => error,
            done => return done,
        };
        self.reopen(at, &error, Suspicion::Certain)?;
        guarded(|| work(&self.places[at], self.model.as_ref()))
    }
}

/// Whether the filter of a place allows a file.
fn allows_some(place: &ProjectSearcher) -> bool {
    let allows = |file: &FileRecord| place.filter().is_none_or(|filter| filter.allows_file(file.id));
    place.snapshot.files.indexed().any(allows)
}
