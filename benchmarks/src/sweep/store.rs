//! Every setting's scores, kept in a file of JSON lines so that a sweep can be taken up again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use colgrep_index::source::hash;
use serde::{Deserialize, Serialize};

use super::Setting;
use crate::corpus::BenchCorpus;
use crate::report::knob_values;

/// The first line: what the scores belong to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    version: u32,
    /// Changes with queries, answers, weights, indexed files, the knobs below the settings, and this program.
    fingerprint: String,
    queries: usize,
}

/// A line: one setting and each query's NDCG@10, in the corpus's order.
#[derive(Debug, Serialize, Deserialize)]
struct SweepLine {
    setting: Setting,
    scores: Vec<f64>,
}

/// Scores by setting.
#[derive(Debug, Default)]
pub struct ScoreStore {
    scores: HashMap<String, Vec<f64>>,
    file: Option<File>,
}

impl ScoreStore {
    /// Opens the file (or nothing but memory) for a corpus.
    pub fn open(path: Option<&Path>, corpus: &BenchCorpus) -> Result<ScoreStore> {
        let fingerprint = format!("{:016x}-{:016x}-{:016x}", corpus.fingerprint(), knobs(corpus), program()?);
        ScoreStore::open_for(path, Header { version: 1, fingerprint, queries: corpus.tasks.len() })
    }

    fn open_for(path: Option<&Path>, header: Header) -> Result<ScoreStore> {
        let mut store = ScoreStore::default();
        let Some(path) = path else { return Ok(store) };
        let what = || format!("{}", path.display());
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).with_context(what)?;
        let mut lines = BufReader::new(&file).lines();
        match lines.next().transpose()? {
            None => {
                drop(lines);
                writeln!(file, "{}", serde_json::to_string(&header)?)?;
            }
            Some(first) => {
                if serde_json::from_str::<Header>(&first).ok().as_ref() != Some(&header) {
                    bail!(
                        "{} was kept for other queries, files, knobs or another build of this program; name a new file",
                        path.display()
                    );
                }
                let mut whole = true;
                for line in lines {
                    // A line cut off by a kill is the last one; its setting is measured again.
                    whole = match serde_json::from_str::<SweepLine>(&line?) {
                        Ok(line) if line.scores.len() == header.queries => {
                            store.scores.insert(line.setting.text(), line.scores);
                            true
                        }
                        _ => false,
                    };
                }
                if !whole {
                    writeln!(file)?;
                }
            }
        }
        store.file = Some(file);
        Ok(store)
    }

    /// Number of settings known.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    pub fn get(&self, setting: &Setting) -> Option<&[f64]> {
        self.scores.get(&setting.text()).map(Vec::as_slice)
    }

    pub fn add(&mut self, setting: &Setting, scores: Vec<f64>) -> Result<()> {
        // Rounded at once, so that a sweep taken up again gives the same numbers to the last digit.
        let scores: Vec<f64> = scores.into_iter().map(|s| (s * 1e6).round() / 1e6).collect();
        if let Some(file) = &mut self.file {
            let line = serde_json::to_string(&SweepLine { setting: setting.clone(), scores: scores.clone() })?;
            file.write_all((line + "\n").as_bytes())?;
        }
        self.scores.insert(setting.text(), scores);
        Ok(())
    }
}

/// A hash of the knobs that settings don't override.
fn knobs(corpus: &BenchCorpus) -> u64 {
    let values: Vec<String> = knob_values(&corpus.knobs).iter().map(|(n, v)| format!("{n}={v}")).collect();
    hash(values.join("\n").as_bytes()) as u64
}

/// A number that changes with this program: the ranking is linked into it.
fn program() -> Result<u64> {
    let path = std::env::current_exe().context("this program's file")?;
    Ok(hash(&std::fs::read(&path).context("this program's file")?) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(fingerprint: &str) -> Header {
        Header { version: 1, fingerprint: fingerprint.into(), queries: 2 }
    }

    fn setting(value: f64) -> Setting {
        Setting([("COLGREP_K1".to_string(), value)].into())
    }

    #[test]
    fn scores_survive_a_kill_in_the_middle_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept.jsonl");
        let mut store = ScoreStore::open_for(Some(&path), header("a")).unwrap();
        store.add(&setting(1.0), vec![0.5, 1.0 / 3.0]).unwrap();
        store.add(&setting(2.0), vec![1.0, 0.0]).unwrap();
        drop(store);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let mut store = ScoreStore::open_for(Some(&path), header("a")).unwrap();
        assert_eq!((store.len(), store.get(&setting(1.0))), (1, Some(&[0.5, 0.333333][..])));
        store.add(&setting(2.0), vec![1.0, 0.0]).unwrap();
        drop(store);
        assert_eq!(ScoreStore::open_for(Some(&path), header("a")).unwrap().len(), 2, "written behind the broken line");
    }

    #[test]
    fn scores_of_something_else_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept.jsonl");
        ScoreStore::open_for(Some(&path), header("a")).unwrap();
        let error = ScoreStore::open_for(Some(&path), header("b")).unwrap_err();
        assert!(error.to_string().contains("name a new file"), "{error}");
    }
}
