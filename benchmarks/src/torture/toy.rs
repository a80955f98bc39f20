//! A model that is quick and knows nothing, and a codebook for it.

use colgrep_encoder::Hashed;
use colgrep_index::update::Encoding;
use colgrep_index::vector::{Codebook, Codec, RowLengths};
use ndarray::Array2;

const CENTROIDS: usize = 24;

/// A codebook that does not depend on what is indexed, so that two indexes can be compared.
pub(super) fn codebook() -> colgrep_index::Result<Codebook> {
    let rows: Vec<Vec<f32>> = (0..CENTROIDS).map(|i| Hashed::default().direction(&format!("centroid {i}"))).collect();
    let centroids = Array2::from_shape_fn((CENTROIDS, Hashed::DIMENSION), |(row, i)| rows[row][i]);
    let lengths = RowLengths { max: 1.0, head: 0.5, other: 0.5 };
    let levels: [f32; 16] = std::array::from_fn(|i| i as f32 / 8.0 - 1.0);
    Codebook::new(centroids.view(), &[-0.3, -0.1, 0.1, 0.3], &levels, lengths)
}

/// Vectors of the model, without a limit on time.
pub(super) fn encoding<'a>(model: &'a Hashed, codebook: &'a Codebook) -> Encoding<'a> {
    Encoding { codebook: Some(codebook), codec: Codec { rows_max: 8, ..Codec::default() }, ..Encoding::new(model) }
}
