//! Several vectors of one text.

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};

/// Vectors of one text: a matrix of `len × dimension`. The first rows may be heads, which together represent the whole
/// text; the others represent parts of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Multivector {
    heads: usize,
    /// Row after row in memory, which [`Multivector::values`] and the kernels rely on.
    rows: Array2<f32>,
}

impl Default for Multivector {
    fn default() -> Multivector {
        Multivector { heads: 0, rows: Array2::zeros((0, 0)) }
    }
}

impl Multivector {
    /// Vectors as the rows of a matrix, the first `heads` of which are heads. A matrix that is not row-major is copied.
    ///
    /// # Panics
    /// When there are fewer rows than heads, unless there are no rows.
    pub fn new(heads: usize, rows: Array2<f32>) -> Multivector {
        let len = rows.nrows();
        assert!(len == 0 || len >= heads, "all heads");
        let rows = if rows.is_standard_layout() { rows } else { rows.as_standard_layout().into_owned() };
        Multivector { heads: if len == 0 { 0 } else { heads }, rows }
    }

    /// Vectors of `dimension` components, from values in row order.
    ///
    /// # Panics
    /// When `values` is not a whole number of rows, or has fewer rows than heads, unless it is empty.
    pub fn from_values(dimension: usize, heads: usize, values: Vec<f32>) -> Multivector {
        assert!(dimension > 0, "whole rows");
        let rows = Array2::from_shape_vec((values.len() / dimension, dimension), values);
        Multivector::new(heads, rows.expect("whole rows"))
    }

    /// Components of a row.
    pub fn dimension(&self) -> usize {
        self.rows.ncols()
    }

    pub fn heads(&self) -> usize {
        self.heads
    }

    /// Number of rows, heads included.
    pub fn len(&self) -> usize {
        self.rows.nrows()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.nrows() == 0
    }

    pub fn into_heads(mut self) -> Multivector {
        self.rows.slice_collapse(s![..self.heads, ..]);
        self
    }

    pub fn view(&self) -> ArrayView2<'_, f32> {
        self.rows.view()
    }

    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values().chunks_exact(self.dimension().max(1))
    }

    /// All components, row after row.
    pub fn values(&self) -> &[f32] {
        self.rows.as_slice().expect("row after row")
    }

    /// Several texts as one: the rows of all, and for each head the sum of theirs, so that MaxSim with a document is
    /// the sum of theirs. All have the same dimension and heads; those without rows do not count.
    pub fn of_parts(parts: &[Multivector]) -> Multivector {
        let mut known = parts.iter().filter(|part| !part.is_empty());
        let Some(first) = known.next().or(parts.first()) else { return Multivector::default() };
        known.fold(first.clone(), |joined, part| {
            let heads = &joined.rows.slice(s![..joined.heads, ..]) + &part.rows.slice(s![..part.heads, ..]);
            let rows = [heads.view(), joined.rows.slice(s![joined.heads.., ..]), part.rows.slice(s![part.heads.., ..])];
            Multivector::new(joined.heads, concatenate(Axis(0), &rows).expect("the same dimension"))
        })
    }

    /// MaxSim of this query with a document, `Σ_q max_d q·d`, where a head is compared only with the same head of the
    /// other side; 0 if either has no row. Both have the same dimension.
    ///
    /// This is the definition; faster implementations are tested against it.
    pub fn maxsim(&self, document: &Multivector) -> f32 {
        if self.is_empty() || document.is_empty() {
            return 0.0;
        }
        let heads = 0..self.heads.min(document.heads);
        let whole: f32 = heads.map(|head| self.rows.row(head).dot(&document.rows.row(head))).sum();
        let (parts, others) = (self.rows.slice(s![self.heads.., ..]), document.rows.slice(s![document.heads.., ..]));
        let products = parts.dot(&others.t());
        let best = products.outer_iter().filter_map(|products| products.iter().copied().max_by(f32::total_cmp));
        whole + best.sum::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn rows_stand_behind_each_other_whatever_the_matrix() {
        let expected = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let rows = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let turned = array![[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]].reversed_axes();
        let wide = array![[1.0, 2.0, 9.0], [3.0, 4.0, 9.0], [5.0, 6.0, 9.0]];
        let cut = wide.slice_move(ndarray::s![.., ..2]);
        for matrix in [rows, turned, cut] {
            let vectors = Multivector::new(1, matrix);
            assert_eq!((vectors.len(), vectors.dimension(), vectors.heads()), (3, 2, 1));
            assert_eq!(vectors.values(), expected);
            assert_eq!(vectors.rows().nth(1), Some(&expected[2..4]));
            assert_eq!(vectors, Multivector::from_values(2, 1, expected.to_vec()));
        }
    }

    #[test]
    fn no_row_has_no_head() {
        for none in [Multivector::default(), Multivector::from_values(4, 2, Vec::new())] {
            assert!(none.is_empty() && none.heads() == 0 && none.rows().next().is_none() && none.values().is_empty());
        }
    }

    #[test]
    fn each_row_counts_for_its_best_and_heads_meet_their_like() {
        let query = Multivector::new(1, array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
        let document = Multivector::new(1, array![[2.0, 9.0], [0.0, 3.0], [4.0, 0.5]]);
        assert_eq!(query.maxsim(&document), 2.0 + 3.0 + 4.5);
        let headless = Multivector::new(0, array![[2.0, 9.0]]);
        assert_eq!(query.maxsim(&headless), 9.0 + 11.0, "a head without its like counts for nothing");
        assert_eq!(headless.maxsim(&query), 9.0 + 2.0);
        assert_eq!((query.maxsim(&Multivector::default()), Multivector::default().maxsim(&query)), (0.0, 0.0));
    }

    #[test]
    fn maxsim_of_joined_parts_is_the_sum_of_theirs() {
        let parts = [
            Multivector::new(1, array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
            Multivector::default(),
            Multivector::new(1, array![[0.5, 2.0], [3.0, -1.0]]),
        ];
        let document = Multivector::new(1, array![[2.0, 9.0], [0.0, 3.0], [4.0, 0.5]]);
        let sum: f32 = parts.iter().map(|part| part.maxsim(&document)).sum();
        assert_eq!(Multivector::of_parts(&parts).maxsim(&document), sum);
        assert_eq!(Multivector::of_parts(&parts[..1]), parts[0]);
        assert!(Multivector::of_parts(&[]).is_empty());
    }

    #[test]
    #[should_panic(expected = "whole rows")]
    fn part_of_a_row_is_a_mistake() {
        Multivector::from_values(4, 0, vec![0.0; 6]);
    }

    #[test]
    #[should_panic(expected = "all heads")]
    fn fewer_rows_than_heads_are_a_mistake() {
        Multivector::from_values(2, 3, vec![0.0; 4]);
    }
}
