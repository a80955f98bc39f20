//! How each score came about: the retrievers' scores, then what every stage changed.

use std::collections::HashMap;

use colgrep_core::UnitId;
use colgrep_core::rank::Ranked;
use colgrep_index::search::Watch;
use serde::Serialize;

/// One step of one unit's way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    steps: HashMap<UnitId, Vec<Step>>,
}

impl Watch for Explanation {
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]) {
        for &(unit, score) in hits {
            self.steps.entry(unit).or_default().push(Step { step, change: score, score });
        }
    }

    fn stage(&mut self, step: &'static str, ranked: &Ranked<'_>) {
        for unit in &ranked.units {
            let steps = self.steps.entry(unit.unit).or_default();
            let before = steps.last().map_or(0.0, |s| s.score);
            steps.push(Step { step, change: unit.score - before, score: unit.score });
        }
    }
}

impl Explanation {
    /// The steps that gave or changed a unit's score.
    pub fn steps(&self, unit: UnitId) -> Vec<Step> {
        let all = self.steps.get(&unit).map(Vec::as_slice).unwrap_or_default();
        all.iter().copied().filter(|s| s.change.abs() > 1e-6).collect()
    }

    /// The score behind the last step.
    pub fn last(&self, unit: UnitId) -> f32 {
        self.steps.get(&unit).and_then(|s| s.last()).map_or(0.0, |s| s.score)
    }
}
