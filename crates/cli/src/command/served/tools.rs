//! The tools that rank; answers are text.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_core::UnitKind;
use colgrep_core::collapse::PerFile;
use colgrep_core::expand::TermTable;
use colgrep_core::tag::Hint;
use colgrep_engine::damage::{damage, guarded};
use colgrep_engine::like::{Like, like};
use colgrep_engine::list::Length;
use colgrep_engine::model::Model;
use colgrep_engine::near::NearFile;
use colgrep_engine::notice::IndexState;
use colgrep_engine::pack;
use colgrep_engine::place::{Asked, Place, Within};
use colgrep_engine::request::check_length;
use colgrep_engine::{
    Background, Detail, Error as EngineError, Facts, Pattern, RankBy, RankingOptions, Refused, Scope, Standpoint,
    Tests, terms,
};
use colgrep_index::ids::StableId;
use colgrep_index::store::Snapshot;
use colgrep_index::update::repair;
use serde_json::Value;

use super::block::block;
use super::ends::{Answered, Told, weakest};
use super::files::grep;
use super::page::{page, tokens_wanted};
use super::params;
use super::state::{Root, ServerState};
use crate::args::has_no_word;
use crate::args::line::standpoint;
use crate::console::Console;
use crate::hint::Hinted;
use crate::notice::{ANOTHER, coverage, lacking, not_ranked};
use crate::output::escape::escape_control;
use crate::output::pack::pieces;
use crate::words::counted;

/// Default number of files.
const RESULTS_DEFAULT: usize = 10;
/// Files retrieved for the first pages; doubled for later ones.
const WINDOW_FILES: usize = 64;
/// Maximum number of questions in one call.
const QUERIES_MAX: usize = 16;
/// Greatest number of files.
const RESULTS_MAX: usize = 1_000;

/// `search`, of one question or of several, each with its share of the answer's length.
pub fn search(state: &ServerState, asked: &params::Search) -> Result<Answered> {
    if asked.queries.is_empty() {
        return search_one(state, asked);
    }
    let queries: Vec<&String> = std::iter::once(&asked.query).chain(&asked.queries).filter(|q| !q.is_empty()).collect();
    if queries.len() > QUERIES_MAX {
        bail!("query and queries are {} questions; a call answers {QUERIES_MAX} at most", queries.len());
    }
    let shared = |tokens: usize| Some(tokens / queries.len().max(1));
    let max_tokens = shared(tokens_wanted(asked.max_tokens));
    let pack = asked.pack.and_then(shared);
    let (mut text, mut remarks, mut hits) = (String::new(), String::new(), Vec::new());
    for query in queries {
        let one = params::Search { query: query.clone(), queries: Vec::new(), max_tokens, pack, ..asked.clone() };
        let answered = search_one(state, &one)?;
        text.push_str(&format!("## {}\n{}", escape_control(query), answered.text));
        if !answered.remarks.is_empty() {
            remarks.push_str(&format!("## {}\n{}", escape_control(query), answered.remarks));
        }
        hits.extend(answered.hits.into_iter().flatten());
    }
    Ok(Answered { text, remarks, hits: Some(hits) })
}

/// A query without a word: lines that hold it as text.
fn search_text(state: &ServerState, asked: &params::Search) -> Result<Answered> {
    let lines = grep(
        state,
        &params::Grep {
            pattern: asked.query.trim().to_string(),
            fixed: true,
            paths: asked.paths.clone(),
            include: asked.include.clone(),
            exclude: asked.exclude.clone(),
            offset: asked.offset.unwrap_or_default(),
            max_tokens: asked.max_tokens,
            ..params::Grep::default()
        },
    )?;
    let said = format!(
        "({:?} holds no word, so it is searched as text, as the tool grep does with fixed)\n",
        asked.query.trim()
    );
    Ok(Answered::from(said + &lines))
}

fn search_one(state: &ServerState, asked: &params::Search) -> Result<Answered> {
    if asked.per_file == Some(0) {
        bail!("per_file: 0 asks for nothing; give 1 or more");
    }
    check_length(asked.query.as_bytes())?;
    let mut scope = Scope::default();
    scope.facts = facts(asked)?;
    if asked.query.trim().is_empty() && scope.facts.allow_all() {
        bail!("query is empty: say what to look for, in words or as a name");
    }
    if has_no_word(&asked.query) && asked.pattern.is_none() && scope.facts.allow_all() {
        return search_text(state, asked);
    }
    scope.tests = match &asked.tests {
        None => None,
        Some(text) => match Tests::from_name(text) {
            None => bail!("tests takes auto, only or exclude, not {text:?}"),
            tests => tests,
        },
    };
    scope.pattern = asked.pattern.as_ref().map(Pattern::new);
    (scope.include, scope.exclude) = (asked.include.clone(), asked.exclude.clone());
    scope.types.clone_from(&asked.languages);
    scope.code_only = asked.code_only.then_some(true);
    let mut places: Vec<(&Arc<Root>, Vec<String>)> = Vec::new();
    for path in &asked.paths {
        let (root, _, below) = state.locate(path)?;
        match places.iter_mut().find(|(r, _)| Arc::ptr_eq(r, root)) {
            Some((_, all)) => all.push(below),
            None => places.push((root, vec![below])),
        }
    }
    if places.is_empty() {
        places = state.roots().map(|r| (r, vec![r.below.clone()])).collect();
    }
    let wanted = wanted(asked.results)?;
    let background = background(state, asked)?;
    let (offset, pack) = (asked.offset.unwrap_or_default(), asked.pack_tokens());
    let mut lists = Vec::new();
    for (root, below) in &places {
        let question = Question {
            query: &asked.query,
            wanted: offset.saturating_add(wanted),
            per_file: asked.per_file,
            content: asked.content,
            lines: asked.lines.unwrap_or(0),
            pack: pack.map(|tokens| tokens / places.len().max(1)),
        };
        let background = &background;
        lists.push(Ranking { state, root, below, scope: &scope, question, like: None, background, asked }.ranked()?);
    }
    let remarks: String = lists.iter_mut().map(|list| std::mem::take(&mut list.told.remarks)).collect();
    let hits = hits_of(&mut lists).into_iter().skip(offset).take(wanted).collect();
    let text = match pack {
        Some(tokens) => page_of(lists, 0, wanted, Some(tokens.saturating_add(params::PACK_REMARK_TOKENS))),
        None => page_of(lists, offset, wanted, asked.max_tokens),
    };
    Ok(Answered::of(text, remarks, hits))
}

/// The conditions on units.
fn facts(asked: &params::Search) -> Result<Facts> {
    let named = |name: &String| if name.trim().is_empty() { Vec::new() } else { vec![name.clone()] };
    let mut facts = Facts::default();
    (facts.calls, facts.called_by) = (named(&asked.calls), named(&asked.called_by));
    for kind in named(&asked.kind) {
        let known = || UnitKind::ALL.map(UnitKind::name).join(", ");
        facts.kinds.push(UnitKind::from_name(&kind).with_context(|| format!("kind takes {}, not {kind:?}", known()))?);
    }
    Ok(facts)
}

/// Evidence that the agent gives beside the query.
fn background(state: &ServerState, asked: &params::Search) -> Result<Background> {
    let mut background = Background::default();
    let hints = asked.hints.iter().map(|hint| Ok(Hint::new(&hint.kind, &hint.word)?));
    background.hints = hints.collect::<Result<_>>()?;
    if let Some(given) = &asked.expand {
        // Nothing outside the roots is read.
        let given = PathBuf::from(given);
        let refused = || EngineError::from(Refused::NoTerms { given: given.clone() });
        let path = match given.to_str().and_then(TermTable::built_in) {
            Some(_) => given.clone(),
            None => state.locate(&given.to_string_lossy()).with_context(refused)?.1,
        };
        background.terms = terms::table(&path)?;
    }
    background.no_settings_terms = asked.no_expand;
    if let Some(given) = &asked.near {
        let whole = state.locate(given).ok().map(|(_, full, _)| Standpoint { file: full, line: None });
        let mut near = whole.unwrap_or_else(|| standpoint(given));
        // Nothing outside the roots is read.
        near.file = state.locate(&near.file.to_string_lossy())?.1;
        background.near = Some(near);
    }
    Ok(background)
}

/// Number of files asked for, within bounds.
fn wanted(results: Option<usize>) -> Result<usize> {
    match results {
        Some(0) => bail!("results: 0 asks for nothing; give 1 or more"),
        asked => Ok(asked.unwrap_or(RESULTS_DEFAULT).min(RESULTS_MAX)),
    }
}

/// `find_related`.
pub fn find_related(state: &ServerState, asked: &params::Related) -> Result<String> {
    let (root, path, line) = match unit_with(state, &asked.id)? {
        Some((root, below, line, _)) => (root, below, line),
        None => {
            let (root, full, path) = state.locate(&asked.file)?;
            if !full.is_file() {
                bail!("{} is no file", asked.file);
            }
            (root, path, asked.line)
        }
    };
    let wanted = wanted(asked.results)?;
    let below = std::slice::from_ref(&root.below);
    let scope = Scope::default();
    let list = repaired(root, || {
        let like = like(&root.project, &*state.snapshot(root)?, &path, line, state.model(root)?)?;
        let question = Question {
            query: &like.query,
            wanted: asked.offset.saturating_add(wanted),
            per_file: None,
            content: asked.content,
            lines: asked.lines.unwrap_or(0),
            pack: None,
        };
        let (background, asked) = (&Background::default(), &params::Search::default());
        Ranking { state, root, below, scope: &scope, question, like: Some(&like), background, asked }.once()
    })?;
    Ok(page_of(vec![list], asked.offset, wanted, asked.max_tokens))
}

/// A unit's root, its path from there, and its first and last line.
pub(super) type UnitPlace<'s> = (&'s Arc<Root>, String, u32, u32);

/// The unit with an id; `None` where no id is given.
pub(super) fn unit_with<'s>(state: &'s ServerState, id: &str) -> Result<Option<UnitPlace<'s>>> {
    let id = id.trim_start_matches('#');
    if id.is_empty() {
        return Ok(None);
    }
    let known: StableId =
        id.parse().ok().with_context(|| format!("{id:?} is no id: these are 16 hexadecimal digits"))?;
    for root in state.roots() {
        let snapshot = state.snapshot(root)?;
        if let Some((hit, file)) = snapshot.unit_with(known) {
            let span = snapshot.lexical.unit(hit.key)?.span;
            return Ok(Some((root, file.path.clone(), span.line, span.end)));
        }
    }
    Err(EngineError::from(Refused::NoUnitWith { id: id.to_string() }).into())
}

struct Question<'a> {
    query: &'a str,
    wanted: usize,
    per_file: Option<usize>,
    content: bool,
    /// Lines around the best one.
    lines: usize,
    /// Tokens of a pack.
    pack: Option<usize>,
}

/// One root's blocks, best first, with remarks (a line each) where its index is incomplete or leaves out a path asked
/// for.
struct Ranked {
    blocks: Vec<String>,
    remarks: String,
    more: bool,
    /// The results as rows, and remarks on all of them.
    told: Told,
}

/// One ranking in one root.
struct Ranking<'a> {
    state: &'a ServerState,
    root: &'a Arc<Root>,
    below: &'a [String],
    scope: &'a Scope,
    question: Question<'a>,
    /// The unit of a search for similar units.
    like: Option<&'a Like>,
    background: &'a Background,
    /// The whole call.
    asked: &'a params::Search,
}

impl Ranking<'_> {
    /// Ranks; if the index turns out to be damaged, repairs it and ranks once more.
    fn ranked(&self) -> Result<Ranked> {
        repaired(self.root, || self.once())
    }

    fn once(&self) -> Result<Ranked> {
        let (state, root, question) = (self.state, self.root, &self.question);
        let model = state.model(root)?;
        let snapshot = state.snapshot(root)?;
        let settings = state.settings(root)?;
        let knobs = settings.knobs(&state.env, &RankingOptions::default())?;
        let within = Within::paths(self.below.to_vec());
        let place = Place::new(root.project.clone(), Arc::clone(&snapshot), within, self.scope, false, &settings)?;
        let terms = terms::in_force(self.background, &settings);
        let near = self.near()?;
        let past = match self.like {
            None => state.past(&settings).evidence(&root.project, question.query, &knobs),
            Some(_) => Vec::new(),
        };
        let asked = Asked {
            fusion: settings.fusion().unwrap_or_default(),
            by: RankBy::Both,
            model,
            like: self.like,
            hints: &self.background.hints,
            terms: (self.like.is_none() && !terms.is_empty()).then_some(&terms),
            near: near.as_ref(),
            past: &past,
            units_per_file: question.per_file.map_or(PerFile::Usual, |units| PerFile::Units(units.clamp(1, 100))),
            ..Asked::new(question.query, &knobs, WINDOW_FILES)
        };
        let (strength_min, has_end) = match self.like {
            Some(_) => (0.0, false),
            None => weakest(self.asked, self.scope, &settings)?,
        };
        let mut told = Told::default();
        let (blocks, more) = self.in_windows(Asked { strength_min, ..asked }, &place, has_end, &mut told)?;
        let building = (!snapshot.files.complete).then(|| {
            format!("(the index is being built: {})\n", coverage(&IndexState::of(&root.project, &snapshot, model)))
        });
        let lacking = || Some(format!("({})\n", lacking_in(root, &snapshot, model)?));
        let mut remarks = building.or_else(lacking).unwrap_or_default();
        for Hinted { what, tool, .. } in place.not_ranked().map(|of| not_ranked(&of)) {
            remarks.push_str(&format!("({}; {tool})\n", escape_control(&what)));
        }
        Ok(Ranked { blocks, remarks, more, told })
    }

    /// The file that the agent works on.
    fn near(&self) -> Result<Option<NearFile>> {
        let Some(at) = &self.background.near else { return Ok(None) };
        let (root, _, path) = self.state.locate(&at.file.to_string_lossy())?;
        let settings = self.state.settings(root)?;
        Ok(Some(NearFile::new(at, &root.project, path, self.scope, &self.state.past(&settings))?))
    }

    /// The blocks of the files that are wanted, and whether there may be more. Asking for more files retrieves more
    /// candidates and may change the order. So pages run through the ranking of a window of files, then through that of
    /// the next window without the files already shown: no file is repeated or lost.
    fn in_windows(
        &self,
        mut asked: Asked<'_>,
        place: &Place,
        has_end: bool,
        told: &mut Told,
    ) -> Result<(Vec<String>, bool)> {
        if self.like.is_none() && self.question.query.trim().is_empty() {
            return self.listed(place);
        }
        if let Some(tokens) = self.question.pack {
            return self.packed((asked, tokens), place, has_end, told);
        }
        let console = Console::new(true, self.state.env.trace);
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        loop {
            let mut ranked = place.rank(&asked, &*console)?;
            let are_all = ranked.len() < asked.files;
            ranked.retain(|path| seen.insert(path.to_string()));
            let room = self.question.wanted - all.len();
            let more = ranked.len() > room || !are_all;
            ranked.truncate(room);
            let hits: Vec<usize> = (0..ranked.len()).collect();
            let files = place.files(&ranked, &hits, Detail::Lines)?;
            all.extend(files.iter().map(|file| block(file, self.question.content, self.question.lines)));
            told.add(&files);
            if are_all || all.len() == self.question.wanted {
                if has_end {
                    told.end(place, &ranked, self.asked)?;
                }
                return Ok((all, more));
            }
            asked.files = asked.files.saturating_mul(2);
        }
    }
}

impl Ranking<'_> {
    /// A pack, as one block. Files are ranked as for pages, so those that it does not name begin the next page.
    fn packed(
        &self,
        (asked, tokens): (Asked<'_>, usize),
        place: &Place,
        has_end: bool,
        told: &mut Told,
    ) -> Result<(Vec<String>, bool)> {
        let units_per_file = PerFile::Units(pack::UNITS_PER_FILE);
        let asked = Asked { units_per_file, ..asked };
        let mut ranked = place.rank(&asked, &*Console::new(true, self.state.env.trace))?;
        let found = ranked.len();
        ranked.truncate(self.question.wanted);
        let hits: Vec<usize> = (0..ranked.len()).collect();
        let files = place.files(&ranked, &hits, Detail::Parts)?;
        told.add(&files);
        if has_end {
            told.end(place, &ranked, self.asked)?;
        }
        let pieces = pieces(&files, tokens, true);
        let named = (0..found).find(|at| pieces.iter().all(|piece| piece.file != *at)).unwrap_or(found);
        let mut text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        let units = pieces.iter().filter(|piece| piece.file == 0).count() as u64;
        let more_here = files.first().map_or(0, |file| (file.also_here + 1).saturating_sub(units));
        if more_here > 0 && named > 0 {
            text.push_str(&format!("(also in the first file: {})\n", counted(more_here, "unit")));
        }
        if named < found {
            text.push_str(&format!("(there may be more results: offset {named})\n"));
        }
        Ok((if named == 0 { Vec::new() } else { vec![text] }, false))
    }

    /// The blocks of the first files with units that the scope's facts name, and whether there are more.
    fn listed(&self, place: &Place) -> Result<(Vec<String>, bool)> {
        let Question { wanted, per_file, content, lines, .. } = self.question;
        let length = Length {
            results: wanted.saturating_add(1),
            units_per_file: per_file.unwrap_or(usize::MAX),
            single_units: false,
        };
        let listed = place.list(length, false)?;
        let hits: Vec<usize> = (0..listed.len().min(wanted)).collect();
        let files = place.files(&listed, &hits, Detail::Lines)?;
        Ok((files.iter().map(|file| block(file, content, lines)).collect(), listed.len() > wanted))
    }
}

/// Runs `work`. If the root's index turns out to be damaged, repairs it and runs `work` once more.
fn repaired<T>(root: &Root, work: impl Fn() -> Result<T>) -> Result<T> {
    match guarded(&work) {
        Err(error) if damage(error.as_ref()).is_some() => {
            root.forget();
            repair(&root.project.store)?;
            guarded(work)
        }
        done => done,
    }
}

/// How many units of a root's index lack vectors, and who makes them.
pub(super) fn lacking_in(root: &Root, snapshot: &Snapshot, model: Option<&Model>) -> Option<String> {
    let lack = model?.lacking(snapshot)?;
    let maker = || root.is_encoding().then_some("this server").or(root.project.store.is_locked().then_some(ANOTHER));
    Some(lacking(&lack, maker()))
}

/// Interleaves the rows of several roots, as [`page_of`] does their blocks.
fn hits_of(lists: &mut [Ranked]) -> Vec<Value> {
    let mut rows: Vec<_> = lists.iter_mut().map(|list| std::mem::take(&mut list.told.hits).into_iter()).collect();
    let mut hits = Vec::new();
    while rows.iter().any(|rows| rows.len() > 0) {
        hits.extend(rows.iter_mut().filter_map(Iterator::next));
    }
    hits
}

/// Interleaves the blocks of several roots, since their scores can't be compared.
fn page_of(mut lists: Vec<Ranked>, offset: usize, wanted: usize, max_tokens: Option<usize>) -> String {
    let longest = lists.iter().map(|l| l.blocks.len()).max().unwrap_or(0);
    let more = lists.iter().any(|l| l.more);
    let remarks: String = lists.iter().map(|l| l.remarks.as_str()).collect();
    let mut all = Vec::new();
    for rank in 0..longest {
        for list in &mut lists {
            if let Some(block) = list.blocks.get_mut(rank) {
                all.push(std::mem::take(block));
            }
        }
    }
    let end = offset.saturating_add(wanted);
    let cut = all.len() > end;
    all.truncate(end);
    remarks + &page(&all, offset, max_tokens, "results", more || cut)
}
