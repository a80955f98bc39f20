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

/// Positions of the files that [`collapse`] would give, of a pool in any order.
pub fn first_files(pool: &Pool, k: usize) -> Vec<usize> {
    let mut best = vec![None; pool.files.len()];
    for candidate in &pool.candidates {
        let best = &mut best[candidate.file];
        if best.is_none_or(|b: f32| candidate.score.total_cmp(&b).is_gt()) {
            *best = Some(candidate.score);
        }
    }
    let path = |file: usize| &pool.files[file].path;
    let mut first: Vec<(f32, usize)> = Vec::with_capacity(k + 1);
    for (file, score) in best.into_iter().enumerate() {
        let Some(score) = score else { continue };
        let before =
            |other: &(f32, usize)| other.0.total_cmp(&score).then_with(|| path(file).cmp(path(other.1))).is_gt();
        let at = first.partition_point(before);
        if at < k {
            first.truncate(k - 1);
            first.insert(at, (score, file));
        }
    }
    first.into_iter().map(|(_, file)| file).collect()
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
            p.candidates = files.iter().enumerate().map(|(i, (f, s))| candidate(i as u32, *f, *s)).collect();
            // Few different scores, so that many are equal.
            for candidate in &mut p.candidates {
                candidate.score = (candidate.score * 4.0).round() / 4.0;
            }
            let first = first_files(&p, k);
            p.sort();
            let hits = collapse(&p, k, per_file);
            let mut distinct: Vec<usize> = files.iter().map(|f| f.0).collect();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(hits.len(), k.min(distinct.len()));
            prop_assert_eq!(first, hits.iter().map(|h| h.file).collect::<Vec<_>>());
            for (i, hit) in hits.iter().enumerate() {
                prop_assert!(hits[..i].iter().all(|h| h.file != hit.file));
                prop_assert!(i == 0 || hits[i - 1].score >= hit.score);
                let best = files.iter().filter(|f| f.0 == hit.file).map(|f| (f.1 * 4.0).round() / 4.0).fold(0.0, f32::max);
                prop_assert_eq!(hit.score, best);
                let count = files.iter().filter(|f| f.0 == hit.file).count();
                prop_assert_eq!(hit.units.len(), count.min(per_file));
            }
        }
    }
}
