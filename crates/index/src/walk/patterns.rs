//! Compiled lines of ignore files and of the setting `ignore`.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Lines per automaton. One of 20,000 lines takes hundreds of megabytes, or fails and matches nothing; two hundred of a
/// hundred lines take 40 MB.
const PART_LINES: usize = 100;

/// Patterns as in a `.gitignore`: the last line that matches decides.
#[derive(Debug, Default)]
pub struct IgnorePatterns {
    parts: Vec<Gitignore>,
}

impl IgnorePatterns {
    /// Patterns of lines about paths below `root`. Invalid lines are left out.
    pub fn new<'l>(root: &Path, lines: impl IntoIterator<Item = &'l str>) -> IgnorePatterns {
        IgnorePatterns::build(root, lines, |_| Ok(())).unwrap_or_default()
    }

    /// The same, but an invalid line is an error.
    ///
    /// # Errors
    /// When a line is not a pattern.
    pub fn checked<'l>(root: &Path, lines: impl IntoIterator<Item = &'l str>) -> Result<IgnorePatterns, ignore::Error> {
        IgnorePatterns::build(root, lines, Err)
    }

    fn build<'l>(
        root: &Path,
        lines: impl IntoIterator<Item = &'l str>,
        bad: impl Fn(ignore::Error) -> Result<(), ignore::Error>,
    ) -> Result<IgnorePatterns, ignore::Error> {
        let lines: Vec<&str> = lines.into_iter().collect();
        let mut parts = Vec::new();
        for some in lines.chunks(PART_LINES) {
            match part(root, some, &bad) {
                Ok(part) => parts.push(part),
                // Too large together: compile each line by itself.
                Err(_) if some.len() > 1 => {
                    for line in some {
                        match part(root, &[line], &bad) {
                            Ok(part) => parts.push(part),
                            Err(error) => bad(error)?,
                        }
                    }
                }
                Err(error) => bad(error)?,
            }
        }
        parts.retain(|part| !part.is_empty());
        Ok(IgnorePatterns { parts })
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether they match a path, regardless of the folders above it.
    pub fn matched(&self, path: &Path, is_folder: bool) -> Match<()> {
        let said = self.parts.iter().rev().map(|part| part.matched(path, is_folder).map(|_| ()));
        said.into_iter().find(|said| !said.is_none()).unwrap_or(Match::None)
    }

    /// Whether they ignore a path from the root, by itself or with a folder above it.
    pub fn ignore_below(&self, path: &Path, is_folder: bool) -> bool {
        let mut said = path.ancestors().take_while(|p| !p.as_os_str().is_empty()).map(|p| {
            // Those above are folders.
            self.matched(p, is_folder || p != path)
        });
        said.find(|said| !said.is_none()).is_some_and(|said| said.is_ignore())
    }
}

fn part(
    root: &Path,
    lines: &[&str],
    bad: &impl Fn(ignore::Error) -> Result<(), ignore::Error>,
) -> Result<Gitignore, ignore::Error> {
    let mut builder = GitignoreBuilder::new(root);
    for line in lines {
        if let Err(error) = builder.add_line(None, line) {
            bad(error)?;
        }
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_decides_across_parts() {
        let mut lines: Vec<String> = (0..250).map(|i| format!("a{i}*")).collect();
        lines[3] = "!a120x".to_string();
        lines.push("!a7keep".to_string());
        let patterns = IgnorePatterns::new(Path::new("/r"), lines.iter().map(String::as_str));
        for (path, ignored) in
            [("a7", true), ("a7keep", false), ("b", false), ("a120x", true), ("x/a249z", true), ("a4", true)]
        {
            assert_eq!(patterns.matched(Path::new(path), false).is_ignore(), ignored, "{path}");
        }
        assert!(patterns.ignore_below(Path::new("a9/b/c"), false));
        assert!(!patterns.ignore_below(Path::new("b/c"), false));
    }

    #[test]
    fn what_is_too_large_together_is_matched_all_the_same() {
        let long = "[a-z]*".repeat(2_000);
        let lines: Vec<String> = (0..100).map(|i| format!("{long}{i}*")).chain(["x?y".to_string()]).collect();
        let patterns = IgnorePatterns::new(Path::new("/r"), lines.iter().map(String::as_str));
        assert!(patterns.matched(Path::new("xzy"), false).is_ignore());
        assert!(IgnorePatterns::checked(Path::new("/r"), ["a{b"]).is_err());
        assert!(IgnorePatterns::new(Path::new("/r"), ["a{b", "c"]).matched(Path::new("c"), false).is_ignore());
    }
}
