//! Matrix-vector products over packed rows: a panel has 16 rows side by side, one per SIMD lane.

use std::sync::LazyLock;

use ndarray::ArrayView2;
use pulp::{Arch, Simd, WithSimd};

/// Rows per panel: one register of the widest vector unit, four of the narrowest.
pub(crate) const LANES: usize = 16;
/// Independent running sums, which hide the latency of an addition.
const TURNS: usize = 4;

/// The vector unit of this machine, detected once: detection takes as long as a small product.
pub(crate) static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Rows packed into panels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panels {
    dimension: usize,
    /// For each panel, for each component, the values of its rows; padding rows are 0.
    values: Vec<f32>,
}

impl Panels {
    /// Packs the rows of a matrix.
    pub(crate) fn new(rows: ArrayView2<'_, f32>) -> Panels {
        let (len, dimension) = rows.dim();
        let mut values = vec![0.0; len.next_multiple_of(LANES) * dimension];
        for (r, row) in rows.outer_iter().enumerate() {
            let panel = r / LANES * LANES * dimension;
            for (i, x) in row.iter().enumerate() {
                values[panel + i * LANES + r % LANES] = *x;
            }
        }
        Panels { dimension, values }
    }

    /// Number of rows with the padding of the last panel.
    pub(crate) fn padded(&self) -> usize {
        self.values.len() / self.dimension.max(1)
    }

    /// Writes the product of `vector` with each of the [`Panels::padded`] rows.
    pub(crate) fn products(&self, vector: &[f32], products: &mut [f32]) {
        debug_assert!(vector.len() == self.dimension && products.len() == self.padded());
        ARCH.dispatch(Products { panels: self, vector, products });
    }

    /// The first of `len` rows with the greatest product; `room` is a scratch buffer for reuse between calls.
    pub(crate) fn nearest(&self, vector: &[f32], len: usize, room: &mut Vec<f32>) -> usize {
        room.resize(self.padded(), 0.0);
        self.products(vector, room);
        let mut best = (0, f32::NEG_INFINITY);
        for (i, product) in room[..len].iter().enumerate() {
            if *product > best.1 {
                best = (i, *product);
            }
        }
        best.0
    }
}

struct Products<'a> {
    panels: &'a Panels,
    vector: &'a [f32],
    products: &'a mut [f32],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (whole, rest) = self.vector.as_chunks::<TURNS>();
        let lanes = self.panels.values.as_chunks::<LANES>().0;
        let outs = self.products.as_chunks_mut::<LANES>().0;
        for (panel, out) in lanes.chunks_exact(self.vector.len().max(1)).zip(outs) {
            let (turns, last) = panel.split_at(whole.len() * TURNS);
            let out = S::as_mut_simd_f32s(out.as_mut_slice()).0;
            for (v, out) in out.iter_mut().enumerate() {
                let add = |x: f32, row: &[f32; LANES], sum| {
                    simd.mul_add_e_f32s(simd.splat_f32s(x), S::as_simd_f32s(row.as_slice()).0[v], sum)
                };
                let [mut a, mut b, mut c, mut d] = [simd.splat_f32s(0.0); TURNS];
                for (x, row) in whole.iter().zip(turns.as_chunks::<TURNS>().0) {
                    a = add(x[0], &row[0], a);
                    b = add(x[1], &row[1], b);
                    c = add(x[2], &row[2], c);
                    d = add(x[3], &row[3], d);
                }
                for (x, row) in rest.iter().zip(last) {
                    a = add(*x, row, a);
                }
                *out = simd.add_f32s(simd.add_f32s(a, b), simd.add_f32s(c, d));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vector::math::Random;

    proptest! {
        #[test]
        fn packed_products_are_sums_of_products(seed in any::<u64>(), dimension in 1usize..70, rows in 0usize..150) {
            let mut random = Random(seed);
            let mut floats = |n| (0..n).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).collect::<Vec<f32>>();
            let (all, vector) = (floats(rows * dimension), floats(dimension));
            let panels = Panels::new(ArrayView2::from_shape((rows, dimension), &all).expect("a matrix"));
            let mut products = vec![9.0; panels.padded()];
            panels.products(&vector, &mut products);
            let naive: Vec<f32> =
                all.chunks(dimension).map(|row| row.iter().zip(&vector).map(|(x, y)| x * y).sum()).collect();
            for (product, expected) in products.iter().zip(&naive) {
                prop_assert!((product - expected).abs() < 1e-3);
            }
            prop_assert!(products[rows..].iter().all(|p| *p == 0.0));
            if rows > 0 {
                let nearest = panels.nearest(&vector, rows, &mut Vec::new());
                prop_assert!(naive.iter().all(|n| *n <= naive[nearest] + 1e-3));
            }
        }
    }
}
