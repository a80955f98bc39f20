//! Fusion: several retrievers' rankings of units become one.

use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};

use crate::knob::{Knob, Knobs};
use crate::unit::UnitId;

/// Every knob that the fusion reads.
pub const KNOBS: &[Knob] = &[
    Knob::Alpha,
    Knob::TrustLow,
    Knob::TrustHigh,
    Knob::ProseTrust,
    Knob::LongAlpha,
    Knob::SemanticDepth,
    Knob::RrfK,
    Knob::ExpandAlpha,
    Knob::ExpandK,
];

/// Where a ranking comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retriever {
    /// BM25F over the words of the query.
    Lexical,
    /// Similarity of vectors.
    Semantic,
}

impl Retriever {
    /// Its name in traces and explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Retriever::Lexical => "bm25",
            Retriever::Semantic => "semantic",
        }
    }
}

/// One retriever's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    pub retriever: Retriever,
    /// Units with their scores, each unit once; a semantic ranking is sorted, best first.
    pub hits: Vec<(UnitId, f32)>,
}

/// A ranking with its part in the fusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted<'a> {
    /// Units with their scores, each unit once.
    pub hits: &'a [(UnitId, f32)],
    /// Its weight; only the proportion to the other rankings' counts.
    pub weight: f32,
    /// The score that counts as zero; the lowest score of the list if `None`.
    pub floor: Option<f32>,
}

/// The evidence that decides the weights of the retrievers for one query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Distinct words of the query, without stop words.
    pub words: u32,
    /// Whether the query contains a written name.
    pub names: bool,
    /// Share of the words' idf that belongs to words in the index, 0 to 1.
    pub known: f32,
    /// Sum of the words' idf.
    #[serde(default)]
    pub mass: f32,
    /// Similarity of the question with itself, the maximum for a unit; 0 without vectors.
    #[serde(default)]
    pub likeness: f32,
    /// The best unit's BM25 over the maximum for all words together, 0 to 1.
    pub strength: f32,
    /// Share of the best lexical candidates that have a semantic score: below 1 while vectors are being made.
    pub coverage: f32,
    /// Whether a term table added terms to the query.
    #[serde(default)]
    pub expanded: bool,
    /// Whether the query is a long one, of which the model reads a few parts, or a long query's title.
    #[serde(default)]
    pub long: bool,
    /// Whether the corpus is documentation: the candidates are prose with hardly any code.
    #[serde(default)]
    pub documentation: bool,
}

impl Evidence {
    /// How far the query's words can be trusted, 0 to 1: a name and a term table's terms fully, other words by the
    /// strength of their results. In documentation both rankings always share the weight, since its sections describe
    /// their topics in words rather than names.
    pub fn trust(&self, knobs: &Knobs) -> f32 {
        let (low, high) = (knobs.trust_low, knobs.trust_high);
        if self.expanded || high <= low {
            return 1.0;
        }
        if self.documentation {
            return knobs.prose_trust;
        }
        if self.names {
            return 1.0;
        }
        ((self.strength - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// The weight of the semantic ranking, 0 to 1; the lexical one gets the rest. It rises from `alpha`, if the words
    /// are trusted, to 1, if they explain nothing; an alpha of 0 means words only. With a term table's terms, `alpha`
    /// is at most `expand_alpha`; for a long query in code at most `long_alpha`.
    pub fn semantic_weight(&self, knobs: &Knobs) -> f32 {
        let alpha = self.alpha(knobs);
        if alpha > 0.0 { (1.0 - self.trust(knobs) * (1.0 - alpha)) * self.coverage } else { 0.0 }
    }

    /// The weight of meaning for fully trusted words, within the bounds for this query.
    fn alpha(&self, knobs: &Knobs) -> f32 {
        let bounds = [(self.expanded, knobs.expand_alpha), (self.long && !self.documentation, knobs.long_alpha)];
        bounds.iter().filter(|bound| bound.0).map(|bound| bound.1).fold(knobs.alpha, f32::min)
    }

    /// The share of the query that the words do not explain and vectors can, 0 to 1: the distrusted part times the
    /// coverage. In documentation it is all: paths and names, which most stages use, say little about a section.
    pub fn unexplained(&self, knobs: &Knobs) -> f32 {
        let trust = self.trust(knobs);
        if self.documentation && trust < 1.0 { self.coverage } else { (1.0 - trust) * self.coverage }
    }

    /// k of the reciprocal ranks: `expand_k` with a term table's terms.
    pub fn rank_constant(&self, knobs: &Knobs) -> f32 {
        if self.expanded { knobs.expand_k } else { knobs.rrf_k }
    }

    /// Share that the stages take off lexical boosts, 0 to 1; 0 if an alpha of 0 turns off meaning.
    pub fn doubt(&self, knobs: &Knobs) -> f32 {
        if self.alpha(knobs) > 0.0 { self.unexplained(knobs) } else { 0.0 }
    }
}

/// How to combine rankings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fusion {
    /// Relative scores: `(score − floor) / (best − floor)`.
    #[default]
    MinMax,
    /// Ranks only: `k / (k + rank)`, rank from 1.
    ReciprocalRank,
}

/// Gives each ranking its weight and its floor. [`Evidence::semantic_weight`] is the weight of the semantic ranking,
/// and the lexical one gets the rest; a single ranking gets all. BM25 has a natural zero; similarity has none, so its
/// floor is the score at rank `semantic_depth`.
pub fn weigh<'a>(rankings: &'a [Ranking], evidence: &Evidence, knobs: &Knobs) -> Vec<Weighted<'a>> {
    let semantic = if rankings.len() == 1 { 0.5 } else { evidence.semantic_weight(knobs) };
    let weighed = |ranking: &'a Ranking| {
        let hits = ranking.hits.as_slice();
        match ranking.retriever {
            Retriever::Lexical => Weighted { hits, weight: 1.0 - semantic, floor: Some(0.0) },
            Retriever::Semantic => {
                Weighted { hits, weight: semantic, floor: hits.get(knobs.semantic_depth - 1).map(|h| h.1) }
            }
        }
    };
    rankings.iter().map(weighed).collect()
}

/// Fuses `rankings` into one score per unit. [`Fusion::MinMax`] gives scores from 0 to 1; `k` is the constant of
/// [`Fusion::ReciprocalRank`].
pub fn fuse(rankings: &[Weighted<'_>], method: Fusion, k: f32) -> FxHashMap<UnitId, f32> {
    let weight_sum: f32 = rankings.iter().map(|r| r.weight).sum();
    let units_max = rankings.iter().map(|r| r.hits.len()).sum();
    let mut fused: FxHashMap<UnitId, f32> = FxHashMap::with_capacity_and_hasher(units_max, FxBuildHasher);
    for ranking in rankings {
        let weight = if weight_sum > 0.0 { ranking.weight / weight_sum } else { 0.0 };
        let scores = match method {
            Fusion::MinMax => relative_scores(ranking),
            Fusion::ReciprocalRank => reciprocal_ranks(ranking.hits, k),
        };
        for (unit, score) in scores {
            *fused.entry(unit).or_default() += weight * score;
        }
    }
    fused
}

fn relative_scores(ranking: &Weighted<'_>) -> Vec<(UnitId, f32)> {
    let best = ranking.hits.iter().map(|h| h.1).fold(f32::NEG_INFINITY, f32::max);
    let lowest = ranking.hits.iter().map(|h| h.1).fold(f32::INFINITY, f32::min);
    let floor = ranking.floor.unwrap_or(lowest);
    let range = best - floor;
    let relative = |s: f32| if range > 0.0 { ((s - floor) / range).max(0.0) } else { 1.0 };
    ranking.hits.iter().map(|&(unit, score)| (unit, relative(score))).collect()
}

fn reciprocal_ranks(hits: &[(UnitId, f32)], k: f32) -> Vec<(UnitId, f32)> {
    let mut hits = hits.to_vec();
    // Equal scores keep the order of their ranking, which is by path and line.
    hits.sort_by(|a, b| b.1.total_cmp(&a.1));
    hits.iter().enumerate().map(|(i, &(unit, _))| (unit, k / (k + i as f32 + 1.0))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::knob::Profile;

    fn units(hits: &[(u32, f32)]) -> Vec<(UnitId, f32)> {
        hits.iter().map(|(doc, score)| (UnitId::new(0, *doc), *score)).collect()
    }

    /// Weight, floor and hits of a ranking.
    type Part<'a> = (f32, Option<f32>, &'a [(u32, f32)]);

    fn best_first(parts: &[Part<'_>], method: Fusion) -> Vec<(UnitId, f32)> {
        let hits: Vec<Vec<(UnitId, f32)>> = parts.iter().map(|part| units(part.2)).collect();
        let weighted = |(part, hits): (&Part<'_>, _)| Weighted { hits, weight: part.0, floor: part.1 };
        let rankings: Vec<Weighted<'_>> = parts.iter().zip(hits.iter().map(Vec::as_slice)).map(weighted).collect();
        let mut fused: Vec<_> = fuse(&rankings, method, 60.0).into_iter().collect();
        fused.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        fused
    }

    fn check(parts: &[Part<'_>], method: Fusion, expected: &[(u32, f32)]) {
        let expected = units(expected);
        let fused = best_first(parts, method);
        assert_eq!(fused.len(), expected.len(), "{fused:?}");
        for (f, e) in fused.iter().zip(&expected) {
            assert!(f.0 == e.0 && (f.1 - e.1).abs() < 1e-4, "{fused:?}, expected {expected:?}");
        }
    }

    #[test]
    fn in_a_documentation_words_and_meaning_always_share() {
        let mut knobs = Knobs::of(Profile::Default);
        let of = |strength: f32, names: bool, expanded: bool| {
            let documentation = true;
            Evidence { strength, names, expanded, documentation, coverage: 0.5, ..Evidence::default() }
        };
        let meaning = 0.5 * (1.0 - knobs.prose_trust * (1.0 - knobs.alpha));
        for evidence in [of(0.0, false, false), of(1.0, false, false), of(0.3, true, false)] {
            assert!((evidence.semantic_weight(&knobs) - meaning).abs() < 1e-6, "{evidence:?}");
            assert_eq!((evidence.doubt(&knobs), evidence.unexplained(&knobs)), (0.5, 0.5), "{evidence:?}");
        }
        // A table's terms say what is wanted too, and an alpha of 0 searches by words alone.
        assert_eq!(of(0.3, false, true).doubt(&knobs), 0.0);
        knobs.set(Knob::Alpha, "0").expect("a number");
        assert_eq!((of(0.3, false, false).semantic_weight(&knobs), of(0.3, false, false).doubt(&knobs)), (0.0, 0.0));
    }

    #[test]
    fn the_weight_of_meaning_grows_with_doubt_between_fixed_ends() {
        let evidence = |strength: f32, names: bool| Evidence { strength, names, coverage: 1.0, ..Evidence::default() };
        let mut knobs = Knobs::of(Profile::Default);
        let (low, high) = (knobs.trust_low, knobs.trust_high);
        let weights = |knobs: &Knobs| {
            [(low, false), ((low + high) / 2.0, false), (high, false), (low, true)]
                .map(|(s, n)| evidence(s, n).semantic_weight(knobs))
        };
        for (alpha, expected) in [("0.25", [1.0, 0.625, 0.25, 0.25]), ("0", [0.0; 4]), ("1", [1.0; 4])] {
            knobs.set(Knob::Alpha, alpha).expect("a number");
            for (weight, expected) in weights(&knobs).iter().zip(expected) {
                assert!((weight - expected).abs() < 1e-5, "{weight}, expected {expected}");
            }
        }
        knobs.set(Knob::Alpha, "0").expect("a number");
        assert_eq!(evidence(0.05, false).doubt(&knobs), 0.0);
        let half = Evidence { coverage: 0.5, ..evidence(0.05, false) };
        assert_eq!(
            (half.semantic_weight(&Knobs::of(Profile::Default)), half.doubt(&Knobs::of(Profile::Default))),
            (0.5, 0.5)
        );
        assert_eq!(evidence(0.05, false).semantic_weight(&Knobs::of(Profile::Classic)), 0.6);
    }

    #[test]
    fn of_long_queries_meaning_has_at_most_its_own_weight_and_the_lowest_bound_counts() {
        let mut knobs = Knobs::of(Profile::Default);
        let title = Evidence { names: true, coverage: 1.0, ..Evidence::default() };
        let long = Evidence { long: true, ..title };
        let expanded = Evidence { expanded: true, ..long };
        for (alpha, bound, expected) in [("0.4", "0.3", 0.3), ("0.2", "0.3", 0.2), ("0.4", "1", 0.4), ("0", "0.3", 0.0)]
        {
            knobs.set(Knob::Alpha, alpha).expect("a number");
            knobs.set(Knob::LongAlpha, bound).expect("a number");
            assert!((long.semantic_weight(&knobs) - expected).abs() < 1e-6, "{alpha}, at most {bound}");
            assert!((title.semantic_weight(&knobs) - knobs.alpha).abs() < 1e-6, "{alpha}, at most {bound}");
            assert!((expanded.semantic_weight(&knobs) - knobs.expand_alpha.min(expected)).abs() < 1e-6);
        }
    }

    #[test]
    fn where_the_table_fired_words_weigh_ten_times_as_much_and_ranks_fall_faster() {
        let mut knobs = Knobs::of(Profile::Default);
        let fired = Evidence { strength: 0.0, coverage: 1.0, expanded: true, ..Evidence::default() };
        let not = Evidence { expanded: false, ..fired };
        // 0.3 / (0.3 + 3.0).
        assert!((fired.semantic_weight(&knobs) - 0.3 / 3.3).abs() < 1e-4 && fired.doubt(&knobs) == 0.0);
        assert_eq!((fired.rank_constant(&knobs), not.rank_constant(&knobs)), (10.0, 60.0));
        assert_eq!(not.semantic_weight(&knobs), 1.0);
        knobs.set(Knob::Alpha, "0").expect("a number");
        assert_eq!(fired.semantic_weight(&knobs), 0.0, "an alpha of 0 is purely lexical");
    }

    #[test]
    fn words_have_a_natural_zero_and_likeness_ends_at_a_rank() {
        let ranking = |retriever, hits: &[(u32, f32)]| Ranking { retriever, hits: units(hits) };
        let words = ranking(Retriever::Lexical, &[(1, 9.0)]);
        let meaning = ranking(Retriever::Semantic, &[(1, 0.9), (2, 0.7), (3, 0.2)]);
        let mut knobs = Knobs::of(Profile::Default);
        knobs.set(Knob::Alpha, "0.25").unwrap();
        knobs.set(Knob::SemanticDepth, "2").unwrap();
        let evidence = Evidence { names: true, coverage: 1.0, ..Evidence::default() };
        let parts = |rankings: &[Ranking]| -> Vec<(f32, Option<f32>)> {
            weigh(rankings, &evidence, &knobs).iter().map(|w| (w.weight, w.floor)).collect()
        };
        assert_eq!(parts(&[words.clone(), meaning.clone()]), [(0.75, Some(0.0)), (0.25, Some(0.7))]);
        assert_eq!(parts(&[words]), [(0.5, Some(0.0))]);
        let short = ranking(Retriever::Semantic, &[(1, 0.9)]);
        assert_eq!(parts(&[short]), [(0.5, None)]);
    }

    #[test]
    fn relative_scores_go_from_the_floor_to_the_best() {
        check(&[(1.0, Some(0.0), &[(1, 4.0), (2, 2.0)])], Fusion::MinMax, &[(1, 1.0), (2, 0.5)]);
        check(&[(1.0, None, &[(1, 4.0), (2, 2.0)])], Fusion::MinMax, &[(1, 1.0), (2, 0.0)]);
        check(&[(1.0, None, &[(7, 3.0)])], Fusion::MinMax, &[(7, 1.0)]);
        check(&[], Fusion::MinMax, &[]);
    }

    #[test]
    fn weights_count_and_ties_go_by_key() {
        let semantic: Part<'_> = (0.6, Some(0.0), &[(1, 1.0), (3, 0.5)]);
        let lexical: Part<'_> = (0.4, Some(0.0), &[(2, 10.0), (3, 5.0)]);
        check(&[semantic, lexical], Fusion::MinMax, &[(1, 0.6), (3, 0.5), (2, 0.4)]);
        check(&[(1.0, None, &[(9, 1.0), (4, 1.0)])], Fusion::MinMax, &[(4, 1.0), (9, 1.0)]);
    }

    #[test]
    fn reciprocal_ranks_forget_scores_and_what_both_have_is_first() {
        let (a, b): (Part<'_>, Part<'_>) = ((1.0, None, &[(1, 9.0), (2, 8.9)]), (1.0, None, &[(2, 0.2), (3, 0.1)]));
        let k = |r: f32| 60.0 / (60.0 + r);
        check(&[a, b], Fusion::ReciprocalRank, &[(2, (k(2.0) + k(1.0)) / 2.0), (1, k(1.0) / 2.0), (3, k(2.0) / 2.0)]);
    }

    proptest! {
        #[test]
        fn minmax_stays_in_range_keeps_order_and_ignores_scale(
            scores in proptest::collection::vec(0.0f32..100.0, 1..30), scale in 0.1f32..10.0)
        {
            let hits: Vec<(u32, f32)> = scores.iter().enumerate().map(|(i, s)| (i as u32, *s)).collect();
            let scaled: Vec<(u32, f32)> = hits.iter().map(|(u, s)| (*u, s * scale)).collect();
            let a = best_first(&[(1.0, Some(0.0), &hits)], Fusion::MinMax);
            let b = best_first(&[(1.0, Some(0.0), &scaled)], Fusion::MinMax);
            for w in a.windows(2) {
                prop_assert!(w[0].1 >= w[1].1);
                prop_assert!(scores[w[0].0.doc() as usize] >= scores[w[1].0.doc() as usize]);
            }
            prop_assert!(a.iter().all(|(_, s)| (0.0..=1.0).contains(s)));
            for ((_, x), (_, y)) in a.iter().zip(&b) {
                prop_assert!((x - y).abs() < 1e-4);
            }
        }
    }
}
