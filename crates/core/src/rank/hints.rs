//! Units whose tags the caller expects.

use super::fused::Fused;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::tag::{Matched, TagKind};

/// Maximum number of keyword hints that count.
const KEYWORDS_MAX: u8 = 3;

/// Multiplies a unit's score by a factor for each kind of hint that its tags match. It runs before the boosts, while
/// scores are between 0 and 1; after them it would change their balance.
pub const STAGE: Stage = Stage {
    name: "hints",
    doc: "Who knows the part of the program, the purpose or the type that is meant gets it first; without hints nothing changes.",
    source: "reranking by enrichment tags",
    knobs: &[
        Knob::HintSubsystem,
        Knob::HintPurpose,
        Knob::HintType,
        Knob::HintConcept,
        Knob::HintFeature,
        Knob::HintTag,
        Knob::HintKeyword,
    ],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    for (score, candidate) in fused.scores.iter_mut().zip(&input.retrieved.candidates) {
        if candidate.hinted != Matched::default() {
            *score *= factor(candidate.hinted, input.knobs);
        }
    }
}

/// Product of the factors of the matched kinds, each kind once.
fn factor(matched: Matched, knobs: &Knobs) -> f32 {
    let of = |kind| match kind {
        TagKind::Subsystem => knobs.hint_subsystem,
        TagKind::Purpose => knobs.hint_purpose,
        TagKind::Type => knobs.hint_type,
        TagKind::Concept => knobs.hint_concept,
        TagKind::Feature => knobs.hint_feature,
        TagKind::Tag => knobs.hint_tag,
        TagKind::Keyword => 1.0 + knobs.hint_keyword * f32::from(matched.keywords.min(KEYWORDS_MAX)),
    };
    TagKind::ALL.into_iter().filter(|kind| matched.has(*kind)).map(of).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::Profile;
    use crate::rank::testing::{Example, knobs, query};
    use crate::tag::{Hint, Hints};
    use crate::token::Tokenizer;
    use crate::unit::Unit;

    fn matched(kinds: &[TagKind]) -> Matched {
        kinds.iter().fold(Matched::default(), |matched, kind| matched.with(*kind))
    }

    #[test]
    fn the_tagged_unit_overtakes_the_plain_one() {
        let mut tokenizer = Tokenizer::default();
        let hints = |texts: &[&str], tokenizer: &mut Tokenizer| {
            let hints: Vec<Hint> = texts.iter().map(|t| t.parse().expect("a hint")).collect();
            Hints::new(&hints, tokenizer)
        };
        let tagged = Unit { docstring: "The slab allocator.".into(), name: "alloc_slab".into(), ..Unit::default() };
        let plain = Unit { name: "frobnicate".into(), ..Unit::default() };
        for (texts, expected) in [
            (&["subsystem=mm", "concept=slab"][..], 0.312),
            (&["subsystem=mm", "concept=slab", "purpose=memory-management"], 0.359),
        ] {
            let hints = hints(texts, &mut tokenizer);
            let mut example = Example::with_units(&["net/plain.c", "mm/slab.c"], &[(0, 0, 0.3), (1, 1, 0.2)]);
            for (at, (unit, path)) in [(&plain, "net/plain.c"), (&tagged, "mm/slab.c")].into_iter().enumerate() {
                example.retrieved.candidates[at].hinted = hints.matched(unit, path, &[], &mut tokenizer);
            }
            example.apply(&STAGE, &query("a"), &Knobs::of(Profile::Default));
            assert_eq!(example.score(0), 0.3, "nothing matches: the score is kept");
            assert!((example.score(1) - expected).abs() < 5e-4, "{}", example.score(1));
        }
    }

    #[test]
    fn factors_are_multiplied_each_kind_once_without_a_cap() {
        let knobs = Knobs::of(Profile::Default);
        let all = &TagKind::ALL[..6];
        for (kinds, expected) in [
            (&[TagKind::Subsystem, TagKind::Purpose][..], 1.495),
            (&[TagKind::Subsystem, TagKind::Subsystem], 1.3),
            (&[TagKind::Type], 1.15),
            (&[TagKind::Feature], 1.1),
            (&[TagKind::Tag], 1.2),
            (&[], 1.0),
            // 004.6: the product of the six, and no cap.
            (all, 2.7233),
        ] {
            assert!((factor(matched(kinds), &knobs) - expected).abs() < 1e-4, "{kinds:?}");
        }
        assert_eq!(factor(matched(&TagKind::ALL), &Knobs::of(Profile::Classic)), 1.0);
    }

    #[test]
    fn keywords_add_a_tenth_each_up_to_three() {
        for (keywords, expected) in [(1, 1.1), (3, 1.3), (5, 1.3)] {
            let factor = factor(matched(&vec![TagKind::Keyword; keywords]), &Knobs::of(Profile::Default));
            assert!((factor - expected).abs() < 1e-6, "{keywords}");
        }
        let half = knobs(&[(Knob::HintKeyword, "0.5")]);
        assert_eq!(factor(matched(&[TagKind::Keyword]), &half), 1.5);
    }

    #[test]
    fn without_hints_the_stage_changes_nothing() {
        let mut example = Example::of(&["a.rs", "b.rs"]);
        let before = example.fused.clone();
        example.apply(&STAGE, &query("a"), &Knobs::of(Profile::Default));
        assert_eq!(example.fused, before);
    }
}
