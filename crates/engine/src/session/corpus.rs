//! Several projects as one corpus: ranked together by the sum of their statistics, as one index of all would be.
//!
//! The prefix of a project's paths (its folder's name) orders files of equal scores and resolves written paths, but is
//! not ranked.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use colgrep_core::collapse::FileHit;
use colgrep_core::knob::Knobs;
use colgrep_core::query::Query;
use colgrep_core::rank::RankedUnit;
use colgrep_core::tag::{Hints, TagKind};
use colgrep_core::token::Tokenizer;
use colgrep_index::ids::FileId;
use colgrep_index::lexical::UnitFilter;
use colgrep_search::{Corpus, Layout, LocalShard, Near, Request, Retrieval, Shard, Timing, Watch, search};

use crate::answer::FileAnswer;
use crate::answer::explain::Explanation;
use crate::answer::list::Length;
use crate::answer::representative::best_unpointed;
use crate::answer::summary::{Audience, End, end, end_of};
use crate::answer::watch::Watcher;
use crate::error::{Error, Result};
use crate::history::cochange::Past;
use crate::notice::{Listener, Traced};
use crate::project::damage::{Suspicion, guarded, repair_after};
use crate::project::model::Model;
use crate::request::Detail;
use crate::request::filter::Without;
use crate::request::rules::Globs;
use crate::session::project_searcher::{ProjectRanking, ProjectSearcher, RankQuery, single_units};

/// A ranking over several places.
#[derive(Debug)]
pub struct RankedTogether {
    /// The results of each place.
    pub ranked: Vec<ProjectRanking>,
    /// All results, best first: the place, and the position in its ranking.
    pub order: Vec<(usize, usize)>,
    /// Whether no unit was ranked at all.
    pub is_empty: bool,
    /// Strength below which files were left out.
    pub strength_min: f32,
}

/// Results of one part of a corpus.
#[derive(Clone, Debug)]
pub struct RankedPart<'a> {
    pub at: usize,
    pub ranked: &'a ProjectRanking,
    pub hits: Vec<usize>,
}

/// The parts of a corpus, which have the sources of what was ranked: projects of this process, or shards elsewhere.
pub trait Parts: Sync {
    /// Works out results of parts, each with the wanted detail. Tells which part failed.
    ///
    /// # Errors
    /// When a part can't be read or does not answer.
    fn files(&self, parts: &[RankedPart<'_>], detail: Detail) -> Result<Vec<Vec<FileAnswer>>, Box<(usize, Error)>>;

    /// The remarks after the last result: see [`end`].
    fn end(&self, ranked: &RankedTogether, is_weak: bool, audience: Audience) -> Result<End>;

    /// Repairs a part that an error shows to be damaged, as far as that is possible here.
    fn repair(&self, part: usize, error: &Error);
}

impl Parts for Vec<ProjectSearcher> {
    fn files(&self, parts: &[RankedPart<'_>], detail: Detail) -> Result<Vec<Vec<FileAnswer>>, Box<(usize, Error)>> {
        let of_part = |part: &RankedPart<'_>| {
            guarded(|| self[part.at].files(part.ranked, &part.hits, detail)).map_err(|error| Box::new((part.at, error)))
        };
        parts.iter().map(of_part).collect()
    }

    fn end(&self, ranked: &RankedTogether, is_weak: bool, audience: Audience) -> Result<End> {
        let Some(read) = ranked.read_as() else { return Ok(End::default()) };
        let fronts = fronts_of(&self.iter().collect::<Vec<_>>());
        let places: Vec<(&str, &ProjectSearcher)> = fronts.iter().map(String::as_str).zip(self).collect();
        guarded(|| end(read, ranked.is_empty, is_weak, &|asked| end_of(&places, asked, audience)))
    }

    fn repair(&self, part: usize, error: &Error) {
        let ProjectSearcher { project, snapshot, .. } = &self[part];
        let suspicion = Suspicion::of_each(self.iter().map(|place| Some(&*place.snapshot)))[part];
        // What is left damaged is found again by the next search.
        let _ = repair_after(error, &project.store, Some(snapshot), suspicion);
    }
}

impl<P: Parts + ?Sized> Parts for &P {
    fn files(&self, parts: &[RankedPart<'_>], detail: Detail) -> Result<Vec<Vec<FileAnswer>>, Box<(usize, Error)>> {
        (**self).files(parts, detail)
    }

    fn end(&self, ranked: &RankedTogether, is_weak: bool, audience: Audience) -> Result<End> {
        (**self).end(ranked, is_weak, audience)
    }

    fn repair(&self, part: usize, error: &Error) {
        (**self).repair(part, error);
    }
}

impl ProjectSearcher {
    /// Ranks the place's files.
    ///
    /// # Errors
    /// When the index can't be read, or the model can't be run.
    pub fn rank(&self, asked: &RankQuery<'_>, listener: &dyn Listener) -> Result<ProjectRanking> {
        let mut alone = rank(&[self], asked, listener)?;
        Ok(alone.ranked.remove(0))
    }

    /// The first half of a ranking: the parsed query and the candidates of the retrievers. For experiments with the
    /// second half.
    pub fn retrieve(&self, asked: &RankQuery<'_>) -> Result<Retrieval> {
        with_request(&[self], asked, |corpus, request| Ok(colgrep_search::retrieve(corpus, request)?))
    }
}

impl RankedTogether {
    /// Number of results.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Strength of a result's file, 0 to 1.
    pub fn strength(&self, result: usize) -> f32 {
        let (place, hit) = self.order[result];
        self.ranked[place].strength(hit)
    }

    /// Keeps only results of files that pass, in order: the place, the repository in it, and the path.
    pub fn retain(&mut self, mut keep: impl FnMut(usize, &str, &str) -> bool) {
        let ranked = &self.ranked;
        self.order.retain(|&(place, hit)| keep(place, ranked[place].repository(hit), ranked[place].path(hit)));
    }

    /// The files of the results, in order: the place, the repository in it, and the path.
    pub fn files_in_order(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let file =
            |&(place, hit): &(usize, usize)| (place, self.ranked[place].repository(hit), self.ranked[place].path(hit));
        self.order.iter().map(file)
    }

    /// Moves the results with a position to the front, ordered by it; the others keep their order.
    pub fn begin_with(&mut self, position: impl Fn(usize, &str, &str) -> Option<usize>) {
        let ranked = &self.ranked;
        let position = |&(place, hit): &(usize, usize)| {
            position(place, ranked[place].repository(hit), ranked[place].path(hit)).unwrap_or(usize::MAX)
        };
        self.order.sort_by_cached_key(position);
    }

    /// Keeps only the first `results`.
    pub fn truncate(&mut self, results: usize) {
        self.order.truncate(results);
    }

    /// Works out some of the results, and leaves out those whose files have nothing of them any more: later results move
    /// up.
    pub fn read(
        &mut self,
        parts: &dyn Parts,
        range: Range<usize>,
        detail: Detail,
    ) -> std::result::Result<Vec<FileAnswer>, Box<(usize, Error)>> {
        let mut files = self.files(parts, range.clone(), detail)?;
        if detail != Detail::Names {
            let mut is_there = files.iter().map(|file| !file.units.is_empty());
            let mut at = 0..;
            self.order.retain(|_| !at.next().is_some_and(|at| range.contains(&at)) || is_there.next() != Some(false));
            files.retain(|file| !file.units.is_empty());
        }
        Ok(files)
    }

    /// Works out some of the results in parallel, each with the wanted detail; one without units has nothing in its file
    /// any more. Tells which place failed.
    pub fn files(
        &self,
        parts: &dyn Parts,
        range: Range<usize>,
        detail: Detail,
    ) -> std::result::Result<Vec<FileAnswer>, Box<(usize, Error)>> {
        let wanted = &self.order[range];
        let own = |at: usize| (0..wanted.len()).filter(move |i| wanted[*i].0 == at);
        let asked: Vec<RankedPart<'_>> = self
            .ranked
            .iter()
            .enumerate()
            .map(|(at, ranked)| RankedPart { at, ranked, hits: own(at).map(|i| wanted[i].1).collect() })
            .filter(|part| !part.hits.is_empty())
            .collect();
        let mut files: Vec<Option<FileAnswer>> = vec![None; wanted.len()];
        for (part, found) in asked.iter().zip(parts.files(&asked, detail)?) {
            for (i, file) in own(part.at).zip(found) {
                files[i] = Some(file);
            }
        }
        Ok(files.into_iter().flatten().collect())
    }

    /// The name whose callers the query asks for, where the index knows none among the results.
    pub fn uncalled(&self) -> Option<&str> {
        let query = self.read_as()?.0;
        let name = query.intents.callers_of.as_deref().filter(|_| !query.is_everywhere())?;
        let mut units = self.ranked.iter().flat_map(|ranked| &ranked.answer.units);
        units.all(|unit| unit.pointed_line.is_none()).then_some(name)
    }

    /// How the query was read, how many files were left out as too weak, and below which strength.
    pub fn read_as(&self) -> Option<(&Query, usize, f32)> {
        let query = &self.ranked.first()?.answer.query;
        Some((query, self.ranked.iter().map(|ranked| ranked.answer.weak).sum(), self.strength_min))
    }
}

/// The prefixes of the paths of projects with these roots, each with a `/` at its end: their last components, as many
/// as distinguish them. Empty for a single project.
pub fn fronts(roots: &[&Path]) -> Vec<String> {
    if roots.len() < 2 {
        return vec![String::new(); roots.len()];
    }
    let parts: Vec<Vec<String>> = roots
        .iter()
        .map(|root| root.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect())
        .collect();
    let front = |parts: &[String], length: usize| parts[parts.len().saturating_sub(length)..].join("/") + "/";
    let mut lengths = vec![1; roots.len()];
    loop {
        let all: Vec<String> = parts.iter().zip(&lengths).map(|(parts, length)| front(parts, *length)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        all.iter().for_each(|front| *counts.entry(front).or_default() += 1);
        let is_unclear = |at: usize| counts[all[at].as_str()] > 1 && lengths[at] < parts[at].len();
        let unclear: Vec<usize> = (0..all.len()).filter(|at| is_unclear(*at)).collect();
        if unclear.is_empty() {
            return all;
        }
        unclear.into_iter().for_each(|at| lengths[at] += 1);
    }
}

pub fn fronts_of(places: &[&ProjectSearcher]) -> Vec<String> {
    fronts(&places.iter().map(|place| place.project.root.as_path()).collect::<Vec<_>>())
}

/// Files of all places that past commits like a question changed, with the prefixes of their paths.
pub fn past_of(places: &[ProjectSearcher], question: &str, knobs: &Knobs, past: Past<'_>) -> Vec<(String, f32)> {
    let fronts = fronts_of(&places.iter().collect::<Vec<_>>());
    let of_place = |(place, front): (&ProjectSearcher, &String)| {
        let found = past.evidence(&place.project, question, knobs).into_iter();
        found.map(|(path, share)| ([front.as_str(), &path].concat(), share)).collect::<Vec<_>>()
    };
    places.iter().zip(&fronts).flat_map(of_place).collect()
}

/// Lists the units of several places by path and line, one place after the other. With `call_lines`, units that were
/// asked for by their calls show the line of the call.
pub fn list(places: &[ProjectSearcher], length: Length, call_lines: bool) -> Result<RankedTogether> {
    let ranked = places.iter().map(|place| place.list(length, call_lines)).collect::<Result<Vec<ProjectRanking>>>()?;
    let all = (0..ranked.len()).flat_map(|place| (0..ranked[place].len()).map(move |hit| (place, hit)));
    let order: Vec<_> = all.take(length.results).collect();
    let is_empty = order.is_empty();
    Ok(RankedTogether { ranked, order, is_empty, strength_min: 0.0 })
}

/// Ranks the files of several places together.
///
/// # Errors
/// When an index can't be read, or the model can't be run.
pub fn rank(places: &[&ProjectSearcher], asked: &RankQuery<'_>, listener: &dyn Listener) -> Result<RankedTogether> {
    with_request(places, asked, |corpus, request| ranked_in(corpus, request, asked, listener))
}

/// Ranks the files of shards that may be elsewhere. What depends on a project of this process is not available: a unit
/// to compare with, the reader's file, past commits, tags of settings.
///
/// # Errors
/// When a shard does not answer, or the model can't be run.
pub fn rank_shards(
    shards: &[&dyn Shard],
    lacks_vectors: bool,
    asked: &RankQuery<'_>,
    listener: &dyn Listener,
) -> Result<RankedTogether> {
    let hints = Hints::new(asked.hints, &mut Tokenizer::default());
    let background = colgrep_search::QueryContext {
        terms: asked.terms,
        hints: Some(&hints),
        ..colgrep_search::QueryContext::default()
    };
    let semantic = asked.model.map(|model| model.semantic_of(!lacks_vectors, asked.by));
    let corpus = Corpus { shards, name: "", paths: None };
    ranked_in(&corpus, &request(asked, semantic, background), asked, listener)
}

fn ranked_in(
    corpus: &Corpus<'_>,
    request: &Request<'_>,
    asked: &RankQuery<'_>,
    listener: &dyn Listener,
) -> Result<RankedTogether> {
    let trace = listener.traces().then_some((asked.query, listener));
    let mut watcher =
        Watcher { explanation: asked.explain.then(Explanation::default), trace, timing: Timing::default() };
    let watch = (asked.explain || trace.is_some()).then_some(&mut watcher as &mut dyn Watch);
    let stops = || listener.stops();
    let background = colgrep_search::QueryContext { stops: Some(&stops), ..request.background };
    let mut answer = search(corpus, &Request { background, ..*request }, watch)?;
    if asked.single_units {
        answer.hits = single_units(&answer, asked.files);
    }
    if let Some((query, listener)) = trace {
        listener.trace(query, &Traced::Final(&answer));
        listener.trace(query, &Traced::Timing(&watcher.timing));
    }
    Ok(parted(answer, corpus.shards.len(), asked, watcher.explanation.map(Arc::new)))
}

fn request<'a>(
    asked: &RankQuery<'a>,
    semantic: Option<colgrep_search::Semantic<'a>>,
    background: colgrep_search::QueryContext<'a>,
) -> Request<'a> {
    Request {
        query: asked.query,
        knobs: asked.knobs,
        fusion: asked.fusion,
        files: asked.files,
        units_per_file: asked.units_per_file,
        strength_min: asked.strength_min,
        semantic,
        background,
    }
}

/// Splits the answer of a corpus into its places, with unit addresses in their own indexes.
fn parted(
    answer: colgrep_search::CorpusAnswer,
    places: usize,
    asked: &RankQuery<'_>,
    explanation: Option<Arc<Explanation>>,
) -> RankedTogether {
    let colgrep_search::CorpusAnswer { query, hits, weak, units, files, shards, statistics, is_documentation } = answer;
    let is_empty = units.is_empty();
    let best_score = best_unpointed(&units);
    let mut own: Vec<colgrep_search::CorpusAnswer> = (0..places)
        .map(|at| colgrep_search::CorpusAnswer {
            query: query.clone(),
            weak: if at == 0 { weak } else { 0 },
            statistics: statistics.clone(),
            is_documentation,
            ..colgrep_search::CorpusAnswer::default()
        })
        .collect();
    let mut positions = Vec::with_capacity(files.len());
    for (file, shard) in files.into_iter().zip(&shards) {
        positions.push((*shard, own[*shard].files.len()));
        own[*shard].files.push(file);
        own[*shard].shards.push(0);
    }
    let moved = |unit: &RankedUnit| RankedUnit { unit: unit.unit.within_part(), file: positions[unit.file].1, ..*unit };
    for unit in &units {
        own[positions[unit.file].0].units.push(moved(unit));
    }
    let mut order = Vec::with_capacity(hits.len());
    for hit in hits {
        let (place, file) = positions[hit.file];
        order.push((place, own[place].hits.len()));
        own[place].hits.push(FileHit { file, units: hit.units.iter().map(moved).collect(), ..hit });
    }
    let ranked = own.into_iter().zip(0..).map(|(answer, part)| {
        let mut matches = vec![0; if asked.every_match { answer.files.len() } else { 0 }];
        if asked.every_match {
            answer.units.iter().for_each(|unit| matches[unit.file] += 1);
        }
        ProjectRanking::new(answer, explanation.clone(), matches, asked.single_units, part).measured_by(best_score)
    });
    RankedTogether { ranked: ranked.collect(), order, is_empty, strength_min: asked.strength_min }
}

/// Runs `work` with the places as a corpus and the question as a request to it.
fn with_request<T>(
    places: &[&ProjectSearcher],
    asked: &RankQuery<'_>,
    work: impl FnOnce(&Corpus<'_>, &Request<'_>) -> Result<T>,
) -> Result<T> {
    let fronts = fronts_of(places);
    let without: Vec<Option<Without<'_>>> = places.iter().map(|place| without(place, asked)).collect();
    let shards: Vec<LocalShard<'_>> = places
        .iter()
        .zip(&fronts)
        .zip(&without)
        .map(|((place, front), without)| {
            let filter = without.as_ref().map(|without| without as &dyn UnitFilter).or(place.filter());
            LocalShard::new(&place.snapshot, filter).layout(Layout::One(front.clone()))
        })
        .collect();
    let shards: Vec<&dyn Shard> = shards.iter().map(|shard| shard as &dyn Shard).collect();
    let semantic = asked.model.map(|model| semantic(places, model, asked));
    let near = asked.near.and_then(|near| {
        let at = places.iter().position(|place| place.project.root == near.root)?;
        Some(Near { path: [fronts[at].as_str(), &near.near.path].concat(), ..near.near.clone() })
    });
    let hints = Hints::new(asked.hints, &mut Tokenizer::default());
    let tags = match asked.hints.iter().any(|hint| hint.kind == TagKind::Tag) {
        true => places.iter().map(|place| tags(place)).collect::<Result<Vec<_>>>()?,
        false => Vec::new(),
    };
    let tags_of = |path: &str| -> Vec<String> {
        let own = |(front, tags): (&String, &Vec<(String, Option<Globs>)>)| {
            let path = path.strip_prefix(front.as_str())?;
            let is_tagged = |globs: &Option<Globs>| globs.as_ref().is_some_and(|globs| globs.is_match(path));
            Some(tags.iter().filter(|(_, globs)| is_tagged(globs)).map(|(name, _)| name.clone()).collect::<Vec<_>>())
        };
        fronts.iter().zip(&tags).find_map(own).unwrap_or_default()
    };
    let here = here(places, &fronts);
    let background = colgrep_search::QueryContext {
        terms: asked.terms,
        hints: Some(&hints),
        tags_of: Some(&tags_of),
        near: near.as_ref(),
        here: &here,
        past: asked.past,
        stops: None,
    };
    let request = request(asked, semantic, background);
    let name = if let [place] = places { place.snapshot.files.root.as_str() } else { "" };
    let paths = places.first().map(|place| &place.snapshot.path_facts);
    work(&Corpus { shards: &shards, name, paths }, &request)
}

/// This process's folder below the root of a place, with that place's prefix; empty elsewhere.
fn here(places: &[&ProjectSearcher], fronts: &[String]) -> String {
    let now = std::env::current_dir().and_then(|folder| folder.canonicalize()).unwrap_or_default();
    let own = |(place, front): (&&ProjectSearcher, &String)| {
        let below = now.strip_prefix(&place.project.root).ok().filter(|below| !below.as_os_str().is_empty())?;
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Some(front.clone() + &parts.join("/"))
    };
    places.iter().zip(fronts).find_map(own).unwrap_or_default()
}

/// For the place of the unit to find similar ones to: its filter, without that unit.
fn without<'a>(place: &'a ProjectSearcher, asked: &RankQuery<'_>) -> Option<Without<'a>> {
    let like = asked.like.filter(|like| like.root == place.project.root)?;
    // A repaired index may have numbered its files anew.
    let file = place.record(&like.path).map_or(FileId(u32::MAX), |file| file.id);
    Some(Without { inner: place.filter(), file, line: like.line })
}

/// How the places use a model: where one has no vectors of it, its best candidates are encoded.
fn semantic<'a>(
    places: &[&ProjectSearcher],
    model: &'a Model,
    asked: &'a RankQuery<'_>,
) -> colgrep_search::Semantic<'a> {
    let of_places = places.iter().map(|place| model.semantic(&place.snapshot, asked.by));
    let widest = of_places.max_by_key(|semantic| semantic.encode_max);
    let semantic = widest.unwrap_or_else(|| unreachable!("a search has a place"));
    colgrep_search::Semantic { question: asked.like.and_then(|like| like.vectors.as_ref()), ..semantic }
}

fn tags(place: &ProjectSearcher) -> Result<Vec<(String, Option<Globs>)>> {
    place.tags().map(|(name, globs)| Ok((name.clone(), Globs::new(globs)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_names_that_differ_stand_in_front() {
        for (roots, expected) in [
            (&["/src/web"][..], &[""][..]),
            (&["/src/web", "/src/api"], &["web/", "api/"]),
            (&["/a/web", "/b/web", "/b/api"], &["a/web/", "b/web/", "api/"]),
            (&["/web", "/x/web"], &["//web/", "x/web/"]),
        ] {
            let roots: Vec<&Path> = roots.iter().map(Path::new).collect();
            assert_eq!(fronts(&roots), expected, "{roots:?}");
        }
    }
}
