//! How each score came about, in words and for programs.

use colgrep_core::UnitId;
use colgrep_engine::explain::{self, Explanation};
use schemars::JsonSchema;
use serde::Serialize;

/// One step of one unit's way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Retriever or stage.
    pub step: &'static str,
    /// What the retriever gave, or what the stage added (its result less what was before).
    pub change: f32,
    /// The score behind it.
    pub score: f32,
}

impl From<explain::Step> for Step {
    fn from(of: explain::Step) -> Step {
        Step { step: of.step, change: of.change, score: of.score }
    }
}

/// The steps that gave or changed a unit's score, on one line: `bm25 12.31 · fused 1.000 · … · final 1.402`.
pub fn line(explanation: &Explanation, unit: UnitId) -> String {
    let mut parts = Vec::new();
    for step in explanation.steps(unit) {
        parts.push(match step.change == step.score {
            true => format!("{} {:.3}", step.step, step.score),
            false => format!("{} {:+.3}", step.step, step.change),
        });
    }
    format!("    {} · final {:.3}", parts.join(" · "), explanation.last(unit))
}

#[cfg(test)]
mod tests {
    use colgrep_core::rank::{Ranked, RankedUnit};
    use colgrep_index::search::Watch as _;

    use super::*;

    #[test]
    fn only_steps_that_change_something_are_shown() {
        let unit = UnitId::new(0, 7);
        let mut explanation = Explanation::default();
        explanation.ranking("bm25", &[(unit, 12.5)]);
        explanation.ranking("fused", &[(unit, 1.0)]);
        let ranked = |score| RankedUnit {
            unit,
            file: 0,
            kind: colgrep_core::UnitKind::Function,
            role: colgrep_core::UnitRole::Definition,
            line: 1,
            score,
        };
        for (step, score) in [("stem", 1.25), ("depth", 1.25), ("penalty", 0.5)] {
            explanation.stage(step, &Ranked { units: vec![ranked(score)], files: &[] });
        }
        assert_eq!(
            line(&explanation, unit),
            "    bm25 12.500 · fused 1.000 · stem +0.250 · penalty -0.750 · final 0.500"
        );
    }
}
