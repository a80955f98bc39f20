//! `compare`: two records of the same queries, query by query.

mod regression;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::corpus::read_json;
use crate::metric::{DEPTH_SMALL, recall};
use crate::paired::{Paired, PairedDifference, of_equal_weight, randomisation_p};
use crate::report::{QueryRecord, RECORD_VERSION, Record, print};
use crate::{FINE, REGRESSION};

#[derive(Clone, Debug, clap::Args)]
pub struct CompareArgs {
    /// The record of before
    #[arg(value_name = "A.json")]
    pub old: PathBuf,
    /// The record of after
    #[arg(value_name = "B.json")]
    pub new: PathBuf,
    /// End with status 1 if the mean NDCG@10 changed by less than this (-0.002: fell by more than 0.002)
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = bound)]
    pub fail_below: Option<f64>,
    /// Regressions to name
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub worst: usize,
}

pub fn run(args: &CompareArgs) -> Result<u8> {
    let (old, new): (Record, Record) = (read_json(&args.old)?, read_json(&args.new)?);
    for (record, path) in [(&old, &args.old), (&new, &args.new)] {
        if record.version != RECORD_VERSION {
            bail!("{} has version {}, this program reads {RECORD_VERSION}", path.display(), record.version);
        }
    }
    let comparison = compare(&old, &new)?;
    print(&comparison.text(&old, &new, args.worst))?;
    let alone = comparison.only_old + comparison.only_new;
    if args.fail_below.is_some() && alone > 0 {
        bail!("--fail-below: {alone} queries are in one record alone, so the means say nothing; measure the same ones");
    }
    let fell = args.fail_below.is_some_and(|bound| comparison.paired.mean < bound);
    if fell {
        eprintln!("colgrep-bench: mean NDCG@10 changed by {:+.4}, beyond the bound", comparison.paired.mean);
    }
    Ok(if fell { REGRESSION } else { FINE })
}

fn bound(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|d: &f64| d.is_finite()).ok_or_else(|| format!("{text:?} is no number"))
}

/// Two records side by side.
struct Comparison<'r> {
    pairs: Vec<(&'r QueryRecord, &'r QueryRecord)>,
    differences: Vec<PairedDifference>,
    paired: Paired,
    only_old: usize,
    only_new: usize,
}

/// Pairs by set, repository and query; the n-th of equal ones with the n-th.
fn keyed(record: &Record) -> BTreeMap<(&str, &str, &str, usize), &QueryRecord> {
    let mut all = BTreeMap::new();
    for query in &record.queries {
        let at = |n| (query.set.as_str(), query.repository.as_str(), query.query.as_str(), n);
        let n = (0..).find(|n| !all.contains_key(&at(*n))).unwrap_or(0);
        all.insert(at(n), query);
    }
    all
}

fn compare<'r>(old: &'r Record, new: &'r Record) -> Result<Comparison<'r>> {
    let (old, new) = (keyed(old), keyed(new));
    let pairs: Vec<_> = old.iter().filter_map(|(key, a)| Some((*a, *new.get(key)?))).collect();
    if pairs.is_empty() {
        bail!("the records have no query in common");
    }
    let difference = |(a, b): &(&'r QueryRecord, &QueryRecord)| (&a.repository, b.metrics.ndcg_10 - a.metrics.ndcg_10);
    let differences = of_equal_weight(pairs.iter().map(difference));
    let paired = Paired::of(&differences);
    let (only_old, only_new) = (old.len() - pairs.len(), new.len() - pairs.len());
    Ok(Comparison { only_old, only_new, pairs, differences, paired })
}

impl Comparison<'_> {
    fn text(&self, old: &Record, new: &Record, worst: usize) -> String {
        let n = self.pairs.len() as f64;
        let mean = |side: fn(&(&QueryRecord, &QueryRecord)) -> f64| self.pairs.iter().map(side).sum::<f64>() / n;
        let mut text = format!("A  {}\nB  {}\n", old.title(), new.title());
        for (name, a) in &old.knobs {
            match new.knobs.get(name) {
                Some(b) if a == b => {}
                Some(b) => text += &format!("   {name}: {a} -> {b}\n"),
                None => text += &format!("   {name}: {a} -> gone\n"),
            }
        }
        for (name, b) in new.knobs.iter().filter(|(name, _)| !old.knobs.contains_key(*name)) {
            text += &format!("   {name}: new, {b}\n");
        }
        let paired = &self.paired;
        text += &format!(
            "\nNDCG@10 {:.4} -> {:.4} over {} queries\nrecall@5 {:.4} -> {:.4}\nrecall@10 {:.4} -> {:.4}\ndifference {} ({}; by queries ± {:.4}, by {} repositories ± {:.4}), p = {:.4} (randomisation)\n{} better, {} worse, {} the same\n",
            mean(|p| p.0.metrics.ndcg_10),
            mean(|p| p.1.metrics.ndcg_10),
            self.pairs.len(),
            mean(|p| recall(&p.0.ranks, DEPTH_SMALL)),
            mean(|p| recall(&p.1.ranks, DEPTH_SMALL)),
            mean(|p| p.0.metrics.recall_10),
            mean(|p| p.1.metrics.recall_10),
            paired.text(),
            paired.verdict(),
            paired.error_queries,
            paired.repositories,
            paired.error_repositories,
            randomisation_p(&self.differences),
            paired.wins,
            paired.losses,
            paired.ties
        );
        if self.only_old + self.only_new > 0 {
            text += &format!("{} queries are in A alone, {} in B alone\n", self.only_old, self.only_new);
        }
        let mut order: Vec<usize> = (0..self.pairs.len()).filter(|i| self.differences[*i].value < 0.0).collect();
        order.sort_by(|a, b| self.differences[*a].value.total_cmp(&self.differences[*b].value));
        if !order.is_empty() && worst > 0 {
            text += "\nworst regressions: ranks in A -> B, and what each step gave (* where A and B differ)\n";
        }
        for i in order.into_iter().take(worst) {
            let (a, b) = self.pairs[i];
            text += &format!("\n{:+.4}  {}  {:?}\n", self.differences[i].value, a.repository, a.query);
            text += &regression::text(a, &old.steps, b, &new.steps);
        }
        text
    }
}
