//! Several vectors of one text.

/// Vectors of one text: row-major, `len × dimension`. The first rows may be heads, which together stand for the text as
/// a whole; the others stand for parts of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multivector {
    dimension: usize,
    heads: usize,
    values: Vec<f32>,
}

impl Multivector {
    /// Vectors from their components in row order, of which the first `heads` rows are heads.
    ///
    /// # Panics
    /// When `values` is no whole number of rows, or of fewer than there are heads, unless it is empty.
    pub fn new(dimension: usize, heads: usize, values: Vec<f32>) -> Multivector {
        assert!(dimension > 0 && values.len().is_multiple_of(dimension), "whole rows");
        assert!(values.is_empty() || values.len() >= heads * dimension, "all heads");
        Multivector { dimension, heads: if values.is_empty() { 0 } else { heads }, values }
    }

    /// Components of a row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Rows that are heads.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// Number of rows, heads included.
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
