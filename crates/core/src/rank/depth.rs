//! Files near the root.

use super::{Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::query::Query;

static DEPTH: Knob = Knob {
    env: "COLGREP_DEPTH_BOOST",
    doc: "Added to the pool's shallowest files, falling to 0 at its deepest.",
    default: 0.2,
    classic: 0.0,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.067, 0.133, 0.2, 0.267],
    source: "prototype: +.005 (docs/ranking.md)",
};

/// Prefers shallow files among otherwise similar ones.
pub const STAGE: Stage = Stage {
    name: "depth",
    doc: "A project's main ideas live near its root, its variants and platforms deeper.",
    source: "prototype",
    knobs: &[&DEPTH],
    by_words: true,
    apply,
};

fn apply(_: &Query, knobs: &Knobs, pool: &mut Pool) {
    let shallow = pool.once((STAGE.name, 0), |pool| {
        let deep = pool.relative_per_file(|f| f.path.matches('/').count() as f32);
        deep.into_iter().map(|d| 1.0 - d).collect()
    });
    pool.add_signals(&shallow, [knobs.get(&DEPTH)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{added, knobs, pool, query};

    #[test]
    fn depth_is_relative_to_the_pool() {
        let mut p = pool(&["a.rs", "x/b.rs", "x/y/c.rs"]);
        assert_eq!(added(&STAGE, &query("a"), &knobs(&[(&DEPTH, "0.2")]), &mut p), [20, 10, 0]);
    }
}
