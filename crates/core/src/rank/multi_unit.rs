//! A file's base score: its best unit and the harmonic sum of its next ones.

use super::{Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::query::Query;

static UNIT_SUM_SHARE: Knob = Knob {
    env: "COLGREP_UNIT_SUM_SHARE",
    doc: "Share of a file's base score that comes from the sum of its best units; the best unit alone has the rest.",
    default: 0.667,
    classic: 0.0,
    shape: Shape::Real,
    range: (0.0, 1.0),
    grid: &[0.0, 0.33, 0.5, 0.667, 0.8],
    source: "prototype: 0.5 best + 1.0 sum, harmonic top 6 (+.04 over the best unit alone)",
};

static UNIT_SUM_DEPTH: Knob = Knob {
    env: "COLGREP_UNIT_SUM_DEPTH",
    doc: "Units a file whose scores are summed, the i-th divided by i.",
    default: 6.0,
    classic: 1.0,
    shape: Shape::Whole,
    range: (1.0, 100.0),
    grid: &[1.0, 3.0, 6.0, 10.0],
    source: "prototype: 6 of 3, 6, 10",
};

/// Gives every file one base score between 0 and 1.
pub const STAGE: Stage = Stage {
    name: "multi_unit",
    doc: "A file answers better when several of its units do: best unit and harmonic sum of the best six, each relative to the pool's best.",
    source: "prototype; harmonic discount as in discounted cumulative evidence",
    knobs: &[&UNIT_SUM_SHARE, &UNIT_SUM_DEPTH],
    doubted: false,
    apply,
};

fn apply(_: &Query, knobs: &Knobs, pool: &mut Pool) {
    // Likeness of meaning has no natural zero: many middling units say nothing.
    let share = knobs.get(&UNIT_SUM_SHARE) * (1.0 - pool.doubt);
    let depth = knobs.whole(&UNIT_SUM_DEPTH);
    // Each file's best scores, best first.
    let mut top = vec![0.0f32; pool.files.len() * depth];
    for candidate in &pool.candidates {
        let top = &mut top[candidate.file * depth..][..depth];
        let at = top.partition_point(|s| *s >= candidate.score);
        if at < depth {
            top.copy_within(at..depth - 1, at + 1);
            top[at] = candidate.score;
        }
    }
    let best: Vec<f32> = top.iter().step_by(depth).copied().collect();
    let harmonic = |top: &[f32]| top.iter().zip(1u8..).map(|(score, i)| score / f32::from(i)).sum();
    let sum: Vec<f32> = top.chunks_exact(depth).map(harmonic).collect();
    let highest = |v: &[f32]| v.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let (best_max, sum_max) = (highest(&best), highest(&sum));
    for (i, file) in pool.files.iter_mut().enumerate() {
        file.base = (1.0 - share) * best[i] / best_max + share * sum[i] / sum_max;
    }
    for candidate in &mut pool.candidates {
        let file = candidate.file;
        let own = if best[file] > 0.0 { candidate.score / best[file] } else { 0.0 };
        candidate.score = pool.files[file].base * own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{candidate, knobs, pool, query};

    #[test]
    fn more_good_units_raise_a_file_and_its_best_unit_carries_the_score() {
        let mut p = pool(&["a.rs", "b.rs"]);
        p.candidates = vec![candidate(0, 0, 1.0), candidate(1, 1, 1.0), candidate(2, 1, 0.8), candidate(3, 1, 0.6)];
        apply(&query("x"), &knobs(&[(&UNIT_SUM_SHARE, "0.5")]), &mut p);
        // b's sum is 1 + .8/2 + .6/3 = 1.6; a's is 1.
        assert!((p.files[1].base - 1.0).abs() < 1e-6 && (p.files[0].base - (0.5 + 0.5 / 1.6)).abs() < 1e-6);
        let score = |unit| p.candidates.iter().find(|c| c.unit.doc() == unit).unwrap().score;
        assert!((score(1) - 1.0).abs() < 1e-6 && (score(2) - 0.8).abs() < 1e-6);
    }

    #[test]
    fn without_the_sum_scores_are_relative_to_the_best() {
        let mut p = pool(&["a.rs", "b.rs"]);
        p.candidates[1].score = 0.25;
        apply(&query("x"), &knobs(&[(&UNIT_SUM_SHARE, "0")]), &mut p);
        let scores: Vec<f32> = p.candidates.iter().map(|c| c.score).collect();
        assert_eq!(scores, [1.0, 0.5]);
    }
}
