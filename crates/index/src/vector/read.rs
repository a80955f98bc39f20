//! Reading the store: which units have vectors, and which are nearest to a query.

use std::path::{Path, PathBuf};

use colgrep_encoder::Multivector;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::codebook::{Codebook, Codec, Layout, carried};
use super::maxsim::PreparedQuery;
use super::segment::{Segment, SegmentFormat, list_of};
use super::spare::SpareSegment;
use crate::disk::read_regular;
use crate::error::{Error, Result};
use crate::ids::TextHash;

/// Model, codec and files of the vectors of one generation. The file table stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The model's fingerprint.
    pub fingerprint: u64,
    /// The model's name, for people.
    pub model: String,
    /// Components of a vector.
    pub dimension: u32,
    /// Number of heads of a text.
    pub heads: u32,
    /// How vectors are stored.
    pub codec: Codec,
    /// [`Codebook::id`] of the codebook.
    pub codebook: u64,
    /// File names of the segments, oldest first.
    pub segments: Vec<String>,
    /// Segments of texts that no unit has any more, kept for when they come back; no search reads them.
    pub spare: Vec<SpareSegment>,
    /// Whether every unit had vectors when this was committed.
    pub complete: bool,
}

impl Manifest {
    /// The codebook's file name.
    pub fn codebook_name(&self) -> String {
        format!("codebook-{:016x}.bin", self.codebook)
    }

    /// Whether its vectors are of the same model and stored in the same way, so that they can stand in one index.
    pub fn is_alike(&self, other: &Manifest) -> bool {
        let of = |m: &Manifest| (m.fingerprint, m.dimension, m.heads, m.codec, m.codebook);
        of(self) == of(other)
    }

    fn layout(&self) -> Layout {
        Layout::new(&self.codec, self.dimension as usize, self.heads as usize)
    }

    /// The names of its files. The codebook in the program has no file.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let codebook = carried(self.codebook).is_none().then(|| self.codebook_name());
        let spare = self.spare.iter().map(|segment| segment.name.clone());
        codebook.into_iter().chain(self.segments.iter().cloned()).chain(spare)
    }
}

/// Bounds of the steps of an approximate search: recall against time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Inverted lists read for each row of the query: those of the nearest centroids.
    pub probes: usize,
    /// Units that get a rough score, by their centroids alone.
    pub rough: usize,
    /// Units that get an exact score; more where more are asked for.
    pub exact: usize,
    /// Up to this many allowed units, look up every unit's vectors first; above it, run the inverted lists and look up
    /// only what they return. Texts of no unit, and units that a filter excludes, are passed over then.
    pub joined: usize,
}

impl Default for Effort {
    /// The knee that `colgrep-bench research vectors` measured.
    fn default() -> Effort {
        Effort { probes: 6, rough: 8_192, exact: 1_024, joined: 1 << 16 }
    }
}

/// Place of a text's vectors in a snapshot: the first place of its segment plus its ordinal there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VectorPlace(pub u32);

/// Bit set of the places that a search may return.
#[derive(Clone, Debug)]
pub struct Allowed {
    places: FixedBitSet,
    count: usize,
}

impl Allowed {
    /// The empty set over `len` places.
    pub fn none(len: usize) -> Allowed {
        Allowed { places: FixedBitSet::with_capacity(len), count: 0 }
    }

    /// Allows a place. Panics beyond the last.
    pub fn insert(&mut self, place: VectorPlace) {
        self.count += usize::from(!self.places.put(place.0 as usize));
    }

    /// Whether a place is allowed.
    pub fn contains(&self, place: VectorPlace) -> bool {
        self.places.contains(place.0 as usize)
    }

    /// Number of allowed places.
    pub fn count(&self) -> usize {
        self.count
    }

    fn iter(&self) -> impl Iterator<Item = VectorPlace> {
        self.places.ones().map(|at| VectorPlace(at as u32))
    }
}

/// The vectors of one generation, open for reading.
#[derive(Debug)]
pub struct Vectors {
    manifest: Manifest,
    codebook: Codebook,
    layout: Layout,
    segments: Vec<Segment>,
    /// The first place of each segment, and the end of the last.
    bases: Vec<u32>,
}

impl Vectors {
    /// Opens the codebook and the segments that `manifest` names in `folder`.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where a file is missing, cut, damaged, or belongs to another
    /// model.
    pub fn open(folder: &Path, manifest: &Manifest) -> Result<Vectors> {
        let codebook = read_codebook(folder, manifest)?;
        let format = segment_format(manifest, &codebook);
        let open = |name: &String| Segment::open(&folder.join(name), &format);
        let segments = manifest.segments.iter().map(open).collect::<Result<Vec<_>>>()?;
        Ok(Vectors::of(manifest.clone(), codebook, segments))
    }

    /// As [`Vectors::open`], but leaves out segments that can't be opened and, with `verify`, those that are damaged
    /// anywhere. Fails only without its codebook.
    pub(crate) fn open_sound(folder: &Path, manifest: &Manifest, verify: bool) -> Result<Vectors> {
        let codebook = read_codebook(folder, manifest)?;
        let format = segment_format(manifest, &codebook);
        let sound = |segment: &Segment| !verify || segment.verify().is_ok();
        let open = |name: &String| Segment::open(&folder.join(name), &format).ok().filter(sound);
        let segments: Vec<Segment> = manifest.segments.iter().filter_map(open).collect();
        let names = segments.iter().map(|s| s.name().to_string()).collect();
        Ok(Vectors::of(Manifest { segments: names, ..manifest.clone() }, codebook, segments))
    }

    /// Verifies all files that `manifest` names in `folder`: one error for each damaged file. Without its codebook no
    /// segment can be checked.
    pub(crate) fn damage(folder: &Path, manifest: &Manifest) -> Vec<Error> {
        let codebook = match read_codebook(folder, manifest) {
            Ok(codebook) => codebook,
            Err(error) => return vec![error],
        };
        let format = segment_format(manifest, &codebook);
        let check =
            |name: &String| Segment::open(&folder.join(name), &format).and_then(|segment| segment.verify()).err();
        manifest.segments.iter().chain(manifest.spare.iter().map(|segment| &segment.name)).filter_map(check).collect()
    }

    pub(super) fn of(manifest: Manifest, codebook: Codebook, segments: Vec<Segment>) -> Vectors {
        let mut bases = vec![0u32];
        for segment in &segments {
            bases.push(bases[bases.len() - 1] + segment.len() as u32);
        }
        Vectors { layout: manifest.layout(), manifest, codebook, segments, bases }
    }

    /// Model, codec and files.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The codebook.
    pub fn codebook(&self) -> &Codebook {
        &self.codebook
    }

    /// Number of texts with vectors, including those that no unit has any more.
    pub fn len(&self) -> usize {
        self.bases[self.bases.len() - 1] as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of the segments, in bytes.
    pub fn bytes_on_disk(&self) -> u64 {
        self.segments.iter().map(Segment::bytes_on_disk).sum()
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Checks the checksums of all segments.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where something is damaged.
    pub fn verify(&self) -> Result<()> {
        self.segments.iter().try_for_each(Segment::verify)
    }

    /// The place of the vectors of a text.
    pub fn place(&self, hash: TextHash) -> Option<VectorPlace> {
        let find = |(segment, base): (&Segment, &u32)| Some(VectorPlace(base + segment.find(hash.value())? as u32));
        self.segments.iter().zip(&self.bases).find_map(find)
    }

    /// The segment of a place and the ordinal there; `None` beyond the last place.
    fn segment_of(&self, place: VectorPlace) -> Option<(&Segment, usize)> {
        let at = self.bases.partition_point(|base| *base <= place.0).checked_sub(1)?;
        Some((self.segments.get(at)?, (place.0 - self.bases[at]) as usize))
    }

    /// The hash of the text at a place; `None` where there is no such place.
    pub fn hash(&self, place: VectorPlace) -> Option<TextHash> {
        let (segment, ordinal) = self.segment_of(place)?;
        TextHash::new(segment.key(ordinal))
    }

    /// The codes at a place, checked.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where they are damaged or there is no such place.
    pub(crate) fn codes(&self, place: VectorPlace) -> Result<&[u8]> {
        let no_place = || Error::damaged(format!("there are no vectors at place {}", place.0));
        let (segment, ordinal) = self.segment_of(place).ok_or_else(no_place)?;
        segment.codes(ordinal)
    }

    pub(crate) fn into_segments(self) -> Vec<Segment> {
        self.segments
    }

    fn prepare(&self, query: &Multivector) -> Result<PreparedQuery<'_>> {
        self.segments.iter().try_for_each(Segment::secure)?;
        if query.dimension() != self.codebook.dimension() {
            let (asked, kept) = (query.dimension(), self.codebook.dimension());
            return Err(Error::OtherModel { asked: format!("vectors of {asked} components"), kept });
        }
        if query.heads() != self.layout.heads {
            let (asked, kept) = (query.heads(), self.layout.heads);
            return Err(Error::OtherModel { asked: format!("{asked} rows for a whole text"), kept });
        }
        Ok(PreparedQuery::new(query, &self.codebook))
    }

    /// The exact MaxSim of each place with the query, from stored codes.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where the query has another dimension or a unit is damaged.
    pub fn score(&self, query: &Multivector, places: &[VectorPlace]) -> Result<Vec<f32>> {
        if query.is_empty() {
            return Ok(vec![0.0; places.len()]);
        }
        let prepared = self.prepare(query)?;
        let exact = |room: &mut Vec<f32>, codes: &[u8]| prepared.exact(codes, self.layout, room);
        self.scores(places, exact)
    }

    fn scores(&self, places: &[VectorPlace], of: impl Fn(&mut Vec<f32>, &[u8]) -> f32 + Sync) -> Result<Vec<f32>> {
        let score = |room: &mut Vec<f32>, place: &VectorPlace| Ok(of(room, self.codes(*place)?));
        places.par_iter().with_min_len(128).map_init(Vec::new, score).collect()
    }

    /// The `n` allowed places with the greatest MaxSim, best first, equal ones by hash.
    ///
    /// In three steps, after PLAID (Santhanam et al., CIKM 2022): inverted lists of the centroids nearest to each query
    /// row give candidates; these are scored by their centroids alone, then the best exactly. For a unit in none of the
    /// lists read for a query row, the product of the next centroid stands in (Scheerer et al., WARP, SIGIR 2025).
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) where the query has another dimension or something read is
    /// damaged.
    pub fn search(
        &self,
        query: &Multivector,
        n: usize,
        allowed: &Allowed,
        effort: Effort,
    ) -> Result<Vec<(VectorPlace, f32)>> {
        if query.is_empty() || n == 0 {
            return Ok(Vec::new());
        }
        let prepared = self.prepare(query)?;
        let places = if allowed.count() <= effort.rough.max(effort.exact.max(n)) {
            allowed.iter().collect()
        } else {
            let listed = self.listed(&prepared, |place| allowed.contains(place), effort)?;
            self.chosen(listed, effort.rough)
        };
        self.nearest(&prepared, places, n, effort)
    }

    /// As [`Vectors::search`], for callers to whom a lookup of allowed places is costly: `allowed` is asked about
    /// batches of places, those that the lists rank best first, until `effort.rough` allowed ones are found.
    ///
    /// # Errors
    /// As [`Vectors::search`].
    pub fn search_listed(
        &self,
        query: &Multivector,
        n: usize,
        allowed: &mut dyn FnMut(&[VectorPlace]) -> Vec<bool>,
        effort: Effort,
    ) -> Result<Vec<(VectorPlace, f32)>> {
        if query.is_empty() || n == 0 {
            return Ok(Vec::new());
        }
        let prepared = self.prepare(query)?;
        let mut listed = self.listed(&prepared, |_| true, effort)?;
        let mut found: Vec<(VectorPlace, f32)> = Vec::new();
        let mut take = 2 * effort.rough;
        while !listed.is_empty() && found.len() < effort.rough {
            let rest = self.split_best(&mut listed, take);
            let best = std::mem::replace(&mut listed, rest);
            let asked: Vec<VectorPlace> = best.iter().map(|p| p.0).collect();
            found.extend(best.into_iter().zip(allowed(&asked)).filter_map(|(place, allowed)| allowed.then_some(place)));
            take *= 4;
        }
        self.nearest(&prepared, self.chosen(found, effort.rough), n, effort)
    }

    /// The `n` places of greatest MaxSim among `places`.
    fn nearest(
        &self,
        prepared: &PreparedQuery<'_>,
        mut places: Vec<VectorPlace>,
        n: usize,
        effort: Effort,
    ) -> Result<Vec<(VectorPlace, f32)>> {
        let exact = effort.exact.max(n);
        if places.len() > exact {
            let scores = self.scores(&places, |room, codes| prepared.rough(codes, self.layout, room))?;
            places = self.chosen(places.into_iter().zip(scores).collect(), exact);
        }
        let scores = self.scores(&places, |room, codes| prepared.exact(codes, self.layout, room))?;
        Ok(self.best(places.into_iter().zip(scores).collect(), n))
    }

    /// The best `n`, best first; equal ones by hash, which does not depend on how units lie in segments.
    fn best(&self, mut scored: Vec<(VectorPlace, f32)>, n: usize) -> Vec<(VectorPlace, f32)> {
        self.split_best(&mut scored, n);
        scored.sort_unstable_by(|a, b| self.order(a, b));
        scored
    }

    /// The places of the best `n`, in the order of the store, so that they are read forwards.
    fn chosen(&self, mut scored: Vec<(VectorPlace, f32)>, n: usize) -> Vec<VectorPlace> {
        self.split_best(&mut scored, n);
        let mut places: Vec<VectorPlace> = scored.into_iter().map(|p| p.0).collect();
        places.sort_unstable();
        places
    }

    fn order(&self, a: &(VectorPlace, f32), b: &(VectorPlace, f32)) -> std::cmp::Ordering {
        b.1.total_cmp(&a.1).then_with(|| self.hash(a.0).cmp(&self.hash(b.0)))
    }

    /// Keeps the best `n` in `scored`, in no order, and returns the rest. Many units have the same score from the
    /// lists, and hashes break such ties. Hashes lie scattered in memory, so they are read only for units with the
    /// score at the border.
    fn split_best(&self, scored: &mut Vec<(VectorPlace, f32)>, n: usize) -> Vec<(VectorPlace, f32)> {
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

    /// The allowed places in the lists of the centroids nearest to each query row, each with its estimated gain over a
    /// unit that is in none of them.
    fn listed(
        &self,
        prepared: &PreparedQuery<'_>,
        allowed: impl Fn(VectorPlace) -> bool,
        effort: Effort,
    ) -> Result<Vec<(VectorPlace, f32)>> {
        // For each place: gain over a unit in none of the lists, and the last query row that counted, from 1.
        let mut gains: Vec<(f32, u32)> = vec![(0.0, 0); self.len()];
        let mut touched: Vec<VectorPlace> = Vec::new();
        for row in 0..prepared.rows() {
            let head = Some(row).filter(|row| *row < self.layout.heads);
            let mut centroids: Vec<(f32, usize)> =
                (0..self.codebook.len()).map(|c| (prepared.product(row, c), c)).collect();
            centroids.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let floor = centroids.get(effort.probes).map_or(0.0, |c| c.0);
            let length = self.codebook.length(head.is_some());
            let round = row as u32 + 1;
            for &(product, centroid) in centroids.iter().take(effort.probes) {
                for (segment, base) in self.segments.iter().zip(&self.bases) {
                    segment.list(list_of(centroid, head, self.codebook.len()), |ordinal| {
                        let place = VectorPlace(base + ordinal as u32);
                        let (gain, last) = &mut gains[place.0 as usize];
                        // Lists come nearest centroid first: only the first one that holds a unit counts.
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
        Ok(touched.into_iter().map(|p| (p, gains[p.0 as usize].0)).collect())
    }
}

/// The format of the segments of a manifest.
pub(crate) fn segment_format(manifest: &Manifest, codebook: &Codebook) -> SegmentFormat {
    SegmentFormat {
        fingerprint: manifest.fingerprint,
        codebook: manifest.codebook,
        centroids: codebook.len() as u32,
        layout: manifest.layout(),
    }
}

fn read_codebook(folder: &Path, manifest: &Manifest) -> Result<Codebook> {
    let path: PathBuf = folder.join(manifest.codebook_name());
    let codebook = match carried(manifest.codebook) {
        Some(codebook) => codebook.clone(),
        None => {
            let bytes = read_regular(&path, u64::MAX).map_err(|e| Error::damaged_file(&path, e))?;
            Codebook::from_bytes(&bytes).map_err(|e| Error::damaged_file(&path, e))?
        }
    };
    let fits = codebook.id() == manifest.codebook
        && codebook.dimension() == manifest.dimension as usize
        && codebook.bits() == manifest.codec.bits;
    if fits { Ok(codebook) } else { Err(Error::damaged_file(&path, "is another codebook")) }
}
