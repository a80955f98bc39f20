//! Files with the same content: built copies, backups.

use std::collections::HashMap;

use super::fused::Fused;
use super::retrieved::{Candidate, FileFacts, Retrieved};
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::path::PathClass;
use crate::query::Query;

/// Folders of copies, in lower case, for files that are copies: other files in them may be originals.
const COPY_FOLDERS: [&str; 21] = [
    "archive", "archived", "backup", "backups", "bak", "build", "copies", "copy", "dist", "legacy", "old", "orig",
    "out", "output", "public", "release", "releases", "static", "target", "temp", "tmp",
];

/// Ranks the original of identical files first.
pub const STAGE: Stage = Stage {
    name: "copies",
    doc: "Of files with the same content, the one that is no build output or backup comes first.",
    source: "field reports",
    knobs: &[Knob::CopyStep],
    doubted: false,
    prepare: Prepare::by(originals),
    apply,
};

fn apply(input: &StageInput<'_>, fused: &mut Fused) {
    let Signals::Groups(originals) = input.signals else { panic!("no groups: {:?}", input.signals) };
    let step = input.knobs.copy_step;
    if step == 0.0 || originals.iter().all(Option::is_none) {
        return;
    }
    let candidates = &input.retrieved.candidates;
    let mut scores: HashMap<(usize, u32, u32), f32> = HashMap::new();
    for (candidate, score) in candidates.iter().zip(&fused.scores) {
        let known = scores.entry((candidate.file, candidate.line, candidate.end)).or_insert(*score);
        *known = known.max(*score);
    }
    let is_free = |candidate: &&Candidate| candidate.pointer.is_none();
    for (score, candidate) in fused.scores.iter_mut().zip(candidates).filter(|(_, candidate)| is_free(candidate)) {
        let original = originals[candidate.file];
        if let Some(best) = original.and_then(|file| scores.get(&(file, candidate.line, candidate.end))) {
            *score = score.min(best - step);
        }
    }
}

/// For each file that is a copy, the file that is its original.
fn originals(_: &Query, _: &Knobs, retrieved: &Retrieved) -> Signals {
    let key = |at: usize| (copy_signs(&retrieved.files[at]), retrieved.files[at].place);
    let known = || retrieved.files.iter().enumerate().filter(|(_, file)| file.hash != 0);
    let mut first: HashMap<u128, usize> = HashMap::new();
    for (at, file) in known() {
        let original = first.entry(file.hash).or_insert(at);
        if key(at) < key(*original) {
            *original = at;
        }
    }
    let mut originals = vec![None; retrieved.files.len()];
    // Who names a copy means it.
    for (at, file) in known().filter(|(_, file)| !file.meant && file.mentioned == 0.0) {
        originals[at] = first.get(&file.hash).copied().filter(|original| key(*original).0 < key(at).0);
    }
    Signals::Groups(originals)
}

/// How many signs of a copy a path has.
fn copy_signs(file: &FileFacts) -> usize {
    let folders = file.path.rsplit_once('/').map_or("", |(folders, _)| folders).to_lowercase();
    let folders = folders.split('/').filter(|folder| COPY_FOLDERS.contains(folder)).count();
    folders + usize::from(file.path_facts.class.has(PathClass::ASIDE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn an_original_comes_before_its_copies() {
        let paths = ["limiter.bak.py", "dist/limiter.py", "src/limiter.py", "lib/limiter.py", "old/other.py"];
        let mut example = Example::of(&paths);
        example.retrieved.files[..4].iter_mut().for_each(|file| file.hash = 7);
        example.retrieved.files[4].hash = 8;
        for (at, file) in example.retrieved.files.iter_mut().enumerate() {
            file.place = at as u32;
        }
        example.fused.scores = vec![0.9, 0.8, 0.5, 0.4, 0.7];
        example.apply(&STAGE, &query("limiter"), &knobs(&[]));
        let [backup, built, source, library, other] = example.fused.scores[..] else { panic!("five units") };
        assert!(backup < source && built < source, "{:?}", example.fused.scores);
        assert_eq!((source, library, other), (0.5, 0.4, 0.7), "nothing tells two sources apart");
        example.retrieved.files[1].mentioned = 1.0;
        example.fused.scores = vec![0.9, 0.8, 0.5, 0.4, 0.7];
        example.apply(&STAGE, &query("dist/limiter.py"), &knobs(&[]));
        assert_eq!(example.fused.scores[1], 0.8, "it is named");
    }
}
