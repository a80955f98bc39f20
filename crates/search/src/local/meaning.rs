//! The ranking by meaning in one index.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use colgrep_core::UnitId;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::LocalSearch;
use crate::restore::restore;
use crate::shard::{
    Bar, Choice, Chosen, ChosenAsked, ChosenFound, Cut, Likeness, Marks, Meaning, Meant, Outline, Reach, TextNear,
};
use colgrep_index::error::Result;
use colgrep_index::ids::TextHash;
use colgrep_index::lexical::UnitFilter;
use colgrep_index::store::Snapshot;
use colgrep_index::vector::{Allowed, Question, Scored, VectorPlace, Vectors, in_store};

/// The allowed units, and how their vectors are found.
enum Units<'a> {
    /// At most [`Effort::joined`](colgrep_index::vector::Effort::joined) allowed units, each with the place of its vectors; units
    /// without vectors are left out.
    Placed(Cow<'a, [(UnitId, VectorPlace)]>),
    /// More than that, with the hashes of their texts: search texts first, map hits to these units afterwards.
    Hashed(Vec<(UnitId, TextHash)>),
    /// No filter and more than that: search texts first, map hits to units afterwards.
    All,
}

/// The question by meaning in one index, with what was found so far.
pub(super) struct State<'a> {
    vectors: Option<&'a Vectors>,
    meant: Option<Meant<'a>>,
    question: OnceLock<Question<'a>>,
    units: OnceLock<(Units<'a>, Allowed)>,
    found: Mutex<Found>,
}

/// The texts chosen last, with the scores that they were chosen by, and units of texts that are known already.
#[derive(Default)]
struct Found {
    chosen: Vec<Scored>,
    units: FxHashMap<TextHash, Vec<UnitId>>,
}

impl<'a> State<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, meant: Option<Meant<'a>>) -> State<'a> {
        let is_asked = |meant: &&Meant<'_>| !meant.question.is_empty();
        let vectors = meant.as_ref().filter(is_asked).and_then(|meant| {
            snapshot.vectors.as_ref().filter(|vectors| vectors.manifest().fingerprint == meant.fingerprint)
        });
        State { vectors, meant, question: OnceLock::new(), units: OnceLock::new(), found: Mutex::default() }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The vectors with the question; none where there are none of its model.
    fn question(&self) -> Result<Option<(&'a Vectors, &Question<'a>)>> {
        let (Some(vectors), Some(meant)) = (self.vectors, self.meant) else { return Ok(None) };
        if self.question.get().is_none() {
            let _ = self.question.set(vectors.question(meant.question)?);
        }
        Ok(self.question.get().map(|question| (vectors, question)))
    }

    /// What was chosen, as far as the bar lets it.
    fn left(&self, vectors: &Vectors, bar: Option<Bar>) -> Vec<Scored> {
        let mut chosen = std::mem::take(&mut self.found().chosen);
        if let Some(bar) = bar {
            chosen.retain(|(place, score)| vectors.hash(*place).is_some_and(|hash| bar.lets(*score, hash)));
        }
        chosen
    }
}

/// The allowed units. Up to `joined` of them, the vectors of each are looked up, on all cores since each look-up waits
/// for memory; the snapshot remembers the places of all its units.
fn units<'a>(snapshot: &'a Snapshot, vectors: &Vectors, filter: Option<&dyn UnitFilter>, joined: usize) -> Units<'a> {
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
        (None, _) if !all_joined => Units::All,
        (None, Some(placed)) => Units::Placed(placed.into()),
        // Not inside the cell: a thread of the pool that waits may be given another search meanwhile, which would wait
        // for the cell.
        (None, None) => {
            let placed = look_up(allowed());
            Units::Placed(snapshot.placed.get_or_init(|| placed).into())
        }
        (Some(filter), Some(placed)) => {
            Units::Placed(placed.iter().filter(|(key, _)| lexical.is_allowed(*key, filter)).copied().collect())
        }
        (Some(_), None) => match allowed() {
            units if units.len() > joined => Units::Hashed(units),
            units => Units::Placed(look_up(units).into()),
        },
    }
}

impl<'a> LocalSearch<'a> {
    /// The allowed units, with the places of their texts where these were looked up.
    fn allowed_units(&self, vectors: &Vectors) -> &(Units<'a>, Allowed) {
        self.vectors.units.get_or_init(|| {
            let joined = self.vectors.meant.map_or(0, |meant| meant.effort.joined);
            let units = units(self.snapshot, vectors, self.filter(), joined);
            let mut allowed = Allowed::none(vectors.len());
            if let Units::Placed(placed) = &units {
                placed.iter().for_each(|(_, place)| allowed.insert(*place));
            }
            (units, allowed)
        })
    }

    /// The best of the places in the lists that have allowed units.
    fn listed(&self, vectors: &Vectors, question: &Question<'_>, best: usize) -> Result<Vec<Scored>> {
        let probes = self.vectors.meant.map_or(0, |meant| meant.effort.probes);
        let (units, allowed) = self.allowed_units(vectors);
        let units_of = |texts: &Texts| -> Vec<(UnitId, TextHash)> {
            match units {
                Units::Hashed(units) => units.par_iter().filter(|(_, hash)| texts.contains(*hash)).copied().collect(),
                _ => self.snapshot.lexical.units_of_texts(|hash| texts.contains(hash)),
            }
        };
        if matches!(units, Units::Placed(_)) {
            return question.listed(|place| allowed.contains(place), probes, best);
        }
        let mut known: FxHashMap<TextHash, Vec<UnitId>> = FxHashMap::default();
        let mut have_units = |places: &[VectorPlace]| -> Vec<bool> {
            let hashes: Vec<Option<TextHash>> = places.iter().map(|place| vectors.hash(*place)).collect();
            for (key, hash) in units_of(&Texts::new(hashes.iter().flatten().copied().collect())) {
                known.entry(hash).or_default().push(key);
            }
            hashes.iter().map(|hash| hash.is_some_and(|hash| known.contains_key(&hash))).collect()
        };
        let found = question.listed_asking(&mut have_units, probes, best)?;
        self.vectors.found().units = known;
        Ok(found)
    }

    /// The units of texts, by place.
    fn units_of(&self, vectors: &Vectors, places: &[Scored]) -> FxHashMap<VectorPlace, Vec<UnitId>> {
        let mut units: FxHashMap<VectorPlace, Vec<UnitId>> = FxHashMap::default();
        match &self.allowed_units(vectors).0 {
            Units::Placed(placed) => {
                let mut best = Allowed::none(vectors.len());
                places.iter().for_each(|(place, _)| best.insert(*place));
                for (unit, place) in placed.iter().filter(|(_, place)| best.contains(*place)) {
                    units.entry(*place).or_default().push(*unit);
                }
            }
            Units::Hashed(_) | Units::All => {
                let found = self.vectors.found();
                for (place, _) in places {
                    let known = vectors.hash(*place).and_then(|hash| found.units.get(&hash));
                    units.insert(*place, known.cloned().unwrap_or_default());
                }
            }
        }
        units
    }
}

impl Meaning for LocalSearch<'_> {
    fn reach(&self) -> Result<Reach> {
        let Some((vectors, _)) = self.vectors.question()? else { return Ok(Reach { units: 0, is_placed: true }) };
        Ok(match &self.allowed_units(vectors).0 {
            Units::Placed(placed) => Reach { units: placed.len() as u64, is_placed: true },
            Units::Hashed(units) => Reach { units: units.len() as u64, is_placed: false },
            Units::All => Reach { units: self.snapshot.lexical.shape().1, is_placed: false },
        })
    }

    fn choose(&self, by: Choice, cut: &Cut) -> Result<Chosen> {
        let Some((vectors, question)) = self.vectors.question()? else { return Ok(Chosen::default()) };
        let chosen = match by {
            Choice::All => self.allowed_units(vectors).1.iter().map(|place| (place, 0.0)).collect(),
            Choice::Lists => self.listed(vectors, question, cut.best)?,
            Choice::Centroids => {
                vectors.best_of(question.rough(&in_store(self.vectors.left(vectors, cut.bar)))?, cut.best)
            }
            Choice::Vectors => {
                let places = in_store(self.vectors.left(vectors, cut.bar));
                let scores = question.exact(&places)?;
                vectors.best_of(places.into_iter().zip(scores).collect(), cut.best)
            }
        };
        let count = chosen.len() as u64;
        let outline = match cut.is_alone || by == Choice::All {
            true => Outline::default(),
            false => Outline::of(chosen.iter().map(|text| text.1).collect(), cut.best),
        };
        self.vectors.found().chosen = chosen;
        Ok(Chosen { count, outline })
    }

    fn chosen(&self, asked: &ChosenAsked) -> Result<ChosenFound> {
        let Some((vectors, _)) = self.vectors.question()? else { return Ok(ChosenFound::default()) };
        let found = self.vectors.found();
        // The others need no look at their hashes.
        let is_wanted = |text: &&Scored| {
            let least = asked.sure.filter(|sure| sure.total_cmp(&asked.least).is_lt()).unwrap_or(asked.least);
            text.1.total_cmp(&least).is_ge()
        };
        let with_hash = |(place, score): &Scored| Some((vectors.hash(*place)?, *score));
        Ok(ChosenFound::of(found.chosen.iter().filter(is_wanted).filter_map(with_hash), asked))
    }

    fn marked(&self, marks: &Marks, sure: f32) -> Result<Vec<TextHash>> {
        let Some((vectors, _)) = self.vectors.question()? else { return Ok(Vec::new()) };
        let marks: FxHashSet<u32> = marks.iter().collect();
        let found = self.vectors.found();
        let sure = found.chosen.iter().filter(|text| text.1.total_cmp(&sure).is_ge());
        let hashes = sure.filter_map(|(place, _)| vectors.hash(*place));
        Ok(hashes.filter(|hash| marks.contains(&Marks::of(*hash))).collect())
    }

    fn nearest(&self, bar: Option<Bar>) -> Result<Vec<TextNear>> {
        let Some((vectors, _)) = self.vectors.question()? else { return Ok(Vec::new()) };
        let mut best = self.vectors.found().chosen.clone();
        if let Some(bar) = bar {
            best.retain(|(place, score)| vectors.hash(*place).is_some_and(|hash| bar.lets(*score, hash)));
        }
        best.sort_unstable_by(|a, b| vectors.order(a, b));
        let mut units = self.units_of(vectors, &best);
        let mut near = |(place, score): &Scored| {
            let units = units.remove(place).unwrap_or_default();
            let units = self.units(&units).into_iter().flatten().collect();
            Some(TextNear { hash: vectors.hash(*place)?, score: *score, units })
        };
        Ok(best.iter().filter_map(&mut near).collect())
    }

    fn likeness(&self, units: &[UnitId]) -> Result<Vec<Likeness>> {
        let of_text = |unit: &UnitId| Likeness { hash: self.snapshot.lexical.text_of(*unit), score: None };
        let mut all: Vec<Likeness> = units.iter().map(of_text).collect();
        let Some((vectors, question)) = self.vectors.question()? else { return Ok(all) };
        let placed = |(at, one): (usize, &Likeness)| Some((at, vectors.place(one.hash?)?));
        let (at, places): (Vec<usize>, Vec<VectorPlace>) = all.iter().enumerate().filter_map(placed).unzip();
        for (at, score) in at.into_iter().zip(question.exact(&places)?) {
            all[at].score = Some(score);
        }
        Ok(all)
    }

    fn text_of(&self, units: &[UnitId]) -> Result<Vec<Option<String>>> {
        let hits: Vec<_> = units.iter().filter_map(|unit| self.snapshot.lexical.hit(*unit)).collect();
        let texts = restore(self.snapshot, &hits)?;
        let text = |unit: &UnitId| texts.get(&self.snapshot.lexical.text_of(*unit)?).cloned();
        Ok(units.iter().map(text).collect())
    }
}

/// A set of text hashes. Most look-ups miss; a bit set answers these without a look into the map.
struct Texts {
    bits: FixedBitSet,
    hashes: Vec<TextHash>,
}

impl Texts {
    const BITS: u32 = 20;

    fn new(mut hashes: Vec<TextHash>) -> Texts {
        hashes.sort_unstable();
        let mut bits = FixedBitSet::with_capacity(1 << Texts::BITS);
        bits.extend(hashes.iter().map(|hash| Texts::bit(*hash)));
        Texts { bits, hashes }
    }

    fn bit(hash: TextHash) -> usize {
        (hash.value() >> (64 - Texts::BITS)) as usize
    }

    fn contains(&self, hash: TextHash) -> bool {
        self.bits.contains(Texts::bit(hash)) && self.hashes.binary_search(&hash).is_ok()
    }
}
