//! The evidence that a task gives with its words: the reader's position, hints, and terms of a field.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use colgrep_core::expand::TermTable;
use colgrep_core::tag::Hint;
use colgrep_engine::request::near::NearFile;
use colgrep_engine::request::split_line;
use colgrep_engine::request::terms;
use colgrep_search::Near;
use serde::{Deserialize, Serialize};

use crate::corpus::BenchRepository;
use crate::metric;

/// The evidence that an annotation gives with the query, as in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnotatedBackground {
    /// The file that the reader has open, as `--near` takes it, from the repository's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// Hints, as `--hint` takes them: `KIND=WORD`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// A table of terms, as `--expand` takes it; a file's path is from the folder of annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expand: Option<String>,
}

/// What can be left out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WithoutBackground {
    /// The reader's position.
    Near,
    /// Hints.
    Hints,
    /// Terms of a field.
    Expand,
}

impl AnnotatedBackground {
    /// The same without what is to be left out.
    #[must_use]
    pub fn without(mut self, left_out: &[WithoutBackground]) -> AnnotatedBackground {
        for one in left_out {
            match one {
                WithoutBackground::Near => self.near = None,
                WithoutBackground::Hints => self.hints.clear(),
                WithoutBackground::Expand => self.expand = None,
            }
        }
        self
    }

    /// Reads it for a repository. `folder` is the annotations' folder.
    pub fn read(&self, folder: &Path, repository: &BenchRepository) -> Result<TaskBackground> {
        let hints = self.hints.iter().map(|hint| hint.parse::<Hint>().with_context(|| format!("hints: {hint}")));
        let table = |given: &String| match TermTable::built_in(given) {
            Some(table) => Ok(table),
            None => terms::table(&folder.join(given)),
        };
        Ok(TaskBackground {
            near: self.near.as_ref().map(|near| standing(near, repository)).transpose()?,
            hints: hints.collect::<Result<_>>()?,
            terms: self.expand.as_ref().map(table).transpose()?,
        })
    }
}

/// The evidence that a task gives with its words, ready for a search.
#[derive(Clone, Debug, Default)]
pub struct TaskBackground {
    /// The file that the reader has open.
    pub near: Option<NearFile>,
    /// Tags that are expected of what is wanted.
    pub hints: Vec<Hint>,
    /// Terms for words of the query.
    pub terms: Option<TermTable>,
}

/// The file that `near` names, `FILE` or `FILE:LINE`.
fn standing(near: &str, repository: &BenchRepository) -> Result<NearFile> {
    let of = |path: &str| repository.files().find(|file| metric::matches(&repository.absolute(&file.path), path));
    let (file, line) = split_line(near).map_or((near, None), |(file, line)| (file, Some(line)));
    let record = of(file).with_context(|| format!("near: {file} is not in the index of {}", repository.name))?;
    let root: PathBuf = repository.place.project.root.clone();
    let together = repository.past().together(&repository.place.project, &record.path);
    let together = together.into_iter().map(|file| (file.path, file.share)).collect();
    Ok(NearFile { root, near: Near { path: record.path.clone(), line, together, ..Near::default() } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_left_out_by_name() {
        let text = r#"{"near": "a.rs:3", "hints": ["purpose=parse"], "expand": "kubernetes"}"#;
        let given: AnnotatedBackground = serde_json::from_str(text).unwrap();
        let left = |without: &[WithoutBackground]| serde_json::to_string(&given.clone().without(without)).unwrap();
        assert_eq!(left(&[]), text.replace(": ", ":").replace(", ", ","));
        assert_eq!(left(&[WithoutBackground::Near, WithoutBackground::Hints]), r#"{"expand":"kubernetes"}"#);
        assert_eq!(left(&[WithoutBackground::Expand, WithoutBackground::Near]), r#"{"hints":["purpose=parse"]}"#);
    }
}
