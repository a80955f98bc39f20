//! The codebook: centroids of token directions, and levels for the components of residuals.

use std::sync::{Arc, LazyLock, OnceLock};

use colgrep_encoder::EMBEDDED_CODEBOOK;
use ndarray::{Array2, ArrayView2};
use xxhash_rust::xxh3::xxh3_64;

use super::math::dot;
use super::panel::Panels;
use super::pool::SplitRow;
use crate::error::{Error, Result};

/// First bytes of a codebook; the last is the version of its layout and of the meaning of codes.
const MAGIC: &[u8; 8] = b"colgcbk4";
const HEADER_BYTES: usize = 36;
/// Steps of a row's length per factor of 2. Neighbours differ by the factor 2^(1/24), so a length is off by at most 1.5
/// %, and 255 steps reach down to 1/1,580 of the longest.
const STEPS_AN_OCTAVE: f32 = 24.0;

/// Compression of vectors. Vectors of different codecs are never searched or merged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Codec {
    /// Bits per component of the residual: 1, 2 or 4.
    pub bits: u8,
    /// The same for a head, which represents the whole text and weighs as much as several other rows.
    pub head_bits: u8,
    /// Maximum number of rows per unit besides its heads.
    pub rows_max: u8,
    /// Minimum cosine, in per cent, at which two rows are merged.
    pub similarity: u8,
}

impl Default for Codec {
    /// For a model with heads whose scores are those of the codes.
    fn default() -> Codec {
        Codec { bits: 1, head_bits: 4, rows_max: 2, similarity: 90 }
    }
}

impl Codec {
    /// The default for a model with this many heads. With `is_light`, exact scores are computed for what the codes
    /// find, so a few bits of the heads are enough (docs/research/vectors.md): 38 bytes per unit at two heads and 64
    /// components. Without a head no row represents the text as a whole, so more other rows are kept.
    pub fn of(heads: usize, is_light: bool) -> Codec {
        match (heads, is_light) {
            (0, _) => Codec { rows_max: 6, ..Codec::default() },
            (_, true) => Codec { head_bits: 2, rows_max: 0, ..Codec::default() },
            _ => Codec::default(),
        }
    }
}

/// Byte layout of a unit's codes: its heads, with [`Codec::head_bits`] per component, then its other rows, with
/// [`Codec::bits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeLayout {
    /// Number of heads of a unit; a unit without rows has no heads.
    pub(crate) heads: usize,
    /// Bytes of a head: centroid (2), step of its length (1), residual.
    pub(crate) head_bytes: usize,
    /// Bytes of another row, with the same parts.
    pub(crate) row_bytes: usize,
}

impl CodeLayout {
    pub(crate) fn new(codec: &Codec, dimension: usize, heads: usize) -> CodeLayout {
        let bytes = |bits: u8| 3 + (dimension * usize::from(bits)).div_ceil(8);
        CodeLayout { heads, head_bytes: bytes(codec.head_bits), row_bytes: bytes(codec.bits) }
    }

    /// Splits a unit's codes into rows, each with the number of its head; `None` for other rows.
    pub(crate) fn rows<'c>(&self, codes: &'c [u8]) -> impl Iterator<Item = (&'c [u8], Option<usize>)> {
        let (heads, rest) = codes.split_at(codes.len().min(self.heads * self.head_bytes));
        let heads = heads.chunks_exact(self.head_bytes).enumerate().map(|(head, code)| (code, Some(head)));
        heads.chain(rest.chunks_exact(self.row_bytes).map(|code| (code, None)))
    }
}

/// Row lengths of a codebook: the greatest that can be stored, and two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLengths {
    /// The longest that can be stored.
    pub max: f32,
    /// Mean of the heads.
    pub head: f32,
    /// Mean of the other rows.
    pub other: f32,
}

/// Centroids of token directions, by which rows are found and stored (PLAID, Santhanam, Khattab, Potts, Zaharia, CIKM
/// 2022): a row is stored as its nearest centroid, a residual of a few bits per component, and its length.
///
/// A model may bring a codebook trained for its kind of text; otherwise the store trains one at its first build.
///
/// Centroids are unpacked on first use, so a search by words never reads them. Clones share them.
#[derive(Clone, Debug)]
pub struct Codebook {
    dimension: usize,
    len: usize,
    /// Values of a residual's component, ascending: 2^bits of them.
    levels: Vec<f32>,
    /// The same for heads.
    fine: Vec<f32>,
    lengths: RowLengths,
    /// The bytes of its file; centroids are unpacked from these.
    bytes: Arc<[u8]>,
    id: u64,
    unpacked: Arc<OnceLock<Unpacked>>,
    /// The centroids in panels, which only encoding needs.
    panels: Arc<OnceLock<Panels>>,
}

/// A codebook's unpacked centroids and tables.
#[derive(Debug)]
struct Unpacked {
    /// `len × dimension`, row after row in memory; every row has about unit length.
    centroids: Array2<f32>,
    /// `256 × components per byte`: the levels that a byte of a residual encodes.
    table: Vec<f32>,
    /// The same for heads.
    fine_table: Vec<f32>,
}

impl PartialEq for Codebook {
    fn eq(&self, other: &Codebook) -> bool {
        self.bytes == other.bytes
    }
}

static CARRIED: LazyLock<Option<Codebook>> = LazyLock::new(|| Codebook::from_bytes(EMBEDDED_CODEBOOK).ok());

/// The built-in codebook, if it has that id. It is not stored with each project.
pub(crate) fn carried(id: u64) -> Option<&'static Codebook> {
    CARRIED.as_ref().filter(|c| c.id() == id)
}

impl Codebook {
    /// The codebook of the built-in model. It is read once, and its unpacked form is shared.
    ///
    /// # Errors
    /// When the program was built with a damaged one.
    pub fn embedded() -> Result<Codebook> {
        CARRIED.clone().ok_or_else(|| Error::damaged("the codebook in the program is damaged"))
    }

    /// A codebook of `centroids` (one per row), the ascending `levels` of a residual's component (2, 4 or 16 of them),
    /// those of a head's, and the lengths of rows. Centroids are rounded to 8 bits per component, so the stored ones
    /// differ a little.
    ///
    /// # Errors
    /// When a size is out of range or a number is not finite.
    pub fn new(centroids: ArrayView2<'_, f32>, levels: &[f32], fine: &[f32], lengths: RowLengths) -> Result<Codebook> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((centroids.ncols() as u32).to_le_bytes());
        bytes.extend((centroids.nrows() as u32).to_le_bytes());
        bytes.extend([levels, fine].map(|levels| (levels.len() as u32).to_le_bytes()).as_flattened());
        let RowLengths { max, head, other } = lengths;
        bytes.extend([max, head, other].map(f32::to_le_bytes).as_flattened());
        for level in levels.iter().chain(fine) {
            bytes.extend(level.to_le_bytes());
        }
        for centroid in centroids.outer_iter() {
            let largest = centroid.iter().fold(0.0f32, |m, x| m.max(x.abs()));
            let step = if largest > 0.0 { largest / 127.0 } else { 1.0 };
            bytes.extend(step.to_le_bytes());
            bytes.extend(centroid.iter().map(|x| (x / step).round() as i8 as u8));
        }
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        Codebook::from_bytes(&bytes)
    }

    /// Reads a codebook from its file's bytes, all numbers little-endian: `colgcbk4`; dimension, number of centroids,
    /// number of levels, and of heads' levels (u32 each); the greatest length, the mean length of heads and that of
    /// other rows (f32 each); the levels and those of heads (f32); each centroid as a step (f32) and its components in
    /// steps (i8); the XXH3-64 of all before it.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](crate::ErrorKind::Unusable) when it is not a valid codebook.
    pub fn from_bytes(bytes: &[u8]) -> Result<Codebook> {
        Codebook::parse(bytes).ok_or_else(|| Error::damaged("the codebook is damaged"))
    }

    fn parse(bytes: &[u8]) -> Option<Codebook> {
        let (body, sum) = bytes.split_last_chunk::<8>()?;
        if !body.starts_with(MAGIC) || xxh3_64(body) != u64::from_le_bytes(*sum) {
            return None;
        }
        let word = |at: usize| Some(u32::from_le_bytes(*body.get(at..)?.first_chunk::<4>()?));
        let float = |at: usize| word(at).map(f32::from_bits).filter(|f| f.is_finite());
        let (dimension, len) = (word(8)? as usize, word(12)? as usize);
        let (level_count, fine_count) = (word(16)? as usize, word(20)? as usize);
        let lengths = RowLengths { max: float(24).filter(|max| *max > 0.0)?, head: float(28)?, other: float(32)? };
        let are_levels = |count| matches!(count, 2 | 4 | 16);
        if !are_levels(level_count) || !are_levels(fine_count) {
            return None;
        }
        let centroids_at = HEADER_BYTES + 4 * (level_count + fine_count);
        let sound = dimension > 0 && (1..=1 << 16).contains(&len) && body.len() == centroids_at + len * (4 + dimension);
        if !sound {
            return None;
        }
        let mut levels: Vec<f32> =
            (0..level_count + fine_count).map(|i| float(HEADER_BYTES + 4 * i)).collect::<Option<_>>()?;
        let fine = levels.split_off(level_count);
        // A step for each centroid.
        (0..len).all(|i| float(centroids_at + i * (4 + dimension)).is_some()).then_some(())?;
        let (id, unpacked, panels) = (xxh3_64(bytes), Arc::default(), Arc::default());
        Some(Codebook { dimension, len, levels, fine, lengths, bytes: bytes.into(), id, unpacked, panels })
    }

    fn unpacked(&self) -> &Unpacked {
        self.unpacked.get_or_init(|| {
            let packed = &self.bytes[HEADER_BYTES + 4 * (self.levels.len() + self.fine.len())..];
            let mut centroids = Array2::zeros((self.len, self.dimension));
            let rows = centroids.outer_iter_mut().zip(packed.chunks_exact(4 + self.dimension));
            for (mut centroid, packed) in rows {
                let step = packed.first_chunk().map_or(0.0, |step| f32::from_le_bytes(*step));
                centroid.iter_mut().zip(&packed[4..]).for_each(|(x, byte)| *x = f32::from(*byte as i8) * step);
            }
            Unpacked { centroids, table: byte_table(&self.levels), fine_table: byte_table(&self.fine) }
        })
    }

    /// Its file's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Hash of its bytes, which names it in manifests and segments.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Components of a vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Bits per component of a residual.
    pub fn bits(&self) -> u8 {
        self.levels.len().ilog2() as u8
    }

    /// Bits per component of a head's residual.
    pub fn head_bits(&self) -> u8 {
        self.fine.len().ilog2() as u8
    }

    /// Number of centroids.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always false: there is at least one centroid.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Mean length of a head, or of another row.
    pub(crate) fn length(&self, head: bool) -> f32 {
        if head { self.lengths.head } else { self.lengths.other }
    }

    /// The centroids, one per row.
    pub fn centroids(&self) -> ArrayView2<'_, f32> {
        self.unpacked().centroids.view()
    }

    /// A centroid's components. Panics if it is out of range.
    pub(crate) fn centroid(&self, i: usize) -> &[f32] {
        let values = self.unpacked().centroids.as_slice().expect("row after row");
        &values[i * self.dimension()..(i + 1) * self.dimension()]
    }

    /// Appends a row's code: nearest centroid (u16), step of its length (u8), residual, in more bits for a head. The
    /// stored length is the one that brings the decoded row nearest to the row itself. `room` is a scratch buffer for
    /// reuse between calls.
    pub(crate) fn encode(&self, row: &SplitRow, codes: &mut Vec<u8>, room: &mut Vec<f32>) {
        let SplitRow { direction, scale, head } = row;
        let panels = self.panels.get_or_init(|| Panels::new(self.centroids()));
        let nearest = panels.nearest(direction, self.len, room);
        let centroid = self.centroid(nearest);
        let start = codes.len();
        codes.extend((nearest as u16).to_le_bytes());
        codes.push(0);
        let levels = if *head { &self.fine } else { &self.levels };
        let bits = levels.len().ilog2() as usize;
        codes.resize(start + 3 + (self.dimension() * bits).div_ceil(8), 0);
        let components = 8 / bits;
        for (i, (x, c)) in direction.iter().zip(centroid).enumerate() {
            let residual = x - c;
            // Levels ascend; the nearer of two neighbours is taken.
            let level = levels.windows(2).take_while(|w| residual > (w[0] + w[1]) / 2.0).count();
            codes[start + 3 + i / components] |= (level << (bits * (i % components))) as u8;
        }
        room.resize(self.dimension(), 0.0);
        self.direction(&codes[start..], *head, room);
        let square = dot(room, room);
        let fitted = if square > 0.0 { scale * dot(direction, room) / square } else { 0.0 };
        codes[start + 2] = self.scale_step(fitted);
    }

    fn scale_step(&self, scale: f32) -> u8 {
        let below = (self.lengths.max / scale.max(f32::MIN_POSITIVE)).log2() * STEPS_AN_OCTAVE;
        255 - below.round().clamp(0.0, 255.0) as u8
    }

    /// The centroid of a row's code, which must have at least three bytes.
    pub(crate) fn centroid_of(code: &[u8]) -> usize {
        usize::from(u16::from_le_bytes([code[0], code[1]]))
    }

    /// The lengths of the 256 steps.
    pub(crate) fn scales(&self) -> [f32; 256] {
        std::array::from_fn(|step| self.lengths.max * (-((255 - step) as f32) / STEPS_AN_OCTAVE).exp2())
    }

    /// Decodes a row's direction into `row`: centroid + residual, without the length. The code's centroid must exist.
    pub(crate) fn direction(&self, code: &[u8], head: bool, row: &mut [f32]) {
        row.copy_from_slice(self.centroid(Codebook::centroid_of(code)));
        let Unpacked { table, fine_table, .. } = self.unpacked();
        let (bits, table) = if head { (self.head_bits(), fine_table) } else { (self.bits(), table) };
        match bits {
            1 => add_levels::<8>(table, &code[3..], row),
            2 => add_levels::<4>(table, &code[3..], row),
            _ => add_levels::<2>(table, &code[3..], row),
        }
    }
}

/// For each byte of a residual the levels it encodes, one per component.
fn byte_table(levels: &[f32]) -> Vec<f32> {
    let bits = levels.len().ilog2() as usize;
    let level = |(byte, i): (usize, usize)| levels[byte >> (bits * i) & (levels.len() - 1)];
    (0..256).flat_map(|byte| (0..8 / bits).map(move |i| (byte, i))).map(level).collect()
}

/// Adds the levels that `residual` encodes to `row`, `N` components per byte.
fn add_levels<const N: usize>(table: &[f32], residual: &[u8], row: &mut [f32]) {
    let table = table.as_chunks::<N>().0;
    let (whole, rest) = row.as_chunks_mut::<N>();
    for (part, byte) in whole.iter_mut().zip(residual) {
        let values = &table[usize::from(*byte)];
        for i in 0..N {
            part[i] += values[i];
        }
    }
    if let Some(byte) = residual.get(whole.len()) {
        for (x, value) in rest.iter_mut().zip(&table[usize::from(*byte)]) {
            *x += value;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vector::math::normalise;

    const LENGTHS: RowLengths = RowLengths { max: 4.0, head: 2.0, other: 1.0 };

    fn codebook(levels: &[f32]) -> Codebook {
        let centroids: Vec<f32> = (0..24).map(|i| if i % 7 == 0 { 1.0 } else { 0.0 }).collect();
        let centroids = ArrayView2::from_shape((4, 6), &centroids).expect("a matrix");
        Codebook::new(centroids, levels, &std::array::from_fn::<f32, 16, _>(|i| -0.94 + 0.125 * i as f32), LENGTHS)
            .expect("a codebook")
    }

    #[test]
    fn bytes_go_both_ways_and_damage_shows() {
        let book = codebook(&[-0.3, -0.1, 0.1, 0.3]);
        assert_eq!(Codebook::from_bytes(book.bytes()).expect("the same"), book);
        for cut in 0..book.bytes().len() {
            assert!(Codebook::from_bytes(&book.bytes()[..cut]).is_err());
            let mut changed = book.bytes().to_vec();
            changed[cut] ^= 4;
            assert!(Codebook::from_bytes(&changed).is_err());
        }
    }

    proptest! {
        #[test]
        fn a_decoded_row_is_near_the_row(
            mut direction in proptest::collection::vec(-0.4f32..0.4, 6), axis in 0usize..4, scale in 0.01f32..3.9,
            bits in 0usize..3, head: bool)
        {
            direction[axis] += 1.0;
            normalise(&mut direction);
            let levels: Vec<f32> = match bits {
                0 => vec![-0.35, 0.35],
                1 => vec![-0.6, -0.2, 0.2, 0.6],
                _ => (0..16).map(|i| -0.94 + 0.125 * i as f32).collect(),
            };
            let book = codebook(&levels);
            let mut code = Vec::new();
            book.encode(&SplitRow { direction: direction.clone(), scale, head }, &mut code, &mut Vec::new());
            let layout = CodeLayout::new(&Codec { bits: book.bits(), ..Codec::default() }, 6, 1);
            prop_assert_eq!(code.len(), if head { layout.head_bytes } else { layout.row_bytes });
            let mut row = vec![0.0; 6];
            book.direction(&code, head, &mut row);
            let length = book.scales()[usize::from(code[2])];
            let error: f32 = row.iter().zip(&direction).map(|(x, y)| (x * length - y * scale).powi(2)).sum::<f32>().sqrt();
            prop_assert!(error < scale * if head { 0.2 } else { [0.75, 0.5, 0.2][bits] }, "{} of {}", error, scale);
        }
    }
}
