//! The filter of one search: path rules and patterns, turned into files and lines before anything is ranked.

use std::collections::HashMap;

use anyhow::Result;
use colgrep_index::lexical::UnitFilter;
use colgrep_index::store::{FileRecord, Snapshot};

use super::rules::{PathRules, is_below};
use crate::args::SearchArgs;
use crate::command::grep::{lines_in_files, matcher};
use crate::project::Project;

/// The filter of one search in one project.
#[derive(Debug)]
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
        let allowed = allowed(rules, below, snapshot);
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

/// The indexed files below one of `below` that the rules allow, by path.
pub fn allowed<'s>(rules: &PathRules, below: &[String], snapshot: &'s Snapshot) -> Vec<&'s FileRecord> {
    snapshot
        .files
        .indexed()
        .filter(|f| below.iter().any(|b| is_below(&f.path, b)) && rules.allow(&f.path, || &f.language))
        .collect()
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

/// Another filter (or none), less one unit: what is like a unit is not the unit itself.
pub struct Without<'a> {
    /// What else is asked.
    pub inner: Option<&'a dyn UnitFilter>,
    /// The unit's file.
    pub file: u32,
    /// A line of the unit.
    pub line: u32,
}

impl UnitFilter for Without<'_> {
    fn allows_file(&self, file: u32) -> bool {
        self.inner.is_none_or(|f| f.allows_file(file))
    }

    fn allows_unit(&self, file: u32, line: u32, end: u32) -> bool {
        let is_the_unit = file == self.file && (line..=end).contains(&self.line);
        !is_the_unit && self.inner.is_none_or(|f| f.allows_unit(file, line, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let without = Without { inner: Some(&filter), file: 2, line: 10 };
        assert!(!without.allows_unit(2, 8, 12) && without.allows_unit(2, 11, 12) && without.allows_unit(1, 1, 5));
    }
}
