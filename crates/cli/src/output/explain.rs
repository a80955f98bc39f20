//! How each score came about: the retrievers' scores, then what every stage changed.

use std::collections::HashMap;

use colgrep_core::fuse::UnitKey;
use colgrep_core::rank::Pool;
use colgrep_index::search::Watch;
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

/// Steps a unit.
#[derive(Debug, Default)]
pub struct Explanation {
    steps: HashMap<UnitKey, Vec<Step>>,
}

impl Watch for Explanation {
    fn ranking(&mut self, step: &'static str, hits: &[(UnitKey, f32)]) {
        for &(unit, score) in hits {
            self.steps.entry(unit).or_default().push(Step { step, change: score, score });
        }
    }

    fn stage(&mut self, step: &'static str, pool: &Pool) {
        for candidate in &pool.candidates {
            let steps = self.steps.entry(candidate.unit).or_default();
            let before = steps.last().map_or(0.0, |s| s.score);
            steps.push(Step { step, change: candidate.score - before, score: candidate.score });
        }
    }
}

impl Explanation {
    /// The steps that gave or changed a unit's score.
    pub fn steps(&self, unit: UnitKey) -> Vec<Step> {
        let all = self.steps.get(&unit).map(Vec::as_slice).unwrap_or_default();
        all.iter().copied().filter(|s| s.change.abs() > 1e-6).collect()
    }

    /// The same on one line: `bm25 12.31 · fused 1.000 · … · final 1.402`.
    pub fn line(&self, unit: UnitKey) -> String {
        let last = self.steps.get(&unit).and_then(|s| s.last()).map_or(0.0, |s| s.score);
        let mut parts = Vec::new();
        for step in self.steps(unit) {
            parts.push(match step.change == step.score {
                true => format!("{} {:.3}", step.step, step.score),
                false => format!("{} {:+.3}", step.step, step.change),
            });
        }
        format!("    {} · final {last:.3}", parts.join(" · "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_steps_that_change_something_are_shown() {
        let mut explanation = Explanation::default();
        explanation.ranking("bm25", &[(7, 12.5)]);
        explanation.ranking("fused", &[(7, 1.0)]);
        let candidate = |score| colgrep_core::rank::Candidate {
            unit: 7,
            file: 0,
            kind: colgrep_core::UnitKind::Function,
            role: colgrep_core::UnitRole::Definition,
            line: 1,
            name_hit: false,
            score,
        };
        for (step, score) in [("stem", 1.25), ("depth", 1.25), ("penalty", 0.5)] {
            explanation.stage(step, &Pool { candidates: vec![candidate(score)], ..Pool::default() });
        }
        assert_eq!(explanation.line(7), "    bm25 12.500 · fused 1.000 · stem +0.250 · penalty -0.750 · final 0.500");
    }
}
