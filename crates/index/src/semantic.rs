//! The semantic half of a search: units near a query by their vectors, and vectors for what the lexical half found.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use colgrep_core::fuse::UnitKey;
use colgrep_encoder::{Encoder, Multivector};
use rayon::prelude::*;

use crate::error::Result;
use crate::lexical::{Lexical, UnitFilter, UnitHit};
use crate::store::{FileRecord, Snapshot};
use crate::vector::{Allowed, Effort, Place, Vectors, encode_texts, maxsim};

/// The best lexical candidates, of which the share with a semantic score is told.
const HEAD: usize = 50;

/// How a search uses vectors. Without this, it is by keywords alone.
#[derive(Clone, Copy)]
pub struct Semantic<'a> {
    /// The model that the index was made with, or, where no vectors are stored, any.
    pub encoder: &'a dyn Encoder,
    /// Whether the lexical ranking counts too.
    pub mode: Mode,
    /// How much of the store is looked at.
    pub effort: Effort,
    /// Lexical candidates without stored vectors that are read again and encoded for this search: all vectors of an
    /// index without stored ones (`lite`), and what an unfinished build lacks. About a millisecond of a core each.
    pub encode_max: usize,
    /// What is near these is looked for, and not what is near the query's text: the vectors of a unit that others are
    /// to be like.
    pub question: Option<&'a Multivector>,
}

impl std::fmt::Debug for Semantic<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Semantic({}, {:?})", self.encoder.name(), self.mode)
    }
}

impl<'a> Semantic<'a> {
    /// Both rankings, from what is stored.
    pub fn new(encoder: &'a dyn Encoder) -> Semantic<'a> {
        Semantic { encoder, mode: Mode::Hybrid, effort: Effort::default(), encode_max: 0, question: None }
    }
}

/// Which rankings count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Lexical and semantic.
    #[default]
    Hybrid,
    /// Semantic alone.
    SemanticOnly,
}

/// The units of a snapshot that have vectors, and the query's own.
pub(crate) struct Near<'a> {
    snapshot: &'a Snapshot,
    semantic: Semantic<'a>,
    query: Multivector,
    /// Units that may be given, by key, with the places of their vectors.
    placed: Vec<(UnitKey, Place)>,
}

impl<'a> Near<'a> {
    /// Encodes the query and finds out which of the allowed units have vectors.
    ///
    /// # Errors
    /// When the model can't be run.
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        text: &str,
        semantic: Semantic<'a>,
        filter: Option<&dyn UnitFilter>,
    ) -> Result<Near<'a>> {
        let query = match semantic.question {
            Some(question) => question.clone(),
            None => semantic.encoder.encode_query(text)?,
        };
        let fingerprint = semantic.encoder.fingerprint();
        let vectors = snapshot.vectors.as_ref().filter(|v| v.manifest().fingerprint == fingerprint);
        let placed = vectors.map_or_else(Vec::new, |v| placed(&snapshot.lexical, v, filter));
        Ok(Near { snapshot, semantic, query, placed })
    }

    /// The best `units_max` texts' units (more where units share a text), or as many as lie in `files_min` files.
    ///
    /// # Errors
    /// When the vectors are damaged.
    pub(crate) fn search(&self, units_max: usize, files_min: usize) -> Result<Vec<(UnitKey, f32)>> {
        let Some(vectors) = self.snapshot.vectors.as_ref().filter(|_| !self.placed.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut allowed = Allowed::none(vectors.len());
        for (_, place) in &self.placed {
            allowed.insert(*place);
        }
        let mut n = units_max;
        loop {
            let found: HashMap<Place, f32> =
                vectors.search(&self.query, n, &allowed, self.semantic.effort)?.into_iter().collect();
            let mut best = Allowed::none(vectors.len());
            for place in found.keys() {
                best.insert(*place);
            }
            let of_place = |(key, place): &(UnitKey, Place)| Some((*key, *found.get(place)?));
            let mut hits: Vec<(UnitKey, f32)> =
                self.placed.iter().filter(|(_, place)| best.contains(*place)).filter_map(of_place).collect();
            hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let files: HashSet<u32> = hits.iter().map(|(key, _)| self.snapshot.lexical.hit(*key).file).collect();
            if files.len() >= files_min || n >= allowed.count() {
                return Ok(hits);
            }
            n *= 4;
        }
    }

    /// Exact scores of further units, those that have stored vectors or (the first `encode_max`) are encoded now.
    ///
    /// # Errors
    /// When the vectors are damaged or the model can't be run.
    pub(crate) fn score(&self, units: &[UnitHit]) -> Result<Vec<(UnitKey, f32)>> {
        if self.query.is_empty() {
            return Ok(Vec::new());
        }
        let place = |key: UnitKey| self.placed.binary_search_by_key(&key, |p| p.0).ok().map(|at| self.placed[at].1);
        let (mut keys, mut places, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        for unit in units {
            match place(unit.key) {
                Some(place) => {
                    keys.push(unit.key);
                    places.push(place);
                }
                None if bare.len() < self.semantic.encode_max => bare.push(unit),
                None => {}
            }
        }
        let mut scored: Vec<(UnitKey, f32)> = Vec::new();
        if let Some(vectors) = self.snapshot.vectors.as_ref().filter(|_| !places.is_empty()) {
            scored = keys.into_iter().zip(vectors.score(&self.query, &places)?).collect();
        }
        scored.extend(self.encoded(&bare)?);
        Ok(scored)
    }

    fn encoded(&self, units: &[&UnitHit]) -> Result<Vec<(UnitKey, f32)>> {
        let mut by_file: HashMap<u32, HashSet<u64>> = HashMap::new();
        let hashes: Vec<u64> = units.iter().map(|u| self.snapshot.lexical.text_of(u.key)).collect();
        for (unit, hash) in units.iter().zip(&hashes) {
            by_file.entry(unit.file).or_default().insert(*hash);
        }
        let records = self.snapshot.files.files.iter();
        let wanted: Vec<(&FileRecord, HashSet<u64>)> =
            records.filter_map(|r| Some((r, by_file.remove(&r.id)?))).collect();
        let vectors = encode_texts(Path::new(&self.snapshot.files.root), self.semantic.encoder, &wanted)?;
        let score = |(unit, hash): (&&UnitHit, &u64)| Some((unit.key, maxsim(&self.query, vectors.get(hash)?)));
        Ok(units.iter().zip(&hashes).filter_map(score).collect())
    }
}

/// The allowed units that have vectors, by key. Many units share the work, since each look-up waits for memory.
fn placed(lexical: &Lexical, vectors: &Vectors, filter: Option<&dyn UnitFilter>) -> Vec<(UnitKey, Place)> {
    let mut units: Vec<(UnitKey, u64)> = Vec::new();
    lexical.each_unit(filter, |key, _, hash| units.push((key, hash)));
    let place = |(key, hash): &(UnitKey, u64)| Some((*key, vectors.place(*hash)?));
    units.par_iter().with_min_len(4_096).filter_map(place).collect()
}

/// Adds to `hits` the units of `more` that are not in it, and tells which share of the first [`HEAD`] of `units` has a
/// score then: 1 where there are none.
pub(crate) fn join(hits: &mut Vec<(UnitKey, f32)>, more: Vec<(UnitKey, f32)>, units: &[UnitHit]) -> f32 {
    let mut known: HashSet<UnitKey> = hits.iter().map(|h| h.0).collect();
    hits.extend(more.into_iter().filter(|(key, _)| known.insert(*key)));
    hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let head = &units[..units.len().min(HEAD)];
    let scored = head.iter().filter(|u| known.contains(&u.key)).count();
    if head.is_empty() { 1.0 } else { scored as f32 / head.len() as f32 }
}
