//! How each score came about, in words and for programs.

use colgrep_engine::answer;
use schemars::JsonSchema;
use serde::Serialize;

/// One step of the ranking, for one unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Retriever or stage.
    pub step: &'static str,
    /// The retriever's score, or the change that the stage made.
    pub change: f32,
    /// The score after it.
    pub score: f32,
}

impl From<answer::Step> for Step {
    fn from(of: answer::Step) -> Step {
        Step { step: of.step, change: of.change, score: of.score }
    }
}

/// The steps that gave or changed a unit's score, on one line: `bm25 12.31 · fused 1.000 · … · final 1.402`.
pub fn line(steps: &[answer::Step], score: f32) -> String {
    let mut parts = Vec::new();
    for step in steps {
        parts.push(match step.change == step.score {
            true => format!("{} {:.3}", step.step, step.score),
            false => format!("{} {:+.3}", step.step, step.change),
        });
    }
    format!("    {} · final {score:.3}", parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stage_adds_has_a_sign() {
        let step = |step, change, score| answer::Step { step, change, score };
        let steps =
            [step("bm25", 12.5, 12.5), step("fused", 1.0, 1.0), step("stem", 0.25, 1.25), step("penalty", -0.75, 0.5)];
        assert_eq!(line(&steps, 0.5), "    bm25 12.500 · fused 1.000 · stem +0.250 · penalty -0.750 · final 0.500");
    }
}
