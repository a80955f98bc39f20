//! Penalties for files that rarely are the answer: tests, examples, barrels (files that only re-export), typings,
//! prose.

use super::fused::Fused;
use super::retrieved::FileFacts;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::path::{PathClass, asks_for_catalogues, is_catalogue};
use crate::query::Query;

const SOURCE: &str = "semble's path penalties, as in ColGREP pull request 99; default: prototype";
const KNOBS: &[Knob] = &[
    Knob::StrongPenalty,
    Knob::ModeratePenalty,
    Knob::MildPenalty,
    Knob::TextPenalty,
    Knob::CataloguePenalty,
    Knob::PenaltyEachClass,
    Knob::PenaltyLast,
];
const DOC: &str = "Tests, examples, gatherers, typings and prose are rarely what is looked for, unless the query asks for them in whole words.";

/// The place in the published pipeline: before the boosts.
pub const EARLY: Stage = Stage {
    name: "path_penalty",
    doc: DOC,
    source: SOURCE,
    knobs: KNOBS,
    doubted: false,
    prepare: Prepare::NOTHING,
    apply: |input, fused| penalise(input, fused, false),
};

/// The default place: after the boosts.
pub const LATE: Stage = Stage {
    name: "path_penalty_last",
    doc: DOC,
    source: SOURCE,
    knobs: KNOBS,
    doubted: false,
    prepare: Prepare::NOTHING,
    apply: |input, fused| penalise(input, fused, true),
};

/// Penalises files, if the knob `penalty_last` chooses this place.
fn penalise(input: &StageInput<'_>, fused: &mut Fused, is_last: bool) {
    if input.knobs.penalty_last == is_last {
        let is_documentation = input.retrieved.evidence.documentation;
        let files = input.retrieved.files.iter();
        let factors: Vec<f32> = files.map(|file| factor(input.query, input.knobs, file, is_documentation)).collect();
        fused.scale_per_file(&input.retrieved.candidates, &factors);
    }
}

/// The factor of one file. If nearly all candidates are prose, the corpus is documentation: its scripts are no likelier
/// to be meant than its pages, and a page below `tutorial` or `testing` is neither an example nor a test.
fn factor(query: &Query, knobs: &Knobs, file: &FileFacts, is_documentation: bool) -> f32 {
    let class = file.path_facts.class;
    let is_page = is_documentation && file.is_text;
    // A query that asks for any of these wants more than the production code.
    let asked = !query.asks_for.is_empty();
    let wanted = [PathClass::TEST, PathClass::BENCHMARK, PathClass::EXAMPLE];
    let strong = [PathClass::TEST, PathClass::BENCHMARK, PathClass::EXAMPLE, PathClass::COMPAT, PathClass::VENDORED]
        .into_iter()
        .filter(|c| class.has(*c) && !(asked && wanted.contains(c)) && !(is_page && *c != PathClass::VENDORED))
        .count();
    let counted = if knobs.penalty_each_class { strong } else { strong.min(1) };
    let mut factor = knobs.strong_penalty.powi(counted as i32);
    if class.has(PathClass::BARREL) && !is_page {
        factor *= knobs.moderate_penalty;
    }
    if class.has(PathClass::TYPINGS) {
        factor *= knobs.mild_penalty;
    }
    if file.is_text && !(query.asks_for_prose || is_documentation) {
        factor *= knobs.text_penalty;
    }
    if query.long.as_ref().is_some_and(|long| is_catalogue(&file.path) && !asks_for_catalogues(&long.title)) {
        factor *= knobs.catalogue_penalty;
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long::Long;
    use crate::rank::testing::{Example, knobs, query};

    fn check(text: &str, path: &str, expected: f32) {
        let knobs = knobs(&[
            (Knob::StrongPenalty, "0.3"),
            (Knob::ModeratePenalty, "0.5"),
            (Knob::MildPenalty, "0.7"),
            (Knob::TextPenalty, "0.6"),
        ]);
        let mut example = Example::of(&[path]);
        example.retrieved.files[0].is_text = path.ends_with(".md");
        example.apply(&LATE, &query(text), &knobs);
        let score = example.fused.scores[0];
        assert!((score - 0.5 * expected).abs() < 1e-6, "{text:?} in {path}: {score:?}");
    }

    #[test]
    fn classes_are_penalised_unless_asked_for() {
        for (text, path, expected) in [
            ("parse request", "src/parse.py", 1.0),
            ("parse request", "tests/parse.py", 0.3),
            ("latest request", "tests/parse.py", 0.3),
            ("parse request tests", "tests/parse.py", 1.0),
            ("which code lowers the score of test files", "tests/parse.py", 0.3),
            ("where are the tests of the parser", "tests/parse.py", 1.0),
            ("parse request", "a/__init__.py", 0.5),
            ("parse request", "a/b.d.ts", 0.7),
            ("parse request", "tests/__init__.py", 0.15),
            ("install", "README.md", 0.6),
            ("install guide", "README.md", 1.0),
            ("which code writes the install guide", "README.md", 0.6),
        ] {
            check(text, path, expected);
        }
    }

    #[test]
    fn a_long_query_is_rarely_about_catalogues() {
        let set = knobs(&[(Knob::CataloguePenalty, "0.5"), (Knob::TextPenalty, "0.6")]);
        for (title, path, expected) in [
            (Some("Dates are wrong"), "app/locale/de.json", 0.5),
            (Some("Dates are wrong"), "app/locale.py", 1.0),
            (Some("Typo in a translation"), "app/locale/de.json", 1.0),
            (None, "app/locale/de.json", 1.0),
        ] {
            let mut asked = query("dates");
            asked.long = title.map(|title| Long { title: title.into(), ..Long::default() });
            let mut example = Example::of(&[path]);
            example.apply(&LATE, &asked, &set);
            assert!((example.fused.scores[0] - 0.5 * expected).abs() < 1e-6, "{title:?} {path}");
        }
    }

    #[test]
    fn pages_are_not_penalised_in_a_documentation() {
        let knobs = knobs(&[(Knob::TextPenalty, "0.6"), (Knob::StrongPenalty, "0.3")]);
        for (documentation, path, expected) in [
            (true, "guide/install.md", 1.0),
            (false, "guide/install.md", 0.6),
            // Such folders have pages about tests, and lessons.
            (true, "tests/install.md", 1.0),
            (true, "tutorial/cors.md", 1.0),
            (false, "tutorial/cors.md", 0.18),
            (true, "vendor/jquery/README.md", 0.3),
            (true, "tutorial/cors.py", 0.3),
            (true, "conf.py", 1.0),
        ] {
            let mut example = Example::of(&[path]);
            example.retrieved.files[0].is_text = path.ends_with(".md");
            example.retrieved.evidence.documentation = documentation;
            example.apply(&LATE, &query("set up"), &knobs);
            assert!((example.fused.scores[0] - 0.5 * expected).abs() < 1e-6, "{path} {documentation}");
        }
    }

    #[test]
    fn the_published_penalties_compound() {
        for (each, path, expected) in [
            ("0", "compat/foo_test.rs", 0.3),
            ("1", "compat/foo_test.rs", 0.09),
            ("1", "examples/compat/foo_test.rs", 0.027),
            ("1", "compat/foo.rs", 0.3),
            ("1", "foo.rs", 1.0),
        ] {
            let set = [(Knob::StrongPenalty, "0.3"), (Knob::PenaltyEachClass, each)];
            let mut example = Example::of(&[path]);
            example.apply(&LATE, &query("parse"), &knobs(&set));
            assert!((example.fused.scores[0] - 0.5 * expected).abs() < 1e-6, "{path} where it is {each}");
        }
    }

    #[test]
    fn the_switch_chooses_the_place() {
        for (last, early_changes) in [("0", true), ("1", false)] {
            for (stage, changes) in [(&EARLY, early_changes), (&LATE, !early_changes)] {
                let mut example = Example::of(&["tests/a.py"]);
                example.apply(stage, &query("x"), &knobs(&[(Knob::PenaltyLast, last)]));
                assert_eq!(example.fused.scores[0] < 0.5, changes, "{} where it is {last}", stage.name);
            }
        }
    }
}
