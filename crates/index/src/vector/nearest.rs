//! Nearest-neighbour search over the vectors of one generation.

use colgrep_encoder::Multivector;
use rayon::prelude::*;

use super::maxsim::PreparedQuery;
use super::read::{Allowed, Effort, VectorPlace, Vectors};
use super::segment::{VectorSegment, list_of};
use crate::error::{Error, Result};
use crate::ids::TextHash;

pub type Scored = (VectorPlace, f32);

/// A query prepared for the vectors of one generation.
///
/// A search has three steps, after PLAID (Santhanam et al., CIKM 2022): inverted lists of the centroids nearest to each
/// query row give candidates ([`VectorQuery::listed`]); these are scored by their centroids alone ([`VectorQuery::rough`]),
/// then the best exactly ([`VectorQuery::exact`]). A unit in none of the lists read for a query row gets the product of
/// the next centroid (Scheerer et al., WARP, SIGIR 2025).
#[derive(Debug)]
pub struct VectorQuery<'a> {
    vectors: &'a Vectors,
    prepared: PreparedQuery<'a>,
}

impl Vectors {
    /// Prepares a query.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the query has another dimension or a segment is damaged.
    pub fn question(&self, query: &Multivector) -> Result<VectorQuery<'_>> {
        self.segments.iter().try_for_each(VectorSegment::secure)?;
        if query.dimension() != self.codebook.dimension() {
            let (asked, kept) = (query.dimension(), self.codebook.dimension());
            return Err(Error::OtherModel { asked: format!("vectors of {asked} components"), kept });
        }
        if query.heads() != self.layout.heads {
            let (asked, kept) = (query.heads(), self.layout.heads);
            return Err(Error::OtherModel { asked: format!("{asked} rows for a whole text"), kept });
        }
        Ok(VectorQuery { vectors: self, prepared: PreparedQuery::new(query, &self.codebook) })
    }

    /// The exact MaxSim of each place with the query, from stored codes.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the query has another dimension or a unit is damaged.
    pub fn score(&self, query: &Multivector, places: &[VectorPlace]) -> Result<Vec<f32>> {
        if query.is_empty() { Ok(vec![0.0; places.len()]) } else { self.question(query)?.exact(places) }
    }

    /// The `n` allowed places with the greatest MaxSim, best first, ties by hash: runs all steps with the cut-offs of
    /// `effort`.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if the query has another dimension or something read is
    /// damaged.
    pub fn search(&self, query: &Multivector, n: usize, allowed: &Allowed, effort: Effort) -> Result<Vec<Scored>> {
        if query.is_empty() || n == 0 {
            return Ok(Vec::new());
        }
        let (question, exact) = (self.question(query)?, effort.exact.max(n));
        let mut places: Vec<VectorPlace> = if allowed.count() <= effort.rough.max(exact) {
            allowed.iter().collect()
        } else {
            in_store(question.listed(|place| allowed.contains(place), effort.probes, effort.rough)?)
        };
        if places.len() > exact {
            places = in_store(self.best_of(question.rough(&places)?, exact));
        }
        let scores = question.exact(&places)?;
        let mut best = self.best_of(places.into_iter().zip(scores).collect(), n);
        best.sort_unstable_by(|a, b| self.order(a, b));
        Ok(best)
    }

    /// Best first; ties by hash, independently of the order of units in segments.
    pub fn order(&self, a: &Scored, b: &Scored) -> std::cmp::Ordering {
        b.1.total_cmp(&a.1).then_with(|| self.hash(a.0).cmp(&self.hash(b.0)))
    }

    /// The best `n`, unordered.
    pub fn best_of(&self, mut scored: Vec<Scored>, n: usize) -> Vec<Scored> {
        self.split_best(&mut scored, n);
        scored
    }

    /// Keeps the best `n` in `scored`, unordered, and returns the rest. Many units have the same score from the lists,
    /// and hashes break such ties; since hashes are scattered in memory, they are read only for units with the score at
    /// the border.
    fn split_best(&self, scored: &mut Vec<Scored>, n: usize) -> Vec<Scored> {
        if n >= scored.len() {
            return Vec::new();
        }
        let bar = scored.select_nth_unstable_by(n, |a, b| b.1.total_cmp(&a.1)).1.1;
        let is_better = |p: &(VectorPlace, f32)| p.1.total_cmp(&bar).is_gt();
        let (better, others): (Vec<_>, Vec<_>) = std::mem::take(scored).into_iter().partition(is_better);
        let (equal, mut rest): (Vec<_>, Vec<_>) = others.into_iter().partition(|p| p.1.total_cmp(&bar).is_eq());
        let mut equal: Vec<(Option<TextHash>, (VectorPlace, f32))> =
            equal.into_iter().map(|p| (self.hash(p.0), p)).collect();
        let room = n - better.len();
        equal.select_nth_unstable_by_key(room, |(hash, _)| *hash);
        *scored = better;
        scored.extend(equal[..room].iter().map(|(_, p)| *p));
        rest.extend(equal[room..].iter().map(|(_, p)| *p));
        rest
    }
}

/// The places, in the order of the store, so that they are read forwards.
pub fn in_store(scored: Vec<Scored>) -> Vec<VectorPlace> {
    let mut places: Vec<VectorPlace> = scored.into_iter().map(|p| p.0).collect();
    places.sort_unstable();
    places
}

impl VectorQuery<'_> {
    /// The best `n` of the allowed places in the lists of the `probes` centroids nearest to each query row, unordered,
    /// each with its estimated gain over a unit in none of the lists.
    ///
    /// # Errors
    /// When a list is damaged.
    pub fn listed(&self, allowed: impl Fn(VectorPlace) -> bool, probes: usize, n: usize) -> Result<Vec<Scored>> {
        Ok(self.vectors.best_of(self.gains(allowed, probes)?, n))
    }

    /// As [`VectorQuery::listed`], for callers with an expensive `allowed`: it is called with batches of places, best in
    /// the lists first, until `n` allowed ones are found.
    pub fn listed_asking(
        &self,
        allowed: &mut dyn FnMut(&[VectorPlace]) -> Vec<bool>,
        probes: usize,
        n: usize,
    ) -> Result<Vec<Scored>> {
        let mut listed = self.gains(|_| true, probes)?;
        let mut found: Vec<Scored> = Vec::new();
        let mut take = 2 * n;
        while !listed.is_empty() && found.len() < n {
            let rest = self.vectors.split_best(&mut listed, take);
            let best = std::mem::replace(&mut listed, rest);
            let asked: Vec<VectorPlace> = best.iter().map(|p| p.0).collect();
            found.extend(best.into_iter().zip(allowed(&asked)).filter_map(|(place, allowed)| allowed.then_some(place)));
            take *= 4;
        }
        Ok(self.vectors.best_of(found, n))
    }

    /// MaxSim of each place by the centroids of its rows only.
    ///
    /// # Errors
    /// When codes are damaged.
    pub fn rough(&self, places: &[VectorPlace]) -> Result<Vec<Scored>> {
        let layout = self.vectors.layout;
        let scores = self.scores(places, |room, codes| self.prepared.rough(codes, layout, room))?;
        Ok(places.iter().copied().zip(scores).collect())
    }

    /// The exact MaxSim of each place, from stored codes.
    ///
    /// # Errors
    /// When codes are damaged.
    pub fn exact(&self, places: &[VectorPlace]) -> Result<Vec<f32>> {
        let layout = self.vectors.layout;
        self.scores(places, |room, codes| self.prepared.exact(codes, layout, room))
    }

    fn scores(&self, places: &[VectorPlace], of: impl Fn(&mut Vec<f32>, &[u8]) -> f32 + Sync) -> Result<Vec<f32>> {
        let score = |room: &mut Vec<f32>, place: &VectorPlace| Ok(of(room, self.vectors.codes(*place)?));
        let scores: Result<Vec<f32>> = places.par_iter().with_min_len(128).map_init(Vec::new, score).collect();
        self.vectors.segments.iter().try_for_each(VectorSegment::check_read)?;
        scores
    }

    fn gains(&self, allowed: impl Fn(VectorPlace) -> bool, probes: usize) -> Result<Vec<Scored>> {
        let VectorQuery { vectors, prepared } = self;
        // For each place: gain over a unit in none of the lists, and the last query row that counted, from 1.
        let mut gains: Vec<(f32, u32)> = vec![(0.0, 0); vectors.len()];
        let mut touched: Vec<VectorPlace> = Vec::new();
        for row in 0..prepared.rows() {
            let head = Some(row).filter(|row| *row < vectors.layout.heads);
            let mut centroids: Vec<(f32, usize)> =
                (0..vectors.codebook.len()).map(|c| (prepared.product(row, c), c)).collect();
            centroids.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let floor = centroids.get(probes).map_or(0.0, |c| c.0);
            let length = vectors.codebook.length(head.is_some());
            let round = row as u32 + 1;
            for &(product, centroid) in centroids.iter().take(probes) {
                for (segment, base) in vectors.segments.iter().zip(&vectors.bases) {
                    segment.list(list_of(centroid, head, vectors.codebook.len()), |ordinal| {
                        let place = VectorPlace(base + ordinal as u32);
                        let (gain, last) = &mut gains[place.0 as usize];
                        // Lists come nearest centroid first, so only the first one with a unit counts.
                        if *last < round {
                            if *last == 0 && allowed(place) {
                                touched.push(place);
                            }
                            *last = round;
                            *gain += length * (product - floor);
                        }
                    })?;
                }
            }
        }
        vectors.segments.iter().try_for_each(VectorSegment::check_read)?;
        Ok(touched.into_iter().map(|p| (p, gains[p.0 as usize].0)).collect())
    }
}
