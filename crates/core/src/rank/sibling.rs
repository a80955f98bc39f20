//! Files that share a stem with a good one: `foo.h` beside `foo.c`.

use std::collections::HashMap;

use super::{Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::path::is_role_stem;
use crate::query::Query;

static SIBLING: Knob = Knob {
    env: "COLGREP_SIBLING_BOOST",
    doc: "Times the best base score among other files of the same stem.",
    default: 0.133,
    classic: 0.0,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.067, 0.133, 0.2],
    source: "prototype: about +.001 (docs/ranking.md)",
};

/// Lets files of one stem support each other.
pub const STAGE: Stage = Stage {
    name: "sibling",
    doc: "Header and source, component and style, interface and implementation bear one stem and answer together.",
    source: "prototype",
    knobs: &[&SIBLING],
    by_words: true,
    apply,
};

fn apply(_: &Query, knobs: &Knobs, pool: &mut Pool) {
    let mut best: HashMap<&str, [(f32, usize); 2]> = HashMap::new();
    for (i, file) in pool.files.iter().enumerate() {
        let top = best.entry(&file.facts.stem_joined).or_insert([(0.0, usize::MAX); 2]);
        if file.base > top[0].0 {
            top[1] = top[0];
            top[0] = (file.base, i);
        } else if file.base > top[1].0 {
            top[1] = (file.base, i);
        }
    }
    let of_others: Vec<f32> = pool
        .files
        .iter()
        .enumerate()
        .map(|(i, file)| {
            if is_role_stem(&file.facts.stem_joined) {
                return 0.0;
            }
            let [first, second] = best[file.facts.stem_joined.as_str()];
            if first.1 == i { second.0 } else { first.0 }
        })
        .collect();
    pool.add_values(&of_others, knobs.get(&SIBLING));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{added, knobs, pool, query};

    #[test]
    fn files_of_one_role_are_no_siblings() {
        let mut p = pool(&["a/mod.rs", "b/mod.rs", "c/__init__.py", "d/__init__.py"]);
        p.files.iter_mut().for_each(|f| f.base = 1.0);
        assert_eq!(added(&STAGE, &query("foo"), &knobs(&[(&SIBLING, "0.2")]), &mut p), [0, 0, 0, 0]);
    }

    #[test]
    fn siblings_support_each_other_and_nobody_themselves() {
        let mut p = pool(&["a/foo.c", "include/foo.h", "bar.c"]);
        for (file, base) in p.files.iter_mut().zip([1.0, 0.5, 0.8]) {
            file.base = base;
        }
        assert_eq!(added(&STAGE, &query("foo"), &knobs(&[(&SIBLING, "0.2")]), &mut p), [10, 20, 0]);
    }
}
