//! Scores units by BM25F over the postings of a query's terms, which count a unit with the term in any field.
//!
//! Terms are summed heaviest first. Once `units_max` units score more than all remaining terms could add up to, these
//! are only looked up in units that may still be among the best (MaxScore: Turtle and Flood, Query evaluation:
//! strategies and optimizations, 1995). The survivors are scored again in the order of the query, so that scores do not
//! depend on the pruning.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::hash::Hash;
use std::ops::Range;

use colgrep_core::UnitId;
use colgrep_core::bm25::{Bm25, Field as UnitField};
use colgrep_core::query::Query;
use colgrep_core::statistics::Statistics;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::DocId;
use tantivy::schema::IndexRecordOption;

use super::read::{Lexical, UnitFilter, UnitHit, key};
use super::terms::{FrequencyReader, ScoredTerm, Weight};
use crate::error::Result;
use crate::ids::{FileId, FileOrder};

/// Greatest relative difference between two sums of the same parts in different order.
const ROUNDING: f32 = 1e-4;

/// Sizes above which MaxScore pruning and sharding are worth their overhead.
#[derive(Clone, Copy, Debug)]
struct PruningSizes {
    /// Queries with fewer postings are summed without pruning.
    postings: u64,
    /// Documents per shard.
    shard: DocId,
}

impl Default for PruningSizes {
    fn default() -> PruningSizes {
        PruningSizes { postings: 1 << 16, shard: 1 << 17 }
    }
}

/// A range of documents of one segment with their partial scores.
struct DocRange {
    segment: usize,
    docs: Range<DocId>,
    /// A partial score for each document.
    scores: Vec<f32>,
    /// Documents with a score that may be among the best.
    touched: Vec<DocId>,
}

impl DocRange {
    fn score(&self, doc: DocId) -> f32 {
        self.scores[(doc - self.docs.start) as usize]
    }
}

/// A query's terms, looked up in an index.
pub struct LookedUp<'a> {
    lexical: &'a Lexical,
    query: &'a Query,
    sizes: PruningSizes,
    terms: Vec<ScoredTerm<'a>>,
    ranges: Vec<(usize, Range<DocId>)>,
}

/// How to score units: the statistics, the filter, and the order of equal scores.
#[derive(Clone, Copy)]
pub struct Scoring<'a> {
    /// The statistics of the whole corpus, of which the index may be a part.
    pub statistics: &'a Statistics,
    /// The formula's constants.
    pub bm25: &'a Bm25,
    /// Which units may be returned; all without a filter.
    pub filter: Option<&'a dyn UnitFilter>,
    pub order: &'a FileOrder,
}

/// Scores units by words.
pub struct Scorer<'a> {
    looked_up: &'a LookedUp<'a>,
    lists: FrequencyReader<'a>,
    scoring: Scoring<'a>,
    weights: Vec<Weight>,
}

impl std::fmt::Debug for LookedUp<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LookedUp({} terms)", self.terms.len())
    }
}

impl std::fmt::Debug for Scoring<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scoring").field("statistics", &self.statistics).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Scorer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scorer").field("scoring", &self.scoring).finish_non_exhaustive()
    }
}

impl Lexical {
    /// Looks up the terms of a query once, for all readers.
    pub fn look_up<'a>(&'a self, query: &'a Query, bm25: &Bm25) -> Result<LookedUp<'a>> {
        self.look_up_in(query, bm25, PruningSizes::default())
    }

    fn look_up_in<'a>(&'a self, query: &'a Query, bm25: &Bm25, sizes: PruningSizes) -> Result<LookedUp<'a>> {
        let terms = query.terms.iter().map(|term| self.term(term, bm25)).collect::<Result<Vec<_>>>()?;
        let mut ranges = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            let end = segment.reader.max_doc();
            ranges.extend((0..end).step_by(sizes.shard as usize).map(|d| (s, d..end.min(d + sizes.shard))));
        }
        Ok(LookedUp { lexical: self, query, sizes, terms, ranges })
    }
}

impl<'a> LookedUp<'a> {
    /// The counts of units, lengths and terms; those of files, definitions and topics are left at 0.
    pub fn statistics(&self) -> Result<Statistics> {
        let (units, lengths) = self.lexical.lengths();
        let mut statistics = Statistics { units, lengths, ..Statistics::default() };
        statistics.terms.resize(self.terms.len(), Default::default());
        let count = |(s, docs): &(usize, Range<DocId>)| -> Result<Vec<_>> {
            self.terms.iter().map(|term| self.lexical.count(*s, term, docs)).collect()
        };
        for counts in spread(&self.ranges, count)? {
            statistics.terms.iter_mut().zip(&counts).for_each(|(sum, more)| sum.add(more));
        }
        Ok(statistics)
    }

    /// A scorer with these settings.
    pub fn scorer(&'a self, scoring: Scoring<'a>) -> Scorer<'a> {
        Scorer::new(self, scoring)
    }

    /// For each term of the query, the positions of units with it in `units`, which is sorted by key. Stop words get
    /// none beside others: they occur nearly everywhere and weigh nothing.
    pub fn holders(&self, units: &[UnitId]) -> Result<Vec<Vec<u32>>> {
        let all_stop = self.terms.iter().all(|term| term.term.stop);
        let of_term = |term: &ScoredTerm<'_>| match term.term.stop && !all_stop {
            true => Ok(Vec::new()),
            false => self.holders_of(term, units),
        };
        self.terms.iter().map(of_term).collect()
    }

    fn holders_of(&self, term: &ScoredTerm<'_>, units: &[UnitId]) -> Result<Vec<u32>> {
        let mut holds = vec![false; units.len()];
        let mut from = 0;
        for of_segment in units.chunk_by(|a, b| a.segment() == b.segment()) {
            let own = &mut holds[from..from + of_segment.len()];
            from += of_segment.len();
            let s = of_segment[0].segment() as usize;
            let lists = [&term.lists, &term.aside].into_iter().filter_map(|lists| lists.get(s)).flatten();
            for list in lists {
                let mut block = self.lexical.list(s, list, IndexRecordOption::Basic)?;
                for (holds, unit) in own.iter_mut().zip(of_segment).filter(|(holds, _)| !**holds) {
                    let at = block.seek(unit.doc());
                    *holds = block.doc(at) == unit.doc();
                }
            }
        }
        Ok((0..).zip(holds).filter(|(_, holds)| *holds).map(|(at, _)| at).collect())
    }
}

impl Scorer<'_> {
    /// Scores the units with a term of the query and returns the best `units_max` that the filter allows. If these are
    /// in fewer than `files_min` files, adds the best unit of each next file until there are enough.
    pub fn search(&self, units_max: usize, files_min: usize) -> Result<Vec<UnitHit>> {
        let mut depth = units_max;
        loop {
            let best = self.best(depth)?;
            let all = best.len() < depth;
            match cut(best, units_max, files_min, |hit| hit.file) {
                (_, false) if !all => depth = 4 * depth.max(files_min),
                (hits, _) => return Ok(hits),
            }
        }
    }

    /// The best unit of each file, by score; for a file without any term of the query, its first unit with score 0.
    pub fn best_of(&self, files: &[FileId]) -> Result<Vec<UnitHit>> {
        let (lexical, filter) = (self.lists.lexical, self.scoring.filter);
        let mut units: Vec<UnitId> = Vec::new();
        for file in files {
            units.extend(lexical.documents_of(*file)?.into_iter().map(|(s, doc)| key(s, doc)));
        }
        let mut best: FxHashMap<FileId, UnitHit> = FxHashMap::default();
        for hit in self.scored(units)? {
            let known = best.entry(hit.file).or_insert(hit);
            if self.by_score(&hit, known).is_lt() {
                *known = hit;
            }
        }
        let mut hits = Vec::with_capacity(files.len());
        for file in files {
            match best.get(file) {
                Some(best) => hits.push(*best),
                None => hits.extend(lexical.units_of(*file, filter)?.into_iter().next()),
            }
        }
        Ok(hits)
    }

    /// The units with their scores, 0 for those without a term of the query.
    pub fn scores_of(&self, units: &[UnitId]) -> Result<Vec<UnitHit>> {
        let mut hits = self.scored(units.to_vec())?;
        let scored: FxHashSet<UnitId> = hits.iter().map(|hit| hit.key).collect();
        let absent = units.iter().filter(|unit| !scored.contains(unit));
        hits.extend(absent.filter_map(|unit| self.lists.lexical.hit(*unit)));
        Ok(hits)
    }
}

impl LookedUp<'_> {
    /// For each of the units, whether it has a content term of the query in its name.
    pub fn name_hits(&self, units: &[UnitId]) -> Result<Vec<bool>> {
        let content: HashSet<&str> = self.query.content_terms().map(|t| t.text.as_str()).collect();
        let mut sorted: Vec<(UnitId, usize)> = units.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let mut hits = vec![false; units.len()];
        for of_segment in sorted.chunk_by(|a, b| a.0.segment() == b.0.segment()) {
            let s = of_segment[0].0.segment() as usize;
            for term in self.terms.iter().filter(|t| content.contains(t.term.text.as_str())) {
                let lists = term.lists.get(s).into_iter().flatten();
                for list in lists.filter(|list| UnitField::ALL[list.0] == UnitField::Name) {
                    let mut block = self.lexical.list(s, list, IndexRecordOption::Basic)?;
                    for (unit, position) in of_segment {
                        let at = block.seek(unit.doc());
                        hits[*position] |= block.doc(at) == unit.doc();
                    }
                }
            }
        }
        Ok(hits)
    }
}

impl<'a> Scorer<'a> {
    fn new(looked_up: &'a LookedUp<'a>, scoring: Scoring<'a>) -> Scorer<'a> {
        let (statistics, bm25) = (scoring.statistics, scoring.bm25);
        let weight = |(at, term): (usize, &ScoredTerm<'_>)| {
            let idf = statistics.idf(at);
            Weight { idf, most: bm25.term_score_max(term.term, idf) }
        };
        let weights = looked_up.terms.iter().enumerate().map(weight).collect();
        Scorer {
            looked_up,
            lists: FrequencyReader::new(looked_up.lexical, bm25, statistics.averages()),
            scoring,
            weights,
        }
    }

    fn terms(&self) -> impl Iterator<Item = (&ScoredTerm<'a>, Weight)> {
        self.looked_up.terms.iter().zip(self.weights.iter().copied())
    }

    fn by_score(&self, a: &UnitHit, b: &UnitHit) -> Ordering {
        let place = |hit: &UnitHit| self.scoring.order.place(hit.file);
        let by_place = || place(a).cmp(&place(b)).then(a.line.cmp(&b.line)).then(a.key.cmp(&b.key));
        b.score.total_cmp(&a.score).then_with(by_place)
    }

    /// The scores of `docs`, ascending, of a segment, without the factor for kind and role.
    fn scores_at(&self, s: usize, docs: &[DocId]) -> Result<Vec<f32>> {
        let mut scores = vec![0.0; docs.len()];
        for (term, weight) in self.terms() {
            for (score, frequency) in scores.iter_mut().zip(self.lists.frequencies_at(s, term, docs)?) {
                if frequency > 0.0 {
                    *score += self.lists.bm25.term_score(term.term, weight.idf, frequency);
                }
            }
        }
        Ok(scores)
    }

    /// Adds a term's contribution to every document of a shard with the term.
    fn sum(&self, shard: &mut DocRange, (term, weight): (&ScoredTerm<'_>, Weight)) -> Result<()> {
        let start = shard.docs.start;
        let mut sums = vec![0.0f32; if term.lists[shard.segment].is_empty() { 0 } else { shard.docs.len() }];
        let mut seen: Vec<DocId> = Vec::new();
        self.lists.frequencies(shard.segment, term, &shard.docs, |doc, frequency| {
            let sum = &mut sums[(doc - start) as usize];
            if *sum == 0.0 {
                seen.push(doc);
            }
            *sum += frequency;
        })?;
        for doc in seen {
            let at = (doc - start) as usize;
            let frequency = std::mem::take(&mut sums[at]);
            if frequency > 0.0 {
                if shard.scores[at] == 0.0 {
                    shard.touched.push(doc);
                }
                shard.scores[at] += self.lists.bm25.term_score(term.term, weight.idf, frequency);
            }
        }
        Ok(())
    }

    /// Adds a term's contribution to the touched documents of a shard.
    fn sum_touched(&self, shard: &mut DocRange, (term, weight): (&ScoredTerm<'_>, Weight)) -> Result<()> {
        shard.touched.sort_unstable();
        let frequencies = self.lists.frequencies_at(shard.segment, term, &shard.touched)?;
        for (doc, frequency) in shard.touched.iter().zip(frequencies).filter(|(_, f)| *f > 0.0) {
            shard.scores[(doc - shard.docs.start) as usize] +=
                self.lists.bm25.term_score(term.term, weight.idf, frequency);
        }
        Ok(())
    }

    /// The best `depth` allowed units, sorted.
    fn best(&self, depth: usize) -> Result<Vec<UnitHit>> {
        let empty = |(segment, docs): &(usize, Range<DocId>)| {
            let scores = vec![0.0; docs.len()];
            DocRange { segment: *segment, docs: docs.clone(), scores, touched: Vec::new() }
        };
        let mut shards: Vec<DocRange> = self.looked_up.ranges.iter().map(empty).collect();
        let plain = self.terms().map(|(t, _)| t.postings).sum::<u64>() < self.looked_up.sizes.postings;
        let mut order: Vec<(&ScoredTerm<'_>, Weight)> = self.terms().collect();
        if !plain {
            order.sort_by(|a, b| b.1.most.total_cmp(&a.1.most));
        }
        let mut closed = false;
        for (i, term) in order.iter().enumerate() {
            let touched: usize = shards.iter().map(|s| s.touched.len()).sum();
            let left: u64 = order[i..].iter().map(|t| t.0.postings).sum();
            // Finding the bar reads every touched unit, so it pays off only if more postings than that are left.
            if !plain && touched > 2 * depth && left > touched as u64 {
                let bar = self.bar(&shards, depth) * (1.0 - ROUNDING);
                let rest: f32 = order[i..].iter().map(|t| t.1.most).sum();
                closed |= bar > rest;
                if closed {
                    narrow(&mut shards, bar - rest);
                }
            }
            let add = |shard: &mut DocRange| match closed {
                true => self.sum_touched(shard, *term),
                false => self.sum(shard, *term),
            };
            match shards.as_mut_slice() {
                [shard] => add(shard)?,
                shards => shards.par_iter_mut().try_for_each(add)?,
            }
        }
        if shards.iter().map(|s| s.touched.len()).sum::<usize>() > 2 * depth {
            let bar = self.bar(&shards, depth) * (1.0 - ROUNDING);
            narrow(&mut shards, bar);
        }
        let parts = spread(&shards, |shard| {
            let mut docs = shard.touched.clone();
            docs.sort_unstable();
            let plain_scores = || docs.iter().map(|doc| shard.score(*doc)).collect();
            let scores = if plain { plain_scores() } else { self.scores_at(shard.segment, &docs)? };
            Ok(docs.iter().zip(scores).filter_map(|(doc, score)| self.hit(shard.segment, *doc, score)).collect())
        })?;
        let mut hits: Vec<UnitHit> = parts.into_iter().flat_map(|part: Vec<UnitHit>| part).collect();
        if depth < hits.len() {
            hits.select_nth_unstable_by(depth, |a, b| self.by_score(a, b));
            hits.truncate(depth);
        }
        hits.sort_unstable_by(|a, b| self.by_score(a, b));
        Ok(hits)
    }

    /// A score that at least `depth` allowed units reach; 0 if fewer were found.
    fn bar(&self, shards: &[DocRange], depth: usize) -> f32 {
        let of_shard =
            |(i, s): (usize, &'_ DocRange)| s.touched.iter().map(|d| (s.score(*d), i, *d)).collect::<Vec<_>>();
        let mut best: Vec<(f32, usize, DocId)> = shards.iter().enumerate().flat_map(of_shard).collect();
        // Factors and filters remove some, so more are scored.
        let looked_at = 4 * depth;
        if looked_at < best.len() {
            best.select_nth_unstable_by(looked_at, |a, b| b.0.total_cmp(&a.0));
            best.truncate(looked_at);
        }
        let score = |(score, shard, doc): &(f32, usize, DocId)| self.hit(shards[*shard].segment, *doc, *score);
        let mut sure: Vec<f32> = best.iter().filter_map(score).map(|hit| hit.score).collect();
        if sure.len() < depth.max(1) {
            return 0.0;
        }
        *sure.select_nth_unstable_by(depth.max(1) - 1, |a, b| b.total_cmp(a)).1
    }

    /// A document with its final score (times the factor for its kind and role), if it has a score and is allowed.
    fn hit(&self, s: usize, doc: DocId, score: f32) -> Option<UnitHit> {
        let segment = &self.lists.lexical.segments[s];
        let info = segment.info(doc);
        let allowed = |f: &dyn UnitFilter| segment.is_allowed(key(s, doc), doc, f);
        (score > 0.0 && self.scoring.filter.is_none_or(allowed)).then(|| {
            let score = score * self.lists.bm25.unit_factor(info.kind(), info.role());
            UnitHit { score, ..segment.hit(key(s, doc), doc) }
        })
    }

    /// Those of the units that have a score and are allowed.
    fn scored(&self, mut units: Vec<UnitId>) -> Result<Vec<UnitHit>> {
        units.sort_unstable();
        let mut hits = Vec::new();
        for of_segment in units.chunk_by(|a, b| a.segment() == b.segment()) {
            let s = of_segment[0].segment() as usize;
            let docs: Vec<DocId> = of_segment.iter().map(|key| key.doc()).collect();
            let scores = self.scores_at(s, &docs)?;
            hits.extend(docs.iter().zip(scores).filter_map(|(doc, score)| self.hit(s, *doc, score)));
        }
        Ok(hits)
    }
}

/// Keeps only the touched documents with a score of at least `least`.
fn narrow(shards: &mut [DocRange], least: f32) {
    for shard in shards {
        let (scores, start) = (&shard.scores, shard.docs.start);
        shard.touched.retain(|doc| scores[(doc - start) as usize] >= least);
    }
}

/// Applies `of` to each item, on all cores if there are several.
fn spread<T: Sync, U: Send>(items: &[T], of: impl Fn(&T) -> Result<U> + Sync) -> Result<Vec<U>> {
    match items {
        [item] => Ok(vec![of(item)?]),
        items => items.par_iter().map(&of).collect(),
    }
}

/// The first `units_max` of sorted hits, then the best one of each next file until there are `files_min` files; and
/// whether that many were found.
pub fn cut<T, F: Copy + Eq + Hash>(
    mut hits: Vec<T>,
    units_max: usize,
    files_min: usize,
    file: impl Fn(&T) -> F,
) -> (Vec<T>, bool) {
    let rest = hits.split_off(units_max.min(hits.len()));
    let mut files: FxHashSet<F> = hits.iter().map(&file).collect();
    for hit in rest {
        if files.len() < files_min && files.insert(file(&hit)) {
            hits.push(hit);
        }
    }
    (hits, files.len() >= files_min)
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
