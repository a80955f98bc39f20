//! One ranking over all roots, shown result by result.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_cluster::{ClusterBackend, ClusterScope};
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::list::Length;
use colgrep_engine::answer::pack;
use colgrep_engine::answer::show::ContextLines;
use colgrep_engine::notice::IndexState;
use colgrep_engine::project::damage::{Suspicion, damage, guarded, repair_after};
use colgrep_engine::project::dedup_roots::searched_once;
use colgrep_engine::project::model::Model;
use colgrep_engine::request::like::Like;
use colgrep_engine::request::near::NearFile;
use colgrep_engine::session::corpus::list;
use colgrep_engine::session::project_searcher::{ProjectSearcher, Within};
use colgrep_engine::settings::Settings;
use colgrep_engine::{Detail, Facts, PreparedSearch, Question, SearchRequest};
use colgrep_index::store::Snapshot;
use colgrep_index::update::ReadFirst;

use super::ends::{RankingReport, remark};
use super::field::{SearchBackend, shown};
use super::page::paged;
use super::shards::{NO_LIST, Shards};
use super::state::{Root, ServerState};
use super::unserved::{Unserved, check_rest};
use colgrep_render::advice::Hinted;
use colgrep_render::console::Console;
use colgrep_render::empty::{Naming, of_callers, of_query, of_units};
use colgrep_render::end::has_filters;
use colgrep_render::escape::escape_control;
use colgrep_render::notice::{self, ANOTHER, coverage, lacking, not_ranked};
use colgrep_render::pack::pieces;
use colgrep_render::words::counted;

/// Files retrieved for the first page; doubled for each later one. A search for more files looks at more units, in a
/// small project at all of them.
const WINDOW_FILES: usize = 10;
const READ_FILES: usize = 16;

/// What a result is shown as.
pub type Show<'a> = &'a (dyn Fn(&FileAnswer) -> String + Sync);

/// The part of a ranking that is shown, and how.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    /// Number of files.
    pub wanted: usize,
    /// How a result is shown.
    pub show: Show<'a>,
    /// Tokens of a pack.
    pub pack: Option<usize>,
    /// The lines of a file that are shown in addition to those of its units.
    pub lines: ContextLines,
    /// How a list is shown that has a block for each unit; without it, one for each file.
    pub apart: Option<UnitBlocks>,
}

/// Units of a list, each a block of its own, so that a page can end and begin between two of a file.
#[derive(Clone, Copy, Debug)]
pub struct UnitBlocks {
    /// The first unit that is shown; the number of files counts from it on.
    pub offset: usize,
    /// Units that a page can hold at most.
    pub room: usize,
}

/// Blocks, best first, with remarks (a line each) where an index is incomplete or leaves out a path asked for.
pub struct RankedBlocks {
    /// The results as they are shown.
    pub blocks: Vec<String>,
    pub remarks: String,
    /// Whether further results may follow.
    pub more: bool,
    /// The results as rows, and the end of the ranking.
    pub told: RankingReport,
    /// Why there is none, where that is about how it was asked for.
    pub why: Option<String>,
}

/// A root with the files and folders to look in, from the root of its project.
pub type RootPaths<'a> = (&'a Arc<Root>, Vec<String>);

struct Served<'a> {
    root: &'a Root,
    place: ProjectSearcher,
    settings: Settings,
    model: Option<&'a Model>,
}

pub struct RootsRanking<'a> {
    pub state: &'a ServerState,
    /// The roots, with the places to look in.
    pub roots: &'a [RootPaths<'a>],
    pub request: &'a SearchRequest,
    /// What is shown of the answer.
    pub window: Window<'a>,
    /// The unit of a search for similar units.
    pub like: Option<&'a Like>,
}

impl RootsRanking<'_> {
    /// Ranks; if an index turns out to be damaged, repairs it and ranks once more.
    pub fn ranked(&self) -> Result<RankedBlocks> {
        repaired(self.roots, || self.once())
    }

    /// The roots that can be served as places, and the others.
    fn places(&self) -> Result<(Vec<Served<'_>>, Vec<Unserved>)> {
        let (mut served, mut unserved, words) = (Vec::new(), Vec::new(), self.request.words());
        let scope = &self.state.with_names(&self.request.scope);
        for (root, below) in self.roots {
            let (snapshot, settings, model) =
                match self.state.opened(root, &ReadFirst { paths: below.clone(), words: words.clone() }) {
                    Ok(opened) => opened,
                    Err(error) if self.roots.len() == 1 || damage(error.as_ref()).is_some() => return Err(error),
                    Err(error) => {
                        unserved.push(Unserved::new(&root.folder, &error));
                        continue;
                    }
                };
            let within = Within::paths(below.clone());
            let stops = || self.state.end.has_come();
            let place = ProjectSearcher::new(root.project.clone(), snapshot, within, scope, false, &settings, &stops)?;
            served.push(Served { root, place, settings, model });
        }
        check_rest(served.is_empty(), &unserved)?;
        Ok((served, unserved))
    }

    /// Ranks.
    pub fn once(&self) -> Result<RankedBlocks> {
        match self.state.shards() {
            Some(shards) => self.over_shards(shards),
            None => self.over_roots(),
        }
    }

    fn over_roots(&self) -> Result<RankedBlocks> {
        let state = self.state;
        let (served, unserved) = self.places()?;
        let model = served.iter().find_map(|one| one.model);
        let remarks: String = served.iter().map(|one| remarks_on(one.root, &one.place, model)).collect();
        // Missing vectors take no unit away.
        let lacks_units = served.iter().any(|one| !remarks_on(one.root, &one.place, None).is_empty());
        // Of several roots, the settings of the first say how they are ranked.
        let settings = served.first().context("no root to look in")?.settings.clone();
        let places: Vec<ProjectSearcher> = served.into_iter().map(|one| one.place).collect();
        let run = PreparedSearch::new(self.request, &settings, &state.env)?.like(self.like).near(self.near()?);
        let run = run.past(&places, state.past(&settings));
        let field = SearchBackend::Here(searched_once(places)?);
        // On a thread of rayon's pool, as in a search: each part that is split elsewhere wakes two threads.
        let mut ranked = rayon::scope(|_| self.ranked_by(&run, model, &field))?;
        ranked.told.unserved = unserved;
        if ranked.blocks.is_empty() {
            let has_files = field.has_files();
            // What is left out by name is told already, and units may be missing from an index that lacks files.
            let is_told = lacks_units && (has_files || !has_filters(&self.request.scope));
            ranked.why = self.why_nothing(&field, has_files)?.filter(|_| !is_told);
        }
        if let Some(name) = &ranked.told.uncalled {
            let unknown = field.unknown_calls(&Facts::calling(name))?;
            ranked.remarks += &remark(of_callers(&self.request.scope, name, &unknown, Naming::Parameters));
        }
        ranked.remarks.insert_str(0, &remarks);
        Ok(ranked)
    }

    fn over_shards(&self, shards: &Shards) -> Result<RankedBlocks> {
        let state = self.state;
        let settings = shards.settings(&state.env)?;
        let run = PreparedSearch::new(self.request, &settings, &state.env)?;
        let model = shards.model(&state.options, &state.env, &settings)?;
        let scope = ClusterScope { allowed: state.allowed(), scope: &self.request.scope };
        let field = SearchBackend::Shards(ClusterBackend { cluster: &shards.cluster, scope, lines: self.window.lines });
        let ranked = shown(|| self.ranked_by(&run, model, &field))?;
        let why = if ranked.blocks.is_empty() { self.why_nothing(&field, true)? } else { None };
        Ok(RankedBlocks { why, ..ranked })
    }

    /// Why nothing was found; `has_files`: whether the filters leave any file.
    fn why_nothing(&self, field: &SearchBackend<'_>, has_files: bool) -> Result<Option<String>> {
        let mut scope = self.request.scope.clone();
        let parts = self.roots.iter().flat_map(|(root, below)| below.iter().filter(|path| **path != root.below));
        scope.paths.extend(parts.map(PathBuf::from));
        let unknown = field.unknown_calls(&scope.facts)?;
        let why = of_units(&scope, &self.request.question, has_files, &unknown, Naming::Parameters);
        match (why, &self.request.question, field) {
            (None, Question::Text(_), SearchBackend::Here(places)) => {
                let one = Length { results: 1, units_per_file: 1, single_units: false };
                let is_open = scope.facts.allow_all() && !scope.has_pattern();
                let is_any = is_open || !list(places, one, false)?.is_empty();
                Ok(of_query(&scope, is_any, &unknown, Naming::Parameters))
            }
            (why, ..) => Ok(why),
        }
    }

    /// Ranks, and shows what the window wants.
    fn ranked_by(
        &self,
        run: &PreparedSearch<'_>,
        model: Option<&Model>,
        field: &SearchBackend<'_>,
    ) -> Result<RankedBlocks> {
        let (mut told, mut remarks) = (RankingReport::default(), String::new());
        let (blocks, more) = match (&self.request.question, self.window.pack) {
            (Question::Every, _) => self.listed(field, &mut told)?,
            (_, Some(tokens)) => self.packed(run, model, tokens, field, (&mut told, &mut remarks))?,
            _ => self.in_windows(run, model, field, &mut told)?,
        };
        Ok(RankedBlocks { blocks, remarks, more, told, why: None })
    }

    /// The file that the agent works on.
    fn near(&self) -> Result<Option<NearFile>> {
        let Some(at) = &self.request.background.near else { return Ok(None) };
        let (root, _, path) = self.state.locate(&at.file.to_string_lossy())?;
        let settings = self.state.settings(root)?;
        let (project, scope, past) = (&root.project, &self.request.scope, self.state.past(&settings));
        Ok(Some(NearFile::new(at, &project.root, project, path, scope, &past)?))
    }

    /// The blocks of the files that are wanted, and whether there may be more. Asking for more files retrieves more
    /// candidates and may change the order. So pages run through the ranking of a window of files, then through that of
    /// the next window without the files already shown: no file is repeated or lost.
    fn in_windows(
        &self,
        run: &PreparedSearch<'_>,
        model: Option<&Model>,
        field: &SearchBackend<'_>,
        told: &mut RankingReport,
    ) -> Result<(Vec<String>, bool)> {
        let console = Console::new(true, &self.state.env);
        let listener = self.state.until_end(&*console);
        let (mut all, mut seen, mut files) = (Vec::new(), HashSet::new(), WINDOW_FILES);
        loop {
            let (mut ranked, shower) = run.rank(field, model, files, &listener)?;
            told.heard(shower.standing());
            let are_all = ranked.len() < files;
            ranked.retain(|place, repository, path| seen.insert((place, repository.to_string(), path.to_string())));
            // A file that is gone since makes room for the next one.
            let mut start = 0;
            while start < ranked.len() && all.len() < self.window.wanted {
                let end = start + READ_FILES.min(self.window.wanted - all.len());
                let read = ranked.read(&shower, start..ranked.len().min(end), Detail::Lines);
                let read = read.map_err(|failed| failed.1)?;
                start += read.len();
                all.extend(read.iter().map(self.window.show));
                told.add(&read);
            }
            let more = start < ranked.len() || !are_all;
            if are_all || all.len() == self.window.wanted {
                if self.request.has_end() {
                    told.end(&shower, &ranked)?;
                }
                return Ok((all, more));
            }
            files = files.saturating_mul(2);
        }
    }

    /// A pack, a block for each file. Files are in the order of pages, window by window, and none is left out before the
    /// last, so those that it does not name begin the next page.
    fn packed(
        &self,
        run: &PreparedSearch<'_>,
        model: Option<&Model>,
        tokens: usize,
        field: &SearchBackend<'_>,
        (told, remarks): (&mut RankingReport, &mut String),
    ) -> Result<(Vec<String>, bool)> {
        let console = Console::new(true, &self.state.env);
        let listener = self.state.until_end(&*console);
        let (mut before, mut asked) = (HashMap::<(usize, String, String), usize>::new(), WINDOW_FILES);
        let (mut ranked, shower) = loop {
            let (mut ranked, shower) = run.rank(field, model, asked, &listener)?;
            told.heard(shower.standing());
            ranked.begin_with(|place, repository, path| {
                before.get(&(place, repository.to_string(), path.to_string())).copied()
            });
            if ranked.len() < asked || ranked.len() >= self.window.wanted {
                break (ranked, shower);
            }
            let files =
                ranked.files_in_order().map(|(at, repository, path)| (at, repository.to_string(), path.to_string()));
            before = files.zip(0..).collect();
            asked = asked.saturating_mul(2);
        };
        let (wanted, mut files) = (self.window.wanted, Vec::new());
        while files.len() < ranked.len().min(wanted) {
            // No further one is given a piece.
            let (end, detail) = match files.len() < pack::FILES_MAX {
                true => (pack::FILES_MAX, Detail::Parts),
                false => (files.len() + READ_FILES, Detail::Lines),
            };
            let range = files.len()..end.min(ranked.len()).min(wanted);
            files.extend(ranked.read(&shower, range, detail).map_err(|failed| failed.1)?);
        }
        let found = ranked.len();
        ranked.truncate(files.len());
        told.add(&files);
        if self.request.has_end() {
            told.end(&shower, &ranked)?;
        }
        let pieces = pieces(&files, tokens, true);
        let named = (0..found).find(|at| pieces.iter().all(|piece| piece.file != *at)).unwrap_or(found);
        told.packed = Some(named);
        let of = |file: usize| pieces.iter().filter(move |piece| piece.file == file).map(|piece| piece.text.as_str());
        let mut blocks: Vec<String> = (0..named).map(|file| of(file).collect()).collect();
        let units = pieces.iter().filter(|piece| piece.file == 0).count() as u64;
        let more_here = files.first().map_or(0, |file| (file.also_here + 1).saturating_sub(units));
        if more_here > 0 && named > 0 {
            remarks.push_str(&format!("(also in the first file: {})\n", counted(more_here, "unit")));
        }
        if named == 0 && found > 0 {
            let of = counted(found as u64, "result");
            blocks.push(format!("(not even the first of {of} fits; a larger pack shows it)\n"));
        }
        Ok((blocks, named > 0 && (named < found || found == asked)))
    }

    /// The blocks of the first files with units that the scope's facts name, one root after the other, and whether there
    /// are more. Units that were asked for by what they call show the line of the call.
    fn listed(&self, field: &SearchBackend<'_>, told: &mut RankingReport) -> Result<(Vec<String>, bool)> {
        let SearchBackend::Here(places) = field else { bail!("{}", NO_LIST) };
        let Window { wanted, show, apart, .. } = self.window;
        let units_per_file = self.request.shape.units_per_file.unwrap_or(usize::MAX);
        if let Some(apart) = apart {
            return self.listed_apart(places, units_per_file, apart, told);
        }
        let length = Length { results: wanted.saturating_add(1), units_per_file, single_units: false };
        let mut listed = list(places, length, true)?;
        let more = listed.len() > wanted;
        listed.truncate(wanted);
        let all = 0..listed.len();
        let files = listed.read(places, all, Detail::Lines).map_err(|failed| failed.1)?;
        told.list(&files);
        Ok((files.iter().map(show).collect(), more))
    }

    /// The same with a block for each unit.
    fn listed_apart(
        &self,
        places: &Vec<ProjectSearcher>,
        units_per_file: usize,
        UnitBlocks { offset, room }: UnitBlocks,
        told: &mut RankingReport,
    ) -> Result<(Vec<String>, bool)> {
        let end = offset.saturating_add(room);
        let length = Length { results: end.saturating_add(1), units_per_file, single_units: true };
        let listed = list(places, length, true)?;
        let (mut blocks, mut files, mut at) = (Vec::new(), 0, 0);
        while at < listed.len() && files < self.window.wanted && blocks.len() < end {
            let range = at..listed.len().min(at + READ_FILES);
            for mut file in listed.files(places, range, Detail::Lines).map_err(|failed| failed.1)? {
                if files == self.window.wanted || blocks.len() >= end {
                    break;
                }
                for unit in std::mem::take(&mut file.units) {
                    file.units = vec![unit];
                    blocks.push((self.window.show)(&file));
                    told.list(std::slice::from_ref(&file));
                }
                files += usize::from(blocks.len() > offset);
                at += 1;
            }
        }
        let is_cut = at < listed.len() || blocks.len() > end;
        Ok((blocks, is_cut))
    }
}

/// Remarks on a root's index, a line each: that it is being built, lacks vectors, or leaves out a path asked for or what
/// can't be read.
pub(super) fn remarks_on(root: &Root, place: &ProjectSearcher, model: Option<&Model>) -> String {
    let snapshot = &place.snapshot;
    let building = (!snapshot.files.complete).then(|| {
        format!("(the index is being built: {})\n", coverage(&IndexState::of(&root.project, snapshot, model)))
    });
    let lacking = || Some(format!("({})\n", lacking_in(root, snapshot, model)?));
    let mut remarks = building.or_else(lacking).unwrap_or_default();
    for Hinted { what, tool, .. } in place.not_ranked().map(|of| not_ranked(&of)) {
        remarks.push_str(&format!("({}; {tool})\n", escape_control(&what)));
    }
    if let Some(told) = place.unreadable() {
        remarks.push_str(&format!("({})\n", escape_control(&notice::text(&told))));
    }
    remarks
}

/// Runs `work`. If an index of the roots turns out to be damaged, repairs those that are and runs `work` once more.
pub fn repaired<T>(roots: &[RootPaths<'_>], work: impl Fn() -> Result<T>) -> Result<T> {
    match guarded(&work) {
        Err(error) if damage(error.as_ref()).is_some() => {
            let opened: Vec<_> = roots.iter().map(|(root, _)| root.opened()).collect();
            let suspicions = Suspicion::of_each(opened.iter().map(Option::as_deref));
            for (((root, _), snapshot), suspicion) in roots.iter().zip(&opened).zip(suspicions) {
                root.forget();
                repair_after(error.as_ref(), &root.project.store, snapshot.as_deref(), suspicion)?;
            }
            guarded(work)
        }
        done => done,
    }
}

/// How many units of a root's index lack vectors, and who makes them.
pub fn lacking_in(root: &Root, snapshot: &Snapshot, model: Option<&Model>) -> Option<String> {
    let lack = model?.lacking(snapshot)?;
    let maker = || root.is_encoding().then_some("this server").or(root.project.store.is_locked().then_some(ANOTHER));
    Some(lacking(&lack, maker()))
}

/// A page of a list with a block for each unit, and their number on it.
pub fn page_of_units(list: RankedBlocks, offset: usize, max_tokens: Option<usize>) -> (String, usize) {
    paged(&list.blocks, offset, max_tokens, "unit", list.more)
}

/// A page of the results, and their number on it.
pub fn page_of(list: RankedBlocks, offset: usize, wanted: usize, max_tokens: Option<usize>) -> (String, usize) {
    let RankedBlocks { mut blocks, more, .. } = list;
    let end = offset.saturating_add(wanted);
    let cut = blocks.len() > end;
    blocks.truncate(end);
    paged(&blocks, offset, max_tokens, "result", more || cut)
}
