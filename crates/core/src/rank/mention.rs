//! Files that the query names.

use super::fused::Fused;
use super::stage::{Input, Prepare, Stage};
use crate::knob::Knob;

/// Prefers files whose path or name stands in the query.
pub const STAGE: Stage = Stage {
    name: "mention",
    doc: "Who writes a file's name wants that file, whatever else its words rank.",
    source: "docs/ranking.md: what a query points at",
    knobs: &[Knob::MentionBoost],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &Input<'_>, fused: &mut Fused) {
    let boosts: Vec<f32> =
        input.retrieved.files.iter().map(|file| input.knobs.mention_boost * file.mentioned).collect();
    fused.add_per_file(&input.retrieved.candidates, &boosts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn files_of_one_name_share() {
        let mut example = Example::of(&["a/mod.rs", "b/mod.rs", "c.rs"]);
        (example.retrieved.files[0].mentioned, example.retrieved.files[1].mentioned) = (1.0, 0.5);
        let knobs = knobs(&[(Knob::MentionBoost, "0.6")]);
        assert_eq!(example.added(&STAGE, &query("mod.rs"), &knobs), [60, 30, 0]);
    }
}
