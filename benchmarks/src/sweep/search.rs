//! Searching along one knob after another.

use std::collections::BTreeMap;

use anyhow::Result;
use colgrep_core::rank::STAGES;
use colgrep_engine::settings::variable::variable;

use super::evaluate::Evaluator;
use super::folds::{Folds, Judgement};
use super::{Axis, Setting};
use crate::pools::first_stage;
use crate::report::bar;

/// Rounds of coordinate descent at most; it mostly ends after two or three.
const ROUNDS_MAX: usize = 8;

/// Least gain for which a knob is moved. Smaller gains are far below any standard error and only prolong the descent.
const GAIN_MIN: f64 = 1e-4;

/// Coordinate descent from the baseline, once on all queries and once without each fold; they share what is measured.
pub fn coordinate(evaluator: &mut Evaluator<'_>, axes: &[Axis], folds: &Folds) -> Result<Judgement> {
    evaluator.all(&[])?;
    // The end is not known beforehand: the bar counts what one round needs, for the whole and for each fold.
    let moves: usize = axes.iter().map(|a| a.values.len()).sum();
    let bar = bar((moves * (folds.count + 1)) as u64, "moves");
    let mut tried = BTreeMap::from([(String::new(), Setting::default())]);
    let mut ends = Vec::new();
    for fold in std::iter::once(None).chain((0..folds.count).map(Some)) {
        let mut best = Setting::default();
        let mut best_value = folds.value_outside(evaluator.known(&best), fold);
        for round in 0..ROUNDS_MAX {
            let before = best.clone();
            if round > 0 {
                bar.inc_length(moves as u64);
            }
            for axis in axes {
                let kept = first_stage(axis.knob) % STAGES.len();
                let start = best.clone();
                let now =
                    start.0.get(&variable(axis.knob)).copied().unwrap_or(evaluator.corpus.knobs.number(axis.knob));
                for value in axis.values.iter().filter(|v| **v != now) {
                    let setting = start.with(axis.knob, *value);
                    evaluator.one(&setting, kept, &bar)?;
                    let value = folds.value_outside(evaluator.known(&setting), fold);
                    if value > best_value + GAIN_MIN {
                        (best, best_value) = (setting.clone(), value);
                    }
                    tried.insert(setting.text(), setting);
                }
            }
            if best == before {
                break;
            }
        }
        ends.push(best);
    }
    bar.finish_and_clear();
    let winners = ends.split_off(1);
    Ok(folds.judge_winners(evaluator, tried.into_values().collect(), winners))
}
