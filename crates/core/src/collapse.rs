//! Collapse: from ranked units to ranked files, each with its best units.

use crate::rank::{Candidate, Pool};

/// One file of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct FileHit {
    /// Position in [`Pool::files`].
    pub file: usize,
    /// The file's score: its best unit's.
    pub score: f32,
    /// Its best units, best first; at least one.
    pub units: Vec<Candidate>,
}

/// The first `k` distinct files of a sorted pool (fewer only when the pool holds fewer), each with up to `per_file` units.
pub fn collapse(pool: &Pool, k: usize, per_file: usize) -> Vec<FileHit> {
    let mut hits: Vec<FileHit> = Vec::with_capacity(k.min(pool.files.len()));
    let mut position = vec![usize::MAX; pool.files.len()];
    for candidate in &pool.candidates {
        let at = position[candidate.file];
        if let Some(hit) = hits.get_mut(at) {
            if hit.units.len() < per_file {
                hit.units.push(candidate.clone());
            }
        } else if hits.len() < k {
            position[candidate.file] = hits.len();
            hits.push(FileHit { file: candidate.file, score: candidate.score, units: vec![candidate.clone()] });
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rank::testing::{candidate, pool};

    proptest! {
        #[test]
        fn exactly_k_distinct_files_in_the_order_of_their_best_units(
            files in proptest::collection::vec((0usize..8, 0.0f32..1.0), 0..40), k in 0usize..12, per_file in 1usize..4)
        {
            let mut p = pool(&["a", "b", "c", "d", "e", "f", "g", "h"]);
            p.candidates = files.iter().enumerate().map(|(i, (f, s))| candidate(i as u64, *f, *s)).collect();
            p.sort();
            let hits = collapse(&p, k, per_file);
            let mut distinct: Vec<usize> = files.iter().map(|f| f.0).collect();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(hits.len(), k.min(distinct.len()));
            for (i, hit) in hits.iter().enumerate() {
                prop_assert!(hits[..i].iter().all(|h| h.file != hit.file));
                prop_assert!(i == 0 || hits[i - 1].score >= hit.score);
                let best = files.iter().filter(|f| f.0 == hit.file).map(|f| f.1).fold(0.0, f32::max);
                prop_assert_eq!(hit.score, best);
                let count = files.iter().filter(|f| f.0 == hit.file).count();
                prop_assert_eq!(hit.units.len(), count.min(per_file));
            }
        }
    }
}
