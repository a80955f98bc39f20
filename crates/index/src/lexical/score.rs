//! Scores units by BM25F over the postings of a query's terms.
//!
//! A term's document frequency counts the units with it in any field, so it is the union of its lists. Scores are
//! summed a term at a time, the heaviest first. Once `units_max` units have more than all the terms that are left could
//! give together, these can bring no unit that is not there yet (Turtle and Flood, Query evaluation: strategies and
//! optimizations, 1995: MaxScore), and are only looked up in the units that may still be among the best. What is left
//! at the end is scored once more in the order of the query, so that scores do not depend on what was left out.

use std::collections::HashSet;
use std::ops::Range;

use colgrep_core::UnitId;
use colgrep_core::bm25::{Bm25, Field as UnitField, idf};
use colgrep_core::query::Query;
use rayon::prelude::*;
use tantivy::DocId;
use tantivy::schema::IndexRecordOption;

use super::read::{Lexical, UnitFilter, UnitHit, key};
use super::terms::{Reader, ScoredTerm};
use crate::error::Result;
use crate::ids::FileId;

/// Greatest relative difference between two sums of the same parts in different order.
const ROUNDING: f32 = 1e-4;

/// Number and idf of a query's words, without stop words and compounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WordMass {
    /// Number of words.
    pub words: u32,
    /// Sum of their idf.
    pub all: f32,
    /// Sum of the idf of words that stand in some unit.
    pub known: f32,
}

/// Files and units that must be among the answers whatever their rank.
#[derive(Clone, Debug, Default)]
pub struct Required {
    /// Files, each with its best unit.
    pub files: HashSet<FileId>,
    /// Units.
    pub units: HashSet<UnitId>,
}

/// Sizes above which MaxScore pruning and sharding are worth their overhead.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Queries with fewer postings are summed without pruning.
    postings: u64,
    /// Documents a shard.
    shard: DocId,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { postings: 1 << 16, shard: 1 << 17 }
    }
}

/// A range of documents of one segment with their partial scores.
struct Shard {
    segment: usize,
    docs: Range<DocId>,
    /// A partial score for each document.
    scores: Vec<f32>,
    /// Documents with a score that may be among the best.
    touched: Vec<DocId>,
}

impl Shard {
    fn score(&self, doc: DocId) -> f32 {
        self.scores[(doc - self.docs.start) as usize]
    }
}

struct Scorer<'a> {
    lists: Reader<'a>,
    filter: Option<&'a dyn UnitFilter>,
    sizes: Sizes,
    terms: Vec<ScoredTerm<'a>>,
    ranges: Vec<(usize, Range<DocId>)>,
}

/// The best units by words. Others can be added with `with`.
pub struct Searched<'a> {
    scorer: Scorer<'a>,
    query: &'a Query,
    hits: Vec<UnitHit>,
}

impl Lexical {
    /// Scores the units that hold a term of the query and finds the best `units_max` that `filter` allows,
    /// and, where these lie in fewer than `files_min` files, the best unit of each next file until there are so many.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn search<'a>(
        &'a self,
        query: &'a Query,
        bm25: &'a Bm25,
        units_max: usize,
        files_min: usize,
        filter: Option<&'a dyn UnitFilter>,
    ) -> Result<Searched<'a>> {
        self.search_in(query, bm25, (units_max, files_min), filter, Sizes::default())
    }

    fn search_in<'a>(
        &'a self,
        query: &'a Query,
        bm25: &'a Bm25,
        (units_max, files_min): (usize, usize),
        filter: Option<&'a dyn UnitFilter>,
        sizes: Sizes,
    ) -> Result<Searched<'a>> {
        let scorer = Scorer::new(self, query, bm25, filter, sizes)?;
        let mut depth = units_max;
        let hits = loop {
            let best = scorer.best(depth)?;
            let all = best.len() < depth;
            match cut(best, units_max, files_min) {
                (_, false) if !all => depth = 4 * depth.max(files_min),
                (hits, _) => break hits,
            }
        };
        Ok(Searched { scorer, query, hits })
    }
}

impl Searched<'_> {
    /// Returns the units found and those that `required` names, and the weight of the query's words. Best first; ties
    /// by file and line; units without a term last, with score 0.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn with(self, required: &Required) -> Result<(Vec<UnitHit>, WordMass)> {
        let Searched { scorer, query, mut hits } = self;
        let (lexical, filter) = (scorer.lists.lexical, scorer.filter);
        scorer.add(required, &mut hits)?;
        scorer.mark_names(query, &mut hits)?;
        // A named file without any term of the query is represented by its first unit.
        let present: HashSet<FileId> = hits.iter().map(|h| h.file).collect();
        let mut absent: Vec<FileId> = required.files.difference(&present).copied().collect();
        absent.sort_unstable();
        for file in absent {
            hits.extend(lexical.units_of(file, filter)?.into_iter().next());
        }
        let present: HashSet<UnitId> = hits.iter().map(|h| h.key).collect();
        let mut absent: Vec<UnitHit> =
            required.units.difference(&present).filter_map(|key| lexical.hit(*key)).collect();
        absent.sort_unstable_by_key(|h| (h.file, h.line, h.key));
        hits.extend(absent);
        Ok((hits, scorer.mass()))
    }
}

impl<'a> Scorer<'a> {
    fn new(
        lexical: &'a Lexical,
        query: &'a Query,
        bm25: &'a Bm25,
        filter: Option<&'a dyn UnitFilter>,
        sizes: Sizes,
    ) -> Result<Scorer<'a>> {
        let (units, averages) = lexical.statistics();
        let lists = Reader::new(lexical, bm25, averages);
        let mut terms = query.terms.iter().map(|term| lists.look_up(term)).collect::<Result<Vec<_>>>()?;
        let mut ranges = Vec::new();
        for (s, segment) in lexical.segments.iter().enumerate() {
            let end = segment.reader.max_doc();
            ranges.extend((0..end).step_by(sizes.shard as usize).map(|d| (s, d..end.min(d + sizes.shard))));
        }
        let count = |(s, docs): &(usize, Range<DocId>)| -> Result<Vec<u64>> {
            terms.iter().map(|term| lists.union(*s, term, docs)).collect()
        };
        let counts = spread(&ranges, count)?;
        for (i, term) in terms.iter_mut().enumerate() {
            term.df = counts.iter().map(|c| c[i]).sum();
            term.idf = idf(units, term.df);
            term.most = bm25.term_score_max(term.term, term.idf);
        }
        Ok(Scorer { lists, filter, sizes, terms, ranges })
    }

    /// The scores of `docs` of a segment, which ascend, without the factor for what they are.
    fn scores_at(&self, s: usize, docs: &[DocId]) -> Result<Vec<f32>> {
        let mut scores = vec![0.0; docs.len()];
        for term in &self.terms {
            for (score, frequency) in scores.iter_mut().zip(self.lists.frequencies_at(s, term, docs)?) {
                if frequency > 0.0 {
                    *score += self.lists.bm25.term_score(term.term, term.idf, frequency);
                }
            }
        }
        Ok(scores)
    }

    /// Adds a term's contribution to every document of a shard with the term.
    fn sum(&self, shard: &mut Shard, term: &ScoredTerm<'_>) -> Result<()> {
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
                shard.scores[at] += self.lists.bm25.term_score(term.term, term.idf, frequency);
            }
        }
        Ok(())
    }

    /// Adds a term's contribution to the touched documents of a shard.
    fn sum_touched(&self, shard: &mut Shard, term: &ScoredTerm<'_>) -> Result<()> {
        shard.touched.sort_unstable();
        let frequencies = self.lists.frequencies_at(shard.segment, term, &shard.touched)?;
        for (doc, frequency) in shard.touched.iter().zip(frequencies).filter(|(_, f)| *f > 0.0) {
            shard.scores[(doc - shard.docs.start) as usize] +=
                self.lists.bm25.term_score(term.term, term.idf, frequency);
        }
        Ok(())
    }

    /// The best `depth` allowed units, sorted.
    fn best(&self, depth: usize) -> Result<Vec<UnitHit>> {
        let empty = |(segment, docs): &(usize, Range<DocId>)| {
            let scores = vec![0.0; docs.len()];
            Shard { segment: *segment, docs: docs.clone(), scores, touched: Vec::new() }
        };
        let mut shards: Vec<Shard> = self.ranges.iter().map(empty).collect();
        let plain = self.terms.iter().map(|t| t.postings).sum::<u64>() < self.sizes.postings;
        let mut order: Vec<&ScoredTerm<'_>> = self.terms.iter().collect();
        if !plain {
            order.sort_by(|a, b| b.most.total_cmp(&a.most));
        }
        let mut closed = false;
        for (i, term) in order.iter().enumerate() {
            let touched: usize = shards.iter().map(|s| s.touched.len()).sum();
            let left: u64 = order[i..].iter().map(|t| t.postings).sum();
            // Finding the bar reads every touched unit, so it is worth it only where more postings than that are left.
            if !plain && touched > 2 * depth && left > touched as u64 {
                let bar = self.bar(&shards, depth) * (1.0 - ROUNDING);
                let rest: f32 = order[i..].iter().map(|t| t.most).sum();
                closed |= bar > rest;
                if closed {
                    narrow(&mut shards, bar - rest);
                }
            }
            let add = |shard: &mut Shard| match closed {
                true => self.sum_touched(shard, term),
                false => self.sum(shard, term),
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
            hits.select_nth_unstable_by(depth, by_score);
            hits.truncate(depth);
        }
        hits.sort_unstable_by(by_score);
        Ok(hits)
    }

    /// A score that at least `depth` allowed units reach; 0 where fewer were found.
    fn bar(&self, shards: &[Shard], depth: usize) -> f32 {
        let of_shard = |(i, s): (usize, &'_ Shard)| s.touched.iter().map(|d| (s.score(*d), i, *d)).collect::<Vec<_>>();
        let mut best: Vec<(f32, usize, DocId)> = shards.iter().enumerate().flat_map(of_shard).collect();
        // Factors and filters remove some, so more are looked at.
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
        (score > 0.0 && self.filter.is_none_or(allowed)).then(|| {
            let score = score * self.lists.bm25.unit_factor(info.kind(), info.role());
            UnitHit { score, ..segment.hit(key(s, doc), doc) }
        })
    }
    /// Adds the best unit of each required file that is not there, and the required units that hold a term.
    /// Adds the best unit of each of `also`'s files that is not there, and `also`'s units that hold a term.
    fn add(&self, required: &Required, hits: &mut Vec<UnitHit>) -> Result<()> {
        let files: HashSet<FileId> = hits.iter().map(|h| h.file).collect();
        let mut keys: HashSet<UnitId> = hits.iter().map(|h| h.key).collect();
        let mut more: Vec<UnitHit> = Vec::new();
        for file in required.files.difference(&files) {
            let units: Vec<UnitId> =
                self.lists.lexical.documents_of(*file)?.into_iter().map(|(s, doc)| key(s, doc)).collect();
            more.extend(self.scored(units)?.into_iter().min_by(by_score));
        }
        more.extend(self.scored(required.units.iter().copied().collect())?);
        hits.extend(more.into_iter().filter(|h| keys.insert(h.key)));
        hits.sort_unstable_by(by_score);
        Ok(())
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

    /// Finds out which units have a content term in their names.
    fn mark_names(&self, query: &Query, hits: &mut [UnitHit]) -> Result<()> {
        let content: HashSet<&str> = query.content_terms().map(|t| t.text.as_str()).collect();
        let mut by_key: Vec<&mut UnitHit> = hits.iter_mut().collect();
        by_key.sort_unstable_by_key(|h| h.key);
        for of_segment in by_key.chunk_by_mut(|a, b| a.key.segment() == b.key.segment()) {
            let s = of_segment[0].key.segment() as usize;
            for term in self.terms.iter().filter(|t| content.contains(t.term.text.as_str())) {
                for list in term.lists[s].iter().filter(|list| UnitField::ALL[list.0] == UnitField::Name) {
                    let mut block = self.lists.postings(s, list, IndexRecordOption::Basic)?;
                    for hit in of_segment.iter_mut() {
                        let at = block.seek(hit.key.doc());
                        hit.name_hit |= block.doc(at) == hit.key.doc();
                    }
                }
            }
        }
        Ok(())
    }

    fn mass(&self) -> WordMass {
        let mut mass = WordMass::default();
        for term in self.terms.iter().filter(|t| !t.term.stop && !t.term.compound) {
            mass.words += 1;
            mass.all += term.idf;
            mass.known += if term.df > 0 { term.idf } else { 0.0 };
        }
        mass
    }
}

/// Keeps only the touched documents with a score of at least `least`.
fn narrow(shards: &mut [Shard], least: f32) {
    for shard in shards {
        let (scores, start) = (&shard.scores, shard.docs.start);
        shard.touched.retain(|doc| scores[(doc - start) as usize] >= least);
    }
}

/// `of` each item, on all cores where there are several items.
fn spread<T: Sync, U: Send>(items: &[T], of: impl Fn(&T) -> Result<U> + Sync) -> Result<Vec<U>> {
    match items {
        [item] => Ok(vec![of(item)?]),
        items => items.par_iter().map(&of).collect(),
    }
}

fn by_score(a: &UnitHit, b: &UnitHit) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.file.cmp(&b.file)).then(a.line.cmp(&b.line)).then(a.key.cmp(&b.key))
}

/// The first `units_max` of sorted units, then the best unit of each next file until there are `files_min` files; and
/// whether there are so many.
fn cut(mut hits: Vec<UnitHit>, units_max: usize, files_min: usize) -> (Vec<UnitHit>, bool) {
    let rest = hits.split_off(units_max.min(hits.len()));
    let mut files: HashSet<FileId> = hits.iter().map(|h| h.file).collect();
    for hit in rest {
        if files.len() < files_min && files.insert(hit.file) {
            hits.push(hit);
        }
    }
    (hits, files.len() >= files_min)
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
