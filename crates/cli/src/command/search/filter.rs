//! Filters that apply before the ranking: paths, languages, categories, a regular expression.

use std::collections::HashMap;

use anyhow::{Context as _, Result, bail};
use colgrep_index::language;
use colgrep_index::lexical::UnitFilter;
use colgrep_index::search::is_text;
use colgrep_index::store::{FileRecord, Snapshot};
use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::args::SearchArgs;
use crate::command::grep::{lines_in_files, matcher};
use crate::project::Project;

/// What the flags say about paths.
pub struct PathRules {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
    exclude_dir: Option<GlobSet>,
    languages: Vec<&'static str>,
    code_only: bool,
}

fn globs(patterns: &[String]) -> Result<Option<GlobSet>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let bad = || format!("{pattern:?} is no glob");
        set.add(Glob::new(pattern).with_context(bad)?);
        // As in grep, `*.py` and `src` speak of a name at any depth.
        if !pattern.starts_with("**/") {
            set.add(Glob::new(&format!("**/{}", pattern.trim_start_matches('/'))).with_context(bad)?);
        }
    }
    Ok(Some(set.build()?))
}

impl PathRules {
    /// Reads the flags.
    ///
    /// # Errors
    /// On a bad glob or an unknown language.
    pub fn new(args: &SearchArgs) -> Result<PathRules> {
        let mut languages = Vec::new();
        for name in &args.types {
            match language::by_name(name) {
                Some(language) => languages.push(language.name),
                None => {
                    let known: Vec<&str> = language::LANGUAGES.iter().map(|l| l.name).collect();
                    bail!("{name:?} is no language known here; known are {}", known.join(", "));
                }
            }
        }
        Ok(PathRules {
            include: globs(&args.include)?,
            exclude: globs(&args.exclude)?,
            exclude_dir: globs(&args.exclude_dir)?,
            languages,
            code_only: args.code_only,
        })
    }

    /// Whether a relative path (`/` between components) of that language passes.
    pub fn allow<'l>(&self, path: &str, language: impl Fn() -> &'l str) -> bool {
        self.include.as_ref().is_none_or(|g| g.is_match(path))
            && self.exclude.as_ref().is_none_or(|g| !g.is_match(path))
            && self.exclude_dir.as_ref().is_none_or(|g| !folders(path).any(|f| g.is_match(f)))
            && (self.languages.is_empty() || self.languages.contains(&language()))
            && (!self.code_only || !is_text(language()))
    }

    fn allows_all(&self) -> bool {
        self.include.is_none()
            && self.exclude.is_none()
            && self.exclude_dir.is_none()
            && self.languages.is_empty()
            && !self.code_only
    }
}

/// The folders above a path, each as a path: `a/b/c.rs` → `a`, `a/b`.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(i, _)| &path[..i])
}

/// Whether `path` is `below` or lies below it; everything lies below the empty path.
pub fn is_below(path: &str, below: &str) -> bool {
    below.is_empty() || path.strip_prefix(below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The filter of one search in one project.
pub struct Filter {
    /// By file number: not allowed, or allowed, with the lines of matches where a pattern is given.
    files: HashMap<u32, Option<Vec<u32>>>,
}

impl Filter {
    /// Makes the filter; `None` where everything passes.
    ///
    /// # Errors
    /// On a bad pattern.
    pub fn new(
        args: &SearchArgs,
        rules: &PathRules,
        below: &[String],
        project: &Project,
        snapshot: &Snapshot,
    ) -> Result<Option<Filter>> {
        if rules.allows_all() && below.iter().any(String::is_empty) && args.regexp.is_empty() {
            return Ok(None);
        }
        for path in below.iter().filter(|b| !b.is_empty() && !snapshot.files.indexed().any(|f| is_below(&f.path, b))) {
            if !args.walk.quiet {
                remark!("colgrep: nothing in {path} is indexed: it is ignored, hidden or skipped (`colgrep status`)");
            }
        }
        let allowed: Vec<&FileRecord> = snapshot
            .files
            .indexed()
            .filter(|f| below.iter().any(|b| is_below(&f.path, b)) && rules.allow(&f.path, || &f.language))
            .collect();
        let files = if args.regexp.is_empty() {
            allowed.iter().map(|f| (f.id, None)).collect()
        } else {
            let paths: Vec<&str> = allowed.iter().map(|f| f.path.as_str()).collect();
            let lines = lines_in_files(&matcher(args)?, &project.root, &paths);
            let with_match = allowed.iter().zip(lines).filter(|(_, lines)| !lines.is_empty());
            with_match.map(|(f, lines)| (f.id, Some(lines))).collect()
        };
        Ok(Some(Filter { files }))
    }
}

impl UnitFilter for Filter {
    fn allows_file(&self, file: u32) -> bool {
        self.files.contains_key(&file)
    }

    fn allows_unit(&self, file: u32, line: u32, end: u32) -> bool {
        match self.files.get(&file) {
            Some(Some(lines)) => {
                let first = lines.partition_point(|l| *l < line);
                lines.get(first).is_some_and(|l| *l <= end)
            }
            Some(None) => true,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_speak_of_names_at_any_depth() {
        let rules = |set: fn(&mut SearchArgs)| {
            let mut args = SearchArgs::default();
            set(&mut args);
            PathRules::new(&args).unwrap()
        };
        for (rules, path, language, expected) in [
            (rules(|a| a.include = vec!["*.py".into()]), "a/b.py", "python", true),
            (rules(|a| a.include = vec!["*.py".into()]), "a/b.pyc", "unknown", false),
            (rules(|a| a.include = vec!["src/**".into()]), "src/a/b.py", "python", true),
            (rules(|a| a.exclude = vec!["*_test.go".into()]), "x/a_test.go", "go", false),
            (rules(|a| a.exclude_dir = vec!["vendor".into()]), "x/vendor/a.go", "go", false),
            (rules(|a| a.exclude_dir = vec!["vendor".into()]), "x/vendor.go", "go", true),
            (rules(|a| a.types = vec!["py".into()]), "a.py", "python", true),
            (rules(|a| a.types = vec!["py".into()]), "a.go", "go", false),
            (rules(|a| a.code_only = true), "README.md", "markdown", false),
            (rules(|a| a.code_only = true), "Makefile", "make", true),
        ] {
            assert_eq!(rules.allow(path, || language), expected, "{path}");
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

    #[test]
    fn units_need_a_match_on_their_lines() {
        let filter = Filter { files: HashMap::from([(1, Some(vec![5, 30])), (2, None)]) };
        for (file, line, end, expected) in [
            (1, 1, 4, false),
            (1, 1, 5, true),
            (1, 6, 29, false),
            (1, 30, 40, true),
            (2, 1, 1, true),
            (3, 1, 99, false),
        ] {
            assert_eq!(filter.allows_unit(file, line, end), expected, "file {file}, {line}-{end}");
        }
    }
}
