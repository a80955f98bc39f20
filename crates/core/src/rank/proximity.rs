//! Query words that are close together in the text.

use super::fused::Fused;
use super::retrieved::Retrieved;
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::query::Query;

/// Boosts files where the query's neighbouring words are close together.
pub const STAGE: Stage = Stage {
    name: "proximity",
    doc: "Words that stand together in the query mean one thing, and name it where they stand together in the text.",
    source: "T. Tao, C. Zhai, An Exploration of Proximity Measures (SIGIR 2007); prototype: +.0065",
    knobs: &[Knob::NearBoost, Knob::AdjacentBoost],
    doubted: true,
    prepare: Prepare::by(signals),
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    input.add_signals(fused, [input.knobs.near_boost, input.knobs.adjacent_boost]);
}

fn signals(_: &Query, _: &Knobs, retrieved: &Retrieved) -> Signals {
    let near = retrieved.relative_per_file(|f| f.near);
    let adjacent = retrieved.relative_per_file(|f| f.adjacent);
    Signals::PerFile(near.into_iter().zip(adjacent).flat_map(|(near, adjacent)| [near, adjacent]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn evidence_is_relative_to_the_other_files() {
        let mut example = Example::of(&["a.rs", "b.rs", "c.rs"]);
        let files = &mut example.retrieved.files;
        (files[0].near, files[1].near, files[2].adjacent) = (4.0, 1.0, 2.0);
        let knobs = knobs(&[(Knob::NearBoost, "0.4"), (Knob::AdjacentBoost, "0.2")]);
        assert_eq!(example.added(&STAGE, &query("a b"), &knobs), [40, 10, 20]);
    }
}
