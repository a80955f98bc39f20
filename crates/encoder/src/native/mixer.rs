//! Forward pass of the embedded model over a batch of tokenized texts, with the formulas of `train/model.py`. Texts are
//! concatenated in one matrix, so that the products are large; only the convolution sees where a text ends.

use pulp::{Arch, Simd, WithSimd};

use super::kernel::{self, Into};
use super::weights::{Block, Config, Weights};

/// Side of the late interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Index 0 into the weights of a side.
    Query = 0,
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
    /// Intermediate results of one block of rows: `rows × dim`, `rows × 2 hidden`, `rows × hidden`. They stay in a
    /// core's first-level cache.
    z: Vec<f32>,
    wide: Vec<f32>,
    gated: Vec<f32>,
    /// `texts × dim`, twice: sums of `e`, sums of the context.
    sums: [Vec<f32>; 2],
}

/// A batch of concatenated texts.
pub(crate) struct Pass<'a> {
    pub(crate) config: &'a Config,
    pub(crate) weights: &'a Weights<'a>,
    /// Ids of all texts' pieces.
    pub(crate) ids: &'a [u32],
    /// End of each text in `ids`; no text is empty.
    pub(crate) ends: &'a [usize],
    pub(crate) side: Side,
    /// Whether texts get only the rows of their summaries.
    pub(crate) heads_only: bool,
    pub(crate) scratch: &'a mut Scratch,
}

impl Pass<'_> {
    /// Rows of each text: those of its summary, then, unless only these are wanted, one per piece.
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
        let Pass { config, weights, ids, ends, side, heads_only, scratch } = self;
        let (pieces, d, o) = (ids.len(), config.dim, config.output_dim);
        let Scratch { e, x, y, z, wide, gated, sums: [direct, context] } = scratch;
        let (e, x, y) = (fit(e, pieces * d), fit(x, pieces * d), fit(y, pieces * d));

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
            mix(simd, (config, block), (y, ends), x, (z, wide, gated));
        }

        // h = norm(x); the summary sums e and h, weighted, and maps the sum of h once.
        let h = y;
        for (from, to) in x.chunks_exact(d).zip(h.chunks_exact_mut(d)) {
            kernel::layer_norm(from, &weights.norm[0], &weights.norm[1], to);
        }
        let (direct, context) = (fit(direct, ends.len() * d), fit(context, ends.len() * d));
        direct.fill(0.0);
        context.fill(0.0);
        let mut start = 0;
        for ((end, direct), context) in ends.iter().zip(direct.chunks_exact_mut(d)).zip(context.chunks_exact_mut(d)) {
            for piece in start..*end {
                let h = &h[piece * d..][..d];
                let share = kernel::exp(weights.piece_weight(ids[piece], 2) + gate(weights, 2, h));
                kernel::add_scaled(direct, &e[piece * d..][..d], share);
                kernel::add_scaled(context, h, share);
            }
            start = *end;
        }
        kernel::product(simd, &weights.summary, context, direct, Into::Add);
        direct.chunks_exact_mut(d).for_each(kernel::normalize);
        let summaries = direct.chunks_exact(d).map(|summary| summary.iter().map(|x| x * weights.summary_scale));
        if heads_only {
            return summaries.map(Iterator::collect).collect();
        }

        // v = normalise(e + out(h)), projected and weighted.
        kernel::product(simd, &weights.out, h, e, Into::Add);
        e.chunks_exact_mut(d).for_each(kernel::normalize);
        let mut start = 0;
        let mut texts = Vec::with_capacity(ends.len());
        for (end, summary) in ends.iter().zip(summaries) {
            let mut text = Vec::with_capacity((end - start) * o + d);
            text.extend(summary);
            text.resize((end - start) * o + d, 0.0);
            let rows = &mut text[d..];
            kernel::product(simd, &weights.project, &e[start * d..end * d], rows, Into::Place);
            for ((id, h), row) in ids[start..].iter().zip(h[start * d..].chunks_exact(d)).zip(rows.chunks_exact_mut(o))
            {
                let learned = weights.piece_weight(*id, side as usize);
                let log = match side {
                    Side::Query => learned + gate(weights, 0, h),
                    Side::Document => (learned + gate(weights, 1, h)).clamp(-3.0, 0.7),
                };
                let weight = kernel::exp(log);
                row.iter_mut().for_each(|x| *x *= weight);
            }
            start = *end;
            texts.push(text);
        }
        texts
    }
}

/// The context's addition to a piece's log weight: 0 in a query, 1 in a document, 2 in the summary.
#[inline(always)]
fn gate(weights: &Weights<'_>, which: usize, h: &[f32]) -> f32 {
    (kernel::dot(&weights.gate[0][which * h.len()..][..h.len()], h) + weights.gate[1][which]).clamp(-2.0, 2.0)
}

/// `x += down(glu(up(conv(y))))`, block by block of rows. Only the convolution sees where a text ends.
#[inline(always)]
fn mix<S: Simd>(
    simd: S,
    (config, block): (&Config, &Block),
    (y, ends): (&[f32], &[usize]),
    x: &mut [f32],
    (z, wide, gated): (&mut Vec<f32>, &mut Vec<f32>, &mut Vec<f32>),
) {
    let (d, hidden, most) = (config.dim, config.hidden, kernel::block_rows::<S>());
    let (z, wide, gated) = (fit(z, most * d), fit(wide, most * 2 * hidden), fit(gated, most * hidden));
    let (mut texts, mut start) = (ends.iter(), 0);
    let mut end = texts.next().copied().unwrap_or_default();
    for (at, x) in (0..).step_by(most).zip(x.chunks_mut(most * d)) {
        let rows = x.len() / d;
        let (z, wide, gated) = (&mut z[..x.len()], &mut wide[..rows * 2 * hidden], &mut gated[..rows * hidden]);
        let mut row = at;
        while row < at + rows {
            if row == end {
                (start, end) = (end, texts.next().copied().unwrap_or(at + rows));
            }
            let stop = end.min(at + rows);
            let to = &mut z[(row - at) * d..(stop - at) * d];
            kernel::convolve(simd, &y[start * d..end * d], &block.depthwise, d, row - start, to);
            row = stop;
        }
        kernel::product(simd, &block.up, z, wide, Into::Place);
        kernel::gate(wide, hidden, gated);
        kernel::product(simd, &block.down, gated, x, Into::Add);
    }
}
