//! Retrieved once, ranked many times: the candidates of every query, and what a setting of the stages makes of them.

use std::collections::HashSet;

use anyhow::Result;
use colgrep_core::fuse::{self, Fusion};
use colgrep_core::knob::{Knob, Knobs};
use colgrep_core::query::Query;
use colgrep_core::rank::{self, Candidate, Pool, STAGES, Stage};
use rayon::prelude::*;

use crate::corpus::Corpus;
use crate::metric::{self, DEPTH};

fn is_of_fusion(name: &str) -> bool {
    fuse::KNOBS.iter().any(|k| k.env == name)
}

/// Whether a knob acts before the pool is made, so that another value needs another retrieval: neither the fusion nor
/// a stage reads it.
pub fn is_of_retrieval(knob: &Knob) -> bool {
    !is_of_fusion(knob.env) && !STAGES.iter().any(|s| s.knobs.iter().any(|k| k.env == knob.env))
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
    pool: Pool,
    /// Candidates and the files' bases behind the fusion and the first stages, see [`Pools::rank`].
    halfway: (Vec<Candidate>, Vec<f32>),
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
                Ok(Retrieved { query, pool, halfway: Default::default(), targets_of, targets })
            })
            .collect();
        Ok(Pools { queries: all?, halfway: None })
    }

    /// NDCG@10 of every query under `knobs`, on all cores. Only the knobs of the fusion and the stages count here.
    ///
    /// The fusion and the first `kept` stages are run once and their outcome is used again as long as none of their knobs changes:
    /// settings that differ in late stages alone cost little if they come one after another.
    pub fn rank(&mut self, knobs: &Knobs, kept: usize) -> Vec<f64> {
        let (first, last) = STAGES.split_at(kept.min(STAGES.len()));
        let read = || first.iter().flat_map(|s| s.knobs).chain(fuse::KNOBS);
        let same = |a: &Knobs, b: &Knobs| read().all(|k| a.exact(k) == b.exact(k));
        let anew = !self.halfway.as_ref().is_some_and(|(count, of)| *count == first.len() && same(of, knobs));
        if anew {
            self.halfway = Some((first.len(), knobs.clone()));
        }
        let rank = |r: &mut Retrieved| {
            if anew {
                r.run_first(first, knobs);
            }
            r.rank(last, knobs)
        };
        self.queries.par_iter_mut().map(rank).collect()
    }

    /// Names of the stages that change the score of any candidate under `knobs`.
    pub fn active_stages(&mut self, knobs: &Knobs) -> HashSet<&'static str> {
        let of_one = |r: &mut Retrieved| {
            r.fuse(knobs);
            let mut active = HashSet::new();
            let scores = |pool: &Pool| {
                let mut all: Vec<(u64, u32)> = pool.candidates.iter().map(|c| (c.unit, c.score.to_bits())).collect();
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
    /// Begins anew: fusion and stages change scores, the candidates' order and the files' base, nothing else.
    fn fuse(&mut self, knobs: &Knobs) {
        self.pool.fuse(Fusion::MinMax, knobs);
        for file in &mut self.pool.files {
            file.base = 0.0;
        }
    }

    fn run_first(&mut self, first: &[Stage], knobs: &Knobs) {
        self.fuse(knobs);
        if !first.is_empty() {
            rank::run_stages(first, &self.query, knobs, &mut self.pool, None);
        }
        self.halfway.0.clone_from(&self.pool.candidates);
        self.halfway.1 = self.pool.files.iter().map(|f| f.base).collect();
    }

    fn rank(&mut self, last: &[Stage], knobs: &Knobs) -> f64 {
        self.pool.candidates.clone_from(&self.halfway.0);
        for (file, base) in self.pool.files.iter_mut().zip(&self.halfway.1) {
            file.base = *base;
        }
        rank::run_stages(last, &self.query, knobs, &mut self.pool, None);
        // As `collapse` does it, without building the answer: the first ten distinct files.
        let mut ranks = vec![None; self.targets];
        let mut seen = [usize::MAX; DEPTH];
        let mut count = 0;
        for candidate in &self.pool.candidates {
            if seen[..count].contains(&candidate.file) {
                continue;
            }
            seen[count] = candidate.file;
            count += 1;
            for &target in &self.targets_of[candidate.file] {
                ranks[target].get_or_insert(count);
            }
            if count == DEPTH {
                break;
            }
        }
        metric::ndcg(&ranks, DEPTH)
    }
}
