//! The arm of grep, as somebody plays it who knows it well: the two rarest words of the question, then the lines around
//! the densest hits, and the same again with other words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use colgrep_core::token::{is_stop_word, words};

use crate::speed::process::Program;

/// Lines of a list that are read.
const LIST_LINES: usize = 50;
/// Lines that are read of a file, and how many of them are before the first hit.
pub(super) const WINDOW_LINES: usize = 60;
const WINDOW_LINES_BEFORE: usize = 10;
/// Lists and windows of one question.
pub(super) const ATTEMPTS: usize = 3;
/// Greatest number of files that are named on a command line; with more, the whole tree is searched.
const FILES_MAX: usize = 200;
/// Shortest word that is searched for, in letters.
const WORD_LETTERS_MIN: usize = 3;
/// Letters that stay of a word whose ending is left out.
const STEM_LETTERS_MIN: usize = 4;
/// What a question about code does not mean. The last attempt looks there too.
const NOT_CODE: [&str; 4] = [
    "!*.{md,mdx,rst,txt,adoc,lock,json,svg,csv,po,snap,html,xml}",
    "!**/{test,tests,spec,specs,__tests__,testdata,fixtures,docs,doc,examples,vendor}/**",
    "!*{_test,.test,.spec,_spec,Test,Tests}.*",
    "!{test_*,CHANGELOG*}",
];

/// A line of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GrepRow {
    path: String,
    line: usize,
    text: String,
}

/// What one search prints.
#[derive(Clone, Debug)]
pub(super) struct GrepList {
    /// The output.
    pub(super) output: String,
    /// Its lines.
    pub(super) rows: Vec<GrepRow>,
    /// The words that were searched for.
    pub(super) words: Vec<String>,
}

/// ripgrep in a repository.
#[derive(Debug)]
pub(super) struct GrepArm {
    program: Program,
    root: PathBuf,
    /// The files with a word, those of code alone or all.
    files: HashMap<(String, bool), BTreeSet<String>>,
}

impl GrepArm {
    /// The program `rg` on PATH.
    ///
    /// # Errors
    /// When it isn't there.
    pub(super) fn new(root: &Path) -> Result<GrepArm> {
        let program = Program::on_path("rg").context("ripgrep (rg) is not on PATH; the arm of grep runs it")?;
        Ok(GrepArm { program, root: root.to_path_buf(), files: HashMap::new() })
    }

    /// The lists of a question, one after another: of the rarest two words, of the first and the third, of the second
    /// and the third everywhere. Lines with one of both in files with both; where no file has both, in all files.
    ///
    /// # Errors
    /// When ripgrep fails.
    pub(super) fn list(&mut self, question: &str, attempt: usize) -> Result<Option<GrepList>> {
        let is_code = attempt + 1 < ATTEMPTS;
        let mut counted = Vec::new();
        for word in searched_words(question) {
            let count = self.files_with(&word, is_code)?.len();
            if count > 0 {
                counted.push((count, Reverse(word.chars().count()), word));
            }
        }
        counted.sort();
        let word = |at: usize| counted.get(at).map(|(.., word)| word.clone());
        let pair = match attempt {
            0 => [word(0), word(1)],
            1 => [word(0).filter(|_| counted.len() > 2), word(2)],
            _ => [word(1), word(2)],
        };
        let pair: Vec<String> = pair.into_iter().flatten().collect();
        if pair.is_empty() {
            return Ok(None);
        }
        let mut both: Option<BTreeSet<String>> = None;
        for word in &pair {
            let files = self.files_with(word, is_code)?.clone();
            both = Some(both.map_or(files.clone(), |both| both.intersection(&files).cloned().collect()));
        }
        let both = both.unwrap_or_default();
        let files = if both.len() <= FILES_MAX { both.into_iter().collect() } else { Vec::new() };
        let mut args: Vec<&str> = vec!["-n", "-H", "--no-heading", "-M", "200", "--max-columns-preview"];
        pair.iter().for_each(|word| args.extend(["-e", word]));
        let text = self.run(&args, &files, is_code)?;
        let lines: Vec<&str> = text.lines().take(LIST_LINES).collect();
        let rows = lines.iter().filter_map(|line| row(line)).collect();
        let output = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        Ok(Some(GrepList { output, rows, words: pair }))
    }

    fn files_with(&mut self, word: &str, is_code: bool) -> Result<&BTreeSet<String>> {
        let key = (word.to_string(), is_code);
        if !self.files.contains_key(&key) {
            let found = self.run(&["-l", "-e", word], &[], is_code)?;
            self.files.insert(key.clone(), found.lines().map(String::from).collect());
        }
        Ok(&self.files[&key])
    }

    /// The output of ripgrep over these files, or over the tree where none is named.
    fn run(&self, args: &[&str], files: &[String], is_code: bool) -> Result<String> {
        let mut command = self.program.command(&["--no-config", "-i", "-F", "--color", "never", "--sort", "path"]);
        command.args(args);
        if is_code {
            NOT_CODE.iter().for_each(|glob| _ = command.args(["-g", glob]));
        }
        command.arg("--").args(files).current_dir(&self.root).stdin(Stdio::null());
        let output = command.output().context("running rg")?;
        if output.status.code().is_none_or(|code| code > 1) {
            bail!("rg {args:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn row(line: &str) -> Option<GrepRow> {
    let (path, rest) = line.split_once(':')?;
    let (number, text) = rest.split_once(':')?;
    Some(GrepRow { path: path.to_string(), line: number.parse().ok()?, text: text.to_string() })
}

/// The words of a question that are searched for: without stop words and usual endings, so that other forms match.
fn searched_words(question: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(question).map(|word| question[word].to_lowercase()) {
        if is_stop_word(&word) || word.chars().count() < WORD_LETTERS_MIN {
            continue;
        }
        let is_left = |stem: &&str| stem.chars().count() >= STEM_LETTERS_MIN;
        let ending = |ending: &&str| word.strip_suffix(*ending).filter(is_left);
        let stem = ["ing", "ed", "es", "s"].iter().find_map(ending).unwrap_or(&word).to_string();
        if !found.contains(&stem) {
            found.push(stem);
        }
    }
    found
}

/// The file with the most of the words and then the most hits, and the first of the lines with the most hits.
pub(super) fn densest(rows: &[GrepRow], words: &[String]) -> Option<(String, usize)> {
    let mut files: BTreeMap<&str, Vec<&GrepRow>> = BTreeMap::new();
    rows.iter().for_each(|row| files.entry(&row.path).or_default().push(row));
    let has = |rows: &[&GrepRow], word: &String| rows.iter().any(|row| row.text.to_lowercase().contains(word.as_str()));
    let weight = |rows: &Vec<&GrepRow>| (words.iter().filter(|word| has(rows, word)).count(), rows.len());
    // The first by path among equals.
    let (path, rows) = files.iter().rev().max_by_key(|(_, rows)| weight(rows))?;
    let after = WINDOW_LINES - WINDOW_LINES_BEFORE;
    let covered = |first: usize| rows.iter().filter(|row| (first..first + after).contains(&row.line)).count();
    let first = rows.iter().map(|row| row.line).rev().max_by_key(|line| covered(*line))?;
    Some(((*path).to_string(), first.saturating_sub(WINDOW_LINES_BEFORE).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_their_endings() {
        for (question, expected) in [
            ("where are the callers of names sorted", "caller name sort"),
            ("How does the retry_policy parse URLs?", "retry_policy parse urls"),
        ] {
            assert_eq!(searched_words(question).join(" "), expected, "{question}");
        }
    }

    #[test]
    fn the_window_has_the_densest_hits_of_the_file_with_most_words() {
        let row = |path: &str, line, text: &str| GrepRow { path: path.into(), line, text: text.into() };
        let words = ["sort".to_string(), "name".to_string()];
        let rows = [
            row("a.rs", 1, "sort"),
            row("a.rs", 2, "sort"),
            row("a.rs", 3, "sort"),
            row("b.rs", 5, "Name"),
            row("b.rs", 200, "sort"),
            row("b.rs", 240, "sort"),
        ];
        assert_eq!(densest(&rows, &words), Some(("b.rs".into(), 190)));
        assert_eq!(densest(&rows[..3], &words), Some(("a.rs".into(), 1)));
        assert_eq!(densest(&[], &words), None);
    }
}
