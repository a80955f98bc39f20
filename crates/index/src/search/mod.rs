//! A search over one snapshot: retrieve, fuse, gather what is known of the files, rank, collapse.

mod restore;
mod semantic;

use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;

use colgrep_core::UnitId;
use colgrep_core::bm25::Bm25;
use colgrep_core::collapse::{FileHit, collapse};
use colgrep_core::fuse::{Evidence, Fusion, Ranking, Retriever};
use colgrep_core::knob::Knobs;
use colgrep_core::path::{PathClass, PathFacts};
use colgrep_core::query::Query;
use colgrep_core::rank::{self, Candidate, FileFacts, Fused, Ranked, RankedUnit, Retrieved};
use colgrep_core::token::Tokenizer;
use colgrep_syntax::language::{self, Category};

use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{NamedFile, Required, UnitFilter, UnitHit, WordMass};
use crate::store::{FileRecord, Snapshot};

pub use semantic::{Mode, Semantic};
use semantic::{Near, join};

/// What is asked of a search.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The query's text.
    pub query: &'a str,
    /// Constants of the ranking.
    pub knobs: &'a Knobs,
    /// How rankings are fused.
    pub fusion: Fusion,
    /// Distinct files wanted.
    pub files: usize,
    /// Units shown a file, at most.
    pub units_per_file: usize,
    /// Which units may be given; all, where there is none.
    pub filter: Option<&'a dyn UnitFilter>,
    /// How vectors count; keywords alone, where there is none.
    pub semantic: Option<Semantic<'a>>,
}

/// Watches a search: step name and (unit, score) pairs of a retriever, or the order behind a stage.
pub trait Watch {
    /// A retriever's ranking, or their fusion: units with scores, best first.
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]);
    /// The order behind a stage.
    fn stage(&mut self, step: &'static str, ranked: &Ranked<'_>);
}

/// The answer: files with their best units, and all units that they were chosen from.
#[derive(Debug, Default)]
pub struct Answer {
    /// The query, as it was read.
    pub query: Query,
    /// The files, best first.
    pub hits: Vec<FileHit>,
    /// All units that were ranked, best first.
    pub units: Vec<RankedUnit>,
    /// Their files.
    pub files: Vec<FileFacts>,
}

/// Runs one search.
///
/// # Errors
/// When the index can't be read.
pub fn search(snapshot: &Snapshot, request: &Request<'_>, mut watch: Option<&mut dyn Watch>) -> Result<Answer> {
    let (query, retrieved) = retrieve(snapshot, request)?;
    let fused = Fused::new(&retrieved, request.fusion, request.knobs);
    if let Some(watch) = &mut watch {
        for ranking in &retrieved.rankings {
            watch.ranking(ranking.retriever.name(), &ranking.hits);
        }
        let ranked = Ranked::new(&retrieved, &fused);
        watch.ranking("fused", &ranked.units.iter().map(|u| (u.unit, u.score)).collect::<Vec<_>>());
    }
    let ranked = match watch {
        Some(watch) => {
            let mut observer = |step, ranked: &Ranked<'_>| watch.stage(step, ranked);
            rank::run(&query, request.knobs, &retrieved, fused, Some(&mut observer))
        }
        None => rank::run(&query, request.knobs, &retrieved, fused, None),
    };
    let hits = collapse(&ranked, request.files, request.units_per_file);
    Ok(Answer { query, hits, units: ranked.units, files: retrieved.files })
}

/// The first half of a search: the query as read, and the candidates with their rankings and what is known of their
/// files, before they are fused. It depends on the knobs of retrieval alone.
///
/// # Errors
/// When the index can't be read.
pub fn retrieve(snapshot: &Snapshot, request: &Request<'_>) -> Result<(Query, Retrieved)> {
    // As one of the pool's own threads: it takes part in what it splits, where any other is put to sleep and woken for
    // each part.
    rayon::scope(|_| retrieve_in_pool(snapshot, request))
}

fn retrieve_in_pool(snapshot: &Snapshot, request: &Request<'_>) -> Result<(Query, Retrieved)> {
    let mut tokenizer = Tokenizer::default();
    let query = Query::new(request.query, &snapshot.files.root, language::facts(), &mut tokenizer);
    if query.terms.is_empty() {
        return Ok((query, Retrieved::default()));
    }
    let files_total = snapshot.files.indexed().count() as u64;
    let named = snapshot.lexical.named_files(&query, files_total, request.filter)?;
    let units_max = request.knobs.pool_units;
    let mut required = Required { files: strongest(&named, request.knobs.pool_named_files), units: HashSet::new() };
    if query.is_symbol() {
        // Who types a name wants the unit that defines it, wherever its words rank that.
        let is_allowed = |unit: &UnitId| request.filter.is_none_or(|f| snapshot.lexical.is_allowed(*unit, f));
        let definitions = required.files.iter().filter_map(|file| named.get(file)).flat_map(|n| &n.definitions);
        required.units.extend(definitions.map(|d| d.unit).filter(is_allowed));
    }
    let near = request.semantic.map(|s| Near::new(snapshot, request.query, s, request.filter)).transpose()?;
    let bm25 = Bm25::new(request.knobs);
    let by_words = || snapshot.lexical.search(&query, &bm25, units_max, request.files, request.filter);
    let (near_hits, found) = match &near {
        Some(near) => rayon::join(|| near.search(units_max, request.files), by_words),
        None => (Ok(Vec::new()), by_words()),
    };
    let mut near_hits = near_hits?;
    required.units.extend(near_hits.iter().map(|h| h.0));
    let (units, mass) = found?.with(&required)?;

    // What only the semantic side found stands among the units for its facts.
    let lexical = units.iter().filter(|u| u.score > 0.0 || !required.units.contains(&u.key));
    let hits = lexical.map(|u| (u.key, u.score)).collect();
    let mut rankings = vec![Ranking { retriever: Retriever::Lexical, hits }];
    let mut evidence = evidence(&query, mass, &units, request.knobs);
    // What the model has no word for either is a name that is not here.
    let unknown = |s: Semantic<'_>| rankings.iter().all(|r| r.hits.is_empty()) && !s.encoder.knows(request.query);
    if request.semantic.is_some_and(unknown) {
        return Ok((query, Retrieved::default()));
    }
    if let (Some(near), Some(semantic)) = (&near, request.semantic) {
        if semantic.mode == Mode::SemanticOnly {
            rankings.clear();
        }
        let mut more = Vec::new();
        if !rankings.is_empty() || semantic.encode_max > 0 {
            let others = units.iter().filter(|u| !required.units.contains(&u.key));
            more = near.score(&others.copied().collect::<Vec<_>>())?;
        }
        evidence.coverage = join(&mut near_hits, more, &units);
        // Where the words are trusted, meaning decides little, and need not be exact.
        let share = if semantic.mode == Mode::SemanticOnly { 1.0 } else { evidence.unexplained(request.knobs) };
        near.sharpen(&mut near_hits, (share * request.knobs.exact_units as f32).ceil() as usize)?;
        if rankings.is_empty() || !near_hits.is_empty() {
            rankings.push(Ranking { retriever: Retriever::Semantic, hits: near_hits });
        }
    }
    let retrieved: HashSet<UnitId> = rankings.iter().flat_map(|r| r.hits.iter().map(|h| h.0)).collect();
    let units: Vec<UnitHit> = units.into_iter().filter(|u| retrieved.contains(&u.key)).collect();
    let retrieved = gather(snapshot, &query, files_total, &units, &named, &mut tokenizer)?;
    Ok((query, Retrieved { rankings, evidence, ..retrieved }))
}

/// What the lexical side knows of a query.
fn evidence(query: &Query, mass: WordMass, units: &[UnitHit], knobs: &Knobs) -> Evidence {
    let best = units.iter().map(|u| u.score).fold(0.0, f32::max);
    let share = |x: f32| if mass.all > 0.0 { (x / mass.all).clamp(0.0, 1.0) } else { 0.0 };
    Evidence {
        words: mass.words,
        names: !query.identifiers.is_empty(),
        known: share(mass.known),
        strength: share(best / (1.0 + knobs.k1)),
        ..Evidence::default()
    }
}

/// The files that answer best by name or definition, at most `files_max`.
fn strongest(named: &std::collections::BTreeMap<FileId, NamedFile>, files_max: usize) -> HashSet<FileId> {
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
    named: &std::collections::BTreeMap<FileId, NamedFile>,
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
        });
    }
    drop(known);
    let topics = retrieved.files.iter().flat_map(|f| &f.path_facts.topic_terms).chain(&query.topic_terms);
    retrieved.topic_frequency = snapshot.lexical.topic_frequency(topics)?;
    Ok(retrieved)
}
