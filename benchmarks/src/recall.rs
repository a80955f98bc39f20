//! `recall`: whether `colgrep log` finds the commit that a sentence is about. The first sentence of a commit's message
//! asks for it, and the documents hold no messages: subjects and paths alone answer.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_engine::git;
use colgrep_engine::model::Model;
use colgrep_engine::{Env, RankBy};
use colgrep_index::history::{History, Sessions, recall};
use colgrep_index::ids::FileId;
use colgrep_index::search::{Background, Request};
use colgrep_index::store::{FileTable, Snapshot, Store};
use colgrep_index::update::{Asked, Document, Round, Source, Updater};
use colgrep_index::walk::{WalkOptions, Walked, WalkedFile};
use colgrep_index::worktree::Repository;

use crate::FINE;
use crate::corpus::Vars;

/// Words of a question at least.
const WORDS_MIN: usize = 5;
/// Entries that are looked at.
const DEPTH: usize = 10;
/// Beginnings of lines that programs write, or that ask for nothing.
const NOT_ASKED: [&str; 8] =
    ["Signed-off-by", "Co-authored-by", "Bumps ", "This reverts", "http", "* ", "- ", "Merge "];

/// `recall`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Repositories with their history
    #[arg(required = true)]
    pub repositories: Vec<PathBuf>,
    /// Questions of each repository, of its newest commits
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub questions: usize,
}

/// A history whose commits have lost their messages, which are kept beside.
struct WithoutMessages<'a> {
    history: History<'a>,
    messages: Mutex<HashMap<String, String>>,
}

struct Stripped<'a> {
    round: Box<dyn Round + 'a>,
    messages: &'a Mutex<HashMap<String, String>>,
}

impl Source for WithoutMessages<'_> {
    fn version(&self) -> u32 {
        self.history.version()
    }

    fn list(&self, known: Option<&FileTable>, options: &WalkOptions) -> colgrep_index::Result<Walked> {
        self.history.list(known, options)
    }

    fn begin<'s>(&'s self, round: &[WalkedFile]) -> colgrep_index::Result<Box<dyn Round + 's>> {
        Ok(Box::new(Stripped { round: self.history.begin(round)?, messages: &self.messages }))
    }
}

impl Round for Stripped<'_> {
    fn read(&self, asked: &Asked<'_>) -> colgrep_index::Result<Document> {
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

/// Reciprocal ranks by words, by both, by meaning.
const WAYS: [(&str, RankBy); 3] = [("words", RankBy::Words), ("both", RankBy::Both), ("meaning", RankBy::Meaning)];

/// Measures, and prints a table.
///
/// # Errors
/// When a repository can't be read.
pub fn run(args: &Args, vars: &Vars) -> Result<u8> {
    let env = Env::read(vars.iter().cloned())?;
    let programs = vars.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone()).unwrap_or_default();
    let model = Model::open(None, true, &env)?;
    let mut all = [0.0; WAYS.len()];
    let mut questions = 0;
    remark(&format!("| repository | commits | a second | questions | {} |", WAYS.map(|(name, _)| name).join(" | ")));
    for path in &args.repositories {
        let (sums, asked) = one(path, args.questions, &programs, &model)?;
        for (all, sum) in all.iter_mut().zip(sums) {
            *all += sum;
        }
        questions += asked;
    }
    let means = all.map(|sum| format!("{:.4}", sum / questions.max(1) as f64)).join(" | ");
    remark(&format!("| all | | | {questions} | {means} |"));
    Ok(FINE)
}

fn remark(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Sums of reciprocal ranks of one repository's questions, and their number.
fn one(path: &Path, wanted: usize, programs: &OsString, model: &Model) -> Result<([f64; WAYS.len()], usize)> {
    let top = path.canonicalize().with_context(|| path.display().to_string())?;
    let repository = Repository::around(&top).with_context(|| format!("{} is no repository", path.display()))?;
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path().join("index"));
    let git = git::Repository::new(repository.top.clone(), programs.clone());
    let sessions = Sessions::default();
    let history = History { git: Some(&git), common: &repository.common, sessions: &sessions };
    let source = WithoutMessages { history, messages: Mutex::default() };
    let begun = Instant::now();
    Updater::new(&store, &repository.common).source(&source).run()?;
    let a_second = begun.elapsed();
    let encoding = model.encoding(None);
    let (snapshot, _) = Updater::new(&store, &repository.common).source(&source).encoding(encoding.as_ref()).run()?;
    let messages = source.messages.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut commits: Vec<(i64, FileId, &String)> = snapshot
        .files
        .indexed()
        .filter_map(|record| Some((record.mtime_ns, record.id, messages.get(&record.path)?)))
        .collect();
    commits.sort_unstable_by_key(|commit| std::cmp::Reverse(commit.0));
    commits.truncate(wanted);
    let mut sums = [0.0; WAYS.len()];
    for (_, file, question) in &commits {
        for (sum, (_, by)) in sums.iter_mut().zip(WAYS) {
            *sum += reciprocal_rank(&snapshot, model, question, by, *file)?;
        }
    }
    let count = snapshot.files.files.len();
    let rate = count as f64 / a_second.as_secs_f64();
    let means = sums.map(|sum| format!("{:.4}", sum / commits.len().max(1) as f64)).join(" | ");
    let name = repository.name();
    remark(&format!("| {name} | {count} | {rate:.0} | {} | {means} |", commits.len()));
    Ok((sums, commits.len()))
}

fn reciprocal_rank(snapshot: &Snapshot, model: &Model, question: &str, by: RankBy, target: FileId) -> Result<f64> {
    let knobs = Knobs::of(Profile::Default);
    let request = Request {
        query: question,
        knobs: &knobs,
        fusion: Fusion::default(),
        files: DEPTH,
        units_per_file: 1,
        filter: None,
        semantic: (by != RankBy::Words).then(|| model.semantic(snapshot, by)),
        background: Background::default(),
    };
    let answer = recall(snapshot, &request, None)?;
    let mut best = answer.units.iter().take(DEPTH);
    let file = |unit| snapshot.lexical.entry_at(unit).map(|hit| hit.file);
    Ok(best.position(|ranked| file(ranked.unit) == Some(target)).map_or(0.0, |at| 1.0 / (at + 1) as f64))
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
