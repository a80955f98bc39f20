//! The published coherence boost: the best unit of a file with many good units.

use super::fused::Fused;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;

/// Boosts the best unit of each file in proportion to the sum of the file's scores.
pub const STAGE: Stage = Stage {
    name: "coherence_boost",
    doc: "A file in which many units match is likelier about the query.",
    source: "semble, as in ColGREP pull request 99",
    knobs: &[Knob::CoherenceBoost, Knob::BoostOfBest],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let boost = input.knobs.coherence_boost * fused.boost_unit(input.knobs);
    if boost == 0.0 {
        return;
    }
    let candidates = &input.retrieved.candidates;
    let scores = &mut fused.scores;
    let mut sums = vec![0.0f32; input.retrieved.files.len()];
    let mut best: Vec<Option<usize>> = vec![None; input.retrieved.files.len()];
    for (i, candidate) in candidates.iter().enumerate() {
        sums[candidate.file] += scores[i];
        let before = |other: usize| {
            let by_place = candidates[other].tie_order().cmp(&candidate.tie_order());
            scores[i].total_cmp(&scores[other]).then(by_place).is_gt()
        };
        if best[candidate.file].is_none_or(before) {
            best[candidate.file] = Some(i);
        }
    }
    let highest = sums.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    for i in best.into_iter().flatten() {
        scores[i] += boost * sums[candidates[i].file] / highest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn the_best_unit_rises_by_its_files_share() {
        let mut example = Example::with_units(&["a.rs", "b.rs"], &[(0, 0, 0.5), (1, 1, 0.6), (2, 1, 0.4)]);
        example.apply(&STAGE, &query("x"), &knobs(&[(Knob::CoherenceBoost, "0.2")]));
        let scores = [0, 1, 2].map(|unit| (example.score(unit) * 100.0).round() as i32);
        assert_eq!(scores, [60, 80, 40]);
    }
}
