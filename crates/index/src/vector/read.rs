//! Reads the store: which units have vectors, and which are nearest to a query.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fixedbitset::FixedBitSet;
use serde::{Deserialize, Serialize};

use super::codebook::{CodeLayout, Codebook, Codec, carried};
use super::segment::{SegmentFormat, SpareSegment, VectorSegment};
use crate::disk::read_regular;
use crate::error::{Error, Result};
use crate::ids::TextHash;

/// Model, codec and files of the vectors of one generation. The file table stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorManifest {
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
    pub codebook: u64,
    /// File names of the segments, oldest first.
    pub segments: Vec<String>,
    /// Segments of unused texts, kept in case the texts come back; no search reads them.
    pub spare: Vec<SpareSegment>,
    /// Whether every unit had vectors when this was committed.
    pub complete: bool,
}

impl VectorManifest {
    /// The codebook's file name.
    pub fn codebook_name(&self) -> String {
        format!("codebook-{:016x}.bin", self.codebook)
    }

    /// Whether its vectors have the same model and format, so that one index can contain both.
    pub fn is_alike(&self, other: &VectorManifest) -> bool {
        let of = |m: &VectorManifest| (m.fingerprint, m.dimension, m.heads, m.codec, m.codebook);
        of(self) == of(other)
    }

    fn layout(&self) -> CodeLayout {
        CodeLayout::new(&self.codec, self.dimension as usize, self.heads as usize)
    }

    /// The names of its files. The built-in codebook has no file.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let codebook = carried(self.codebook).is_none().then(|| self.codebook_name());
        let spare = self.spare.iter().map(|segment| segment.name.clone());
        codebook.into_iter().chain(self.segments.iter().cloned()).chain(spare)
    }
}

/// Bounds of the steps of an approximate search: recall against time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Inverted lists read for each row of the query: those of the nearest centroids.
    pub probes: usize,
    /// Number of units scored by their centroids only.
    pub rough: usize,
    /// Minimum of units scored exactly; a larger request raises it.
    pub exact: usize,
    /// Up to this many allowed units, look up every unit's vectors first; above it, run the inverted lists and look up
    /// only what they return, skipping unused texts and filtered units.
    pub joined: usize,
}

impl Default for Effort {
    /// The knee of the curve that `colgrep-bench research vectors` measured.
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

    /// Allows a place. Panics if it is out of range.
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

    /// Iterates over the allowed places, in the order of the store.
    pub fn iter(&self) -> impl Iterator<Item = VectorPlace> {
        self.places.ones().map(|at| VectorPlace(at as u32))
    }
}

/// The vectors of one generation, open for reading.
#[derive(Debug)]
pub struct Vectors {
    manifest: VectorManifest,
    pub(super) codebook: Codebook,
    pub(super) layout: CodeLayout,
    pub(super) segments: Vec<VectorSegment>,
    /// The first place of each segment, and the end of the last.
    pub(super) bases: Vec<u32>,
}

impl Vectors {
    /// Opens the codebook and the segments that `manifest` names in `folder`.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if a file is missing, truncated, damaged, or belongs to
    /// another model.
    pub fn open(folder: &Path, manifest: &VectorManifest) -> Result<Vectors> {
        let codebook = read_codebook(folder, manifest)?;
        let format = segment_format(manifest, &codebook);
        let open = |name: &String| VectorSegment::open(&folder.join(name), &format);
        let segments = manifest.segments.iter().map(open).collect::<Result<Vec<_>>>()?;
        Ok(Vectors::of(manifest.clone(), codebook, segments))
    }

    /// As [`Vectors::open`], but leaves out segments that can't be opened and, with `verify`, those that are damaged
    /// anywhere. Fails only without its codebook.
    pub(crate) fn open_sound(folder: &Path, manifest: &VectorManifest, verify: bool) -> Result<Vectors> {
        let codebook = read_codebook(folder, manifest)?;
        let format = segment_format(manifest, &codebook);
        let sound = |segment: &VectorSegment| !verify || segment.verify().is_ok();
        let open = |name: &String| VectorSegment::open(&folder.join(name), &format).ok().filter(sound);
        let segments: Vec<VectorSegment> = manifest.segments.iter().filter_map(open).collect();
        let names = segments.iter().map(|s| s.name().to_string()).collect();
        Ok(Vectors::of(VectorManifest { segments: names, ..manifest.clone() }, codebook, segments))
    }

    /// Verifies all files that `manifest` names in `folder`: one error per damaged file. Without its codebook no
    /// segment can be checked.
    pub(crate) fn damage(folder: &Path, manifest: &VectorManifest) -> Vec<Error> {
        let codebook = match read_codebook(folder, manifest) {
            Ok(codebook) => codebook,
            Err(error) => return vec![error],
        };
        let format = segment_format(manifest, &codebook);
        let check =
            |name: &String| VectorSegment::open(&folder.join(name), &format).and_then(|segment| segment.verify()).err();
        manifest.segments.iter().chain(manifest.spare.iter().map(|segment| &segment.name)).filter_map(check).collect()
    }

    pub(super) fn of(manifest: VectorManifest, codebook: Codebook, segments: Vec<VectorSegment>) -> Vectors {
        let mut bases = vec![0u32];
        for segment in &segments {
            bases.push(bases[bases.len() - 1] + segment.len() as u32);
        }
        Vectors { layout: manifest.layout(), manifest, codebook, segments, bases }
    }

    /// Model, codec and files.
    pub fn manifest(&self) -> &VectorManifest {
        &self.manifest
    }

    pub fn codebook(&self) -> &Codebook {
        &self.codebook
    }

    /// Number of texts with vectors, including unused ones.
    pub fn len(&self) -> usize {
        self.bases[self.bases.len() - 1] as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of the segments, in bytes.
    pub fn bytes_on_disk(&self) -> u64 {
        self.segments.iter().map(VectorSegment::bytes_on_disk).sum()
    }

    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Verifies the checksums of all segments.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if something is damaged.
    pub fn verify(&self) -> Result<()> {
        self.segments.iter().try_for_each(VectorSegment::verify)
    }

    pub fn place(&self, hash: TextHash) -> Option<VectorPlace> {
        let find =
            |(segment, base): (&VectorSegment, &u32)| Some(VectorPlace(base + segment.find(hash.value())? as u32));
        self.segments.iter().zip(&self.bases).find_map(find)
    }

    /// The segment of a place and the ordinal there; `None` beyond the last place.
    fn segment_of(&self, place: VectorPlace) -> Option<(&VectorSegment, usize)> {
        let at = self.bases.partition_point(|base| *base <= place.0).checked_sub(1)?;
        Some((self.segments.get(at)?, (place.0 - self.bases[at]) as usize))
    }

    /// The hash of the text at a place; `None` if there is no such place.
    pub fn hash(&self, place: VectorPlace) -> Option<TextHash> {
        let (segment, ordinal) = self.segment_of(place)?;
        TextHash::new(segment.key(ordinal))
    }

    /// The verified codes at a place.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) if they are damaged or there is no such place.
    pub(crate) fn codes(&self, place: VectorPlace) -> Result<&[u8]> {
        let no_place = || Error::damaged(format!("there are no vectors at place {}", place.0));
        let (segment, ordinal) = self.segment_of(place).ok_or_else(no_place)?;
        segment.codes(ordinal)
    }

    /// The names of segments with texts that are not among these.
    pub(crate) fn with_others(&self, texts: &HashSet<TextHash>) -> Vec<String> {
        let is_other = |key| TextHash::new(key).is_none_or(|hash| !texts.contains(&hash));
        let holds = |segment: &&VectorSegment| (0..segment.len()).any(|ordinal| is_other(segment.key(ordinal)));
        self.segments.iter().filter(holds).map(|segment| segment.name().to_string()).collect()
    }

    pub(crate) fn into_segments(self) -> Vec<VectorSegment> {
        self.segments
    }
}

pub(crate) fn segment_format(manifest: &VectorManifest, codebook: &Codebook) -> SegmentFormat {
    SegmentFormat {
        fingerprint: manifest.fingerprint,
        codebook: manifest.codebook,
        centroids: codebook.len() as u32,
        layout: manifest.layout(),
    }
}

fn read_codebook(folder: &Path, manifest: &VectorManifest) -> Result<Codebook> {
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
        && (codebook.bits(), codebook.head_bits()) == (manifest.codec.bits, manifest.codec.head_bits);
    if fits { Ok(codebook) } else { Err(Error::damaged_file(&path, "is another codebook")) }
}
