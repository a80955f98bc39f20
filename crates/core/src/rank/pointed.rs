//! Units that the query points at: by a line of their file, or by text that they contain as typed.

use super::fused::Fused;
use super::retrieved::FileFacts;
use super::stage::{Prepare, Stage, StageInput};
use crate::knob::Knob;
use crate::path::PathClass;
use crate::query::intents::{Certainty, flags_in};

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
    use crate::query::intents::{Certainty, Pointer};
    use crate::rank::testing::{Example, knobs, query};

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
