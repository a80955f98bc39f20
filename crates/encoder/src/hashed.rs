//! An encoder without a model, for tests.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{Encoder, Error, Multivector};

/// Maximum of words that are read of a text.
const WORDS_MAX: usize = 200;
/// Number of letters from which a longer word weighs no more.
const LETTERS_MAX: usize = 8;

/// Gives each word a direction by its hash: a text is near another one if they share words. It is quick, needs no file,
/// and is the same on every machine.
///
/// ```
/// use colgrep_encoder::{Encoder as _, Hashed};
///
/// let encoder = Hashed { synonyms: &[("fetch", "download")] };
/// let texts = encoder.encode_documents(&["download a page", "delete a row"])?;
/// let query = encoder.encode_query("fetch pages")?;
/// assert!(query.maxsim(&texts[0]) > query.maxsim(&texts[1]));
/// # Ok::<(), colgrep_encoder::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashed {
    /// Words, each with the one whose direction it shares.
    pub synonyms: &'static [(&'static str, &'static str)],
}

impl Hashed {
    /// Components of a vector.
    pub const DIMENSION: usize = 32;

    /// The direction of a word in lower case: [`DIMENSION`](Self::DIMENSION) components of length 1.
    pub fn direction(&self, word: &str) -> Vec<f32> {
        let word = self.synonyms.iter().find(|pair| pair.0 == word).map_or(word, |pair| pair.1);
        let component = |i| (xxh3_64_with_seed(word.as_bytes(), i) % 2001) as f32 / 1000.0 - 1.0;
        let row: Vec<f32> = (0..Self::DIMENSION as u64).map(component).collect();
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        row.into_iter().map(|x| x / norm).collect()
    }

    /// A row for each word, heavier for longer words, after one head, which is their mean. Empty for a text without
    /// words.
    pub fn encode(&self, text: &str) -> Multivector {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
        let weight = |word: &str| word.len().min(LETTERS_MAX) as f32 / LETTERS_MAX as f32;
        let row = |word: String| self.direction(&word).iter().map(|x| x * weight(&word)).collect();
        let rows: Vec<Vec<f32>> = words.take(WORDS_MAX).map(row).collect();
        if rows.is_empty() {
            return Multivector::default();
        }
        let mean = (0..Self::DIMENSION).map(|i| rows.iter().map(|row| row[i]).sum::<f32>() / rows.len() as f32);
        Multivector::from_values(Self::DIMENSION, 1, mean.chain(rows.concat()).collect())
    }
}

impl Encoder for Hashed {
    fn name(&self) -> &str {
        "hashed"
    }

    fn fingerprint(&self) -> u64 {
        1
    }

    fn dimension(&self) -> usize {
        Self::DIMENSION
    }

    fn heads(&self) -> usize {
        1
    }

    fn encode_query(&self, text: &str) -> Result<Multivector, Error> {
        Ok(self.encode(text))
    }

    fn encode_documents(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        Ok(texts.iter().map(|text| self.encode(text)).collect())
    }
}
