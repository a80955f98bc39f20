//! Chooses the unit that stands for a file: the implementation, never a test inside it, a licence or a block of
//! imports, unless the query asks for these.

use colgrep_core::collapse::FileHit;
use colgrep_core::path::PathClass;
use colgrep_core::query::Query;
use colgrep_core::rank::RankedUnit;
use colgrep_core::{Unit, UnitKind, UnitRole};
use colgrep_index::search;
use colgrep_index::store::Snapshot;
use colgrep_syntax::language;
use colgrep_syntax::read::{self, lines_between};

use crate::answer::FileAnswer;
use crate::error::Result;

/// Beginnings of query terms that ask for the head of a file (licence, imports, package).
const HEAD_TERMS: [&str; 8] = ["licens", "licenc", "copyright", "import", "includ", "requir", "modul", "packag"];
/// Beginnings of lines that do not tell what a file does: comments, imports, exports, names of modules and packages.
const HEAD_LINES: [&str; 26] = [
    "//",
    "/*",
    "*",
    "#",
    "--",
    ";",
    "%",
    "\"\"\"",
    "'''",
    "import ",
    "import(",
    "from ",
    "use ",
    "pub use ",
    "using ",
    "package ",
    "require",
    "mod ",
    "pub mod ",
    "extern ",
    "export * ",
    "export {",
    "namespace ",
    "module ",
    "'use strict",
    "@file:",
];
/// Least score of a unit that [`also_here`] counts, as a share of the file's.
const ALSO_SHARE: f32 = 0.5;

/// Maximum number of a file's units that are examined for an implementation.
const LOOKED_AT_MAX: usize = 16;

/// The units shown of a file, whose text is in `file`. If the best is a test inside the file, or the file's head, the
/// best matching implementation is put in front of it, if there is one.
///
/// # Errors
/// When the index can't be read.
pub fn standing(
    snapshot: &Snapshot,
    answer: &search::Answer,
    hit: &FileHit,
    file: &FileAnswer,
) -> Result<Vec<RankedUnit>> {
    let mut shown = hit.units.clone();
    let facts = &answer.files[hit.file];
    let by_path = facts.is_text || facts.path_facts.class.has(PathClass::TEST);
    let is_meant = shown[0].pointed_line.is_some() || file.matching_lines.is_some();
    if by_path || is_meant || asks_for_others(&answer.query) {
        return Ok(shown);
    }
    let is_weak = |unit: &Unit| {
        let lines = || lines_between(&file.text, unit.span.line as usize, unit.span.end as usize, read::lines);
        is_test_inside(unit, &file.language) || (unit.kind == UnitKind::RawCode && is_head(unit, &lines()))
    };
    if !is_weak(&snapshot.lexical.unit(shown[0].unit)?) {
        return Ok(shown);
    }
    let others = answer.units.iter().filter(|unit| unit.file == hit.file && is_implementation(unit));
    for other in others.take(LOOKED_AT_MAX) {
        if !is_weak(&snapshot.lexical.unit(other.unit)?) {
            shown.retain(|unit| unit.unit != other.unit);
            shown.insert(0, *other);
            shown.truncate(hit.units.len());
            break;
        }
    }
    Ok(shown)
}

/// Whether a query asks for tests or heads of files, so that the best unit stands, whatever it is.
fn asks_for_others(query: &Query) -> bool {
    query.asks_for.contains(&PathClass::TEST)
        || query.terms.iter().any(|term| HEAD_TERMS.iter().any(|head| term.text.starts_with(head)))
}

/// Whether a unit is a test by its syntax or its module, in a file of `language` whose path is no test's.
fn is_test_inside(unit: &Unit, language: &str) -> bool {
    let in_module = || language::by_name(language).is_some_and(|l| l.has_test_modules);
    unit.role == UnitRole::Test || (unit.parent.split('.').any(|name| matches!(name, "tests" | "test")) && in_module())
}

/// Whether lines that belong to no definition hold nothing but comments, imports and brackets.
fn is_head(unit: &Unit, lines: &[&str]) -> bool {
    let (first, end) = (unit.span.line.max(1) as usize - 1, (unit.span.end as usize).min(lines.len()));
    let own = lines.get(first..end).unwrap_or_default();
    let mut in_comment = false;
    unit.kind == UnitKind::RawCode
        && own.iter().map(|line| line.trim()).all(|line| {
            let is_head = in_comment
                || !line.contains(char::is_alphanumeric)
                || HEAD_LINES.iter().any(|head| line.starts_with(head));
            in_comment = (in_comment || line.starts_with("/*")) && !line.contains("*/");
            is_head
        })
}

/// Whether a unit may stand for its file in the place of a test or a head.
fn is_implementation(unit: &RankedUnit) -> bool {
    unit.kind.is_definition() && matches!(unit.role, UnitRole::Definition | UnitRole::Extension)
}

/// Number of matching units of a file beside those shown, without raw code: those with at least half the file's
/// `score`. Units that the query points at score far above all others; where one gave the file its score, the best unit
/// of the corpus that the query does not point at (`best`) is the measure.
pub fn also_here(all: &[RankedUnit], best: Option<f32>, file: usize, score: f32, shown: &[RankedUnit]) -> u64 {
    let measure = best.map_or(score, |best| best.min(score));
    let matches = |unit: &&RankedUnit| {
        unit.file == file
            && unit.score >= ALSO_SHARE * measure
            && unit.kind != UnitKind::RawCode
            && shown.iter().all(|s| s.unit != unit.unit)
    };
    all.iter().filter(matches).count() as u64
}

/// The best score of units that the query does not point at.
pub fn best_unpointed(all: &[RankedUnit]) -> Option<f32> {
    all.iter().filter(|unit| unit.pointed_line.is_none()).map(|unit| unit.score).reduce(f32::max)
}

#[cfg(test)]
mod tests {
    use colgrep_core::unit::Span;

    use super::*;

    #[test]
    fn heads_are_comments_imports_and_brackets() {
        for (text, expected) in [
            ("// Copyright\n\nuse std::fs;\n", true),
            ("/*\n Licensed under\n the terms\n*/\n#include <x.h>\n", true),
            ("/* one */\nint x = 1;\n", false),
            ("}\n#endif\n", true),
            ("import os\nprint(os)\n", false),
            ("main()\n", false),
        ] {
            let lines: Vec<&str> = text.lines().collect();
            let unit = Unit { span: Span { first: 1, line: 1, end: 9 }, ..Unit::default() };
            assert_eq!(is_head(&unit, &lines), expected, "{text}");
            assert!(!is_head(&Unit { kind: UnitKind::Function, ..unit }, &lines));
        }
    }

    #[test]
    fn tests_lie_in_modules_of_that_name_or_are_so_by_syntax() {
        let unit = |parent: &str, role| Unit { parent: parent.into(), role, ..Unit::default() };
        for (unit, language, expected) in [
            (unit("tests", UnitRole::Definition), "rust", true),
            (unit("ring.tests", UnitRole::Definition), "rust", true),
            (unit("tests", UnitRole::Definition), "python", false),
            (unit("", UnitRole::Test), "zig", true),
            (unit("contests", UnitRole::Definition), "rust", false),
        ] {
            assert_eq!(is_test_inside(&unit, language), expected, "{unit:?}");
        }
    }
}
