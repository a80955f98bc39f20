//! Forward pass of the embedded model over a batch of tokenized texts.
//!
//! The formulas are those of `train/model.py`. Texts stand behind each other in one matrix, so that the products
//! are large; the convolution alone sees where a text ends.

use pulp::{Arch, Simd, WithSimd};

use super::kernel::{self, Into};
use super::weights::{Config, Weights};

/// Side of the late interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Index 0 into the weights of a side.
    Query = 0,
    /// Index 1.
    Document = 1,
}

/// Buffers of a pass, reused between passes.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Normalised table rows, `pieces × dim`; later the pieces' directions.
    e: Vec<f32>,
    /// The residual path, `pieces × dim`; later its final norm.
    x: Vec<f32>,
    /// `pieces × dim`.
    y: Vec<f32>,
    /// `pieces × dim`.
    z: Vec<f32>,
    /// `pieces × 2 hidden`.
    wide: Vec<f32>,
    /// `pieces × hidden`.
    gated: Vec<f32>,
    /// `texts × dim`, twice: sums of `e`, sums of the context.
    sums: [Vec<f32>; 2],
    /// `pieces × output_dim`.
    rows: Vec<f32>,
}

/// A batch of texts, stored one behind the other.
pub(crate) struct Pass<'a> {
    pub(crate) config: &'a Config,
    pub(crate) weights: &'a Weights<'a>,
    /// Ids of all texts' pieces.
    pub(crate) ids: &'a [u32],
    /// End of each text in `ids`; no text is empty.
    pub(crate) ends: &'a [usize],
    pub(crate) side: Side,
    pub(crate) scratch: &'a mut Scratch,
}

impl Pass<'_> {
    /// Rows of each text: those of its summary, then one a piece.
    pub(crate) fn run(self) -> Vec<Vec<f32>> {
        Arch::new().dispatch(self)
    }
}

/// Resizes a buffer whose content will be overwritten.
fn fit(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    buffer.resize(len, 0.0);
    buffer
}

impl WithSimd for Pass<'_> {
    type Output = Vec<Vec<f32>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<Vec<f32>> {
        let Pass { config, weights, ids, ends, side, scratch } = self;
        let (pieces, d, o) = (ids.len(), config.dim, config.output_dim);
        let Scratch { e, x, y, z, wide, gated, sums: [direct, context], rows } = scratch;
        let (e, x, y, z) = (fit(e, pieces * d), fit(x, pieces * d), fit(y, pieces * d), fit(z, pieces * d));
        let (wide, gated) = (fit(wide, pieces * 2 * config.hidden), fit(gated, pieces * config.hidden));

        // e = table row, normalised; x = √d e + side.
        let side_row = &weights.side[side as usize * d..][..d];
        let scale = (d as f32).sqrt();
        for ((id, e), x) in ids.iter().zip(e.chunks_exact_mut(d)).zip(x.chunks_exact_mut(d)) {
            weights.row(*id, e);
            kernel::normalize(e);
            for ((slot, e), side) in x.iter_mut().zip(&*e).zip(side_row) {
                *slot = scale * e + side;
            }
        }

        // x += down(glu(up(conv(norm(x))))).
        for block in &weights.blocks {
            for (from, to) in x.chunks_exact(d).zip(y.chunks_exact_mut(d)) {
                kernel::layer_norm(from, &block.norm[0], &block.norm[1], to);
            }
            let mut start = 0;
            for end in ends.iter().map(|end| end * d) {
                kernel::convolve(&y[start..end], &block.depthwise, d, &mut z[start..end]);
                start = end;
            }
            kernel::product(simd, &block.up, z, wide, Into::Place);
            kernel::gate(wide, config.hidden, gated);
            kernel::product(simd, &block.down, gated, x, Into::Add);
        }

        // h = norm(x); the summary sums e and h, weighted, and maps the sum of h once.
        let h = y;
        for (from, to) in x.chunks_exact(d).zip(h.chunks_exact_mut(d)) {
            kernel::layer_norm(from, &weights.norm[0], &weights.norm[1], to);
        }
        let gate = |which: usize, h: &[f32]| {
            (kernel::dot(&weights.gate[0][which * d..][..d], h) + weights.gate[1][which]).clamp(-2.0, 2.0)
        };
        let (direct, context) = (fit(direct, ends.len() * d), fit(context, ends.len() * d));
        direct.fill(0.0);
        context.fill(0.0);
        let mut start = 0;
        for ((end, direct), context) in ends.iter().zip(direct.chunks_exact_mut(d)).zip(context.chunks_exact_mut(d)) {
            for piece in start..*end {
                let h = &h[piece * d..][..d];
                let share = kernel::exp(weights.piece_weight(ids[piece], 2) + gate(2, h));
                kernel::add_scaled(direct, &e[piece * d..][..d], share);
                kernel::add_scaled(context, h, share);
            }
            start = *end;
        }
        kernel::product(simd, &weights.summary, context, direct, Into::Add);
        direct.chunks_exact_mut(d).for_each(kernel::normalize);

        // v = normalise(e + out(h)), projected and weighted.
        kernel::product(simd, &weights.out, h, e, Into::Add);
        e.chunks_exact_mut(d).for_each(kernel::normalize);
        let rows = fit(rows, pieces * o);
        kernel::product(simd, &weights.project, e, rows, Into::Place);
        for ((id, h), row) in ids.iter().zip(h.chunks_exact(d)).zip(rows.chunks_exact_mut(o)) {
            let learned = weights.piece_weight(*id, side as usize);
            let log = match side {
                Side::Query => learned + gate(0, h),
                Side::Document => (learned + gate(1, h)).clamp(-3.0, 0.7),
            };
            let weight = kernel::exp(log);
            row.iter_mut().for_each(|x| *x *= weight);
        }

        let mut start = 0;
        let texts = ends.iter().zip(direct.chunks_exact(d)).map(|(end, summary)| {
            let mut text = Vec::with_capacity((end - start) * o + d);
            text.extend(summary.iter().map(|x| x * weights.summary_scale));
            text.extend_from_slice(&rows[start * o..end * o]);
            start = *end;
            text
        });
        texts.collect()
    }
}
