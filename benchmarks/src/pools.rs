//! Retrieved once, ranked many times: the candidates of every query, and what a setting of the stages makes of them.

use std::collections::HashSet;

use anyhow::Result;
use colgrep_core::UnitId;
use colgrep_core::collapse::first_files;
use colgrep_core::fuse::{self, Fusion};
use colgrep_core::knob::{Knob, Knobs};
use colgrep_core::query::Query;
use colgrep_core::rank::{self, Pool, STAGES, Stage};
use rayon::prelude::*;

use crate::corpus::Corpus;
use crate::metric::{self, DEPTH};

fn is_of_fusion(name: &str) -> bool {
    fuse::KNOBS.iter().any(|k| k.env == name)
}

/// Whether a knob acts before the pool is made, so that another value needs another retrieval: neither the fusion nor
/// a stage reads it, or the retrieval does too.
pub fn is_of_retrieval(knob: &Knob) -> bool {
    let is_of_both = fuse::TRUST_KNOBS.iter().any(|k| k.env == knob.env);
    is_of_both || !is_of_fusion(knob.env) && !STAGES.iter().any(|s| s.knobs.iter().any(|k| k.env == knob.env))
}

/// The first stage that reads a knob, or the first of all where the fusion does; the number of stages where none does.
pub fn first_stage(name: &str) -> usize {
    if is_of_fusion(name) {
        return 0;
    }
    let reads = |s: &Stage| s.knobs.iter().any(|k| k.env == name);
    STAGES.iter().position(reads).unwrap_or(STAGES.len())
}

/// One query's candidates and which of its files are right.
#[derive(Debug)]
struct Retrieved {
    query: Query,
    fusion: Fusion,
    pool: Pool,
    /// The candidates' scores and the files' bases behind the fusion and the first stages, see [`Pools::rank`].
    halfway: (Vec<f32>, Vec<f32>),
    /// The targets that each file of the pool answers.
    targets_of: Vec<Vec<usize>>,
    targets: usize,
}

/// The candidates of every query of a corpus.
#[derive(Debug)]
pub struct Pools {
    queries: Vec<Retrieved>,
    /// How many stages [`Retrieved::halfway`] has behind it, and under which knobs.
    halfway: Option<(usize, Knobs)>,
}

impl Pools {
    /// Retrieves for every query, on all cores.
    ///
    /// # Errors
    /// When an index can't be read.
    pub fn retrieve(corpus: &Corpus, knobs: &Knobs) -> Result<Pools> {
        let all: Result<Vec<Retrieved>> = corpus
            .tasks
            .par_iter()
            .map(|task| {
                let repository = &corpus.repositories[task.repository];
                let (query, pool) = repository.retrieve(&task.query, knobs, DEPTH)?;
                let right = |path: &str| {
                    let path = repository.absolute(path);
                    let answers = |(_, t): &(usize, &String)| metric::matches(&path, t);
                    task.targets.iter().enumerate().filter(answers).map(|(i, _)| i).collect()
                };
                let targets_of = pool.files.iter().map(|f| right(&f.path)).collect();
                let targets = task.targets.len();
                Ok(Retrieved {
                    query,
                    fusion: repository.fusion,
                    pool,
                    halfway: Default::default(),
                    targets_of,
                    targets,
                })
            })
            .collect();
        Ok(Pools { queries: all?, halfway: None })
    }

    /// NDCG@10 of every query under `knobs`, on all cores. Only the knobs of the fusion and the stages count here.
    ///
    /// What the fusion and the first `kept` stages give is kept, and used again as long as none of their knobs
    /// changes: settings that differ in late stages alone cost little if they come one after another, and going from
    /// stage to stage costs each but once.
    pub fn rank(&mut self, knobs: &Knobs, kept: usize) -> Vec<f64> {
        let kept = kept.min(STAGES.len());
        let read = |count: usize| STAGES[..count].iter().flat_map(|s| s.knobs).chain(fuse::KNOBS);
        let same = |count: usize, of: &Knobs| read(count).all(|k| of.exact(k) == knobs.exact(k));
        let known = self.halfway.as_ref().filter(|(count, of)| *count <= kept && same(*count, of)).map(|(n, _)| *n);
        if known != Some(kept) {
            self.halfway = Some((kept, knobs.clone()));
        }
        self.queries.par_iter_mut().map(|r| r.rank(knobs, known, kept)).collect()
    }

    /// Names of the stages that change the score of any candidate under `knobs`.
    pub fn active_stages(&mut self, knobs: &Knobs) -> HashSet<&'static str> {
        self.halfway = None;
        let of_one = |r: &mut Retrieved| {
            r.pool.fuse(r.fusion, knobs);
            let mut active = HashSet::new();
            let scores = |pool: &Pool| {
                let mut all: Vec<(UnitId, u32)> = pool.candidates.iter().map(|c| (c.unit, c.score.to_bits())).collect();
                all.sort_unstable();
                all
            };
            let mut before = scores(&r.pool);
            let mut observer = |step: &'static str, pool: &Pool| {
                let after = scores(pool);
                if after != before {
                    active.insert(step);
                }
                before = after;
            };
            rank::run(&r.query, knobs, &mut r.pool, Some(&mut observer));
            active
        };
        let all: Vec<HashSet<&'static str>> = self.queries.par_iter_mut().map(of_one).collect();
        all.into_iter().flatten().collect()
    }
}

impl Retrieved {
    /// NDCG@10 under `knobs`. `known`: how many stages are behind what was kept, if that is of use; `kept`: how many
    /// are to be behind it.
    fn rank(&mut self, knobs: &Knobs, known: Option<usize>, kept: usize) -> f64 {
        match known {
            Some(_) => self.put_back(),
            None => self.pool.fuse_in_place(self.fusion, knobs),
        }
        let (first, last) = STAGES.split_at(kept);
        for stage in &first[known.unwrap_or(0)..] {
            rank::apply(stage, &self.query, knobs, &mut self.pool);
        }
        if known != Some(kept) {
            self.keep();
        }
        for stage in last {
            rank::apply(stage, &self.query, knobs, &mut self.pool);
        }
        let mut ranks = vec![None; self.targets];
        for (i, file) in first_files(&self.pool, DEPTH).into_iter().enumerate() {
            for &target in &self.targets_of[file] {
                ranks[target].get_or_insert(i + 1);
            }
        }
        metric::ndcg(&ranks, DEPTH)
    }

    fn keep(&mut self) {
        let (scores, bases) = &mut self.halfway;
        scores.clear();
        scores.extend(self.pool.candidates.iter().map(|c| c.score));
        bases.clear();
        bases.extend(self.pool.files.iter().map(|f| f.base));
    }

    fn put_back(&mut self) {
        for (candidate, score) in self.pool.candidates.iter_mut().zip(&self.halfway.0) {
            candidate.score = *score;
        }
        for (file, base) in self.pool.files.iter_mut().zip(&self.halfway.1) {
            file.base = *base;
        }
    }
}
