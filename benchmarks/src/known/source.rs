//! The sources that known items are drawn from: every code file's text, and the places of a string in them.

use std::path::Path;

use anyhow::{Context as _, Result};
use colgrep_core::path::PathClass;
use memchr::memmem;

/// Longest line that takes part, in bytes: longer ones are data.
const LINE_BYTES_MAX: usize = 300;

#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Path from the root, `/` between components.
    pub path: String,
    pub text: String,
    /// Byte offset of each line's first byte.
    starts: Vec<usize>,
    /// Whether items may be drawn from it. Text that repeats elsewhere is looked for in the others too.
    pub is_code: bool,
}

/// A line of a file: position in [`SourceFiles::files`], and the line's number from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    pub file: usize,
    /// Which line, from 1.
    pub line: u32,
}

impl SourceFile {
    pub fn new(path: &str, text: String, is_code: bool) -> SourceFile {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        SourceFile { path: path.to_string(), text, starts, is_code }
    }

    /// The number, from 1, of the line of the byte `at`.
    pub fn line_of(&self, at: usize) -> u32 {
        self.starts.partition_point(|start| *start <= at) as u32
    }

    /// The lines with their numbers, from 1; those that are too long to be written by people are left out.
    pub fn lines(&self) -> impl Iterator<Item = (u32, &str)> {
        let numbered = self.text.lines().enumerate().map(|(i, line)| (i as u32 + 1, line));
        numbered.filter(|(_, line)| line.len() <= LINE_BYTES_MAX)
    }
}

/// All files of a folder that would be indexed.
#[derive(Clone, Debug, Default)]
pub struct SourceFiles {
    /// The files, by path.
    pub files: Vec<SourceFile>,
}

impl SourceFiles {
    /// Reads the files at `paths` (path from `root`, and whether it is code that people wrote) below `root`. One that
    /// can't be read as text is left out, as an index leaves it out.
    pub fn read<'p>(root: &Path, paths: impl Iterator<Item = (&'p str, bool)>) -> Result<SourceFiles> {
        let read = |(path, is_code): (&str, bool)| {
            let text = colgrep_index::source::read_text(root, path).ok()?;
            let is_code = is_code && !PathClass::of(path, colgrep_syntax::language::facts()).has(PathClass::VENDORED);
            Some(SourceFile::new(path, text, is_code))
        };
        let mut files: Vec<SourceFile> = paths.filter_map(read).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        (!files.is_empty())
            .then_some(SourceFiles { files })
            .with_context(|| format!("no text below {}", root.display()))
    }

    /// Files that items are drawn from, with their positions.
    pub fn code(&self) -> impl Iterator<Item = (usize, &SourceFile)> {
        self.files.iter().enumerate().filter(|(_, f)| f.is_code)
    }

    /// The places of `text`, in order; at most `most`, since more are never an answer.
    pub fn places_of(&self, text: &str, most: usize) -> Vec<SourceLine> {
        let finder = memmem::Finder::new(text);
        let mut spots = Vec::new();
        for (file, source) in self.files.iter().enumerate() {
            for at in finder.find_iter(source.text.as_bytes()) {
                spots.push(SourceLine { file, line: source.line_of(at) });
                if spots.len() >= most {
                    return spots;
                }
            }
        }
        spots
    }

    /// The places of `text` as a whole word: no letter, digit or `_` touches it, nor a character of `glue` followed by
    /// one of these (a full stop ends a sentence, but not a version).
    pub fn places_of_word(&self, text: &str, glue: &str, most: usize) -> Vec<SourceLine> {
        let finder = memmem::Finder::new(text);
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let touches = |chars: &mut dyn Iterator<Item = char>| {
            let next = chars.next();
            is_word(next) || (next.is_some_and(|c| glue.contains(c)) && is_word(chars.next()))
        };
        let mut spots = Vec::new();
        for (file, source) in self.files.iter().enumerate() {
            for at in finder.find_iter(source.text.as_bytes()) {
                let mut before = source.text[..at].chars().rev();
                let mut behind = source.text[at + text.len()..].chars();
                if !touches(&mut before) && !touches(&mut behind) {
                    spots.push(SourceLine { file, line: source.line_of(at) });
                }
                if spots.len() >= most {
                    return spots;
                }
            }
        }
        spots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_by_file_and_line() {
        let file = |path: &str, text: &str| SourceFile::new(path, text.to_string(), true);
        let sources =
            SourceFiles { files: vec![file("a.rs", "one\ntwo MAX_LEN\n"), file("b.rs", "MAX_LENGTH\nMAX_LEN")] };
        let spot = |file, line| SourceLine { file, line };
        assert_eq!(sources.places_of("MAX_LEN", 9), [spot(0, 2), spot(1, 1), spot(1, 2)]);
        assert_eq!(sources.places_of("MAX_LEN", 2).len(), 2);
        assert_eq!(sources.places_of_word("MAX_LEN", "", 9), [spot(0, 2), spot(1, 2)]);
        let versions = SourceFiles { files: vec![file("a.rs", "since 1.0.0.\n1.0.0-beta\nv 1.0.0")] };
        assert_eq!(versions.places_of_word("1.0.0", "-.", 9), [spot(0, 1), spot(0, 3)]);
        assert_eq!((sources.files[0].line_of(0), sources.files[0].line_of(3), sources.files[0].line_of(4)), (1, 1, 2));
    }
}
