//! Files that the query names.

use super::fused::Fused;
use super::retrieved::FileFacts;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;
use crate::path::PathClass;
use crate::query::intents::{Certainty, Intents, Pointer};

/// Boosts files whose path or name the query contains.
pub const STAGE: Stage = Stage {
    name: "mention",
    doc: "Who writes a file's name wants that file, whatever else its words rank: all of the name lead.",
    source: "docs/ranking.md: what a query points at",
    knobs: &[Knob::MentionBoost],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let boost = input.knobs.mention_boost;
    if boost == 0.0 {
        return;
    }
    let (files, intents) = (&input.retrieved.files, &input.query.intents);
    let is_alone = intents.is_name_alone(&input.query.text);
    let best = best_of_files(input, fused, is_alone);
    let mut boosts: Vec<f32> = files.iter().map(|file| boost * file.mentioned).collect();
    if is_alone {
        lead(files, intents, &best, boost, &mut boosts);
    } else {
        let lift = lift(files, &best);
        boosts.iter_mut().zip(files).filter(|(_, file)| file.meant).for_each(|(own, _)| *own += lift);
    }
    fused.add_per_file(&input.retrieved.candidates, &boosts);
}

/// The best score of each file. Units that the query points at by a line or by their whole text do not count in files
/// that no name means, so that they stay first. Units with only a run of its words count, since the run may be the
/// file's own name. If the query is just the name, all units count.
fn best_of_files(input: &StageInput<'_>, fused: &Fused, is_alone: bool) -> Vec<f32> {
    let files = &input.retrieved.files;
    let mut best = vec![f32::NEG_INFINITY; files.len()];
    let of_name = if is_alone { Certainty::Exact } else { Certainty::Run };
    let is_known = |pointer: &Pointer| pointer.certainty > of_name;
    for (score, candidate) in fused.scores.iter().zip(&input.retrieved.candidates) {
        if candidate.pointer.as_ref().is_some_and(is_known) && !files[candidate.file].meant {
            continue;
        }
        best[candidate.file] = best[candidate.file].max(*score);
    }
    best
}

/// The boost, equal for all files that the query means, that lifts the lowest of them to the best of the others: the
/// other words of the query order them.
fn lift(files: &[FileFacts], best: &[f32]) -> f32 {
    let of = |meant: bool| best.iter().zip(files).filter(move |(b, f)| b.is_finite() && f.meant == meant);
    let lowest = of(true).map(|(best, _)| *best).fold(f32::INFINITY, f32::min);
    let others = of(false).map(|(best, _)| *best).fold(f32::NEG_INFINITY, f32::max);
    let lift = others - lowest;
    if lift.is_finite() { lift.max(0.0) } else { 0.0 }
}

/// If the query is just a name, sets boosts that put its files first, the most specific ones leading: no other word
/// orders them.
fn lead(files: &[FileFacts], intents: &Intents, best: &[f32], boost: f32, boosts: &mut [f32]) {
    let mut meant: Vec<usize> = (0..files.len()).filter(|at| files[*at].meant && best[*at].is_finite()).collect();
    meant.sort_by_cached_key(|at| specificity(&files[*at], intents));
    let top = best.iter().copied().filter(|score| score.is_finite()).fold(f32::NEG_INFINITY, f32::max);
    for (rank, at) in meant.iter().enumerate() {
        boosts[*at] = top - best[*at] + boost * (meant.len() - rank) as f32 / meant.len() as f32;
    }
}

/// Orders the files of one name, most specific first: the whole path as written, the name in the written case, code
/// before tests and documents, short paths before long ones.
fn specificity(file: &FileFacts, intents: &Intents) -> (bool, bool, u8, usize, usize, String) {
    let path = file.whole_path();
    let is_other = file.mentioned < 1.0;
    let is_as_written = intents.mentions.iter().chain(&intents.names).any(|name| path.ends_with(name.as_str()));
    let kind = 2 * u8::from(file.is_text) + u8::from(file.path_facts.class.has(PathClass::REPEATS));
    (is_other, !is_as_written, kind, path.matches('/').count(), path.len(), path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    /// The files at these positions are meant, each with that share.
    fn mean(example: &mut Example, files: &[usize], share: f32) {
        for at in files {
            (example.retrieved.files[*at].mentioned, example.retrieved.files[*at].meant) = (share, true);
        }
    }

    /// The unit ids after the stage, best first.
    fn order(example: &Example, text: &str) -> Vec<u32> {
        let mut example = example.clone();
        example.apply(&STAGE, &query(text), &knobs(&[(Knob::MentionBoost, "0.6")]));
        let mut order: Vec<u32> = example.retrieved.candidates.iter().map(|c| c.unit.doc()).collect();
        order.sort_by(|a, b| example.score(*b).total_cmp(&example.score(*a)));
        order
    }

    #[test]
    fn a_file_that_is_not_meant_shares() {
        let mut example = Example::of(&["a/mod.rs", "b/mod.rs", "c.rs"]);
        mean(&mut example, &[0], 1.0);
        example.retrieved.files[1].mentioned = 0.5;
        let knobs = knobs(&[(Knob::MentionBoost, "0.6")]);
        assert_eq!(example.added(&STAGE, &query("mod.rs"), &knobs), [60, 30, 0]);
    }

    #[test]
    fn files_of_one_name_come_first_the_most_specific_before_all() {
        let paths = ["tests/unit/http.rs", "a/b/http.rs", "FAQ.md", "lib/core/http.rs", "lib/HTTP.rs", "doc/http.rs"];
        let units = [(0, 0, 3.0), (1, 1, 0.0), (2, 2, 35.0), (3, 3, 0.5), (4, 4, 2.0), (5, 5, 1.0)];
        let mut example = Example::with_units(&paths, &units);
        mean(&mut example, &[0, 1, 3, 4, 5], 0.45);
        example.retrieved.files[5].is_text = true;
        let holds_all = Some(Pointer { certainty: Certainty::Exact, strength: 1.0, line: 1 });
        example.retrieved.candidates[2].pointer = holds_all;
        assert_eq!(order(&example, "http.rs"), [1, 3, 0, 5, 4, 2]);
        assert_eq!(order(&example, "HTTP.rs"), [4, 1, 3, 0, 5, 2]);
        // Further words order them, after a place that contains the whole query.
        assert_eq!(order(&example, "proxy in http.rs"), [2, 0, 4, 5, 3, 1]);
        example.retrieved.candidates[2].pointer = None;
        assert_eq!(order(&example, "proxy in http.rs"), [0, 4, 5, 3, 1, 2]);
        // The one whose whole path is written.
        example.retrieved.files[0].mentioned = 1.0;
        assert_eq!(order(&example, "http.rs"), [0, 1, 3, 5, 4, 2]);
    }

    #[test]
    fn what_is_meant_leads_and_keeps_its_order() {
        let units = [(0, 0, 0.1), (1, 1, 0.3), (2, 2, 2.0), (3, 2, 0.2), (4, 0, 0.05)];
        let mut example = Example::with_units(&["a.rs", "b.rs", "c.rs"], &units);
        mean(&mut example, &[0, 1], 1.0);
        let set = |boost| knobs(&[(Knob::MentionBoost, boost)]);
        let off = example.clone().added(&STAGE, &query("a.rs b.rs"), &set("0"));
        assert_eq!(off, [0; 5]);
        assert_eq!(example.added(&STAGE, &query("a.rs b.rs"), &set("0.6")), [250, 250, 0, 0, 250]);
    }

    #[test]
    fn a_named_file_passes_a_run_of_its_words_and_no_more() {
        let of = |certainty| {
            let mut example = Example::with_units(&["a.rs", "b.rs"], &[(0, 0, 0.1), (1, 1, 15.0)]);
            mean(&mut example, &[0], 1.0);
            example.retrieved.candidates[1].pointer = Some(Pointer { certainty, strength: 1.0, line: 1 });
            example.added(&STAGE, &query("x in a.rs"), &knobs(&[(Knob::MentionBoost, "0.6")]))[0]
        };
        assert_eq!((of(Certainty::Run), of(Certainty::Words)), (1550, 60));
    }

    #[test]
    fn who_types_nothing_but_a_name_wants_the_file_and_not_what_quotes_it() {
        let of = |text: &str, certainty| {
            let mut example = Example::with_units(&["src/a.rs", "b.rs"], &[(0, 0, 0.1), (1, 1, 35.0)]);
            mean(&mut example, &[0], 1.0);
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
