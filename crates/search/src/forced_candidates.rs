//! Candidates for reasons other than words and meaning: what the query points at, files related to the reader's, past
//! changes, and the parts of a long query.

use colgrep_core::partner::partner;
use colgrep_core::path::PathClass;
use colgrep_core::query::Query;
use colgrep_core::rank::{Context, FileFacts, LongFacts, Retrieved};
use colgrep_syntax::language;
use rustc_hash::FxHashMap;

use super::Request;
use super::intents::Pointers;
use super::past::past;
use super::rounds::{ContextsRequest, Coordinator};
use super::shard::UnitFound;
use super::spelled_out::NameHolders;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Files and units that are candidates whatever their lexical or semantic rank.
pub(super) struct ForcedCandidates {
    /// What the query points at.
    pub pointers: Pointers,
    /// What holds the name that the query is.
    pub holders: NameHolders,
    /// Files related to the reader's (`--near`).
    contexts: FxHashMap<FilePlace, Context>,
    /// Files changed by past commits similar to the question, with their shares.
    past: FxHashMap<FilePlace, f32>,
    /// Files named or found by the parts of a long query.
    long: FxHashMap<FilePlace, LongFacts>,
    /// Whether the query asks for the tests of a named file or definition.
    asks_for_tests_of: bool,
}

impl ForcedCandidates {
    /// Looks up files related to the reader's, past changes and the parts of a long query; adds them to the `pointers`
    /// and the holders of the query.
    pub fn new(
        rounds: &Coordinator<'_>,
        request: &Request<'_>,
        query: &Query,
        (pointers, holders): (Pointers, NameHolders),
        long: FxHashMap<FilePlace, LongFacts>,
    ) -> Result<ForcedCandidates> {
        let contexts = request.background.near.map(|near| {
            let wants_tests = near.tests_only || query.asks_for.contains(&PathClass::TEST);
            rounds.ask(&ContextsRequest { near: near.clone(), wants_tests })
        });
        let contexts = contexts.transpose()?.into_iter().flatten().collect();
        let asks_for_tests_of = asks_for_tests_of(&query.text);
        Ok(ForcedCandidates { pointers, holders, contexts, past: past(rounds, request)?, long, asks_for_tests_of })
    }

    /// Iterates over all these files; a file may occur twice.
    pub fn files(&self) -> impl Iterator<Item = FilePlace> + '_ {
        self.pointers.files.keys().chain(self.contexts.keys()).chain(self.past.keys()).chain(self.long.keys()).copied()
    }

    /// Whether the unit is a candidate for one of these reasons.
    pub fn brings(&self, unit: &UnitFound) -> bool {
        self.pointers.units.contains_key(&unit.unit)
            || self.holders.fits.contains_key(&unit.unit)
            || self.pointers.files.contains_key(&unit.file)
            || self.contexts.contains_key(&unit.file)
            || self.past.contains_key(&unit.file)
            || self.long.contains_key(&unit.file)
    }

    /// Whether a file contains the quoted phrases, or is named.
    pub fn allows(&self, file: FilePlace) -> bool {
        let Pointers { files, only, .. } = &self.pointers;
        only.as_ref().is_none_or(|only| only.contains(&file) || files.contains_key(&file))
    }

    /// Records in candidates and files why they were added.
    pub fn mark(&self, retrieved: &mut Retrieved) {
        retrieved.lacks_name = self.holders.is_outside;
        if self.pointers.units.is_empty() && self.holders.fits.is_empty() && self.files().next().is_none() {
            return;
        }
        for candidate in &mut retrieved.candidates {
            candidate.pointer = self.pointers.units.get(&candidate.unit).copied();
            candidate.fit = self.holders.fits.get(&candidate.unit).copied().unwrap_or_default();
        }
        for file in &mut retrieved.files {
            let place = FilePlace(file.place);
            file.mentioned = self.pointers.files.get(&place).copied().unwrap_or_default();
            file.meant = self.pointers.meant.contains(&place);
            file.context = self.contexts.get(&place).copied().unwrap_or_default();
            file.past = self.past.get(&place).copied().unwrap_or_default();
            file.long = self.long.get(&place).copied().unwrap_or_default();
        }
        if self.asks_for_tests_of {
            mean_tests(&mut retrieved.files);
        }
    }
}

/// Whether a text asks for the tests of the one thing at its end: `tests for FILE`, `find the test file of FILE`.
fn asks_for_tests_of(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let [asked @ .., "for" | "of", _] = words.as_slice() else { return false };
    let kind = asked.iter().rev().find(|word| !matches!(**word, "file" | "files" | "case" | "cases" | "suite"));
    kind.is_some_and(|word| matches!(*word, "spec" | "specs" | "test" | "tests"))
}

/// Replaces each meant file by its tests, if there are any.
fn mean_tests(files: &mut [FileFacts]) {
    let facts = language::facts();
    let is_test = |file: &FileFacts| PathClass::of(&file.path, facts).has(PathClass::TEST);
    let paths: Vec<String> = files.iter().filter(|file| !file.is_text).map(FileFacts::whole_path).collect();
    let tested = |test: &FileFacts| partner(&test.whole_path(), paths.iter().map(String::as_str), facts);
    let tests: Vec<(usize, &str)> = (files.iter().enumerate())
        .filter(|(_, file)| !file.is_text && is_test(file))
        .filter_map(|(at, test)| Some((at, tested(test)?)))
        .collect();
    let mut meant: Vec<(usize, f32)> = Vec::new();
    for file in files.iter_mut().filter(|file| file.meant && !is_test(file)) {
        let path = file.whole_path();
        let known = meant.len();
        meant.extend(tests.iter().filter(|(_, tested)| *tested == path).map(|(at, _)| (*at, file.mentioned)));
        if meant.len() > known {
            (file.mentioned, file.meant) = (0.0, false);
        }
    }
    for (at, share) in meant {
        (files[at].mentioned, files[at].meant) = (share, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_tests_of_a_file_means_them() {
        for (text, expected) in [
            ("tests for hooks.py", true),
            ("find the test file of src/hooks.py", true),
            ("hooks.py", false),
            ("tests for hooks.py fail", false),
            ("timeout for hooks.py", false),
        ] {
            assert_eq!(asks_for_tests_of(text), expected, "{text}");
        }
        let named = |path: &str, meant: bool| FileFacts {
            path: path.to_string(),
            mentioned: f32::from(u8::from(meant)),
            meant,
            ..FileFacts::default()
        };
        for (test, expected) in [("tests/test_hooks.py", [false, true]), ("tests/test_api.py", [true, false])] {
            let mut files = [named("src/hooks.py", true), named(test, false)];
            mean_tests(&mut files);
            assert_eq!(files.map(|file| file.meant), expected, "{test}");
        }
    }
}
