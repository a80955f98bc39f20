//! What the encoder's tests share: a tiny model, golden vectors, comparison of rows.
#![allow(dead_code, reason = "each test file uses its part")]

use colgrep_encoder::{Files, Multivector};
use serde::Deserialize;

/// The tiny untrained model that `train/export.py --random 2 --tiny` made.
pub const TINY: Files<'static> = Files {
    config: include_str!("../fixtures/tiny/native/config.json"),
    vocabulary: include_str!("../fixtures/tiny/native/vocab.txt"),
    weights: include_bytes!("../fixtures/tiny/native/model.safetensors"),
};

/// Golden vectors.
#[derive(Deserialize)]
pub struct Golden {
    /// Least cosine between rows of the weights before and after quantisation.
    pub cosine_min: f32,
    pub cases: Vec<Case>,
}

/// A text with what PyTorch makes of it.
#[derive(Deserialize)]
pub struct Case {
    pub side: String,
    pub text: String,
    pub ids: Vec<u32>,
    pub float: Vec<Vec<f32>>,
    pub quantised: Vec<Vec<f32>>,
}

impl Golden {
    pub fn read(json: &str) -> Golden {
        serde_json::from_str(json).expect("golden vectors")
    }

    pub fn documents(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.side == "document")
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Rows must have the expected number, direction (least cosine) and length (largest relative error).
pub fn check_rows(found: &Multivector, expected: &[Vec<f32>], cosine_min: f32, length_error: f32, name: &str) {
    assert_eq!(found.len(), expected.len(), "rows of {name}");
    for (row, (a, b)) in found.rows().zip(expected).enumerate() {
        let lengths = (dot(a, a).sqrt(), dot(b, b).sqrt());
        let cosine = dot(a, b) / (lengths.0 * lengths.1);
        assert!(cosine >= cosine_min, "{name}, row {row}: cosine {cosine}");
        assert!((lengths.0 / lengths.1 - 1.0).abs() < length_error, "{name}, row {row}: lengths {lengths:?}");
    }
}
