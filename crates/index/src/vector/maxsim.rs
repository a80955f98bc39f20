//! MaxSim over stored codes: roughly by centroids alone, exactly by decoded rows.

use colgrep_encoder::Multivector;

use super::codebook::Codebook;
use super::panel::Panels;
use super::segment::rows;

/// A query made ready: its rows side by side, and their products with all centroids.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    codebook: &'a Codebook,
    scales: [f32; 256],
    /// Number of rows.
    rows: usize,
    /// The rows, and how many with what fills them up.
    panels: Panels,
    padded: usize,
    /// For each centroid, its product with each row (padded).
    products: Vec<f32>,
}

impl<'a> Prepared<'a> {
    /// Prepares a query of the codebook's dimension.
    pub(crate) fn new(query: &Multivector, codebook: &'a Codebook) -> Prepared<'a> {
        let panels = Panels::new(codebook.dimension(), query.values());
        let padded = panels.padded();
        let mut products = vec![0.0; codebook.len() * padded];
        for (c, products) in products.chunks_exact_mut(padded.max(1)).enumerate() {
            panels.products(codebook.centroid(c), products);
        }
        Prepared { codebook, scales: codebook.scales(), rows: query.len(), panels, padded, products }
    }

    /// Number of query rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The product of a query row with a centroid.
    pub(crate) fn product(&self, row: usize, centroid: usize) -> f32 {
        self.products[centroid * self.padded + row]
    }

    fn known(&self, code: &[u8]) -> bool {
        Codebook::centroid_of(code) < self.codebook.len()
    }

    /// MaxSim as if every row were its centroid. `sizes` are the bytes of a first row and of another; `best` is room for the work, kept between calls.
    pub(crate) fn rough(&self, codes: &[u8], sizes: [usize; 2], best: &mut Vec<f32>) -> f32 {
        self.best_of(codes, sizes, best, |code, _, best| {
            let scale = self.scales[usize::from(code[2])];
            let at = Codebook::centroid_of(code) * self.padded;
            for (b, product) in best.iter_mut().zip(&self.products[at..at + self.padded]) {
                *b = b.max(scale * product);
            }
        })
    }

    /// MaxSim over the decoded rows; 0 for a unit without rows.
    pub(crate) fn exact(&self, codes: &[u8], sizes: [usize; 2], best: &mut Vec<f32>) -> f32 {
        let mut row = vec![0.0; self.codebook.dimension()];
        let mut products = vec![0.0; self.padded];
        self.best_of(codes, sizes, best, |code, first, best| {
            self.codebook.direction(code, first, &mut row);
            let scale = self.scales[usize::from(code[2])];
            self.panels.products(&row, &mut products);
            for (b, product) in best.iter_mut().zip(&products) {
                *b = b.max(scale * product);
            }
        })
    }

    fn best_of(
        &self,
        codes: &[u8],
        [first_bytes, row_bytes]: [usize; 2],
        best: &mut Vec<f32>,
        mut take: impl FnMut(&[u8], bool, &mut [f32]),
    ) -> f32 {
        best.clear();
        best.resize(self.padded, f32::NEG_INFINITY);
        let mut any = false;
        for (code, first) in rows(codes, first_bytes, row_bytes).filter(|(code, _)| self.known(code)) {
            take(code, first, best);
            any = true;
        }
        if any { best[..self.rows].iter().sum() } else { 0.0 }
    }
}

/// A query made ready for texts' vectors as they are.
#[derive(Debug)]
pub(crate) struct Whole {
    rows: usize,
    panels: Panels,
}

impl Whole {
    /// Prepares a query.
    pub(crate) fn new(query: &Multivector) -> Whole {
        Whole { rows: query.len(), panels: Panels::new(query.dimension(), query.values()) }
    }

    /// [`maxsim`] with a text, but for rounding.
    pub(crate) fn maxsim(&self, document: &Multivector) -> f32 {
        if self.rows == 0 || document.is_empty() {
            return 0.0;
        }
        let mut best = vec![f32::NEG_INFINITY; self.panels.padded()];
        let mut products = vec![0.0; self.panels.padded()];
        for row in document.rows() {
            self.panels.products(row, &mut products);
            for (b, product) in best.iter_mut().zip(&products) {
                *b = b.max(*product);
            }
        }
        best[..self.rows].iter().sum()
    }
}

/// MaxSim, `Σ_q max_d q·d`, of two texts' vectors as they are; 0 where either has none. For what is not stored.
pub fn maxsim(query: &Multivector, document: &Multivector) -> f32 {
    if document.is_empty() {
        return 0.0;
    }
    let best = |q: &[f32]| document.rows().map(|d| super::math::dot(q, d)).fold(f32::NEG_INFINITY, f32::max);
    query.rows().map(best).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vector::codebook::Codec;
    use crate::vector::math::Random;

    fn floats(random: &mut Random, count: usize) -> Vec<f32> {
        (0..count).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn products_equal_those_of_decoded_rows(
            seed in any::<u64>(), bits in 0usize..3, dimension in 1usize..70, rows_len in 0usize..9, asked in 0usize..40)
        {
            let mut random = Random(seed);
            let mut levels = floats(&mut random, [2, 4, 16][bits]);
            levels.sort_by(f32::total_cmp);
            let fine = std::array::from_fn(|i| i as f32 / 8.0 - 1.0);
            let book = Codebook::new(dimension, &floats(&mut random, 20 * dimension), &levels, &fine, 3.0).expect("a codebook");
            let codec = Codec { bits: book.bits(), ..Codec::default() };
            let sizes = [codec.first_bytes(dimension), codec.row_bytes(dimension)];
            let mut codes = Vec::new();
            for i in 0..rows_len {
                book.encode(&floats(&mut random, dimension), 1.0, i == 0, &mut codes, &mut Vec::new());
            }
            let query = Multivector::new(dimension, floats(&mut random, asked * dimension));
            // The naive twin decodes everything first.
            let (mut decoded, mut centroids) = (Vec::new(), Vec::new());
            for (code, first) in rows(&codes, sizes[0], sizes[1]) {
                let mut row = vec![0.0; dimension];
                book.direction(code, first, &mut row);
                let scale = book.scales()[usize::from(code[2])];
                decoded.extend(row.iter().map(|x| x * scale));
                centroids.extend(book.centroid(Codebook::centroid_of(code)).iter().map(|x| x * scale));
            }
            let prepared = Prepared::new(&query, &book);
            let room = &mut Vec::new();
            let close = |a: f32, b: f32| (a - b).abs() < 1e-3 * (1.0 + a.abs());
            let document = Multivector::new(dimension, decoded);
            let exact = maxsim(&query, &document);
            prop_assert!(close(prepared.exact(&codes, sizes, room), exact));
            prop_assert!(close(Whole::new(&query).maxsim(&document), exact));
            let rough = maxsim(&query, &Multivector::new(dimension, centroids));
            prop_assert!(close(prepared.rough(&codes, sizes, room), rough));
        }
    }
}
