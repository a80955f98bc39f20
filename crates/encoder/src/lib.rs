//! Text to token vectors: the embedded late-interaction model, and any ONNX ColBERT.
//!
//! ```
//! use colgrep_encoder::{ModelSpec, RuntimeEnv, open};
//!
//! let model = open(&ModelSpec::Embedded, &RuntimeEnv::default())?;
//! let texts = ["def parse_date(text): return strptime(text)", "def shrink_image(picture, width): ..."];
//! let query = model.encode_query("make a picture smaller")?;
//! let documents = model.encode_documents(&texts)?;
//!
//! // One row for each token; a document's score is the sum of the best match of each row of the query.
//! let mut order: Vec<(f32, &str)> = documents.iter().map(|d| query.maxsim(d)).zip(texts).collect();
//! order.sort_by(|a, b| b.0.total_cmp(&a.0));
//! for (score, text) in &order {
//!     println!("{score:.2} {text}");
//! }
//! assert!(order[0].1.contains("shrink_image"));
//! # Ok::<(), colgrep_encoder::Error>(())
//! ```

mod error;
mod hashed;
#[cfg(feature = "hub")]
mod hub;
mod model;
mod multivector;
mod native;
#[cfg(feature = "onnx")]
mod onnx;
mod runtime;

pub use error::{Error, Source};
pub use hashed::Hashed;
pub use model::{ModelSpec, loaded_runtime, open, runtime_report};
pub use multivector::Multivector;
pub use native::{EMBEDDED, EMBEDDED_CODEBOOK, ModelFiles, Native};
pub use runtime::{RuntimeEnv, RuntimeReport};

/// Turns text into token vectors for late interaction.
///
/// The score of a document for a query is MaxSim, `Σ_q max_d q·d` over the rows of both sides (Khattab and Zaharia,
/// ColBERT, SIGIR 2020), except for heads: each is compared only with the same head of the other side, so that together
/// they are one long vector of the whole text. Token weights, if a model has them, are folded into the rows, which are
/// therefore not of unit length.
pub trait Encoder: Send + Sync {
    /// Display name: the model's own, or the folder it was loaded from.
    fn name(&self) -> &str;
    /// Hash of everything that shapes a document's vectors; vectors with different fingerprints are never compared.
    fn fingerprint(&self) -> u64;
    /// Components of a vector.
    fn dimension(&self) -> usize;
    /// Number of heads, the first rows of each text.
    fn heads(&self) -> usize;
    /// True if a document takes well under a millisecond of a core, so that a search may encode candidates.
    fn is_light(&self) -> bool {
        false
    }
    /// True if the vocabulary contains at least one word of the text as a whole. A text of unknown words has vectors
    /// too, but they say little.
    fn knows(&self, text: &str) -> bool {
        !text.trim().is_empty()
    }
    /// Encodes a query. Empty if it has no token.
    fn encode_query(&self, text: &str) -> Result<Multivector, Error>;
    /// Encodes documents, in order, each truncated to the model's length.
    fn encode_documents(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error>;
    /// As [`Encoder::encode_documents`], with only the heads, which some models compute in less time.
    fn encode_heads(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        Ok(self.encode_documents(texts)?.into_iter().map(Multivector::into_heads).collect())
    }
}

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
