//! How each score was computed: the retrievers' scores, then the change of every stage.

use std::borrow::Cow;
use std::collections::HashMap;

use colgrep_core::UnitId;
use colgrep_core::query::Query;
use colgrep_core::rank::{Ranked, RankedUnit, hints};
use colgrep_search::Watch;
use serde::{Deserialize, Serialize};

/// One step of the ranking, for one unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Retriever or stage, or `expand` for the terms of a table.
    pub step: Cow<'static, str>,
    /// The retriever's score, or the change that the stage made.
    pub change: f32,
    pub score: f32,
    /// By how much the stage multiplied the score, where it is one that does.
    pub factor: Option<f32>,
    /// The terms that a table gave the query, with `expand`.
    pub terms: Vec<String>,
    /// What the query says beyond its words, and how it points at the unit, with `query`.
    pub clues: Vec<String>,
}

/// The steps of each unit.
#[derive(Debug, Default)]
pub struct Explanation {
    steps: HashMap<UnitId, Vec<Step>>,
}

impl Watch for Explanation {
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]) {
        for &(unit, score) in hits {
            self.steps.entry(unit).or_default().push(Step {
                step: step.into(),
                change: score,
                score,
                ..Step::default()
            });
        }
    }

    fn stage(&mut self, step: &'static str, ranked: &Ranked<'_>) {
        for unit in &ranked.units {
            let steps = self.steps.entry(unit.unit).or_default();
            let before = steps.last().map_or(0.0, |s| s.score);
            let factor = (step == hints::STAGE.name && before > 0.0).then(|| unit.score / before);
            steps.push(Step {
                step: step.into(),
                change: unit.score - before,
                score: unit.score,
                factor,
                ..Step::default()
            });
        }
    }
}

impl Explanation {
    /// The steps that gave or changed a unit's score, preceded by what the query says beyond its words and the terms
    /// that tables added.
    pub fn steps(&self, unit: &RankedUnit, query: &Query) -> Vec<Step> {
        let all = self.steps.get(&unit.unit).map(Vec::as_slice).unwrap_or_default();
        let mut clues = query.told();
        if !clues.is_empty() {
            clues.extend(unit.certainty.map(|certainty| certainty.told().to_string()));
        }
        let told = Some(Step { step: "query".into(), clues, ..Step::default() }).filter(|step| !step.clues.is_empty());
        let expand = Step { step: "expand".into(), terms: query.expansions.clone(), ..Step::default() };
        let expand = Some(expand).filter(|step| !step.terms.is_empty());
        told.into_iter().chain(expand).chain(all.iter().filter(|s| s.change.abs() > 1e-6).cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_steps_that_change_something_are_kept() {
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
            pointed_line: None,
            certainty: None,
            score,
        };
        for (step, score) in [("stem", 1.25), ("depth", 1.25), ("penalty", 0.5)] {
            explanation.stage(step, &Ranked { units: vec![ranked(score)], ..Ranked::default() });
        }
        let steps = explanation.steps(&ranked(0.5), &Query::default());
        let steps: Vec<String> = steps.iter().map(|s| format!("{} {:+.3} {:.3}", s.step, s.change, s.score)).collect();
        assert_eq!(steps, ["bm25 +12.500 12.500", "fused +1.000 1.000", "stem +0.250 1.250", "penalty -0.750 0.500"]);
    }

    #[test]
    fn what_the_query_tells_comes_first() {
        use colgrep_core::query::intents::{Certainty, Intents};
        let intents = Intents { tokens: vec!["E0502".to_string()], ..Intents::default() };
        let query = Query { intents, ..Query::default() };
        let unit = RankedUnit { certainty: Some(Certainty::Exact), ..RankedUnit::default() };
        let steps = Explanation::default().steps(&unit, &query);
        assert_eq!((&*steps[0].step, steps[0].clues.join("; ")), ("query", "token E0502; exactly here".to_string()));
    }

    #[test]
    fn hints_show_their_factor_and_tables_their_terms() {
        let unit = UnitId::new(0, 7);
        let mut explanation = Explanation::default();
        explanation.ranking("fused", &[(unit, 0.2)]);
        let ranked = RankedUnit { unit, score: 0.299, ..RankedUnit::default() };
        explanation.stage("hints", &Ranked { units: vec![ranked], ..Ranked::default() });
        let query = Query { expansions: vec!["JWT".to_string()], ..Query::default() };
        let steps = explanation.steps(&ranked, &query);
        assert_eq!((&*steps[0].step, &steps[0].terms[..]), ("expand", &["JWT".to_string()][..]));
        assert!(steps[1].factor.is_none() && steps[2].factor.is_some_and(|f| (f - 1.495).abs() < 1e-4), "{steps:?}");
    }
}
