//! Files that share a stem with a good one: `foo.h` next to `foo.c`.

use std::collections::HashMap;

use super::fused::Fused;
use super::retrieved::Retrieved;
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::path::PathFacts;
use crate::query::Query;

/// Lets files of one stem support each other.
pub const STAGE: Stage = Stage {
    name: "sibling",
    doc: "Header and source, component and style, interface and implementation bear one stem and answer together.",
    source: "prototype",
    knobs: &[Knob::SiblingBoost],
    doubted: true,
    prepare: Prepare::by(families),
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let Signals::Groups(families) = input.signals else { panic!("no families: {:?}", input.signals) };
    // The best two files of each family: a file is supported by the best of the others.
    let mut best = vec![[(0.0, usize::MAX); 2]; families.len()];
    for (i, (family, score)) in families.iter().zip(&fused.file_scores).enumerate() {
        let Some(family) = family else { continue };
        let top = &mut best[*family];
        if *score > top[0].0 {
            *top = [(*score, i), top[0]];
        } else if *score > top[1].0 {
            top[1] = (*score, i);
        }
    }
    let best_of_others = |(i, family): (usize, &Option<usize>)| {
        family.map_or(0.0, |family| {
            let [first, second] = best[family];
            if first.1 == i { second.0 } else { first.0 }
        })
    };
    let boosts: Vec<f32> = families.iter().enumerate().map(|f| input.knobs.sibling_boost * best_of_others(f)).collect();
    fused.add_per_file(&input.retrieved.candidates, &boosts);
}

/// Groups files by their stems, without files whose stem only names a role.
fn families<'f>(_: &Query, _: &Knobs, retrieved: &'f Retrieved) -> Signals {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut family = |facts: &'f PathFacts| {
        let next = numbers.len();
        (!facts.is_role).then(|| *numbers.entry(&facts.stem_joined).or_insert(next))
    };
    Signals::Groups(retrieved.files.iter().map(|file| family(&file.path_facts)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    fn check(files: &[(&str, f32)], expected: &[i32]) {
        let mut example = Example::of(&files.iter().map(|f| f.0).collect::<Vec<_>>());
        example.fused.file_scores = files.iter().map(|f| f.1).collect();
        assert_eq!(example.added(&STAGE, &query("foo"), &knobs(&[(Knob::SiblingBoost, "0.2")])), expected);
    }

    #[test]
    fn files_of_one_role_are_no_siblings() {
        check(&[("a/mod.rs", 1.0), ("b/mod.rs", 1.0), ("c/__init__.py", 1.0), ("d/__init__.py", 1.0)], &[0, 0, 0, 0]);
    }

    #[test]
    fn siblings_support_each_other_and_nobody_themselves() {
        check(&[("a/foo.c", 1.0), ("include/foo.h", 0.5), ("bar.c", 0.8)], &[10, 20, 0]);
    }
}
