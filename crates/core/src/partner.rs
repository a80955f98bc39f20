//! Partners: a test and the file it tests, matched by their paths alone.

use std::cmp::Reverse;

use crate::language::LanguageFacts;
use crate::path::{PathClass, joined, stem_of};

/// Prefixes of a test's name. The first of each list that fits is stripped.
const STARTS: [&str; 5] = ["test_", "tst_", "TST_", "test-", "Test"];
/// Suffixes of a test's name.
const ENDS: [&str; 21] = [
    "_unittests",
    "_unittest",
    "TestCase",
    "ITCase",
    "_SUITE",
    "_tests",
    "_test",
    "_spec",
    "-test",
    "-spec",
    ".tests",
    ".test",
    ".spec",
    ".e2e",
    ".cy",
    "Tests",
    "Suite",
    "Test",
    "Spec",
    "IT",
    ".t",
];
/// Parts before the suffix that name the kind of test.
const KINDS: [&str; 5] = [".unit", ".e2e", ".integration", ".component", "_internal"];
/// Layout folders of code and tests, which do not name a topic.
const PLACES: [&str; 8] = ["src", "lib", "main", "java", "test", "tests", "spec", "__tests__"];

/// A path, split for comparison with partners.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name<'p> {
    path: &'p str,
    extension: &'p str,
    is_test: bool,
    /// The stem without its test affixes, or the folder's name if the stem is a role, as one lower-case word.
    stem: String,
    /// Folders in lower case, without layout folders, outermost first; for a role, without the one that names it.
    folders: Vec<String>,
}

impl<'p> Name<'p> {
    fn of(path: &'p str, languages: &LanguageFacts) -> Name<'p> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let whole = stem_of(file);
        let is_test = PathClass::of(path, languages).has(PathClass::TEST);
        let bare = if is_test { bare_stem(whole) } else { whole };
        let is_place = |folder: &str| PLACES.contains(&folder);
        let lower = folder.split('/').filter(|f| !f.is_empty()).map(str::to_lowercase);
        let mut folders: Vec<String> = lower.filter(|folder| !is_place(folder)).collect();
        let mut stem = joined(bare);
        if languages.is_role_stem(bare)
            && let Some(folder) = folders.pop()
        {
            stem = joined(&folder);
        }
        let extension = file.get(whole.len() + 1..).unwrap_or_default();
        Name { path, extension, is_test, stem, folders }
    }

    /// How close two partners are: the number of equal innermost folders, and whether the language is the same.
    fn nearness(&self, other: &Name<'_>) -> (usize, bool) {
        let same = self.folders.iter().rev().zip(other.folders.iter().rev()).take_while(|(a, b)| a == b).count();
        (same, self.extension == other.extension)
    }

    fn is_partner(&self, other: &Name<'_>) -> bool {
        self.is_test != other.is_test && !self.stem.is_empty() && self.stem == other.stem
    }
}

/// A test's stem without its affixes; unchanged if nothing else would be left.
fn bare_stem(stem: &str) -> &str {
    let lower = stem.to_lowercase();
    let end = |end: &&&str| match end.starts_with('.') {
        true => lower.ends_with(**end),
        false => stem.ends_with(**end),
    };
    let without = ENDS.iter().find(end).map_or(stem, |end| {
        let without = &stem[..stem.len() - end.len()];
        KINDS.iter().find_map(|kind| without.strip_suffix(kind)).unwrap_or(without)
    });
    let start = STARTS.iter().find_map(|start| without.strip_prefix(start));
    // `Testament` is not a test.
    let start = start.filter(|rest| !without.starts_with("Test") || rest.starts_with(char::is_uppercase));
    let bare = start.unwrap_or(without);
    if bare.is_empty() { stem } else { bare }
}

/// Whether one of two files is a test of the other, by their paths.
pub fn is_partner(a: &str, b: &str, languages: &LanguageFacts) -> bool {
    Name::of(a, languages).is_partner(&Name::of(b, languages))
}

/// Those of `others` with the same stem apart from test affixes, tests and sources alike.
pub fn family<'p>(path: &str, others: impl Iterator<Item = &'p str>, languages: &LanguageFacts) -> Vec<&'p str> {
    let own = Name::of(path, languages);
    // A substring test first is cheaper than parsing the whole path.
    let may_be = |other: &&str| joined(other).contains(&own.stem);
    let is_one = |other: &&str| Name::of(other, languages).stem == own.stem;
    others.filter(may_be).filter(is_one).collect()
}

/// The partner of a file among `others`: the source of a test, or the test of a source. Of several, the one that shares
/// the most innermost folders, then one with the same extension, then the first by path.
pub fn partner<'p>(path: &str, others: impl Iterator<Item = &'p str>, languages: &LanguageFacts) -> Option<&'p str> {
    let own = Name::of(path, languages);
    let partners = others.map(|other| Name::of(other, languages)).filter(|other| own.is_partner(other));
    partners.max_by_key(|other| (own.nearness(other), Reverse(other.path))).map(|other| other.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_and_what_it_tests_are_told_by_their_names() {
        let facts = LanguageFacts::sample();
        for (a, b) in [
            ("a/test_retry.py", "a/retry.py"),
            ("tests/net/test_retry.py", "src/net/retry.py"),
            ("tests/net/retry.py", "src/net/retry.py"),
            ("a/retry_test.go", "a/retry.go"),
            ("a/retry.test.ts", "a/retry.ts"),
            ("a/Retry.Tests.ps1", "a/Retry.ps1"),
            ("a/retry.cy.ts", "a/retry.ts"),
            ("a/tst_retry.qml", "a/Retry.qml"),
            ("a/retry_unittest.cc", "a/retry.cc"),
            ("a/RetryTest.java", "a/Retry.java"),
            ("src/test/java/a/RetryIT.java", "src/main/java/a/Retry.java"),
            ("src/test/java/a/RetryITCase.java", "src/main/java/a/Retry.java"),
            ("a/retry_internal_test.go", "a/retry.go"),
            ("a/retry.e2e-spec.ts", "a/retry.ts"),
            ("a/retry.unit.test.ts", "a/retry.ts"),
            ("test/Retry.t.sol", "src/Retry.sol"),
            ("a/retry_unittests.cc", "a/retry.cc"),
            ("a/retry_SUITE.erl", "a/retry.erl"),
            ("a/TST_Retry.qml", "a/Retry.qml"),
            ("src/test/java/a/TestRetry.java", "src/main/java/a/Retry.java"),
            ("a/RetryTestCase.java", "a/Retry.java"),
            ("tests/net/mod.rs", "src/net/mod.rs"),
            ("tests/test_net.py", "src/net/__init__.py"),
            ("tests/test_my_retry.py", "src/myretry.py"),
        ] {
            assert!(is_partner(a, b, &facts) && is_partner(b, a, &facts), "{a} and {b}");
        }
        for (a, b) in [
            ("a/retry.py", "b/retry.py"),
            ("a/test_retry.py", "a/test_retry.py"),
            ("tests/retry.py", "tests/test_retry.py"),
            ("a/test_retry.py", "a/other.py"),
            ("tests/net/mod.rs", "src/io/mod.rs"),
            ("a/testament.py", "a/ament.py"),
        ] {
            assert!(!is_partner(a, b, &facts), "{a} and {b}");
        }
    }

    #[test]
    fn of_several_the_nearest_is_the_partner() {
        let facts = LanguageFacts::sample();
        for (path, others, expected) in [
            ("tests/net/test_io.py", "src/disk/io.py src/net/io.py", "src/net/io.py"),
            ("tests/test_io.py", "b/io.py a/io.py", "a/io.py"),
            ("tests/test_io.py", "a/io.rs b/io.py", "b/io.py"),
            ("src/net/io.py", "tests/disk/test_io.py tests/net/test_io.py src/io.py", "tests/net/test_io.py"),
            ("src/io.py", "src/other.py", ""),
        ] {
            assert_eq!(partner(path, others.split(' '), &facts).unwrap_or_default(), expected, "{path}");
        }
    }
}
