//! Long queries: files that their text names, and separate results of their title.

use super::fused::Fused;
use super::retrieved::FileFacts;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;

/// Boosts files that the text names by path.
pub const PATH: Stage = Stage {
    name: "long_path",
    doc: "A long text names files, in words or in a trace: the fewer a path may mean, the likelier one of them is meant.",
    source: "docs/research/long.md",
    knobs: &[Knob::LongPath],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply: |input, fused| {
        let path = input.knobs.long_path;
        add(input, fused, |file| path * file.long.path);
    },
};

/// Adds the scores of a search for the title.
pub const TITLE: Stage = Stage {
    name: "long_title",
    doc: "The title of a long text says what is asked for, and drowns in the rest: it is scored alone too, and both scores are added.",
    source: "docs/research/long.md",
    knobs: &[Knob::LongTitle],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply: |input, fused| {
        let title = input.knobs.long_title;
        add(input, fused, |file| title * file.long.title);
    },
};

/// Adds to every file a share of the best score. Only long queries give shares.
fn add(input: &StageInput<'_>, fused: &mut Fused, share: impl Fn(&FileFacts) -> f32) {
    if input.retrieved.files.iter().all(|file| share(file) == 0.0) {
        return;
    }
    let best = fused.scores.iter().copied().fold(0.0, f32::max);
    let boosts: Vec<f32> = input.retrieved.files.iter().map(|file| best * share(file)).collect();
    fused.add_per_file(&input.retrieved.candidates, &boosts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::retrieved::LongFacts;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn files_rise_by_shares_of_the_best_score() {
        let mut example = Example::of(&["a.rs", "b.rs"]);
        example.retrieved.files[0].long = LongFacts { title: 0.5, path: 1.0 };
        // All have the score 0.5, the best.
        for (path, title, expected) in [("0.4", "1", [20, 25]), ("0.8", "0.5", [40, 13]), ("0", "0", [0, 0])] {
            let set = knobs(&[(Knob::LongPath, path), (Knob::LongTitle, title)]);
            let added = |stage| example.clone().added(stage, &query("x"), &set);
            assert_eq!([added(&PATH), added(&TITLE)], expected.map(|first| vec![first, 0]));
        }
    }
}
