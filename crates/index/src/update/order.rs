//! The order in which an update with a time limit reads files: first what can answer the question that waits for it.
//!
//! Words are looked for as plain text in the files that are to be read, which costs a small part of parsing them. The files
//! come in the order of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009), with lengths in bytes
//! and without a share of the score that ignores length (b = 1), since the time to read a file grows with its length too.

use std::path::Path;
use std::time::{Duration, Instant};

use aho_corasick::{AhoCorasick, MatchKind};
use rayon::prelude::*;

use crate::source::read_file;
use crate::walk::WalkedFile;

/// Words that count, at most.
const WORDS_MAX: usize = 64;
/// Shorter words occur in every file.
const WORD_BYTES_MIN: usize = 2;
/// Bytes of one file that are looked through, at most.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Occurrences of a word in a file of mean length that give half of its weight: BM25's k1, with its usual value.
const SATURATION: f32 = 1.2;
/// The share of the time until the deadline that may go into the look through files, and the least time that it gets.
const TIME_SHARE: u32 = 3;
const TIME_MIN: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadFirst {
    /// Files and folders that the question is about, from the root; all files count alike where the root is among them.
    pub paths: Vec<String>,
    /// Beginnings of the question's words, in lower case.
    pub words: Vec<String>,
}

impl ReadFirst {
    /// The files in the order in which they are read until `deadline`. Files of one rank keep their order.
    pub(super) fn order(&self, root: &Path, files: &[WalkedFile], deadline: Instant) -> Vec<WalkedFile> {
        let now = Instant::now();
        let end = now + (deadline.saturating_duration_since(now) / TIME_SHARE).max(TIME_MIN);
        self.order_until(root, files, end)
    }

    fn order_until(&self, root: &Path, files: &[WalkedFile], end: Instant) -> Vec<WalkedFile> {
        let scores = self.scores(root, files, end);
        let mut order: Vec<(bool, f32, &WalkedFile)> =
            files.iter().zip(scores).map(|(file, score)| (!self.is_named(&file.path), score, file)).collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        order.into_iter().map(|(.., file)| file.clone()).collect()
    }

    fn is_named(&self, path: &str) -> bool {
        let is_below = |folder: &String| {
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.paths.iter().any(|folder| !folder.is_empty() && is_below(folder))
    }

    /// The score of each file; a word in its path counts like one that fills the file.
    fn scores(&self, root: &Path, files: &[WalkedFile], end: Instant) -> Vec<f32> {
        let words: Vec<&str> =
            self.words.iter().map(String::as_str).filter(|word| word.len() >= WORD_BYTES_MIN).take(WORDS_MAX).collect();
        let matcher = AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(&words);
        let Some(matcher) = matcher.ok().filter(|_| !words.is_empty()) else { return vec![0.0; files.len()] };
        let counts = |text: &[u8]| {
            let mut counts = vec![0_u8; words.len()];
            for found in matcher.find_overlapping_iter(text) {
                let count = &mut counts[found.pattern().as_usize()];
                *count = count.saturating_add(1);
            }
            counts
        };
        let seen: Vec<(Vec<u8>, Vec<u8>)> = files
            .par_iter()
            .map(|file| {
                let is_read = file.size <= FILE_BYTES_MAX && Instant::now() < end;
                let text = if is_read { read_file(root, &file.path, FILE_BYTES_MAX).ok() } else { None };
                (counts(file.path.as_bytes()), counts(&text.unwrap_or_default()))
            })
            .collect();
        let number = files.len() as f32;
        let mean_length = (files.iter().map(|file| file.size as f32).sum::<f32>() / number).max(1.0);
        let weights: Vec<f32> = (0..words.len())
            .map(|word| seen.iter().filter(|(path, text)| path[word] > 0 || text[word] > 0).count())
            .map(|holders| (1.0 + number / holders.max(1) as f32).ln())
            .collect();
        let score = |(file, (path, text)): (&WalkedFile, (Vec<u8>, Vec<u8>))| -> f32 {
            let half = SATURATION * (file.size as f32 / mean_length).max(f32::MIN_POSITIVE);
            let of_word = |word: usize| {
                let count = f32::from(text[word]);
                f32::from(u8::from(path[word] > 0)) + count / (count + half)
            };
            weights.iter().enumerate().map(|(word, weight)| weight * of_word(word)).sum()
        };
        files.iter().zip(seen).map(score).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn walked(root: &Path, files: &[(&str, &str)]) -> Vec<WalkedFile> {
        let made = |(path, text): &(&str, &str)| {
            let full = root.join(path);
            std::fs::create_dir_all(full.parent().unwrap()).unwrap();
            std::fs::write(full, text).unwrap();
            WalkedFile { path: (*path).to_string(), size: text.len() as u64, mtime_ns: 1 }
        };
        files.iter().map(made).collect()
    }

    fn order(first: &ReadFirst, files: &[(&str, &str)], deadline: Instant) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let files = walked(folder.path(), files);
        first.order_until(folder.path(), &files, deadline).into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn files_with_the_rarest_words_come_first() {
        let files = [
            ("a.rs", "fn open() {}"),
            ("b.rs", "fn open_Zebra() {}"),
            ("c.rs", "nothing"),
            ("zebra/d.rs", "fn open() {}"),
            ("e.rs", "fn open() {}"),
        ];
        let words = ["open", "zebra"].map(String::from).to_vec();
        let first = ReadFirst { words, ..ReadFirst::default() };
        assert_eq!(order(&first, &files, later()), ["zebra/d.rs", "b.rs", "a.rs", "e.rs", "c.rs"]);
        // Without time for a look into files, paths tell.
        assert_eq!(order(&first, &files, Instant::now()), ["zebra/d.rs", "a.rs", "b.rs", "c.rs", "e.rs"]);
    }

    #[test]
    fn of_two_files_with_a_word_the_one_that_is_about_it_comes_first() {
        let long = format!("fn zebra() {{}}\nfn open() {{}}\n{}", "fn other() {}\n".repeat(500));
        let files = [("long.rs", long.as_str()), ("short.rs", "fn zebra() { zebra() }"), ("none.rs", "fn other() {}")];
        let first = ReadFirst { words: ["open", "zebra"].map(String::from).to_vec(), ..ReadFirst::default() };
        assert_eq!(order(&first, &files, later()), ["short.rs", "long.rs", "none.rs"]);
    }

    #[test]
    fn named_files_and_folders_come_before_all_others() {
        let files = [("a.rs", "zebra"), ("src/b.rs", ""), ("srcs/c.rs", "zebra"), ("d.rs", "")];
        let paths = ["src", "d.rs"].map(String::from).to_vec();
        let first = ReadFirst { paths, words: vec!["zebra".into()] };
        assert_eq!(order(&first, &files, later()), ["src/b.rs", "d.rs", "a.rs", "srcs/c.rs"]);
        assert_eq!(order(&ReadFirst::default(), &files, later()), ["a.rs", "src/b.rs", "srcs/c.rs", "d.rs"]);
    }
}
