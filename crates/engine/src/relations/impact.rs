//! What else a change affects: files that call, extend, import, test or name what changed, and files that changed together
//! with it in the past. Each reason is a chance; the chances of a file's reasons are combined as if independent.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use colgrep_core::import::file_keys;
use colgrep_core::partner::{family, is_partner, partner};
use colgrep_core::path::PathClass;
use colgrep_core::query::{base_name, last_segment};
use colgrep_core::token::Tokenizer;
use colgrep_core::unit::qualified;
use colgrep_core::{Unit, UnitId, UnitKind};
use colgrep_index::history::TogetherFile;
use colgrep_index::ids::FileId;
use colgrep_index::lexical::{split_callee, term_of_word};
use colgrep_index::store::FileRecord;
use colgrep_search::is_text;
use colgrep_syntax::language::{self, may_call};

use crate::answer::FileAnswer;
use crate::error::Result;
use crate::relations::changed::{ChangeSpec, ChangedCode, ChangedUnit, LineSpan};
use crate::relations::graph::{CallGraph, GraphUnit, last_part};
use crate::relations::levels::{COMMON_CALLERS_MAX, CallDirection, CallLevels, DEFINITIONS_MAX};
use crate::request::Tests;

/// Estimates of how often a file changes too for a reason. A caller rarely has to: its chance is small beside that of a
/// file that has changed together with the changed one again and again.
const CALLS: f32 = 0.2;
/// The same where the call is known by its name alone, of a name with one definition.
const CALLS_BY_NAME: f32 = 0.1;
/// Factor for each further level of calls.
const LEVEL_SHARE: f32 = 0.4;
const IMPLEMENTS: f32 = 0.25;
const OVERRIDES: f32 = 0.25;
const IMPORTS: f32 = 0.06;
const TESTS: f32 = 0.45;
const NAMES: f32 = 0.08;
const CALLED: f32 = 0.05;
const TOGETHER: f32 = 0.9;
/// How far few commits are doubted: one counts for 1 / 1.3 of its share, two for 2 / 2.3.
const TOGETHER_DOUBT: f32 = 0.3;
/// Factor of all other reasons, and the commits of a changed file with another one by which it is halved: where the
/// history is known, it tells more than any of them.
const STRUCTURE: f32 = 0.5;
const STRUCTURE_COMMITS_HALF: f32 = 8.0;
/// The most that several reasons of one kind amount to.
const KIND_MAX: f32 = 0.9;
const CALLER_LEVELS: usize = 2;
/// Importers by which the chance of each is halved.
const IMPORTERS_HALF: f32 = 20.0;
/// Files with a name that are searched for classes that extend it; text files that name it.
const EXTENDING_FILES_MAX: usize = 100;
const NAMING_FILES_MAX: usize = 20;
/// Letters of a name of one word that is looked for in text.
const PLAIN_NAME_LETTERS_MIN: usize = 9;
pub const IMPACT_FILES_DEFAULT: usize = 15;

/// Asks what a change affects.
#[derive(Clone, Debug)]
pub struct ImpactRequest {
    pub change: ChangeSpec,
    /// A folder or file of the project.
    pub root: PathBuf,
    /// Whether to include tests, exclude them, or return only tests.
    pub tests: Tests,
    pub files: usize,
}

impl ImpactRequest {
    /// Asks about a change in the project around the current folder.
    pub fn new(change: ChangeSpec) -> ImpactRequest {
        ImpactRequest { change, root: PathBuf::from("."), tests: Tests::Auto, files: IMPACT_FILES_DEFAULT }
    }
}

/// What a change affects.
#[derive(Clone, Debug, Default)]
pub struct ImpactAnswer {
    pub changed: ChangedCode,
    /// Files that are affected, the likeliest first.
    pub affected: Vec<AffectedFile>,
}

#[derive(Clone, Debug)]
pub struct AffectedFile {
    /// The file, without text and units.
    pub file: FileAnswer,
    /// The unit that is affected the most; none where the reasons are about the whole file.
    pub unit: Option<Unit>,
    /// The line with its name; 1 without one.
    pub name_line: u32,
    /// The chance that it is affected, 0 to 1, by the weights of its reasons.
    pub score: f32,
    pub is_test: bool,
    /// Why, the strongest first.
    pub reasons: Vec<ImpactReason>,
}

/// Why a file is affected.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpactReason {
    pub kind: ReasonKind,
    /// What the reason is about: the name of a changed unit, or the path of a changed file.
    pub what: String,
    /// The path of a changed unit's file, where the name means one of the change.
    pub file: Option<String>,
    /// Whether calls are resolved; true for reasons other than calls.
    pub is_certain: bool,
    /// For calls, their number of levels; for changes together, the number of commits; else 1.
    pub count: u32,
    /// Its chance.
    pub weight: f32,
}

impl ImpactReason {
    /// A reason that holds for sure, once.
    fn resolved(kind: ReasonKind, what: String, weight: f32) -> ImpactReason {
        ImpactReason { kind, what, file: None, is_certain: true, count: 1, weight }
    }
}

colgrep_core::named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ReasonKind {
        Calls = "calls",
        /// Implements or extends it.
        Implements = "implements",
        Overrides = "overrides",
        Imports = "imports",
        Tests = "tests",
        /// Names it in text or configuration, or uses a type or a constant.
        Names = "names",
        Called = "called",
        /// Changed together with its file.
        Together = "together",
        /// Is a test that changed itself.
        Changed = "changed",
    }
}

impl ReasonKind {
    /// Whether a reason of this kind is about a changed file, rather than a unit.
    pub fn is_of_file(self) -> bool {
        matches!(self, ReasonKind::Imports | ReasonKind::Tests | ReasonKind::Together | ReasonKind::Changed)
    }
}

/// An affected file before it is read.
#[derive(Clone, Debug)]
pub struct Affected {
    pub file: FileId,
    /// The unit that is affected the most.
    pub unit: Option<UnitId>,
    /// As in [`AffectedFile`].
    pub score: f32,
    /// As in [`AffectedFile`].
    pub is_test: bool,
    /// As in [`AffectedFile`].
    pub reasons: Vec<ImpactReason>,
}

/// What is known of a file so far.
#[derive(Default)]
struct FileEvidence {
    reasons: Vec<ImpactReason>,
    unit: Option<(f32, UnitId, bool)>,
}

/// Collects the reasons of files.
struct ImpactSearch<'g, 's> {
    graph: &'g CallGraph<'s>,
    changed: &'g ChangedCode,
    /// The changed units that the index has.
    starts: Vec<GraphUnit>,
    /// Their keys.
    own: HashSet<UnitId>,
    /// The changed files that the index has.
    files: BTreeMap<&'s str, FileId>,
    /// Those that are taken as changed as a whole.
    whole: HashSet<FileId>,
    found: HashMap<FileId, FileEvidence>,
}

/// The files that a change affects, the likeliest first. `together` has, for each changed file, those that changed
/// together with it.
pub fn affected(
    graph: &CallGraph<'_>,
    changed: &ChangedCode,
    together: &[(String, Vec<TogetherFile>)],
) -> Result<Vec<Affected>> {
    let files = changed_files(graph, changed);
    let starts = starts(graph, changed, &files)?;
    let own = starts.iter().map(|unit| unit.hit.key).collect();
    let whole = changed.whole.iter().filter_map(|path| files.get(path.as_str()).copied()).collect();
    let mut impact = ImpactSearch { graph, changed, starts, own, files, whole, found: HashMap::new() };
    impact.calls()?;
    impact.calls_of_gone()?;
    impact.extends()?;
    impact.imports()?;
    impact.tests();
    impact.names()?;
    impact.together(together);
    let commits = together.iter().flat_map(|(_, others)| others).map(|other| other.commits).max();
    impact.weigh(commits.unwrap_or_default());
    Ok(impact.ranked())
}

/// The changed units as the index has them.
fn starts(graph: &CallGraph<'_>, changed: &ChangedCode, files: &BTreeMap<&str, FileId>) -> Result<Vec<GraphUnit>> {
    let mut starts = Vec::new();
    for (path, file) in files {
        let named: HashSet<(&str, &str)> = changed
            .units
            .iter()
            .filter(|unit| unit.path == *path)
            .map(|unit| (unit.name.as_str(), unit.parent.as_str()))
            .collect();
        if named.is_empty() {
            continue;
        }
        let units = graph.units(graph.snapshot.lexical.units_of(*file, None)?)?;
        let is_changed = |unit: &GraphUnit| named.contains(&(unit.name.as_str(), unit.parent.as_str()));
        starts.extend(units.into_iter().filter(is_changed));
    }
    Ok(starts)
}

impl ImpactSearch<'_, '_> {
    /// Adds a reason, once for each thing that it is about, and not for what changed itself.
    fn add(&mut self, file: FileId, unit: Option<(UnitId, bool)>, mut reason: ImpactReason) {
        reason.file = self.file_of(&reason);
        if self.whole.contains(&file) || unit.is_some_and(|(unit, _)| self.own.contains(&unit)) {
            return;
        }
        let evidence = self.found.entry(file).or_default();
        if let Some((unit, is_test)) = unit
            && evidence.unit.is_none_or(|(known, ..)| known < reason.weight)
        {
            evidence.unit = Some((reason.weight, unit, is_test));
        }
        // Whoever calls or extends it names it.
        let is_said = |known: &ImpactReason| known.kind < ReasonKind::Names && known.what == reason.what;
        if reason.kind == ReasonKind::Names && evidence.reasons.iter().any(is_said) {
            return;
        }
        let same = |known: &&mut ImpactReason| known.kind == reason.kind && known.what == reason.what;
        match evidence.reasons.iter_mut().find(same) {
            Some(known) if known.weight >= reason.weight => {}
            Some(known) => *known = reason,
            None => evidence.reasons.push(reason),
        }
    }

    /// The changed file with what a reason names, if it is one file.
    fn file_of(&self, reason: &ImpactReason) -> Option<String> {
        let is_it = |unit: &&ChangedUnit| {
            let may_be = reason.what.ends_with(&unit.name);
            may_be && (reason.what == unit.name || reason.what == qualified(&unit.parent, &unit.name))
        };
        let mut paths =
            self.changed.units.iter().filter(is_it).map(|unit| &unit.path).filter(|_| !reason.kind.is_of_file());
        let first = paths.next()?;
        paths.all(|other| other == first).then(|| first.clone())
    }

    /// Adds a reason about a whole file that did not change itself.
    fn add_file(&mut self, file: FileId, kind: ReasonKind, what: &str, count: u32, weight: f32) {
        if !self.files.values().any(|changed| *changed == file) {
            self.add(file, None, ImpactReason { count, ..ImpactReason::resolved(kind, what.to_string(), weight) });
        }
    }

    fn calls(&mut self) -> Result<()> {
        let callers =
            CallLevels::of_units(self.graph, self.starts.clone(), CallDirection::Callers, CALLER_LEVELS, false)?;
        for step in callers.steps {
            let weight = match step.is_certain {
                true => CALLS,
                false => {
                    let language = self.graph.language(step.unit.hit.file);
                    let count = self.graph.definitions(split_callee(&step.callee).1, language)?.len().max(1);
                    CALLS_BY_NAME / (count as f32).sqrt()
                }
            };
            let weight = weight * LEVEL_SHARE.powi(step.level as i32 - 1);
            let (kind, count, is_certain) = (ReasonKind::Calls, step.level as u32, step.is_certain);
            let reason = ImpactReason { kind, what: step.origin, file: None, is_certain, count, weight };
            self.add(step.unit.hit.file, Some((step.unit.hit.key, step.is_test)), reason);
        }
        let callees = CallLevels::of_units(self.graph, self.starts.clone(), CallDirection::Callees, 1, false)?;
        let is_changed = |file: FileId| self.files.values().any(|changed| *changed == file);
        let callees: Vec<_> =
            callees.steps.into_iter().filter(|step| step.is_certain && !is_changed(step.unit.hit.file)).collect();
        for step in callees {
            let reason = ImpactReason::resolved(ReasonKind::Called, step.origin, CALLED);
            self.add(step.unit.hit.file, Some((step.unit.hit.key, step.is_test)), reason);
        }
        Ok(())
    }

    /// Units that call by name what is gone. Whoever sees its file means it, unless the call means another definition.
    fn calls_of_gone(&mut self) -> Result<()> {
        for unit in self.changed.units.iter().filter(|unit| unit.line == 0) {
            let is_there = |start: &GraphUnit| {
                self.graph.path(start.hit.file) == unit.path && start.name == unit.name && start.parent == unit.parent
            };
            let (name, own) = (last_part(&unit.name), language::of_file(&unit.path, b"").name);
            let (count, mut callers) = (self.graph.definitions(name, own)?.len(), self.graph.callers(name)?);
            callers.retain(|(hit, _)| may_call(self.graph.language(hit.file), own));
            if count > DEFINITIONS_MAX || callers.len() > COMMON_CALLERS_MAX || self.starts.iter().any(is_there) {
                continue;
            }
            for (hit, callee) in callers {
                let caller = self.graph.unit(hit)?;
                if self.graph.targets(&caller, callee)?.is_certain {
                    continue;
                }
                let is_certain = count == 0 && self.graph.sees(hit.file, &unit.path)?;
                let weight = if is_certain { CALLS } else { CALLS_BY_NAME / (count as f32 + 1.0).sqrt() };
                let (kind, what) = (ReasonKind::Calls, qualified(&unit.parent, &unit.name));
                let reason = ImpactReason { kind, what, file: None, is_certain, count: 1, weight };
                self.add(hit.file, Some((hit.key, self.graph.is_test(&caller))), reason);
            }
        }
        Ok(())
    }

    /// Classes that extend a changed class, and methods of those that override a changed method of it.
    fn extends(&mut self) -> Result<()> {
        let mut methods: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for unit in &self.changed.units {
            match unit.kind {
                UnitKind::Class => _ = methods.entry(unit.name.clone()).or_default(),
                UnitKind::Method if !unit.parent.is_empty() => {
                    let class = last_segment(&unit.parent).to_string();
                    methods.entry(class).or_default().insert(unit.name.clone());
                }
                _ => {}
            }
        }
        let mut tokenizer = Tokenizer::default();
        let lexical = &self.graph.snapshot.lexical;
        for (class, overridden) in methods {
            let is_changed = self.changed.units.iter().any(|unit| unit.kind == UnitKind::Class && unit.name == class);
            let Some(term) = term_of_word(&class, &mut tokenizer) else { continue };
            let files = lexical.files_with(&term)?;
            if files.len() > EXTENDING_FILES_MAX {
                continue;
            }
            for file in files {
                let hits = lexical.units_of(file, None)?;
                let of_kind = |kind| self.graph.units(hits.iter().filter(move |hit| hit.kind == kind).copied());
                let extends = |unit: &GraphUnit| unit.extends.iter().any(|base| base_name(base) == class);
                let mut heirs = of_kind(UnitKind::Class)?;
                heirs.retain(extends);
                let methods = if heirs.is_empty() { Vec::new() } else { of_kind(UnitKind::Method)? };
                for heir in &heirs {
                    let is_test = self.graph.is_test(heir);
                    if is_changed && heir.name != class {
                        let reason = ImpactReason::resolved(ReasonKind::Implements, class.clone(), IMPLEMENTS);
                        self.add(file, Some((heir.hit.key, is_test)), reason);
                    }
                    let is_member = |unit: &&GraphUnit| {
                        overridden.contains(&unit.name) && last_segment(&unit.parent) == last_segment(&heir.name)
                    };
                    for member in methods.iter().filter(is_member).collect::<Vec<_>>() {
                        let reason = ImpactReason::resolved(
                            ReasonKind::Overrides,
                            format!("{class}.{}", member.name),
                            OVERRIDES,
                        );
                        self.add(file, Some((member.hit.key, is_test)), reason);
                    }
                }
            }
        }
        Ok(())
    }

    fn imports(&mut self) -> Result<()> {
        for path in &self.changed.files {
            let keys = file_keys(path, language::facts());
            let mut importers = self.graph.snapshot.lexical.importers(&keys)?;
            importers.retain(|file| self.graph.path(*file) != path);
            let weight = IMPORTS / (1.0 + importers.len() as f32 / IMPORTERS_HALF);
            for file in importers {
                self.add_file(file, ReasonKind::Imports, path, 1, weight);
            }
        }
        Ok(())
    }

    /// Tests of changed files, and what changed tests test, by their paths.
    fn tests(&mut self) {
        let facts = language::facts();
        let records = self.graph.snapshot.files.indexed().filter(|record| !is_text(&record.language));
        let code: HashMap<&str, FileId> = records.map(|record| (record.path.as_str(), record.id)).collect();
        for path in &self.changed.files {
            let family = family(path, code.keys().copied(), facts);
            let is_test = PathClass::of(path, facts).has(PathClass::TEST);
            for other in family.iter().copied().filter(|other| is_partner(path, other, facts)) {
                let (test, source) = if is_test { (path.as_str(), other) } else { (other, path.as_str()) };
                let candidates = family.iter().copied().chain([path.as_str()]);
                let is_nearest = partner(test, candidates, facts) == Some(source);
                let weight = if is_nearest { TESTS } else { TESTS / 3.0 };
                if let Some(file) = code.get(other) {
                    self.add_file(*file, ReasonKind::Tests, path, 1, weight);
                }
            }
        }
    }

    /// Documentation and configuration with the name of a changed unit, if it is a rare one; of a type or a constant
    /// that nothing else is called as, code too.
    fn names(&mut self) -> Result<()> {
        let mut tokenizer = Tokenizer::default();
        let lexical = &self.graph.snapshot.lexical;
        let mut named: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for unit in self.changed.units.iter().filter(|unit| is_distinct(&unit.name)) {
            let is_used = matches!(unit.kind, UnitKind::Class | UnitKind::Constant)
                && lexical.definition_count(last_part(&unit.name))? <= 1;
            let language = is_used.then(|| language::of_file(&unit.path, b"").name);
            let known = named.entry(&unit.name).or_default();
            *known = known.or(language);
        }
        for (name, used_in) in named {
            let Some(term) = term_of_word(name, &mut tokenizer) else { continue };
            let (text, code): (Vec<FileId>, Vec<FileId>) =
                lexical.files_with(&term)?.into_iter().partition(|file| is_text(self.graph.language(*file)));
            let is_use = |file: &FileId| used_in.is_some_and(|own| may_call(self.graph.language(*file), own));
            let code: Vec<FileId> = code.into_iter().filter(is_use).collect();
            for (files, most) in [(text, NAMING_FILES_MAX), (code, EXTENDING_FILES_MAX)] {
                let weight = NAMES / (files.len().max(1) as f32).sqrt();
                for file in files.iter().filter(|_| files.len() <= most) {
                    self.add_file(*file, ReasonKind::Names, name, 1, weight);
                }
            }
        }
        Ok(())
    }

    fn together(&mut self, together: &[(String, Vec<TogetherFile>)]) {
        for (path, others) in together {
            for other in others {
                let Some(file) = indexed_at(self.graph, &other.path).map(|record| record.id) else { continue };
                let commits = other.commits as f32;
                let weight = TOGETHER * other.share * commits / (commits + TOGETHER_DOUBT);
                self.add_file(file, ReasonKind::Together, path, other.commits, weight);
            }
        }
    }

    /// Weighs the other reasons beside the history, of which this many commits of one pair of files are known.
    fn weigh(&mut self, commits: u32) {
        let factor = STRUCTURE / (1.0 + commits as f32 / STRUCTURE_COMMITS_HALF);
        for evidence in self.found.values_mut() {
            for reason in evidence.reasons.iter_mut().filter(|reason| reason.kind != ReasonKind::Together) {
                reason.weight *= factor;
            }
        }
    }

    /// The files, the likeliest first.
    fn ranked(self) -> Vec<Affected> {
        let graph = self.graph;
        let mut ranked: Vec<Affected> = self
            .found
            .into_iter()
            .map(|(file, mut evidence)| {
                evidence.reasons.sort_by(|a, b| {
                    b.weight.total_cmp(&a.weight).then(a.kind.cmp(&b.kind)).then_with(|| a.what.cmp(&b.what))
                });
                let is_test = PathClass::of(graph.path(file), language::facts()).has(PathClass::TEST)
                    || evidence.unit.is_some_and(|(.., is_test)| is_test);
                let (score, unit) = (chance(&evidence.reasons), evidence.unit.map(|(_, unit, _)| unit));
                Affected { file, unit, score, is_test, reasons: evidence.reasons }
            })
            .collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| graph.path(a.file).cmp(graph.path(b.file))));
        ranked
    }
}

/// The chance of reasons together.
fn chance(reasons: &[ImpactReason]) -> f32 {
    let mut kinds: BTreeMap<ReasonKind, f32> = BTreeMap::new();
    for reason in reasons {
        *kinds.entry(reason.kind).or_insert(1.0) *= 1.0 - reason.weight;
    }
    1.0 - kinds.values().map(|left| left.max(1.0 - KIND_MAX)).product::<f32>()
}

/// Whether a name can be told from a word of prose.
fn is_distinct(name: &str) -> bool {
    let has_case = name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    name.contains('_') || has_case || name.chars().count() >= PLAIN_NAME_LETTERS_MIN
}

fn indexed_at<'s>(graph: &CallGraph<'s>, path: &str) -> Option<&'s FileRecord> {
    graph.snapshot.files.at(path).filter(|record| record.skip.is_none())
}

/// The changed units on lines of files, or all definitions of a file; `places` are paths from the project's root.
pub fn changed_at(graph: &CallGraph<'_>, places: &[(String, Option<LineSpan>)]) -> Result<ChangedCode> {
    let mut changed = ChangedCode::default();
    for (path, lines) in places {
        if !changed.files.contains(path) {
            changed.files.push(path.clone());
        }
        if lines.is_none() {
            changed.whole.push(path.clone());
        }
        let Some(record) = indexed_at(graph, path) else { continue };
        let lexical = &graph.snapshot.lexical;
        let mut units = Vec::new();
        for hit in lexical.units_of(record.id, None)? {
            units.push((hit, lexical.unit(hit.key)?.unit(&[])));
        }
        if let Some(lines) = *lines {
            let spans: Vec<LineSpan> = units.iter().map(|(_, unit)| (unit.span.first, unit.span.end)).collect();
            let mut own = spans.iter().map(|span| has_own_lines(*span, &spans, lines));
            units.retain(|_| own.next() == Some(true));
        }
        for (hit, unit) in units.into_iter().filter(|(hit, _)| hit.kind.is_definition()) {
            let (path, line, kind) = (path.clone(), hit.line, hit.kind);
            let unit = ChangedUnit { path, name: unit.name, parent: unit.parent, kind, line };
            if !changed.units.contains(&unit) {
                changed.units.push(unit);
            }
        }
    }
    changed.files.sort_unstable();
    Ok(changed)
}

/// Whether one of the lines lies in this span and in none of the `spans` inside it.
fn has_own_lines((first, end): LineSpan, spans: &[LineSpan], (from, to): LineSpan) -> bool {
    let inner: Vec<LineSpan> = spans
        .iter()
        .copied()
        .filter(|(f, e)| *f >= first && *e <= end && e - f < end - first && *f <= to && *e >= from)
        .collect();
    (first.max(from)..=end.min(to)).any(|line| inner.iter().all(|(f, e)| !(*f..=*e).contains(&line)))
}

/// The tests that changed themselves: files of tests, and test units of other files.
pub fn changed_tests(graph: &CallGraph<'_>, changed: &ChangedCode) -> Result<Vec<Affected>> {
    let files = changed_files(graph, changed);
    let mut units: HashMap<FileId, UnitId> = HashMap::new();
    for unit in starts(graph, changed, &files)?.iter().filter(|unit| graph.is_test(unit)) {
        units.entry(unit.hit.file).or_insert(unit.hit.key);
    }
    let is_test = |path: &str, file: &FileId| {
        PathClass::of(path, language::facts()).has(PathClass::TEST) || units.contains_key(file)
    };
    let tests = files.into_iter().filter(|(path, file)| is_test(path, file));
    let test = |(path, file): (&str, FileId)| {
        let reason = ImpactReason::resolved(ReasonKind::Changed, path.to_string(), 1.0);
        Affected { file, unit: units.get(&file).copied(), score: 1.0, is_test: true, reasons: vec![reason] }
    };
    Ok(tests.map(test).collect())
}

/// The changed files that the index has.
fn changed_files<'s>(graph: &CallGraph<'s>, changed: &ChangedCode) -> BTreeMap<&'s str, FileId> {
    let records = changed.files.iter().filter_map(|path| indexed_at(graph, path));
    records.map(|record| (record.path.as_str(), record.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_several_kinds_add_up_and_of_one_kind_have_a_bound() {
        let reason =
            |kind, weight| ImpactReason { kind, what: String::new(), file: None, is_certain: true, count: 1, weight };
        for (reasons, expected) in [
            (vec![], 0.0),
            (vec![reason(ReasonKind::Calls, 0.5)], 0.5),
            (vec![reason(ReasonKind::Calls, 0.5), reason(ReasonKind::Tests, 0.5)], 0.75),
            (vec![reason(ReasonKind::Calls, 0.5); 20], 0.9),
        ] {
            assert!((chance(&reasons) - expected).abs() < 1e-6, "{reasons:?}");
        }
    }

    #[test]
    fn a_distinct_name_is_no_word_of_prose() {
        for (name, expected) in
            [("push", false), ("read_all", true), ("readAll", true), ("Ring", false), ("coordinator", true)]
        {
            assert_eq!(is_distinct(name), expected, "{name}");
        }
    }
}
