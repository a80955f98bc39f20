//! Units that the query points at: by a line of their file, or by text that stands in them as typed.

use super::fused::Fused;
use super::stage::{Input, Prepare, Stage};
use crate::knob::Knob;

/// Puts units that the query points at in front of all that only answer its words. A later stage, `mention`, lifts a
/// named file past units that hold no more than a run of the words.
pub const STAGE: Stage = Stage {
    name: "pointed",
    doc: "Who pastes a line, a message or a place knows the text: what holds it comes first, the most certain before all.",
    source: "docs/ranking.md: what a query points at",
    knobs: &[Knob::PointedBoost],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &Input<'_>, fused: &mut Fused) {
    for (score, candidate) in fused.scores.iter_mut().zip(&input.retrieved.candidates) {
        if let Some(pointer) = candidate.pointer {
            let steps = 1 + pointer.certainty as u8;
            *score += input.knobs.pointed_boost * (f32::from(steps) + pointer.strength / 2.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::{Certainty, Pointer};
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn the_more_certain_comes_first_whatever_the_words_say() {
        let mut example = Example::with_units(&["a", "b", "c"], &[(0, 0, 1.9), (1, 1, 0.1), (2, 2, 0.0)]);
        let pointer = |certainty, strength| Some(Pointer { certainty, strength, line: 3 });
        example.retrieved.candidates[1].pointer = pointer(Certainty::Run, 1.0);
        example.retrieved.candidates[2].pointer = pointer(Certainty::Exact, 0.5);
        let added = example.added(&STAGE, &query("a"), &knobs(&[(Knob::PointedBoost, "10")]));
        assert_eq!(added, [0, 1500, 3250]);
    }
}
