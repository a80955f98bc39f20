//! The published coherence boost: the best unit of a file with many good units.

use super::{Pool, Stage};
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
    by_words: false,
    apply,
};

fn apply(_: &Query, knobs: &Knobs, pool: &mut Pool) {
    let boost = knobs.get(&COHERENCE_BOOST);
    if boost == 0.0 {
        return;
    }
    pool.sort();
    let mut sums = vec![0.0f32; pool.files.len()];
    for candidate in &pool.candidates {
        sums[candidate.file] += candidate.score;
    }
    let highest = sums.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let mut seen = vec![false; pool.files.len()];
    for candidate in &mut pool.candidates {
        if !std::mem::replace(&mut seen[candidate.file], true) {
            candidate.score += boost * sums[candidate.file] / highest;
        }
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
        let mut scores: Vec<(u64, i32)> =
            p.candidates.iter().map(|c| (c.unit, (c.score * 100.0).round() as i32)).collect();
        scores.sort_unstable();
        assert_eq!(scores, [(0, 60), (1, 80), (2, 40)]);
    }
}
