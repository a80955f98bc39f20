//! The published definition boost: a unit whose name holds a word of the query.

use super::{Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::query::Query;

static DEF_BOOST: Knob = Knob {
    env: "COLGREP_DEF_BOOST",
    doc: "Added to a definition whose name holds a word of the query that is no stop word.",
    default: 0.0,
    classic: 0.25,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.1, 0.25],
    source: "ColGREP, pull request 99; off by default: −.0025 (docs/ranking.md)",
};

/// Boosts units by the words of their names.
pub const STAGE: Stage = Stage {
    name: "definition_boost",
    doc: "A definition named with a word of the query is likelier the place than one that merely mentions it.",
    source: "ColGREP, pull request 99",
    knobs: &[&DEF_BOOST],
    doubted: true,
    apply,
};

fn apply(_: &Query, knobs: &Knobs, pool: &mut Pool) {
    let boost = knobs.get(&DEF_BOOST);
    for candidate in &mut pool.candidates {
        if candidate.name_hit && candidate.kind.is_definition() {
            candidate.score += boost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{added, knobs, pool, query};
    use crate::unit::UnitKind;

    #[test]
    fn only_definitions_with_the_word_in_their_name_rise() {
        let mut p = pool(&["a.rs", "b.rs", "c.md"]);
        p.candidates[0].name_hit = true;
        p.candidates[2].name_hit = true;
        p.candidates[2].kind = UnitKind::Section;
        assert_eq!(added(&STAGE, &query("x"), &knobs(&[(&DEF_BOOST, "0.25")]), &mut p), [25, 0, 0]);
    }
}
