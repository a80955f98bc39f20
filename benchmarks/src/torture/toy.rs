//! A model that is quick and knows nothing: each word has a direction by its hash.

use colgrep_encoder::{Encoder, Error, Multivector};
use colgrep_index::update::Encoding;
use colgrep_index::vector::{Codebook, Codec, Lengths};
use ndarray::Array2;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

const DIMENSION: usize = 16;
const WORDS_MAX: usize = 100;
const CENTROIDS: usize = 24;

/// The model.
pub(super) struct Toy;

fn direction(word: &str) -> Vec<f32> {
    let seed = word.bytes().fold(7u64, |sum, b| sum.wrapping_mul(0x100_0000_01B3) ^ u64::from(b));
    let mut random = StdRng::seed_from_u64(seed);
    let row: Vec<f32> = (0..DIMENSION).map(|_| random.random_range(-1.0..1.0f32)).collect();
    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    row.iter().map(|x| x / norm).collect()
}

fn vectors(text: &str) -> Multivector {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase);
    let rows: Vec<Vec<f32>> = words.take(WORDS_MAX).map(|w| direction(&w)).collect();
    if rows.is_empty() {
        return Multivector::default();
    }
    let mean = (0..DIMENSION).map(|i| rows.iter().map(|r| r[i]).sum::<f32>() / rows.len() as f32);
    Multivector::from_values(DIMENSION, 1, mean.chain(rows.concat()).collect())
}

impl Encoder for Toy {
    fn name(&self) -> &str {
        "toy"
    }

    fn fingerprint(&self) -> u64 {
        1
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn heads(&self) -> usize {
        1
    }

    fn encode_query(&self, text: &str) -> Result<Multivector, Error> {
        Ok(vectors(text))
    }

    fn encode_documents(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        Ok(texts.iter().map(|text| vectors(text)).collect())
    }
}

/// A codebook that does not depend on what is indexed, so that two indexes can be compared.
///
/// # Errors
/// None: the numbers are fit for one.
pub(super) fn codebook() -> colgrep_index::Result<Codebook> {
    let rows: Vec<Vec<f32>> = (0..CENTROIDS).map(|i| direction(&format!("centroid {i}"))).collect();
    let centroids = Array2::from_shape_fn((CENTROIDS, DIMENSION), |(row, i)| rows[row][i]);
    let lengths = Lengths { max: 1.0, head: 0.5, other: 0.5 };
    let levels = std::array::from_fn(|i| i as f32 / 8.0 - 1.0);
    Codebook::new(centroids.view(), &[-0.3, -0.1, 0.1, 0.3], &levels, lengths)
}

/// Vectors of the model, without a limit on time.
pub(super) fn encoding<'a>(toy: &'a Toy, codebook: &'a Codebook) -> Encoding<'a> {
    Encoding { codebook: Some(codebook), codec: Codec { rows_max: 8, ..Codec::default() }, ..Encoding::new(toy) }
}
