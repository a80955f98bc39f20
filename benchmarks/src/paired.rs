//! Paired comparison of two settings over the same queries: difference, standard errors, randomisation test.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Differences below this are ties: the records round to four digits.
pub const TIE: f64 = 5e-5;
/// A difference is called real where equals would seldom show one as large: two-sided, at most this share of the time.
const CHANCE_MAX: f64 = 0.05;
/// Least number of queries for a claim: the signs of five agree by chance once in sixteen times.
const QUERIES_MIN: usize = 6;
const SHUFFLES: u32 = 10_000;

/// One query's difference: its group (repository), its weight, the new score less the old.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDifference {
    /// The repository; queries of one are not independent.
    pub group: usize,
    /// The share of this query in the mean; the weights of all sum to 1.
    pub weight: f64,
    /// New score less old score.
    pub value: f64,
}

/// Differences of equal weight, each with its group.
pub fn of_equal_weight<G: Ord>(values: impl IntoIterator<Item = (G, f64)>) -> Vec<PairedDifference> {
    let (groups, values): (Vec<G>, Vec<f64>) = values.into_iter().unzip();
    let known: BTreeSet<&G> = groups.iter().collect();
    let numbers: BTreeMap<&G, usize> = known.into_iter().zip(0..).collect();
    let weight = 1.0 / values.len().max(1) as f64;
    groups.iter().zip(values).map(|(group, value)| PairedDifference { group: numbers[group], weight, value }).collect()
}

/// Summary of paired differences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Paired {
    /// The weighted mean of the differences.
    pub mean: f64,
    /// Its standard error if queries are independent.
    pub error_queries: f64,
    /// Its standard error if only repositories are (0 with a single one).
    pub error_repositories: f64,
    /// Queries that got better.
    pub wins: usize,
    /// Queries that got worse.
    pub losses: usize,
    /// Queries that stayed.
    pub ties: usize,
    pub repositories: usize,
}

impl Paired {
    /// Sums up differences.
    ///
    /// With weights w (Σ w = 1) and deviations e = d − mean, the variance of the mean is n/(n−1) · Σ (w·e)²; by
    /// repository, deviations are summed inside each before they are squared: A. C. Cameron, D. L. Miller, "A
    /// Practitioner's Guide to Cluster-Robust Inference" (Journal of Human Resources 50(2), 2015).
    pub fn of(differences: &[PairedDifference]) -> Paired {
        let mean: f64 = differences.iter().map(|d| d.weight * d.value).sum();
        let mut groups: BTreeMap<usize, f64> = BTreeMap::new();
        let mut squares = 0.0;
        for d in differences {
            let deviation = d.weight * (d.value - mean);
            squares += deviation * deviation;
            *groups.entry(d.group).or_default() += deviation;
        }
        let of_sample = |n: usize, squares: f64| if n > 1 { (squares * n as f64 / (n - 1) as f64).sqrt() } else { 0.0 };
        let count = |test: fn(f64) -> bool| differences.iter().filter(|d| test(d.value)).count();
        Paired {
            mean,
            error_queries: of_sample(differences.len(), squares),
            error_repositories: of_sample(groups.len(), groups.values().map(|s| s * s).sum()),
            wins: count(|v| v > TIE),
            losses: count(|v| v < -TIE),
            ties: count(|v| v.abs() <= TIE),
            repositories: groups.len(),
        }
    }

    /// Sums up differences of equal weight, each with its group.
    pub fn of_equals<G: Ord>(values: impl IntoIterator<Item = (G, f64)>) -> Paired {
        Paired::of(&of_equal_weight(values))
    }

    /// The larger of the two standard errors: the one that claims are made with.
    pub fn error(&self) -> f64 {
        self.error_queries.max(self.error_repositories)
    }

    /// The verdict: `better` or `worse` where a t test over the queries says so and, with several repositories, one
    /// over these too (about two standard errors with many of them, 4.3 with three); `same` where nothing moved; else
    /// `noise`.
    pub fn verdict(&self) -> &'static str {
        let queries = self.wins + self.losses + self.ties;
        let beyond = |n: usize, error: f64| n < 2 || self.mean.abs() >= quantile(n - 1) * error;
        match queries {
            _ if self.wins + self.losses == 0 => "same",
            n if n < QUERIES_MIN || !beyond(n, self.error_queries) => "noise",
            _ if !beyond(self.repositories, self.error_repositories) => "noise",
            _ if self.mean > 0.0 => "better",
            _ => "worse",
        }
    }

    /// The difference as `+0.0012 ± 0.0008`.
    pub fn text(&self) -> String {
        format!("{:+.4} ± {:.4}", self.mean, self.error())
    }

    /// The same with the verdict and the numbers of queries.
    pub fn sentence(&self) -> String {
        format!("{} ({}; {} better, {} worse)", self.text(), self.verdict(), self.wins, self.losses)
    }
}

/// Critical value of Student's t for [`CHANCE_MAX`], two-sided.
fn quantile(freedom: usize) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64);
    t.map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - CHANCE_MAX / 2.0))
}

/// Two-sided p of the mean difference: how often a mean at least as far from 0 comes about when each query's sign
/// is drawn by chance (10,000 draws, fixed seed).
///
/// M. Smucker, J. Allan, B. Carterette, "A Comparison of Statistical Significance Tests for Information Retrieval
/// Evaluation" (CIKM 2007) recommend this test.
pub fn randomisation_p(differences: &[PairedDifference]) -> f64 {
    let terms: Vec<f64> = differences.iter().map(|d| d.weight * d.value).filter(|t| *t != 0.0).collect();
    let seen = terms.iter().sum::<f64>().abs() - 1e-12;
    let mut rng = StdRng::seed_from_u64(1);
    let mut as_far = 0u32;
    for _ in 0..SHUFFLES {
        let sum: f64 = terms.iter().map(|t| if rng.random::<bool>() { *t } else { -*t }).sum();
        as_far += u32::from(sum.abs() >= seen);
    }
    f64::from(as_far + 1) / f64::from(SHUFFLES + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(values: &[(usize, f64)]) -> Vec<PairedDifference> {
        of_equal_weight(values.iter().copied())
    }

    #[test]
    fn errors_by_hand() {
        // Mean 0.2; deviations −.2 0 .2; sample deviation .2; error .2/√3.
        let paired = Paired::of(&differences(&[(0, 0.0), (1, 0.2), (2, 0.4)]));
        assert!((paired.mean - 0.2).abs() < 1e-12 && (paired.error_queries - 0.2 / 3f64.sqrt()).abs() < 1e-12);
        assert!((paired.error_repositories - paired.error_queries).abs() < 1e-12, "each its own repository");
        assert_eq!((paired.wins, paired.losses, paired.ties), (2, 0, 1));
    }

    #[test]
    fn agreement_inside_a_repository_is_no_evidence() {
        let one = Paired::of(&differences(&[(0, 0.3), (0, 0.3), (0, 0.3), (1, -0.1), (1, -0.1), (1, -0.1)]));
        assert!(one.error_repositories > 1.5 * one.error_queries, "{one:?}");
        assert_eq!(one.verdict(), "noise");
    }

    #[test]
    fn verdicts_need_evidence() {
        let check = |values: &[(usize, f64)], expected| {
            assert_eq!(Paired::of(&differences(values)).verdict(), expected, "{values:?}");
        };
        let of = |groups: usize, values: [f64; 6]| -> Vec<(usize, f64)> {
            values.iter().enumerate().map(|(i, v)| (i % groups, *v)).collect()
        };
        let same_sign = [0.1, 0.11, 0.09, 0.1, 0.11, 0.09];
        check(&[(0, 0.0), (1, 0.0)], "same");
        check(&of(6, same_sign), "better");
        check(&of(6, same_sign.map(|v| -v)), "worse");
        check(&of(1, same_sign), "better");
        check(&of(6, [0.3, 0.0, 0.0, 0.0, 0.0, 0.0]), "noise");
        // Few agree by chance.
        check(&[(0, 0.1)], "noise");
        check(&[(0, 0.1), (1, 0.1)], "noise");
        check(&[(0, 0.1), (1, 0.11), (2, 0.09), (3, 0.1), (4, 0.1)], "noise");
        // 2.2 standard errors of three repositories, which is once in six times by chance.
        let three = of(3, [0.2, 0.1, 0.02, 0.21, 0.11, 0.03]);
        assert!(Paired::of(&differences(&three)).mean > 2.0 * Paired::of(&differences(&three)).error());
        check(&three, "noise");
    }

    #[test]
    fn chance_explains_what_is_balanced_and_not_what_is_one_sided() {
        let balanced: Vec<(usize, f64)> = (0..20).map(|i| (i, if i % 2 == 0 { 0.1 } else { -0.1 })).collect();
        let one_sided: Vec<(usize, f64)> = (0..20).map(|i| (i, 0.1)).collect();
        assert!(randomisation_p(&differences(&balanced)) > 0.9);
        assert!(randomisation_p(&differences(&one_sided)) < 0.001);
    }
}
