//! A model for tests: words have directions by their hashes, a few share one, and it fails or waits on command.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use colgrep_encoder::{Encoder, Error, Hashed, Multivector};
use colgrep_index::update::Encoding;
use colgrep_index::vector::{Codebook, Codec, RowLengths};
use ndarray::Array2;

pub const DIMENSION: usize = Hashed::DIMENSION;
const HASHED: Hashed = Hashed { synonyms: &[("fetch", "download"), ("retrieve", "download"), ("remove", "delete")] };

/// The model. It counts the texts that it encodes.
pub struct Toy {
    pub fingerprint: u64,
    pub encoded: AtomicU64,
    /// It fails after this many texts.
    pub fails_at: u64,
    /// Pause per text.
    pub pause: Duration,
    /// Whether it claims to be light.
    pub is_light: bool,
}

impl Toy {
    pub fn new() -> Toy {
        Toy { fingerprint: 1, encoded: 0.into(), fails_at: u64::MAX, pause: Duration::ZERO, is_light: false }
    }

    /// Number of texts encoded since the last call.
    pub fn count(&self) -> u64 {
        self.encoded.swap(0, Ordering::Relaxed)
    }
}

/// The model's vectors of a text.
pub fn vectors(text: &str) -> Multivector {
    HASHED.encode(text)
}

impl Encoder for Toy {
    fn name(&self) -> &str {
        if self.fingerprint == 1 { "toy" } else { "another toy" }
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn heads(&self) -> usize {
        1
    }

    fn is_light(&self) -> bool {
        self.is_light
    }

    fn encode_query(&self, text: &str) -> Result<Multivector, Error> {
        Ok(vectors(text))
    }

    fn encode_documents(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        if self.encoded.fetch_add(texts.len() as u64, Ordering::Relaxed) >= self.fails_at {
            return Err(Error::other("the toy is broken"));
        }
        std::thread::sleep(self.pause * texts.len() as u32);
        Ok(texts.iter().map(|t| vectors(t)).collect())
    }
}

/// A codebook that does not depend on the indexed texts, so that two stores can be compared.
pub fn codebook() -> Codebook {
    let directions: Vec<Vec<f32>> = (0..40).map(|i| HASHED.direction(&format!("centroid {i}"))).collect();
    let centroids = Array2::from_shape_fn((40, DIMENSION), |(row, i)| directions[row][i]);
    let levels = [-0.3, -0.1, 0.1, 0.3];
    let lengths = RowLengths { max: 1.0, head: 0.5, other: 0.5 };
    Codebook::new(centroids.view(), &levels, &std::array::from_fn::<f32, 16, _>(|i| i as f32 / 8.0 - 1.0), lengths)
        .expect("a codebook")
}

pub fn encoding<'a>(toy: &'a Toy, codebook: &'a Codebook) -> Encoding<'a> {
    let codec = Codec { rows_max: 24, ..Codec::default() };
    Encoding { codebook: Some(codebook), codec, ..Encoding::new(toy) }
}
