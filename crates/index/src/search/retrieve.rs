//! Retrieval: the candidates of a query, found by words, by meaning and by name, with what is known of their files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::PoisonError;

use colgrep_core::bm25::Bm25;
use colgrep_core::fuse::{Evidence, Ranking, Retriever};
use colgrep_core::knob::Knobs;
use colgrep_core::path::{PathClass, PathFacts};
use colgrep_core::query::Query;
use colgrep_core::rank::{Candidate, FileFacts, Retrieved};
use colgrep_core::tag::Matched;
use colgrep_core::token::Tokenizer;
use colgrep_core::{UnitId, UnitKind};
use colgrep_syntax::language::{self, Category};

use super::Request;
use super::beside::Beside;
use super::hinted;
use super::pointed::{Pointers, pointers};
use super::semantic::{Mode, Semantic, SemanticSearch, join};
use super::timing::{Timing, timed};
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{NamedFile, Required, UnitHit, WordMass};
use crate::store::{FileRecord, Snapshot};

/// The first half of a search.
#[derive(Clone, Debug, Default)]
pub struct Retrieval {
    /// The query, as it was read.
    pub query: Query,
    /// The candidates with their rankings, and what is known of their files.
    pub retrieved: Retrieved,
    /// How long it took to find them.
    pub timing: Timing,
}

/// The query as read, and the candidates with their rankings and what is known of their files, before they are fused.
/// It depends on the knobs of retrieval alone.
///
/// # Errors
/// When the index can't be read.
pub fn retrieve(snapshot: &Snapshot, request: &Request<'_>) -> Result<Retrieval> {
    let mut timing = Timing::default();
    // On a thread of rayon's pool, which works on what it splits; any other thread sleeps until each part is done.
    let (query, retrieved) = rayon::scope(|_| retrieve_in_pool(snapshot, request, None, &mut timing))?;
    Ok(Retrieval { query, retrieved, timing })
}

/// The same, where the caller knows what the query points at.
///
/// # Errors
/// As [`retrieve`].
pub(crate) fn retrieve_pointed(snapshot: &Snapshot, request: &Request<'_>, pointers: Pointers) -> Result<Retrieval> {
    let mut timing = Timing::default();
    let (query, retrieved) = rayon::scope(|_| retrieve_in_pool(snapshot, request, Some(pointers), &mut timing))?;
    Ok(Retrieval { query, retrieved, timing })
}

fn retrieve_in_pool(
    snapshot: &Snapshot,
    request: &Request<'_>,
    known: Option<Pointers>,
    timing: &mut Timing,
) -> Result<(Query, Retrieved)> {
    let mut tokenizer = Tokenizer::default();
    let query = read(snapshot, request, &mut tokenizer)?;
    if query.terms.is_empty() {
        return Ok((query, Retrieved::default()));
    }
    let files_total = snapshot.files.indexed().count() as u64;
    let named = timed(&mut timing.lexical, || snapshot.lexical.named_files(&query, files_total, request.filter))?;
    let pointers = match known {
        Some(known) => known,
        None if request.knobs.pointed_boost + request.knobs.mention_boost > 0.0 => {
            pointers(snapshot, &query, &mut tokenizer, request.filter)?
        }
        None => Pointers::default(),
    };
    if pointers.allow_nothing() {
        return Ok((query, Retrieved::default()));
    }
    let beside = Beside::new(snapshot, request, &query, pointers)?;
    let mut required = required(snapshot, request, &query, &named);
    required.files.extend(beside.files());
    required.units.extend(beside.pointers.units.keys());
    let Some(Ranked { units, rankings, evidence }) = ranked(snapshot, request, &query, required, &beside, timing)?
    else {
        return Ok((query, Retrieved::default()));
    };
    let mut retrieved = gather(snapshot, &query, files_total, &units, &named, &mut tokenizer)?;
    (retrieved.rankings, retrieved.evidence) = (rankings, evidence);
    hinted::compare(snapshot, request, &mut retrieved, &mut tokenizer)?;
    beside.mark(&mut retrieved, &units);
    Ok((query, retrieved))
}

/// The candidates of a query with the rankings that found them.
struct Ranked {
    units: Vec<UnitHit>,
    rankings: Vec<Ranking>,
    evidence: Evidence,
}

/// Ranks the units by words and by meaning, side by side. None where neither the index nor the model knows anything of
/// the query.
fn ranked(
    snapshot: &Snapshot,
    request: &Request<'_>,
    query: &Query,
    mut required: Required,
    beside: &Beside,
    timing: &mut Timing,
) -> Result<Option<Ranked>> {
    let Timing { lexical: lexical_ms, semantic: semantic_ms, .. } = timing;
    let semantic = timed(semantic_ms, || {
        request.semantic.map(|s| SemanticSearch::new(snapshot, &query.text, s, request.filter)).transpose()
    })?;
    let (bm25, units_max) = (Bm25::new(request.knobs), request.knobs.pool_units);
    let mut by_words =
        || timed(lexical_ms, || snapshot.lexical.search(query, &bm25, units_max, request.files, request.filter));
    let mut by_meaning =
        |semantic: &SemanticSearch<'_>| timed(semantic_ms, || semantic.search(units_max, request.files));
    let (near, found) = match &semantic {
        Some(semantic) => rayon::join(|| by_meaning(semantic), by_words),
        None => (Ok(Vec::new()), by_words()),
    };
    let (near, found) = (near?, found?);
    let by_vectors: HashSet<UnitId> = near.iter().map(|hit| hit.0).collect();
    required.units.extend(&by_vectors);
    let (units, mass) = timed(lexical_ms, || found.with(&required))?;

    // Required units without a word of the query (score 0) get their facts, and no rank by words.
    let by_words = units.iter().filter(|u| u.score > 0.0 || !required.units.contains(&u.key));
    let hits: Vec<(UnitId, f32)> = by_words.map(|u| (u.key, u.score)).collect();
    // If neither the index nor the model knows a word of the query, nothing is an answer, except by meaning alone.
    let is_nothing = |s: Semantic<'_>| s.mode == Mode::Hybrid && !s.encoder.knows(&query.text);
    if hits.is_empty() && beside.pointers.units.is_empty() && request.semantic.is_some_and(is_nothing) {
        return Ok(None);
    }
    let mut evidence = evidence(query, mass, &units, request.knobs);
    evidence.documentation = is_documentation(snapshot, &units, request.knobs.code_share);
    let mut rankings = Vec::new();
    if request.semantic.is_none_or(|s| s.mode == Mode::Hybrid) {
        rankings.push(Ranking { retriever: Retriever::Lexical, hits });
    }
    if let Some(search) = &semantic {
        let others: Vec<UnitHit> = units.iter().filter(|u| !by_vectors.contains(&u.key)).copied().collect();
        let hits = timed(semantic_ms, || completed(search, near, &others, &units, &mut evidence, request.knobs))?;
        if rankings.is_empty() || !hits.is_empty() {
            rankings.push(Ranking { retriever: Retriever::Semantic, hits });
        }
    }
    let in_rankings: HashSet<UnitId> = rankings.iter().flat_map(|r| r.hits.iter().map(|h| h.0)).collect();
    let is_candidate = |unit: &UnitHit| in_rankings.contains(&unit.key) || beside.brings(unit);
    let units = units.into_iter().filter(|unit| is_candidate(unit) && beside.allows(unit.file)).collect();
    Ok(Some(Ranked { units, rankings, evidence }))
}

/// Reads the query, and adds what a table of terms knows of its words.
fn read(snapshot: &Snapshot, request: &Request<'_>, tokenizer: &mut Tokenizer) -> Result<Query> {
    let (root, facts) = (snapshot.files.root.as_str(), language::facts());
    let mut failed = Ok(());
    let is_name = |term: &str| match snapshot.lexical.is_name(term) {
        Ok(is_name) => is_name,
        Err(error) => {
            failed = Err(error);
            false
        }
    };
    let mut query = match request.knobs.fillers {
        true => Query::without_fillers(request.query, root, facts, tokenizer, is_name),
        false => Query::new(request.query, root, facts, tokenizer),
    };
    failed?;
    if let Some(table) = request.background.terms {
        query.expand(table, tokenizer);
    }
    Ok(query)
}

/// What becomes a candidate whatever rank its words give it.
fn required(
    snapshot: &Snapshot,
    request: &Request<'_>,
    query: &Query,
    named: &BTreeMap<FileId, NamedFile>,
) -> Required {
    let files = strongest(named, request.knobs.pool_named_files);
    let mut units = HashSet::new();
    if query.is_symbol() {
        // Who types a name wants the unit that defines it.
        let is_allowed = |unit: &UnitId| request.filter.is_none_or(|f| snapshot.lexical.is_allowed(*unit, f));
        let definitions = files.iter().filter_map(|file| named.get(file)).flat_map(|n| &n.definitions);
        units.extend(definitions.map(|d| d.unit).filter(is_allowed));
    }
    Required { files, units }
}

/// The semantic ranking, from what the vectors found (`near`): the units that words alone found (`others`) get their
/// scores, and the nearest their full ones. Sets the evidence's coverage of `units`.
fn completed(
    search: &SemanticSearch<'_>,
    mut near: Vec<(UnitId, f32)>,
    others: &[UnitHit],
    units: &[UnitHit],
    evidence: &mut Evidence,
    knobs: &Knobs,
) -> Result<Vec<(UnitId, f32)>> {
    let is_alone = search.semantic.mode == Mode::SemanticOnly;
    let more = if is_alone && search.semantic.encode_max == 0 { Vec::new() } else { search.score(others)? };
    evidence.likeness = search.likeness_of_itself();
    evidence.coverage = join(&mut near, more, units);
    // Where words are trusted, meaning counts little, and stored scores do.
    let share = if is_alone { 1.0 } else { evidence.unexplained(knobs) };
    search.sharpen(&mut near, (share * knobs.exact_units as f32).ceil() as usize)?;
    Ok(near)
}

/// Result of the lexical half of a search.
fn evidence(query: &Query, mass: WordMass, units: &[UnitHit], knobs: &Knobs) -> Evidence {
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

/// Whether most of `units` are prose, and at most the share `code` of them are functions or classes of code. Tables of
/// settings and the constants of a script stand in many a documentation and are neither.
fn is_documentation(snapshot: &Snapshot, units: &[UnitHit], code: f32) -> bool {
    let is_prose = |language: &str| language::by_name(language).is_some_and(|row| row.category == Category::Prose);
    let records = snapshot.files.files.iter().filter(|file| is_prose(&file.language));
    let prose: HashSet<FileId> = records.map(|file| file.id).collect();
    let (of_prose, others): (Vec<&UnitHit>, Vec<&UnitHit>) = units.iter().partition(|unit| prose.contains(&unit.file));
    let defines = |unit: &&&UnitHit| matches!(unit.kind, UnitKind::Function | UnitKind::Method | UnitKind::Class);
    let definitions = others.iter().filter(defines).count();
    of_prose.len() > others.len() && definitions as f32 <= code * units.len() as f32
}

/// The files that answer best by name or definition, at most `files_max`.
fn strongest(named: &BTreeMap<FileId, NamedFile>, files_max: usize) -> HashSet<FileId> {
    let weight = |n: &NamedFile| {
        n.topic_weight
            + 100.0 * f32::from(u8::from(!n.definitions.is_empty() || !n.textual_types.is_empty()))
            + 10.0 * n.word_definitions
    };
    let mut files: Vec<(FileId, f32)> = named.iter().map(|(file, n)| (*file, weight(n))).collect();
    files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    files.into_iter().take(files_max).map(|(file, _)| file).collect()
}

/// Whether files of a language are prose, configuration or data.
pub fn is_text(language: &str) -> bool {
    let category = language::by_name(language).map_or(Category::Unknown, |l| l.category);
    matches!(category, Category::Prose | Category::Data)
}

/// The candidates and what is known of their files; rankings and evidence are left empty.
fn gather(
    snapshot: &Snapshot,
    query: &Query,
    files_total: u64,
    units: &[UnitHit],
    named: &BTreeMap<FileId, NamedFile>,
    tokenizer: &mut Tokenizer,
) -> Result<Retrieved> {
    let wanted: HashSet<FileId> = units.iter().map(|u| u.file).collect();
    let records: HashMap<FileId, &FileRecord> =
        snapshot.files.files.iter().filter(|f| wanted.contains(&f.id)).map(|f| (f.id, f)).collect();
    let nearness = snapshot.lexical.nearness(query, files_total, &wanted)?;
    let mut retrieved = Retrieved { files_total, ..Retrieved::default() };
    let mut positions: HashMap<FileId, usize> = HashMap::new();
    let mut known = snapshot.path_facts.lock().unwrap_or_else(PoisonError::into_inner);
    for unit in units {
        let Some(record) = records.get(&unit.file) else { continue };
        let file = *positions.entry(unit.file).or_insert_with(|| {
            let known =
                known.entry(record.id).or_insert_with(|| PathFacts::new(&record.path, language::facts(), tokenizer));
            let mut path_facts = known.clone();
            if record.generated {
                path_facts.class = path_facts.class.with(PathClass::VENDORED);
            }
            let near = nearness.get(&unit.file).copied().unwrap_or_default();
            let mut file = FileFacts {
                path: record.path.clone(),
                path_facts,
                is_text: is_text(&record.language),
                near: near.near,
                adjacent: near.adjacent,
                variant: query.variants.of_path(&record.path, language::facts()),
                ..FileFacts::default()
            };
            if let Some(named) = named.get(&unit.file) {
                file.definitions.clone_from(&named.definitions);
                file.textual_types.clone_from(&named.textual_types);
                file.word_definitions = named.word_definitions;
            }
            retrieved.files.push(file);
            retrieved.files.len() - 1
        });
        retrieved.candidates.push(Candidate {
            unit: unit.key,
            file,
            kind: unit.kind,
            role: unit.role,
            line: unit.line,
            name_hit: unit.name_hit,
            pointer: None,
            hinted: Matched::default(),
        });
    }
    drop(known);
    let topics = retrieved.files.iter().flat_map(|f| &f.path_facts.topic_terms).chain(&query.topic_terms);
    retrieved.topic_frequency = snapshot.lexical.topic_frequency(topics)?;
    Ok(retrieved)
}
