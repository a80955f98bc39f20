//! A search over one snapshot: retrieve, fuse, rank, collapse.

mod beside;
mod hinted;
mod locate;
mod near;
mod past;
mod pointed;
mod restore;
mod retrieve;
mod semantic;
mod timing;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use colgrep_core::UnitId;
use colgrep_core::collapse::{FileHit, PerFile, collapse};
use colgrep_core::expand::TermTable;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::Knobs;
use colgrep_core::query::Query;
use colgrep_core::rank::{self, FileFacts, Fused, Ranked, RankedUnit, Retrieved};
use colgrep_core::strength::{Given, Held, Tokens, strengths};
use colgrep_core::tag::Hints;

pub use near::Near;
pub(crate) use pointed::Pointers;
use rayon::prelude::*;
pub use restore::own_lines;
pub(crate) use retrieve::retrieve_pointed;
pub use retrieve::{Retrieval, is_text, retrieve};
pub use semantic::{Mode, Semantic};
pub use timing::Timing;
use timing::timed;

use crate::error::Result;
use crate::lexical::UnitFilter;
use crate::source::read_text;
use crate::store::Snapshot;

/// What is asked of a search.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The query's text.
    pub query: &'a str,
    /// Constants of the ranking.
    pub knobs: &'a Knobs,
    /// How rankings are fused.
    pub fusion: Fusion,
    /// Distinct files wanted.
    pub files: usize,
    /// Units shown of a file.
    pub units_per_file: PerFile,
    /// Strength below which files are no answer; 0: all are.
    pub strength_min: f32,
    /// Which units may be returned; without a filter, all.
    pub filter: Option<&'a dyn UnitFilter>,
    /// How vectors take part; without it, the search is by keywords alone.
    pub semantic: Option<Semantic<'a>>,
    /// What the caller knows beside the query's words.
    pub background: Background<'a>,
}

/// What the caller of a search knows beside the query's words.
#[derive(Clone, Copy, Default)]
pub struct Background<'a> {
    /// Terms for words of the query.
    pub terms: Option<&'a TermTable>,
    /// Tags that are expected of what is wanted.
    pub hints: Option<&'a Hints>,
    /// The names that people gave to the file at a path.
    pub tags_of: Option<&'a TagsOf<'a>>,
    /// Where the reader stands.
    pub near: Option<&'a Near>,
    /// Files that past commits like the question changed, the strongest first, with shares of the strongest; their paths
    /// are from the project's root.
    pub past: &'a [(String, f32)],
}

/// Files that are judged, at least, where weak ones are left out: a strong one may stand behind many.
const FILES_JUDGED: usize = 64;

/// Gives the names that people gave to the file at a path.
pub type TagsOf<'a> = dyn Fn(&str) -> Vec<String> + Sync + 'a;

/// Watches a search: step name and (unit, score) pairs of a retriever, or the order behind a stage.
pub trait Watch {
    /// A retriever's ranking, or their fusion: units with scores, best first.
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]);
    /// The order behind a stage.
    fn stage(&mut self, step: &'static str, ranked: &Ranked<'_>);
    /// How long its parts took, at the end.
    fn timing(&mut self, _: &Timing) {}
}

/// The answer: files with their best units, and all units that they were chosen from.
#[derive(Debug, Default)]
pub struct Answer {
    /// The query, as it was read.
    pub query: Query,
    /// The files, best first.
    pub hits: Vec<FileHit>,
    /// How many of the best files were left out since they are too weak.
    pub weak: usize,
    /// All units that were ranked, best first.
    pub units: Vec<RankedUnit>,
    /// Their files.
    pub files: Vec<FileFacts>,
    /// Whether hardly anything but prose, configuration and data was found: a page's sections count for themselves then.
    pub is_documentation: bool,
}

/// What each file's candidates hold of the query's words.
///
/// # Errors
/// When the index can't be read.
pub fn held(snapshot: &Snapshot, query: &Query, retrieved: &Retrieved, hits: &[FileHit]) -> Result<Vec<Held>> {
    let at: HashMap<usize, usize> = hits.iter().enumerate().map(|(at, hit)| (hit.file, at)).collect();
    let mut units = vec![Vec::new(); hits.len()];
    for candidate in &retrieved.candidates {
        if let Some(at) = at.get(&candidate.file) {
            units[*at].push(candidate.unit);
        }
    }
    let mut held = snapshot.lexical.held(query, &units)?;
    if query.clues.is_tokens {
        let root = Path::new(&snapshot.files.root);
        held.par_iter_mut().zip(hits).for_each(|(held, hit)| {
            // What is gone holds nothing.
            let path = &retrieved.files[hit.file].path;
            held.tokens = Tokens::held(path, &read_text(root, path).unwrap_or_default(), &query.clues.tokens);
        });
    }
    Ok(held)
}

/// Runs one search.
///
/// # Errors
/// When the index can't be read.
pub fn search(snapshot: &Snapshot, request: &Request<'_>, mut watch: Option<&mut dyn Watch>) -> Result<Answer> {
    let mut total = 0.0;
    let (answer, timing) = timed(&mut total, || ranked(snapshot, request, watch.as_deref_mut()))?;
    if let Some(watch) = watch {
        watch.timing(&Timing { total, ..timing });
    }
    Ok(answer)
}

fn ranked(
    snapshot: &Snapshot,
    request: &Request<'_>,
    mut watch: Option<&mut (dyn Watch + '_)>,
) -> Result<(Answer, Timing)> {
    let Retrieval { query, retrieved, mut timing } = retrieve(snapshot, request)?;
    let fused = timed(&mut timing.fuse, || Fused::new(&retrieved, request.fusion, request.knobs));
    if let Some(watch) = &mut watch {
        for ranking in &retrieved.rankings {
            watch.ranking(ranking.retriever.name(), &ranking.hits);
        }
        let ranked = Ranked::new(&retrieved, &fused);
        watch.ranking("fused", &ranked.units.iter().map(|u| (u.unit, u.score)).collect::<Vec<_>>());
    }
    let (units, hits) = timed(&mut timing.rank, || {
        let ranked = match watch {
            Some(watch) => {
                let mut observer = |step, ranked: &Ranked<'_>| watch.stage(step, ranked);
                rank::run(&query, request.knobs, &retrieved, fused, Some(&mut observer))
            }
            None => rank::run(&query, request.knobs, &retrieved, fused, None),
        };
        let mut hits = collapse(&ranked, request.files, request.units_per_file);
        if request.strength_min > 0.0 && request.files < FILES_JUDGED {
            let shown: HashSet<usize> = hits.iter().map(|hit| hit.file).collect();
            let more = collapse(&ranked, FILES_JUDGED, PerFile::Units(1));
            hits.extend(more.into_iter().filter(|hit| !shown.contains(&hit.file)));
        }
        (ranked.units, hits)
    });
    let mut hits = hits;
    let held = held(snapshot, &query, &retrieved, &hits)?;
    let given = Given { query: &query, knobs: request.knobs, retrieved: &retrieved, hits: &hits, held: &held };
    let strengths = strengths(&given);
    hits.iter_mut().zip(strengths).for_each(|(hit, strength)| hit.strength = strength);
    let is_documentation = retrieved.evidence.documentation;
    let judged = hits.len();
    hits.retain(|hit| hit.strength >= request.strength_min);
    let weak = judged - hits.len();
    hits.truncate(request.files);
    Ok((Answer { query, hits, weak, units, files: retrieved.files, is_documentation }, timing))
}
