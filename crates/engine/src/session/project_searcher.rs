//! A project, open for searching: ranks its files, and works out the units and lines to show of each, for all outputs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use colgrep_core::collapse::{FileHit, PerFile, answers};
use colgrep_core::expand::TermTable;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::Knobs;
use colgrep_core::rank::RankedUnit;
use colgrep_core::tag::Hint;
use colgrep_core::{Unit, UnitId, UnitKind};
use colgrep_index::ids::{FileId, StableId};
use colgrep_index::lexical::{UnitFilter, UnitPlace};
use colgrep_index::source::read_text;
use colgrep_index::store::{FileRecord, Snapshot};
use colgrep_search::{Stops, is_text};
use colgrep_syntax::language;
use colgrep_syntax::parse::StoredUnit;
use colgrep_syntax::read::{self, lines_between};
use rayon::prelude::*;

use crate::answer::explain::Explanation;
use crate::answer::list::{Length, call_line, list};
use crate::answer::representative::{also_here, best_unpointed, parts_without_imports, standing};
use crate::answer::snippet::{QueryWords, WeighedLines, own_line};
use crate::answer::{BestLine, FileAnswer, Step, UnitAnswer};
use crate::error::{Refused, Result};
use crate::project::Project;
use crate::project::model::Model;
use crate::relations::around::Surroundings;
use crate::relations::graph::CallGraph;
use crate::relations::unknown::UnknownCalls;
use crate::request::filter::{Filter, allowed_files};
use crate::request::near::NearFile;
use crate::request::pattern::{LineMatcher, matcher, places};
use crate::request::rules::{PathRules, is_below};
use crate::request::structure::{StructureCoverage, StructureMatcher};
use crate::request::{Detail, Facts, RankBy, Scope};
use crate::session::relocate::follow;
use crate::settings::Settings;

/// The longest line in a list of matching lines, in bytes; longer ones are cut.
const LINE_BYTES_MAX: usize = 2_000;

/// A line of a scope: the path of its file, its number, its text.
type ScopeLine = (String, u32, String);

/// The paths of one project that a search is limited to.
#[derive(Clone, Debug, Default)]
pub struct Within {
    /// Paths from the root, `/` between components; empty for the root itself.
    pub below: Vec<String>,
    /// The same paths as the caller wrote them; empty where it named none.
    pub given: Vec<PathBuf>,
    /// Paths from the root to exclude, because another place searches them.
    without: Vec<String>,
}

impl Within {
    /// The whole project.
    pub fn everything() -> Within {
        Within::paths(vec![String::new()])
    }

    /// Paths from the root.
    pub fn paths(below: Vec<String>) -> Within {
        Within { below, ..Within::default() }
    }

    /// Refuses a path that is neither indexed nor there, as [`Project::around`] does; `name` is the prefix of the
    /// paths.
    ///
    /// # Errors
    /// When there is one.
    pub fn check_exists(&self, name: &str, project: &Project, snapshot: &Snapshot) -> Result<()> {
        for below in self.below.iter().filter(|below| !below.is_empty()) {
            let is_inside = Path::new(below).components().all(|part| matches!(part, Component::Normal(_)));
            let is_known = || snapshot.files.files.iter().any(|file| is_below(&file.path, below));
            let there = match is_inside {
                true if is_known() => continue,
                true => project.root.join(below).symlink_metadata().map(|_| ()),
                false => Err(ErrorKind::NotFound.into()),
            };
            there.map_err(|source| Refused::Path { path: Path::new(name).join(below), source })?;
        }
        Ok(())
    }
}

/// A project, open for searching within a scope.
#[derive(Debug)]
pub struct ProjectSearcher {
    pub project: Project,
    pub snapshot: Arc<Snapshot>,
    /// The paths that the search is limited to.
    pub within: Within,
    /// The path rules of scope and settings.
    pub(crate) rules: PathRules,
    /// The whole scope, worked out as files and lines; `None` where everything passes.
    filter: Option<Filter>,
    /// The scope's conditions on units.
    facts: Facts,
    /// The scope's pattern.
    pattern: Option<LineMatcher>,
    /// The scope's structural pattern.
    structure: Option<StructureMatcher>,
    /// The tags of the settings, each with its globs.
    tags: BTreeMap<String, Vec<String>>,
}

/// A question to one place.
#[derive(Clone, Copy)]
pub struct RankQuery<'a> {
    /// The question in words.
    pub query: &'a str,
    pub knobs: &'a Knobs,
    pub fusion: Fusion,
    /// Which rankings count.
    pub by: RankBy,
    /// The model, where meaning counts.
    pub model: Option<&'a Model>,
    /// The unit to find similar ones to.
    pub like: Option<&'a crate::request::like::Like>,
    /// Tags expected of the wanted units.
    pub hints: &'a [Hint],
    /// Further terms for words of the question.
    pub terms: Option<&'a TermTable>,
    /// The reader's position.
    pub near: Option<&'a NearFile>,
    /// Files that past commits like the question changed, with the prefix of their project's paths.
    pub past: &'a [(String, f32)],
    /// Number of files wanted.
    pub files: usize,
    /// Number of units shown of each file.
    pub units_per_file: PerFile,
    /// Strength below which files are left out; 0: none is.
    pub strength_min: f32,
    /// Whether `files` counts units, each a result of its own.
    pub single_units: bool,
    /// Whether the matching units of each file are counted.
    pub every_match: bool,
    /// Whether scores are explained.
    pub explain: bool,
}

impl<'a> RankQuery<'a> {
    /// A question by words, for this many files with the usual number of units.
    pub fn new(query: &'a str, knobs: &'a Knobs, files: usize) -> RankQuery<'a> {
        RankQuery {
            query,
            knobs,
            fusion: Fusion::default(),
            by: RankBy::Words,
            model: None,
            like: None,
            hints: &[],
            terms: None,
            near: None,
            past: &[],
            files,
            units_per_file: PerFile::Usual,
            strength_min: 0.0,
            single_units: false,
            every_match: false,
            explain: false,
        }
    }
}

/// The answer of one place: ranked files, none of them read yet.
#[derive(Debug)]
pub struct ProjectRanking {
    pub(crate) answer: colgrep_search::CorpusAnswer,
    /// The best score of a unit of the whole corpus that the query does not point at.
    best: Option<f32>,
    explanation: Option<Arc<Explanation>>,
    /// Its place among those that were ranked together.
    part: u32,
    /// Number of matching units, by position of the file in the answer; empty where it was not asked for.
    matches: Vec<u64>,
    words: OnceLock<QueryWords>,
    /// The scope's facts, where lines of calls are to be shown.
    calls: Option<Facts>,
    /// Whether nothing was ranked: each unit is an answer of its own.
    is_list: bool,
    /// First and last matching line of each file, once asked for.
    lines: OnceLock<HashMap<FileId, (u32, u32)>>,
    /// Whether each result is a unit of its own, so that no other unit represents its file.
    is_of_units: bool,
}

impl ProjectRanking {
    /// A ranking. `matches` are numbers of matching units by file, where they are counted; `part` is the number of its
    /// place among those that were ranked together.
    pub(crate) fn new(
        answer: colgrep_search::CorpusAnswer,
        explanation: Option<Arc<Explanation>>,
        matches: Vec<u64>,
        is_of_units: bool,
        part: u32,
    ) -> ProjectRanking {
        ProjectRanking {
            best: best_unpointed(&answer.units),
            answer,
            explanation,
            part,
            matches,
            words: OnceLock::new(),
            lines: OnceLock::new(),
            is_of_units,
            calls: None,
            is_list: false,
        }
    }

    /// The same as a part of a corpus, whose best unit that the query does not point at has this score.
    pub(crate) fn measured_by(self, best: Option<f32>) -> ProjectRanking {
        ProjectRanking { best, ..self }
    }

    /// The best score of a unit of the whole corpus that the query does not point at.
    pub(crate) fn best(&self) -> Option<f32> {
        self.best
    }

    /// Whether each result is a unit of its own.
    pub(crate) fn is_of_units(&self) -> bool {
        self.is_of_units
    }

    /// How the score of one of its units came about, where that was asked for.
    pub(crate) fn steps(&self, unit: &RankedUnit) -> Option<Vec<Step>> {
        let among_all = RankedUnit { unit: unit.unit.in_part(self.part), ..*unit };
        self.explanation.as_ref().map(|explanation| explanation.steps(&among_all, &self.answer.query))
    }

    /// Number of results.
    pub fn len(&self) -> usize {
        self.answer.hits.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.answer.hits.is_empty()
    }

    /// The path, from the root, of a result's file.
    pub fn path(&self, hit: usize) -> &str {
        &self.answer.files[self.answer.hits[hit].file].path
    }

    /// The repository of a result's file, where a place holds several.
    pub fn repository(&self, hit: usize) -> &str {
        &self.answer.files[self.answer.hits[hit].file].repository
    }

    /// Strength of a result's file, 0 to 1.
    pub fn strength(&self, hit: usize) -> f32 {
        self.answer.hits[hit].strength
    }

    /// Keeps only results of files whose paths pass, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        let files = &self.answer.files;
        self.answer.hits.retain(|hit| keep(&files[hit.file].path));
    }

    /// Keeps only the first `results`.
    pub fn truncate(&mut self, results: usize) {
        self.answer.hits.truncate(results);
    }

    /// First and last line of a file's ranked units that contain a word of the query. `None` where each result is one
    /// unit.
    fn matched_lines(&self, file: FileId, snapshot: &Snapshot) -> Result<Option<(u32, u32)>> {
        if self.is_of_units {
            return Ok(None);
        }
        if self.lines.get().is_none() {
            let shown: HashSet<usize> = self.answer.hits.iter().map(|hit| hit.file).collect();
            let units = self.answer.units.iter().filter(|unit| shown.contains(&unit.file)).map(|unit| unit.unit);
            let lines = snapshot.lexical.matched_lines(&self.answer.query, units)?;
            let _ = self.lines.set(lines);
        }
        Ok(self.lines.get().and_then(|lines| lines.get(&file)).copied())
    }

    /// The query's words with their weights in the index.
    fn words(&self) -> &QueryWords {
        self.words.get_or_init(|| QueryWords::new(&self.answer.query, &self.answer.statistics))
    }
}

impl ProjectSearcher {
    /// Works out the scope's filter for an open project. With `no_ignore`, paths that the settings ignore pass too.
    ///
    /// # Errors
    /// On a bad glob, pattern or type, where git is asked and has no answer, when the index can't be read, or where `stops`
    /// ends it.
    pub fn new(
        project: Project,
        snapshot: Arc<Snapshot>,
        within: Within,
        scope: &Scope,
        no_ignore: bool,
        settings: &Settings,
        stops: Stops<'_>,
    ) -> Result<ProjectSearcher> {
        let rules = PathRules::new(scope, no_ignore, settings, &project)?.below(&within.below).without(&within.without);
        let pattern = scope.pattern.as_ref().map(matcher).transpose()?;
        let structure = scope.structure.as_deref().map(StructureMatcher::new).transpose()?;
        let (below, facts) = (&within.below, &scope.facts);
        let patterns = (pattern.as_ref(), structure.as_ref());
        let filter = Filter::new(patterns, facts, &rules, below, &project, &snapshot, stops)?;
        let tags = settings.tags().into_iter().map(|(name, globs)| (name.to_string(), globs.to_vec())).collect();
        let facts = scope.facts.clone();
        Ok(ProjectSearcher { project, snapshot, within, rules, filter, facts, pattern, structure, tags })
    }

    /// The same place without these paths from its root.
    pub(crate) fn without(mut self, paths: Vec<String>) -> Result<ProjectSearcher> {
        self.within.without.extend(paths);
        self.rules = self.rules.without(&self.within.without);
        let ProjectSearcher { project, snapshot, within, rules, facts, pattern, structure, .. } = &self;
        let patterns = (pattern.as_ref(), structure.as_ref());
        self.filter = Filter::new(patterns, facts, rules, &within.below, project, snapshot, &|| false)?;
        Ok(self)
    }

    /// The lines of the scope, by path and number, up to `lines_max`: path, number, text. With a pattern these are the
    /// lines of indexed files that it matches, else a line of each unit: the call, where calls were asked for. The second
    /// part tells whether there are more.
    pub fn lines(&self, lines_max: usize) -> Result<(Vec<ScopeLine>, bool)> {
        if self.pattern.is_some() || self.structure.is_some() {
            return Ok(self.matching_lines(lines_max));
        }
        let length = Length { results: lines_max + 1, units_per_file: usize::MAX, single_units: true };
        let listed = self.list(length, true)?;
        let hits: Vec<usize> = (0..listed.answer.hits.len()).collect();
        let files = self.files(&listed, &hits, Detail::Lines)?;
        let units = files.iter().flat_map(|file| file.units.iter().map(move |unit| (file, &unit.line)));
        let line = |(file, line): (&FileAnswer, &BestLine)| {
            let end = line.text.floor_char_boundary(LINE_BYTES_MAX);
            (file.path.clone(), line.number as u32, line.text[..end].to_string())
        };
        let mut lines: Vec<ScopeLine> = units.map(line).filter(|(_, number, _)| *number > 0).collect();
        let is_cut = lines.len() > lines_max;
        lines.truncate(lines_max);
        Ok((lines, is_cut))
    }

    fn matching_lines(&self, lines_max: usize) -> (Vec<ScopeLine>, bool) {
        let Some(filter) = &self.filter else { return (Vec::new(), false) };
        let mut found = Vec::new();
        for record in self.snapshot.files.indexed() {
            let Some(matches) = filter.matches_of(&record.path, &self.snapshot) else { continue };
            // A file that is gone since, or became binary, has no lines any more.
            let Ok(text) = read_text(&self.project.root, &record.path) else { continue };
            let lines: Vec<&str> = text.lines().collect();
            for number in matches {
                let Some(line) = (*number as usize).checked_sub(1).and_then(|at| lines.get(at)) else { continue };
                if found.len() == lines_max {
                    return (found, true);
                }
                let end = line.floor_char_boundary(LINE_BYTES_MAX);
                found.push((record.path.clone(), *number, line[..end].to_string()));
            }
        }
        (found, false)
    }

    /// The scope's filter over units; `None` where it allows all.
    pub fn filter(&self) -> Option<&dyn UnitFilter> {
        self.filter.as_ref().map(|f| f as &dyn UnitFilter)
    }

    /// The tags of the settings, each with its globs.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.tags.iter()
    }

    /// Lists the place's units by path and line, a result for each file. With `call_lines`, units that were asked for
    /// by their calls show the line of the call.
    pub fn list(&self, length: Length, call_lines: bool) -> Result<ProjectRanking> {
        let answer = list(&self.snapshot, self.filter(), length)?;
        let matches = answer.hits.iter().map(|hit| hit.units.len() as u64).collect();
        let calls = (call_lines && !self.facts.calls.is_empty()).then(|| self.facts.clone());
        Ok(ProjectRanking { calls, is_list: true, ..ProjectRanking::new(answer, None, matches, true, 0) })
    }

    /// Works out results of a ranking in parallel, each with the wanted detail.
    pub fn files(&self, ranked: &ProjectRanking, hits: &[usize], detail: Detail) -> Result<Vec<FileAnswer>> {
        if hits.len() == 1 || detail == Detail::Names {
            return hits.iter().map(|hit| self.file(ranked, *hit, detail)).collect();
        }
        ranked.words();
        hits.par_iter().map(|hit| self.file(ranked, *hit, detail)).collect()
    }

    /// What lies around the best unit of a file that a pack shows first.
    fn surroundings(&self, shown: &[RankedUnit], units: &[Unit]) -> Result<Surroundings> {
        let (Some(first), Some(unit)) = (shown.first(), units.first()) else { return Ok(Surroundings::default()) };
        let mut around = Surroundings::of(&CallGraph::new(&self.snapshot), first.unit, unit)?;
        let hash = |path: &str| Some(self.snapshot.texts.hashed(&self.project.root, path).ok()?.1);
        around.called.retain(|place| self.record(&place.path).map(|record| record.hash) == hash(&place.path));
        Ok(around)
    }

    /// Works out one result of a ranking, with the wanted detail. Where the file has changed since, the units that it has
    /// no more are left out, all of them where it is gone.
    pub fn file(&self, ranked: &ProjectRanking, hit: usize, detail: Detail) -> Result<FileAnswer> {
        let is_first = hit == 0;
        let hit = &ranked.answer.hits[hit];
        let path = &ranked.answer.files[hit.file].path;
        let matches = ranked.matches.get(hit.file).copied().unwrap_or_default();
        let mut file = FileAnswer { score: hit.score, strength: hit.strength, matches, ..self.named(path) };
        if detail == Detail::Names {
            return Ok(file);
        }
        // Nothing is shown that can't be compared with the file.
        let Ok((text, hash)) = self.snapshot.texts.hashed(&self.project.root, path) else { return Ok(file) };
        let record = self.record(path);
        let is_other = record.is_some_and(|record| record.hash != hash);
        file.text = Arc::unwrap_or_clone(text);
        file.matching_lines =
            self.filter.as_ref().and_then(|f| f.matches_of(path, &self.snapshot)).map(<[u32]>::to_vec);
        let shown = match ranked.is_of_units || self.rules.asks_for_tests() {
            true => hit.units.clone(),
            false => standing((&self.snapshot, &ranked.answer, ranked.words()), hit, &file, detail == Detail::Parts)?,
        };
        if !ranked.is_list {
            file.also_here = also_here(&ranked.answer.units, ranked.best, hit.file, hit.score, &shown);
        }
        let stored = shown.iter().map(|candidate| Ok(self.snapshot.lexical.unit(candidate.unit)?));
        let mut units = StoredUnit::units(stored.collect::<Result<_>>()?, if is_other { "" } else { &file.text });
        let indexed: Vec<u32> = units.iter().map(|unit| unit.span.line).collect();
        let there = match is_other {
            true => {
                let hashes: Vec<_> =
                    shown.iter().map(|candidate| self.snapshot.lexical.text_of(candidate.unit)).collect();
                follow(&mut units, &hashes, path, &file.text, ranked.words())
            }
            false => vec![true; units.len()],
        };
        // A pointer into an indexed text moves with its unit, and may lead nowhere.
        let pointed = shown.iter().zip(&units).zip(indexed).map(|((candidate, unit), indexed)| {
            let line = candidate.pointed_line?;
            let moved = (line + unit.span.line).saturating_sub(indexed);
            let is_inside = |line: &u32| !is_other || (unit.span.first..=unit.span.end).contains(line);
            [if is_other { moved } else { line }, line].into_iter().find(is_inside)
        });
        let pointed: Vec<Option<u32>> = pointed.collect();
        if detail == Detail::Parts && is_first && !is_other {
            file.surroundings = self.surroundings(&shown, &units)?;
        }
        let all_pointed = || pointed.iter().flatten().copied();
        let firsts = units.iter().map(|unit| unit.span.first.min(unit.span.line));
        let first = firsts.chain(all_pointed()).min().unwrap_or_default();
        let end = units.iter().map(|unit| unit.span.end).chain(all_pointed()).max().unwrap_or_default();
        let lines = lines_between(&file.text, first as usize, end as usize, read::lines);
        let mut weighed = WeighedLines::new(&lines);
        let mut answered = Vec::with_capacity(units.len());
        let found = units.into_iter().zip(&shown).zip(pointed).zip(there);
        for (((unit, candidate), pointed), _) in found.filter(|(_, is_there)| *is_there) {
            let steps = ranked.steps(candidate);
            let mut one = UnitAnswer { score: candidate.score, steps, ..UnitAnswer::default() };
            let words = ranked.words();
            let (first, end) = (unit.span.line, unit.span.end);
            let marks = language::comment_marks(&file.language);
            let call = || ranked.calls.as_ref().and_then(|facts| call_line(&lines, first, end, facts, marks));
            // With a pattern, one of the lines that match it.
            let passes = |line: &u32| file.matching_lines.as_ref().is_none_or(|lines| lines.contains(line));
            // A trace of another version names lines that the file may not have, and an old index those of another text.
            let stands = |line: &u32| {
                let text = lines.get((*line as usize).wrapping_sub(1));
                let answers = |text: &&str| !is_other || *line == first || !words.places(text).is_empty();
                lines.is_empty() || text.is_some_and(answers)
            };
            let number = match pointed.filter(passes).filter(stands).or_else(call) {
                Some(line) => line as usize,
                None if file.matching_lines.is_none() && is_headed(&unit, &file.language) => {
                    words.line_below_heading(&lines, &unit).unwrap_or(unit.span.line as usize)
                }
                None => words.best_line(&mut weighed, &unit, file.matching_lines.as_deref()),
            };
            one.line = self.line(words, &lines, number, &unit);
            one.last_line = (unit.span.end as usize).min(lines.len());
            one.name_line = own_line(&lines, &unit, one.last_line);
            if detail == Detail::Relations && (answered.is_empty() || ranked.is_list) && !unit.name.is_empty() {
                one.called_by = self.snapshot.callers(&unit.name, &file.language)?;
            }
            let has_members = detail == Detail::Parts && may_have_members(&unit);
            if let Some(record) = record.filter(|_| has_members && !is_other) {
                one.parts = colgrep_search::own_lines(&self.snapshot, record.id, candidate.unit, &lines)?;
            }
            if let Some(record) = record.filter(|record| detail == Detail::Parts && !is_text(&record.language)) {
                let imports = || self.snapshot.lexical.imports(record.id);
                one.parts.extend(parts_without_imports(&ranked.answer.query, &unit, &lines, number, imports)?);
            }
            one.id = StableId::new(path, unit.span.line, unit.span.end);
            one.unit = unit;
            if one.line.is_in_file {
                answered.push(one);
            }
        }
        file.units = answered;
        if let Some(record) = record.filter(|_| detail == Detail::Relations) {
            file.imports = self.snapshot.lexical.imports(record.id)?;
            file.matched_lines = if is_other { None } else { ranked.matched_lines(record.id, &self.snapshot)? };
        }
        Ok(file)
    }

    /// A line by its number, ready to be shown. Where the file has no such line, the unit's name.
    fn line(&self, words: &QueryWords, lines: &[&str], number: usize, unit: &Unit) -> BestLine {
        let line = lines.get(number.wrapping_sub(1)).copied();
        let text = line.map_or_else(|| unit.qualified_name(), str::to_string);
        BestLine {
            number,
            is_in_file: line.is_some(),
            marks: words.places(&text),
            matches: self.pattern.as_ref().map(|pattern| places(&**pattern, text.as_bytes())),
            text,
        }
    }

    /// The indexed files that the scope allows and that are not in `ranked`, by path.
    pub fn files_without(&self, ranked: &ProjectRanking) -> Result<Vec<FileAnswer>> {
        let hit: HashSet<&str> = (0..ranked.len()).map(|h| ranked.path(h)).collect();
        let allowed = allowed_files(&self.rules, &self.within.below, &self.snapshot)?;
        let others = allowed.iter().filter(|f| !hit.contains(f.path.as_str()) && self.is_there(&f.path));
        Ok(others.map(|f| self.named(&f.path)).collect())
    }

    /// Whether a file is still in the tree.
    pub(crate) fn is_there(&self, path: &str) -> bool {
        self.project.root.join(path).symlink_metadata().is_ok_and(|about| about.is_file())
    }

    /// Which files its structural pattern was not matched in, where it has one.
    pub(crate) fn structure_coverage(&self) -> Option<StructureCoverage> {
        self.structure.as_ref().map(StructureMatcher::coverage)
    }

    /// Whether the rules leave a file, whatever its text and its units are.
    pub fn has_files(&self) -> bool {
        allowed_files(&self.rules, &self.within.below, &self.snapshot).is_ok_and(|files| !files.is_empty())
    }

    /// Adds where the names that facts about calls ask for occur in files that the rules leave.
    pub fn add_unknown_calls(&self, facts: &Facts, unknown: &mut UnknownCalls) -> Result<()> {
        if !facts.name_calls() {
            return Ok(());
        }
        unknown.add(facts, &allowed_files(&self.rules, &self.within.below, &self.snapshot)?, &self.snapshot)
    }

    /// Whether the scope allows a file of its index, or part of it.
    pub fn allows_file(&self, file: FileId) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.allows_file(file))
    }

    /// Whether the scope allows a unit on these lines of a file, whatever it is; of a file that is not indexed, any.
    pub fn allows_lines(&self, path: &str, (first, end): (u32, u32)) -> bool {
        let (Some(filter), Some(record)) = (&self.filter, self.record(path)) else { return true };
        let (key, kind) = (UnitId::new(0, 0), UnitKind::RawCode);
        filter.allows_unit(&UnitPlace { key, file: record.id, kind, first, end })
    }

    /// A file with its names and its language, without text or units.
    pub(crate) fn named(&self, path: &str) -> FileAnswer {
        let given = self.within.below.iter().zip(&self.within.given).find(|(below, _)| is_below(path, below));
        FileAnswer {
            root: self.project.root.clone(),
            path: path.to_string(),
            given: given.map(|(below, given)| (given.clone(), path[below.len()..].trim_start_matches('/').to_string())),
            language: self.record(path).map(|r| r.language.clone()).unwrap_or_default(),
            ..FileAnswer::default()
        }
    }

    /// A unit of a file as the file is now, and the line with its name; `None` where it is gone.
    pub(crate) fn current(&self, path: &str, mut unit: Unit) -> Option<(Unit, u32)> {
        let (text, hash) = self.snapshot.texts.hashed(&self.project.root, path).ok()?;
        let is_other = self.record(path).is_some_and(|record| record.hash != hash);
        if is_other && !follow(std::slice::from_mut(&mut unit), &[None], path, &text, &QueryWords::of_text(""))[0] {
            return None;
        }
        let lines = lines_between(&text, unit.span.line as usize, unit.span.end as usize, read::lines);
        let line = own_line(&lines, &unit, unit.span.end as usize) as u32;
        Some((unit, line))
    }

    pub(crate) fn record(&self, path: &str) -> Option<&FileRecord> {
        let files = &self.snapshot.files.files;
        files.binary_search_by(|f| f.path.as_str().cmp(path)).ok().map(|at| &files[at])
    }
}

/// Whether other units may lie in it.
fn may_have_members(unit: &Unit) -> bool {
    let is_large = unit.span.end + 1 >= unit.span.line + colgrep_syntax::parse::LARGE_FUNCTION_LINES;
    matches!(unit.kind, UnitKind::Class | UnitKind::Section) || is_large
}

/// Whether a unit is a section of prose with a heading: the heading is its best line.
fn is_headed(unit: &Unit, language: &str) -> bool {
    let is_prose = || language::by_name(language).is_some_and(|row| row.category == language::Category::Prose);
    unit.kind == UnitKind::Section && !unit.name.is_empty() && is_prose()
}

/// The best units, each as a result of its own. In documentation the units of one page are limited ([`answers`]).
pub(crate) fn single_units(answer: &colgrep_search::CorpusAnswer, wanted: usize) -> Vec<FileHit> {
    let strengths: HashMap<usize, f32> = answer.hits.iter().map(|h| (h.file, h.strength)).collect();
    let hit = |c: &RankedUnit| {
        let strength = *strengths.get(&c.file)?;
        Some(FileHit { file: c.file, score: c.score, strength, units: vec![*c] })
    };
    answers(&answer.units, answer.is_documentation).filter_map(hit).take(wanted).collect()
}
