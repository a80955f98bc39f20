//! The semantic half of a search: units near a query by their vectors, and vectors for what the lexical half found.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use colgrep_core::UnitId;
use colgrep_core::fuse::sort_hits;
use colgrep_encoder::{Encoder, Multivector};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;

use super::restore::restore;
use crate::error::Result;
use crate::ids::{FileId, TextHash};
use crate::lexical::{UnitFilter, UnitHit};
use crate::store::Snapshot;
use crate::vector::{Allowed, Effort, Memory, QueryKernel, VectorPlace, Vectors};

/// Lexical candidates, the best first, among which the coverage by semantic scores is measured.
const HEAD: usize = 50;
/// Units that get full scores a step; the second is how many of the best a step must change for another to follow.
const SHARPEN_STEP: usize = 32;
const SHARPEN_HEAD: usize = 10;
/// Texts that a core encodes at a time during a search.
const ENCODE_BATCH: usize = 4;

/// How a search uses vectors.
#[derive(Clone, Copy)]
pub struct Semantic<'a> {
    /// The model that the index was made with, or, where no vectors are stored, any.
    pub encoder: &'a dyn Encoder,
    /// Whether the lexical ranking counts too.
    pub mode: Mode,
    /// Bounds of the search through the vectors.
    pub effort: Effort,
    /// Lexical candidates without stored vectors, at most, that are read again and encoded for this search, at a few
    /// tenths of a millisecond of a core each with the embedded model: in an index without vectors of it (`lite`).
    pub encode_max: usize,
    /// Vectors to search with instead of the query's: those of a unit, for `--like`.
    pub question: Option<&'a Multivector>,
    /// A cache shared by searches with this encoder.
    pub memory: Option<&'a Memory>,
}

impl std::fmt::Debug for Semantic<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Semantic({}, {:?})", self.encoder.name(), self.mode)
    }
}

impl<'a> Semantic<'a> {
    /// Both rankings, from stored vectors.
    pub fn new(encoder: &'a dyn Encoder) -> Semantic<'a> {
        Semantic { encoder, mode: Mode::Hybrid, effort: Effort::default(), encode_max: 0, question: None, memory: None }
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

/// The allowed units, and how their vectors are found.
enum Units<'a> {
    /// At most [`Effort::joined`] allowed units, each with the place of its vectors; units without vectors are left
    /// out.
    Placed(Cow<'a, [(UnitId, VectorPlace)]>),
    /// More than [`Effort::joined`], with the hashes of their texts: search texts first, map hits to these units
    /// afterwards.
    Hashed(Vec<(UnitId, TextHash)>),
    /// No filter and more than [`Effort::joined`] units: search texts first, map hits to units afterwards.
    All,
}

/// The semantic half of one search: the query's vectors, and the units that it may return.
pub(crate) struct SemanticSearch<'a> {
    snapshot: &'a Snapshot,
    pub(super) semantic: Semantic<'a>,
    query: Multivector,
    vectors: Option<&'a Vectors>,
    units: Units<'a>,
}

impl<'a> SemanticSearch<'a> {
    /// Encodes the query and lists the allowed units.
    ///
    /// # Errors
    /// When the model can't be run.
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        text: &str,
        semantic: Semantic<'a>,
        filter: Option<&dyn UnitFilter>,
    ) -> Result<SemanticSearch<'a>> {
        let query = match semantic.question {
            Some(question) => question.clone(),
            None => semantic.encoder.encode_query(text)?,
        };
        let fingerprint = semantic.encoder.fingerprint();
        let vectors = snapshot.vectors.as_ref().filter(|v| v.manifest().fingerprint == fingerprint);
        let units = vectors
            .map_or(Units::Placed(Cow::default()), |vectors| units(snapshot, vectors, filter, semantic.effort.joined));
        Ok(SemanticSearch { snapshot, semantic, query, vectors, units })
    }

    /// The best `units_max` texts' units (more where units share a text), or as many as lie in `files_min` files.
    ///
    /// # Errors
    /// When the vectors are damaged.
    pub(crate) fn search(&self, units_max: usize, files_min: usize) -> Result<Vec<(UnitId, f32)>> {
        let Some(vectors) = self.vectors else { return Ok(Vec::new()) };
        let mut n = units_max;
        loop {
            let (mut hits, all) = match &self.units {
                Units::Placed(placed) => self.among_placed(vectors, placed, n)?,
                Units::Hashed(units) => self.among_hashed(vectors, n, |texts| {
                    units.par_iter().filter(|(_, hash)| texts.contains(*hash)).copied().collect()
                })?,
                Units::All => self.among_hashed(vectors, n, |texts| {
                    self.snapshot.lexical.units_of_texts(|hash| texts.contains(hash))
                })?,
            };
            sort_hits(&mut hits);
            let file = |(key, _): &(UnitId, f32)| Some(self.snapshot.lexical.hit(*key)?.file);
            let files: HashSet<FileId> = hits.iter().filter_map(file).collect();
            if files.len() >= files_min || all {
                return Ok(hits);
            }
            n *= 4;
        }
    }

    /// The units of the best `n` places that have units, and whether these are all.
    fn among_placed(
        &self,
        vectors: &Vectors,
        placed: &[(UnitId, VectorPlace)],
        n: usize,
    ) -> Result<(Vec<(UnitId, f32)>, bool)> {
        let mut allowed = Allowed::none(vectors.len());
        for (_, place) in placed {
            allowed.insert(*place);
        }
        let found: HashMap<VectorPlace, f32> =
            vectors.search(&self.query, n, &allowed, self.semantic.effort)?.into_iter().collect();
        let mut best = Allowed::none(vectors.len());
        for place in found.keys() {
            best.insert(*place);
        }
        let of_place = |(key, place): &(UnitId, VectorPlace)| Some((*key, *found.get(place)?));
        let hits = placed.iter().filter(|(_, place)| best.contains(*place)).filter_map(of_place).collect();
        Ok((hits, n >= allowed.count()))
    }

    /// The same; `units_of` maps texts to their units.
    fn among_hashed(
        &self,
        vectors: &Vectors,
        n: usize,
        units_of: impl Fn(&Texts) -> Vec<(UnitId, TextHash)>,
    ) -> Result<(Vec<(UnitId, f32)>, bool)> {
        let mut known: HashMap<TextHash, Vec<UnitId>> = HashMap::new();
        let mut have_units = |places: &[VectorPlace]| -> Vec<bool> {
            let hashes: Vec<Option<TextHash>> = places.iter().map(|place| vectors.hash(*place)).collect();
            for (key, hash) in units_of(&Texts::new(hashes.iter().flatten().copied().collect())) {
                known.entry(hash).or_default().push(key);
            }
            hashes.iter().map(|hash| hash.is_some_and(|hash| known.contains_key(&hash))).collect()
        };
        let found = vectors.search_listed(&self.query, n, &mut have_units, self.semantic.effort)?;
        let units = |(place, score): &(VectorPlace, f32)| {
            let keys = vectors.hash(*place).and_then(|hash| known.get(&hash)).into_iter().flatten();
            keys.map(|key| (*key, *score)).collect::<Vec<_>>()
        };
        Ok((found.iter().flat_map(units).collect(), found.len() < n))
    }

    /// Score of the question against itself.
    pub(crate) fn likeness_of_itself(&self) -> f32 {
        self.query.maxsim(&self.query)
    }

    /// Exact scores of further units, those that have stored vectors or (the first `encode_max`) are encoded now.
    ///
    /// # Errors
    /// When the vectors are damaged or the model can't be run.
    pub(crate) fn score(&self, units: &[UnitHit]) -> Result<Vec<(UnitId, f32)>> {
        if self.query.is_empty() {
            return Ok(Vec::new());
        }
        let place = |key: UnitId| self.vectors?.place(self.snapshot.lexical.text_of(key)?);
        let (mut keys, mut places, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        for unit in units {
            match place(unit.key) {
                Some(place) => {
                    keys.push(unit.key);
                    places.push(place);
                }
                None if bare.len() < self.semantic.encode_max => bare.push(*unit),
                None => {}
            }
        }
        let mut scored: Vec<(UnitId, f32)> = Vec::new();
        if let Some(vectors) = self.vectors.filter(|_| !places.is_empty()) {
            scored = keys.into_iter().zip(vectors.score(&self.query, &places)?).collect();
        }
        scored.extend(self.encoded(&bare)?);
        Ok(scored)
    }

    /// Gives the first of `hits` their full scores, where the model is light enough: stored vectors are rounded and
    /// incomplete. It proceeds in steps of [`SHARPEN_STEP`] units until a step leaves the best [`SHARPEN_HEAD`]
    /// unchanged, for `units_max` units at most. The scores of the rest are shifted by the average change in the last
    /// step. `hits` are in order, before and after.
    ///
    /// # Errors
    /// When the index can't be read or the model can't be run.
    pub(crate) fn sharpen(&self, hits: &mut [(UnitId, f32)], units_max: usize) -> Result<()> {
        if !self.semantic.encoder.is_light() || self.query.is_empty() {
            return Ok(());
        }
        let last = units_max.min(hits.len());
        let mut best: Vec<f32> = Vec::new();
        for from in (0..last).step_by(SHARPEN_STEP) {
            let end = last.min(from + SHARPEN_STEP);
            let units: Vec<UnitHit> =
                hits[from..end].iter().filter_map(|(key, _)| self.snapshot.lexical.hit(*key)).collect();
            let full = self.encoded(&units)?;
            let bar = best.get(SHARPEN_HEAD - 1).copied().unwrap_or(f32::NEG_INFINITY);
            let mut shift = 0.0;
            for (key, score) in &mut hits[from..end] {
                if let Some(full) = full.get(key) {
                    shift += full - *score;
                    *score = *full;
                    best.push(*full);
                }
            }
            best.sort_unstable_by(|a, b| b.total_cmp(a));
            best.truncate(SHARPEN_HEAD);
            if end == last || best.last().is_none_or(|last| *last <= bar) {
                let shift = shift / full.len().max(1) as f32;
                hits[end..].iter_mut().for_each(|(_, score)| *score += shift);
                break;
            }
        }
        sort_hits(hits);
        Ok(())
    }

    /// Full scores of those units whose vectors are cached, or whose text can be restored and encoded now.
    fn encoded(&self, units: &[UnitHit]) -> Result<HashMap<UnitId, f32>> {
        let query = QueryKernel::new(&self.query);
        let with_text = |unit: &UnitHit| Some((*unit, self.snapshot.lexical.text_of(unit.key)?));
        let units: Vec<(UnitHit, TextHash)> = units.iter().filter_map(with_text).collect();
        let remembered = |(_, hash): &(UnitHit, TextHash)| Some((*hash, self.semantic.memory?.get(*hash)?));
        let known: Vec<(TextHash, Arc<Multivector>)> = units.iter().filter_map(remembered).collect();
        let known = known.par_iter().with_min_len(SHARPEN_STEP / 2);
        let mut scores: HashMap<TextHash, f32> = known.map(|(hash, text)| (*hash, query.maxsim(text))).collect();

        let new = units.iter().filter(|(_, hash)| !scores.contains_key(hash)).map(|(unit, _)| *unit);
        let texts: Vec<(TextHash, String)> = restore(self.snapshot, &new.collect::<Vec<_>>())?.into_iter().collect();
        let encode = |part: &[(TextHash, String)]| -> Result<Vec<(TextHash, f32)>> {
            let given: Vec<&str> = part.iter().map(|(_, text)| text.as_str()).collect();
            let documents = self.semantic.encoder.encode_documents(&given)?;
            let scored = part.iter().zip(documents).map(|((hash, _), document)| {
                let score = query.maxsim(&document);
                if let Some(memory) = self.semantic.memory {
                    memory.add(*hash, Arc::new(document));
                }
                (*hash, score)
            });
            Ok(scored.collect())
        };
        let parts: Vec<Vec<(TextHash, f32)>> = texts.par_chunks(ENCODE_BATCH).map(encode).collect::<Result<_>>()?;
        scores.extend(parts.into_iter().flatten());
        Ok(units.iter().filter_map(|(unit, hash)| Some((unit.key, *scores.get(hash)?))).collect())
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

/// Adds to `hits` the units of `more` that are not in it. Gives the share of the first [`HEAD`] of `units` that has a
/// score then; 1 where there are no units.
pub(crate) fn join(hits: &mut Vec<(UnitId, f32)>, more: Vec<(UnitId, f32)>, units: &[UnitHit]) -> f32 {
    let mut known: HashSet<UnitId> = hits.iter().map(|h| h.0).collect();
    hits.extend(more.into_iter().filter(|(key, _)| known.insert(*key)));
    sort_hits(hits);
    let head = &units[..units.len().min(HEAD)];
    let scored = head.iter().filter(|u| known.contains(&u.key)).count();
    if head.is_empty() { 1.0 } else { scored as f32 / head.len() as f32 }
}

#[cfg(test)]
mod tests {
    use colgrep_core::collapse::PerFile;
    use colgrep_core::fuse::Fusion;
    use colgrep_core::knob::{Knob, Knobs, Profile};
    use colgrep_encoder::{EMBEDDED_CODEBOOK, ModelSpec, RuntimeEnv};

    use super::*;
    use crate::search::{Background, Request, Watch, search};
    use crate::store::Store;
    use crate::update::{Encoding, Updater};
    use crate::vector::Codebook;

    #[derive(Default)]
    struct Ranked(Vec<(UnitId, f32)>);

    impl Watch for Ranked {
        fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]) {
            if step == colgrep_core::fuse::Retriever::Semantic.name() {
                self.0 = hits.to_vec();
            }
        }

        fn stage(&mut self, _: &'static str, _: &colgrep_core::rank::Ranked<'_>) {}
    }

    #[test]
    fn the_nearest_get_their_full_scores() {
        let folder = tempfile::tempdir().expect("a folder");
        let model = colgrep_encoder::open(&ModelSpec::Embedded, &RuntimeEnv::default()).expect("the model");
        let book = Codebook::from_bytes(EMBEDDED_CODEBOOK).expect("its codebook");
        let encoding = Encoding { codebook: Some(&book), ..Encoding::new(&*model) };
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/vector");
        let store = Store::new(folder.path().join("index"));
        let (snapshot, _) = Updater::new(&store, &root).encoding(Some(&encoding)).run().expect("an index");
        let question = "throw away entries that nobody needs any more";
        let ranked = |exact: &str| {
            let mut knobs = Knobs::of(Profile::Default);
            knobs.set(Knob::ExactUnits, exact).expect("a number");
            let semantic = Some(Semantic { mode: Mode::SemanticOnly, ..Semantic::new(&*model) });
            let (fusion, background) = (Fusion::MinMax, Background::default());
            let request = Request {
                query: question,
                knobs: &knobs,
                fusion,
                files: 5,
                units_per_file: PerFile::Usual,
                strength_min: 0.0,
                filter: None,
                semantic,
                background,
            };
            let mut ranked = Ranked::default();
            search(&snapshot, &request, Some(&mut ranked)).expect("an answer");
            ranked.0
        };
        let query = model.encode_query(question).expect("vectors");
        let errors = |hits: &[(UnitId, f32)]| -> Vec<f32> {
            let units: Vec<UnitHit> =
                hits.iter().take(SHARPEN_STEP).filter_map(|h| snapshot.lexical.hit(h.0)).collect();
            let texts = restore(&snapshot, &units).expect("texts");
            let full = |key| {
                let text = texts.get(&snapshot.lexical.text_of(key).expect("a unit")).expect("its text");
                query.maxsim(&model.encode_documents(&[text]).expect("vectors")[0])
            };
            hits.iter().take(SHARPEN_STEP).map(|(key, score)| (score - full(*key)).abs()).collect()
        };
        let (stored, sharpened) = (ranked("0"), ranked("10000"));
        assert!(stored.len() > 2 * SHARPEN_STEP && stored.len() == sharpened.len());
        assert!(sharpened.is_sorted_by(|a, b| a.1 >= b.1));
        assert!(errors(&sharpened).iter().take(SHARPEN_HEAD).all(|e| *e < 1e-3));
        assert!(errors(&stored).iter().any(|e| *e > 0.05));
    }
}
