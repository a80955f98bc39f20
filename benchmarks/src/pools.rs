//! Retrieved once, ranked many times: the candidates of every query, and what a setting of the stages makes of them.

use std::collections::HashSet;

use anyhow::Result;
use colgrep_core::collapse::first_files;
use colgrep_core::fuse::{self, Fusion};
use colgrep_core::knob::{Knob, Knobs};
use colgrep_core::query::Query;
use colgrep_core::rank::{self, Fused, Ranked, Retrieved, STAGES, Signals, StageInput};
use colgrep_search::Retrieval;
use rayon::prelude::*;

use crate::corpus::BenchCorpus;
use crate::metric::{self, DEPTH};

/// Whether a knob acts before the candidates are there, so that another value needs another retrieval: neither the
/// fusion nor a stage reads it, or the retrieval does too.
pub fn is_of_retrieval(knob: Knob) -> bool {
    let is_of_ranking = fuse::KNOBS.contains(&knob) || STAGES.iter().any(|s| s.knobs.contains(&knob));
    // The retrieval fuses to find which candidates `order` compares; those get full semantic scores.
    let of_both = [Knob::OrderShare, Knob::HistoryBoost, Knob::LongPath, Knob::LongTitle];
    let is_of_both = fuse::KNOBS.contains(&knob) || of_both.contains(&knob);
    is_of_both || !is_of_ranking
}

/// The first stage that reads a knob, or the first of all where the fusion does; the number of stages where none does.
pub fn first_stage(knob: Knob) -> usize {
    if fuse::KNOBS.contains(&knob) {
        return 0;
    }
    STAGES.iter().position(|s| s.knobs.contains(&knob)).unwrap_or(STAGES.len())
}

/// One query's candidates and which of its files are right.
#[derive(Debug)]
struct PooledTask {
    query: Query,
    fusion: Fusion,
    retrieved: Retrieved,
    /// What each stage worked out beforehand, for each of [`Pools::prepared`].
    signals: Vec<Vec<Signals>>,
    /// The scores after the fusion and the first stages, see [`Pools::rank`].
    halfway: Fused,
    /// Room for the scores of a setting.
    fused: Fused,
    /// The targets that each of the files answers.
    targets_of: Vec<Vec<usize>>,
    targets: usize,
}

/// The candidates of every query of a corpus.
#[derive(Debug)]
pub struct Pools {
    tasks: Vec<PooledTask>,
    /// For each stage, the values of its [`Prepare`](rank::Prepare) knobs that it worked signals out under.
    prepared: Vec<Vec<Vec<f64>>>,
    /// How many stages [`PooledTask::halfway`] includes, and under which knobs.
    halfway: Option<(usize, Knobs)>,
}

impl Pools {
    /// Retrieves for every query, on all cores.
    pub fn retrieve(corpus: &BenchCorpus, knobs: &Knobs) -> Result<Pools> {
        let all: Result<Vec<PooledTask>> = corpus
            .tasks
            .par_iter()
            .map(|task| {
                let repository = &corpus.repositories[task.repository];
                let Retrieval { query, retrieved, .. } = repository.retrieve(task, knobs, DEPTH)?;
                let right = |path: &str| {
                    let path = repository.absolute(path);
                    let answers = |(_, t): &(usize, &String)| metric::matches(&path, t);
                    task.targets.iter().enumerate().filter(answers).map(|(i, _)| i).collect()
                };
                Ok(PooledTask {
                    query,
                    fusion: repository.fusion,
                    signals: vec![Vec::new(); STAGES.len()],
                    halfway: Fused::default(),
                    fused: Fused::default(),
                    targets_of: retrieved.files.iter().map(|f| right(&f.path)).collect(),
                    targets: task.targets.len(),
                    retrieved,
                })
            })
            .collect();
        Ok(Pools { tasks: all?, prepared: vec![Vec::new(); STAGES.len()], halfway: None })
    }

    /// NDCG@10 of every query under `knobs`, on all cores. Only the knobs of the fusion and the stages count here.
    ///
    /// What the fusion and the first `kept` stages give is kept, and used again as long as none of their knobs
    /// changes: settings that differ in late stages alone cost little if they come one after another, and going from
    /// stage to stage costs each but once.
    pub fn rank(&mut self, knobs: &Knobs, kept: usize) -> Vec<f64> {
        let kept = kept.min(STAGES.len());
        let variants = self.prepare(knobs);
        let read = |count: usize| STAGES[..count].iter().flat_map(|s| s.knobs).chain(fuse::KNOBS);
        let same = |count: usize, of: &Knobs| read(count).all(|k| of.number(*k) == knobs.number(*k));
        let known = self.halfway.as_ref().filter(|(count, of)| *count <= kept && same(*count, of)).map(|(n, _)| *n);
        if known != Some(kept) {
            self.halfway = Some((kept, knobs.clone()));
        }
        self.tasks.par_iter_mut().map(|task| task.rank(knobs, &variants, known, kept)).collect()
    }

    /// Works out the signals that are not there yet for `knobs`, and gives the number of each stage's.
    fn prepare(&mut self, knobs: &Knobs) -> Vec<usize> {
        let mut variants = Vec::with_capacity(STAGES.len());
        for (i, stage) in STAGES.iter().enumerate() {
            let values: Vec<f64> = stage.prepare.knobs.iter().map(|k| knobs.number(*k)).collect();
            let known = self.prepared[i].iter().position(|v| *v == values);
            variants.push(known.unwrap_or(self.prepared[i].len()));
            if known.is_none() {
                self.prepared[i].push(values);
                self.tasks.par_iter_mut().for_each(|task| task.prepare(i, knobs));
            }
        }
        variants
    }

    /// Names of the stages that change the score of any candidate under `knobs`.
    pub fn active_stages(&self, knobs: &Knobs) -> HashSet<&'static str> {
        let all: Vec<HashSet<&'static str>> = self.tasks.par_iter().map(|task| task.active_stages(knobs)).collect();
        all.into_iter().flatten().collect()
    }
}

impl PooledTask {
    /// Works out the signals of a stage under further values of its knobs.
    fn prepare(&mut self, stage: usize, knobs: &Knobs) {
        self.signals[stage].push((STAGES[stage].prepare.signals)(&self.query, knobs, &self.retrieved));
    }

    /// NDCG@10 under `knobs`. `variants`: which of its signals each stage takes; `known`: the number of stages already
    /// applied to the kept scores, if they can be reused; `kept`: the number of stages after which scores are kept.
    fn rank(&mut self, knobs: &Knobs, variants: &[usize], known: Option<usize>, kept: usize) -> f64 {
        match known {
            Some(_) => copy(&self.halfway, &mut self.fused),
            None => self.fused = Fused::new(&self.retrieved, self.fusion, knobs),
        }
        for (i, variant) in variants.iter().enumerate().take(kept).skip(known.unwrap_or(0)) {
            self.apply(i, *variant, knobs);
        }
        if known != Some(kept) {
            copy(&self.fused, &mut self.halfway);
        }
        for (i, variant) in variants.iter().enumerate().skip(kept) {
            self.apply(i, *variant, knobs);
        }
        let mut ranks = vec![None; self.targets];
        for (i, file) in first_files(&self.retrieved, &self.fused, DEPTH).into_iter().enumerate() {
            for &target in &self.targets_of[file] {
                ranks[target].get_or_insert(i + 1);
            }
        }
        metric::ndcg(&ranks, DEPTH)
    }

    fn apply(&mut self, stage: usize, variant: usize, knobs: &Knobs) {
        let signals = &self.signals[stage][variant];
        let input = StageInput { query: &self.query, knobs, retrieved: &self.retrieved, signals };
        rank::apply(&STAGES[stage], &input, &mut self.fused);
    }

    fn active_stages(&self, knobs: &Knobs) -> HashSet<&'static str> {
        let scores = |ranked: &Ranked<'_>| {
            let mut all: Vec<_> = ranked.units.iter().map(|u| (u.unit, u.score.to_bits())).collect();
            all.sort_unstable();
            all
        };
        let fused = Fused::new(&self.retrieved, self.fusion, knobs);
        let mut before = scores(&Ranked::new(&self.retrieved, &fused));
        let mut active = HashSet::new();
        let mut observer = |step: &'static str, ranked: &Ranked<'_>| {
            let after = scores(ranked);
            if after != before {
                active.insert(step);
            }
            before = after;
        };
        rank::run(&self.query, knobs, &self.retrieved, fused, Some(&mut observer));
        active
    }
}

/// Copies scores into room that is there already.
fn copy(from: &Fused, to: &mut Fused) {
    to.scores.clone_from(&from.scores);
    to.ties.clone_from(&from.ties);
    to.file_scores.clone_from(&from.file_scores);
    to.doubt = from.doubt;
}
