//! Query words that stand together in the text.

use super::{Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::query::Query;

const SOURCE: &str = "T. Tao, C. Zhai, An Exploration of Proximity Measures (SIGIR 2007); prototype: +.0065";

static NEAR: Knob = Knob {
    env: "COLGREP_NEAR_BOOST",
    doc: "Times the file's evidence (relative to the pool) for neighbouring query words within 8 tokens.",
    default: 0.2,
    classic: 0.0,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.1, 0.2, 0.3],
    source: SOURCE,
};

static ADJACENT: Knob = Knob {
    env: "COLGREP_ADJACENT_BOOST",
    doc: "Times the file's evidence (relative to the pool) for neighbouring query words side by side and in order.",
    default: 0.133,
    classic: 0.0,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.067, 0.133, 0.2],
    source: SOURCE,
};

/// Boosts files that hold the query's neighbouring words close together.
pub const STAGE: Stage = Stage {
    name: "proximity",
    doc: "Words that stand together in the query mean one thing, and name it where they stand together in the text.",
    source: SOURCE,
    knobs: &[&NEAR, &ADJACENT],
    by_words: true,
    apply,
};

fn apply(_: &Query, knobs: &Knobs, pool: &mut Pool) {
    let signals = pool.once((STAGE.name, 0), |pool| {
        let near = pool.relative_per_file(|f| f.near);
        let adjacent = pool.relative_per_file(|f| f.adjacent);
        near.into_iter().zip(adjacent).flat_map(|(near, adjacent)| [near, adjacent]).collect()
    });
    pool.add_signals(&signals, [knobs.get(&NEAR), knobs.get(&ADJACENT)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{added, knobs, pool, query};

    #[test]
    fn evidence_is_relative_to_the_pool() {
        let mut p = pool(&["a.rs", "b.rs", "c.rs"]);
        p.files[0].near = 4.0;
        p.files[1].near = 1.0;
        p.files[2].adjacent = 2.0;
        let k = knobs(&[(&NEAR, "0.4"), (&ADJACENT, "0.2")]);
        assert_eq!(added(&STAGE, &query("a b"), &k, &mut p), [40, 10, 20]);
    }
}
