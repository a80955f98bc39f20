//! The semantic half of a search: finds units by their vectors, and vectors for lexical results. Shards search in
//! steps, each decided over all of them with equal texts counted once; full scores are computed here.

use std::sync::Arc;

use colgrep_core::UnitId;
use colgrep_encoder::{Encoder, Multivector};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::rounds::{Choice, Coordinator, Cut, LikenessRequest, ReachRequest, TextNear, TextsRequest};
use super::shard::UnitFound;
use colgrep_index::error::Result;
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_index::vector::{Effort, Memory, QueryKernel};

/// Number of best lexical candidates over which the coverage by semantic scores is measured.
const HEAD: usize = 50;
/// Units that get full scores first, then in each further step; and the number of best units that the last step must
/// leave unchanged.
pub(super) const SHARPEN_FIRST: usize = 32;
const SHARPEN_STEP: usize = 16;
const SHARPEN_HEAD: usize = 10;
/// Texts that a core encodes at a time during a search.
const ENCODE_BATCH: usize = 4;

/// How a search uses vectors.
#[derive(Clone, Copy)]
pub struct Semantic<'a> {
    /// The model of the index or, if no vectors are stored, any model.
    pub encoder: &'a dyn Encoder,
    /// Whether the lexical ranking counts too.
    pub mode: Mode,
    /// Bounds of the search through the vectors.
    pub effort: Effort,
    /// Maximum of lexical candidates without stored vectors that are read again and encoded for this search, in an
    /// index without the embedded model's vectors (`lite`). Each takes a core a few tenths of a millisecond.
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
    SemanticOnly,
}

/// A unit with its similarity, and the hash of its text if the similarity is not its full score.
pub(super) type NearUnit = (UnitFound, Option<TextHash>);

pub(crate) struct SemanticSearch<'a> {
    rounds: &'a Coordinator<'a>,
    pub(super) semantic: Semantic<'a>,
    question: &'a Multivector,
}

impl<'a> SemanticSearch<'a> {
    /// The semantic half of a search with the question's vectors.
    pub(super) fn new(
        rounds: &'a Coordinator<'a>,
        semantic: Semantic<'a>,
        question: &'a Multivector,
    ) -> SemanticSearch<'a> {
        SemanticSearch { rounds, semantic, question }
    }

    /// The units of the best `units_max` texts (more if units share a text), or as many as it takes to cover
    /// `files_min` files.
    ///
    /// # Errors
    /// When the vectors are damaged.
    pub(super) fn search(&self, units_max: usize, files_min: usize) -> Result<Vec<NearUnit>> {
        if self.question.is_empty() {
            return Ok(Vec::new());
        }
        let reach = self.rounds.ask(&ReachRequest)?;
        let Effort { joined, rough, exact, .. } = self.semantic.effort;
        let is_placed = reach.is_placed && self.rounds.documents().min(reach.units) <= joined as u64;
        // Counts units, not texts: only all hashes together could tell how many texts shards have in common.
        let exceeds = |most: usize| !is_placed || reach.units > most as u64;
        let mut n = units_max;
        loop {
            let is_listed = exceeds(rough.max(exact).max(n));
            let near = self.nearest(n, is_listed)?;
            // If every text can be scored, those in none of the lists come next.
            let all = !exceeds(n) || (near.len() < n && !(is_placed && is_listed));
            let of_text = |text: TextNear| {
                let TextNear { hash, score, units } = text;
                units.into_iter().map(move |unit| (UnitFound { score, ..unit }, Some(hash)))
            };
            let mut hits: Vec<NearUnit> = near.into_iter().flat_map(of_text).collect();
            sort(&mut hits);
            let files: FxHashSet<FilePlace> = hits.iter().map(|hit| hit.0.file).collect();
            if files.len() >= files_min || all {
                return Ok(hits);
            }
            n *= 4;
        }
    }

    /// The best `n` texts, each once with the units of all shards: of those in the lists, or of all.
    fn nearest(&self, n: usize, is_listed: bool) -> Result<Vec<TextNear>> {
        let (rounds, effort) = (self.rounds, self.semantic.effort);
        let is_alone = rounds.is_alone();
        let exact = effort.exact.max(n);
        let choose = |by, bar, best| rounds.choose(by, &Cut { bar, best, is_alone }, false);
        let mut chosen = match is_listed {
            true => choose(Choice::Lists, None, effort.rough)?,
            false => choose(Choice::All, None, usize::MAX)?,
        };
        if chosen.count > exact {
            chosen = choose(Choice::Centroids, chosen.bar, exact)?;
        }
        rounds.nearest(chosen.bar, n)
    }

    /// Score of the question against itself.
    pub(super) fn likeness_of_itself(&self) -> f32 {
        self.question.maxsim(self.question)
    }

    /// Exact scores of further units, those that have stored vectors or (the first `encode_max`) are encoded now.
    ///
    /// # Errors
    /// When the vectors are damaged or the model can't be run.
    pub(super) fn score(&self, units: &[UnitFound]) -> Result<Vec<NearUnit>> {
        if self.question.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<UnitId> = units.iter().map(|unit| unit.unit).collect();
        let (mut scored, mut bare) = (Vec::new(), Vec::new());
        for (unit, likeness) in units.iter().zip(self.rounds.ask(&LikenessRequest { units: keys })?) {
            match likeness.score {
                Some(score) => scored.push((UnitFound { score, ..*unit }, likeness.hash)),
                None if bare.len() < self.semantic.encode_max => bare.push((*unit, likeness.hash)),
                None => {}
            }
        }
        let full = self.full_scores(&with_texts(&bare))?;
        let encoded = |(unit, _): NearUnit| Some((UnitFound { score: *full.get(&unit.unit)?, ..unit }, None));
        scored.extend(bare.into_iter().filter_map(encoded));
        Ok(scored)
    }

    /// Replaces the scores of the first `hits` by full ones if the model is light enough, since stored vectors are
    /// rounded and incomplete. After the first [`SHARPEN_FIRST`] it proceeds in steps of [`SHARPEN_STEP`] units, until
    /// a step leaves the best [`SHARPEN_HEAD`] unchanged, for at most `units_max` units. The scores of the rest are
    /// shifted by the average change in the last step. `hits` are sorted, before and after.
    ///
    /// # Errors
    /// When the index can't be read or the model can't be run.
    pub(super) fn sharpen(&self, hits: &mut [NearUnit], units_max: usize) -> Result<()> {
        if !self.can_sharpen() {
            return Ok(());
        }
        let last = units_max.min(hits.len());
        let mut best: Vec<f32> = Vec::new();
        let mut end = 0;
        while end < last {
            let from = end;
            end = last.min(from + if from == 0 { SHARPEN_FIRST } else { SHARPEN_STEP });
            let full = self.full_scores(&with_texts(&hits[from..end]))?;
            let bar = best.get(SHARPEN_HEAD - 1).copied().unwrap_or(f32::NEG_INFINITY);
            let mut shift = 0.0;
            for (unit, hash) in &mut hits[from..end] {
                if let Some(full) = full.get(&unit.unit) {
                    shift += full - unit.score;
                    unit.score = *full;
                    *hash = None;
                    best.push(*full);
                }
            }
            best.sort_unstable_by(|a, b| b.total_cmp(a));
            best.truncate(SHARPEN_HEAD);
            if end == last || best.last().is_none_or(|last| *last <= bar) {
                let shift = shift / full.len().max(1) as f32;
                hits[end..].iter_mut().for_each(|(unit, _)| unit.score += shift);
                break;
            }
        }
        sort(hits);
        Ok(())
    }

    /// Whether the model is light enough for full scores.
    pub(super) fn can_sharpen(&self) -> bool {
        self.semantic.encoder.is_light() && !self.question.is_empty()
    }

    /// Full scores of those units whose vectors are cached, or whose text can be restored and encoded now.
    pub(super) fn full_scores(&self, units: &[(UnitId, TextHash)]) -> Result<FxHashMap<UnitId, f32>> {
        let query = QueryKernel::new(self.question);
        let remembered = |(_, hash): &(UnitId, TextHash)| Some((*hash, self.semantic.memory?.get(*hash)?));
        let known: Vec<(TextHash, Arc<Multivector>)> = units.iter().filter_map(remembered).collect();
        let known = known.par_iter().with_min_len(SHARPEN_STEP);
        let mut scores: FxHashMap<TextHash, f32> = known.map(|(hash, text)| (*hash, query.maxsim(text))).collect();

        let new: Vec<(UnitId, TextHash)> =
            units.iter().filter(|(_, hash)| !scores.contains_key(hash)).copied().collect();
        let keys: Vec<UnitId> = new.iter().map(|(unit, _)| *unit).collect();
        let mut seen: FxHashSet<TextHash> = FxHashSet::default();
        let texts = new.iter().zip(self.rounds.ask(&TextsRequest { units: keys })?);
        let texts: Vec<(TextHash, String)> =
            texts.filter_map(|((_, hash), text)| Some((*hash, text?)).filter(|_| seen.insert(*hash))).collect();
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
        Ok(units.iter().filter_map(|(unit, hash)| Some((*unit, *scores.get(hash)?))).collect())
    }
}

/// The units that have no full score yet, with the hashes of their texts.
pub(super) fn with_texts(units: &[NearUnit]) -> Vec<(UnitId, TextHash)> {
    units.iter().filter_map(|(unit, hash)| Some((unit.unit, (*hash)?))).collect()
}

/// Best first; ties by file and line.
fn sort(hits: &mut [NearUnit]) {
    hits.sort_unstable_by(|a, b| a.0.by_score(&b.0));
}

/// Adds to `hits` the units of `more` that it lacks. Returns the share of the first [`HEAD`] of `units` that then has a
/// score; 1 if there are no units.
pub(super) fn join(hits: &mut Vec<NearUnit>, more: Vec<NearUnit>, units: &[UnitFound]) -> f32 {
    let mut known: FxHashSet<UnitId> = hits.iter().map(|hit| hit.0.unit).collect();
    hits.extend(more.into_iter().filter(|(unit, _)| known.insert(unit.unit)));
    sort(hits);
    let head = &units[..units.len().min(HEAD)];
    let scored = head.iter().filter(|unit| known.contains(&unit.unit)).count();
    if head.is_empty() { 1.0 } else { scored as f32 / head.len() as f32 }
}

#[cfg(test)]
mod tests {
    use colgrep_core::knob::{Knob, Knobs, Profile};
    use colgrep_encoder::{EMBEDDED_CODEBOOK, ModelSpec, RuntimeEnv};

    use super::*;
    use crate::restore::restore;
    use crate::{Request, Watch, search_one};
    use colgrep_index::lexical::UnitHit;
    use colgrep_index::store::Store;
    use colgrep_index::update::{Encoding, Updater};
    use colgrep_index::vector::Codebook;

    #[derive(Default)]
    struct SemanticRanking(Vec<(UnitId, f32)>);

    impl Watch for SemanticRanking {
        fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]) {
            if step == colgrep_core::fuse::Retriever::Semantic.name() {
                self.0 = hits.to_vec();
            }
        }

        fn stage(&mut self, _: &'static str, _: &colgrep_core::rank::Ranked<'_>) {}
    }

    #[test]
    fn the_nearest_and_the_compared_get_their_full_scores() {
        let folder = tempfile::tempdir().expect("a folder");
        let model = colgrep_encoder::open(&ModelSpec::Embedded, &RuntimeEnv::default()).expect("the model");
        let book = Codebook::from_bytes(EMBEDDED_CODEBOOK).expect("its codebook");
        let encoding = Encoding { codebook: Some(&book), ..Encoding::new(&*model) };
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../index/src/vector");
        let store = Store::new(folder.path().join("index"));
        let (snapshot, _) = Updater::new(&store, &root).encoding(Some(&encoding)).run().expect("an index");
        let question = "throw away entries that nobody needs any more";
        let ranked = |exact: &str, order_share: &str| {
            let mut knobs = Knobs::of(Profile::Default);
            knobs.set(Knob::ExactUnits, exact).expect("a number");
            knobs.set(Knob::OrderShare, order_share).expect("a number");
            let semantic = Some(Semantic { mode: Mode::SemanticOnly, ..Semantic::new(&*model) });
            let request = Request { semantic, ..Request::new(question, &knobs, 5) };
            let mut ranked = SemanticRanking::default();
            search_one(&snapshot, None, &request, Some(&mut ranked)).expect("an answer");
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
        let (stored, sharpened, compared) = (ranked("0", "0"), ranked("10000", "0"), ranked("1", "0.2"));
        assert!(stored.len() > 2 * SHARPEN_STEP && stored.len() == sharpened.len());
        assert!([&sharpened, &compared].iter().all(|full| full.is_sorted_by(|a, b| a.1 >= b.1)));
        assert!(errors(&sharpened).iter().take(SHARPEN_HEAD).all(|e| *e < 1e-3));
        // Of those that are compared, the likeliest, which are not all of the nearest.
        assert!(errors(&compared).iter().filter(|e| **e < 1e-3).count() > SHARPEN_STEP / 2);
        assert!(errors(&stored).iter().any(|e| *e > 0.05));
    }
}
