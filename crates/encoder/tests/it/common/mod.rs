//! Shared parts of the encoder's tests: a tiny model, golden vectors, comparison of rows.

use colgrep_encoder::{ModelFiles, Multivector};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Deserializer, de};

/// The tiny untrained model made by `train/export.py --random 2 --tiny`.
pub const TINY: ModelFiles<'static> = ModelFiles {
    config: include_str!("../../fixtures/tiny/native/config.json"),
    vocabulary: include_str!("../../fixtures/tiny/native/vocab.txt"),
    weights: include_bytes!("../../fixtures/tiny/native/model.safetensors"),
};

#[derive(Deserialize)]
pub struct Golden {
    /// Minimum cosine between rows of the weights before and after quantisation.
    pub cosine_min: f32,
    pub cases: Vec<Case>,
}

/// A text with PyTorch's output.
#[derive(Deserialize)]
pub struct Case {
    pub side: String,
    pub text: String,
    pub ids: Vec<u32>,
    #[serde(deserialize_with = "matrix")]
    pub float: Array2<f32>,
    #[serde(deserialize_with = "matrix")]
    pub quantised: Array2<f32>,
}

impl Golden {
    pub fn read(json: &str) -> Golden {
        serde_json::from_str(json).expect("golden vectors")
    }

    pub fn documents(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.side == "document")
    }
}

/// A matrix that is written as a list of rows.
fn matrix<'de, D: Deserializer<'de>>(from: D) -> Result<Array2<f32>, D::Error> {
    let rows = Vec::<Vec<f32>>::deserialize(from)?;
    let shape = (rows.len(), rows.first().map_or(0, Vec::len));
    Array2::from_shape_vec(shape, rows.concat()).map_err(de::Error::custom)
}

/// Rows must have the expected number, direction (minimum cosine) and length (maximum relative error).
pub fn check_rows(found: &Multivector, expected: ArrayView2<'_, f32>, cosine_min: f32, length_error: f32, name: &str) {
    assert_eq!(found.view().dim(), expected.dim(), "rows and components of {name}");
    for (row, (a, b)) in found.view().outer_iter().zip(expected.outer_iter()).enumerate() {
        let lengths = (a.dot(&a).sqrt(), b.dot(&b).sqrt());
        let cosine = a.dot(&b) / (lengths.0 * lengths.1);
        assert!(cosine >= cosine_min, "{name}, row {row}: cosine {cosine}");
        assert!((lengths.0 / lengths.1 - 1.0).abs() < length_error, "{name}, row {row}: lengths {lengths:?}");
    }
}
