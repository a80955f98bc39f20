//! Lines of ignore files and of the setting `ignore`, read as git reads a `.gitignore`: on bytes, without braces, with
//! POSIX classes. The globs of other libraries differ from it in each of these.

mod glob;

use std::borrow::Cow;
use std::path::Path;

use glob::Glob;
use ignore::Match;

use crate::error::IgnorePatternError;

/// Patterns as in a `.gitignore`: the last line that matches decides.
#[derive(Debug, Default)]
pub struct IgnorePatterns {
    /// The folder that they are about, with a slash at its end.
    root: Vec<u8>,
    patterns: Vec<IgnorePattern>,
}

/// A line of an ignore file.
#[derive(Debug)]
struct IgnorePattern {
    /// Whether what matches is kept.
    keeps: bool,
    /// Whether only folders match.
    folders_only: bool,
    /// Whether it is about names in any folder, and not about paths.
    of_names: bool,
    glob: Glob,
}

impl IgnorePatterns {
    /// Patterns of lines about paths below `root`. A line that is not a pattern matches nothing, as in git.
    pub fn new<'l>(root: &Path, lines: impl IntoIterator<Item = &'l [u8]>, ignore_case: bool) -> IgnorePatterns {
        let patterns = lines.into_iter().filter_map(|line| IgnorePattern::new(line, ignore_case).ok().flatten());
        IgnorePatterns { root: folder_bytes(root), patterns: patterns.collect() }
    }

    /// The same, but a line that is not a pattern is an error.
    ///
    /// # Errors
    /// When a line is not a pattern.
    pub fn checked<'l>(
        root: &Path,
        lines: impl IntoIterator<Item = &'l str>,
    ) -> Result<IgnorePatterns, IgnorePatternError> {
        let patterns = lines.into_iter().filter_map(|line| {
            let told = |why| IgnorePatternError { line: line.to_string(), why };
            IgnorePattern::new(line.as_bytes(), false).map_err(told).transpose()
        });
        Ok(IgnorePatterns { root: folder_bytes(root), patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether they match a path, from the root or full, regardless of the folders above it.
    pub fn matched(&self, path: &Path, is_folder: bool) -> Match<()> {
        if self.is_empty() {
            return Match::None;
        }
        let path = path_bytes(path);
        let path = path.strip_prefix(self.root.as_slice()).unwrap_or(&path);
        let name = path.rsplit(|b| *b == b'/').next().unwrap_or(path);
        let matches = |pattern: &&IgnorePattern| {
            (is_folder || !pattern.folders_only) && pattern.glob.matches(if pattern.of_names { name } else { path })
        };
        match self.patterns.iter().rev().find(matches) {
            Some(pattern) if pattern.keeps => Match::Whitelist(()),
            Some(_) => Match::Ignore(()),
            None => Match::None,
        }
    }

    /// Whether they ignore a path from the root, by itself or with a folder above it: nothing in an ignored folder is
    /// kept.
    pub fn ignore_below(&self, path: &Path, is_folder: bool) -> bool {
        let mut all = path.ancestors().take_while(|p| !p.as_os_str().is_empty());
        // Those above are folders.
        all.any(|p| self.matched(p, is_folder || p != path).is_ignore())
    }
}

impl IgnorePattern {
    /// Reads a line without its end; none where it has no pattern.
    fn new(line: &[u8], ignore_case: bool) -> Result<Option<IgnorePattern>, &'static str> {
        if line.first().is_none_or(|first| *first == b'#') {
            return Ok(None);
        }
        let line = trim_blanks(line);
        let (keeps, line) = match line.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (folders_only, line) = match line.strip_suffix(b"/") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        if line.is_empty() {
            return Ok(None);
        }
        let of_names = !line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        Ok(Some(IgnorePattern { keeps, folders_only, of_names, glob: Glob::new(line, ignore_case)? }))
    }
}

/// The lines of an ignore file's text, each without its end.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let lines = text.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    // For git, a NUL byte ends a line.
    lines.map(|line| line.split(|b| *b == 0).next().unwrap_or(line)).filter(|line| !line.is_empty())
}

/// A line without the blanks at its end; one that is escaped stays, and so does a tab.
fn trim_blanks(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut bytes = line.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b' ' => {}
            b'\\' => end = bytes.next().map_or(at, |(next, _)| next) + 1,
            _ => end = at + 1,
        }
    }
    &line[..end]
}

/// The bytes of a path, with `/` between components.
fn path_bytes(path: &Path) -> Cow<'_, [u8]> {
    let bytes = path.as_os_str().as_encoded_bytes();
    match std::path::MAIN_SEPARATOR {
        '/' => Cow::Borrowed(bytes),
        separator => Cow::Owned(bytes.iter().map(|b| if *b == separator as u8 { b'/' } else { *b }).collect()),
    }
}

fn folder_bytes(folder: &Path) -> Vec<u8> {
    let mut bytes = path_bytes(folder).into_owned();
    if !bytes.ends_with(b"/") {
        bytes.push(b'/');
    }
    bytes
}

/// Whether a pattern of git matches a whole path; `**` is special only between slashes.
pub(super) fn matches_path(pattern: &[u8], path: &[u8], ignore_case: bool) -> bool {
    Glob::new(pattern, ignore_case).is_ok_and(|glob| glob.matches(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> IgnorePatterns {
        IgnorePatterns::new(Path::new("/r"), lines.iter().map(|line| line.as_bytes()), false)
    }

    #[test]
    fn the_last_line_decides() {
        let mut text: Vec<String> = (0..250).map(|i| format!("a{i}*")).collect();
        text[3] = "!a120x".to_string();
        text.push("!a7keep".to_string());
        let patterns = of(&text.iter().map(String::as_str).collect::<Vec<_>>());
        for (path, ignored) in
            [("a7", true), ("a7keep", false), ("b", false), ("a120x", true), ("x/a249z", true), ("/r/a4", true)]
        {
            assert_eq!(patterns.matched(Path::new(path), false).is_ignore(), ignored, "{path}");
        }
        assert!(patterns.ignore_below(Path::new("a9/b/c"), false));
        assert!(!patterns.ignore_below(Path::new("b/c"), false));
        let patterns = of(&["a/", "!b", "!c"]);
        assert!(patterns.ignore_below(Path::new("a/b"), false), "nothing in an ignored folder is kept");
        assert!(!patterns.ignore_below(Path::new("c/b"), false));
    }

    #[test]
    fn lines_are_read_as_git_reads_them() {
        // The line, a path, and whether it is ignored; a folder's path ends in a slash.
        for (line, path, ignored) in [
            ("*.{js,ts}", "x.js", false),
            ("*.{js,ts}", "x.{js,ts}", true),
            ("{{cookiecutter.slug}}/build", "{{cookiecutter.slug}}/build", true),
            ("a[[:digit:]].c", "a1.c", true),
            ("a[[:digit:]].c", "ad.c", false),
            ("a\t", "a", false),
            ("a\t", "a\t", true),
            ("a  ", "a", true),
            ("a\\ ", "a ", true),
            ("a\\  ", "a ", true),
            (" a", "a", false),
            ("a\r", "a", false),
            ("\\#a", "#a", true),
            ("\\!a", "!a", true),
            ("#a", "#a", false),
            ("a/***/b", "a/b", true),
            ("a/***/b", "a/x/y/b", true),
            ("***", "a", true),
            ("a***b", "axb", true),
            ("x/a***b", "x/a/b", false),
            ("a/", "a", false),
            ("a/", "a/", true),
            ("a//", "a/", false),
            ("/a", "b/a", false),
            ("a/b", "c/a/b", false),
            ("**/a/b", "c/a/b", true),
            ("a/**", "a", false),
            ("a/**", "a/b/c", true),
            ("a\\", "a", false),
            ("a\\", "a\\", false),
            ("[", "[", false),
            ("?", "é", false),
            ("??", "é", true),
            ("/", "a/", false),
            ("!", "a", false),
            ("café*", "café.c", true),
        ] {
            let is_folder = path.ends_with('/');
            let said = of(&[line]).matched(Path::new(path.trim_end_matches('/')), is_folder);
            assert_eq!(said.is_ignore(), ignored, "{line:?} {path:?}");
        }
    }

    #[test]
    fn files_are_split_as_git_splits_them() {
        let text = "\u{feff}a\r\n\r\n#c\nb\0c\nd".as_bytes();
        assert_eq!(lines(text).collect::<Vec<_>>(), [&b"a"[..], b"#c", b"b", b"d"]);
    }

    #[test]
    fn what_is_no_pattern_matches_nothing_and_can_be_refused() {
        for line in ["a[", "a[[:none:]]", "a\\", "[a-", "[a\\", "[[:alpha:"] {
            let refused = IgnorePatterns::checked(Path::new("/r"), ["b", line]).expect_err(line);
            assert!(refused.to_string().starts_with(&format!("{line:?}: ")), "{refused}");
            let patterns = of(&[line, "c"]);
            assert!(patterns.matched(Path::new("c"), false).is_ignore(), "{line}");
            assert!(!patterns.matched(Path::new(line), false).is_ignore(), "{line}");
        }
        assert!(IgnorePatterns::checked(Path::new("/r"), ["a{b", "", "# c", "!d/"]).is_ok());
    }

    #[test]
    fn case_is_ignored_on_demand() {
        for (line, path) in [("A*.C", "ab.c"), ("a/b", "A/B"), ("[a-c]x", "BX"), ("[[:upper:]]", "a"), ("lit", "LIT")] {
            for (ignore_case, expected) in [(true, true), (false, false)] {
                let patterns = IgnorePatterns::new(Path::new("/r"), [line.as_bytes()], ignore_case);
                assert_eq!(patterns.matched(Path::new(path), false).is_ignore(), expected, "{line} {path}");
            }
        }
    }
}
