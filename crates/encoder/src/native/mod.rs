//! The embedded model's own engine: no shared library, no download, one file of built-in weights.

mod kernel;
mod mixer;
mod table;
mod vocabulary;
mod weights;
mod words;

use std::cell::RefCell;

use xxhash_rust::xxh3::Xxh3;

use crate::{Encoder, Error, Multivector};
use mixer::{Pass, Scratch, Side};
use vocabulary::{UNKNOWN, Vocabulary};
use weights::{Config, Weights};

/// Minimum of pieces encoded in one pass, if there are enough texts: few rows are left over after whole blocks, and the
/// scratch space stays within a core's second-level cache.
const PASS_PIECES: usize = 128;

thread_local! {
    /// One per thread, kept between calls: a small call should not allocate some 200 KB.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The bytes of a model's three files, as written by `train/export.py`.
#[derive(Clone, Copy, Debug)]
pub struct ModelFiles<'a> {
    /// `config.json`
    pub config: &'a str,
    /// `vocab.txt`
    pub vocabulary: &'a str,
    /// `model.safetensors`
    pub weights: &'a [u8],
}

pub const EMBEDDED: ModelFiles<'static> = ModelFiles {
    config: include_str!("../../assets/config.json"),
    vocabulary: include_str!("../../assets/vocab.txt"),
    weights: include_bytes!("../../assets/model.safetensors"),
};

/// Facts about [`EMBEDDED`] computed by `build.rs`: the fingerprint of its files with the length of its longest piece,
/// and the table of its vocabulary.
const NUMBERS: (u64, usize) = include!(concat!(env!("OUT_DIR"), "/numbers.rs"));
const STARTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starts.bin"));
const SLOTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots.bin"));

/// The codebook for the vectors of [`EMBEDDED`], in the index crate's format.
pub const EMBEDDED_CODEBOOK: &[u8] = include_bytes!("../../assets/codebook.bin");

/// A model of the embedded kind, ready to encode. A call runs only on the calling thread; calls may be concurrent.
pub struct Native<'a> {
    config: Config,
    vocabulary: Vocabulary<'a>,
    weights: Weights<'a>,
    fingerprint: u64,
}

impl Native<'static> {
    /// Opens the built-in model, whose vocabulary table is precomputed since every search opens it.
    ///
    /// # Errors
    /// When the files do not belong together.
    pub fn embedded() -> Result<Native<'static>, Error> {
        let (fingerprint, longest) = NUMBERS;
        Native::of(EMBEDDED, Vocabulary::made(EMBEDDED.vocabulary, STARTS, SLOTS, longest), fingerprint)
    }
}

impl<'a> Native<'a> {
    /// Reads a model from its files.
    ///
    /// # Errors
    /// When a file is damaged or they do not belong together.
    pub fn new(files: ModelFiles<'a>) -> Result<Native<'a>, Error> {
        let mut hash = Xxh3::new();
        for part in [files.config.as_bytes(), files.vocabulary.as_bytes(), files.weights] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Native::of(files, Vocabulary::new(files.vocabulary)?, hash.digest())
    }

    fn of(files: ModelFiles<'a>, vocabulary: Vocabulary<'a>, fingerprint: u64) -> Result<Native<'a>, Error> {
        let config: Config = serde_json::from_str(files.config)
            .map_err(|error| Error::damaged("config.json of the model is not understood", error))?;
        config.check()?;
        if vocabulary.len() != config.vocabulary {
            return Err(Error::Unfit(format!(
                "vocab.txt has {} pieces, config.json says {}; export the model again",
                vocabulary.len(),
                config.vocabulary
            )));
        }
        let weights = Weights::read(&config, files.weights)?;
        Ok(Native { config, vocabulary, weights, fingerprint })
    }

    /// The mixer's input: ids of the pieces of a text, at most `limit`.
    pub fn pieces(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        self.vocabulary.encode(text, limit, &mut ids);
        ids
    }

    /// Maximum of pieces read of a document.
    pub fn document_pieces_max(&self) -> usize {
        self.config.document_pieces_max
    }

    /// The rows of texts, in order, or only their heads.
    fn encode(&self, texts: &[&str], side: Side, heads_only: bool) -> Vec<Multivector> {
        let limit = match side {
            Side::Query => self.config.query_pieces_max,
            Side::Document => self.config.document_pieces_max,
        };
        let mut done = vec![Multivector::default(); texts.len()];
        // Texts for the next pass: their pieces, the end of each, their positions.
        let (mut ids, mut ends, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for (index, text) in texts.iter().enumerate() {
            let start = ids.len();
            self.vocabulary.encode(text, limit, &mut ids);
            if ids.len() > start {
                ends.push(ids.len());
                waiting.push(index);
            }
            if !ids.is_empty() && (ids.len() >= PASS_PIECES || index + 1 == texts.len()) {
                let rows = SCRATCH.with_borrow_mut(|scratch| {
                    let (config, weights) = (&self.config, &self.weights);
                    Pass { config, weights, ids: &ids, ends: &ends, side, heads_only, scratch }.run()
                });
                for (index, values) in waiting.drain(..).zip(rows) {
                    done[index] = Multivector::from_values(self.config.output_dim, self.config.heads(), values);
                }
                ids.clear();
                ends.clear();
            }
        }
        done
    }
}

impl std::fmt::Debug for Native<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Native({:?})", self.config)
    }
}

impl Encoder for Native<'_> {
    fn name(&self) -> &str {
        &self.config.name
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn dimension(&self) -> usize {
        self.config.output_dim
    }

    fn heads(&self) -> usize {
        self.config.heads()
    }

    fn is_light(&self) -> bool {
        true
    }

    fn knows(&self, text: &str) -> bool {
        words::words(text).any(|word| {
            let word = &text[word];
            word.chars().count() > 2 && matches!(self.pieces(word, 2)[..], [piece] if piece != UNKNOWN)
        })
    }

    fn encode_query(&self, text: &str) -> Result<Multivector, Error> {
        Ok(self.encode(&[text], Side::Query, false).swap_remove(0))
    }

    fn encode_documents(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        Ok(self.encode(texts, Side::Document, false))
    }

    fn encode_heads(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        Ok(self.encode(texts, Side::Document, true))
    }
}
