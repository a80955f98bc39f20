//! Files that past commits similar to the question changed.

use super::fused::Fused;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;

/// Boosts files that past commits similar to the question changed.
pub const STAGE: Stage = Stage {
    name: "history",
    doc: "What was changed for the like before is likely to be changed again: commits whose messages share the question's words speak for their files.",
    source: "docs/research/history.md",
    knobs: &[Knob::HistoryBoost],
    doubted: true,
    prepare: Prepare::NOTHING,
    apply,
};

/// The boost was tuned as a share of the best score.
fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let best = fused.scores.iter().copied().fold(0.0, f32::max);
    let boost = best * input.knobs.history_boost;
    let boosts: Vec<f32> = input.retrieved.files.iter().map(|file| boost * file.past).collect();
    fused.add_per_file(&input.retrieved.candidates, &boosts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn files_of_commits_like_the_question_rise_by_their_shares() {
        let mut example = Example::of(&["a.rs", "b.rs", "c.rs"]);
        (example.retrieved.files[0].past, example.retrieved.files[1].past) = (1.0, 0.5);
        // All have the score 0.5, the best.
        assert_eq!(example.added(&STAGE, &query("x"), &knobs(&[(Knob::HistoryBoost, "0.4")])), [20, 10, 0]);
        assert_eq!(example.added(&STAGE, &query("x"), &knobs(&[(Knob::HistoryBoost, "0")])), [0, 0, 0]);
    }
}
