//! Third phase: the units, sorted.

use serde::{Deserialize, Serialize};

use super::fused::Fused;
use super::retrieved::{FileFacts, Retrieved};
use crate::query::intents::Certainty;
use crate::unit::{UnitId, UnitKind, UnitRole};

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankedUnit {
    pub unit: UnitId,
    /// Its file: a position in [`Ranked::files`].
    pub file: usize,
    pub kind: UnitKind,
    /// Its role: definition, declaration, extension or test.
    pub role: UnitRole,
    /// Line of its definition.
    pub line: u32,
    /// The line that the query points at, from 1, if it does.
    pub pointed_line: Option<u32>,
    /// How certain that pointer is.
    pub certainty: Option<Certainty>,
    pub score: f32,
}

/// The units of one query, best first, and their files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked<'a> {
    /// Best first; ties by [`Fused::ties`], then path, then line, then key.
    pub units: Vec<RankedUnit>,
    pub files: &'a [FileFacts],
    /// Whether the corpus is documentation, so that the sections of a page count individually.
    pub is_documentation: bool,
}

impl<'a> Ranked<'a> {
    /// Sorts the candidates by their scores.
    pub fn new(retrieved: &'a Retrieved, fused: &Fused) -> Ranked<'a> {
        let files = retrieved.files.as_slice();
        let scored = retrieved.candidates.iter().zip(&fused.scores).enumerate();
        let mut units: Vec<(u32, RankedUnit)> = scored
            .map(|(at, (c, &score))| {
                let (pointed_line, certainty) = (c.pointer.map(|p| p.line), c.pointer.map(|p| p.certainty));
                let (unit, file, kind, role, line) = (c.unit, c.file, c.kind, c.role, c.line);
                (fused.tie(at), RankedUnit { unit, file, kind, role, line, pointed_line, certainty, score })
            })
            .collect();
        units.sort_by(|(tie_a, a), (tie_b, b)| {
            let path = |unit: &RankedUnit| (files[unit.file].repository.as_str(), files[unit.file].path.as_str());
            let by_path = || path(a).cmp(&path(b));
            let by_place = || (a.line, a.unit).cmp(&(b.line, b.unit));
            b.score.total_cmp(&a.score).then(tie_a.cmp(tie_b)).then_with(by_path).then_with(by_place)
        });
        Ranked {
            units: units.into_iter().map(|(_, unit)| unit).collect(),
            files,
            is_documentation: retrieved.evidence.documentation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::Example;

    #[test]
    fn equal_scores_are_ordered_by_path_and_line() {
        let mut example = Example::of(&["b.rs", "a.rs"]);
        example.add(0, 1, 0.5);
        example.retrieved.candidates[2].line = 9;
        let ranked = Ranked::new(&example.retrieved, &example.fused);
        let order: Vec<(usize, u32)> = ranked.units.iter().map(|u| (u.file, u.line)).collect();
        assert_eq!(order, [(1, 1), (1, 9), (0, 1)]);
    }
}
