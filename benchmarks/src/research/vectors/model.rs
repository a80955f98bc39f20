//! A substitute for a model: a word's direction is its topic's with some noise from its hash, mixed with its
//! neighbours'.

use colgrep_encoder::{Encoder, Error, Multivector};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Components, as the embedded model has.
pub const DIMENSION: usize = 64;
/// Rows that represent a text as a whole, as many as the embedded model's.
const HEADS: usize = 2;
const HEAD_LENGTH: f32 = 2.5;
/// Words read of a text, about as many as the embedded model reads.
const WORDS_MAX: usize = 112;
const TOPICS: u64 = 600;

pub struct ResearchModel;

fn noise(seed: u64, row: &mut [f32], weight: f32) {
    for (i, part) in row.chunks_mut(8).enumerate() {
        let bits = xxh3_64_with_seed(&seed.to_le_bytes(), i as u64);
        for (b, x) in part.iter_mut().enumerate() {
            *x += weight * (((bits >> (8 * b)) & 0xFF) as f32 - 127.5) / 590.0;
        }
    }
}

fn vectors(text: &str) -> Multivector {
    let words: Vec<u64> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .take(WORDS_MAX)
        .map(|w| xxh3_64(w.to_lowercase().as_bytes()))
        .collect();
    if words.is_empty() {
        return Multivector::default();
    }
    let mut values = vec![0.0f32; (words.len() + HEADS) * DIMENSION];
    for (i, word) in words.iter().enumerate() {
        let row = &mut values[(i + HEADS) * DIMENSION..(i + HEADS + 1) * DIMENSION];
        noise(word % TOPICS, row, 1.0);
        noise(*word, row, 0.8);
        if i > 0 {
            noise(words[i - 1], row, 0.3);
        }
        let weight = 0.3 + (word >> 32 & 0xFF) as f32 / 255.0;
        row.iter_mut().for_each(|x| *x *= weight);
    }
    // The first head is the mean of all words, the second of every other word, as long as the embedded model's.
    let (heads, rest) = values.split_at_mut(HEADS * DIMENSION);
    for (i, row) in rest.chunks_exact(DIMENSION).enumerate() {
        for head in heads.chunks_exact_mut(DIMENSION).take(1 + i % HEADS) {
            head.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
    }
    for head in heads.chunks_exact_mut(DIMENSION) {
        let length = head.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
        head.iter_mut().for_each(|x| *x *= HEAD_LENGTH / length);
    }
    Multivector::from_values(DIMENSION, HEADS, values)
}

impl Encoder for ResearchModel {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn fingerprint(&self) -> u64 {
        1
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn heads(&self) -> usize {
        HEADS
    }

    fn encode_query(&self, text: &str) -> Result<Multivector, Error> {
        Ok(vectors(text))
    }

    fn encode_documents(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        Ok(texts.iter().map(|t| vectors(t)).collect())
    }
}
