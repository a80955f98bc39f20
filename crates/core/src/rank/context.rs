//! Files related to the reader's current one.

use super::fused::Fused;
use super::retrieved::FileFacts;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::{Knob, Knobs};

/// Boosts files related to the reader's current file.
pub const STAGE: Stage = Stage {
    name: "context",
    doc: "Who works on a file asks for what belongs to it: what it tests, what it imports, what changed together with it. Nothing leaves the answer.",
    source: "docs/ranking.md: the open file",
    knobs: &[Knob::HereBoost, Knob::PartnerBoost, Knob::ImportBoost, Knob::ImporterBoost, Knob::TogetherBoost],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

/// The boosts were tuned as shares of the best score.
fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let best = fused.scores.iter().copied().fold(0.0, f32::max);
    let boosts: Vec<f32> = input.retrieved.files.iter().map(|file| best * boost(input.knobs, file)).collect();
    fused.add_per_file(&input.retrieved.candidates, &boosts);
}

fn boost(knobs: &Knobs, file: &FileFacts) -> f32 {
    let near = &file.context;
    let here = if near.itself { knobs.here_boost } else { 0.0 };
    here + knobs.partner_boost * near.partner
        + knobs.import_boost * near.imported
        + knobs.importer_boost * near.importer
        + knobs.together_boost * near.together
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Context;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn what_belongs_to_the_file_rises() {
        let mut example = Example::of(&["here.py", "partner.py", "used.py", "user.py", "beside.py", "other.py"]);
        let files = &mut example.retrieved.files;
        files[0].context.itself = true;
        files[1].context.partner = 1.0;
        files[2].context.imported = 1.0;
        files[3].context.importer = 1.0;
        files[4].context = Context { together: 0.5, ..Context::default() };
        let set = [
            (Knob::HereBoost, "0"),
            (Knob::PartnerBoost, "0.4"),
            (Knob::ImportBoost, "0.1"),
            (Knob::ImporterBoost, "0.05"),
            (Knob::TogetherBoost, "0.4"),
        ];
        // All have the score 0.5, the best.
        let mut added = example.added(&STAGE, &query("x"), &knobs(&set));
        assert!((2..=3).contains(&added.remove(3)));
        assert_eq!(added, [0, 20, 5, 10, 0]);
    }
}
