//! `run`: relevance of one setting, with every query's result on record.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use colgrep_core::collapse::{FileHit, collapse};
use colgrep_core::knob::Knobs;
use colgrep_core::query::Query;
use colgrep_core::rank::{self, FileFacts, Fused, Ranked, Retrieved};
use colgrep_index::source::read_text;
use rayon::prelude::*;

use crate::FINE;
use crate::corpus::{Corpus, CorpusArgs, Repository, Task, Vars};
use crate::metric::{self, DEPTH, DEPTH_LARGE, Metrics};
use crate::report::{QueryRecord, Record, bar, check_folders, print, write_record, write_text};
use crate::trace::trace;

/// `run`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Repositories and queries.
    #[command(flatten)]
    pub corpus: CorpusArgs,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Output files of a record, besides stdout.
#[derive(Clone, Debug, clap::Args)]
pub struct OutputArgs {
    /// Write the record here, as JSON
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write the summary here, as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

impl OutputArgs {
    /// As [`check_folders`].
    ///
    /// # Errors
    /// When a folder is missing.
    pub fn check(&self) -> Result<()> {
        check_folders(&[&self.out, &self.markdown])
    }

    /// Prints the summary with what is to be said below it, and writes the files.
    ///
    /// # Errors
    /// When one can't be written.
    pub fn write(&self, record: &Record, below: &str) -> Result<()> {
        let markdown = record.markdown() + below;
        print(&markdown)?;
        if let Some(path) = &self.out {
            write_record(path, record)?;
        }
        if let Some(path) = &self.markdown {
            write_text(path, &markdown)?;
        }
        Ok(())
    }
}

/// Runs the command.
///
/// # Errors
/// When anything can't be read or written.
pub fn run(args: &Args, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let corpus = Corpus::open(&args.corpus, vars)?;
    let record = measure(&corpus)?;
    args.output.write(&record, "")?;
    Ok(FINE)
}

/// Searches for every query and records the results.
///
/// # Errors
/// When an index can't be read.
pub fn measure(corpus: &Corpus) -> Result<Record> {
    let bar = bar(corpus.tasks.len() as u64, "searching");
    let queries: Result<Vec<QueryRecord>> = corpus
        .tasks
        .par_iter()
        .map(|task| {
            let result = search(corpus, task, &corpus.knobs);
            bar.inc(1);
            result
        })
        .collect();
    bar.finish_and_clear();
    Ok(Record::new(&corpus.ranking, &corpus.knobs, queries?))
}

fn search(corpus: &Corpus, task: &Task, knobs: &Knobs) -> Result<QueryRecord> {
    let repository = &corpus.repositories[task.repository];
    let started = Instant::now();
    let (query, retrieved) = repository.retrieve(&task.query, knobs, DEPTH)?;
    let ranked = rank(repository, &query, knobs, &retrieved);
    let hits = collapse(&ranked, DEPTH, 1);
    let search_ms = started.elapsed().as_secs_f64() * 1e3;
    let files: Vec<String> = hits.iter().map(|h| ranked.files[h.file].path.clone()).collect();
    let ranks = metric::ranks(&absolute(repository, ranked.files, &hits), &task.targets);
    // What holds more files answers for both depths; less depends on how many are asked for.
    let ranks_large = if ranked.files.len() >= DEPTH_LARGE {
        metric::ranks(&absolute(repository, ranked.files, &collapse(&ranked, DEPTH_LARGE, 1)), &task.targets)
    } else {
        let (query, retrieved) = repository.retrieve(&task.query, knobs, DEPTH_LARGE)?;
        let hits = collapse(&rank(repository, &query, knobs, &retrieved), DEPTH_LARGE, 1);
        metric::ranks(&absolute(repository, &retrieved.files, &hits), &task.targets)
    };
    let before = metric::first(&ranks).map_or(hits.len(), |rank| rank - 1);
    let tokens = shown_bytes(repository, ranked.files, &hits[..before])? as f64 / 4.0;
    let is_right = |path: &str| {
        let path = repository.absolute(path);
        task.targets.iter().any(|t| metric::matches(&path, t))
    };
    let trace = trace(&query, repository.fusion, knobs, &retrieved, is_right);
    Ok(QueryRecord {
        set: corpus.sets[task.set].name.clone(),
        repository: repository.name.clone(),
        language: repository.language.clone(),
        query: task.query.clone(),
        category: task.category.clone(),
        targets: task.targets.clone(),
        files,
        metrics: Metrics::of(&ranks, &ranks_large, tokens),
        ranks: ranks_large,
        search_ms,
        evidence: retrieved.evidence,
        trace,
    })
}

fn rank<'a>(repository: &Repository, query: &Query, knobs: &Knobs, retrieved: &'a Retrieved) -> Ranked<'a> {
    rank::run(query, knobs, retrieved, Fused::new(retrieved, repository.fusion, knobs), None)
}

fn absolute(repository: &Repository, files: &[FileFacts], hits: &[FileHit]) -> Vec<String> {
    hits.iter().map(|h| repository.absolute(&files[h.file].path)).collect()
}

/// Bytes of the lines that `colgrep -c` shows for these hits: each file's best unit.
fn shown_bytes(repository: &Repository, files: &[FileFacts], hits: &[FileHit]) -> Result<usize> {
    let mut sum = 0;
    let mut texts: HashMap<&str, String> = HashMap::new();
    for hit in hits {
        let path = files[hit.file].path.as_str();
        let text =
            texts.entry(path).or_insert_with(|| read_text(&repository.place.project.root, path).unwrap_or_default());
        for shown in &hit.units {
            let span = repository.place.snapshot.lexical.unit(shown.unit)?.span;
            let lines = (span.end + 1).saturating_sub(span.line) as usize;
            sum +=
                text.lines().skip(span.line.saturating_sub(1) as usize).take(lines).map(|l| l.len() + 1).sum::<usize>();
        }
    }
    Ok(sum)
}
