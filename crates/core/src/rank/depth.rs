//! Files close to the root.

use super::fused::Fused;
use super::retrieved::Retrieved;
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::query::Query;

/// Prefers shallow files among otherwise similar ones.
pub const STAGE: Stage = Stage {
    name: "depth",
    doc: "A project's main ideas live near its root, its variants and platforms deeper.",
    source: "prototype",
    knobs: &[Knob::DepthBoost],
    doubted: true,
    prepare: Prepare::by(signals),
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    input.add_signals(fused, [input.knobs.depth_boost]);
}

fn signals(_: &Query, _: &Knobs, retrieved: &Retrieved) -> Signals {
    let deep = retrieved.relative_per_file(|f| f.path.matches('/').count() as f32);
    Signals::PerFile(deep.into_iter().map(|d| 1.0 - d).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn depth_is_relative_to_the_other_files() {
        let mut example = Example::of(&["a.rs", "x/b.rs", "x/y/c.rs"]);
        assert_eq!(example.added(&STAGE, &query("a"), &knobs(&[(Knob::DepthBoost, "0.2")])), [20, 10, 0]);
    }
}
