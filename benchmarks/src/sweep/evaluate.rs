//! Measuring settings, those that share a retrieval one after another.

use anyhow::Result;
use colgrep_core::rank::STAGES;
use indicatif::ProgressBar;

use super::{ScoreStore, Setting, knob, knobs_of};
use crate::corpus::BenchCorpus;
use crate::pools::{Pools, first_stage, is_of_retrieval};
use crate::report::bar;

/// Measures settings, each once.
pub struct Evaluator<'c> {
    pub(super) corpus: &'c BenchCorpus,
    store: ScoreStore,
    /// The candidates in memory, and the retrieval setting they were made with.
    pools: Option<(Setting, Pools)>,
    /// Settings measured here (and not known before).
    pub done: usize,
    pub retrievals: usize,
}

impl<'c> Evaluator<'c> {
    /// A searcher over a corpus, with scores known from before.
    pub fn new(corpus: &'c BenchCorpus, store: ScoreStore) -> Evaluator<'c> {
        Evaluator { corpus, store, pools: None, done: 0, retrievals: 0 }
    }

    /// The scores of a setting that was measured.
    ///
    /// # Panics
    /// When it was not.
    pub fn known(&self, setting: &Setting) -> &[f64] {
        self.store.get(setting).expect("measured before it is judged")
    }

    /// Measures the baseline and all of `settings`, those that share a retrieval one after another.
    pub fn all(&mut self, settings: &[Setting]) -> Result<()> {
        let baseline = [Setting::default()];
        let mut open: Vec<&Setting> = baseline.iter().chain(settings).filter(|s| self.store.get(s).is_none()).collect();
        // Those that differ in the last stage reached alone come one after another, and share what goes before it
        // (see `Pools::rank`), unless too few do.
        let last = open.iter().flat_map(|s| s.0.keys()).map(|n| first_stage_of(n)).max().unwrap_or(0);
        let shared = |s: &Setting| -> (String, String) {
            let early = s.0.iter().filter(|(n, _)| first_stage_of(n) < last).map(|(n, v)| format!("{n}={v} "));
            (of_retrieval(s).text(), early.collect())
        };
        open.sort_by_cached_key(|s| shared(s));
        let groups = open.chunk_by(|a, b| shared(a) == shared(b)).count();
        let kept = if groups * 2 <= open.len() { last } else { 0 };
        let bar = bar(open.len() as u64, "settings");
        for setting in open {
            self.one(setting, kept, &bar)?;
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Measures one setting; the first `kept` stages are likely to be needed again under the same knobs.
    pub(super) fn one(&mut self, setting: &Setting, kept: usize, bar: &ProgressBar) -> Result<()> {
        if self.store.get(setting).is_none() {
            self.measure(setting, kept, bar)?;
        }
        bar.inc(1);
        Ok(())
    }

    fn measure(&mut self, setting: &Setting, kept: usize, bar: &ProgressBar) -> Result<()> {
        let knobs = knobs_of(self.corpus, setting)?;
        let retrieval = of_retrieval(setting);
        if self.pools.as_ref().is_none_or(|(of, _)| *of != retrieval) {
            // Drop the old candidates first: they take most of this program's memory.
            self.pools = None;
            let what = bar.message();
            bar.set_message("retrieving,");
            self.pools = Some((retrieval, Pools::retrieve(self.corpus, &knobs)?));
            bar.set_message(what);
            self.retrievals += 1;
            if self.retrievals == 1 {
                // Estimate the remaining time from settings; most of them retrieve nothing.
                bar.reset_eta();
            }
        }
        if let Some((_, pools)) = &mut self.pools {
            let scores = pools.rank(&knobs, kept);
            self.store.add(setting, scores)?;
            self.done += 1;
        }
        Ok(())
    }
}

/// The first stage that reads the knob of a setting, as [`first_stage`].
fn first_stage_of(name: &str) -> usize {
    knob(name).map_or(STAGES.len(), first_stage)
}

/// The part of a setting that retrieval reads.
fn of_retrieval(setting: &Setting) -> Setting {
    let reads = |name: &str| knob(name).is_ok_and(is_of_retrieval);
    Setting(setting.0.iter().filter(|(name, _)| reads(name)).map(|(n, v)| (n.clone(), *v)).collect())
}
