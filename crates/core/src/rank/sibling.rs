//! Files that share a stem with a good one: `foo.h` beside `foo.c`.

use std::collections::HashMap;

use super::{FileFacts, Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
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
    doubted: true,
    apply,
};

fn apply(_: &Query, knobs: &Knobs, pool: &mut Pool) {
    let families = pool.once((STAGE.name, 0), families);
    // The best two of each family: a file is supported by the best of the others.
    let mut best = vec![[(0.0, usize::MAX); 2]; pool.files.len()];
    let family = |i: usize| families[i] as usize;
    for (i, file) in pool.files.iter().enumerate() {
        let Some(top) = best.get_mut(family(i)) else { continue };
        if file.base > top[0].0 {
            top[1] = top[0];
            top[0] = (file.base, i);
        } else if file.base > top[1].0 {
            top[1] = (file.base, i);
        }
    }
    let of_others = |i: usize| match best.get(family(i)) {
        Some([first, second]) => {
            if first.1 == i {
                second.0
            } else {
                first.0
            }
        }
        None => 0.0,
    };
    let of_others: Vec<f32> = (0..pool.files.len()).map(of_others).collect();
    pool.add_signals(&of_others, [knobs.get(&SIBLING)]);
}

/// The number of each file's stem; beyond all numbers where the stem only names a role.
fn families(pool: &Pool) -> Vec<f32> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut of_files = Vec::with_capacity(pool.files.len());
    for FileFacts { facts, .. } in &pool.files {
        let next = numbers.len();
        let number = *numbers.entry(&facts.stem_joined).or_insert(next);
        of_files.push(if facts.is_role { f32::INFINITY } else { number as f32 });
    }
    of_files
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
