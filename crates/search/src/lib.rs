//! The search of colgrep over a corpus of one index or several: parse, retrieve, fuse, rank, collapse.
//!
//! ```
//! use colgrep_core::knob::{Knobs, Profile};
//! use colgrep_index::store::Store;
//! use colgrep_index::update::Updater;
//! use colgrep_search::{Request, search_one};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let root = folder.path().join("project");
//! std::fs::create_dir(&root)?;
//! std::fs::write(root.join("http.rs"), "/// Reads a request from a socket.\nfn read_request() {}\n")?;
//!
//! let store = Store::new(folder.path().join("index"));
//! let (snapshot, report) = Updater::new(&store, &root).run()?;
//! println!("{} files, {} units", report.files, report.units);
//!
//! let knobs = Knobs::of(Profile::Default);
//! let request = Request::new("where is a request read", &knobs, 5);
//! let answer = search_one(&snapshot, None, &request, None)?;
//! for hit in &answer.hits {
//!     println!("{} {:.2}", answer.files[hit.file].path, hit.score);
//! }
//! # assert_eq!(answer.files[answer.hits[0].file].path, "http.rs");
//! # Ok(())
//! # }
//! ```

mod absent;
mod compared;
mod endings;
mod file_ids;
mod file_kind;
mod forced_candidates;
mod group;
mod hinted;
mod intents;
mod local;
mod locate;
mod long;
mod pairs;
mod past;
mod reading;
pub mod recall;
mod respell;
mod restore;
mod retrieve;
pub mod rounds;
mod semantic;
pub mod shard;
mod spelled_out;
mod timing;

use colgrep_core::UnitId;
use colgrep_core::collapse::{FileHit, PerFile, collapse};
use colgrep_core::expand::TermTable;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::Knobs;
use colgrep_core::query::intents::lookup_form;
use colgrep_core::query::{Query, QueryTerm};
use colgrep_core::rank::{self, FileFacts, Fused, Ranked, RankedUnit, Retrieved};
use colgrep_core::spelling::NameFit;
use colgrep_core::statistics::Statistics;
use colgrep_core::strength::{GivenFiles, HeldWeight, Tokens, strengths};
use colgrep_core::tag::Hints;
use file_ids::UnitIds;
pub use file_kind::{has_test_modules, is_test_inside, is_text};
pub use group::ShardGroup;
pub(crate) use intents::Pointers;
pub use intents::intents_markdown;
pub use local::{Layout, LocalShard};
use reading::KnownQuery;
pub use restore::own_lines;
pub(crate) use retrieve::retrieve_pointed;
use retrieve::with_retrieval;
pub use retrieve::{Retrieval, retrieve};
use rounds::{Coordinator, HoldersRequest, TokensRequest};
pub use rounds::{Near, Shard};
use rustc_hash::{FxHashMap, FxHashSet};
pub use semantic::{Mode, Semantic};
use shard::ShardQuery;
pub use timing::Timing;
use timing::timed;

use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::UnitFilter;
use colgrep_index::store::{PathMemory, Snapshot};

/// The searched indexes: one, or several as if they were one. Answers do not depend on the distribution of files over
/// shards.
#[derive(Clone, Copy)]
pub struct Corpus<'a> {
    /// The indexes. Files that their filters exclude are not in the answer, but count in the statistics.
    pub shards: &'a [&'a dyn Shard],
    /// The folder that the project is named after, which names no topic; empty for several projects.
    pub name: &'a str,
    /// Cache of path facts across searches.
    pub paths: Option<&'a PathMemory>,
}

impl<'a> Corpus<'a> {
    pub fn of(shards: &'a [&'a dyn Shard], snapshot: &'a Snapshot) -> Corpus<'a> {
        Corpus { shards, name: &snapshot.files.root, paths: Some(&snapshot.path_facts) }
    }
}

impl std::fmt::Debug for Corpus<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Corpus").field("shards", &self.shards.len()).field("name", &self.name).finish()
    }
}

/// The parameters of a search.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The query's text.
    pub query: &'a str,
    /// Constants of the ranking.
    pub knobs: &'a Knobs,
    pub fusion: Fusion,
    /// Number of distinct files to return.
    pub files: usize,
    /// Number of units to show per file.
    pub units_per_file: PerFile,
    /// Files of lower strength are left out; 0 keeps all.
    pub strength_min: f32,
    /// The semantic part of the search; `None` searches by keywords only.
    pub semantic: Option<Semantic<'a>>,
    /// Context of the search besides the query's words.
    pub background: QueryContext<'a>,
}

impl<'a> Request<'a> {
    /// A search by keywords for `files` files, with the usual number of units.
    pub fn new(query: &'a str, knobs: &'a Knobs, files: usize) -> Request<'a> {
        Request {
            query,
            knobs,
            fusion: Fusion::default(),
            files,
            units_per_file: PerFile::Usual,
            strength_min: 0.0,
            semantic: None,
            background: QueryContext::default(),
        }
    }
}

/// Context of a search besides the query's words.
#[derive(Clone, Copy, Default)]
pub struct QueryContext<'a> {
    /// Terms for words of the query.
    pub terms: Option<&'a TermTable>,
    /// Tags that the caller expects of the wanted units.
    pub hints: Option<&'a Hints>,
    /// The names that people gave to the file at a path.
    pub tags_of: Option<&'a TagsOf<'a>>,
    /// The reader's current file.
    pub near: Option<&'a Near>,
    /// The folder that paths are relative to, from the corpus's root and with the repository's prefix; empty for the
    /// root or if unknown.
    pub here: &'a str,
    /// Files that past commits similar to the question changed, strongest first, with shares of the strongest; paths
    /// are from the project's root, with the repository's prefix.
    pub past: &'a [(String, f32)],
    /// Whether the caller no longer wants the answer; looked at between rounds.
    pub stops: Option<Stops<'a>>,
}

/// Minimum of files whose strength is computed when weak ones are left out: a strong file may rank below many.
const FILES_JUDGED: usize = 64;

/// Whether work should stop.
pub type Stops<'a> = &'a (dyn Fn() -> bool + Sync);

/// Returns the names that people gave to the file at a path of the corpus.
pub type TagsOf<'a> = dyn Fn(&str) -> Vec<String> + Sync + 'a;

/// Watches a search: step name and (unit, score) pairs of a retriever, or the order after a stage.
pub trait Watch {
    /// A retriever's ranking, or their fusion: units with scores, best first.
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]);
    /// The order after a stage.
    fn stage(&mut self, step: &'static str, ranked: &Ranked<'_>);
    /// Reports the times of its parts, at the end.
    fn timing(&mut self, _: &Timing) {}
}

/// The answer: files with their best units, and all units that they were chosen from.
#[derive(Debug, Default)]
pub struct CorpusAnswer {
    pub query: Query,
    /// The files, best first.
    pub hits: Vec<FileHit>,
    /// Number of the best files that were left out as too weak.
    pub weak: usize,
    /// All units that were ranked, best first.
    pub units: Vec<RankedUnit>,
    pub files: Vec<FileFacts>,
    /// The shard of each file, by its position among the corpus's.
    pub shards: Vec<usize>,
    /// The counts of the corpus for the query.
    pub statistics: Statistics,
    /// Whether nearly all candidates are prose, configuration and data, so that a page's sections count individually.
    pub is_documentation: bool,
}

/// How much of the query's words each file's candidates contain.
pub fn held(corpus: &Corpus<'_>, retrieval: &Retrieval, hits: &[FileHit]) -> Result<Vec<HeldWeight>> {
    let Retrieval { query, retrieved, statistics, .. } = retrieval;
    let bm25 = colgrep_core::bm25::Bm25::new(&colgrep_core::knob::Knobs::of(Default::default()));
    let query_of_shards = ShardQuery { query, bm25, vectors: None };
    let rounds = Coordinator::new(corpus.shards, &query_of_shards, UnitIds::Parts)?;
    held_of(&rounds, query, statistics, retrieved, hits)
}

fn held_of(
    rounds: &Coordinator<'_>,
    query: &Query,
    statistics: &Statistics,
    retrieved: &Retrieved,
    hits: &[FileHit],
) -> Result<Vec<HeldWeight>> {
    let at: FxHashMap<usize, usize> = hits.iter().enumerate().map(|(at, hit)| (hit.file, at)).collect();
    let of_hit = retrieved.candidates.iter().filter_map(|c| Some((c.unit, *at.get(&c.file)?)));
    let mut held = held_in_groups(rounds, query, statistics, of_hit.collect(), hits.len())?;
    if query.intents.is_tokens {
        let files: Vec<FilePlace> = hits.iter().map(|hit| FilePlace(retrieved.files[hit.file].place)).collect();
        for (held, tokens) in held.iter_mut().zip(tokens_held(rounds, &files, &query.intents.tokens)?) {
            held.tokens = tokens;
        }
    }
    Ok(held)
}

/// How much of the query's weight each group of units contains: `units` are the members of `groups` groups.
fn held_in_groups(
    rounds: &Coordinator<'_>,
    query: &Query,
    statistics: &Statistics,
    mut units: Vec<(UnitId, usize)>,
    groups: usize,
) -> Result<Vec<HeldWeight>> {
    units.sort_unstable();
    let keys: Vec<UnitId> = units.iter().map(|unit| unit.0).collect();
    let holders = rounds.ask(&HoldersRequest { units: keys })?;
    Ok(weighed(query, statistics, &units, &holders, groups))
}

/// Which tokens each file contains. If no file contains them as written, the names inside count as a part: `NAME` of
/// `${NAME}` and of `NAME=1`.
fn tokens_held(rounds: &Coordinator<'_>, files: &[FilePlace], tokens: &[String]) -> Result<Vec<Tokens>> {
    let held = rounds.ask(&TokensRequest { files: files.to_vec(), tokens: tokens.to_vec() })?;
    let names: Vec<String> = tokens.iter().map(|token| lookup_form(token).to_string()).collect();
    if names == tokens || held.contains(&Tokens::All) {
        return Ok(held);
    }
    let inside = rounds.ask(&TokensRequest { files: files.to_vec(), tokens: names })?;
    Ok(held.into_iter().zip(inside).map(|(held, inside)| held.max(inside.min(Tokens::Part))).collect())
}

/// The share of the query's weight in each group of units: `units` are the members of the groups, `holders` gives for
/// each term the positions of the units with it. Parts have weight that are no stop words; without any, whole names have
/// it (`toDo`), and without these, stop words.
fn weighed(
    query: &Query,
    statistics: &Statistics,
    units: &[(UnitId, usize)],
    holders: &[Vec<u32>],
    groups: usize,
) -> Vec<HeldWeight> {
    let mut of_groups = vec![HeldWeight::default(); groups];
    let mut of_units = vec![0.0f32; units.len()];
    let mut all = 0.0f32;
    let is_part = |term: &QueryTerm| !term.stop && !term.compound;
    let weighs: fn(&QueryTerm) -> bool = match () {
        () if query.terms.iter().any(is_part) => |term| !term.stop && !term.compound,
        () if query.terms.iter().any(|term| term.compound) => |term| term.compound,
        () => |_| true,
    };
    for (at, _) in query.terms.iter().enumerate().filter(|(_, term)| weighs(term)) {
        let weight = statistics.idf_of_most(at);
        let mut in_group = vec![false; groups];
        for unit in holders.get(at).into_iter().flatten().map(|unit| *unit as usize) {
            of_units[unit] += weight;
            in_group[units[unit].1] = true;
        }
        all += weight;
        for (held, holds) in of_groups.iter_mut().zip(in_group) {
            held.file += if holds { weight } else { 0.0 };
        }
    }
    for (sum, (_, group)) in of_units.into_iter().zip(units) {
        of_groups[*group].unit = of_groups[*group].unit.max(sum);
    }
    let share = |weight: f32| if all > 0.0 { weight / all } else { 0.0 };
    of_groups.iter_mut().for_each(|held| (held.file, held.unit) = (share(held.file), share(held.unit)));
    of_groups
}

/// Runs one search in one index, restricted by `filter`.
pub fn search_one(
    snapshot: &Snapshot,
    filter: Option<&dyn UnitFilter>,
    request: &Request<'_>,
    watch: Option<&mut dyn Watch>,
) -> Result<CorpusAnswer> {
    let shard = LocalShard::new(snapshot, filter);
    search(&Corpus::of(&[&shard], snapshot), request, watch)
}

/// Runs one search.
///
/// # Errors
/// When an index can't be read, or [`QueryContext::stops`] ends it.
pub fn search(corpus: &Corpus<'_>, request: &Request<'_>, mut watch: Option<&mut dyn Watch>) -> Result<CorpusAnswer> {
    let mut total = 0.0;
    let (answer, timing) = timed(&mut total, || {
        with_retrieval(corpus, request, KnownQuery::Nothing, |rounds, retrieval| {
            ranked(rounds, retrieval, request, watch.as_deref_mut())
        })
    })?;
    if let Some(watch) = watch {
        watch.timing(&Timing { total, ..timing });
    }
    Ok(answer)
}

/// Adds files to the `wanted` best ones, since some of these may be too weak: the next ones up to [`FILES_JUDGED`], and
/// as many with the name that the query is as are wanted.
fn add_judged(hits: &mut Vec<FileHit>, ranked: &Ranked<'_>, retrieved: &Retrieved, wanted: usize) {
    let shown: FxHashSet<usize> = hits.iter().map(|hit| hit.file).collect();
    let with_name = retrieved.candidates.iter().filter(|candidate| candidate.fit > NameFit::Inside);
    let with_name: FxHashSet<usize> = with_name.map(|candidate| candidate.file).collect();
    let mut missing = wanted - shown.intersection(&with_name).count();
    for (at, hit) in collapse(ranked, usize::MAX, PerFile::Units(1)).into_iter().enumerate() {
        let is_missing = missing > 0 && with_name.contains(&hit.file);
        if !shown.contains(&hit.file) && (at < FILES_JUDGED || is_missing) {
            missing -= usize::from(is_missing);
            hits.push(hit);
        }
    }
}

fn ranked(
    rounds: Option<&Coordinator<'_>>,
    retrieval: Retrieval,
    request: &Request<'_>,
    mut watch: Option<&mut (dyn Watch + '_)>,
) -> Result<(CorpusAnswer, Timing)> {
    let Retrieval { query, retrieved, statistics, mut timing } = retrieval;
    let fused = timed(&mut timing.fuse, || Fused::new(&retrieved, request.fusion, request.knobs));
    if let Some(watch) = &mut watch {
        for ranking in &retrieved.rankings {
            watch.ranking(ranking.retriever.name(), &ranking.hits);
        }
        let ranked = Ranked::new(&retrieved, &fused);
        watch.ranking("fused", &ranked.units.iter().map(|u| (u.unit, u.score)).collect::<Vec<_>>());
    }
    let (units, mut hits) = timed(&mut timing.rank, || {
        let ranked = match watch {
            Some(watch) => {
                let mut observer = |step, ranked: &Ranked<'_>| watch.stage(step, ranked);
                rank::run(&query, request.knobs, &retrieved, fused, Some(&mut observer))
            }
            None => rank::run(&query, request.knobs, &retrieved, fused, None),
        };
        let mut hits = collapse(&ranked, request.files, request.units_per_file);
        if request.strength_min > 0.0 {
            add_judged(&mut hits, &ranked, &retrieved, request.files);
        }
        (ranked.units, hits)
    });
    let held = match rounds {
        Some(rounds) => held_of(rounds, &query, &statistics, &retrieved, &hits)?,
        None => vec![HeldWeight::default(); hits.len()],
    };
    let given = GivenFiles { query: &query, knobs: request.knobs, retrieved: &retrieved, hits: &hits, held: &held };
    let strengths = strengths(&given);
    hits.iter_mut().zip(strengths).for_each(|(hit, strength)| hit.strength = strength);
    let is_documentation = retrieved.evidence.documentation;
    let judged = hits.len();
    hits.retain(|hit| hit.strength >= request.strength_min);
    let weak = judged - hits.len();
    hits.truncate(request.files);
    let shard = |file: &FileFacts| rounds.map_or(0, |rounds| rounds.of_file(FilePlace(file.place)).0);
    let shards = retrieved.files.iter().map(shard).collect();
    let answer =
        CorpusAnswer { query, hits, weak, units, files: retrieved.files, shards, statistics, is_documentation };
    Ok((answer, timing))
}
