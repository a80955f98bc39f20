//! The order in which an update with a time limit reads files: first what can answer the question that waits for it.
//!
//! Words are looked for as plain text in the files that are to be read, which costs a small part of parsing them. A word
//! weighs ln(1 + N/n), N the number of files and n those that contain it (inverse document frequency, Spärck Jones 1972).

use std::path::Path;
use std::time::{Duration, Instant};

use aho_corasick::{AhoCorasick, MatchKind};
use rayon::prelude::*;

use crate::source::read_file;
use crate::walk::WalkedFile;

/// Words that count, at most: one bit each.
const WORDS_MAX: usize = 64;
/// Shorter words occur in every file.
const WORD_BYTES_MIN: usize = 2;
/// Bytes of one file that are looked through, at most.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The share of the time until the deadline that may go into the look through files, and the least time that it gets.
const TIME_SHARE: u32 = 3;
const TIME_MIN: Duration = Duration::from_millis(100);

/// What is read first.
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

    /// The weight of the words in each file; those of its path count twice.
    fn scores(&self, root: &Path, files: &[WalkedFile], end: Instant) -> Vec<f32> {
        let words: Vec<&str> =
            self.words.iter().map(String::as_str).filter(|word| word.len() >= WORD_BYTES_MIN).take(WORDS_MAX).collect();
        let matcher = AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(&words);
        let Some(matcher) = matcher.ok().filter(|_| !words.is_empty()) else { return vec![0.0; files.len()] };
        let all = if words.len() == WORDS_MAX { u64::MAX } else { (1 << words.len()) - 1 };
        let held = |text: &[u8]| {
            let mut held = 0_u64;
            for found in matcher.find_overlapping_iter(text) {
                held |= 1 << found.pattern().as_usize();
                if held == all {
                    break;
                }
            }
            held
        };
        let seen: Vec<(u64, u64)> = files
            .par_iter()
            .map(|file| {
                let is_read = file.size <= FILE_BYTES_MAX && Instant::now() < end;
                let text = if is_read { read_file(root, &file.path, FILE_BYTES_MAX).ok() } else { None };
                (held(file.path.as_bytes()), text.map_or(0, |text| held(&text)))
            })
            .collect();
        let weights: Vec<f32> = (0..words.len())
            .map(|word| {
                let count = seen.iter().filter(|(path, text)| (path | text) >> word & 1 == 1).count();
                (1.0 + files.len() as f32 / count.max(1) as f32).ln()
            })
            .collect();
        let sum =
            |held: u64| (0..words.len()).filter(|word| held >> word & 1 == 1).map(|word| weights[word]).sum::<f32>();
        seen.into_iter().map(|(path, text)| sum(path) + sum(path | text)).collect()
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
    fn named_files_and_folders_come_before_all_others() {
        let files = [("a.rs", "zebra"), ("src/b.rs", ""), ("srcs/c.rs", "zebra"), ("d.rs", "")];
        let paths = ["src", "d.rs"].map(String::from).to_vec();
        let first = ReadFirst { paths, words: vec!["zebra".into()] };
        assert_eq!(order(&first, &files, later()), ["src/b.rs", "d.rs", "a.rs", "srcs/c.rs"]);
        assert_eq!(order(&ReadFirst::default(), &files, later()), ["a.rs", "src/b.rs", "srcs/c.rs", "d.rs"]);
    }
}
