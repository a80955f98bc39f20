//! The vectors of one index: the texts that a search has chosen so far, and their units.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use colgrep_core::UnitId;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::LocalSearch;
use crate::shard::{QueryVectors, Reach, TextCutoff};
use colgrep_index::error::Result;
use colgrep_index::ids::TextHash;
use colgrep_index::lexical::UnitFilter;
use colgrep_index::store::Snapshot;
use colgrep_index::vector::{Allowed, Scored, VectorPlace, VectorQuery, Vectors};

/// The allowed units, and how their vectors are found.
pub(crate) enum AllowedUnits<'a> {
    /// At most [`Effort::joined`](colgrep_index::vector::Effort::joined) allowed units, each with the place of its vectors;
    /// units without vectors are left out.
    Placed(Cow<'a, [(UnitId, VectorPlace)]>),
    /// More units than that, with the hashes of their texts: texts are searched first, then hits are mapped to units.
    Hashed(Vec<(UnitId, TextHash)>),
    /// More units than that, without a filter: texts are searched first, then hits are mapped to units.
    All,
}

/// The semantic search in one index, with its results so far.
pub(crate) struct VectorSearch<'a> {
    vectors: Option<&'a Vectors>,
    query: Option<QueryVectors<'a>>,
    question: OnceLock<VectorQuery<'a>>,
    units: OnceLock<(AllowedUnits<'a>, Allowed)>,
    selection: Mutex<Selection>,
}

/// The texts chosen last.
#[derive(Default)]
pub(crate) struct Selection {
    /// The texts with the scores by which they were chosen.
    pub(crate) chosen: Vec<Scored>,
    /// Units of texts, if they are already known.
    units: FxHashMap<TextHash, Vec<UnitId>>,
}

impl<'a> VectorSearch<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, query: Option<QueryVectors<'a>>) -> VectorSearch<'a> {
        let is_asked = |query: &&QueryVectors<'_>| !query.question.is_empty();
        let vectors = query.as_ref().filter(is_asked).and_then(|query| {
            snapshot.vectors.as_ref().filter(|vectors| vectors.manifest().fingerprint == query.fingerprint)
        });
        let (question, units, selection) = Default::default();
        VectorSearch { vectors, query, question, units, selection }
    }

    /// The texts chosen last.
    pub(crate) fn selection(&self) -> MutexGuard<'_, Selection> {
        self.selection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The vectors of the index and the question; `None` if the index has none for the question's model.
    pub(crate) fn question(&self) -> Result<Option<(&'a Vectors, &VectorQuery<'a>)>> {
        let (Some(vectors), Some(query)) = (self.vectors, self.query) else { return Ok(None) };
        if self.question.get().is_none() {
            let _ = self.question.set(vectors.question(query.question)?);
        }
        Ok(self.question.get().map(|question| (vectors, question)))
    }

    /// Takes the chosen texts that reach the bar, and forgets the others.
    pub(crate) fn take(&self, vectors: &Vectors, bar: Option<TextCutoff>) -> Vec<Scored> {
        let mut chosen = std::mem::take(&mut self.selection().chosen);
        if let Some(bar) = bar {
            chosen.retain(|(place, score)| vectors.hash(*place).is_some_and(|hash| bar.lets(*score, hash)));
        }
        chosen
    }
}

/// The allowed units. If there are at most `joined`, the vectors of each are looked up, on all cores since each look-up
/// waits for memory. The snapshot remembers the places of all its units.
fn allowed_units<'a>(
    snapshot: &'a Snapshot,
    vectors: &Vectors,
    filter: Option<&dyn UnitFilter>,
    joined: usize,
) -> AllowedUnits<'a> {
    let lexical = &snapshot.lexical;
    let look_up = |units: Vec<(UnitId, TextHash)>| -> Vec<(UnitId, VectorPlace)> {
        let place = |(key, hash): &(UnitId, TextHash)| Some((*key, vectors.place(*hash)?));
        units.par_iter().with_min_len(4_096).filter_map(place).collect()
    };
    let allowed = || {
        let mut units: Vec<(UnitId, TextHash)> = Vec::new();
        lexical.each_unit(filter, |key, _, hash| units.push((key, hash)));
        units
    };
    let all_joined = lexical.shape().1 <= joined as u64;
    match (filter, snapshot.placed.get().filter(|_| all_joined)) {
        (None, _) if !all_joined => AllowedUnits::All,
        (None, Some(placed)) => AllowedUnits::Placed(placed.into()),
        // Not inside the cell: rayon may run another search on the waiting thread, which would then wait for the cell.
        (None, None) => {
            let placed = look_up(allowed());
            AllowedUnits::Placed(snapshot.placed.get_or_init(|| placed).into())
        }
        (Some(filter), Some(placed)) => {
            AllowedUnits::Placed(placed.iter().filter(|(key, _)| lexical.is_allowed(*key, filter)).copied().collect())
        }
        (Some(_), None) => match allowed() {
            units if units.len() > joined => AllowedUnits::Hashed(units),
            units => AllowedUnits::Placed(look_up(units).into()),
        },
    }
}

impl<'a> LocalSearch<'a> {
    /// The units that this index may return for a semantic search.
    pub(crate) fn reach(&self) -> Result<Reach> {
        let Some((vectors, _)) = self.vectors.question()? else { return Ok(Reach { units: 0, is_placed: true }) };
        Ok(match &self.allowed_units(vectors).0 {
            AllowedUnits::Placed(placed) => Reach { units: placed.len() as u64, is_placed: true },
            AllowedUnits::Hashed(units) => Reach { units: units.len() as u64, is_placed: false },
            AllowedUnits::All => Reach { units: self.snapshot.lexical.shape().1, is_placed: false },
        })
    }

    /// The allowed units, with the places of their texts if these were looked up.
    pub(crate) fn allowed_units(&self, vectors: &Vectors) -> &(AllowedUnits<'a>, Allowed) {
        self.vectors.units.get_or_init(|| {
            let joined = self.vectors.query.map_or(0, |query| query.effort.joined);
            let units = allowed_units(self.snapshot, vectors, self.filter(), joined);
            let mut allowed = Allowed::none(vectors.len());
            if let AllowedUnits::Placed(placed) = &units {
                placed.iter().for_each(|(_, place)| allowed.insert(*place));
            }
            (units, allowed)
        })
    }

    /// The best of the texts in the lists that have allowed units.
    pub(crate) fn listed(&self, vectors: &Vectors, question: &VectorQuery<'_>, best: usize) -> Result<Vec<Scored>> {
        let probes = self.vectors.query.map_or(0, |query| query.effort.probes);
        let (units, allowed) = self.allowed_units(vectors);
        let units_of = |texts: &TextSet| -> Vec<(UnitId, TextHash)> {
            match units {
                AllowedUnits::Hashed(units) => {
                    units.par_iter().filter(|(_, hash)| texts.contains(*hash)).copied().collect()
                }
                _ => self.snapshot.lexical.units_of_texts(|hash| texts.contains(hash)),
            }
        };
        if matches!(units, AllowedUnits::Placed(_)) {
            return question.listed(|place| allowed.contains(place), probes, best);
        }
        let mut known: FxHashMap<TextHash, Vec<UnitId>> = FxHashMap::default();
        let mut have_units = |places: &[VectorPlace]| -> Vec<bool> {
            let hashes: Vec<Option<TextHash>> = places.iter().map(|place| vectors.hash(*place)).collect();
            for (key, hash) in units_of(&TextSet::new(hashes.iter().flatten().copied().collect())) {
                known.entry(hash).or_default().push(key);
            }
            hashes.iter().map(|hash| hash.is_some_and(|hash| known.contains_key(&hash))).collect()
        };
        let found = question.listed_asking(&mut have_units, probes, best)?;
        self.vectors.selection().units = known;
        Ok(found)
    }

    /// The units of texts, by place.
    pub(crate) fn units_of(&self, vectors: &Vectors, places: &[Scored]) -> FxHashMap<VectorPlace, Vec<UnitId>> {
        let mut units: FxHashMap<VectorPlace, Vec<UnitId>> = FxHashMap::default();
        match &self.allowed_units(vectors).0 {
            AllowedUnits::Placed(placed) => {
                let mut best = Allowed::none(vectors.len());
                places.iter().for_each(|(place, _)| best.insert(*place));
                for (unit, place) in placed.iter().filter(|(_, place)| best.contains(*place)) {
                    units.entry(*place).or_default().push(*unit);
                }
            }
            AllowedUnits::Hashed(_) | AllowedUnits::All => {
                let found = self.vectors.selection();
                for (place, _) in places {
                    let known = vectors.hash(*place).and_then(|hash| found.units.get(&hash));
                    units.insert(*place, known.cloned().unwrap_or_default());
                }
            }
        }
        units
    }
}

/// A set of text hashes. Most look-ups miss; a bit set answers these without a binary search.
struct TextSet {
    bits: FixedBitSet,
    hashes: Vec<TextHash>,
}

impl TextSet {
    const BITS: u32 = 20;

    fn new(mut hashes: Vec<TextHash>) -> TextSet {
        hashes.sort_unstable();
        let mut bits = FixedBitSet::with_capacity(1 << TextSet::BITS);
        bits.extend(hashes.iter().map(|hash| TextSet::bit(*hash)));
        TextSet { bits, hashes }
    }

    fn bit(hash: TextHash) -> usize {
        (hash.value() >> (64 - TextSet::BITS)) as usize
    }

    fn contains(&self, hash: TextHash) -> bool {
        self.bits.contains(TextSet::bit(hash)) && self.hashes.binary_search(&hash).is_ok()
    }
}
