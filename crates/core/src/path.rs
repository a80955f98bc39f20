//! What a path says about a file: its stem, its folders, its class.

use serde::{Deserialize, Serialize};

use crate::language::LanguageFacts;
use crate::token::{Tokenizer, parts, words};

// Whole folder names in lower case, and whole parts of file names: `latest/` and `inspect.py` are not tests.
const TEST_FOLDERS: [&str; 18] = [
    "test",
    "tests",
    "__tests__",
    "spec",
    "specs",
    "testing",
    "testsuite",
    "testdata",
    "test-d",
    "__mocks__",
    "mock",
    "mocks",
    "__snapshots__",
    "fixture",
    "fixtures",
    "e2e",
    "regress",
    "regression",
];
const BENCHMARK_FOLDERS: [&str; 5] = ["bench", "benches", "benchmark", "benchmarks", "benchmarking"];
const COMPAT_FOLDERS: [&str; 4] = ["compat", "_compat", "legacy", "deprecated"];
const EXAMPLE_FOLDERS: [&str; 11] = [
    "example",
    "examples",
    "_example",
    "_examples",
    "doc_src",
    "docs_src",
    "sample",
    "samples",
    "demo",
    "demos",
    "tutorial",
];
const VENDORED_FOLDERS: [&str; 11] = [
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "bower_components",
    "external",
    "deps",
    "generated",
    "__generated__",
];

/// Names of folders of backups, and last parts of the names of such files.
const BACKUPS: [&str; 3] = ["bak", "old", "orig"];
/// The same for files, behind a dot or a blank alone: `deep_copy.py` and `db_backup.py` have a purpose.
const COPIES: [&str; 2] = ["backup", "copy"];

/// Folders of translation catalogues.
const CATALOGUE_FOLDERS: [&str; 9] =
    ["i18n", "l10n", "lang", "langs", "locale", "locales", "messages", "translation", "translations"];
/// Extensions that only translation catalogues have, and those that they have in such folders.
const CATALOGUE_EXTENSIONS: [&str; 6] = ["arb", "po", "pot", "resx", "strings", "xliff"];
const CATALOGUE_DATA_EXTENSIONS: [&str; 6] = ["ini", "json", "properties", "toml", "yaml", "yml"];
/// Stems of change logs, `-` and `_` left out.
const CHANGE_LOGS: [&str; 8] =
    ["changelog", "changelogs", "changes", "history", "news", "releasehistory", "releasenotes", "releases"];
/// Words of queries that ask for catalogues.
const CATALOGUE_WORDS: [&str; 16] = [
    "changelog",
    "i18n",
    "l10n",
    "language",
    "languages",
    "locale",
    "locales",
    "localisation",
    "localization",
    "release",
    "translate",
    "translated",
    "translation",
    "translations",
    "translator",
    "typo",
];

/// Whether a file is a catalogue of translations or a changelog, which contain every project's words.
pub fn is_catalogue(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
    let is_prose = matches!(extension, "" | "md" | "rst" | "txt" | "adoc" | "markdown");
    let in_folder = folders.split('/').any(|folder| CATALOGUE_FOLDERS.contains(&folder));
    let of_changes = folders.rsplit('/').next().is_some_and(|folder| CHANGE_LOGS.contains(&folder));
    let is_log = of_changes || CHANGE_LOGS.contains(&stem.replace(['-', '_'], "").as_str());
    CATALOGUE_EXTENSIONS.contains(&extension)
        || (in_folder && CATALOGUE_DATA_EXTENSIONS.contains(&extension))
        || (is_prose && is_log)
}

/// Whether a text asks for catalogues of translations or logs of changes.
pub fn asks_for_catalogues(text: &str) -> bool {
    words(text).any(|word| CATALOGUE_WORDS.contains(&text[word].to_lowercase().as_str()))
}

/// Words after `test` in the name of a folder of test support. `test-runner/` may be what a project is about.
const TEST_SUPPORT: [&str; 13] = [
    "app", "apps", "cases", "data", "files", "fixtures", "helper", "helpers", "suite", "suites", "support", "util",
    "utils",
];
/// The same in one word.
const JOINED_TEST_SUPPORT: [&str; 7] =
    ["testcases", "testhelper", "testhelpers", "testsuites", "testsupport", "testutil", "testutils"];

/// The parts of a name, lower case: `testing-support`, `Acme.Tests` and `FooTests` have two.
fn name_parts(name: &str) -> Vec<String> {
    words(name)
        .flat_map(|word| {
            let word = &name[word];
            parts(word).map(move |part| word[part].to_lowercase())
        })
        .collect()
}

/// `android-test`, `FooTests`, `test-utils`, `ParserTestHelpers`, `testutil`, but neither `test` alone nor `contests`.
fn is_test_compound(parts: &[String]) -> bool {
    let Some(last) = parts.last() else { return false };
    let before = parts.iter().nth_back(1).map(String::as_str);
    JOINED_TEST_SUPPORT.contains(&last.as_str())
        || (matches!(last.as_str(), "test" | "tests") && before.is_some())
        || (matches!(before, Some("test" | "tests" | "testing")) && TEST_SUPPORT.contains(&last.as_str()))
}

/// `foo-compat`, `foo-legacy`, `foo-deprecated`.
fn is_compat_compound(parts: &[String]) -> bool {
    parts.len() > 1 && parts.last().is_some_and(|last| COMPAT_FOLDERS.contains(&last.as_str()))
}

/// Prefixes of the names of tests, in any language.
const TEST_STARTS: [&str; 4] = ["test_", "test-", "tst_", "TST_"];
/// Suffixes of the names of tests, in any language.
const TEST_ENDS: [&str; 8] = ["_test", "_tests", "_spec", "-spec", "-test", "_unittest", "_unittests", "_SUITE"];
/// The same for names in camel case.
const CAMEL_TEST_ENDS: [&str; 6] = ["Test", "Tests", "Spec", "Specs", "Suite", "TestCase"];

/// Whether a file is a test by its name; `languages` adds to the general conventions.
fn is_test_file(file: &str, stem: &str, extension: &str, languages: &LanguageFacts) -> bool {
    let last_part = stem.rsplit('.').next().filter(|part| *part != stem).unwrap_or_default().to_lowercase();
    let last_part = last_part.trim_end_matches("-d");
    TEST_STARTS.iter().any(|start| stem.starts_with(start))
        || TEST_ENDS.iter().any(|end| stem.ends_with(end))
        || (is_camel_test(stem) && languages.any(|l| l.camel_tests, |e| e == extension))
        || (is_surefire_test(stem) && languages.any(|l| l.surefire_tests, |e| e == extension))
        || matches!(last_part, "test" | "tests" | "spec" | "e2e")
        || languages.any(|l| l.test_parts, |part| part == last_part)
        || stem == "tests"
        || languages.any(|l| l.test_files, |name| name == file)
        || languages.any(|l| l.test_extensions, |e| e == extension)
}

/// `FooTest`, `foo_Spec`, `FooTestCase`, but not `Latest`.
fn is_camel_test(stem: &str) -> bool {
    CAMEL_TEST_ENDS.iter().filter_map(|end| stem.strip_suffix(end)).any(ends_a_word)
}

/// `TestFoo`, `FooIT` and `FooITCase`, the patterns of Maven's plugins.
fn is_surefire_test(stem: &str) -> bool {
    stem.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase))
        || stem.strip_suffix("Case").unwrap_or(stem).strip_suffix("IT").is_some_and(ends_a_word)
}

fn ends_a_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_lowercase() || c.is_ascii_digit() || c == '_')
}

fn is_benchmark_file(stem: &str, extension: &str, languages: &LanguageFacts) -> bool {
    let is_camel = || stem.strip_suffix("Bench").is_some_and(ends_a_word);
    stem.to_lowercase().contains("benchmark")
        || stem.starts_with("bench_")
        || stem.ends_with("_bench")
        || stem.ends_with("-bench")
        || stem.contains(".bench")
        || (is_camel() && languages.any(|l| l.camel_tests, |e| e == extension))
}

fn is_generated_file(file: &str, stem: &str, languages: &LanguageFacts) -> bool {
    let last = |separators: [char; 3]| stem.rsplit(separators).next().filter(|part| *part != stem).unwrap_or_default();
    matches!(last(['.', '_', '-']), "generated" | "pb" | "pb2" | "min")
        || stem.ends_with("_pb2_grpc")
        || languages.any(|l| l.generated, |end| file.ends_with(end))
}

/// Whether a file is a backup by its name: `a.bak.py`, `a.py.orig`, `a_old.py`, `a copy.py`, `a.py~`.
fn is_backup_file(file: &str, stem: &str, extension: &str) -> bool {
    let lower = stem.to_lowercase();
    let ends_in = |marks: &[char], names: &[&str]| {
        lower.rsplit_once(marks).is_some_and(|(front, last)| !front.is_empty() && names.contains(&last))
    };
    file.ends_with('~')
        || BACKUPS.contains(&extension.to_lowercase().as_str())
        || ends_in(&['.', '_', '-', ' '], &BACKUPS)
        || ends_in(&['.', ' '], &COPIES)
}

/// A set of path classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathClass(u8);

impl PathClass {
    /// Tests, fixtures, mocks, snapshots.
    pub const TEST: PathClass = PathClass(1);
    pub const BENCHMARK: PathClass = PathClass(2);
    /// Compatibility layers and deprecated code.
    pub const COMPAT: PathClass = PathClass(4);
    /// Examples, samples, demos.
    pub const EXAMPLE: PathClass = PathClass(8);
    /// Type declarations without code (`.d.ts`).
    pub const TYPINGS: PathClass = PathClass(16);
    /// Files that only re-export definitions of others (`__init__.py`, `package-info.java`).
    pub const BARREL: PathClass = PathClass(32);
    /// Vendored or generated files, and backups.
    pub const VENDORED: PathClass = PathClass(64);

    /// Files that repeat others, or come from elsewhere.
    pub const REPEATS: PathClass =
        PathClass::TEST.with(PathClass::BENCHMARK).with(PathClass::EXAMPLE).with(PathClass::VENDORED);
    /// Files that are rarely searched for.
    pub const ASIDE: PathClass = PathClass::REPEATS.with(PathClass::COMPAT);

    /// Whether any class of `other` is in this set.
    pub const fn has(self, other: PathClass) -> bool {
        self.0 & other.0 != 0
    }

    #[must_use]
    pub const fn with(self, other: PathClass) -> PathClass {
        PathClass(self.0 | other.0)
    }

    /// The classes of a path (relative, `/` between components).
    pub fn of(path: &str, languages: &LanguageFacts) -> PathClass {
        let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = stem_of(file);
        let extension = file.get(stem.len() + 1..).unwrap_or_default();
        let folder_in = |names: &[&str]| folders.split('/').any(|f| names.contains(&f.to_lowercase().as_str()));
        // Perl's habit, and git's: `t/` at the root.
        let is_perls = folders == "t" || folders.starts_with("t/");
        let is_output = folder_in(&["dist"]) || format!("/{folders}/").contains("/priv/static/");
        let is_built = is_output && languages.any(|l| l.built, |built| built == extension);
        let is_backup = folder_in(&BACKUPS) || is_backup_file(file, stem, extension);
        let compound_in = |is: fn(&[String]) -> bool| folders.split('/').any(|folder| is(&name_parts(folder)));
        let all = [
            (
                PathClass::TEST,
                folder_in(&TEST_FOLDERS)
                    || is_perls
                    || compound_in(is_test_compound)
                    || is_test_file(file, stem, extension, languages),
            ),
            (PathClass::BENCHMARK, folder_in(&BENCHMARK_FOLDERS) || is_benchmark_file(stem, extension, languages)),
            (PathClass::COMPAT, folder_in(&COMPAT_FOLDERS) || compound_in(is_compat_compound)),
            (PathClass::EXAMPLE, folder_in(&EXAMPLE_FOLDERS)),
            (PathClass::TYPINGS, languages.any(|l| l.typings, |end| file.ends_with(end))),
            (PathClass::BARREL, languages.any(|l| l.barrels, |name| name == file)),
            (
                PathClass::VENDORED,
                is_built || is_backup || folder_in(&VENDORED_FOLDERS) || is_generated_file(file, stem, languages),
            ),
        ];
        PathClass(all.iter().filter(|(_, is)| *is).fold(0, |set, (class, _)| set | class.0))
    }
}

/// Stems that name a role in any language, not a topic: the folder's name is added to them.
const ROLE_STEMS: [&str; 6] = ["main", "init", "root", "base", "core", "default"];
/// Folder names that describe a project's layout, not its topics.
pub(crate) const LAYOUT_FOLDERS: [&str; 15] = [
    "src", "source", "sources", "lib", "libs", "main", "pkg", "include", "app", "core", "common", "shared", "modules",
    "packages", "trunk",
];

/// What a path says, as tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathFacts {
    /// The file's name without its extension, as written.
    pub stem: String,
    /// Terms of the stem, compounds included.
    pub stem_terms: Vec<String>,
    /// Terms of the stem's parts.
    pub stem_parts: Vec<String>,
    /// Lower-case parts of the stem, unstemmed.
    pub stem_words: Vec<String>,
    /// The stem as one lower-case word without separators; also the key that joins `foo.c` and `foo.h`.
    pub stem_joined: String,
    /// Terms of the file's topic: the stem's parts, or the folder's if the stem names a role; −er/−or folded.
    pub topic_terms: Vec<String>,
    /// Terms of each folder, outermost first, −er/−or folded.
    pub folder_terms: Vec<Vec<String>>,
    /// Whether files of this stem share a role and not a topic: `mod.rs`, `index.ts`.
    pub is_role: bool,
    /// The path's classes.
    pub class: PathClass,
}

impl PathFacts {
    /// Reads a relative path (`/` between components).
    pub fn new(path: &str, languages: &LanguageFacts, tokenizer: &mut Tokenizer) -> PathFacts {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = stem_of(file);
        let folder_name = folder.rsplit('/').next().unwrap_or_default();
        let head = file.trim_start_matches('.').split('.').next().unwrap_or_default();
        let lower = head.to_lowercase();
        let is_language_role = languages.any(|l| l.role_stems, |role| role == lower);
        let topic = if (is_language_role || ROLE_STEMS.contains(&lower.as_str())) && !folder_name.is_empty() {
            // A language's own role (`mod.rs`) adds nothing to the folder's name.
            let own = if is_language_role { "" } else { head };
            format!("{folder_name} {own}")
        } else {
            stem.to_string()
        };
        let mut folded = |text: &str| tokenizer.part_terms(text).iter().map(|t| fold_agent(t)).collect::<Vec<_>>();
        let topic_terms = folded(&topic);
        let folder_terms = folder.split('/').filter(|f| !f.is_empty()).map(folded).collect();
        let stem_joined = joined(head);
        let is_role = ROLE_STEMS.contains(&stem_joined.as_str())
            || languages.any(|l| l.role_stems, |role| joined(role) == stem_joined);
        PathFacts {
            stem: stem.to_string(),
            stem_terms: tokenizer.terms(stem),
            stem_parts: tokenizer.part_terms(stem),
            stem_words: name_parts(stem),
            stem_joined,
            is_role,
            topic_terms,
            folder_terms,
            class: PathClass::of(path, languages),
        }
    }
}

/// A file name without its last extension; a leading dot does not begin an extension.
pub fn stem_of(file: &str) -> &str {
    match file.rfind('.') {
        Some(i) if i > 0 => &file[..i],
        _ => file,
    }
}

/// Lower case, letters and digits only.
pub fn joined(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Folds an agent noun onto its verb's stem, so that `parser` matches `parse`, and `logger` `log`. Strips −er or −or,
/// then a doubled consonant other than l, s, z (Porter2's own rule for −ed and −ing).
pub fn fold_agent(term: &str) -> String {
    let Some(verb) = term.strip_suffix("er").or_else(|| term.strip_suffix("or")).filter(|_| term.len() > 5) else {
        return term.to_string();
    };
    let doubled = ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"].iter().any(|d| verb.ends_with(d));
    verb[..verb.len() - usize::from(doubled)].to_string()
}

/// The terms of a project's own name, from its root folder: the nearest component that is not mere layout.
pub fn project_terms(root: &str, languages: &LanguageFacts, tokenizer: &mut Tokenizer) -> Vec<String> {
    let components = || root.split(['/', '\\']).filter(|c| !c.is_empty());
    let is_layout = |folder: &str| {
        LAYOUT_FOLDERS.contains(&folder) || languages.any(|l| l.layout_folders, |layout| layout == folder)
    };
    let name = components().rev().find(|c| !is_layout(&c.to_lowercase()));
    let terms = tokenizer.terms(name.unwrap_or_default());
    terms.iter().map(|t| fold_agent(t)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogues_go_by_folder_and_ending() {
        for (path, expected) in [
            ("src/locale/de.json", true),
            ("config/locales/de.yml", true),
            ("src/locale/de.js", false),
            ("po/de.po", true),
            ("lang.json", false),
            ("CHANGELOG.md", true),
            ("docs/release-notes.rst", true),
            ("docs/releases/1.2.txt", true),
            ("CHANGES", true),
            ("src/history.rs", false),
        ] {
            assert_eq!(is_catalogue(path), expected, "{path}");
        }
        assert!(asks_for_catalogues("Wrong translation of a date") && !asks_for_catalogues("Wrong date"));
    }

    #[test]
    fn classes_go_by_whole_words() {
        use PathClass as C;
        let all = [C::TEST, C::BENCHMARK, C::COMPAT, C::EXAMPLE, C::TYPINGS, C::BARREL, C::VENDORED];
        for (path, expected) in [
            ("src/latest.py", &[][..]),
            ("src/inspect.rs", &[]),
            ("src/specific/spectrum.c", &[]),
            ("src/contest.go", &[]),
            ("contests/a.go", &[]),
            ("AppTests/a.swift", &[C::TEST]),
            ("app/src/androidTest/a.kt", &[C::TEST]),
            ("android-test/a.kt", &[C::TEST]),
            ("Acme.Tests/a.cs", &[C::TEST]),
            ("integration_tests/a.rs", &[C::TEST]),
            ("acme-testing-support/a.kt", &[C::TEST]),
            ("ParserTestHelpers/a.swift", &[C::TEST]),
            ("test-utils/a.ts", &[C::TEST]),
            ("test_suite/a.ts", &[C::TEST]),
            ("test-data/a.ts", &[C::TEST]),
            ("internal/testutil/a.go", &[C::TEST]),
            ("test-runner/a.ts", &[]),
            ("vitest/a.ts", &[]),
            ("testify/a.go", &[]),
            ("lib/oban/testing.ex", &[]),
            ("acme-compat/a.kt", &[C::COMPAT]),
            ("acme_legacy/a.kt", &[C::COMPAT]),
            ("mail-deprecated/a.kt", &[C::COMPAT]),
            ("compatible/a.kt", &[]),
            ("Latest.java", &[]),
            ("tests/a.py", &[C::TEST]),
            ("a/test_b.py", &[C::TEST]),
            ("a/b_test.go", &[C::TEST]),
            ("a/FooTest.java", &[C::TEST]),
            ("a/foo.spec.ts", &[C::TEST]),
            ("src/__mocks__/fs.js", &[C::TEST]),
            ("a/testdata/x.json", &[C::TEST]),
            ("benches/a.rs", &[C::BENCHMARK]),
            ("examples/a.rs", &[C::EXAMPLE]),
            ("a/compat/b.py", &[C::COMPAT]),
            ("a/index.d.ts", &[C::TYPINGS]),
            ("a/__init__.py", &[C::BARREL]),
            ("vendor/a/b.go", &[C::VENDORED]),
            ("api/a.pb.go", &[C::VENDORED]),
            ("old/a.py", &[C::VENDORED]),
            ("src/a.bak.py", &[C::VENDORED]),
            ("src/a.py.orig", &[C::VENDORED]),
            ("src/a_old.py", &[C::VENDORED]),
            ("src/a copy.py", &[C::VENDORED]),
            ("src/a.py~", &[C::VENDORED]),
            ("src/backup/a.py", &[]),
            ("src/deep_copy.py", &[]),
            ("src/threshold.py", &[]),
            ("src/copy.py", &[]),
            ("src/old.py", &[]),
            ("Testing.swift", &[]),
            ("src/tests.rs", &[C::TEST]),
            ("src/test.rs", &[]),
            ("a/Foo.Tests.rs", &[C::TEST]),
            ("a/tst_foo.rs", &[C::TEST]),
            ("a/test-foo.rs", &[C::TEST]),
            ("a/foo_unittest.rs", &[C::TEST]),
            ("a/TestFoo.java", &[C::TEST]),
            ("a/FooTestCase.java", &[C::TEST]),
            ("a/FooIT.java", &[C::TEST]),
            ("a/FooITCase.java", &[C::TEST]),
            ("a/TST_Foo.qml", &[C::TEST]),
            ("a/foo_unittests.cc", &[C::TEST]),
            ("a/foo_SUITE.erl", &[C::TEST]),
            ("a/FooBench.java", &[C::BENCHMARK]),
            ("a/bench_foo.rs", &[C::BENCHMARK]),
            ("testify.rs", &[]),
            ("tstamp.rs", &[]),
            ("a/TestFoo.rs", &[]),
            ("a/Testament.java", &[]),
            ("a/EXIT.java", &[]),
            ("a/Workbench.java", &[]),
        ] {
            let class = PathClass::of(path, &LanguageFacts::sample());
            for one in all {
                assert_eq!(class.has(one), expected.contains(&one), "{path}: {one:?}");
            }
        }
    }

    #[test]
    fn a_role_stem_takes_its_folders_name() {
        let mut t = Tokenizer::default();
        for (path, topic) in [
            ("src/net/mod.rs", "net"),
            ("src/net/core.rs", "net core"),
            ("http/request_parser.py", "request pars"),
            ("logger.go", "log"),
            ("mod.rs", "mod"),
            ("a/foo.test.ts", "foo test"),
        ] {
            assert_eq!(PathFacts::new(path, &LanguageFacts::sample(), &mut t).topic_terms.join(" "), topic, "{path}");
        }
    }

    #[test]
    fn agent_nouns_fold_onto_verbs() {
        for (noun, verb) in [
            ("parser", "parse"),
            ("logger", "log"),
            ("handler", "handle"),
            ("scanner", "scan"),
            ("iterator", "iterate"),
            ("caller", "call"),
        ] {
            let mut t = Tokenizer::default();
            let [a, b] = [noun, verb].map(|w| fold_agent(t.normal(w)));
            assert_eq!(a, b, "{noun} and {verb}");
        }
    }

    #[test]
    fn a_project_is_named_by_its_root() {
        let mut t = Tokenizer::default();
        for (root, expected) in [
            ("/home/me/fastapi", "fastapi"),
            ("/x/alamofire/Source", "alamofir"),
            ("/x/my-app/src/main", "my app"),
            ("/", ""),
        ] {
            assert_eq!(project_terms(root, &LanguageFacts::sample(), &mut t).join(" "), expected, "{root}");
        }
    }
}
