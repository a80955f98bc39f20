//! Products of one vector with many rows, the rows packed so that the vector unit takes several at a time.

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};

/// Rows side by side in a panel: one or two registers of the wider units.
pub(crate) const LANES: usize = 16;
/// Panels multiplied together, which hides the latency of an addition.
const TOGETHER: usize = 4;

/// The vector unit of this machine, found out once: asking takes as long as a small product.
pub(crate) static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Rows, packed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panels {
    dimension: usize,
    /// For each panel, for each component, the values of its rows; rows that fill the last panel up are 0.
    values: Vec<f32>,
}

impl Panels {
    /// Packs rows of `dimension` components.
    pub(crate) fn new(dimension: usize, rows: &[f32]) -> Panels {
        let len = rows.len() / dimension.max(1);
        let mut values = vec![0.0; len.next_multiple_of(LANES) * dimension];
        for (r, row) in rows.chunks_exact(dimension.max(1)).enumerate() {
            let panel = r / LANES * LANES * dimension;
            for (i, x) in row.iter().enumerate() {
                values[panel + i * LANES + r % LANES] = *x;
            }
        }
        Panels { dimension, values }
    }

    /// Number of rows, those that fill the last panel up included.
    pub(crate) fn padded(&self) -> usize {
        self.values.len() / self.dimension.max(1)
    }

    /// Writes the product of `vector` with each of the [`Panels::padded`] rows.
    pub(crate) fn products(&self, vector: &[f32], products: &mut [f32]) {
        debug_assert!(vector.len() == self.dimension && products.len() == self.padded());
        ARCH.dispatch(Products { panels: self, vector, products });
    }

    /// The first of `len` rows with the greatest product; `room` is for the work and kept between calls.
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
    fn with_simd<S: Simd>(self, _: S) {
        // Arrays, not slices: with lengths that the compiler knows, a row of lanes stays in a register.
        let lanes = self.panels.values.as_chunks::<LANES>().0;
        let outs = self.products.as_chunks_mut::<LANES>().0;
        let dimension = self.vector.len().max(1);
        let mut blocks = lanes.chunks_exact(TOGETHER * dimension);
        let mut block_outs = outs.chunks_exact_mut(TOGETHER);
        for (block, out) in blocks.by_ref().zip(block_outs.by_ref()) {
            let mut sums = [[0.0f32; LANES]; TOGETHER];
            for (i, x) in self.vector.iter().enumerate() {
                for (p, sum) in sums.iter_mut().enumerate() {
                    add(sum, *x, &block[p * dimension + i]);
                }
            }
            out.copy_from_slice(&sums);
        }
        for (panel, out) in blocks.remainder().chunks_exact(dimension).zip(block_outs.into_remainder()) {
            // One panel alone: the components take turns.
            let mut sums = [[0.0f32; LANES]; TOGETHER];
            let (fours, rest) = self.vector.as_chunks::<TOGETHER>();
            for (xs, rows) in fours.iter().zip(panel.chunks_exact(TOGETHER)) {
                for (i, sum) in sums.iter_mut().enumerate() {
                    add(sum, xs[i], &rows[i]);
                }
            }
            for (x, row) in rest.iter().zip(&panel[fours.len() * TOGETHER..]) {
                add(&mut sums[0], *x, row);
            }
            let [first, others @ ..] = sums;
            *out = others.iter().fold(first, |mut all, sum| {
                add(&mut all, 1.0, sum);
                all
            });
        }
    }
}

#[inline(always)]
fn add(sum: &mut [f32; LANES], x: f32, lanes: &[f32; LANES]) {
    for lane in 0..LANES {
        sum[lane] += x * lanes[lane];
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
            let panels = Panels::new(dimension, &all);
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
