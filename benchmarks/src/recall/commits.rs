//! Commits as what is asked for: the first sentence of a message, and a history that has lost all messages.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_engine::project::git;
use colgrep_index::history::{HistorySource, TranscriptFolders};
use colgrep_index::ids::FileId;
use colgrep_index::store::{FileTable, Store};
use colgrep_index::update::{Document, DocumentBatch, DocumentRequest, Source, Updater};
use colgrep_index::walk::{WalkOptions, Walked, WalkedFile};
use colgrep_index::worktree::WorktreeRepository;

use super::{RecallMeasure, Scores, means, remark};

/// Words of a question at least.
const WORDS_MIN: usize = 5;
/// Beginnings of lines that programs write, or that ask for nothing.
const NOT_ASKED: [&str; 8] =
    ["Signed-off-by", "Co-authored-by", "Bumps ", "This reverts", "http", "* ", "- ", "Merge "];

/// A history whose commits have lost their messages, which are kept separately.
struct WithoutMessages<'a> {
    history: HistorySource<'a>,
    messages: Mutex<HashMap<String, String>>,
}

struct Stripped<'a> {
    round: Box<dyn DocumentBatch + 'a>,
    messages: &'a Mutex<HashMap<String, String>>,
}

impl Source for WithoutMessages<'_> {
    fn version(&self) -> u32 {
        self.history.version()
    }

    fn list(&self, known: Option<&FileTable>, options: &WalkOptions) -> colgrep_index::Result<Walked> {
        self.history.list(known, options)
    }

    fn begin<'s>(&'s self, round: &[WalkedFile]) -> colgrep_index::Result<Box<dyn DocumentBatch + 's>> {
        Ok(Box::new(Stripped { round: self.history.begin(round)?, messages: &self.messages }))
    }
}

impl DocumentBatch for Stripped<'_> {
    fn read(&self, asked: &DocumentRequest<'_>) -> colgrep_index::Result<Document> {
        let mut document = self.round.read(asked)?;
        for unit in document.content.iter_mut().flat_map(|content| &mut content.parsed.units) {
            let message = std::mem::take(&mut unit.docstring);
            if let Some(question) = question(&unit.name, &message) {
                let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
                messages.insert(document.record.path.clone(), question);
            }
        }
        Ok(document)
    }
}

/// The first sentence of a message, where it asks for something that the subject does not say.
fn question(subject: &str, message: &str) -> Option<String> {
    let paragraph = message.trim().split("\n\n").next()?.replace('\n', " ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    let sentence = paragraph[..end].trim().trim_end_matches('.');
    let is_asked = !NOT_ASKED.iter().any(|begin| sentence.starts_with(begin) || subject.starts_with(begin));
    let is_new = !subject.to_lowercase().contains(&sentence.to_lowercase());
    (is_asked && is_new && sentence.split_whitespace().count() >= WORDS_MIN).then(|| sentence.to_string())
}

impl RecallMeasure<'_> {
    /// The scores of one repository's questions.
    pub(super) fn commits(&self, path: &Path) -> Result<Vec<Scores>> {
        let top = path.canonicalize().with_context(|| path.display().to_string())?;
        let repository =
            WorktreeRepository::around(&top).with_context(|| format!("{} is not a repository", path.display()))?;
        let folder = tempfile::tempdir()?;
        let store = Store::new(folder.path().join("index"));
        let git = git::GitRepository::new(repository.top.clone(), self.programs.clone());
        let sessions = TranscriptFolders::default();
        let history = HistorySource { git: Some(&git), common: &repository.common, sessions: &sessions };
        let source = WithoutMessages { history, messages: Mutex::default() };
        let begun = Instant::now();
        Updater::new(&store, &repository.common).source(&source).run()?;
        let a_second = begun.elapsed();
        let encoding = self.model.encoding(None);
        let (snapshot, _) =
            Updater::new(&store, &repository.common).source(&source).encoding(encoding.as_ref()).run()?;
        let messages = source.messages.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut commits: Vec<(i64, FileId, &String)> = snapshot
            .files
            .indexed()
            .filter_map(|record| Some((record.mtime_ns, record.id, messages.get(&record.path)?)))
            .collect();
        commits.sort_unstable_by_key(|commit| std::cmp::Reverse(commit.0));
        commits.truncate(self.questions);
        let scores: Vec<Scores> = commits
            .iter()
            .map(|(_, file, question)| self.scores(&snapshot, question, (*file, 1)))
            .collect::<Result<_>>()?;
        let count = snapshot.files.files.len();
        let rate = count as f64 / a_second.as_secs_f64();
        let name = repository.name();
        remark(&format!("| {name} | {count} | {rate:.0} | {} | {} |", scores.len(), means(scores.iter())));
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_asks_unless_a_program_wrote_it() {
        for (subject, message, expected) in [
            (
                "Cap retries",
                "The server sleeps otherwise, and\nnobody notices. More.",
                Some("The server sleeps otherwise, and nobody notices"),
            ),
            ("Cap retries", "Too short.", None),
            ("Cap retries", "Signed-off-by: A Person <a@b.c> of somewhere", None),
            ("Merge branch main", "The server sleeps otherwise, and nobody notices.", None),
        ] {
            assert_eq!(question(subject, message).as_deref(), expected, "{message}");
        }
    }
}
