//! Files that the query names.

use super::fused::Fused;
use super::retrieved::FileFacts;
use super::stage::{Input, Prepare, Stage};
use crate::clue::{Certainty, Pointer};
use crate::knob::Knob;

/// Boosts files whose path or name stands in the query.
pub const STAGE: Stage = Stage {
    name: "mention",
    doc: "Who writes a file's name wants that file, whatever else its words rank: it leads, and several of one name share.",
    source: "docs/ranking.md: what a query points at",
    knobs: &[Knob::MentionBoost],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &Input<'_>, fused: &mut Fused) {
    let boost = input.knobs.mention_boost;
    if boost == 0.0 {
        return;
    }
    let files = &input.retrieved.files;
    let lift = lift(input, fused);
    let boosts: Vec<f32> =
        files.iter().map(|file| boost * file.mentioned + if is_meant(file) { lift } else { 0.0 }).collect();
    fused.add_per_file(&input.retrieved.candidates, &boosts);
}

/// Whether the query means this file and no other by the name.
fn is_meant(file: &FileFacts) -> bool {
    file.mentioned >= 1.0
}

/// The boost, the same for all files that the query means, that lifts the lowest of them to the best of the others.
/// Units that the query points at by a line, or whose text holds all of it, stay in front; those with only a run of its
/// words do not, since the run may be the file's own name. Of a query that is nothing but the name, all of it is.
fn lift(input: &Input<'_>, fused: &Fused) -> f32 {
    let files = &input.retrieved.files;
    let mut best = vec![f32::NEG_INFINITY; files.len()];
    let of_name = if input.query.clues.is_name_alone(&input.query.text) { Certainty::Exact } else { Certainty::Run };
    let is_known = |pointer: &Pointer| pointer.certainty > of_name;
    for (score, candidate) in fused.scores.iter().zip(&input.retrieved.candidates) {
        if candidate.pointer.as_ref().is_some_and(is_known) && !is_meant(&files[candidate.file]) {
            continue;
        }
        best[candidate.file] = best[candidate.file].max(*score);
    }
    let of = |meant: bool| best.iter().zip(files).filter(move |(b, f)| b.is_finite() && is_meant(f) == meant);
    let lowest = of(true).map(|(best, _)| *best).fold(f32::INFINITY, f32::min);
    let others = of(false).map(|(best, _)| *best).fold(f32::NEG_INFINITY, f32::max);
    let lift = others - lowest;
    if lift.is_finite() { lift.max(0.0) } else { 0.0 }
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

    #[test]
    fn s000_8_what_is_meant_leads_and_keeps_its_order() {
        let units = [(0, 0, 0.1), (1, 1, 0.3), (2, 2, 2.0), (3, 2, 0.2), (4, 0, 0.05)];
        let mut example = Example::with_units(&["a.rs", "b.rs", "c.rs"], &units);
        (example.retrieved.files[0].mentioned, example.retrieved.files[1].mentioned) = (1.0, 1.0);
        let set = |boost| knobs(&[(Knob::MentionBoost, boost)]);
        let off = example.clone().added(&STAGE, &query("a.rs b.rs"), &set("0"));
        assert_eq!(off, [0; 5]);
        assert_eq!(example.added(&STAGE, &query("a.rs b.rs"), &set("0.6")), [250, 250, 0, 0, 250]);
    }

    #[test]
    fn s000_8_a_named_file_passes_a_run_of_its_words_and_no_more() {
        let of = |certainty| {
            let mut example = Example::with_units(&["a.rs", "b.rs"], &[(0, 0, 0.1), (1, 1, 15.0)]);
            example.retrieved.files[0].mentioned = 1.0;
            example.retrieved.candidates[1].pointer = Some(Pointer { certainty, strength: 1.0, line: 1 });
            example.added(&STAGE, &query("x in a.rs"), &knobs(&[(Knob::MentionBoost, "0.6")]))[0]
        };
        assert_eq!((of(Certainty::Run), of(Certainty::Words)), (1550, 60));
    }

    #[test]
    fn s000_8_who_types_nothing_but_a_name_wants_the_file_and_not_what_quotes_it() {
        let of = |text: &str, certainty| {
            let mut example = Example::with_units(&["src/a.rs", "b.rs"], &[(0, 0, 0.1), (1, 1, 35.0)]);
            example.retrieved.files[0].mentioned = 1.0;
            example.retrieved.candidates[1].pointer = Some(Pointer { certainty, strength: 1.0, line: 1 });
            example.added(&STAGE, &query(text), &knobs(&[(Knob::MentionBoost, "0.6")]))[0]
        };
        for text in ["src/a.rs", " `a.rs`", "\"src/a.rs\""] {
            assert_eq!(of(text, Certainty::Exact), 3550, "{text}");
        }
        assert_eq!(of("src/a.rs", Certainty::Location), 60);
        assert_eq!(of("open src/a.rs", Certainty::Exact), 60);
    }
}
