//! The definition of a stage, and its input.

use super::fused::Fused;
use super::retrieved::Retrieved;
use crate::knob::{Knob, Knobs};
use crate::query::Query;

/// One step of the ranking.
pub struct Stage {
    /// Its name; the trace shows the ranking after it as `after_<name>`.
    pub name: &'static str,
    /// What it does and why, in a sentence.
    pub doc: &'static str,
    /// Where the idea comes from.
    pub source: &'static str,
    pub knobs: &'static [Knob],
    /// If true, the runner scales this stage's boost by `1 - doubt`. If the query's words are doubted, the order is
    /// semantic with close scores: a lexical boost would mislead, and any other would outweigh it.
    pub doubted: bool,
    /// Its signals, computed before it sees a score.
    pub prepare: Prepare,
    /// Changes the scores. Sorting, tracing and checking them is the runner's job.
    pub apply: fn(&StageInput<'_>, &mut Fused),
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stage({})", self.name)
    }
}

/// Computes the signals of a stage. They depend on no score and on few knobs or none, so a sweep, which ranks one
/// retrieval with thousands of settings, reuses them.
#[derive(Clone, Copy, Debug)]
pub struct Prepare {
    /// The knobs that `signals` reads.
    pub knobs: &'static [Knob],
    /// The function that computes them.
    pub signals: fn(&Query, &Knobs, &Retrieved) -> Signals,
}

impl Prepare {
    /// For stages without signals.
    pub const NOTHING: Prepare = Prepare { knobs: &[], signals: |_, _, _| Signals::None };

    /// Signals that no knob changes.
    pub const fn by(signals: fn(&Query, &Knobs, &Retrieved) -> Signals) -> Prepare {
        Prepare { knobs: &[], signals }
    }
}

/// Facts that a stage computes from the query and the files before it sees a score.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Signals {
    #[default]
    None,
    /// The same number of values for each file, one file after the other; `Input::add_signals` weighs them.
    PerFile(Vec<f32>),
    /// For each file the number of its group, below the number of files; `None` for a file without a group.
    Groups(Vec<Option<usize>>),
}

/// Input of a stage, besides the scores.
#[derive(Clone, Copy, Debug)]
pub struct StageInput<'a> {
    pub query: &'a Query,
    pub knobs: &'a Knobs,
    /// Candidates and files.
    pub retrieved: &'a Retrieved,
    pub signals: &'a Signals,
}

impl StageInput<'_> {
    /// Adds the weighted sum of its file's `N` signals to every candidate's score.
    ///
    /// # Panics
    /// When the signals are not [`Signals::PerFile`].
    pub(super) fn add_signals<const N: usize>(&self, fused: &mut Fused, weights: [f32; N]) {
        let Signals::PerFile(signals) = self.signals else { panic!("no signals of the files: {:?}", self.signals) };
        let boost = |file: &[f32]| file.iter().zip(weights).map(|(signal, weight)| weight * signal).sum();
        let boosts: Vec<f32> = signals.chunks_exact(N).map(boost).collect();
        fused.add_per_file(&self.retrieved.candidates, &boosts);
    }
}
