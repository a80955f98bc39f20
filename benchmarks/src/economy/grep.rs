//! The arm of grep, as somebody plays it who knows it well: the two rarest words of the question, then the lines with most
//! of its words in the files found, and the same again with other words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use colgrep_core::token::{is_stop_word, words};

use super::printed::FileLines;
use crate::speed::process::Program;

/// Lines of a list that are read, and letters of each.
const LIST_LINES: usize = 20;
const LIST_LINE_LETTERS: &str = "120";
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

/// What one search prints, and what follows from it.
#[derive(Clone, Debug, Default)]
pub(super) struct GrepList {
    /// The output, as far as it is read.
    pub(super) output: String,
    /// The files of all lines.
    pub(super) files: BTreeSet<String>,
    /// The words of the question that occur, each with its weight: the rarer the heavier.
    pub(super) words: Vec<(String, f64)>,
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
    pub(super) fn new(root: &Path) -> Result<GrepArm> {
        let program = Program::on_path("rg").context("ripgrep (rg) is not on PATH; the arm of grep runs it")?;
        Ok(GrepArm { program, root: root.to_path_buf(), files: HashMap::new() })
    }

    /// The lists of a question, one after another: of the rarest two words, of the first and the third, of the second
    /// and the third everywhere. Lines with one of both in files with both; where no file has both, in all files.
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
        let mut args: Vec<&str> = vec!["-n", "-H", "--no-heading", "-M", LIST_LINE_LETTERS, "--max-columns-preview"];
        pair.iter().for_each(|word| args.extend(["-e", word]));
        let text = self.run(&args, &files, is_code)?;
        let output = text.lines().take(LIST_LINES).flat_map(|line| [line, "\n"]).collect();
        let files = text.lines().filter_map(|line| Some(line.split_once(':')?.0.to_string())).collect();
        let most = counted.last().map_or(1, |(count, ..)| *count) as f64;
        let words = counted.into_iter().map(|(count, _, word)| (word, (1.0 + most / count as f64).ln())).collect();
        Ok(Some(GrepList { output, files, words }))
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

/// The first line of the window with the heaviest words of the question, of the files of a list, and its file. A window
/// doesn't begin inside an earlier one, which `seen` has by file and line.
pub(super) fn densest(
    list: &GrepList,
    files: &FileLines,
    seen: &mut HashSet<(String, usize)>,
) -> Option<(String, usize)> {
    let mut best: Option<(f64, &String, usize)> = None;
    for path in &list.files {
        let Some(lines) = files.of(path) else { continue };
        let mut hits: Vec<(usize, usize)> = Vec::new();
        for (line, number) in lines.iter().zip(1..) {
            let line = line.to_lowercase();
            let words = list.words.iter().enumerate().filter(|(_, (word, _))| line.contains(word.as_str()));
            hits.extend(words.map(|(at, _)| (number, at)));
        }
        for (from, (number, _)) in hits.iter().enumerate() {
            let is_next = from > 0 && hits[from - 1].0 == *number;
            if is_next || seen.contains(&(path.clone(), *number)) {
                continue;
            }
            let end = number + WINDOW_LINES - WINDOW_LINES_BEFORE;
            let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
            hits[from..]
                .iter()
                .take_while(|(line, _)| *line < end)
                .for_each(|(_, at)| *counts.entry(*at).or_default() += 1.0);
            // Each further hit of a word counts little.
            let weight = counts.iter().map(|(at, count)| list.words[*at].1 * (1.0 + 0.1 * count.ln())).sum();
            if best.is_none_or(|(known, ..)| known < weight) {
                best = Some((weight, path, *number));
            }
        }
    }
    let (_, path, number) = best?;
    let first = number.saturating_sub(WINDOW_LINES_BEFORE).max(1);
    seen.extend((first..first + WINDOW_LINES).map(|line| (path.clone(), line)));
    Some((path.clone(), first))
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
    fn the_window_has_the_rarest_words_and_is_not_shown_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = |words: &[(usize, &str)]| {
            let line = |at| words.iter().find(|(line, _)| *line == at).map_or("", |(_, word)| word);
            (1..=300).map(|at| format!("{}\n", line(at))).collect::<String>()
        };
        std::fs::write(folder.path().join("a.rs"), text(&[(1, "sort"), (2, "sort"), (3, "sort")])).expect("a file");
        let other = text(&[(5, "Name"), (200, "sort"), (240, "sorted Names"), (290, "sort")]);
        std::fs::write(folder.path().join("b.rs"), other).expect("a file");
        let list = GrepList {
            output: String::new(),
            files: ["a.rs", "b.rs", "gone.rs"].map(String::from).into(),
            words: vec![("name".into(), 2.0), ("sort".into(), 1.0)],
        };
        let (files, mut seen) = (FileLines::new(folder.path()), HashSet::new());
        assert_eq!(densest(&list, &files, &mut seen), Some(("b.rs".into(), 190)));
        assert_eq!(densest(&list, &files, &mut seen), Some(("b.rs".into(), 1)));
        assert_eq!(densest(&list, &files, &mut seen), Some(("a.rs".into(), 1)));
        assert_eq!(densest(&GrepList::default(), &files, &mut seen), None);
    }
}
