//! Relations of units, asked of a session: calls over several levels, and what a change affects.

use std::path::{Path, PathBuf};

use colgrep_core::{Unit, UnitId};
use colgrep_index::history::TogetherFile;
use colgrep_index::lexical::{CodeName, UnitHit};

use super::Session;
use crate::answer::FileAnswer;
use crate::error::{Refused, Result};
use crate::history::cochange::Past;
use crate::project::Project;
use crate::project::git::versions;
use crate::relations::changed::{ChangeSpec, ChangedCode, LineSpan};
use crate::relations::graph::{CallGraph, GraphUnit};
use crate::relations::impact::{
    Affected, AffectedFile, ImpactAnswer, ImpactRequest, affected, changed_at, changed_tests,
};
use crate::relations::levels::{CallDirection, CallLevels, CallStep};
use crate::relations::unknown::UnknownCalls;
use crate::request::near::{check_file, check_place};
use crate::request::{Facts, RankBy, Scope, SearchRequest, Standpoint, Tests};
use crate::session::project_searcher::ProjectSearcher;

/// Changed files whose history is asked, at most.
const TOGETHER_OF_MAX: usize = 50;

/// Asks for calls over several levels.
#[derive(Clone, Debug)]
pub struct CallLevelsRequest {
    pub start: CallStart,
    /// Which way calls are followed.
    pub direction: CallDirection,
    /// Number of levels.
    pub depth: usize,
    /// Which units are shown. Calls are followed outside of it too; its facts are ignored but for the kinds and the case
    /// of names.
    pub scope: Scope,
}

/// The units from which calls are followed.
#[derive(Clone, Debug)]
pub enum CallStart {
    /// Those of these names, plain or qualified.
    Names(Vec<String>),
    /// The one on a line of a file.
    Unit {
        file: PathBuf,
        /// The line, from 1.
        line: u32,
    },
}

/// The same within projects.
enum FoundStart {
    Names(Vec<CodeName>),
    Unit { root: PathBuf, path: String, line: u32 },
}

/// Units that are reached by calls.
#[derive(Clone, Debug, Default)]
pub struct CallLevelsAnswer {
    /// The units, those of each project by level, tests after others, then resolved calls first.
    pub rows: Vec<CallRow>,
    /// Names that many units define and that were not followed by name alone, with the number of definitions.
    pub common: Vec<(String, usize)>,
    /// Whether there are more units.
    pub is_cut: bool,
}

/// A unit that is reached by calls.
#[derive(Clone, Debug)]
pub struct CallRow {
    /// Its file, without text and units.
    pub file: FileAnswer,
    pub unit: Unit,
    pub name_line: u32,
    /// Its level, from 1.
    pub level: usize,
    /// Whether every call on the way is resolved.
    pub is_certain: bool,
    /// The name that is called in the last step.
    pub callee: String,
    pub is_test: bool,
}

impl Session {
    /// Follows calls over several levels.
    ///
    /// # Errors
    /// When a path is not to be searched, or an index can't be read or built.
    pub fn call_levels(&mut self, request: &CallLevelsRequest) -> Result<CallLevelsAnswer> {
        let facts = &request.scope.facts;
        let shown = Facts { kinds: facts.kinds.clone(), ..Facts::default() };
        self.open_whole(&Scope { facts: shown, ..request.scope.clone() })?;
        let start = match &request.start {
            CallStart::Names(names) => {
                FoundStart::Names(names.iter().map(|name| CodeName::new(name, facts.ignore_case)).collect())
            }
            CallStart::Unit { file, line } => {
                let (project, path) = self.project(file)?;
                FoundStart::Unit { root: project.root, path, line: *line }
            }
        };
        self.repaired_together(|places, _| {
            let mut answer = CallLevelsAnswer::default();
            for place in places {
                add_levels(place, &start, (request.direction, request.depth), &mut answer)?;
            }
            Ok(answer)
        })
    }

    /// Where the names that facts about calls ask for occur in what the last request opened.
    ///
    /// # Errors
    /// When an index can't be read.
    pub fn unknown_calls(&self, facts: &Facts) -> Result<UnknownCalls> {
        let mut unknown = UnknownCalls::default();
        self.places.iter().try_for_each(|place| place.add_unknown_calls(facts, &mut unknown))?;
        Ok(unknown)
    }

    /// The definitions of a name, plain or qualified, by file and line, as units of level 0.
    ///
    /// # Errors
    /// When a path is not to be searched, or an index can't be read or built.
    pub fn definitions(&mut self, name: &str, scope: &Scope) -> Result<Vec<CallRow>> {
        self.open_whole(scope)?;
        let code_name = CodeName::new(name, false);
        self.repaired_together(|places, _| {
            let mut rows = Vec::new();
            for place in places {
                let graph = CallGraph::new(&place.snapshot);
                let units = place.snapshot.lexical.units_of_name(&code_name)?;
                let hits = units.into_iter().map(|(hit, _)| hit).collect();
                rows.extend(definition_rows(place, &graph, hits, usize::MAX)?);
            }
            Ok(rows)
        })
    }

    /// What else a change affects.
    ///
    /// # Errors
    /// When a path is not to be searched, git doesn't know the change, or an index can't be read or built.
    pub fn impact(&mut self, request: &ImpactRequest) -> Result<ImpactAnswer> {
        let root = match &request.change {
            ChangeSpec::Places(places) => places.first().map_or(&request.root, |(file, _)| file),
            ChangeSpec::Git(_) => &request.root,
        };
        let (project, _) = self.project(root)?;
        let here = project.root.clone();
        self.open_whole(&Scope { paths: vec![here.clone()], ..Scope::default() })?;
        let places = match &request.change {
            ChangeSpec::Places(places) => self.below(&here, places)?,
            ChangeSpec::Git(_) => Vec::new(),
        };
        let changed = match &request.change {
            ChangeSpec::Git(change) => ChangedCode::of(&versions(&project, change)?),
            ChangeSpec::Places(_) => {
                self.repaired(0, |place, _| changed_at(&CallGraph::new(&place.snapshot), &places))?
            }
        };
        let together = together_of(&project, &changed, &self.past());
        let affected = self.repaired(0, |place, _| affected_files(place, &changed, &together, request))?;
        Ok(ImpactAnswer { changed, affected })
    }

    pub(super) fn open_whole(&mut self, scope: &Scope) -> Result<()> {
        let request = SearchRequest { scope: scope.clone(), ..SearchRequest::default() };
        self.need_model(&request, RankBy::Words)?;
        self.words.clear();
        self.opening.for_all = true;
        self.forget_partial();
        self.open_scope(scope)?;
        self.tell_partial();
        Ok(())
    }

    /// Files as paths from the root of the project that all of them are in.
    fn below(
        &mut self,
        root: &Path,
        places: &[(PathBuf, Option<LineSpan>)],
    ) -> Result<Vec<(String, Option<LineSpan>)>> {
        let mut below = Vec::new();
        for (file, lines) in places {
            check_file(file)?;
            let (project, path) = self.project(file)?;
            if project.root != root {
                return Err(Refused::OtherProject { path: file.clone() }.into());
            }
            check_place(&Standpoint { file: file.clone(), line: lines.map(|(first, _)| first) }, root, &path)?;
            below.push((path, *lines));
        }
        Ok(below)
    }
}

impl ProjectSearcher {
    /// Follows calls over several levels in this project from the units of names, plain or qualified; shows those within
    /// the scope of the search.
    pub fn call_levels(&self, names: &[String], direction: CallDirection, depth: usize) -> Result<CallLevelsAnswer> {
        let start = FoundStart::Names(names.iter().map(|name| CodeName::new(name, false)).collect());
        let mut answer = CallLevelsAnswer::default();
        add_levels(self, &start, (direction, depth), &mut answer)?;
        Ok(answer)
    }

    /// What else a change affects in this project, within the scope of the search; `past` knows what changed together.
    pub fn impact(&self, changed: ChangedCode, past: &Past<'_>, request: &ImpactRequest) -> Result<ImpactAnswer> {
        let together = together_of(&self.project, &changed, past);
        let affected = affected_files(self, &changed, &together, request)?;
        Ok(ImpactAnswer { changed, affected })
    }
}

/// Definitions as units of level 0, at most `count`.
pub(super) fn definition_rows(
    place: &ProjectSearcher,
    graph: &CallGraph<'_>,
    mut hits: Vec<UnitHit>,
    count: usize,
) -> Result<Vec<CallRow>> {
    hits.retain(|hit| hit.kind.is_definition());
    hits.truncate(count);
    let step = |unit: GraphUnit| {
        let (is_test, callee, origin) = (graph.is_test(&unit), unit.name.clone(), unit.qualified_name());
        CallStep { unit, level: 0, is_certain: true, callee, origin, is_test }
    };
    shown_rows(place, graph, graph.units(hits)?.into_iter().map(step).collect())
}

/// For each changed file, those that changed together with it.
fn together_of(project: &Project, changed: &ChangedCode, past: &Past<'_>) -> Vec<(String, Vec<TogetherFile>)> {
    let asked = changed.files.iter().take(TOGETHER_OF_MAX);
    asked.map(|path| (path.clone(), past.together(project, path))).collect()
}

/// Adds what the names reach in one project.
fn add_levels(
    place: &ProjectSearcher,
    start: &FoundStart,
    (direction, depth): (CallDirection, usize),
    answer: &mut CallLevelsAnswer,
) -> Result<()> {
    let graph = CallGraph::new(&place.snapshot);
    let levels = match start {
        FoundStart::Names(names) => CallLevels::of_names(&graph, names, direction, depth)?,
        FoundStart::Unit { root, path, line } => {
            let record = Some(place).filter(|place| place.project.root == *root).and_then(|place| place.record(path));
            let Some(record) = record else { return Ok(()) };
            let hit = place.snapshot.lexical.unit_around(record.id, *line, None)?;
            CallLevels::of_units(&graph, graph.units(hit)?, direction, depth, true)?
        }
    };
    answer.rows.extend(shown_rows(place, &graph, levels.steps)?);
    answer.common.extend(levels.common);
    answer.is_cut |= levels.is_cut;
    Ok(())
}

/// The units that the scope of a place allows, read for output; those that are gone since are left out.
fn shown_rows(place: &ProjectSearcher, graph: &CallGraph<'_>, mut steps: Vec<CallStep>) -> Result<Vec<CallRow>> {
    if let Some(filter) = place.filter() {
        steps.retain(|step| place.snapshot.lexical.is_allowed(step.unit.hit.key, filter));
    }
    let keys: Vec<UnitId> = steps.iter().map(|step| step.unit.hit.key).collect();
    let units = place.snapshot.units(&keys)?;
    let row = |(step, unit): (CallStep, Unit)| {
        let path = graph.path(step.unit.hit.file);
        let (unit, name_line) = place.current(path, unit)?;
        let CallStep { level, is_certain, callee, is_test, .. } = step;
        Some(CallRow { file: place.named(path), name_line, unit, level, is_certain, callee, is_test })
    };
    Ok(steps.into_iter().zip(units).filter_map(row).collect())
}

/// The affected files of one project, as many as are wanted.
fn affected_files(
    place: &ProjectSearcher,
    changed: &ChangedCode,
    together: &[(String, Vec<TogetherFile>)],
    request: &ImpactRequest,
) -> Result<Vec<AffectedFile>> {
    let graph = CallGraph::new(&place.snapshot);
    let mut found = affected(&graph, changed, together)?;
    if request.tests == Tests::Only {
        // A test that changed is to be run too.
        let own = changed_tests(&graph, changed)?;
        found.retain(|one| own.iter().all(|test| test.file != one.file));
        found.splice(0..0, own);
    }
    found.retain(|one| match request.tests {
        Tests::Auto => true,
        Tests::Only => one.is_test,
        Tests::Exclude => !one.is_test,
    });
    if let Some(filter) = place.filter() {
        found.retain(|one| filter.allows_file(one.file));
    }
    found.truncate(request.files);
    let keys: Vec<UnitId> = found.iter().filter_map(|one| one.unit).collect();
    let mut units = place.snapshot.units(&keys)?.into_iter();
    let file = |one: Affected| {
        let path = graph.path(one.file);
        let unit = one.unit.and_then(|_| units.next()).and_then(|unit| place.current(path, unit));
        let (unit, name_line) = unit.map_or((None, 1), |(unit, line)| (Some(unit), line));
        let Affected { score, is_test, reasons, .. } = one;
        // The root was not given by the caller, so paths are shown from the current folder.
        let file = FileAnswer { given: None, ..place.named(path) };
        AffectedFile { file, unit, name_line, score, is_test, reasons }
    };
    Ok(found.into_iter().map(file).collect())
}
