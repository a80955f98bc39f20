//! `run`: relevance of one setting, with every query's result on record.

use std::collections::HashMap;
use std::time::Instant;

use anyhow::Result;
use colgrep_core::collapse::{FileHit, PerFile, collapse};
use colgrep_core::knob::Knobs;
use colgrep_core::query::Query;
use colgrep_core::rank::{self, FileFacts, Fused, Ranked, Retrieved};
use colgrep_engine::answer::pack::BYTES_A_TOKEN;
use colgrep_index::source::read_text;
use colgrep_search::{Retrieval, Timing};
use rayon::prelude::*;

use crate::FINE;
use crate::corpus::{BenchCorpus, BenchRepository, BenchTask, CorpusArgs, Vars};
use crate::metric::{self, DEPTH, DEPTH_LARGE, DEPTH_POOL, QueryMetrics};
use crate::report::{OutputArgs, QueryRecord, Record, bar};
use crate::trace::trace;

#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// Repositories and queries.
    #[command(flatten)]
    pub corpus: CorpusArgs,
    /// No stage: files in the order that the retrievers and their fusion give
    #[arg(long)]
    pub no_stages: bool,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

pub fn run(args: &RunArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let corpus = BenchCorpus::open(&args.corpus, vars)?;
    let record = measure(&corpus, !args.no_stages)?;
    args.output.write(&record, "")?;
    Ok(FINE)
}

/// Searches for every query and records the results.
pub fn measure(corpus: &BenchCorpus, has_stages: bool) -> Result<Record> {
    let bar = bar(corpus.tasks.len() as u64, "searching");
    let queries: Result<Vec<QueryRecord>> = corpus
        .tasks
        .par_iter()
        .map(|task| {
            let result = search(corpus, task, &corpus.knobs, has_stages);
            bar.inc(1);
            result
        })
        .collect();
    bar.finish_and_clear();
    let ranking = corpus.ranking.clone() + if has_stages { "" } else { ", no stages" };
    Ok(Record::new(&ranking, &corpus.knobs, queries?))
}

fn search(corpus: &BenchCorpus, task: &BenchTask, knobs: &Knobs, has_stages: bool) -> Result<QueryRecord> {
    let repository = &corpus.repositories[task.repository];
    let started = Instant::now();
    let Retrieval { query, retrieved, timing, .. } = repository.retrieve(task, knobs, DEPTH)?;
    let retrieved_ms = ms(started);
    let fused = Fused::new(&retrieved, repository.fusion, knobs);
    let fused_ms = ms(started);
    let in_pool = pool(repository, &retrieved, &fused, &task.targets);
    let before_rank = ms(started);
    let ranked = rank(&query, knobs, &retrieved, fused, has_stages);
    let hits = collapse(&ranked, DEPTH, PerFile::Units(1));
    let (fuse, rank_ms) = (fused_ms - retrieved_ms, ms(started) - before_rank);
    let search_ms = fused_ms + rank_ms;
    let files: Vec<String> = hits.iter().map(|h| ranked.files[h.file].path.clone()).collect();
    let ranks = metric::ranks(&absolute(repository, ranked.files, &hits), &task.targets);
    // A ranking of enough files answers for both depths; a shorter one depends on the number asked for.
    let ranks_large = if ranked.files.len() >= DEPTH_LARGE {
        metric::ranks(
            &absolute(repository, ranked.files, &collapse(&ranked, DEPTH_LARGE, PerFile::Units(1))),
            &task.targets,
        )
    } else {
        let Retrieval { query, retrieved, .. } = repository.retrieve(task, knobs, DEPTH_LARGE)?;
        let fused = Fused::new(&retrieved, repository.fusion, knobs);
        let hits = collapse(&rank(&query, knobs, &retrieved, fused, has_stages), DEPTH_LARGE, PerFile::Units(1));
        metric::ranks(&absolute(repository, &retrieved.files, &hits), &task.targets)
    };
    let before = metric::first(&ranks).map_or(hits.len(), |rank| rank - 1);
    let tokens = shown_bytes(repository, ranked.files, &hits[..before])? as f64 / BYTES_A_TOKEN as f64;
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
        metrics: QueryMetrics::of(&ranks, &ranks_large, in_pool, tokens),
        ranks: ranks_large,
        search_ms,
        ms: Timing { fuse, rank: rank_ms, total: search_ms, ..timing },
        evidence: retrieved.evidence,
        trace,
    })
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn rank<'a>(query: &Query, knobs: &Knobs, retrieved: &'a Retrieved, fused: Fused, has_stages: bool) -> Ranked<'a> {
    match has_stages {
        true => rank::run(query, knobs, retrieved, fused, None),
        false => Ranked::new(retrieved, &fused),
    }
}

/// Share of the targets among the files of the best units after the fusion.
fn pool(repository: &BenchRepository, retrieved: &Retrieved, fused: &Fused, targets: &[String]) -> f64 {
    let ranked = Ranked::new(retrieved, fused);
    let files: Vec<usize> = ranked.units.iter().take(DEPTH_POOL).map(|unit| unit.file).collect();
    let paths: Vec<String> = files.into_iter().map(|file| repository.absolute(&ranked.files[file].path)).collect();
    metric::recall(&metric::ranks(&paths, targets), DEPTH_POOL)
}

fn absolute(repository: &BenchRepository, files: &[FileFacts], hits: &[FileHit]) -> Vec<String> {
    hits.iter().map(|h| repository.absolute(&files[h.file].path)).collect()
}

/// Bytes of the lines that `colgrep -c` shows for these hits: each file's best unit.
fn shown_bytes(repository: &BenchRepository, files: &[FileFacts], hits: &[FileHit]) -> Result<usize> {
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
