//! Facts about programming languages for the rules of queries and paths. Core has no table of languages; callers pass
//! these facts in.

use std::collections::HashSet;

/// How a language names its files. Each list may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LanguagePaths {
    /// Extensions of files whose tests are named in camel case: `java`, for `FooTest.java`.
    pub camel_tests: &'static [&'static str],
    /// Extensions of files that are tests, whatever their name.
    pub test_extensions: &'static [&'static str],
    /// Extensions of files for which `TestFoo` and `FooIT` are tests, as in Maven's plugins.
    pub surefire_tests: &'static [&'static str],
    /// Whole names of test files: `conftest.py`.
    pub test_files: &'static [&'static str],
    /// Parts before a test file's extension: `cy`, for `login.cy.js`.
    pub test_parts: &'static [&'static str],
    /// Ends of the names of files that only declare types: `.d.ts`.
    pub typings: &'static [&'static str],
    /// Names of files that only re-export definitions of others: `__init__.py`.
    pub barrels: &'static [&'static str],
    /// Ends of the names of generated files: `.g.dart`.
    pub generated: &'static [&'static str],
    /// Extensions of build outputs in a folder `dist`: `js`. Other languages may keep sources there.
    pub built: &'static [&'static str],
    /// Stems that name a role rather than a topic, such as `mod`; the folder's name replaces them.
    pub role_stems: &'static [&'static str],
    /// Source folders of the language, by layout: `python`, for `src/python`.
    pub layout_folders: &'static [&'static str],
    /// Extensions of files that are imported by their folder: `go`.
    pub folder_modules: &'static [&'static str],
}

impl LanguagePaths {
    /// No rules, for languages without any.
    pub const NONE: LanguagePaths = LanguagePaths {
        camel_tests: &[],
        test_extensions: &[],
        surefire_tests: &[],
        test_files: &[],
        test_parts: &[],
        typings: &[],
        barrels: &[],
        generated: &[],
        built: &[],
        role_stems: &[],
        layout_folders: &[],
        folder_modules: &[],
    };
}

/// Facts about all languages together. The default has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanguageFacts {
    endings: HashSet<&'static str>,
    declaration_keywords: HashSet<&'static str>,
    rules: Vec<LanguagePaths>,
    /// Names and extensions of each language of code.
    languages: Vec<(Vec<&'static str>, &'static [&'static str])>,
}

impl LanguageFacts {
    /// `endings` are the extensions (without the dot) that make a word of the query a file name.
    pub fn new(
        endings: impl IntoIterator<Item = &'static str>,
        rules: impl IntoIterator<Item = LanguagePaths>,
    ) -> LanguageFacts {
        let rules = rules.into_iter().filter(|rules| *rules != LanguagePaths::NONE).collect();
        LanguageFacts { endings: endings.into_iter().collect(), rules, ..LanguageFacts::default() }
    }

    /// The same, with the languages of code: names, in lower case, and extensions of each.
    pub fn with_languages(
        self,
        languages: impl IntoIterator<Item = (Vec<&'static str>, &'static [&'static str])>,
    ) -> LanguageFacts {
        LanguageFacts { languages: languages.into_iter().collect(), ..self }
    }

    /// The extensions of the language of that name, in any case.
    pub fn endings_of(&self, name: &str) -> Option<&'static [&'static str]> {
        let is_named = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        self.languages.iter().find(|(names, _)| is_named(names)).map(|(_, endings)| *endings)
    }

    /// The extensions of the language of code that has this one.
    pub fn endings_with(&self, ending: &str) -> Option<&'static [&'static str]> {
        self.languages.iter().map(|(_, endings)| *endings).find(|endings| endings.contains(&ending))
    }

    /// The same, with the words that introduce a definition, as written: `class`, `fn`.
    pub fn with_declaration_keywords(self, keywords: impl IntoIterator<Item = &'static str>) -> LanguageFacts {
        LanguageFacts { declaration_keywords: keywords.into_iter().collect(), ..self }
    }

    /// The words that introduce a definition in some language, unordered.
    pub fn declaration_keywords(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.declaration_keywords.iter().copied()
    }

    /// Whether the word introduces a definition's name in some language.
    pub fn is_declaration_keyword(&self, word: &str) -> bool {
        self.declaration_keywords.contains(word)
    }

    /// Whether `name` ends like a file name: `client.py`, and not `http.Client`.
    pub fn is_file_name(&self, name: &str) -> bool {
        name.rsplit_once('.').is_some_and(|(_, ending)| self.endings.contains(ending))
    }

    /// Whether a stem names a role in some language rather than a topic: `mod`, `index`, `__init__`.
    pub fn is_role_stem(&self, stem: &str) -> bool {
        self.any(|rules| rules.role_stems, |role| role.eq_ignore_ascii_case(stem))
    }

    /// Whether the file at `path` is imported by its folder.
    pub(crate) fn imports_folders(&self, path: &str) -> bool {
        path.rsplit_once('.').is_some_and(|(_, ending)| self.any(|rules| rules.folder_modules, |own| own == ending))
    }

    /// Whether a word in one of the languages' lists passes `test`.
    pub(crate) fn any(
        &self,
        list: impl Fn(&LanguagePaths) -> &'static [&'static str],
        test: impl Fn(&'static str) -> bool,
    ) -> bool {
        self.rules.iter().any(|rules| list(rules).iter().any(|word| test(word)))
    }

    /// Facts for the tests of this crate, of a few languages.
    #[cfg(test)]
    pub(crate) fn sample() -> LanguageFacts {
        let rules = LanguagePaths {
            camel_tests: &["java"],
            test_extensions: &["bats"],
            surefire_tests: &["java"],
            test_files: &["conftest.py"],
            test_parts: &["cy"],
            typings: &[".d.ts"],
            barrels: &["__init__.py"],
            generated: &[".g.dart"],
            built: &[],
            role_stems: &["mod", "index", "__init__", "lib"],
            layout_folders: &["python"],
            folder_modules: &["go", "cs"],
        };
        let code: [(Vec<&str>, &[&str]); 4] =
            [(vec!["python"], &["py"]), (vec!["go"], &["go"]), (vec!["typescript"], &["ts"]), (vec!["tsx"], &["tsx"])];
        LanguageFacts::new(["py", "rs", "go", "ts", "dart", "tf"], [rules]).with_languages(code)
    }
}
