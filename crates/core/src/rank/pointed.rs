//! Units that the query points at: by a line of their file, or by text that they contain as typed.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::fused::Fused;
use super::ranked::{Ranked, RankedUnit};
use super::retrieved::{Candidate, FileFacts, NamedDefinition};
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;
use crate::path::{PathClass, joined};
use crate::query::intents::{Certainty, flags_in};
use crate::spelling::{NameFit, Spelling};
use crate::unit::UnitId;

/// Factor on a pointer's boost in files that the query does not ask for: of two places with the same text, theirs is
/// second. It exceeds the boost for definitions of a name's last part, so that a whole written path in a test comes
/// first.
const SHARE_ASIDE: f32 = 0.6;

/// Puts units that the query points at before those that only match its words. A later stage, `mention`, lifts a named
/// file past units that contain only a run of the words.
pub const STAGE: Stage = Stage {
    name: "pointed",
    doc: "Who pastes a line, a message or a place knows the text: what holds it comes first, the most certain before all.",
    source: "docs/ranking.md: what a query points at",
    knobs: &[Knob::PointedBoost],
    doubted: false,
    prepare: Prepare::NOTHING,
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    if input.knobs.pointed_boost > 0.0 {
        put_exact_first(input, fused);
    }
    for (score, candidate) in fused.scores.iter_mut().zip(&input.retrieved.candidates) {
        if let Some(pointer) = candidate.pointer {
            let steps = pointer.certainty as u8;
            let is_named = pointer.certainty == Certainty::Location;
            let is_aside = !is_named && is_aside(input, &input.retrieved.files[candidate.file]);
            let strength = pointer.strength * if is_aside { SHARE_ASIDE } else { 1.0 };
            *score += input.knobs.pointed_boost * (f32::from(steps) + strength / 2.0);
        }
    }
}

/// Least difference between scores, as a share, that keeps their order.
const SCORE_STEP: f32 = 1e-5;

/// If the query is a word or a name, puts units that hold it before those that hold it only as a part of a longer name,
/// and these before units with other forms of it; unless it is a definition's name of several parts, which related units
/// need not hold. Units exchange their scores, so the measure of each rank stays. A place that the query points at, a
/// definition of the name and a file called by it are exact.
fn put_exact_first(input: &StageInput<'_>, fused: &mut Fused) {
    let StageInput { query, retrieved, .. } = input;
    let Some(written) = query.written.as_ref().or(query.name_inside.as_ref()) else { return };
    let is_inside = query.written.is_none();
    let of_name = |definition: &&NamedDefinition| {
        !is_inside || query.identifiers.get(definition.identifier).is_some_and(|known| known.name == *written)
    };
    let mut definitions = retrieved.files.iter().flat_map(|file| &file.definitions).filter(of_name);
    if (is_inside || Spelling::new(written).pieces().nth(1).is_some())
        && definitions.any(|definition| definition.role.defines())
    {
        return;
    }
    let name = joined(written);
    let fit = |candidate: &Candidate| {
        let is_pointed = candidate.pointer.is_some_and(|pointer| pointer.certainty > Certainty::Run);
        let file = &retrieved.files[candidate.file];
        let is_called = || file.path_facts.stem_joined == name;
        let defines = || file.definitions.iter().any(|defined| defined.unit == candidate.unit);
        match candidate.fit {
            _ if is_pointed || is_called() || defines() => NameFit::Whole,
            _ if is_inside && is_aside(input, file) => NameFit::Inside,
            fit => fit,
        }
    };
    let fits: FxHashMap<UnitId, (usize, NameFit)> =
        retrieved.candidates.iter().enumerate().map(|(at, candidate)| (candidate.unit, (at, fit(candidate)))).collect();
    let ranked = Ranked::new(retrieved, fused).units;
    let mut by_fit: Vec<(usize, NameFit)> = ranked.iter().map(|unit| fits[&unit.unit]).collect();
    if by_fit.is_sorted_by(|a, b| a.1 >= b.1) {
        return;
    }
    by_fit.sort_by_key(|(_, fit)| Reverse(*fit));
    let (mut most, mut last) = (f32::INFINITY, by_fit[0].1);
    for ((at, fit), RankedUnit { score, .. }) in by_fit.into_iter().zip(ranked) {
        if fit < last {
            most -= most.abs().max(1.0) * SCORE_STEP;
            last = fit;
        }
        most = most.min(score);
        fused.scores[at] = most;
    }
}

/// Extensions of files that shells load for completion.
const COMPLETING: [&str; 8] = ["bash", "elv", "fish", "nu", "ps1", "sh", "tcsh", "zsh"];

/// Whether a file is a test or document that the query does not ask for.
fn is_aside(input: &StageInput<'_>, file: &FileFacts) -> bool {
    let StageInput { query, retrieved, .. } = input;
    let of_text = file.is_text && !query.asks_for_prose && !retrieved.evidence.documentation;
    let asks = || query.words.iter().any(|word| word.starts_with("complet") || word == "man");
    of_text
        || (file.path_facts.class.has(PathClass::ASIDE) && query.asks_for.is_empty())
        || (flags_in(&query.text).next().is_some() && repeats_flags(&file.path) && !asks())
}

/// Whether a file is a shell's completions or a page of a manual by its path: these repeat the flags that a program
/// declares. Either may be a template (`tool.1.in`).
fn repeats_flags(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let file = file.strip_suffix(".in").unwrap_or(file);
    let (stem, extension) = file.split_once('.').unwrap_or((file, ""));
    let is_page = extension.len() == 1 && extension.starts_with(|c: char| c.is_ascii_digit());
    let is_of_shell = extension.rsplit('.').next().is_some_and(|last| COMPLETING.contains(&last))
        || (extension.is_empty() && stem.starts_with('_'));
    let in_completions = folders.split('/').any(|folder| folder.contains("completion"));
    is_page || (is_of_shell && (in_completions || stem.contains("completion")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knob::{Knobs, Profile};
    use crate::query::intents::{Certainty, Pointer};
    use crate::rank::NamedDefinition;
    use crate::rank::testing::{Example, knobs, query};
    use crate::unit::{UnitKind, UnitRole};

    #[test]
    fn the_more_certain_comes_first_whatever_the_words_say() {
        let mut example = Example::with_units(&["a", "b", "c"], &[(0, 0, 1.9), (1, 1, 0.1), (2, 2, 0.0)]);
        let pointer = |certainty, strength| Some(Pointer { certainty, strength, line: 3 });
        example.retrieved.candidates[1].pointer = pointer(Certainty::Run, 1.0);
        example.retrieved.candidates[2].pointer = pointer(Certainty::Exact, 0.5);
        let added = example.added(&STAGE, &query("a"), &knobs(&[(Knob::PointedBoost, "10")]));
        assert_eq!(added, [0, 1500, 3250]);
    }

    #[test]
    fn a_unit_with_the_word_itself_comes_before_parts_and_forms_of_it() {
        use NameFit::{Inside, Part, Whole};
        let order_with = |text: &str, fits: [NameFit; 4], defined: Option<NamedDefinition>| {
            let units = [(0, 0, 0.9), (1, 1, 0.8), (2, 2, 0.8), (3, 3, 0.1)];
            let mut example = Example::with_units(&["a.rs", "b.rs", "c.rs", "opens.rs"], &units);
            for (candidate, fit) in example.retrieved.candidates.iter_mut().zip(fits) {
                candidate.fit = fit;
            }
            example.retrieved.files[0].definitions.extend(defined);
            let mut scores = example.fused.scores.clone();
            example.apply(&STAGE, &query(text), &Knobs::of(Profile::Default));
            let ranked = Ranked::new(&example.retrieved, &example.fused);
            let mut after = example.fused.scores.clone();
            [&mut scores, &mut after].into_iter().for_each(|scores| scores.sort_by(f32::total_cmp));
            assert!(scores.iter().zip(after).all(|(a, b)| (a - b).abs() < 1e-3), "{scores:?}");
            ranked.units.iter().map(|unit| unit.unit.doc()).collect::<Vec<_>>()
        };
        let order = |text: &str, fits: [NameFit; 4]| order_with(text, fits, None);
        assert_eq!(order("caring", [Inside, Part, Whole, Inside]), [2, 1, 0, 3]);
        assert_eq!(order("caring", [Part, Whole, Whole, Inside]), [1, 2, 0, 3]);
        assert_eq!(order("caring", [Inside; 4]), [0, 1, 2, 3]);
        // A file called by the name counts as the name.
        assert_eq!(order("opens", [Inside, Inside, Whole, Inside]), [2, 3, 0, 1]);
        assert_eq!(order("caring for", [Inside, Part, Whole, Inside]), [0, 1, 2, 3]);
        // What belongs to a definition need not hold its name.
        let (kind, role, unit) = (UnitKind::Function, UnitRole::Definition, UnitId::new(0, 0));
        let defined = Some(NamedDefinition { identifier: 0, unit, kind, role, exact_case: true });
        assert_eq!(order_with("careTaker", [Inside, Part, Whole, Inside], None), [2, 1, 0, 3]);
        assert_eq!(order_with("careTaker", [Inside, Part, Whole, Inside], defined), [0, 1, 2, 3]);
        assert_eq!(order_with("caring", [Inside, Part, Whole, Inside], defined), [0, 2, 1, 3]);
        assert_eq!(order("who reads careTaker", [Inside, Inside, Whole, Inside]), [2, 0, 1, 3]);
        assert_eq!(order_with("who reads careTaker", [Inside, Inside, Whole, Inside], defined), [0, 1, 2, 3]);
    }

    #[test]
    fn a_test_that_holds_the_same_stands_behind() {
        let knobs = knobs(&[(Knob::PointedBoost, "10")]);
        for (text, certainty, expected) in [
            ("who calls open", Certainty::Exact, [3500, 3300, 3300]),
            ("tests of open", Certainty::Exact, [3500, 3500, 3300]),
            ("a.rs:3", Certainty::Location, [4500, 4500, 4500]),
            ("--line-limit", Certainty::Exact, [3500, 3300, 3300]),
        ] {
            let mut example = Example::of(&["src/a.rs", "tests/a.rs", "a.md"]);
            example.retrieved.files[2].is_text = true;
            for candidate in &mut example.retrieved.candidates {
                candidate.pointer = Some(Pointer { certainty, strength: 1.0, line: 3 });
            }
            assert_eq!(example.added(&STAGE, &query(text), &knobs), expected, "{text}");
        }
    }

    #[test]
    fn completions_and_pages_of_a_manual_are_told_by_their_paths() {
        for (path, expected) in [
            ("assets/completions/tool.bash.in", true),
            ("contrib/completion/_tool", true),
            ("tool-completion.zsh", true),
            ("assets/manual/tool.1.in", true),
            ("man/tool.8", true),
            ("src/completion/engine.ts", false),
            ("src/completions.rs", false),
            ("scripts/install.sh", false),
            ("src/_private.py", false),
            ("docs/v1.2.md", false),
            ("dist/chunk.3.js", false),
            ("Makefile", false),
        ] {
            assert_eq!(repeats_flags(path), expected, "{path}");
        }
    }
}
