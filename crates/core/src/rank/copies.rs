//! Files with the same content: built copies, backups.

use std::collections::HashMap;

use super::fused::Fused;
use super::retrieved::{Candidate, FileFacts, Retrieved};
use super::stage::{Prepare, Signals, Stage, StageInput};
use crate::knob::{Knob, Knobs};
use crate::path::{LAYOUT_FOLDERS, PathClass, stem_of};
use crate::query::Query;
use crate::query::intents::Certainty;

/// Folders of copies, in lower case, for files that are copies: other files in them may be originals.
const COPY_FOLDERS: [&str; 25] = [
    "archive",
    "archived",
    "backup",
    "backups",
    "bak",
    "build",
    "bundle",
    "bundles",
    "copies",
    "copy",
    "dist",
    "legacy",
    "old",
    "orig",
    "out",
    "output",
    "public",
    "release",
    "releases",
    "snapshot",
    "snapshots",
    "static",
    "target",
    "temp",
    "tmp",
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
    let is_free = |candidate: &&Candidate| candidate.pointer.is_none_or(|p| p.certainty != Certainty::Location);
    for (score, candidate) in fused.scores.iter_mut().zip(candidates).filter(|(_, candidate)| is_free(candidate)) {
        let original = originals[candidate.file];
        if let Some(best) = original.and_then(|file| scores.get(&(file, candidate.line, candidate.end))) {
            *score = score.min(best - step);
        }
    }
}

/// For each file that is a copy, the file that is its original.
fn originals(_: &Query, _: &Knobs, retrieved: &Retrieved) -> Signals {
    let known = || retrieved.files.iter().enumerate().filter(|(_, file)| file.hash != 0);
    let mut stems: HashMap<u128, Vec<String>> = HashMap::new();
    for (_, file) in known() {
        stems.entry(file.hash).or_default().push(stem_of(name_of(&file.path)).to_lowercase());
    }
    let keys: Vec<_> = retrieved.files.iter().map(|file| (signs(file, &stems), file.place)).collect();
    let mut first: HashMap<u128, usize> = HashMap::new();
    for (at, file) in known() {
        let original = first.entry(file.hash).or_insert(at);
        if keys[at] < keys[*original] {
            *original = at;
        }
    }
    let mut originals = vec![None; retrieved.files.len()];
    // Who names a copy means it.
    for (at, file) in known().filter(|(_, file)| !file.meant && file.mentioned == 0.0) {
        let is_copy_of = |original: &usize| {
            let (own, other) = (keys[at].0, keys[*original].0);
            // Variants for several systems may be equal.
            other.0 < own.0 || (other < own && name_of(&file.path) == name_of(&retrieved.files[*original].path))
        };
        originals[at] = first.get(&file.hash).copied().filter(is_copy_of);
    }
    Signals::Groups(originals)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What tells that a path is a copy's: how many signs of one it has, whether it is elsewhere than sources usually are, and
/// how deep it is. `stems` has the stems of the files with each content.
fn signs(file: &FileFacts, stems: &HashMap<u128, Vec<String>>) -> (usize, bool, usize) {
    let folders = file.path.rsplit_once('/').map_or("", |(folders, _)| folders).to_lowercase();
    let all = || folders.split('/').filter(|folder| !folder.is_empty());
    // `src_old`, `backup-2`
    let is_of_copies =
        |folder: &&str| folder.split(|c: char| !c.is_alphanumeric()).any(|part| COPY_FOLDERS.contains(&part));
    let aside = usize::from(file.path_facts.class.has(PathClass::ASIDE));
    // `limiter (1)`, `Copy of limiter`, `limiter_v2` beside `limiter`
    let stem = stem_of(name_of(&file.path)).to_lowercase();
    let is_within =
        |other: &String| other.len() < stem.len() && stem.split_once(other.as_str()).is_some_and(is_of_copy);
    let is_longer = stems.get(&file.hash).is_some_and(|all| all.iter().any(is_within));
    let is_usual = folders.is_empty() || all().any(|folder| LAYOUT_FOLDERS.contains(&folder));
    (all().filter(is_of_copies).count() + aside + usize::from(is_longer), !is_usual, all().count())
}

/// Whether what a stem has before and after another one marks a copy of it.
fn is_of_copy((before, behind): (&str, &str)) -> bool {
    let pieces = [before, behind].into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    let is_number = |piece: &str| piece.strip_prefix('v').unwrap_or(piece).bytes().all(|byte| byte.is_ascii_digit());
    pieces.into_iter().all(|piece| piece == "of" || COPY_FOLDERS.contains(&piece) || is_number(piece))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::intents::Pointer;
    use crate::rank::testing::{Example, knobs, query};

    #[test]
    fn an_original_comes_before_its_copies() {
        let copies = |paths: &[&str]| {
            let mut example = Example::of(paths);
            for (at, file) in example.retrieved.files.iter_mut().enumerate() {
                (file.hash, file.place) = (7, at as u32);
            }
            // The copies seem better, by as much as they may.
            example.fused.scores = (0..paths.len()).map(|at| 0.9 - 0.1 * at as f32).collect();
            example
        };
        for copy in [
            "limiter.bak.py",
            "src/limiter copy.py",
            "lib/limiter.py.orig",
            "dist/limiter.py",
            "backup/limiter.py",
            "bak/limiter.py",
            "temp/limiter.py",
            "archive/src/limiter.py",
            "copies/limiter.py",
            "snapshots/limiter.py",
            "bundles/limiter.py",
            "generated/limiter.py",
            "aaa/limiter.py",
            "src_old/limiter.py",
            "backup-2/limiter.py",
            "app/src/limiter.py",
            "a/b/limiter.py",
            "Copy/limiter.py",
            "mirror/2024/src/limiter.py",
            "tests/limiter.py",
            "src/limiter (1).py",
            "lib/Copy of limiter.py",
            "src/limiter_v2.py",
            "limiter_20240101.py",
        ] {
            for original in ["src/limiter.py", "lib/limiter.py", "limiter.py"] {
                let mut example = copies(&[copy, original]);
                example.retrieved.candidates[0].pointer =
                    Some(Pointer { certainty: Certainty::Exact, strength: 1.0, line: 1 });
                example.apply(&STAGE, &query("limiter"), &knobs(&[]));
                assert!(example.fused.scores[0] < example.fused.scores[1], "{copy} {original}");
            }
        }
        let mut example = copies(&["dist/limiter.py", "src/limiter.py", "lib/limiter.py"]);
        example.apply(&STAGE, &query("limiter"), &knobs(&[]));
        let [_, source, library] = example.fused.scores[..] else { panic!("three units") };
        assert!(source > library && example.fused.scores[0] < source, "nothing tells two sources apart");
        let mut named = copies(&["dist/limiter.py", "src/limiter.py"]);
        named.retrieved.files[0].mentioned = 1.0;
        named.apply(&STAGE, &query("dist/limiter.py"), &knobs(&[]));
        assert!(named.fused.scores[0] > named.fused.scores[1], "it is named");
    }
}
