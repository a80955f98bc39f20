//! Retrieved once, ranked many times: the candidates of every query, and what a setting of the stages makes of them.

use std::collections::HashSet;

use anyhow::Result;
use colgrep_core::knob::{Knob, Knobs};
use colgrep_core::query::Query;
use colgrep_core::rank::{self, Candidate, Pool, STAGES};
use rayon::prelude::*;

use crate::corpus::Corpus;
use crate::metric::{self, DEPTH};

/// Whether a knob acts before the pool is made, so that another value needs another retrieval: no stage reads it.
pub fn is_of_retrieval(knob: &Knob) -> bool {
    !STAGES.iter().any(|s| s.knobs.iter().any(|k| k.env == knob.env))
}

/// One query's candidates, as retrieval left them, and which of its files are right.
#[derive(Debug)]
struct Retrieved {
    query: Query,
    pool: Pool,
    candidates: Vec<Candidate>,
    /// The targets that each file of the pool answers.
    targets_of: Vec<Vec<usize>>,
    targets: usize,
}

/// The candidates of every query of a corpus.
#[derive(Debug)]
pub struct Pools(Vec<Retrieved>);

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
                let candidates = pool.candidates.clone();
                Ok(Retrieved { query, pool, candidates, targets_of, targets: task.targets.len() })
            })
            .collect();
        Ok(Pools(all?))
    }

    /// NDCG@10 of every query under `knobs`, on all cores. Only the stages' knobs count here.
    pub fn rank(&mut self, knobs: &Knobs) -> Vec<f64> {
        self.0.par_iter_mut().map(|r| r.rank(knobs)).collect()
    }

    /// Names of the stages that change the score of any candidate under `knobs`.
    pub fn active_stages(&mut self, knobs: &Knobs) -> HashSet<&'static str> {
        let of_one = |r: &mut Retrieved| {
            r.restore();
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
        let all: Vec<HashSet<&'static str>> = self.0.par_iter_mut().map(of_one).collect();
        all.into_iter().flatten().collect()
    }
}

impl Retrieved {
    /// Undoes what the stages did: they change scores, the candidates' order and the files' base, nothing else.
    fn restore(&mut self) {
        self.pool.candidates.clone_from(&self.candidates);
        for file in &mut self.pool.files {
            file.base = 0.0;
        }
    }

    fn rank(&mut self, knobs: &Knobs) -> f64 {
        self.restore();
        rank::run(&self.query, knobs, &mut self.pool, None);
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
