//! The steps of each score, in words and for programs.

use std::borrow::Cow;

use colgrep_engine::answer;
use schemars::JsonSchema;
use serde::Serialize;

/// One step of the ranking, for one unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Retriever or stage, query for what the query tells beside its words, or expand for the terms that a table gave it.
    pub step: Cow<'static, str>,
    /// The retriever's score, or the change that the stage made.
    pub change: f32,
    /// The score after it.
    pub score: f32,
    /// By how much the stage multiplied the score, where it is one that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f32>,
    /// The terms that a table gave the query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<String>,
    /// What the query asks for besides its words (tokens, places, files, phrases, declarations, callers), and the evidence by
    /// which it points at the unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clues: Vec<String>,
}

impl From<answer::Step> for Step {
    fn from(of: answer::Step) -> Step {
        Step { step: of.step, change: of.change, score: of.score, factor: of.factor, terms: of.terms, clues: of.clues }
    }
}

/// The steps that gave or changed a unit's score, on one line:
/// `query: token E0502 · expand +JWT · bm25 12.310 · fused 1.000 · hints ×1.495 · … · final 1.402`.
pub fn line(steps: &[answer::Step], score: f32) -> String {
    let mut parts = Vec::new();
    for step in steps {
        parts.push(match step.factor {
            _ if !step.clues.is_empty() => format!("{}: {}", step.step, step.clues.join(", ")),
            _ if !step.terms.is_empty() => format!("{} +{}", step.step, step.terms.join(" +")),
            Some(factor) => format!("{} ×{factor:.3}", step.step),
            None if step.change == step.score => format!("{} {:.3}", step.step, step.score),
            None => format!("{} {:+.3}", step.step, step.change),
        });
    }
    format!("    {} · final {score:.3}", parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stage_adds_has_a_sign() {
        let step =
            |step, change, score| answer::Step { step: Cow::Borrowed(step), change, score, ..answer::Step::default() };
        let mut steps = vec![
            step("query", 0.0, 0.0),
            step("expand", 0.0, 0.0),
            step("bm25", 12.5, 12.5),
            step("fused", 1.0, 1.0),
            step("hints", 0.495, 1.495),
            step("stem", 0.25, 1.745),
            step("penalty", -0.75, 0.995),
        ];
        steps[0].clues = vec!["token E0502".to_string(), "exactly here".to_string()];
        steps[1].terms = vec!["JWT".to_string(), "bearer".to_string()];
        steps[4].factor = Some(1.495);
        let shown = "query: token E0502, exactly here · expand +JWT +bearer · bm25 12.500 · fused 1.000 · hints ×1.495 · stem +0.250 · penalty -0.750";
        assert_eq!(line(&steps, 0.995), format!("    {shown} · final 0.995"));
    }
}
