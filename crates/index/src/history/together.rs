//! Evidence from commits: files that changed together, and files that changed for what a question asks.

use std::collections::{HashMap, HashSet};

use colgrep_core::UnitId;
use colgrep_core::bm25::{Bm25, Field};
use colgrep_core::knob::Knobs;
use colgrep_core::query::Query;
use colgrep_core::token::Tokenizer;
use colgrep_syntax::language;

use super::is_commit;
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{Scoring, UnitFilter, UnitPlace};
use crate::store::Snapshot;

/// Commits of more files than this (reformatting, renaming, importing) do not relate their files.
pub const COMMIT_FILES_MAX: usize = 20;
/// Maximum of commits that are evidence for a question.
const EVIDENCE_COMMITS_MAX: usize = 20;
/// Maximum of files in such a commit: a commit of a thousand files is about none of them.
const EVIDENCE_FILES_MAX: usize = 1_000;

/// A file that changed together with another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TogetherFile {
    /// Its path, from the repository's root.
    pub path: String,
    /// Its share of the strongest (1). A commit of n files counts 1 / (n − 1) for each other one.
    pub share: f32,
    /// The number of commits that changed both.
    pub commits: u32,
}

/// Files that changed together with the one at `path` (from the repository's root), strongest first.
pub fn together(history: &Snapshot, path: &str) -> Result<Vec<TogetherFile>> {
    let commits = commits(history);
    let hits = history.lexical.mentioning(path)?;
    let units: Vec<UnitId> = hits.iter().filter(|hit| commits.0.contains(&hit.file)).map(|hit| hit.key).collect();
    let mut weights: HashMap<String, Vec<f32>> = HashMap::new();
    history.lexical.each_mention(&units, COMMIT_FILES_MAX, |_, ords, name| {
        for other in ords.iter().filter_map(|ord| name(*ord)).filter(|other| other != path) {
            weights.entry(other).or_default().push(1.0 / (ords.len() - 1) as f32);
        }
    })?;
    let counts: HashMap<String, u32> =
        weights.iter().map(|(path, weights)| (path.clone(), weights.len() as u32)).collect();
    let file = |(path, share): (String, f32)| {
        let commits = counts.get(&path).copied().unwrap_or_default();
        TogetherFile { path, share, commits }
    };
    Ok(shares(weights).into_iter().map(file).collect())
}

/// Files that past commits similar to the question changed, strongest first, each with its share of the strongest (1):
/// of the best 20 commits by the words of subject and body, each gives its score / √n to its n files.
pub fn evidence(history: &Snapshot, question: &str, knobs: &Knobs) -> Result<Vec<(String, f32)>> {
    let mut tokenizer = Tokenizer::default();
    let query = Query::new(question, &history.files.root, language::facts(), &mut tokenizer);
    if query.terms.is_empty() {
        return Ok(Vec::new());
    }
    let mut bm25 = Bm25::new(knobs);
    // Paths are words of the body: they would count themselves.
    for (weight, field) in bm25.weights.iter_mut().zip(Field::ALL) {
        if field == Field::Body {
            *weight = 0.0;
        }
    }
    let commits = commits(history);
    let looked_up = history.lexical.look_up(&query, &bm25)?;
    let statistics = looked_up.statistics()?;
    let scoring = Scoring { statistics: &statistics, bm25: &bm25, filter: Some(&commits), order: history.ties() };
    let hits = looked_up.scorer(scoring).search(EVIDENCE_COMMITS_MAX, 0)?;
    let units: Vec<UnitId> = hits.iter().map(|hit| hit.key).collect();
    let mut weights: HashMap<String, Vec<f32>> = HashMap::new();
    history.lexical.each_mention(&units, EVIDENCE_FILES_MAX, |at, ords, name| {
        for path in ords.iter().filter_map(|ord| name(*ord)) {
            weights.entry(path).or_default().push(hits[at].score / (ords.len() as f32).sqrt());
        }
    })?;
    Ok(shares(weights))
}

/// Sums of weights as shares of the greatest, greatest first, ties by path.
fn shares(weights: HashMap<String, Vec<f32>>) -> Vec<(String, f32)> {
    // The position of a commit in the index depends on its history; sums of rounded numbers must not.
    let sum = |mut weights: Vec<f32>| -> f32 {
        weights.sort_unstable_by(f32::total_cmp);
        weights.into_iter().sum()
    };
    let mut shares: Vec<(String, f32)> = weights.into_iter().map(|(path, weights)| (path, sum(weights))).collect();
    let best = shares.iter().map(|share| share.1).fold(0.0, f32::max);
    shares.iter_mut().for_each(|share| share.1 /= best);
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    shares
}

/// The documents that are commits: a filter.
struct Commits(HashSet<FileId>);

fn commits(history: &Snapshot) -> Commits {
    Commits(history.files.indexed().filter(|record| is_commit(record)).map(|record| record.id).collect())
}

impl UnitFilter for Commits {
    fn allows_file(&self, file: FileId) -> bool {
        self.0.contains(&file)
    }

    fn allows_unit(&self, _: &UnitPlace) -> bool {
        true
    }
}
