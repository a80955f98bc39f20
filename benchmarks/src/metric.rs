//! How good a ranking of files is: one query's metrics, with their sources.
//!
//! Gains are binary. A target counts at the rank of the first distinct file that equals it or ends with it; two targets
//! that the same file answers share one rank, as in the public benchmark's scorer.

use serde::{Deserialize, Serialize};

/// Files that NDCG, MRR and the smaller recall look at.
pub const DEPTH: usize = 10;
/// Files that the larger recall looks at.
pub const DEPTH_LARGE: usize = 30;
/// Files that the smallest recall looks at.
pub const DEPTH_SMALL: usize = 5;
/// Units after the fusion that the recall of the pool looks at.
pub const DEPTH_POOL: usize = 200;

/// Whether a found path answers a target: they are equal, or one is the other's end at a folder boundary.
pub fn matches(found: &str, target: &str) -> bool {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    found == target || ends(found, target) || ends(target, found)
}

/// The rank (from 1) of the first file that answers each target, in the targets' order.
pub fn ranks(files: &[String], targets: &[String]) -> Vec<Option<usize>> {
    targets.iter().map(|t| files.iter().position(|f| matches(f, t)).map(|i| i + 1)).collect()
}

/// Normalised discounted cumulative gain over the first `k` files, `Σ 1/log2(rank + 1)` over the distinct ranks of
/// targets, divided by the same sum for an ideal answer; 0 without targets.
///
/// K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (ACM TOIS 20(4), 2002), with the
/// discount `log2(rank + 1)` of C. Burges et al., "Learning to Rank using Gradient Descent" (ICML 2005).
pub fn ndcg(ranks: &[Option<usize>], k: usize) -> f64 {
    let discount = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
    let mut hit: Vec<usize> = ranks.iter().flatten().copied().filter(|r| *r <= k).collect();
    hit.sort_unstable();
    hit.dedup();
    let ideal: f64 = (1..=k.min(ranks.len())).map(discount).sum();
    if ideal > 0.0 { hit.into_iter().map(discount).sum::<f64>() / ideal } else { 0.0 }
}

/// One over the rank of the first target among the first `k` files; 0 where none is.
///
/// E. Voorhees, "The TREC-8 Question Answering Track Report" (1999).
pub fn reciprocal_rank(ranks: &[Option<usize>], k: usize) -> f64 {
    first(ranks).filter(|r| *r <= k).map_or(0.0, |r| 1.0 / r as f64)
}

/// Share of the targets that are among the first `k` files; 0 without targets.
pub fn recall(ranks: &[Option<usize>], k: usize) -> f64 {
    let found = ranks.iter().flatten().filter(|r| **r <= k).count();
    if ranks.is_empty() { 0.0 } else { found as f64 / ranks.len() as f64 }
}

/// The rank of the first target found.
pub fn first(ranks: &[Option<usize>]) -> Option<usize> {
    ranks.iter().flatten().min().copied()
}

/// The metrics of one query, or their means over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryMetrics {
    pub queries: usize,
    /// Normalised discounted cumulative gain over 10 files.
    pub ndcg_10: f64,
    /// Reciprocal rank of the first target among 10 files.
    pub mrr_10: f64,
    /// Share of the targets among 5 files.
    #[serde(default)]
    pub recall_5: f64,
    /// Share of the targets among 10 files.
    pub recall_10: f64,
    /// Share of the targets among 30 files.
    pub recall_30: f64,
    /// Share of the targets among the files of the best 200 units after the fusion, before any stage: it doesn't depend
    /// on the number of files asked for.
    #[serde(default)]
    pub recall_200: f64,
    /// Whether the first file is a target.
    pub success_1: f64,
    /// Tokens shown before the first target: bytes/4 of the best units of the files ranked before it (of all 10
    /// where none of them is a target).
    pub tokens: f64,
}

impl QueryMetrics {
    /// The metrics of one query from the ranks of its targets in an answer of 10 files and in one of 30, and the share
    /// of them in the pool.
    pub fn of(ranks: &[Option<usize>], ranks_large: &[Option<usize>], pool: f64, tokens: f64) -> QueryMetrics {
        QueryMetrics {
            queries: 1,
            ndcg_10: ndcg(ranks, DEPTH),
            mrr_10: reciprocal_rank(ranks, DEPTH),
            recall_5: recall(ranks, DEPTH_SMALL),
            recall_10: recall(ranks, DEPTH),
            recall_30: recall(ranks_large, DEPTH_LARGE),
            recall_200: pool,
            success_1: reciprocal_rank(ranks, 1),
            tokens,
        }
    }

    /// The means over queries.
    pub fn mean<'a>(all: impl IntoIterator<Item = &'a QueryMetrics>) -> QueryMetrics {
        let mut sum = QueryMetrics::default();
        for one in all {
            sum.queries += one.queries;
            sum.ndcg_10 += one.ndcg_10;
            sum.mrr_10 += one.mrr_10;
            sum.recall_5 += one.recall_5;
            sum.recall_10 += one.recall_10;
            sum.recall_30 += one.recall_30;
            sum.recall_200 += one.recall_200;
            sum.success_1 += one.success_1;
            sum.tokens += one.tokens;
        }
        let n = sum.queries.max(1) as f64;
        QueryMetrics {
            queries: sum.queries,
            ndcg_10: sum.ndcg_10 / n,
            mrr_10: sum.mrr_10 / n,
            recall_5: sum.recall_5 / n,
            recall_10: sum.recall_10 / n,
            recall_30: sum.recall_30 / n,
            recall_200: sum.recall_200 / n,
            success_1: sum.success_1 / n,
            tokens: sum.tokens / n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &str, targets: &str, expected: f64) {
        let split = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        let got = ndcg(&ranks(&split(files), &split(targets)), DEPTH);
        assert!((got - expected).abs() < 5e-5, "{files} for {targets}: {got}, expected {expected}");
    }

    #[test]
    fn ndcg_by_hand() {
        check("/r/a /r/b /r/c", "a", 1.0);
        check("/r/a /r/b /r/c", "b", 0.6309); // 1/log2(3)
        check("/r/a /r/b /r/c", "c", 0.5); // 1/log2(4)
        check("/r/a /r/b /r/c", "a c", 0.9197); // (1 + 0.5) / (1 + 0.6309)
        check("/r/a /r/b /r/c", "x", 0.0);
        check("/r/a /r/b", "", 0.0);
        check("", "a", 0.0);
        check("1 2 3 4 5 6 7 8 9 10 a", "a", 0.0); // the eleventh does not count
    }

    #[test]
    fn targets_are_matched_at_folder_boundaries_and_share_ranks() {
        check("/r/src/a.rs", "src/a.rs", 1.0);
        check("/r/src/a.rs", "c/a.rs", 0.0);
        check("/r/src/ba.rs", "a.rs", 0.0);
        check("a.rs", "/r/a.rs", 1.0);
        check("/r/x/a.rs /r/y/a.rs", "a.rs x/a.rs", 0.6131); // one rank for both: 1 / (1 + 0.6309)
    }

    #[test]
    fn the_other_metrics_by_hand() {
        let files: Vec<String> = (1..=30).map(|i| i.to_string()).collect();
        let targets = ["3", "12", "31"].map(String::from);
        let (ten, thirty) = (ranks(&files[..10], &targets), ranks(&files, &targets));
        let got = QueryMetrics::of(&ten, &thirty, 0.5, 7.0);
        assert_eq!((got.recall_5, got.recall_200), (1.0 / 3.0, 0.5));
        assert!((got.mrr_10 - 1.0 / 3.0).abs() < 1e-9 && (got.recall_10 - 1.0 / 3.0).abs() < 1e-9);
        assert!((got.recall_30 - 2.0 / 3.0).abs() < 1e-9 && got.success_1 == 0.0 && got.tokens == 7.0);
        let none = QueryMetrics::of(&[None], &[None], 0.0, 1.0);
        let mean = QueryMetrics::mean([&got, &none]);
        assert!((mean.mrr_10 - 1.0 / 6.0).abs() < 1e-9 && mean.queries == 2 && mean.tokens == 4.0);
    }
}
