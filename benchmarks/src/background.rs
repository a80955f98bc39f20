//! `background`: what hints and term tables are worth, and what wrong ones cost.
//!
//! Right hints and tables are drawn from the answers (the folder or the name of a right file), which is the most that a
//! caller could know; wrong ones from another file of the repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use colgrep_core::collapse::{PerFile, collapse};
use colgrep_core::expand::TermTable;
use colgrep_core::rank::{self, Fused};
use colgrep_core::tag::{Hint, TagKind};
use colgrep_core::token::{is_stop_word, words};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rayon::prelude::*;

use crate::FINE;
use crate::corpus::TaskBackground;
use crate::corpus::{BenchCorpus, BenchRepository, BenchTask, CorpusArgs, Vars};
use crate::metric::{self, DEPTH};
use crate::paired::Paired;
use crate::report::{bar, check_folders, print, write_text};

/// Shortest word of a query that a term table may have as its key.
const WORD_CHARS_MIN: usize = 4;

#[derive(Clone, Debug, clap::Args)]
pub struct BackgroundArgs {
    /// Repositories and queries.
    #[command(flatten)]
    pub corpus: CorpusArgs,
    /// Write the table here too
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

/// Evidence that is given with a query.
#[derive(Clone, Debug, Default)]
struct GivenBackground {
    hints: Vec<Hint>,
    terms: TermTable,
}

/// A way to draw it: its name, and what it gives where it can give anything.
type Way = (&'static str, fn(&BenchRepository, &BenchTask, &mut StdRng) -> Option<GivenBackground>);

const WAYS: [Way; 6] = [
    ("hint: the folder of an answer", |repository, task, _| folder_hint(&answer(repository, task)?)),
    ("hint: the folder of another file", |repository, task, random| folder_hint(&other(repository, task, random)?)),
    ("hint: subsystem and concept of an answer", |repository, task, _| both_hints(&answer(repository, task)?)),
    ("terms: the name of an answer", |repository, task, _| name_terms(task, &answer(repository, task)?)),
    ("terms: the name of another file", |repository, task, random| name_terms(task, &other(repository, task, random)?)),
    ("terms: the table of Kubernetes", |_, _, _| {
        Some(GivenBackground { terms: TermTable::built_in("kubernetes")?, ..GivenBackground::default() })
    }),
];

pub fn run(args: &BackgroundArgs, vars: &Vars) -> Result<u8> {
    check_folders(&[&args.markdown])?;
    let corpus = BenchCorpus::open(&args.corpus, vars)?;
    let bar = bar((corpus.tasks.len() * (WAYS.len() + 1)) as u64, "searching");
    let score = |task: &BenchTask, given: &GivenBackground| {
        bar.inc(1);
        ndcg(&corpus, task, given)
    };
    let base =
        corpus.tasks.par_iter().map(|task| score(task, &GivenBackground::default())).collect::<Result<Vec<_>>>()?;
    let mut table =
        String::from("| given | set | queries | NDCG@10 without | with | difference | ± queries | ± repositories |\n");
    table.push_str("|---|---|---:|---:|---:|---:|---:|---:|\n");
    for (name, draw) in WAYS {
        let changed = corpus.tasks.par_iter().enumerate().map(|(at, task)| {
            // A draw of its own for each query, the same in every run.
            let mut random = StdRng::seed_from_u64(at as u64);
            let given = draw(&corpus.repositories[task.repository], task, &mut random);
            given.map(|given| Ok((at, score(task, &given)?))).transpose()
        });
        let changed: Vec<(usize, f64)> = changed.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        for (set, row) in rows(&corpus, &base, &changed) {
            table.push_str(&format!("| {name} | {} | {row} |\n", corpus.sets[set].name));
        }
    }
    bar.finish_and_clear();
    print(&table)?;
    if let Some(path) = &args.markdown {
        write_text(path, &table)?;
    }
    Ok(FINE)
}

/// NDCG@10 of a query with the given evidence.
fn ndcg(corpus: &BenchCorpus, task: &BenchTask, given: &GivenBackground) -> Result<f64> {
    let repository = &corpus.repositories[task.repository];
    let (hints, terms) = (given.hints.clone(), Some(given.terms.clone()).filter(|terms| !terms.is_empty()));
    let task = BenchTask { background: TaskBackground { hints, terms, ..TaskBackground::default() }, ..task.clone() };
    let found = repository.retrieve(&task, &corpus.knobs, DEPTH)?;
    let fused = Fused::new(&found.retrieved, repository.fusion, &corpus.knobs);
    let ranked = rank::run(&found.query, &corpus.knobs, &found.retrieved, fused, None);
    let hits = collapse(&ranked, DEPTH, PerFile::Units(1));
    let files: Vec<String> = hits.iter().map(|hit| repository.absolute(&ranked.files[hit.file].path)).collect();
    Ok(metric::ndcg(&metric::ranks(&files, &task.targets), DEPTH))
}

/// A row a set, over the queries that something was given for and that it changed or not.
fn rows(corpus: &BenchCorpus, base: &[f64], changed: &[(usize, f64)]) -> BTreeMap<usize, String> {
    let mut by_set: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
    for (at, value) in changed {
        by_set.entry(corpus.tasks[*at].set).or_default().push((*at, *value));
    }
    let row = |all: &[(usize, f64)]| {
        let difference = |(at, value): &(usize, f64)| (corpus.tasks[*at].repository, value - base[*at]);
        let paired = Paired::of_equals(all.iter().map(difference));
        let before = all.iter().map(|(at, _)| base[*at]).sum::<f64>() / all.len() as f64;
        format!(
            "{} | {before:.4} | {:.4} | {:+.4} | {:.4} | {:.4}",
            all.len(),
            before + paired.mean,
            paired.mean,
            paired.error_queries,
            paired.error_repositories
        )
    };
    by_set.into_iter().map(|(set, all)| (set, row(&all))).collect()
}

/// The path, from the project's root, of a file that answers.
fn answer(repository: &BenchRepository, task: &BenchTask) -> Option<String> {
    let is_answer = |path: &str| task.targets.iter().any(|t| metric::matches(&repository.absolute(path), t));
    repository.files().find(|file| is_answer(&file.path)).map(|file| file.path.clone())
}

/// The path of another file, which lies in another folder than those that answer.
fn other(repository: &BenchRepository, task: &BenchTask, random: &mut StdRng) -> Option<String> {
    let folders: Vec<String> = repository
        .files()
        .filter(|file| task.targets.iter().any(|t| metric::matches(&repository.absolute(&file.path), t)))
        .map(|file| folder(&file.path).to_string())
        .collect();
    let others: Vec<&str> = repository
        .files()
        .map(|file| file.path.as_str())
        .filter(|path| !folder(path).is_empty() && !folders.iter().any(|known| known.contains(last(folder(path)))))
        .collect();
    others.choose(random).map(|path| (*path).to_string())
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn last(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or_default()
}

fn stem(path: &str) -> &str {
    let name = last(path);
    name.split('.').next().unwrap_or(name)
}

fn hint(kind: TagKind, word: &str) -> Option<Hint> {
    Hint::new(kind.name(), word).ok()
}

fn folder_hint(path: &str) -> Option<GivenBackground> {
    Some(GivenBackground { hints: vec![hint(TagKind::Subsystem, last(folder(path)))?], ..GivenBackground::default() })
}

fn both_hints(path: &str) -> Option<GivenBackground> {
    let word = last(folder(path));
    Some(GivenBackground {
        hints: vec![hint(TagKind::Subsystem, word)?, hint(TagKind::Concept, stem(path))?],
        ..GivenBackground::default()
    })
}

/// A table that maps the query's longest word to the name of a file.
fn name_terms(task: &BenchTask, path: &str) -> Option<GivenBackground> {
    let typed = words(&task.query).map(|word| &task.query[word]);
    let fit = typed.filter(|w| w.chars().count() >= WORD_CHARS_MIN && !is_stop_word(&w.to_lowercase()));
    let word = fit.max_by_key(|w| w.len())?;
    let mut terms = TermTable::default();
    terms.add(word, [stem(path).to_string()]);
    Some(GivenBackground { terms, ..GivenBackground::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_names_the_file() {
        let hints = folder_hint("src/http/parse.rs").expect("a hint").hints;
        assert_eq!(hints[0].to_string(), "subsystem=http");
        let both: Vec<String> =
            both_hints("src/http/parse.rs").expect("hints").hints.iter().map(Hint::to_string).collect();
        assert_eq!(both, ["subsystem=http", "concept=parse"]);
        assert!(folder_hint("parse.rs").is_none(), "a file of the root has no folder to name");
    }
}
