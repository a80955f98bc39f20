//! The scope of a search, and the path rules of scope and settings, the same for ranked search and for grep.

use std::path::{Component, Path, PathBuf};

use colgrep_core::path::PathClass;
use colgrep_index::walk::IgnorePatterns;
use colgrep_search::is_text;
use colgrep_syntax::language;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::error::{Refused, Result, SettingError};
use crate::project::git;
use crate::project::{Project, slashed};
use crate::request::Pattern;
use crate::request::facts::Facts;
use crate::settings::Settings;
use crate::settings::did_you_mean::nearest;

/// Which files and units may be returned. All conditions apply together, and before the ranking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Scope {
    /// Files and folders to look in. Empty: the current folder, or for [`Question::Like`](crate::Question::Like) the
    /// file's whole project.
    pub paths: Vec<PathBuf>,
    /// Folders that answers name otherwise than from the root of their project, each with its name: globs match such
    /// paths too, and those below several `paths` as these are written.
    #[serde(skip)]
    pub named_folders: Vec<(PathBuf, String)>,
    /// None of these repositories, of those of shards.
    pub repositories_not: Vec<String>,
    /// Only files that match one of these globs; empty: all.
    pub include: Vec<String>,
    /// No files that match one of these globs.
    pub exclude: Vec<String>,
    /// No files below folders that match one of these globs.
    pub exclude_dir: Vec<String>,
    pub include_any_case: Vec<String>,
    pub exclude_any_case: Vec<String>,
    /// Only files of these languages, or of these types of the settings; empty: all.
    pub types: Vec<String>,
    /// No files of these languages or types.
    pub types_not: Vec<String>,
    /// Only files at most this many folders below one of `paths`: 1 for those directly in it.
    pub max_depth: Option<usize>,
    /// No prose, configuration or data.
    pub code_only: Option<bool>,
    pub tests: Option<Tests>,
    /// Only files that git says are changed.
    pub changes: Option<Changes>,
    /// Only units with a match of this pattern on their lines.
    pub pattern: Option<Pattern>,
    /// Only units with a match of this structural pattern; with `pattern` too, with a match of that inside.
    pub structure: Option<String>,
    /// Only units with these facts.
    pub facts: Facts,
}

impl Scope {
    /// Whether units need a match of a pattern.
    pub fn has_pattern(&self) -> bool {
        self.pattern.is_some() || self.structure.is_some()
    }
}

/// How tests are treated, by their path or inside other files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tests {
    /// Ranked below the code that they test.
    #[default]
    Auto,
    /// Nothing but tests is found.
    Only,
    /// Left out.
    Exclude,
}

impl Tests {
    /// The meaning of a word on the command line.
    pub fn from_name(name: &str) -> Option<Tests> {
        match name.to_lowercase().as_str() {
            "auto" => Some(Tests::Auto),
            "only" => Some(Tests::Only),
            "exclude" => Some(Tests::Exclude),
            _ => None,
        }
    }
}

/// The state against which git counts a file as changed. New files that git does not ignore always count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Changes {
    /// The last commit.
    Uncommitted,
    /// A commit, branch or tag.
    Since(String),
}

/// A name that no file has.
const UNNAMED: &str = "\0\0\0";

/// Globs over paths from a project's root. A pattern matches names at any depth, or from the root if it begins with
/// `/`. One that matches a folder covers everything below it. `a/` matches folders only, `./a` is `a`, and `*` does not
/// cross a `/`.
#[derive(Debug)]
pub(crate) struct Globs {
    any: GlobSet,
    folders: GlobSet,
}

impl Globs {
    /// Compiles globs; `None` if the list is empty.
    ///
    /// # Errors
    /// When one is not a valid glob.
    pub(crate) fn new(patterns: &[String]) -> Result<Option<Globs>> {
        Globs::with_any_case(patterns, &[])
    }

    /// As [`Globs::new`]; those of `any_case` match letters of any case.
    fn with_any_case(patterns: &[String], any_case: &[String]) -> Result<Option<Globs>> {
        if patterns.is_empty() && any_case.is_empty() {
            return Ok(None);
        }
        let (mut any, mut folders) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let as_written = patterns.iter().map(|pattern| (pattern, false));
        for (pattern, ignore_case) in as_written.chain(any_case.iter().map(|pattern| (pattern, true))) {
            let mut bare = pattern.as_str();
            while let Some(rest) = bare.strip_prefix("./") {
                bare = rest;
            }
            let set = if bare.ends_with('/') { &mut folders } else { &mut any };
            bare = bare.trim_end_matches('/');
            let text = match bare.strip_prefix('/') {
                Some(anchored) => anchored.to_string(),
                None if bare.starts_with("**/") => bare.to_string(),
                None => format!("**/{bare}"),
            };
            let glob = GlobBuilder::new(&text).literal_separator(true).case_insensitive(ignore_case).build();
            set.add(glob.map_err(|source| no_glob(pattern, source))?);
        }
        let all = |source| no_glob(&patterns.join(" "), source);
        Ok(Some(Globs { any: any.build().map_err(all)?, folders: folders.build().map_err(all)? }))
    }

    /// Whether the path or a folder above it matches.
    pub(crate) fn is_match(&self, path: &str) -> bool {
        self.any.is_match(path) || self.is_below_match(path)
    }

    /// Whether a folder above the path matches.
    fn is_below_match(&self, path: &str) -> bool {
        folders(path).any(|f| self.any.is_match(f) || self.folders.is_match(f))
    }
}

/// The folders above a path, each as a path: `a/b/c.rs` → `a`, `a/b`.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(i, _)| &path[..i])
}

/// Which part of a file passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    All,
    Tests,
    /// All but the tests inside it.
    Rest,
}

/// Path rules of one search in one project.
#[derive(Debug)]
pub struct PathRules {
    include: Option<Globs>,
    exclude: Option<Globs>,
    exclude_dir: Option<Globs>,
    languages: Vec<&'static str>,
    types: Option<Globs>,
    languages_not: Vec<&'static str>,
    types_not: Option<Globs>,
    /// Maximum depth in folders, and the paths from which it is counted.
    depth: Option<(usize, Vec<String>)>,
    code_only: bool,
    tests: Tests,
    changed: Option<git::Changed>,
    ignore: Option<IgnorePatterns>,
    /// Paths that are left out with all below them.
    without: Vec<String>,
    /// Folders from the root, with the names that answers have for them.
    named_folders: Vec<(String, String)>,
}

/// The folders of a project that answers of a scope name otherwise than from its root.
fn named_folders(scope: &Scope, root: &Path) -> Vec<(String, String)> {
    let globs = [&scope.include, &scope.exclude, &scope.exclude_dir, &scope.include_any_case, &scope.exclude_any_case];
    if globs.into_iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let written = scope.paths.iter().filter(|_| scope.paths.len() > 1).map(|path| (path, as_written(path)));
    let named = scope.named_folders.iter().map(|(folder, name)| (folder, name.trim_end_matches('/').to_string()));
    let named = named.chain(written).filter(|(_, name)| !name.is_empty());
    let below = |folder: &Path| Some(slashed(folder.canonicalize().ok()?.strip_prefix(root).ok()?));
    named.filter_map(|(folder, name)| Some((below(folder)?, name))).filter(|(below, name)| below != name).collect()
}

/// The names at the end of a written path; of an absolute one the last, since those above it are in no one's mind.
fn as_written(path: &Path) -> String {
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let names: Vec<_> =
        path.components().rev().take_while(is_name).take(if path.is_absolute() { 1 } else { 99 }).collect();
    slashed(&names.into_iter().rev().collect::<PathBuf>())
}

impl PathRules {
    /// Makes the rules of a scope and the settings for a project. With `no_ignore`, paths that the settings ignore pass
    /// too.
    ///
    /// # Errors
    /// On a bad glob, an unknown language, or where git is asked and has no answer.
    pub fn new(scope: &Scope, no_ignore: bool, settings: &Settings, project: &Project) -> Result<PathRules> {
        let root = project.root.as_path();
        let (languages, types) = types_of(&scope.types, settings)?;
        let (languages_not, types_not) = types_of(&scope.types_not, settings)?;
        let changed = match &scope.changes {
            Some(Changes::Since(since)) => Some(git::changed(project, Some(since))?),
            Some(Changes::Uncommitted) => Some(git::changed(project, None)?),
            None => None,
        };
        Ok(PathRules {
            include: Globs::with_any_case(&scope.include, &scope.include_any_case)?,
            exclude: Globs::with_any_case(&scope.exclude, &scope.exclude_any_case)?,
            exclude_dir: Globs::new(&scope.exclude_dir)?,
            languages,
            types,
            languages_not,
            types_not,
            depth: scope.max_depth.map(|depth| (depth, Vec::new())),
            code_only: scope.code_only.unwrap_or(settings.is_on("code_only")),
            tests: scope.tests.or_else(|| Tests::from_name(settings.text("tests")?)).unwrap_or_default(),
            changed,
            // Files that the index leaves out need no second check.
            ignore: match settings.ignore() {
                known if known == project.ignored || no_ignore => None,
                patterns => ignore_rules(patterns, root)?,
            },
            without: Vec::new(),
            named_folders: named_folders(scope, root),
        })
    }

    /// The same rules for a path that the user named: if the setting `ignore` matches that path itself, it is
    /// disregarded below it, as with ignore files.
    pub fn named(mut self, path: &str) -> PathRules {
        self.ignore = self.ignore.filter(|ignore| {
            // A pattern for folders alone has to match a named folder too.
            let is_ignored = |is_folder| ignore.ignore_below(Path::new(path), is_folder);
            path.is_empty() || !(is_ignored(true) || is_ignored(false))
        });
        self
    }

    /// The same rules for a search below these paths: the depth of folders is counted from them instead of the
    /// project's root.
    #[must_use]
    pub fn below(mut self, paths: &[String]) -> PathRules {
        if let Some((_, from)) = &mut self.depth {
            *from = paths.to_vec();
        }
        self
    }

    /// The same rules without these paths and all below them.
    #[must_use]
    pub fn without(mut self, paths: &[String]) -> PathRules {
        self.without = paths.to_vec();
        self
    }

    /// Whether a path (from the project's root, `/` between components) of that language passes.
    pub fn allow<'l>(&self, path: &str, language: impl Fn() -> &'l str) -> bool {
        self.part(path, language, false) == Some(FilePart::All)
    }

    /// Which part of a file passes; `None` where nothing does. `has_tests` is whether tests lie inside it.
    pub fn part<'l>(&self, path: &str, language: impl Fn() -> &'l str, has_tests: bool) -> Option<FilePart> {
        if !self.allows_but_for_tests(path, language) {
            return None;
        }
        let is_test = || PathClass::of(path, language::facts()).has(PathClass::TEST);
        match (self.tests, self.tests != Tests::Auto && is_test(), has_tests) {
            (Tests::Auto, ..) | (Tests::Only, true, _) | (Tests::Exclude, false, false) => Some(FilePart::All),
            (Tests::Only, false, true) => Some(FilePart::Tests),
            (Tests::Exclude, false, true) => Some(FilePart::Rest),
            (Tests::Only, false, false) | (Tests::Exclude, true, _) => None,
        }
    }

    /// The files that git says are changed, where they are asked for.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        self.changed.iter().flat_map(git::Changed::files)
    }

    /// Whether the rules ask for tests or exclude them.
    pub fn asks_for_tests(&self) -> bool {
        self.tests != Tests::Auto
    }

    /// Whether something may pass below a folder that nobody can look into.
    pub fn allows_below(&self, folder: &str) -> bool {
        // A file whose name no glob has in mind: what leaves it out leaves out all.
        let any = if folder.is_empty() { UNNAMED.to_string() } else { format!("{folder}/{UNNAMED}") };
        !self.leaves_out(&any)
    }

    fn allows_but_for_tests<'l>(&self, path: &str, language: impl Fn() -> &'l str) -> bool {
        self.include.as_ref().is_none_or(|p| self.is_any_name(path, |name| p.is_match(name)))
            && !self.leaves_out(path)
            && self.changed.as_ref().is_none_or(|c| c.contains(path))
            && self.allows_type(path, &language)
            && (!self.code_only || !is_text(language()))
    }

    /// Whether the path from the root is meant, or as an answer names it.
    fn is_any_name(&self, path: &str, is_meant: impl Fn(&str) -> bool) -> bool {
        let named = self.named_folders.iter().filter(|(below, _)| is_below(path, below));
        let mut named = named.map(|(below, name)| match path[below.len()..].trim_start_matches('/') {
            "" => name.clone(),
            rest => format!("{name}/{rest}"),
        });
        is_meant(path) || named.any(|name| is_meant(&name))
    }

    /// Whether a rule excludes a path, rather than another one being requested.
    fn leaves_out(&self, path: &str) -> bool {
        self.exclude.as_ref().is_some_and(|p| self.is_any_name(path, |name| p.is_match(name)))
            || self.exclude_dir.as_ref().is_some_and(|p| self.is_any_name(path, |name| p.is_below_match(name)))
            || self.without.iter().any(|without| is_below(path, without))
            || self.ignore.as_ref().is_some_and(|i| i.ignore_below(Path::new(path), false))
            || !self.allows_depth(path)
    }

    /// Whether a path is within the maximum depth below one of the searched paths. A file that is searched itself has
    /// depth 0.
    fn allows_depth(&self, path: &str) -> bool {
        let Some((most, from)) = &self.depth else { return true };
        let depth = |below: &str| match path.strip_prefix(below).unwrap_or(path).trim_start_matches('/') {
            "" => 0,
            inside => inside.split('/').count(),
        };
        match from.iter().filter(|below| is_below(path, below)).map(|below| depth(below)).min() {
            Some(depth) => depth <= *most,
            None => depth("") <= *most,
        }
    }

    fn allows_type<'l>(&self, path: &str, language: &impl Fn() -> &'l str) -> bool {
        let is_refused = self.types_not.as_ref().is_some_and(|t| t.is_match(path))
            || (!self.languages_not.is_empty() && self.languages_not.contains(&language()));
        !is_refused && self.is_of_type(path, language)
    }

    fn is_of_type<'l>(&self, path: &str, language: &impl Fn() -> &'l str) -> bool {
        (self.languages.is_empty() && self.types.is_none())
            || self.types.as_ref().is_some_and(|t| t.is_match(path))
            || (!self.languages.is_empty() && self.languages.contains(&language()))
    }

    /// Whether every path passes.
    pub fn allows_all(&self) -> bool {
        self.include.is_none()
            && self.exclude.is_none()
            && self.exclude_dir.is_none()
            && self.languages.is_empty()
            && self.types.is_none()
            && self.languages_not.is_empty()
            && self.types_not.is_none()
            && self.depth.is_none()
            && self.changed.is_none()
            && self.ignore.is_none()
            && self.without.is_empty()
            && self.tests == Tests::Auto
            && !self.code_only
    }
}

fn no_glob(pattern: &str, source: globset::Error) -> Refused {
    Refused::Glob { pattern: pattern.to_string(), source: source.into() }
}

/// The languages and globs that the names of types refer to.
fn types_of(names: &[String], settings: &Settings) -> Result<(Vec<&'static str>, Option<Globs>)> {
    let own = settings.types();
    let (mut languages, mut globs) = (Vec::new(), Vec::new());
    for name in names {
        if let Some(patterns) = own.get(name.as_str()) {
            globs.extend(patterns.iter().cloned());
        } else if let Some(language) = language::by_name(name) {
            languages.push(language.name);
        } else {
            let known = language::known().map(|l| l.name).chain(own.keys().copied());
            let known: Vec<String> = known.map(str::to_string).collect();
            let near = nearest(name, known.iter().map(String::as_str)).map(str::to_string);
            return Err(Refused::Type { name: name.clone(), near, known }.into());
        }
    }
    Ok((languages, Globs::new(&globs)?))
}

fn ignore_rules(patterns: &[String], root: &Path) -> Result<Option<IgnorePatterns>> {
    let checked = IgnorePatterns::checked(root, patterns.iter().map(String::as_str));
    let patterns = checked.map_err(|error| SettingError::Ignore(error.into()))?;
    Ok(Some(patterns).filter(|patterns| !patterns.is_empty()))
}

/// Whether `path` is `below` or lies below it; everything lies below the empty path.
pub fn is_below(path: &str, below: &str) -> bool {
    below.is_empty() || path.strip_prefix(below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The languages and types that `-t` takes, one a line, as ripgrep lists them: `name: *.ext, file name`. An ending
/// shared by several languages is marked.
pub fn type_list(settings: &Settings) -> String {
    let mut lines: Vec<String> = language::known()
        .map(|l| {
            let mut patterns: Vec<String> = l.extensions.iter().map(|e| format!("*.{e}")).collect();
            patterns.extend(l.shared_extensions().map(|e| format!("*.{e} (by content)")));
            patterns.extend(l.file_names.iter().map(|n| (*n).to_string()));
            patterns.extend(l.interpreters.iter().map(|i| format!("#!{i}")));
            let names: Vec<&str> = std::iter::once(l.name).chain(l.aliases.iter().copied()).collect();
            format!("{}: {}\n", names.join("|"), patterns.join(", "))
        })
        .collect();
    lines.extend(settings.types().iter().map(|(name, globs)| format!("{name}: {} (settings)\n", globs.join(", "))));
    lines.sort();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_speak_of_names_at_any_depth() {
        let env =
            crate::settings::env::Env::read(std::iter::once(("COLGREP_DATA_DIR".into(), "/nowhere".into()))).unwrap();
        let (nowhere, _) = Project::around(Path::new("/"), &env).unwrap();
        let rules = |set: fn(&mut Scope)| {
            let mut scope = Scope::default();
            set(&mut scope);
            PathRules::new(&scope, false, &Settings::default(), &nowhere).unwrap()
        };
        for (rules, path, language, expected) in [
            (rules(|a| a.include = vec!["*.py".into()]), "a/b.py", "python", true),
            (rules(|a| a.include = vec!["*.py".into()]), "a/b.pyc", "unknown", false),
            (rules(|a| a.include = vec!["src/**".into()]), "src/a/b.py", "python", true),
            (rules(|a| a.include = vec!["src/**/*.py".into()]), "x/src/b.py", "python", true),
            (rules(|a| a.include = vec!["*.{ts,tsx}".into()]), "a/b.tsx", "tsx", true),
            (rules(|a| a.include = vec!["a/".into()]), "x/a/b.py", "python", true),
            (rules(|a| a.include = vec!["a/".into()]), "x/a", "unknown", false),
            (rules(|a| a.include = vec!["./a".into()]), "a/b.py", "python", true),
            (rules(|a| a.include = vec!["/a".into()]), "x/a/b.py", "python", false),
            (rules(|a| a.include = vec!["/a/*.py".into()]), "a/b.py", "python", true),
            (rules(|a| a.include = vec!["/*.py".into()]), "a/b.py", "python", false),
            (rules(|a| a.exclude = vec!["*_test.go".into()]), "x/a_test.go", "go", false),
            (rules(|a| a.exclude = vec!["x/".into()]), "x/a.go", "go", false),
            (rules(|a| a.exclude_dir = vec!["vendor".into()]), "x/vendor/a.go", "go", false),
            (rules(|a| a.exclude_dir = vec!["vendor/".into()]), "x/vendor/a.go", "go", false),
            (rules(|a| a.exclude_dir = vec!["./x/vend*".into()]), "x/vendor/b/a.go", "go", false),
            (rules(|a| a.exclude_dir = vec!["vendor".into()]), "x/vendor.go", "go", true),
            (rules(|a| a.exclude_dir = vec!["vendor".into()]), "x/vendor", "go", true),
            (rules(|a| a.types = vec!["py".into()]), "a.py", "python", true),
            (rules(|a| a.types = vec!["py".into()]), "a.go", "go", false),
            (rules(|a| a.types_not = vec!["py".into()]), "a.py", "python", false),
            (rules(|a| a.types_not = vec!["py".into()]), "a.go", "go", true),
            (rules(|a| a.include_any_case = vec!["*.PY".into()]), "a/B.py", "python", true),
            (rules(|a| a.include = vec!["*.PY".into()]), "a/B.py", "python", false),
            (rules(|a| a.exclude_any_case = vec!["readme*".into()]), "README.md", "markdown", false),
            (rules(|a| a.max_depth = Some(1)), "a.py", "python", true),
            (rules(|a| a.max_depth = Some(1)), "a/b.py", "python", false),
            (rules(|a| a.max_depth = Some(2)), "a/b.py", "python", true),
            (rules(|a| a.max_depth = Some(0)), "a.py", "python", false),
            (rules(|a| a.code_only = Some(true)), "README.md", "markdown", false),
            (rules(|a| a.code_only = Some(true)), "Makefile", "make", true),
            (rules(|a| a.tests = Some(Tests::Only)), "tests/a.py", "python", true),
            (rules(|a| a.tests = Some(Tests::Only)), "latest/a.py", "python", false),
            (rules(|a| a.tests = Some(Tests::Exclude)), "a_test.go", "go", false),
        ] {
            assert_eq!(rules.allow(path, || language), expected, "{path}: {rules:?}");
        }
    }

    #[test]
    fn a_closed_folder_is_left_out_with_all_below_it_or_not_at_all() {
        let env =
            crate::settings::env::Env::read(std::iter::once(("COLGREP_DATA_DIR".into(), "/nowhere".into()))).unwrap();
        let (nowhere, _) = Project::around(Path::new("/"), &env).unwrap();
        type Row = (fn(&mut Scope), bool);
        let rows: [Row; 10] = [
            (|_| {}, true),
            (|a| a.include = vec!["*.py".into()], true),
            (|a| a.types = vec!["py".into()], true),
            (|a| a.exclude = vec!["*.py".into()], true),
            (|a| a.exclude = vec!["dark".into()], false),
            (|a| a.exclude = vec!["src/".into()], false),
            (|a| a.exclude = vec!["dark/**".into()], false),
            (|a| a.exclude_dir = vec!["dark".into()], false),
            (|a| a.max_depth = Some(3), true),
            (|a| a.max_depth = Some(2), false),
        ];
        for (set, expected) in rows {
            let mut scope = Scope::default();
            set(&mut scope);
            let rules = PathRules::new(&scope, false, &Settings::default(), &nowhere).unwrap();
            assert_eq!(rules.allows_below("src/dark"), expected, "{scope:?}");
        }
    }

    #[test]
    fn every_extension_of_a_type_is_listed() {
        let list = type_list(&Settings::default());
        for (name, pattern) in [
            ("typescript|ts", "*.mts, *.cts, *.ts (by content)"),
            ("xml:", "*.ts (by content)"),
            ("c:", "*.c, *.h (by content), *.inc (by content)"),
            ("cpp|", "*.h (by content)"),
            ("objc|", "*.mm, *.h (by content), *.m (by content)"),
            ("r:", "*.r (by content)"),
            ("perl|", "*.pl (by content), *.t (by content)"),
        ] {
            let line = list.lines().find(|l| l.starts_with(name));
            assert!(line.is_some_and(|l| l.contains(pattern)), "{name}: {line:?}");
        }
    }

    #[test]
    fn below_means_whole_components() {
        for (path, below, expected) in
            [("src/a.rs", "src", true), ("src2/a.rs", "src", false), ("a.rs", "a.rs", true), ("x", "", true)]
        {
            assert_eq!(is_below(path, below), expected, "{path} below {below}");
        }
    }
}
