//! Folders named with words of the query.

use super::{FileFacts, Pool, Stage};
use crate::knob::{Knob, Knobs, Shape};
use crate::query::Query;

const SOURCE: &str = "prototype: +.004 (docs/ranking.md)";

static FOLDER_SHARE: Knob = Knob {
    env: "COLGREP_FOLDER_SHARE_BOOST",
    doc: "Times the share of the file's folders that hold a word of the query.",
    default: 0.133,
    classic: 0.0,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.067, 0.133, 0.2],
    source: SOURCE,
};

static LAST_FOLDER: Knob = Knob {
    env: "COLGREP_LAST_FOLDER_BOOST",
    doc: "Added when the file's own folder holds a word of the query.",
    default: 0.067,
    classic: 0.0,
    shape: Shape::Real,
    range: (0.0, 5.0),
    grid: &[0.0, 0.033, 0.067, 0.133],
    source: SOURCE,
};

/// Boosts files by their folders' names.
pub const STAGE: Stage = Stage {
    name: "folder",
    doc: "Folders name the subsystem: a query word there places the file, less surely than its own name does.",
    source: SOURCE,
    knobs: &[&FOLDER_SHARE, &LAST_FOLDER],
    by_words: true,
    apply,
};

fn apply(query: &Query, knobs: &Knobs, pool: &mut Pool) {
    let signals = pool.once((STAGE.name, 0), |pool| pool.files.iter().flat_map(|f| signals(query, f)).collect());
    pool.add_signals(&signals, [knobs.get(&FOLDER_SHARE), knobs.get(&LAST_FOLDER)]);
}

/// The share of a file's folders that hold a word of the query, and whether its own does.
fn signals(query: &Query, file: &FileFacts) -> [f32; 2] {
    let hits: Vec<bool> =
        file.facts.folder_terms.iter().map(|terms| terms.iter().any(|t| query.topic_terms.contains(t))).collect();
    let Some(own) = hits.last() else { return [0.0; 2] };
    let count = hits.iter().filter(|h| **h).count();
    [count as f32 / hits.len() as f32, f32::from(u8::from(*own))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{added, knobs, pool, query};

    #[test]
    fn folders_count_by_share_and_nearness() {
        let mut p = pool(&["router/a.go", "src/router/a.go", "router/src/a.go", "a.go"]);
        let k = knobs(&[(&FOLDER_SHARE, "0.2"), (&LAST_FOLDER, "0.1")]);
        assert_eq!(added(&STAGE, &query("request routers"), &k, &mut p), [30, 20, 10, 0]);
    }
}
