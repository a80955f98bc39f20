//! Evidence of query terms that are close together in a file.

use colgrep_core::bm25::idf;

use super::rounds::FileFound;

/// The weight of each pair of neighbouring terms: close together, and adjacent.
pub(super) struct PairWeights(Vec<(f32, f32)>);

impl PairWeights {
    /// The weights among `files_total` files. For each pair, one in `parts` files was counted (`samples`: with both
    /// terms close together, and adjacent); in some files all were counted (`files`).
    pub(super) fn new<'f>(
        files_total: u64,
        parts: &[u32],
        samples: &[(u64, u64)],
        files: impl Iterator<Item = &'f FileFound> + Clone,
    ) -> PairWeights {
        let weight = |(at, (part, sample)): (usize, (&u32, &(u64, u64)))| {
            let here = || files.clone().filter_map(move |file| file.pairs.get(at));
            // An estimate must not be lower than the count.
            let near = (sample.0 * u64::from(*part)).max(here().filter(|pair| pair.0 > 0).count() as u64);
            let adjacent = (sample.1 * u64::from(*part)).max(here().filter(|pair| pair.1 > 0).count() as u64);
            (idf(files_total, near), idf(files_total, adjacent))
        };
        PairWeights(parts.iter().zip(samples).enumerate().map(weight).collect())
    }

    /// Proximity evidence of a file with these counts of the pairs.
    pub(super) fn sums(&self, counts: &[(u32, u32)]) -> (f32, f32) {
        let saturated = |tf: u32, idf: f32| idf * tf as f32 / (tf as f32 + 1.2);
        let mut sums = (0.0, 0.0);
        for ((near, adjacent), weights) in counts.iter().zip(&self.0).filter(|(count, _)| count.0 > 0) {
            sums.0 += saturated(*near, weights.0);
            sums.1 += saturated(*adjacent, weights.1);
        }
        sums
    }
}
