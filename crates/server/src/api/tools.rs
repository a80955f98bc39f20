//! The tools that rank; answers are text.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_cluster::ShardCoverage;
use colgrep_core::UnitKind;
use colgrep_core::expand::TermTable;
use colgrep_core::tag::Hint;
use colgrep_engine::answer::pack::{BYTES_A_TOKEN, UNITS_PER_FILE};
use colgrep_engine::answer::show::ContextLines;
use colgrep_engine::request::check_length;
use colgrep_engine::request::like::like;
use colgrep_engine::request::terms;
use colgrep_engine::{
    Background, Error as EngineError, Facts, Pattern, Question, Refused, Scope, SearchRequest, Standpoint, Tests,
    Weakest,
};

use super::block::block;
use super::ends::{ToolAnswer, remark};
use super::files::lines_of;
use super::page::{TOKENS_MIN, page_tokens, tokens_wanted, whole_answer};
use super::params;
use super::ranking::{
    RankedBlocks, RootPaths, RootsRanking, Show, UnitBlocks, Window, page_of, page_of_units, repaired,
};
use super::read::written_lines;
use super::state::ServerState;
use super::units::{check_file, unit_with};
use super::unserved::is_partial;
use colgrep_engine::request::has_no_word;
use colgrep_render::end::has_filters;
use colgrep_render::escape::escape_control;
use colgrep_render::words::in_short;

/// Default number of files.
pub(super) const RESULTS_DEFAULT: usize = 10;
/// Units shown of a file with a literal match.
const TEXT_UNITS: usize = 3;
/// Greatest number of units of a file.
const UNITS_MAX: usize = 100;
/// Maximum number of questions in one call.
const QUERIES_MAX: usize = 16;
/// Greatest number of files.
const RESULTS_MAX: usize = 1_000;

/// A ranking by one question, or by several, each with its share of the answer's length.
pub fn rank(state: &ServerState, asked: &params::Search) -> Result<ToolAnswer> {
    if asked.queries.is_empty() {
        return search_one(state, asked);
    }
    let queries: Vec<&String> = std::iter::once(&asked.query).chain(&asked.queries).filter(|q| !q.is_empty()).collect();
    if queries.len() > QUERIES_MAX {
        bail!("query and queries are {} questions; a call answers {QUERIES_MAX} at most", queries.len());
    }
    if queries.is_empty() {
        return search_one(state, &params::Search { queries: Vec::new(), ..asked.clone() });
    }
    if queries.len() > 1 && asked.offset.is_some_and(|offset| offset > 0) {
        bail!("offset: each question has pages of its own; ask for those of one, as `query` without `queries`");
    }
    let whole = tokens_wanted(asked.max_tokens);
    let heading = |query: &str| format!("## {}\n", escape_control(&in_short(query)));
    let headings: usize = queries.iter().map(|query| heading(query).len().div_ceil(BYTES_A_TOKEN)).sum();
    let share = whole.saturating_sub(headings) / queries.len();
    if share < TOKENS_MIN {
        let least = TOKENS_MIN * queries.len() + headings;
        bail!("max_tokens: {whole} is too little for {} questions; give {least} or more", queries.len());
    }
    let pack = asked.pack.map(|tokens| tokens / queries.len());
    let (mut text, mut hits, mut standing) = (String::new(), Vec::new(), None);
    let (mut unserved, are_several) = (Vec::new(), queries.len() > 1);
    for query in queries {
        let (query, queries, max_tokens) = (query.clone(), Vec::new(), Some(share));
        let one = params::Search { query, queries, max_tokens, pack, ..asked.clone() };
        let answered = search_one(state, &one)?;
        // Its remarks belong to it.
        text.push_str(&heading(&one.query));
        text.push_str(&whole_answer(&answered.text, &answered.remarks, "", share));
        hits.extend(answered.hits.into_iter().flatten().map(|mut hit| {
            if are_several {
                hit["query"] = in_short(&one.query).into();
            }
            hit
        }));
        unserved.extend(answered.unserved.into_iter().filter(|one| !unserved.contains(one)).collect::<Vec<_>>());
        // One question may have been answered by fewer shards than the next.
        let lacks = |one: &ShardCoverage| (one.missing.len() + one.unserved.len(), one.partial.len());
        let is_worse = |known: &ShardCoverage, other: &ShardCoverage| lacks(known) < lacks(other);
        if let Some(other) = answered.standing
            && standing.as_ref().is_none_or(|known| is_worse(known, &other))
        {
            standing = Some(other);
        }
    }
    Ok(ToolAnswer { text, hits: Some(hits), standing, unserved, ..ToolAnswer::default() })
}

/// A query without a word: lines that contain it literally.
fn search_text(state: &ServerState, asked: &params::Search) -> Result<ToolAnswer> {
    let scope = scope(asked)?;
    // Validate the background, though no line is ranked.
    background(state, asked)?;
    let wanted = params::Grep {
        pattern: asked.query.trim().to_string(),
        fixed: true,
        paths: asked.paths.clone(),
        groups: asked.groups.clone(),
        offset: asked.offset.unwrap_or_default(),
        max_tokens: asked.max_tokens,
        ..params::Grep::default()
    };
    let lines = lines_of(state, &wanted, scope, (None, true))?;
    let said = format!("({:?} holds no word, so it is searched as literal text)\n", in_short(&asked.query));
    Ok(ToolAnswer { remarks: said + &lines.remarks, ..lines })
}

fn search_one(state: &ServerState, asked: &params::Search) -> Result<ToolAnswer> {
    check(asked)?;
    if asks_for_text(state, asked)? {
        return search_text(state, asked);
    }
    let (content, around, pack) = (asked.content, asked.lines.unwrap_or(0), asked.pack_length());
    let show: Show<'_> = &|file| block(file, content, around);
    let is_list = asked.query.trim().is_empty();
    let (offset, room) = (asked.offset.unwrap_or_default(), page_tokens(asked.max_tokens));
    let apart = is_list.then_some(UnitBlocks { offset, room });
    let pack = pack.filter(|_| !is_list);
    let mut list = ranked(state, asked, pack.map(|pack| pack.units), show, apart)?;
    let wanted = wanted(asked.results);
    let mut told = std::mem::take(&mut list.told);
    let on_indexes = std::mem::take(&mut list.remarks);
    let why = list.why.take();
    let (text, shown) = match pack {
        Some(pack) => page_of(list, 0, wanted, Some(pack.whole)),
        None if is_list => page_of_units(list, offset, asked.max_tokens),
        None => page_of(list, offset, wanted, asked.max_tokens),
    };
    let shown = told.packed.map_or(shown, |packed| shown.min(packed));
    let on_results = match why {
        // What nothing here holds is not what nothing was found for.
        Some(why) => remark(Some(why)),
        None => told.said(&asked.query, offset..offset.saturating_add(shown), place_of(asked)?),
    };
    told.hits = told.hits.into_iter().skip(offset).take(shown).collect();
    let tokens = pack.map(|pack| pack.whole);
    Ok(ToolAnswer { tokens, ..ToolAnswer::of(text, on_indexes + &on_results, told) })
}

/// Whether a query is searched as literal text: it has no word, and nothing else says what is looked for.
///
/// # Errors
/// When it does over shards.
fn asks_for_text(state: &ServerState, asked: &params::Search) -> Result<bool> {
    let is_text = has_no_word(&asked.query) && pattern(asked).is_none() && facts(asked)?.allow_all();
    if is_text && state.shards().is_some() {
        bail!(
            "{:?} holds no word, and over shards no text is searched; ask in words or by a name",
            in_short(&asked.query)
        );
    }
    Ok(is_text)
}

/// The results of a search, each as `show` gives it.
pub struct Shown {
    /// The results, best first, from the offset on.
    pub results: Vec<String>,
    /// Remarks on all of them, a line each.
    pub remarks: String,
    /// Whether there may be further ones.
    pub more: bool,
    /// Whether shards or repositories are left out.
    pub is_partial: bool,
}

/// `search`, for a reader other than an agent: each result as `show` gives it.
///
/// # Errors
/// When the request can't be answered, or an index can't be read.
pub fn search_shown(state: &ServerState, asked: &params::Search, show: Show<'_>) -> Result<Shown> {
    check(asked)?;
    let is_text = asks_for_text(state, asked)?;
    let mut list = ranked(state, asked, None, show, None)?;
    if is_text {
        let said = format!("({:?} holds no word, so it is searched as text)\n", in_short(&asked.query));
        list.remarks.insert_str(0, &said);
    }
    let offset = asked.offset.unwrap_or_default();
    let end = offset.saturating_add(wanted(asked.results));
    let mut all = list.blocks;
    let more = list.more || all.len() > end;
    all.truncate(end);
    let on_results = match list.why {
        why @ Some(_) => remark(why),
        None => list.told.said(&asked.query, offset..all.len(), place_of(asked)?),
    };
    let remarks = [list.remarks, on_results, list.told.left_out()].concat();
    let is_partial = is_partial(list.told.standing.as_ref(), &list.told.unserved);
    Ok(Shown { results: all.split_off(offset.min(all.len())), remarks, more, is_partial })
}

/// Refuses what asks for nothing.
fn check(asked: &params::Search) -> Result<()> {
    if asked.all && asked.min_strength.is_some() {
        bail!("the parameter `all` cannot be used with `min_strength`; give one of them");
    }
    check_length(asked.query.as_bytes())?;
    if asked.query.trim().is_empty() && pattern(asked).is_none() && facts(asked)?.allow_all() {
        bail!("query is empty: say what to look for, in words or as a name");
    }
    Ok(())
}

/// What narrows a search, but for its paths.
pub(super) fn scope(asked: &params::Search) -> Result<Scope> {
    let mut scope = Scope::default();
    scope.facts = facts(asked)?;
    scope.tests = match &asked.tests {
        None => None,
        Some(text) => match Tests::from_name(text) {
            None => bail!("tests takes auto, only or exclude, not {text:?}"),
            tests => tests,
        },
    };
    scope.pattern = pattern(asked).map(|text| {
        let mut pattern = Pattern::served(text);
        (pattern.fixed, pattern.word, pattern.ignore_case) = (asked.fixed, asked.word, asked.ignore_case);
        pattern
    });
    (scope.include, scope.exclude) = (asked.include.clone(), asked.exclude.clone());
    scope.types.clone_from(&asked.languages);
    scope.code_only = asked.code_only.then_some(true);
    Ok(scope)
}

/// What narrows a search, with its paths as they are written.
pub(super) fn limits(asked: &params::Search) -> Result<Scope> {
    let mut scope = scope(asked)?;
    scope.paths = asked.paths.iter().chain(&asked.groups).map(Into::into).collect();
    Ok(scope)
}

/// What a search looks through, in words.
fn place_of(asked: &params::Search) -> Result<&'static str> {
    let limits = limits(asked)?;
    Ok(if limits.paths.is_empty() && !has_filters(&limits) { "here" } else { "in what is searched" })
}

/// The results of all roots; matches of a literal query are listed.
fn ranked(
    state: &ServerState,
    asked: &params::Search,
    pack: Option<usize>,
    show: Show<'_>,
    apart: Option<UnitBlocks>,
) -> Result<RankedBlocks> {
    let mut scope = scope(asked)?;
    let is_text = asks_for_text(state, asked)?;
    if is_text {
        let mut text = Pattern::served(asked.query.trim());
        text.fixed = true;
        scope.pattern = Some(text);
    }
    if state.shards().is_some() {
        scope.paths = asked.paths.iter().map(PathBuf::from).collect();
        if asked.near.is_some() {
            bail!("near: there is no such file here, this server answers over shards; leave it out");
        }
        if !asked.groups.is_empty() {
            bail!(
                "groups are folders of a machine, and this server answers over shards; paths takes names of repositories"
            );
        }
    }
    let (places, is_everywhere) = places(state, asked)?;
    let mut request = SearchRequest::new(&asked.query);
    if is_text || asked.query.trim().is_empty() {
        request.question = Question::Every;
    }
    request.background = background(state, asked)?;
    request.scope = scope;
    request.read_filters(state.shards().is_some());
    request.shape.weakest = weakest(asked)?;
    let units_per_file = asked.per_file.map(|units| units.clamp(1, UNITS_MAX)).or(is_text.then_some(TEXT_UNITS));
    request.shape.units_per_file = pack.map(|_| UNITS_PER_FILE).or(units_per_file);
    let skipped = if apart.is_some() { 0 } else { asked.offset.unwrap_or_default() };
    let window = Window {
        apart,
        wanted: skipped.saturating_add(wanted(asked.results)),
        show,
        pack,
        // What of a unit goes into a pack depends on the length of all of it.
        lines: ContextLines { around: ContextLines::around(asked.lines), are_whole: asked.content || pack.is_some() },
    };
    let mut ranked = RootsRanking { state, roots: &places, request: &request, window, like: None }.ranked()?;
    if is_everywhere {
        ranked.told.unserved.extend_from_slice(state.lost());
    }
    Ok(ranked)
}

/// The roots with the places that a search is limited to, and whether these are all that there are.
pub(super) fn places<'s>(state: &'s ServerState, asked: &params::Search) -> Result<(Vec<RootPaths<'s>>, bool)> {
    let (paths, groups) = if state.shards().is_some() { (&[][..], &[][..]) } else { (&*asked.paths, &*asked.groups) };
    let mut places: Vec<RootPaths<'_>> = Vec::new();
    for (root, _, below) in state.located(paths, groups)? {
        match places.iter_mut().find(|(r, _)| Arc::ptr_eq(r, root)) {
            Some((_, all)) => all.push(below),
            None => places.push((root, vec![below])),
        }
    }
    let is_everywhere = places.is_empty();
    if is_everywhere {
        places = state.roots().map(|r| (r, vec![r.below.clone()])).collect();
    }
    Ok((places, is_everywhere))
}

/// The weakest file of the answer.
fn weakest(asked: &params::Search) -> Result<Weakest> {
    match (asked.all, asked.min_strength) {
        (true, _) => Ok(Weakest::Strength(0.0)),
        (false, Some(least)) if !(0.0..=1.0).contains(&least) => {
            bail!("min_strength takes a number from 0 to 1, not {least}")
        }
        (false, Some(least)) => Ok(Weakest::Strength(least)),
        (false, None) => Ok(Weakest::Floor),
    }
}

/// The pattern that units have to match. Agents that fill in every parameter leave it empty.
pub(super) fn pattern(asked: &params::Search) -> Option<&String> {
    asked.pattern.as_ref().filter(|pattern| !pattern.is_empty())
}

/// The conditions on units.
pub(super) fn facts(asked: &params::Search) -> Result<Facts> {
    let named = |names: &[String]| names.iter().filter(|name| !name.trim().is_empty()).cloned().collect::<Vec<_>>();
    let mut facts = Facts::default();
    (facts.calls, facts.called_by) = (named(&asked.calls), named(&asked.called_by));
    facts.ignore_case = asked.ignore_case;
    for kind in named(&asked.kind) {
        let known = || UnitKind::ALL.map(UnitKind::name).join(", ");
        facts.kinds.push(UnitKind::from_name(&kind).with_context(|| format!("kind takes {}, not {kind:?}", known()))?);
    }
    Ok(facts)
}

/// Evidence that the agent gives with the query.
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
            None => {
                let full = state.locate(&given.to_string_lossy()).with_context(refused)?.1;
                // A pipe would be waited for.
                Some(full).filter(|full| full.is_file()).with_context(refused)?
            }
        };
        background.terms = terms::table(&path)?;
    }
    background.no_settings_terms = asked.no_expand;
    if let Some(given) = &asked.near {
        let whole = state.locate(given).ok().map(|(_, full, _)| Standpoint { file: full, line: None });
        let mut near = whole.unwrap_or_else(|| colgrep_engine::Standpoint::read(given));
        // Nothing outside the roots is read.
        near.file = state.locate(&near.file.to_string_lossy()).context("near")?.1;
        background.near = Some(near);
    }
    Ok(background)
}

/// Number of files asked for, within bounds.
pub(super) fn wanted(results: Option<usize>) -> usize {
    results.unwrap_or(RESULTS_DEFAULT).min(RESULTS_MAX)
}

pub fn find_related(state: &ServerState, asked: &params::Related) -> Result<ToolAnswer> {
    let roots = state.roots().map(|root| (root, vec![root.below.clone()])).collect();
    related_within(state, asked, Scope::default(), roots)
}

/// The same within a scope, and places of roots.
pub(super) fn related_within(
    state: &ServerState,
    asked: &params::Related,
    scope: Scope,
    mut roots: Vec<RootPaths<'_>>,
) -> Result<ToolAnswer> {
    state.check_here()?;
    check_file(&asked.id, &asked.file)?;
    let (file, lines) = written_lines(state, &asked.file);
    let (root, path, line) = match unit_with(state, &asked.id, file)? {
        Some((root, below, line, _)) => (root, below, line),
        None => {
            let (root, full, path) = state.locate(file)?;
            if !full.is_file() {
                bail!("{file} is not a file");
            }
            let line = asked.line.filter(|line| *line > 0).or(lines.map(|(first, _)| first));
            let line = line.with_context(|| format!("give the `line` of the unit, as {file}:LINE, or its `id`"))?;
            (root, path, line)
        }
    };
    let wanted = wanted(asked.results);
    // Its own root's settings say how all are ranked.
    roots.sort_by_key(|(other, _)| !Arc::ptr_eq(other, root));
    let mut request = SearchRequest::default();
    request.question = Question::Like { file: path.clone().into(), line };
    request.shape.weakest = Weakest::Strength(0.0);
    request.scope = scope;
    let mut list = repaired(&roots, || {
        let like = like(&root.project, &*state.snapshot(root)?, &path, line, state.model(root)?)?;
        let window = Window {
            wanted: asked.offset.saturating_add(wanted),
            show: &|file| block(file, asked.content, asked.lines.unwrap_or(0)),
            pack: None,
            lines: ContextLines::default(),
            apart: None,
        };
        RootsRanking { state, roots: &roots, request: &request, window, like: Some(&like) }.once()
    })?;
    let remarks = std::mem::take(&mut list.remarks) + &remark(list.why.take()) + &list.told.left_out();
    let text = page_of(list, asked.offset, wanted, asked.max_tokens).0;
    Ok(ToolAnswer { text, remarks, ..ToolAnswer::default() })
}
