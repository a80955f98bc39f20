//! The ranking pipeline, in three phases: [`Retrieved`] candidates, [`Fused`] scores, [`Ranked`] units.
//!
//! The [`STAGES`] run between fusion and sorting. A stage has a file here and a line in that list. It reads the query,
//! the knobs and the candidates, and changes scores; the runner sorts, checks that scores stay finite, and reports each
//! stage to the observer. Boosts are shares of the best possible base score, 1.
//!
//! Each phase has its own type:
//!
//! ```
//! use colgrep_core::rank::{Fused, Ranked, Retrieved};
//! fn first_line(ranked: &Ranked<'_>) -> Option<u32> {
//!     ranked.units.first().map(|unit| unit.line)
//! }
//! let (retrieved, fused) = (Retrieved::default(), Fused::default());
//! assert_eq!(first_line(&Ranked::new(&retrieved, &fused)), None);
//! ```
//!
//! ```compile_fail
//! use colgrep_core::rank::{Fused, Ranked, Retrieved};
//! fn first_line(ranked: &Ranked<'_>) -> Option<u32> {
//!     ranked.units.first().map(|unit| unit.line)
//! }
//! let (retrieved, fused) = (Retrieved::default(), Fused::default());
//! assert_eq!(first_line(&fused), None);
//! ```

pub mod coherence;
pub mod context;
pub mod copies;
pub mod definition;
pub mod depth;
pub mod exact_definition;
pub mod folder;
mod fused;
pub mod hints;
pub mod history;
pub mod long;
pub mod mention;
pub mod multi_unit;
pub mod order;
pub mod path_penalty;
pub mod pointed;
pub mod proximity;
mod ranked;
pub mod recalled;
mod retrieved;
pub mod sibling;
mod stage;
pub mod stem;
pub mod stem_share;
#[cfg(test)]
pub(crate) mod testing;
pub mod variant;

pub use fused::Fused;
pub use ranked::{Ranked, RankedUnit};
pub use retrieved::{
    Candidate, ComparedCall, ComparedFacts, Context, FileFacts, LongFacts, NamedDefinition, Retrieved,
};
pub use stage::{Prepare, Signals, Stage, StageInput};

use crate::knob::Knobs;
use crate::query::Query;

/// Every stage, in the order in which they run. The published pipeline's stages keep its order.
pub static STAGES: &[Stage] = &[
    multi_unit::STAGE,
    hints::STAGE,
    path_penalty::EARLY,
    stem::STAGE,
    definition::STAGE,
    coherence::STAGE,
    stem_share::STAGE,
    exact_definition::STAGE,
    proximity::STAGE,
    folder::STAGE,
    depth::STAGE,
    sibling::STAGE,
    history::STAGE,
    variant::STAGE,
    long::PATH,
    path_penalty::LATE,
    order::STAGE,
    long::TITLE,
    context::STAGE,
    pointed::STAGE,
    mention::STAGE,
    copies::STAGE,
];

/// The stages of a history. Its entries are not code: paths, definitions and neighbours give no evidence.
pub static HISTORY_STAGES: &[Stage] = &[recalled::STAGE];

/// Observes the pipeline: called after each stage with its name and the order so far.
pub type Observer<'a> = dyn FnMut(&'static str, &Ranked<'_>) + 'a;

/// Runs every stage over the fused scores, and sorts.
pub fn run<'a>(
    query: &Query,
    knobs: &Knobs,
    retrieved: &'a Retrieved,
    fused: Fused,
    observer: Option<&mut Observer<'_>>,
) -> Ranked<'a> {
    run_through(STAGES, query, knobs, retrieved, fused, observer)
}

/// Runs some stages over the fused scores, and sorts.
pub fn run_through<'a>(
    stages: &[Stage],
    query: &Query,
    knobs: &Knobs,
    retrieved: &'a Retrieved,
    mut fused: Fused,
    mut observer: Option<&mut Observer<'_>>,
) -> Ranked<'a> {
    for stage in stages {
        advance(stage, query, knobs, retrieved, &mut fused);
        if let Some(observer) = &mut observer {
            observer(stage.name, &Ranked::new(retrieved, &fused));
        }
    }
    Ranked::new(retrieved, &fused)
}

/// The scores that the stages before one give.
pub fn before(stage: &Stage, query: &Query, knobs: &Knobs, retrieved: &Retrieved, mut fused: Fused) -> Fused {
    for stage in STAGES.iter().take_while(|known| known.name != stage.name) {
        advance(stage, query, knobs, retrieved, &mut fused);
    }
    fused
}

/// Computes the signals of a stage, and runs it.
fn advance(stage: &Stage, query: &Query, knobs: &Knobs, retrieved: &Retrieved, fused: &mut Fused) {
    let signals = (stage.prepare.signals)(query, knobs, retrieved);
    apply(stage, &StageInput { query, knobs, retrieved, signals: &signals }, fused);
}

/// Runs one stage and, if it is doubted, takes back the doubted share of its changes. Non-finite scores become 0.
pub fn apply(stage: &Stage, input: &StageInput<'_>, fused: &mut Fused) {
    let before = (stage.doubted && fused.doubt > 0.0).then(|| fused.scores.clone());
    (stage.apply)(input, fused);
    if let Some(before) = before {
        fused.take_back(&before);
    }
    for (i, score) in fused.scores.iter_mut().enumerate() {
        debug_assert!(score.is_finite(), "{} gave {score} to {:?}", stage.name, input.retrieved.candidates[i]);
        if !score.is_finite() {
            *score = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Example, query};
    use super::*;
    use crate::fuse;
    use crate::knob::{Knob, Profile};
    use crate::tag::{Matched, TagKind};
    use crate::unit::UnitId;

    /// Files and units on which every stage has an effect.
    fn example() -> Example {
        let mut example =
            Example::of(&["src/http/request.rs", "src/http/parse.rs", "tests/parse.rs", "parse.md", "src/request.h"]);
        for i in 5..17 {
            example.add(i, i as usize % 4, (i * 7 % 11) as f32 / 11.0);
        }
        example.retrieved.candidates.iter_mut().for_each(|c| c.name_hit = c.unit.doc() % 2 == 0);
        example.fused.file_scores = vec![0.9, 0.7, 0.5, 0.3, 0.6];
        let files = &mut example.retrieved.files;
        files[3].is_text = true;
        files[0].near = 1.5;
        files[1].adjacent = 0.5;
        files[1].word_definitions = 0.5;
        files[4].textual_types.push(0);
        (files[4].mentioned, files[4].meant) = (0.5, true);
        files[1].variant = 1.0;
        files[4].past = 0.5;
        files[1].long = LongFacts { title: 0.5, path: 0.5 };
        files[3].context = Context { itself: true, partner: 0.5, imported: 0.5, importer: 0.5, together: 0.5 };
        let pointer = crate::query::intents::Pointer {
            certainty: crate::query::intents::Certainty::Exact,
            strength: 0.5,
            line: 3,
        };
        example.retrieved.candidates[6].pointer = Some(pointer);
        example.retrieved.candidates.iter_mut().for_each(|c| {
            (c.end, c.compared) =
                (c.line + c.unit.doc(), Some(ComparedFacts { held: 0.5, calls: 2, documentation: 40 }))
        });
        example.retrieved.calls.push(ComparedCall { caller: 0, callee: 1, callees: 1 });
        (files[1].hash, files[2].hash) = (7, 7);
        example.retrieved.candidates[2].end = example.retrieved.candidates[1].end;
        example.retrieved.candidates[7].hinted =
            TagKind::ALL.into_iter().fold(Matched::default(), |matched, kind| matched.with(kind));
        example
    }

    #[test]
    fn every_stage_is_declared_well() {
        for (i, stage) in STAGES.iter().enumerate() {
            assert!(stage.doc.ends_with('.') && !stage.source.is_empty() && !stage.knobs.is_empty(), "{}", stage.name);
            assert!(!STAGES[..i].iter().any(|s| s.name == stage.name), "{} twice", stage.name);
            assert!(stage.prepare.knobs.iter().all(|k| stage.knobs.contains(k)), "{}", stage.name);
        }
    }

    #[test]
    fn a_stage_reads_no_knob_that_it_does_not_name() {
        let example = example();
        let query = query("parse http request");
        for stage in STAGES {
            for profile in Profile::ALL {
                let of = |knobs: &Knobs| {
                    let signals = (stage.prepare.signals)(&query, knobs, &example.retrieved);
                    let mut fused = example.fused.clone();
                    let input = StageInput { query: &query, knobs, retrieved: &example.retrieved, signals: &signals };
                    apply(stage, &input, &mut fused);
                    (signals, fused)
                };
                let base = of(&Knobs::of(profile));
                for knob in Knob::ALL {
                    let mut changed = Knobs::of(profile);
                    let other = knob.declaration().grid.iter().find(|v| **v != changed.number(*knob));
                    changed.set(*knob, &other.expect("two values").to_string()).expect("a value of its grid");
                    let (signals, fused) = of(&changed);
                    let names = |knobs: &[Knob]| knobs.contains(knob);
                    assert!(names(stage.knobs) || fused == base.1, "{} reads {}", stage.name, knob.name());
                    assert!(names(stage.prepare.knobs) || signals == base.0, "{} reads {}", stage.name, knob.name());
                }
            }
        }
    }

    #[test]
    fn the_fusion_reads_no_knob_that_it_does_not_name() {
        let mut example = example();
        let ranking = |retriever, hits: &[(u32, f32)]| fuse::Ranking {
            retriever,
            hits: hits.iter().map(|(doc, score)| (UnitId::new(0, *doc), *score)).collect(),
        };
        let words = ranking(fuse::Retriever::Lexical, &[(0, 3.0), (1, 2.5), (2, 0.5)]);
        let likeness: Vec<(u32, f32)> = (0..500).map(|i| (i, 1.0 - i as f32 / 500.0)).collect();
        example.retrieved.rankings = vec![words, ranking(fuse::Retriever::Semantic, &likeness)];
        example.retrieved.evidence = fuse::Evidence { strength: 0.35, coverage: 1.0, ..Default::default() };
        for method in [fuse::Fusion::MinMax, fuse::Fusion::ReciprocalRank] {
            let base = Fused::new(&example.retrieved, method, &Knobs::of(Profile::Default));
            for knob in Knob::ALL {
                let mut changed = Knobs::of(Profile::Default);
                changed.set(*knob, &knob.declaration().grid[0].to_string()).expect("a value of its grid");
                let other = Fused::new(&example.retrieved, method, &changed);
                assert!(fuse::KNOBS.contains(knob) || other == base, "the fusion reads {}", knob.name());
            }
        }
    }

    /// A profile in which no knob of the stage is switched off.
    fn switched_on(stage: &Stage, profile: Profile) -> Knobs {
        let mut knobs = Knobs::of(profile);
        for &knob in stage.knobs {
            let Some(off) = knob.declaration().off else { continue };
            let on = knob.declaration().grid.iter().find(|value| **value != off).expect("a value with effect");
            let value = if knobs.number(knob) == off { *on } else { knobs.number(knob) };
            knobs.set(knob, &value.to_string()).expect("a value of its grid");
        }
        knobs
    }

    #[test]
    fn stages_give_the_same_when_they_come_again() {
        let query = query("parse http request");
        for stage in STAGES {
            let mut moved = false;
            for profile in Profile::ALL {
                let first = example();
                let knobs = switched_on(stage, profile);
                let once = {
                    let mut again = example();
                    again.apply(stage, &query, &knobs);
                    again
                };
                assert_eq!(once.retrieved, first.retrieved, "{} changes what was retrieved", stage.name);
                moved |= once.fused.scores != first.fused.scores;
                let mut twice = Example { fused: first.fused.clone(), ..once.clone() };
                twice.apply(stage, &query, &knobs);
                assert_eq!(twice, once, "{}", stage.name);
            }
            assert!(moved, "{} has an effect on the example", stage.name);
        }
    }

    #[test]
    fn boosts_of_the_published_pipeline_are_shares_of_the_best_so_far() {
        let mut example = Example::with_units(&["parse.rs"], &[(0, 0, 1.0)]);
        example.retrieved.candidates[0].name_hit = true;
        let (query, knobs) = (query("parse"), Knobs::of(Profile::Classic));
        let mut after = |stage| {
            example.apply(stage, &query, &knobs);
            (example.fused.scores[0] * 100.0).round() as u32
        };
        assert_eq!((after(&stem::STAGE), after(&definition::STAGE)), (140, 175));
    }

    #[test]
    fn watching_changes_nothing() {
        for profile in Profile::ALL {
            let (example, query, knobs) = (example(), query("parse http request"), Knobs::of(profile));
            let mut steps = Vec::new();
            let mut observer = |step: &'static str, ranked: &Ranked<'_>| steps.push((step, ranked.units.clone()));
            let watched = run(&query, &knobs, &example.retrieved, example.fused.clone(), Some(&mut observer));
            let unwatched = run(&query, &knobs, &example.retrieved, example.fused.clone(), None);
            assert_eq!(watched, unwatched);
            assert_eq!(
                steps.iter().map(|s| s.0).collect::<Vec<_>>(),
                STAGES.iter().map(|s| s.name).collect::<Vec<_>>()
            );
            assert_eq!(steps.last().expect("stages").1, unwatched.units);
        }
    }

    #[test]
    fn where_words_are_doubted_a_doubted_stage_gives_less() {
        let knobs = Knobs::of(Profile::Default);
        let changed = |doubt: f32, stage: &Stage| {
            let mut example = Example::of(&["tests/parse.rs"]);
            example.fused.doubt = doubt;
            example.apply(stage, &query("parse"), &knobs);
            example.fused.scores[0] - 0.5
        };
        for (stage, quarter, none) in [(&stem::STAGE, 0.25, 0.0), (&path_penalty::LATE, 1.0, 1.0)] {
            let whole = changed(0.0, stage);
            let share = |doubt| changed(doubt, stage) / whole;
            assert!(whole != 0.0 && (share(0.75) - quarter).abs() < 1e-5, "{}: {}", stage.name, share(0.75));
            assert!((share(1.0) - none).abs() < 1e-5, "{}: {}", stage.name, share(1.0));
        }
    }

    #[test]
    fn nothing_retrieved_is_nothing_ranked() {
        let retrieved = Retrieved::default();
        let fused = Fused::new(&retrieved, fuse::Fusion::MinMax, &Knobs::of(Profile::Default));
        let ranked = run(&query("parse request"), &Knobs::of(Profile::Default), &retrieved, fused, None);
        assert_eq!(ranked.units.len(), 0);
    }
}
