//! Several vectors of one text.

/// Vectors of one text: row-major, `len × dimension`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multivector {
    dimension: usize,
    values: Vec<f32>,
}

impl Multivector {
    /// Vectors from their components in row order.
    ///
    /// # Panics
    /// When `values` is no whole number of rows.
    pub fn new(dimension: usize, values: Vec<f32>) -> Multivector {
        assert!(dimension > 0 && values.len().is_multiple_of(dimension), "whole rows");
        Multivector { dimension, values }
    }

    /// Components of a row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimension.max(1))
    }

    /// All components, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}
