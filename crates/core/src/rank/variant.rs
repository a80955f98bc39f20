//! Variants of a file by platform and language.

use super::fused::Fused;
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::Knob;

/// Moves the variant that a query asks for before the others.
pub const STAGE: Stage = Stage {
    name: "variant",
    doc: "Variants for other platforms and languages answer in the same words; the path alone tells which is which.",
    source: "own: words of paths after GOOS and GOARCH (https://go.dev/doc/install/source#environment), endings of languages",
    knobs: &[Knob::VariantBoost],
    doubted: false,
    prepare: Prepare::by(|_, _, retrieved| Signals::PerFile(retrieved.files.iter().map(|file| file.variant).collect())),
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    input.add_signals(fused, [input.knobs.variant_boost]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn the_variant_that_is_asked_for_decides() {
        let mut example = Example::of(&["poll_darwin.go", "poll_windows.go", "poll.go"]);
        (example.retrieved.files[0].variant, example.retrieved.files[1].variant) = (1.0, -1.0);
        let knobs = knobs(&[(Knob::VariantBoost, "0.1")]);
        assert_eq!(example.added(&STAGE, &query("poll on macOS"), &knobs), [10, -10, 0]);
    }
}
