//! Folders named with words of the query.

use super::fused::Fused;
use super::retrieved::{FileFacts, Retrieved};
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::query::Query;

/// Boosts files by their folders' names.
pub const STAGE: Stage = Stage {
    name: "folder",
    doc: "Folders name the subsystem: a query word there places the file, less surely than its own name does.",
    source: "prototype: +.004",
    knobs: &[Knob::FolderShareBoost, Knob::LastFolderBoost],
    doubted: true,
    prepare: Prepare::by(signals),
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    input.add_signals(fused, [input.knobs.folder_share_boost, input.knobs.last_folder_boost]);
}

fn signals(query: &Query, _: &Knobs, retrieved: &Retrieved) -> Signals {
    Signals::PerFile(retrieved.files.iter().flat_map(|file| of_file(query, file)).collect())
}

/// The share of a file's folders that contain a word of the query, and whether its innermost does.
fn of_file(query: &Query, file: &FileFacts) -> [f32; 2] {
    let hits: Vec<bool> =
        file.path_facts.folder_terms.iter().map(|terms| terms.iter().any(|t| query.topic_terms.contains(t))).collect();
    let Some(own) = hits.last() else { return [0.0; 2] };
    let count = hits.iter().filter(|h| **h).count();
    [count as f32 / hits.len() as f32, f32::from(u8::from(*own))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn folders_count_by_share_and_nearness() {
        let mut example = Example::of(&["router/a.go", "src/router/a.go", "router/src/a.go", "a.go"]);
        let knobs = knobs(&[(Knob::FolderShareBoost, "0.2"), (Knob::LastFolderBoost, "0.1")]);
        assert_eq!(example.added(&STAGE, &query("request routers"), &knobs), [30, 20, 10, 0]);
    }
}
