//! Entries of a history that mention a file of the query, or that the query names.

use super::fused::Fused;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;
use crate::query::intents::Certainty;

/// Minimum score of an entry that the query names by its name only, in shares of the best score.
const NAMED_SHARE: f32 = 2.0;

/// Raises the score of an entry that mentions a file of the query to at least a share of the best, and puts first the
/// one that the query names.
pub const STAGE: Stage = Stage {
    name: "mention",
    doc: "An entry that mentions a file which the query names is about as near as one that shares some of its words.",
    source: "docs/ranking.md: history",
    knobs: &[Knob::MentionDistance],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let best = fused.scores.iter().copied().fold(0.0, f32::max);
    let best = if best > 0.0 { best } else { 1.0 };
    let least = (1.0 - input.knobs.mention_distance) * best;
    for (score, candidate) in fused.scores.iter_mut().zip(&input.retrieved.candidates) {
        if let Some(pointer) = candidate.pointer {
            let is_named = pointer.certainty == Certainty::Exact;
            *score = score.max(if is_named { NAMED_SHARE * best } else { least });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::intents::{Certainty, Pointer};
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn a_mention_is_worth_three_fifths_of_the_best_and_takes_nothing_away() {
        let mut example =
            Example::with_units(&["a", "b", "c", "d"], &[(0, 0, 1.0), (1, 1, 0.1), (2, 2, 0.8), (3, 3, 0.2)]);
        let pointer = Some(Pointer { certainty: Certainty::Location, strength: 1.0, line: 1 });
        (example.retrieved.candidates[1].pointer, example.retrieved.candidates[2].pointer) = (pointer, pointer);
        example.apply(&STAGE, &query("why a.rs"), &knobs(&[]));
        assert_eq!(example.fused.scores, [1.0, 0.6, 0.8, 0.2]);
    }

    #[test]
    fn the_entry_that_the_query_names_comes_first() {
        let mut example = Example::with_units(&["a", "b"], &[(0, 0, 1.0), (1, 1, 0.0)]);
        let pointer = Pointer { certainty: Certainty::Exact, strength: 1.0, line: 1 };
        example.retrieved.candidates[1].pointer = Some(pointer);
        example.apply(&STAGE, &query("f839ecc"), &knobs(&[]));
        assert_eq!(example.fused.scores, [1.0, 2.0]);
    }
}
