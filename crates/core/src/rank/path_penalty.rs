//! Penalties for files that rarely are the answer: tests, examples, gatherers, typings, prose.

use super::{FileFacts, Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::path::PathClass;
use crate::query::Query;

const SOURCE: &str = "semble's path penalties, as in ColGREP pull request 99; default: prototype";

macro_rules! knob {
    ($id:ident, $env:literal, $doc:literal, $default:expr, $classic:expr) => {
        static $id: Knob = Knob {
            env: $env,
            doc: $doc,
            default: $default,
            classic: $classic,
            shape: Shape::Real,
            range: (0.0, 1.0),
            grid: &[0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0],
            source: SOURCE,
        };
    };
}

knob!(
    STRONG,
    "COLGREP_STRONG_PENALTY",
    "Factor for tests, benchmarks, examples, compatibility layers, vendored and generated files.",
    0.55,
    0.30
);
knob!(MODERATE, "COLGREP_MODERATE_PENALTY", "Factor for files that only gather what others define.", 0.75, 0.50);
knob!(MILD, "COLGREP_MILD_PENALTY", "Factor for type declarations without code.", 0.85, 0.70);
knob!(
    TEXT,
    "COLGREP_TEXT_PENALTY",
    "Factor for prose, configuration and data, unless the query asks for documentation.",
    0.60,
    1.0
);

static LAST: Knob = Knob {
    env: "COLGREP_PENALTY_LAST",
    doc: "1: penalties come after the boosts, so that no boost undoes them; 0: before, as published.",
    default: 1.0,
    classic: 0.0,
    shape: Shape::Switch,
    range: (0.0, 1.0),
    grid: &[0.0, 1.0],
    source: "fault 4 of the existing tool: a test file with a matching stem climbs back",
};

const KNOBS: &[&Knob] = &[&STRONG, &MODERATE, &MILD, &TEXT, &LAST];
const DOC: &str = "Tests, examples, gatherers, typings and prose are rarely what is looked for, unless the query asks for them in whole words.";

/// The published place: before the boosts.
pub const EARLY: Stage =
    Stage { name: "path_penalty", doc: DOC, source: SOURCE, knobs: KNOBS, doubted: false, apply: early };

/// The default place: after the boosts.
pub const LATE: Stage =
    Stage { name: "path_penalty_last", doc: DOC, source: SOURCE, knobs: KNOBS, doubted: false, apply: late };

fn early(query: &Query, knobs: &Knobs, pool: &mut Pool) {
    if !knobs.is_on(&LAST) {
        pool.scale_per_file(|file| factor(query, knobs, file));
    }
}

fn late(query: &Query, knobs: &Knobs, pool: &mut Pool) {
    if knobs.is_on(&LAST) {
        pool.scale_per_file(|file| factor(query, knobs, file));
    }
}

fn factor(query: &Query, knobs: &Knobs, file: &FileFacts) -> f32 {
    let class = file.facts.class;
    // Asking for any of these shows that more than the code proper is wanted.
    let asked = !query.asks_for.is_empty();
    let wanted = [PathClass::TEST, PathClass::BENCHMARK, PathClass::EXAMPLE];
    let strong = [PathClass::TEST, PathClass::BENCHMARK, PathClass::EXAMPLE, PathClass::COMPAT, PathClass::VENDORED]
        .into_iter()
        .any(|c| class.has(c) && !(asked && wanted.contains(&c)));
    let mut factor = 1.0;
    if strong {
        factor *= knobs.get(&STRONG);
    }
    if class.has(PathClass::BARREL) {
        factor *= knobs.get(&MODERATE);
    }
    if class.has(PathClass::TYPINGS) {
        factor *= knobs.get(&MILD);
    }
    if file.is_text && !query.asks_for_prose {
        factor *= knobs.get(&TEXT);
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{knobs, pool, query};

    fn check(text: &str, path: &str, expected: f32) {
        let mut p = pool(&[path]);
        let k = knobs(&[(&STRONG, "0.3"), (&MODERATE, "0.5"), (&MILD, "0.7"), (&TEXT, "0.6")]);
        p.files[0].is_text = path.ends_with(".md");
        late(&query(text), &k, &mut p);
        assert!(
            (p.candidates[0].score - 0.5 * expected).abs() < 1e-6,
            "{text:?} in {path}: {:?}",
            p.candidates[0].score
        );
    }

    #[test]
    fn classes_are_penalised_unless_asked_for() {
        for (text, path, expected) in [
            ("parse request", "src/parse.py", 1.0),
            ("parse request", "tests/parse.py", 0.3),
            ("latest request", "tests/parse.py", 0.3),
            ("parse request tests", "tests/parse.py", 1.0),
            ("parse request", "a/__init__.py", 0.5),
            ("parse request", "a/b.d.ts", 0.7),
            ("parse request", "tests/__init__.py", 0.15),
            ("install", "README.md", 0.6),
            ("install guide", "README.md", 1.0),
        ] {
            check(text, path, expected);
        }
    }

    #[test]
    fn the_switch_chooses_the_place() {
        for (last, early_changes) in [("0", true), ("1", false)] {
            let mut p = pool(&["tests/a.py"]);
            early(&query("x"), &knobs(&[(&LAST, last)]), &mut p);
            assert_eq!(p.candidates[0].score < 0.5, early_changes);
        }
    }
}
