//! MaxSim kernels: over stored codes, roughly by centroids or exactly by decoded rows, and over plain vectors.

use std::sync::OnceLock;

use colgrep_encoder::Multivector;

use super::codebook::{CodeLayout, Codebook};
use super::panel::Panels;

/// A query packed for MaxSim with stored codes: its rows in panels, and their products with all centroids, computed on
/// first use since an index of few units needs none.
#[derive(Debug)]
pub(crate) struct PreparedQuery<'a> {
    codebook: &'a Codebook,
    scales: [f32; 256],
    /// Number of rows, and how many of them are heads.
    rows: usize,
    heads: usize,
    /// The rows in panels, and their number with the padding.
    panels: Panels,
    padded: usize,
    /// For each centroid, its product with each row (padded).
    products: OnceLock<Vec<f32>>,
}

impl<'a> PreparedQuery<'a> {
    /// Prepares a query of the codebook's dimension.
    pub(crate) fn new(query: &Multivector, codebook: &'a Codebook) -> PreparedQuery<'a> {
        let panels = Panels::new(query.view());
        let padded = panels.padded();
        let (rows, heads) = (query.len(), query.heads());
        PreparedQuery { codebook, scales: codebook.scales(), rows, heads, panels, padded, products: OnceLock::new() }
    }

    fn products(&self) -> &[f32] {
        self.products.get_or_init(|| {
            let mut products = vec![0.0; self.codebook.len() * self.padded];
            for (c, products) in products.chunks_exact_mut(self.padded.max(1)).enumerate() {
                self.panels.products(self.codebook.centroid(c), products);
            }
            products
        })
    }

    /// Number of query rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn product(&self, row: usize, centroid: usize) -> f32 {
        self.products()[centroid * self.padded + row]
    }

    fn known(&self, code: &[u8]) -> bool {
        Codebook::centroid_of(code) < self.codebook.len()
    }

    /// MaxSim as if every row were its centroid. `best` is a scratch buffer for reuse between calls.
    pub(crate) fn rough(&self, codes: &[u8], layout: CodeLayout, best: &mut Vec<f32>) -> f32 {
        let mut found = Best::new(self.heads, self.padded, best);
        let products = self.products();
        for (code, head) in layout.rows(codes).filter(|(code, _)| self.known(code)) {
            let at = Codebook::centroid_of(code) * self.padded;
            found.take(head, self.scales[usize::from(code[2])], &products[at..at + self.padded]);
        }
        found.sum(self.rows)
    }

    /// MaxSim over the decoded rows; 0 for a unit without rows.
    pub(crate) fn exact(&self, codes: &[u8], layout: CodeLayout, best: &mut Vec<f32>) -> f32 {
        let mut row = vec![0.0; self.codebook.dimension()];
        let mut products = vec![0.0; self.padded];
        let mut found = Best::new(self.heads, self.padded, best);
        for (code, head) in layout.rows(codes).filter(|(code, _)| self.known(code)) {
            self.codebook.direction(code, head.is_some(), &mut row);
            self.panels.products(&row, &mut products);
            found.take(head, self.scales[usize::from(code[2])], &products);
        }
        found.sum(self.rows)
    }
}

/// Running maximum of each query row over a document's rows; a head is compared only with the same head.
struct Best<'b> {
    heads: usize,
    of_row: &'b mut Vec<f32>,
}

impl<'b> Best<'b> {
    /// Starts without matches for a query of `rows` rows, the first `heads` of them heads; `room` is scratch.
    fn new(heads: usize, rows: usize, room: &'b mut Vec<f32>) -> Best<'b> {
        room.clear();
        room.resize(rows, f32::NEG_INFINITY);
        Best { heads, of_row: room }
    }

    /// Adds a row of the document: the number of its head if it is one, its length `scale`, and the products of its
    /// direction with the query's rows.
    fn take(&mut self, head: Option<usize>, scale: f32, products: &[f32]) {
        match head {
            Some(head) if head < self.heads => self.of_row[head] = scale * products[head],
            Some(_) => {}
            None => {
                for (best, product) in self.of_row[self.heads..].iter_mut().zip(&products[self.heads..]) {
                    *best = best.max(scale * product);
                }
            }
        }
    }

    /// The sum over the query rows that were compared with any row.
    fn sum(&self, rows: usize) -> f32 {
        self.of_row[..rows].iter().filter(|best| **best > f32::NEG_INFINITY).sum()
    }
}

/// A query packed for MaxSim with an encoder's vectors rather than stored codes.
#[derive(Debug)]
pub struct QueryKernel {
    rows: usize,
    heads: usize,
    panels: Panels,
}

impl QueryKernel {
    pub fn new(query: &Multivector) -> QueryKernel {
        let panels = Panels::new(query.view());
        QueryKernel { rows: query.len(), heads: query.heads(), panels }
    }

    /// Equals [`Multivector::maxsim`] with a document, except for rounding.
    pub fn maxsim(&self, document: &Multivector) -> f32 {
        if self.rows == 0 || document.is_empty() {
            return 0.0;
        }
        let mut room = Vec::new();
        let mut best = Best::new(self.heads, self.panels.padded(), &mut room);
        let mut products = vec![0.0; self.panels.padded()];
        for (i, row) in document.rows().enumerate() {
            self.panels.products(row, &mut products);
            best.take((i < document.heads()).then_some(i), 1.0, &products);
        }
        best.sum(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use proptest::prelude::*;

    use super::*;
    use crate::vector::codebook::{Codec, RowLengths};
    use crate::vector::math::Random;
    use crate::vector::pool::SplitRow;

    const LENGTHS: RowLengths = RowLengths { max: 3.0, head: 1.0, other: 1.0 };

    fn one(random: &mut Random) -> f32 {
        random.below(2001) as f32 / 1000.0 - 1.0
    }

    fn floats(random: &mut Random, count: usize) -> Vec<f32> {
        (0..count).map(|_| one(random)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn products_equal_those_of_decoded_rows(
            seed in any::<u64>(), bits in 0usize..3, dimension in 1usize..70, heads in 0usize..4, rows_len in 0usize..9,
            asked in 0usize..40)
        {
            let mut random = Random(seed);
            let mut levels = floats(&mut random, [2, 4, 16][bits]);
            levels.sort_by(f32::total_cmp);
            let fine = [2, 4, 16][seed as usize % 3];
            let fine: Vec<f32> = (0..fine).map(|i| i as f32 * 2.0 / fine as f32 - 1.0).collect();
            let centroids = Array2::from_shape_simple_fn((20, dimension), || one(&mut random));
            let book = Codebook::new(centroids.view(), &levels, &fine, LENGTHS).expect("a codebook");
            let layout = CodeLayout::new(&Codec { bits: book.bits(), head_bits: book.head_bits(), ..Codec::default() }, dimension, heads);
            let mut codes = Vec::new();
            // A text without rows has no heads either.
            let rows_len = if rows_len == 0 { 0 } else { heads + rows_len - 1 };
            for i in 0..rows_len {
                let row = SplitRow { direction: floats(&mut random, dimension), scale: 1.0, head: i < heads };
                book.encode(&row, &mut codes, &mut Vec::new());
            }
            let query = Multivector::from_values(dimension, heads, floats(&mut random, (heads + asked) * dimension));
            // The naive twin decodes everything first.
            let (mut decoded, mut centroids) = (Vec::new(), Vec::new());
            for (code, head) in layout.rows(&codes) {
                let mut row = vec![0.0; dimension];
                book.direction(code, head.is_some(), &mut row);
                let scale = book.scales()[usize::from(code[2])];
                decoded.extend(row.iter().map(|x| x * scale));
                centroids.extend(book.centroid(Codebook::centroid_of(code)).iter().map(|x| x * scale));
            }
            let prepared = PreparedQuery::new(&query, &book);
            let room = &mut Vec::new();
            let close = |a: f32, b: f32| (a - b).abs() < 1e-3 * (1.0 + a.abs());
            let document = Multivector::from_values(dimension, heads, decoded);
            let exact = query.maxsim(&document);
            prop_assert!(close(prepared.exact(&codes, layout, room), exact));
            prop_assert!(close(QueryKernel::new(&query).maxsim(&document), exact));
            let rough = query.maxsim(&Multivector::from_values(dimension, heads, centroids));
            prop_assert!(close(prepared.rough(&codes, layout, room), rough));
        }
    }
}
