//! The published definition boost: a unit whose name contains a word of the query.

use super::fused::Fused;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;

/// Boosts units by the words of their names.
pub const STAGE: Stage = Stage {
    name: "definition_boost",
    doc: "A definition named with a word of the query is likelier the place than one that merely mentions it.",
    source: "ColGREP, pull request 99",
    knobs: &[Knob::DefBoost, Knob::BoostOfBest],
    doubted: true,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let boost = input.knobs.def_boost * fused.boost_unit(input.knobs);
    for (score, candidate) in fused.scores.iter_mut().zip(&input.retrieved.candidates) {
        if candidate.name_hit && candidate.kind.is_definition() {
            *score += boost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};
    use crate::unit::UnitKind;

    #[test]
    fn only_definitions_with_the_word_in_their_name_rise() {
        let mut example = Example::of(&["a.rs", "b.rs", "c.md"]);
        let units = &mut example.retrieved.candidates;
        (units[0].name_hit, units[2].name_hit, units[2].kind) = (true, true, UnitKind::Section);
        assert_eq!(example.added(&STAGE, &query("x"), &knobs(&[(Knob::DefBoost, "0.25")])), [25, 0, 0]);
    }
}
