//! A learned order of units: which unit of a file answers a question whose words do not explain the answer.
//!
//! The other stages were tuned on files. This one was fitted on labelled units: a linear function of a few signs, with a
//! softmax over the units of one question (listwise learning to rank: Z. Cao and others, ICML 2007).

use rustc_hash::FxHashMap;

use super::fused::Fused;
use super::retrieved::{Candidate, ComparedFacts, Retrieved};
use super::stage::{Prepare, Stage, StageInput};
use crate::fuse::{Evidence, Ranking, Retriever};
use crate::knob::{Knob, Knobs};
use crate::path::PathClass;
use crate::query::Query;
use crate::unit::{UnitId, UnitKind, UnitRole};

/// Orders the units of a file, and moves files towards that order as far as the query's words are doubted.
pub const STAGE: Stage = Stage {
    name: "order",
    doc: "A question means the unit that does the work: of some length, near in meaning, with the question's words, neither test nor prose.",
    source: "own; listwise softmax: Z. Cao and others, Learning to Rank (ICML 2007)",
    knobs: &[Knob::OrderShare],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

/// Units that are compared, the best by words and meaning.
const COMPARED_MAX: usize = 100;
/// Doubt up to which the order of files stays.
const DOUBT_MIN: f32 = 0.4;
/// Rank by meaning from which nearness is measured.
const FAR_UNIT: usize = 200;
/// Exponent of a unit's chance relative to the best of its file. Below 1, so that the other units of a file keep part of
/// its score.
const WITHIN: f32 = 0.25;

pub const SIGNS: usize = 16;

/// The signs of a unit with their weights. Source: `colgrep-bench order` (docs/research/order.md).
pub const WEIGHTS: [(&str, f32); SIGNS] = [
    ("score of its file so far, as a share of the best", 2.559),
    ("meaning, between the unit at rank 200 and the nearest", 4.026),
    ("words, as a share of the best", 0.81),
    ("share of the query's weight that it contains", 3.816),
    ("its lines, natural logarithm", 1.294),
    ("the square of that", -0.181),
    ("1 for a class", -0.83),
    ("1 for code outside of any definition", -2.006),
    ("1 for a test in the language's own syntax, unless tests are asked for", -4.508),
    ("1 for prose, configuration and data, unless documentation is asked for", -4.645),
    ("1 for a file of tests, unless tests are asked for", -2.965),
    ("units of its file that are compared, natural logarithm", -0.484),
    ("meaning of the nearest that calls it, over the root of the number of units that the call may mean", 1.441),
    ("names that it calls plus one, natural logarithm", 0.321),
    ("1 for documentation", 0.421),
    ("bytes of its documentation plus one, natural logarithm", -0.150),
];

/// Share of the query's weight from which a unit contains all of it, but for rounding.
const HELD_ALL: f32 = 0.999;
/// What a unit without any word is below one with all of them.
const HELD_STEP: f32 = 0.1;

/// Whether the stage compares candidates of a search with this evidence, if its words are doubted.
pub fn compares(evidence: &Evidence, knobs: &Knobs) -> bool {
    knobs.order_share != 0.0 && !evidence.documentation && !evidence.long
}

/// The candidates that the stage compares: none where words are trusted, in documentation, or for a long query.
pub fn compared(retrieved: &Retrieved, fused: &Fused, knobs: &Knobs) -> Vec<usize> {
    if fused.doubt == 0.0 || !compares(&retrieved.evidence, knobs) {
        return Vec::new();
    }
    let mut best: Vec<usize> = (0..retrieved.candidates.len()).collect();
    if best.len() > COMPARED_MAX {
        let tie = |at: usize| retrieved.candidates[at].tie_order();
        best.select_nth_unstable_by(COMPARED_MAX, |a, b| {
            fused.scores[*b].total_cmp(&fused.scores[*a]).then_with(|| tie(*a).cmp(&tie(*b)))
        });
        best.truncate(COMPARED_MAX);
    }
    best
}

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let StageInput { query, knobs, retrieved, .. } = *input;
    let files = best_of_files(retrieved, fused);
    let best = files.iter().copied().fold(0.0, f32::max);
    let signs = signs_beside(query, retrieved, &files);
    if signs.is_empty() || best <= 0.0 || knobs.order_share == 0.0 {
        return;
    }
    let mut sums: Vec<(usize, f32)> = signs.iter().map(|(at, signs)| (*at, weighted(signs))).collect();
    put_held_first(retrieved, &mut sums);
    let highest = sums.iter().map(|(_, sum)| *sum).fold(f32::NEG_INFINITY, f32::max);
    // Relative to the best of all: the chance of each unit, and of the best unit of each file.
    let chances: Vec<(usize, f32)> = sums.into_iter().map(|(at, sum)| (at, (sum - highest).exp())).collect();
    let mut of_files = vec![0.0f32; retrieved.files.len()];
    for (at, chance) in &chances {
        let file = &mut of_files[retrieved.candidates[*at].file];
        *file = file.max(*chance);
    }
    let share = knobs.order_share * ((fused.doubt - DOUBT_MIN) / (1.0 - DOUBT_MIN)).max(0.0);
    fused.scores.iter_mut().for_each(|score| *score *= 1.0 - share);
    for (at, chance) in chances {
        let file = retrieved.candidates[at].file;
        let of_file = (1.0 - share) * files[file] + share * best * of_files[file];
        fused.scores[at] = of_file * (chance / of_files[file]).powf(WITHIN);
    }
}

/// A unit without any word of the query comes after one that contains all of them.
fn put_held_first(retrieved: &Retrieved, sums: &mut [(usize, f32)]) {
    let held = |at: usize| retrieved.candidates[at].compared.map_or(0.0, |facts| facts.held);
    let of_all = sums.iter().filter(|(at, _)| held(*at) >= HELD_ALL).map(|(_, sum)| *sum);
    let best = of_all.fold(f32::NEG_INFINITY, f32::max);
    if best.is_finite() {
        sums.iter_mut().filter(|(at, _)| held(*at) <= 0.0).for_each(|(_, sum)| *sum = sum.min(best - HELD_STEP));
    }
}

fn weighted(signs: &[f32; SIGNS]) -> f32 {
    signs.iter().zip(WEIGHTS).map(|(sign, (_, weight))| sign * weight).sum()
}

/// The positions of the compared candidates, those with the best chance first.
pub fn by_chance(query: &Query, retrieved: &Retrieved, fused: &Fused) -> Vec<usize> {
    let mut sums: Vec<(usize, f32)> =
        signs(query, retrieved, fused).iter().map(|(at, signs)| (*at, weighted(signs))).collect();
    let tie = |at: usize| {
        let candidate = &retrieved.candidates[at];
        (retrieved.files[candidate.file].place, candidate.tie_order())
    };
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| tie(a.0).cmp(&tie(b.0))));
    sums.into_iter().map(|(at, _)| at).collect()
}

/// The best score of each file.
fn best_of_files(retrieved: &Retrieved, fused: &Fused) -> Vec<f32> {
    let mut best = vec![0.0f32; retrieved.files.len()];
    for (candidate, score) in retrieved.candidates.iter().zip(&fused.scores) {
        best[candidate.file] = best[candidate.file].max(*score);
    }
    best
}

/// The signs of the candidates that are compared, by their positions.
pub fn signs(query: &Query, retrieved: &Retrieved, fused: &Fused) -> Vec<(usize, [f32; SIGNS])> {
    signs_beside(query, retrieved, &best_of_files(retrieved, fused))
}

/// The same, with the best score of each file.
fn signs_beside(query: &Query, retrieved: &Retrieved, files: &[f32]) -> Vec<(usize, [f32; SIGNS])> {
    let compared: Vec<(usize, &Candidate, ComparedFacts)> =
        retrieved.candidates.iter().enumerate().filter_map(|(at, one)| Some((at, one, one.compared?))).collect();
    if compared.is_empty() {
        return Vec::new();
    }
    let best = files.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let mut counts = vec![0u16; retrieved.files.len()];
    compared.iter().for_each(|(_, candidate, _)| counts[candidate.file] += 1);
    let wanted: FxHashMap<UnitId, usize> = compared.iter().map(|(at, candidate, _)| (candidate.unit, *at)).collect();
    let nearness = scaled(retrieved, Retriever::Semantic, &wanted, |ranking| {
        ranking.hits.get(FAR_UNIT - 1).or(ranking.hits.last()).map_or(0.0, |hit| hit.1)
    });
    let words = scaled(retrieved, Retriever::Lexical, &wanted, |_| 0.0);
    let mut called: FxHashMap<usize, f32> = FxHashMap::default();
    for call in &retrieved.calls {
        let share = nearness.get(&call.caller).copied().unwrap_or(0.0) / (call.callees.max(1) as f32).sqrt();
        let best = called.entry(call.callee).or_default();
        *best = best.max(share);
    }
    let of = |(at, candidate, facts): (usize, &Candidate, ComparedFacts)| {
        let file = &retrieved.files[candidate.file];
        let lines = ((candidate.end + 1).saturating_sub(candidate.line).max(1) as f32).ln();
        let asks_for_tests = query.asks_for.contains(&PathClass::TEST);
        let is = |sign: bool| f32::from(u8::from(sign));
        let signs = [
            files[candidate.file] / best,
            nearness.get(&at).copied().unwrap_or(0.0),
            words.get(&at).copied().unwrap_or(0.0),
            facts.held,
            lines,
            lines * lines,
            is(candidate.kind == UnitKind::Class),
            is(candidate.kind == UnitKind::RawCode),
            is(candidate.role == UnitRole::Test && !asks_for_tests),
            is(file.is_text && !query.asks_for_prose),
            is(file.path_facts.class.has(PathClass::TEST) && !asks_for_tests),
            f32::from(counts[candidate.file]).ln(),
            called.get(&at).copied().unwrap_or(0.0),
            (facts.calls as f32).ln_1p(),
            is(facts.documentation > 0),
            (facts.documentation as f32).ln_1p(),
        ];
        (at, signs)
    };
    compared.into_iter().map(of).collect()
}

/// The scores of the wanted units in a retriever's ranking, 0 at `floor` and 1 at the best.
fn scaled(
    retrieved: &Retrieved,
    retriever: Retriever,
    wanted: &FxHashMap<UnitId, usize>,
    floor: impl Fn(&Ranking) -> f32,
) -> FxHashMap<usize, f32> {
    let Some(ranking) = retrieved.ranking(retriever) else {
        return FxHashMap::default();
    };
    let floor = floor(ranking);
    let best = ranking.hits.first().map_or(floor, |hit| hit.1);
    let scale = |score: f32| (score - floor) / (best - floor).max(1e-6);
    ranking.hits.iter().filter_map(|(unit, score)| Some((*wanted.get(unit)?, scale(*score)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    fn held(held: f32) -> Option<ComparedFacts> {
        Some(ComparedFacts { held, ..ComparedFacts::default() })
    }

    /// Units of two files; words and meaning find both files' first unit alike.
    fn example(doubt: f32) -> Example {
        let mut example = Example::with_units(&["a.rs", "b.rs"], &[(0, 0, 1.0), (1, 0, 0.9), (2, 1, 0.8)]);
        example.fused.doubt = doubt;
        for (candidate, lines) in example.retrieved.candidates.iter_mut().zip([1, 20, 20]) {
            (candidate.end, candidate.compared) = (candidate.line + lines - 1, held(0.5));
        }
        example
    }

    fn scores(mut example: Example, share: &str) -> Vec<f32> {
        example.apply(&STAGE, &query("where is it parsed"), &knobs(&[(Knob::OrderShare, share)]));
        example.fused.scores
    }

    #[test]
    fn the_unit_that_does_the_work_comes_first_of_its_file() {
        let scores = scores(example(0.3), "0.5");
        // The order of files stays where the doubt is small.
        assert!(scores[1] > scores[0] && scores[1] == 1.0 && scores[2] == 0.8, "{scores:?}");
    }

    #[test]
    fn a_unit_with_none_of_the_words_is_behind_one_with_all() {
        let mut example = example(0.3);
        for (candidate, share) in example.retrieved.candidates.iter_mut().zip([1.0, 0.0, 0.0]) {
            candidate.compared = held(share);
        }
        let scores = scores(example, "0.5");
        assert!(scores[0] > scores[1] && scores[0] > scores[2], "{scores:?}");
    }

    #[test]
    fn chances_are_those_of_the_stage() {
        let example = example(0.3);
        assert_eq!(by_chance(&query("where is it parsed"), &example.retrieved, &example.fused), [1, 2, 0]);
    }

    #[test]
    fn the_more_the_words_are_doubted_the_more_files_move() {
        let lead = |doubt: f32| {
            let mut example = example(doubt);
            example.retrieved.candidates[2].compared = held(1.0);
            let scores = scores(example, "1");
            scores[2] - scores[1]
        };
        assert!(lead(0.3) < 0.0 && lead(0.3) < lead(0.7) && lead(0.7) < lead(1.0) && lead(1.0) > 0.0);
    }

    #[test]
    fn trusted_words_documentation_and_long_texts_are_not_compared() {
        let knobs = knobs(&[]);
        let compared_of = |example: &Example| compared(&example.retrieved, &example.fused, &knobs).len();
        assert_eq!((compared_of(&example(0.5)), compared_of(&example(0.0))), (3, 0));
        for set in [
            |e: &mut Example| e.retrieved.evidence.documentation = true,
            |e: &mut Example| {
                e.retrieved.evidence.long = true;
            },
        ] {
            let mut example = example(0.5);
            set(&mut example);
            assert_eq!(compared_of(&example), 0);
        }
    }

    #[test]
    fn tests_and_prose_are_signs_unless_they_are_asked_for() {
        let mut example = Example::of(&["tests/a.rs", "a.md"]);
        example.retrieved.files[1].is_text = true;
        example.retrieved.candidates.iter_mut().for_each(|candidate| candidate.compared = held(1.0));
        let of = |text: &str| {
            let signs = signs(&query(text), &example.retrieved, &example.fused);
            (signs[0].1[10], signs[1].1[9])
        };
        assert_eq!(of("where is it parsed"), (1.0, 1.0));
        assert_eq!(of("tests of the parser").0, 0.0);
        assert_eq!(of("documentation of the parser").1, 0.0);
    }

    #[test]
    fn as_many_units_are_compared_as_are_best() {
        let units: Vec<(u32, usize, f32)> = (0..300).map(|i| (i, 0, (i % 150) as f32)).collect();
        let mut example = Example::with_units(&["a.rs"], &units);
        example.fused.doubt = 1.0;
        let mut compared = compared(&example.retrieved, &example.fused, &knobs(&[]));
        assert_eq!(compared.len(), COMPARED_MAX);
        compared.sort_unstable();
        assert!(compared.iter().all(|at| example.fused.scores[*at] >= (150 - COMPARED_MAX / 2) as f32), "{compared:?}");
    }
}
