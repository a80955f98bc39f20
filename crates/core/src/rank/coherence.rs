//! The published coherence boost: the best unit of a file with many good units.

use super::{Candidate, Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::query::Query;

static COHERENCE_BOOST: Knob = Knob {
    env: "COLGREP_COHERENCE_BOOST",
    doc: "Added to a file's best unit, times the file's share of the largest sum of scores.",
    default: 0.0,
    classic: 0.20,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.1, 0.2, 0.3],
    source: "semble, as in ColGREP pull request 99; off by default: multi_unit does it better (docs/ranking.md)",
};

/// Boosts the best unit of each file by the sum of the file's scores.
pub const STAGE: Stage = Stage {
    name: "coherence_boost",
    doc: "A file in which many units match is likelier about the query.",
    source: "semble, as in ColGREP pull request 99",
    knobs: &[&COHERENCE_BOOST],
    doubted: false,
    apply,
};

fn apply(_: &Query, knobs: &Knobs, pool: &mut Pool) {
    let boost = knobs.get(&COHERENCE_BOOST);
    if boost == 0.0 {
        return;
    }
    let mut sums = vec![0.0f32; pool.files.len()];
    let mut best: Vec<Option<usize>> = vec![None; pool.files.len()];
    for (i, candidate) in pool.candidates.iter().enumerate() {
        sums[candidate.file] += candidate.score;
        let before = |other: &Candidate| {
            candidate.score.total_cmp(&other.score).then(other.place().cmp(&candidate.place())).is_gt()
        };
        if best[candidate.file].is_none_or(|b| before(&pool.candidates[b])) {
            best[candidate.file] = Some(i);
        }
    }
    let highest = sums.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    for i in best.into_iter().flatten() {
        let candidate = &mut pool.candidates[i];
        candidate.score += boost * sums[candidate.file] / highest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{candidate, knobs, pool, query};

    #[test]
    fn the_best_unit_rises_by_its_files_share() {
        let mut p = pool(&["a.rs", "b.rs"]);
        p.candidates = vec![candidate(0, 0, 0.5), candidate(1, 1, 0.6), candidate(2, 1, 0.4)];
        apply(&query("x"), &knobs(&[(&COHERENCE_BOOST, "0.2")]), &mut p);
        let mut scores: Vec<(u32, i32)> =
            p.candidates.iter().map(|c| (c.unit.doc(), (c.score * 100.0).round() as i32)).collect();
        scores.sort_unstable();
        assert_eq!(scores, [(0, 60), (1, 80), (2, 40)]);
    }
}
