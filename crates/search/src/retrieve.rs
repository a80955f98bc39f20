//! Retrieval: the candidates of a query, found by words, by meaning and by name, with facts about their files.

use std::sync::Arc;

use colgrep_core::UnitId;
use colgrep_core::UnitKind;
use colgrep_core::bm25::{Bm25, Field};
use colgrep_core::fuse::{Evidence, Ranking, Retriever};
use colgrep_core::knob::Knobs;
use colgrep_core::path::{PathClass, PathFacts};
use colgrep_core::query::Query;
use colgrep_core::query::languages::Translation;
use colgrep_core::rank::{self, Candidate, FileFacts, Fused, RankedUnit, Retrieved};
use colgrep_core::spelling::NameFit;
use colgrep_core::statistics::{Statistics, WordMass};
use colgrep_core::tag::Matched;
use colgrep_core::token::Tokenizer;
use colgrep_encoder::Multivector;
use colgrep_syntax::language::{self, Category};
use rustc_hash::{FxHashMap, FxHashSet};

use super::absent::Respelled;
use super::endings::tell_endings_apart;
use super::file_ids::UnitIds;
use super::file_kind::{category, is_data};
use super::forced_candidates::ForcedCandidates;
use super::hinted;
use super::intents::{Pointers, pointers};
use super::long::long_facts;
use super::pairs::PairWeights;
use super::reading::{KnownQuery, read};
use super::respell::respelled;
use super::rounds::{
    CandidatesRequest, CandidatesResponse, Coordinator, FactsRequest, FactsResponse, FileFound, ScoresRequest,
    ScoresResponse, StatisticsRequest, TopicsRequest,
};
use super::semantic::{Mode, NearUnit, SHARPEN_FIRST, Semantic, SemanticSearch, join, with_texts};
use super::shard::{QueryVectors, ShardQuery, UnitFound};
use super::spelled_out::NameHolders;
use super::timing::{Timing, timed};
use super::{Corpus, Request, compared};
use colgrep_index::error::Result;
use colgrep_index::ids::{FilePlace, TextHash};

/// Up to this many units with both terms of a pair, all files with the pair are counted; above it, their number is
/// estimated from a sample.
const PAIR_UNITS: u64 = 50_000;
/// Maximum of files from a search for the title of a long query, best first.
const TITLE_FILES_MAX: usize = 100;
/// Maximum of the units that the stage `order` compares that get full semantic scores.
const COMPARED_FULL_MAX: usize = 32;
/// Sample at least one file in this many.
const SAMPLE_PART_MAX: u64 = 1 << 14;

/// The first half of a search.
#[derive(Clone, Debug, Default)]
pub struct Retrieval {
    pub query: Query,
    /// The candidates with their rankings, and facts about their files.
    pub retrieved: Retrieved,
    /// The counts of the corpus for the query.
    pub statistics: Statistics,
    /// The time it took to find them.
    pub timing: Timing,
}

/// The parsed query, and the candidates with their rankings and facts about their files, before fusion. Depends only on
/// the knobs of retrieval.
pub fn retrieve(corpus: &Corpus<'_>, request: &Request<'_>) -> Result<Retrieval> {
    with_retrieval(corpus, request, KnownQuery::Nothing, |_, retrieval| Ok(retrieval))
}

/// The same, for a caller that supplies the query's pointers.
pub(crate) fn retrieve_pointed(corpus: &Corpus<'_>, request: &Request<'_>, pointers: Pointers) -> Result<Retrieval> {
    with_retrieval(corpus, request, KnownQuery::Pointers(pointers), |_, retrieval| Ok(retrieval))
}

/// Passes the retrieval to `then`, with the search for further requests, or `None` if the query has no words.
pub(super) fn with_retrieval<T>(
    corpus: &Corpus<'_>,
    request: &Request<'_>,
    known: KnownQuery,
    then: impl FnOnce(Option<&Coordinator<'_>>, Retrieval) -> Result<T>,
) -> Result<T> {
    let (mut timing, mut tokenizer) = (Timing::default(), Tokenizer::default());
    let query = read(corpus, request, &known, &mut tokenizer)?;
    if query.terms.is_empty() {
        return then(None, Retrieval { query, ..Retrieval::default() });
    }
    let question = timed(&mut timing.semantic, || {
        request.semantic.map(|s| vectors(&s, &query.read_by_model(request.knobs.long_parts))).transpose()
    })?;
    let vectors = request.semantic.zip(question.as_ref()).map(|(semantic, question)| QueryVectors {
        question,
        fingerprint: semantic.encoder.fingerprint(),
        effort: semantic.effort,
    });
    let of_shards = ShardQuery { query: &query, bm25: Bm25::of_query(request.knobs, &query), vectors };
    let may_respell = matches!(known, KnownQuery::Nothing) && request.knobs.respelling;
    // On a thread of rayon's pool, which works on its own splits; any other thread would sleep until they are done.
    let found = rayon::scope(|_| -> Result<_> {
        let rounds = timed(&mut timing.lexical, || Coordinator::new(corpus.shards, &of_shards, UnitIds::Parts))?;
        let rounds = rounds.until(request.background.stops);
        let statistics = timed(&mut timing.lexical, || rounds.ask(&StatisticsRequest))?;
        if matches!(known, KnownQuery::Nothing)
            && let Some(translation) = known_as_typed(&query, &statistics)
        {
            return Ok(Err((None, KnownQuery::AsTyped(translation))));
        }
        if may_respell
            && let Some(Respelled { text, words }) =
                timed(&mut timing.lexical, || respelled(&rounds, &query, &statistics, &mut tokenizer))?
        {
            let known = KnownQuery::Respelled(words, query.translation.clone(), query.foreign.clone());
            return Ok(Err((Some(text), known)));
        }
        let question = question.as_ref();
        let search =
            CorpusSearch { corpus, rounds: &rounds, request, query: &query, statistics: &statistics, question };
        let retrieved = search.retrieved(known, &mut tokenizer, &mut timing)?;
        Ok(Ok((rounds, statistics, retrieved)))
    })?;
    match found {
        Ok((rounds, statistics, retrieved)) => {
            let retrieval = Retrieval { query: query.clone(), retrieved, statistics, timing };
            then(Some(&rounds), retrieval)
        }
        Err((None, known)) => with_retrieval(corpus, request, known, then),
        Err((Some(text), known)) => {
            let semantic = request.semantic.map(|semantic| Semantic { question: None, ..semantic });
            let request = Request { query: &text, semantic, ..*request };
            with_retrieval(corpus, &request, known, then)
        }
    }
}

/// How a query in another language is read, of which the corpus has all own words: as typed where it lacks most of the
/// English ones, and in both languages where it is no question.
fn known_as_typed(query: &Query, statistics: &Statistics) -> Option<Option<Translation>> {
    let translation = query.translation.as_ref()?;
    let (mut own, mut english) = ((0, 0), (0, 0));
    let typed = Tokenizer::default().terms(&translation.words);
    for (term, count) in query.terms.iter().zip(&statistics.terms) {
        let counted = match typed.contains(&term.text) {
            true => &mut own,
            false if term.stop || term.compound => continue,
            false => &mut english,
        };
        counted.0 += u32::from(count.most() > 0);
        counted.1 += 1;
    }
    let is_known = own.1 > 0 && own.0 == own.1;
    let lacks_english = 2 * english.0 < english.1;
    let both = (!lacks_english).then(|| translation.clone());
    (is_known && (lacks_english || !translation.has_form)).then_some(both)
}

/// The joint vectors of a question's texts.
fn vectors(semantic: &Semantic<'_>, texts: &[&str]) -> Result<Multivector> {
    if let Some(question) = semantic.question {
        return Ok(question.clone());
    }
    let encoded = texts.iter().map(|text| Ok(semantic.encoder.encode_query(text)?));
    Ok(Multivector::of_parts(&encoded.collect::<Result<Vec<_>>>()?))
}

/// One search, with the sum of all statistics.
struct CorpusSearch<'a> {
    corpus: &'a Corpus<'a>,
    rounds: &'a Coordinator<'a>,
    request: &'a Request<'a>,
    query: &'a Query,
    statistics: &'a Statistics,
    question: Option<&'a Multivector>,
}

/// Candidates regardless of their lexical rank.
#[derive(Default)]
struct Required {
    files: FxHashSet<FilePlace>,
    units: FxHashSet<UnitId>,
}

/// The candidates of a query with their rankings, and facts of all units that were scored.
struct RankedCandidates {
    units: Vec<UnitFound>,
    rankings: Vec<Ranking>,
    evidence: Evidence,
    facts: RetrievedFacts,
    /// Units of the semantic ranking without a full score, with the hashes of their texts.
    rough: FxHashMap<UnitId, TextHash>,
}

/// Semantic and lexical results.
type RetrievedHits = (Vec<NearUnit>, CandidatesResponse);

/// Facts of units and their files.
struct RetrievedFacts {
    files: FxHashMap<FilePlace, FileFound>,
    name_hits: FxHashSet<UnitId>,
    pairs: Vec<(u64, u64)>,
}

impl CorpusSearch<'_> {
    fn retrieved(&self, known: KnownQuery, tokenizer: &mut Tokenizer, timing: &mut Timing) -> Result<Retrieved> {
        let CorpusSearch { corpus, rounds, request, query, .. } = *self;
        let is_of_long = query.long.is_some() || matches!(known, KnownQuery::Title);
        let semantic = request
            .semantic
            .zip(self.question)
            .map(|(semantic, question)| SemanticSearch::new(rounds, semantic, question));
        let mut known = known;
        // If a quoted text occurs nowhere, nothing else is searched.
        if !query.intents.phrases.is_empty() {
            let pointers = self.pointed(known, tokenizer)?;
            if pointers.allow_nothing() {
                return Ok(Retrieved::default());
            }
            known = KnownQuery::Pointers(pointers);
        }
        let (found, pointers) = self.found(semantic.as_ref(), || self.pointed(known, tokenizer), timing);
        let (found, pointers) = (found?, pointers?);
        if pointers.allow_nothing() {
            return Ok(Retrieved::default());
        }
        let title = match &query.long {
            Some(long) if request.knobs.long_title > 0.0 => title_files(corpus, request, &long.title)?,
            _ => Vec::new(),
        };
        let long = long_facts(rounds, request, query, title)?;
        let holders =
            timed(&mut timing.lexical, || NameHolders::of(rounds, query, &found.1, request.files, tokenizer))?;
        let forced = ForcedCandidates::new(rounds, request, query, (pointers, holders), long)?;
        let Some(RankedCandidates { units, rankings, evidence, facts, rough }) =
            self.ranked(semantic.as_ref(), found, &forced, is_of_long, timing)?
        else {
            return Ok(Retrieved::default());
        };
        let mut retrieved = self.gathered(&units, facts, tokenizer)?;
        retrieved.rankings = rankings;
        retrieved.evidence = evidence;
        hinted::compare(rounds, request, &mut retrieved, tokenizer)?;
        forced.mark(&mut retrieved);
        self.compare(semantic.as_ref(), &rough, &mut retrieved, timing)?;
        Ok(retrieved)
    }

    /// Looks up what the stage `order` needs of the candidates that it compares. Those with the best chance get full
    /// semantic scores in place of `rough` ones; those of the rest are shifted by the average change of the second half.
    fn compare(
        &self,
        semantic: Option<&SemanticSearch<'_>>,
        rough: &FxHashMap<UnitId, TextHash>,
        retrieved: &mut Retrieved,
        timing: &mut Timing,
    ) -> Result<()> {
        let CorpusSearch { rounds, request, query, statistics, .. } = *self;
        // A search whose words are trusted needs no second fusion.
        if retrieved.doubt(request.knobs) == 0.0 {
            return Ok(());
        }
        let fused = Fused::new(retrieved, request.fusion, request.knobs);
        let compared = rank::order::compared(retrieved, &fused, request.knobs);
        compared::look_up(rounds, query, statistics, retrieved, &compared)?;
        let Some(search) = semantic.filter(|search| search.can_sharpen() && request.knobs.exact_units > 0) else {
            return Ok(());
        };
        let chances = rank::order::by_chance(query, retrieved, &fused);
        let units = chances.iter().map(|at| retrieved.candidates[*at].unit);
        let units: Vec<(UnitId, TextHash)> = units.filter_map(|unit| Some((unit, *rough.get(&unit)?))).collect();
        let (first, rest) = units.split_at(units.len().min(COMPARED_FULL_MAX));
        if let Some(ranking) = retrieved.rankings.iter_mut().find(|one| one.retriever == Retriever::Semantic)
            && !first.is_empty()
        {
            let full = timed(&mut timing.semantic, || search.full_scores(first))?;
            let last: FxHashSet<UnitId> = first[first.len() / 2..].iter().map(|(unit, _)| *unit).collect();
            let changed = ranking.hits.iter().filter(|(unit, _)| last.contains(unit));
            let changes: Vec<f32> = changed.filter_map(|(unit, score)| Some(full.get(unit)? - score)).collect();
            let shift = changes.iter().sum::<f32>() / changes.len().max(1) as f32;
            let rest: FxHashSet<UnitId> = rest.iter().map(|(unit, _)| *unit).collect();
            for (unit, score) in &mut ranking.hits {
                let shifted = if rest.contains(unit) { *score + shift } else { *score };
                *score = full.get(unit).copied().unwrap_or(shifted);
            }
            // Stable, so that equal scores keep an order that does not depend on shards.
            ranking.hits.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        Ok(())
    }

    /// Resolves the query's pointers.
    fn pointed(&self, known: KnownQuery, tokenizer: &mut Tokenizer) -> Result<Pointers> {
        let CorpusSearch { corpus, rounds, request, query, statistics, .. } = *self;
        match known {
            KnownQuery::Pointers(known) => Ok(known),
            _ if request.knobs.pointed_boost + request.knobs.mention_boost > 0.0 => {
                pointers(rounds, query, statistics, request.background.here, corpus.name, tokenizer)
            }
            _ => Ok(Pointers::default()),
        }
    }

    /// Runs the lexical and the semantic search in parallel with `pointed`: on two cores this takes as long as the
    /// semantic search.
    fn found<T: Send>(
        &self,
        semantic: Option<&SemanticSearch<'_>>,
        pointed: impl FnOnce() -> T + Send,
        timing: &mut Timing,
    ) -> (Result<RetrievedHits>, T) {
        let Timing { lexical: lexical_ms, semantic: semantic_ms, .. } = timing;
        let CorpusSearch { rounds, request, .. } = *self;
        let (units_max, files_min) = (request.knobs.pool_units, request.files);
        let named_max = request.knobs.pool_named_files;
        let asked = CandidatesRequest {
            statistics: self.statistics.clone(),
            units_max,
            files_min,
            named_max,
            in_outline: false,
        };
        let mut by_words = || timed(lexical_ms, || rounds.ask(&asked));
        let mut by_meaning =
            |semantic: &SemanticSearch<'_>| timed(semantic_ms, || semantic.search(units_max, files_min));
        let (near, (by_words, pointed)) = match semantic {
            Some(semantic) => rayon::join(|| by_meaning(semantic), || (by_words(), pointed())),
            None => (Ok(Vec::new()), rayon::join(by_words, pointed)),
        };
        (near.and_then(|near| Ok((near, by_words?))), pointed)
    }

    /// Ranks the results of both searches. `None` if neither the index nor the model knows any word of the query.
    fn ranked(
        &self,
        semantic: Option<&SemanticSearch<'_>>,
        (near, found): RetrievedHits,
        forced: &ForcedCandidates,
        long: bool,
        timing: &mut Timing,
    ) -> Result<Option<RankedCandidates>> {
        let CorpusSearch { request, query, .. } = *self;
        let Timing { lexical: lexical_ms, semantic: semantic_ms, .. } = timing;
        let by_vectors: FxHashSet<UnitId> = near.iter().map(|(unit, _)| unit.unit).collect();
        let mut required = Required::default();
        required.files.extend(found.named.iter().map(|named| named.file));
        required.units.extend(found.named.iter().flat_map(|named| &named.definitions));
        required.files.extend(forced.files());
        required.units.extend(forced.pointers.units.keys().chain(&forced.holders.further));
        required.units.extend(&by_vectors);
        let units = timed(lexical_ms, || self.with(found.units, &required))?;

        // Required units without a word of the query (score 0) get their facts, but no lexical rank.
        let by_words = units.iter().filter(|u| u.score > 0.0 || !required.units.contains(&u.unit));
        let hits: Vec<(UnitId, f32)> = by_words.map(|u| (u.unit, u.score)).collect();
        // If neither the index nor the model knows a word of the query, there is no answer, except for a purely
        // semantic search and candidates forced by other means.
        let is_unread = |s: Semantic<'_>| s.mode == Mode::Hybrid && !s.encoder.knows(&query.text);
        let is_unknown = hits.is_empty() && request.semantic.is_some_and(is_unread);
        if is_unknown && !units.iter().any(|unit| forced.brings(unit)) {
            return Ok(None);
        }
        let others: Vec<UnitFound> = match semantic {
            Some(_) => units.iter().filter(|u| !by_vectors.contains(&u.unit)).copied().collect(),
            None => Vec::new(),
        };
        let mut facts = || timed(lexical_ms, || self.facts(&units));
        let (facts, more) = match semantic {
            Some(search) => rayon::join(facts, || timed(semantic_ms, || likeness_of(search, &others))),
            None => (facts(), Ok(Vec::new())),
        };
        let (facts, more) = (facts?, more?);
        let evidence = evidence(query, self.statistics.mass(query), &units, request.knobs);
        let mut evidence = Evidence { long, ..evidence };
        evidence.documentation = is_documentation(&units, &facts.files, request.knobs.code_share);
        let (mut rankings, mut rough) = (Vec::new(), FxHashMap::default());
        if request.semantic.is_none_or(|s| s.mode == Mode::Hybrid) {
            rankings.push(Ranking { retriever: Retriever::Lexical, hits });
        }
        if let Some(search) = semantic {
            let near = timed(semantic_ms, || completed(search, near, more, &units, &mut evidence, request.knobs))?;
            rough = with_texts(&near).into_iter().collect();
            if rankings.is_empty() || !near.is_empty() {
                let hits = near.iter().map(|(unit, _)| (unit.unit, unit.score)).collect();
                rankings.push(Ranking { retriever: Retriever::Semantic, hits });
            }
        }
        let in_rankings: FxHashSet<UnitId> = rankings.iter().flat_map(|r| r.hits.iter().map(|h| h.0)).collect();
        let is_ranked = |unit: &UnitFound| !is_unknown && in_rankings.contains(&unit.unit);
        let is_candidate = |unit: &UnitFound| is_ranked(unit) || forced.brings(unit);
        let units = units.into_iter().filter(|unit| is_candidate(unit) && forced.allows(unit.file)).collect();
        Ok(Some(RankedCandidates { units, rankings, evidence, facts, rough }))
    }

    /// The found and the required units. Best first; ties by file and line; units without a term last, with score 0.
    fn with(&self, mut hits: Vec<UnitFound>, required: &Required) -> Result<Vec<UnitFound>> {
        let files: FxHashSet<FilePlace> = hits.iter().map(|hit| hit.file).collect();
        let mut known: FxHashSet<UnitId> = hits.iter().map(|hit| hit.unit).collect();
        let mut files: Vec<FilePlace> = required.files.difference(&files).copied().collect();
        let mut units: Vec<UnitId> = required.units.difference(&known).copied().collect();
        files.sort_unstable();
        units.sort_unstable();
        let ScoresResponse { of_files, units } = self.rounds.ask(&ScoresRequest { files, units })?;
        let is_scored = |unit: &&UnitFound| unit.score > 0.0;
        hits.extend(of_files.iter().chain(&units).filter(is_scored).filter(|unit| known.insert(unit.unit)));
        hits.sort_unstable_by(UnitFound::by_score);
        // A named file without any term of the query is represented by its first unit.
        for mut others in [of_files, units] {
            others.retain(|unit| unit.score <= 0.0 && known.insert(unit.unit));
            others.sort_unstable_by_key(UnitFound::place);
            hits.extend(others);
        }
        Ok(hits)
    }

    fn facts(&self, units: &[UnitFound]) -> Result<RetrievedFacts> {
        let mut files: Vec<FilePlace> = units.iter().map(|unit| unit.file).collect();
        files.sort_unstable();
        files.dedup();
        let units = units.iter().map(|unit| unit.unit).collect();
        let asked = FactsRequest { files, units, parts: self.parts() };
        let FactsResponse { files, name_hits, pairs } = self.rounds.ask(&asked)?;
        let name_hits = asked.units.into_iter().zip(name_hits).filter(|(_, is)| *is).map(|(unit, _)| unit).collect();
        Ok(RetrievedFacts { files: asked.files.into_iter().zip(files).collect(), name_hits, pairs })
    }

    /// For each pair of neighbouring terms, its sampling rate of files. The number of units with both terms is at most
    /// that of the rarer one, field by field.
    fn parts(&self) -> Vec<u32> {
        let count = |term: &str, field: usize| {
            let at = self.query.terms.iter().position(|known| known.text == term);
            at.and_then(|at| self.statistics.terms.get(at)).map_or(0, |count| count.in_field[field])
        };
        let fields = [Field::Doc, Field::Body].map(|f| Field::ALL.iter().position(|x| *x == f).unwrap_or_default());
        let part = |(first, second): (&str, &str)| {
            let both: u64 = fields.iter().map(|field| count(first, *field).min(count(second, *field))).sum();
            both.div_ceil(PAIR_UNITS).max(1).next_power_of_two().min(SAMPLE_PART_MAX) as u32
        };
        self.query.pairs().into_iter().map(part).collect()
    }

    fn path_facts(&self, path: &str, tokenizer: &mut Tokenizer) -> Arc<PathFacts> {
        let mut read = || PathFacts::new(path, language::facts(), tokenizer);
        match self.corpus.paths {
            Some(memory) => memory.facts(path, read),
            None => read().into(),
        }
    }

    /// The candidates and facts about their files, with empty rankings and evidence.
    fn gathered(&self, units: &[UnitFound], mut facts: RetrievedFacts, tokenizer: &mut Tokenizer) -> Result<Retrieved> {
        let CorpusSearch { query, statistics, .. } = *self;
        let pairs = PairWeights::new(statistics.files, &self.parts(), &facts.pairs, facts.files.values());
        let mut retrieved = Retrieved { files_total: statistics.files, ..Retrieved::default() };
        let mut positions: FxHashMap<FilePlace, usize> = FxHashMap::default();
        for unit in units {
            let file = *positions.entry(unit.file).or_insert_with(|| {
                let found = facts.files.remove(&unit.file).unwrap_or_default();
                let path_facts = self.path_facts(&found.path, tokenizer);
                retrieved.files.push(file_facts(query, unit.file, found, path_facts, &pairs));
                retrieved.files.len() - 1
            });
            retrieved.candidates.push(Candidate {
                unit: unit.unit,
                file,
                kind: unit.kind,
                role: unit.role,
                line: unit.line,
                end: unit.end,
                compared: None,
                name_hit: facts.name_hits.contains(&unit.unit),
                fit: NameFit::default(),
                pointer: None,
                hinted: Matched::default(),
            });
        }
        tell_endings_apart(query, &mut retrieved.files);
        // A path without topic terms of the query is not weighed.
        let of_paths = retrieved.files.iter().map(|file| &file.path_facts.topic_terms);
        let of_paths = of_paths.filter(|terms| terms.iter().any(|term| query.topic_terms.contains(term)));
        let topics: FxHashSet<&String> = of_paths.flatten().chain(&query.topic_terms).collect();
        let topics: Vec<String> = topics.into_iter().cloned().collect();
        let counts = self.rounds.ask(&TopicsRequest { terms: topics.clone() })?;
        retrieved.topic_frequency = topics.into_iter().zip(counts).collect();
        Ok(retrieved)
    }
}

fn file_facts(
    query: &Query,
    place: FilePlace,
    found: FileFound,
    mut path_facts: Arc<PathFacts>,
    pairs: &PairWeights,
) -> FileFacts {
    if found.is_generated {
        let own = Arc::make_mut(&mut path_facts);
        own.class = own.class.with(PathClass::VENDORED);
    }
    let (near, adjacent) = pairs.sums(&found.pairs);
    FileFacts {
        repository: found.front,
        place: place.0,
        hash: found.hash,
        path_facts,
        is_text: is_data(&found.language, &found.path),
        near,
        adjacent,
        variant: query.variants.of_path(&found.path, language::facts()),
        definitions: found.definitions,
        textual_types: found.textual_types.into_iter().map(|at| at as usize).collect(),
        word_definitions: found.word_definitions,
        path: found.path,
        ..FileFacts::default()
    }
}

/// The semantic scores of the units that only the lexical search found.
fn likeness_of(search: &SemanticSearch<'_>, others: &[UnitFound]) -> Result<Vec<NearUnit>> {
    let is_alone = search.semantic.mode == Mode::SemanticOnly;
    if is_alone && search.semantic.encode_max == 0 { Ok(Vec::new()) } else { search.score(others) }
}

/// The semantic ranking, from the vector search (`near`) and the scores of lexical-only units (`more`): the nearest get
/// their full scores. Sets the evidence's coverage of `units`.
fn completed(
    search: &SemanticSearch<'_>,
    mut near: Vec<NearUnit>,
    more: Vec<NearUnit>,
    units: &[UnitFound],
    evidence: &mut Evidence,
    knobs: &Knobs,
) -> Result<Vec<NearUnit>> {
    evidence.likeness = search.likeness_of_itself();
    evidence.coverage = join(&mut near, more, units);
    // If words are trusted, meaning has little weight, and stored scores suffice.
    let share = if search.semantic.mode == Mode::SemanticOnly { 1.0 } else { evidence.unexplained(knobs) };
    let most =
        if rank::order::compares(evidence, knobs) { SHARPEN_FIRST.min(knobs.exact_units) } else { knobs.exact_units };
    search.sharpen(&mut near, (share * most as f32).ceil() as usize)?;
    Ok(near)
}

/// Result of the lexical half of a search.
fn evidence(query: &Query, mass: WordMass, units: &[UnitFound], knobs: &Knobs) -> Evidence {
    let best = units.iter().map(|u| u.score).fold(0.0, f32::max);
    let share = |x: f32| if mass.all > 0.0 { (x / mass.all).clamp(0.0, 1.0) } else { 0.0 };
    Evidence {
        words: mass.words,
        names: !query.identifiers.is_empty(),
        expanded: !query.expansions.is_empty(),
        known: share(mass.known),
        mass: mass.all,
        strength: share(best / (1.0 + knobs.k1)),
        ..Evidence::default()
    }
}

/// Whether most of `units` are prose, and at most the share `code` of them are functions or classes of code.
/// Documentation often includes tables of settings and the constants of a script, which count as neither.
fn is_documentation(units: &[UnitFound], files: &FxHashMap<FilePlace, FileFound>, code: f32) -> bool {
    let is_prose = |found: &FileFound| category(&found.language) == Category::Prose;
    let prose: FxHashSet<FilePlace> =
        files.iter().filter(|(_, found)| is_prose(found)).map(|(file, _)| *file).collect();
    let (of_prose, others): (Vec<&UnitFound>, Vec<&UnitFound>) =
        units.iter().partition(|unit| prose.contains(&unit.file));
    let defines = |unit: &&&UnitFound| matches!(unit.kind, UnitKind::Function | UnitKind::Method | UnitKind::Class);
    let definitions = others.iter().filter(defines).count();
    of_prose.len() > others.len() && definitions as f32 <= code * units.len() as f32
}

/// Ranks the title of a long query as a query of its own: the best files, each with its share of the best score.
fn title_files(corpus: &Corpus<'_>, request: &Request<'_>, title: &str) -> Result<Vec<(FilePlace, f32)>> {
    let title = Request { query: title, ..*request };
    let own = with_retrieval(corpus, &title, KnownQuery::Title, |_, retrieval| Ok(retrieval))?;
    let fused = Fused::new(&own.retrieved, request.fusion, request.knobs);
    let ranked = rank::run(&own.query, request.knobs, &own.retrieved, fused, None);
    // Units that the title points at score far above all others, so they don't set the scale.
    let pointed: FxHashSet<_> =
        own.retrieved.candidates.iter().filter(|c| c.pointer.is_some()).map(|c| c.unit).collect();
    let scores = ranked.units.iter().filter(|unit| !pointed.contains(&unit.unit)).map(|unit| unit.score);
    let best = scores.fold(0.0, f32::max);
    let mut seen = FxHashSet::default();
    let is_first = |unit: &&RankedUnit| best > 0.0 && seen.len() < TITLE_FILES_MAX && seen.insert(unit.file);
    let share =
        |unit: &RankedUnit| (FilePlace(own.retrieved.files[unit.file].place), (unit.score / best).clamp(0.0, 1.0));
    Ok(ranked.units.iter().filter(is_first).map(share).collect())
}
