//! A file's base score: its best unit plus the harmonic sum of its next ones.

use super::fused::Fused;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;

/// Gives every file one base score between 0 and 1.
pub const STAGE: Stage = Stage {
    name: "multi_unit",
    doc: "A file answers better when several of its units do: best unit and harmonic sum of the best six, each relative to the pool's best.",
    source: "prototype; harmonic discount as in discounted cumulative evidence",
    knobs: &[Knob::UnitSumShare, Knob::UnitSumDepth],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    // Semantic scores have no natural zero, so many mediocre units are no evidence.
    let share = input.knobs.unit_sum_share * (1.0 - fused.doubt);
    let depth = input.knobs.unit_sum_depth;
    let candidates = &input.retrieved.candidates;
    // Each file's best scores, best first.
    let mut top = vec![0.0f32; input.retrieved.files.len() * depth];
    for (candidate, score) in candidates.iter().zip(&fused.scores) {
        let top = &mut top[candidate.file * depth..][..depth];
        let at = top.partition_point(|s| s >= score);
        if at < depth {
            top.copy_within(at..depth - 1, at + 1);
            top[at] = *score;
        }
    }
    let best: Vec<f32> = top.iter().step_by(depth).copied().collect();
    let harmonic = |top: &[f32]| top.iter().zip(1u8..).map(|(score, i)| score / f32::from(i)).sum();
    let sum: Vec<f32> = top.chunks_exact(depth).map(harmonic).collect();
    let highest = |v: &[f32]| v.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let (best_max, sum_max) = (highest(&best), highest(&sum));
    for (i, score) in fused.file_scores.iter_mut().enumerate() {
        *score = (1.0 - share) * best[i] / best_max + share * sum[i] / sum_max;
    }
    for (candidate, score) in candidates.iter().zip(&mut fused.scores) {
        let file = candidate.file;
        let own = if best[file] > 0.0 { *score / best[file] } else { 0.0 };
        *score = fused.file_scores[file] * own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn more_good_units_raise_a_file_and_its_best_unit_carries_the_score() {
        let units = [(0, 0, 1.0), (1, 1, 1.0), (2, 1, 0.8), (3, 1, 0.6)];
        let mut example = Example::with_units(&["a.rs", "b.rs"], &units);
        example.apply(&STAGE, &query("x"), &knobs(&[(Knob::UnitSumShare, "0.5")]));
        // b's sum is 1 + .8/2 + .6/3 = 1.6; a's is 1.
        let files = &example.fused.file_scores;
        assert!((files[1] - 1.0).abs() < 1e-6 && (files[0] - (0.5 + 0.5 / 1.6)).abs() < 1e-6);
        assert!((example.score(1) - 1.0).abs() < 1e-6 && (example.score(2) - 0.8).abs() < 1e-6);
    }

    #[test]
    fn without_the_sum_scores_are_relative_to_the_best() {
        let mut example = Example::with_units(&["a.rs", "b.rs"], &[(0, 0, 0.5), (1, 1, 0.25)]);
        example.apply(&STAGE, &query("x"), &knobs(&[(Knob::UnitSumShare, "0")]));
        assert_eq!(example.fused.scores, [1.0, 0.5]);
    }
}
