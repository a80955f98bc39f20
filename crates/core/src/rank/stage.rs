//! What a stage is, and what it sees.

use super::fused::Fused;
use super::retrieved::Retrieved;
use crate::knob::{Knob, Knobs};
use crate::query::Query;

/// One step of the ranking.
pub struct Stage {
    /// Its name; the trace shows the ranking behind it as `after_<name>`.
    pub name: &'static str,
    /// What it does and why, in a sentence.
    pub doc: &'static str,
    /// Where the idea comes from.
    pub source: &'static str,
    /// The knobs it reads.
    pub knobs: &'static [Knob],
    /// If true, the runner scales this stage's boost by `1 - doubt`. Where the query's words are doubted, the order is
    /// one of meaning, whose scores lie close together: a boost by words would mislead, and any other decide alone.
    pub doubted: bool,
    /// What it works out beforehand.
    pub prepare: Prepare,
    /// Changes the scores. It may not sort, trace or check them: that is the runner's.
    pub apply: fn(&Input<'_>, &mut Fused),
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stage({})", self.name)
    }
}

/// How a stage works out its signals. They depend on no score and on few knobs or none, so that a sweep, which ranks one
/// retrieval under thousands of settings, keeps them.
#[derive(Clone, Copy, Debug)]
pub struct Prepare {
    /// The knobs that `signals` reads.
    pub knobs: &'static [Knob],
    /// Works the signals out.
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

/// What a stage knows of a query and the files before it looks at a score.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Signals {
    /// Nothing.
    #[default]
    None,
    /// Equally many numbers a file, those of the first file first; `Input::add_signals` weighs them.
    PerFile(Vec<f32>),
    /// For each file, the number of the group of files it belongs to, below the number of files; or none.
    Groups(Vec<Option<usize>>),
}

/// What a stage sees besides the scores.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The query.
    pub query: &'a Query,
    /// The knobs.
    pub knobs: &'a Knobs,
    /// Candidates and files.
    pub retrieved: &'a Retrieved,
    /// What the stage worked out beforehand.
    pub signals: &'a Signals,
}

impl Input<'_> {
    /// Adds to every candidate what its file's `N` signals give together, each times its weight.
    ///
    /// # Panics
    /// When the stage has prepared no such signals.
    pub(super) fn add_signals<const N: usize>(&self, fused: &mut Fused, weights: [f32; N]) {
        let Signals::PerFile(signals) = self.signals else { panic!("no signals of the files: {:?}", self.signals) };
        let boost = |file: &[f32]| file.iter().zip(weights).map(|(signal, weight)| weight * signal).sum();
        let boosts: Vec<f32> = signals.chunks_exact(N).map(boost).collect();
        fused.add_per_file(&self.retrieved.candidates, &boosts);
    }
}
