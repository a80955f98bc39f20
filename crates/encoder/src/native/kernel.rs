//! The mixer's inner loops: matrix products over packed weights, and operations on rows. All are generic over the
//! vector unit and inlined into the one dispatch in `mixer.rs`, where plain loops over rows of a fixed stride compile
//! to vector code; matrices are row-major.

use pulp::Simd;

/// Columns per panel of packed weights: two vectors of the widest unit.
const PANEL: usize = 32;

/// Inputs of every map in the built-in model, for which [`product`] has a special path.
const WIDTH: usize = 128;

/// Weights of a linear map `n → m`, laid out for [`product`], with its bias.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    inputs: usize,
    outputs: usize,
    /// Panels of [`PANEL`] outputs; in each, for every input, its weight for every output.
    panels: Vec<f32>,
    /// One value per output, padded to whole panels.
    bias: Vec<f32>,
}

impl Linear {
    /// Packs `weights` (`outputs × inputs`, PyTorch's layout) and `bias` (empty for none).
    pub(crate) fn new(outputs: usize, inputs: usize, weights: &[f32], bias: &[f32]) -> Linear {
        let panels_len = outputs.div_ceil(PANEL);
        let mut panels = vec![0.0; panels_len * PANEL * inputs];
        for (panel, rows) in panels.chunks_exact_mut(PANEL * inputs).zip(weights.chunks(PANEL * inputs)) {
            for (input, weights) in panel.chunks_exact_mut(PANEL).enumerate() {
                for (slot, row) in weights.iter_mut().zip(rows.chunks_exact(inputs)) {
                    *slot = row[input];
                }
            }
        }
        let mut full = bias.to_vec();
        full.resize(panels_len * PANEL, 0.0);
        Linear { inputs, outputs, panels, bias: full }
    }
}

/// Store mode of [`product`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Into {
    Place,
    Add,
}

/// Rows of the largest block of [`product`]: accumulators, two weight vectors and one broadcast input share the registers.
#[inline(always)]
pub(crate) fn block_rows<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 12 } else { 6 }
}

/// `to = from · weightsᵀ + bias`, one row of `from` (`inputs` wide) to one of `to` (`outputs` wide).
///
/// The micro-kernel keeps a block of rows × two vectors of outputs in registers and walks the inputs once
/// (Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008). A row's result does not depend on
/// the block that it is in.
#[inline(always)]
pub(crate) fn product<S: Simd>(simd: S, linear: &Linear, from: &[f32], to: &mut [f32], into: Into) {
    let rows = to.len() / linear.outputs;
    let mut done = 0;
    if S::REGISTER_COUNT >= 32 {
        done = blocks::<S, 12>(simd, linear, from, to, into, done);
    }
    if rows - done >= 6 {
        done = blocks::<S, 6>(simd, linear, from, to, into, done);
    }
    if rows - done >= 3 {
        done = blocks::<S, 3>(simd, linear, from, to, into, done);
    }
    blocks::<S, 1>(simd, linear, from, to, into, done);
}

/// Multiplies the rows from `row` on in full blocks of `ROWS`; returns the first remaining row.
#[inline(always)]
fn blocks<S: Simd, const ROWS: usize>(
    simd: S,
    linear: &Linear,
    from: &[f32],
    to: &mut [f32],
    into: Into,
    mut row: usize,
) -> usize {
    let (inputs, outputs) = (linear.inputs, linear.outputs);
    while row + ROWS <= to.len() / outputs {
        columns::<S, ROWS>(simd, linear, &from[row * inputs..], &mut to[row * outputs..], into);
        row += ROWS;
    }
    row
}

/// `ROWS` rows against all outputs.
#[inline(always)]
fn columns<S: Simd, const ROWS: usize>(simd: S, linear: &Linear, from: &[f32], to: &mut [f32], into: Into) {
    let (inputs, outputs) = (linear.inputs, linear.outputs);
    let rows: [&[f32]; ROWS] = std::array::from_fn(|row| &from[row * inputs..][..inputs]);
    let together = from.as_chunks::<WIDTH>().0.first_chunk::<ROWS>().filter(|_| inputs == WIDTH);
    let width = 2 * S::F32_LANES;
    for (panel, weights) in linear.panels.chunks_exact(PANEL * inputs).enumerate() {
        let weights = weights.as_chunks::<PANEL>().0;
        for offset in (0..PANEL).step_by(width.min(PANEL)) {
            let column = panel * PANEL + offset;
            if column >= outputs {
                break;
            }
            // Rows of the model's own width are at constant distances, so one register addresses all of them.
            let sums = match (together, weights.first_chunk::<WIDTH>()) {
                (Some(rows), Some(weights)) => sums_of_width::<S, ROWS>(simd, weights, offset, rows),
                _ => sums::<S, ROWS>(simd, weights, offset, rows),
            };
            let bias = &linear.bias[column..][..width];
            for (row, sums) in sums.into_iter().enumerate() {
                let mut values = [0.0; PANEL];
                let (slots, _) = S::as_mut_simd_f32s(&mut values[..width]);
                (slots[0], slots[1]) = (sums[0], sums[1]);
                let to = &mut to[row * outputs..][..outputs][column..];
                for ((slot, value), bias) in to.iter_mut().zip(&values[..width]).zip(bias) {
                    match into {
                        Into::Place => *slot = value + bias,
                        Into::Add => *slot += value + bias,
                    }
                }
            }
        }
    }
}

/// For each of `ROWS` rows the sums over its inputs, times two vectors of weights of each: those at `offset` in a panel.
#[inline(always)]
fn sums<S: Simd, const ROWS: usize>(
    simd: S,
    weights: &[[f32; PANEL]],
    offset: usize,
    rows: [&[f32]; ROWS],
) -> [[S::f32s; 2]; ROWS] {
    let mut sums = [[simd.splat_f32s(0.0); 2]; ROWS];
    for (input, weights) in weights.iter().enumerate() {
        let pair = S::as_simd_f32s(&weights[offset..][..2 * S::F32_LANES]).0;
        for row in 0..ROWS {
            let value = simd.splat_f32s(rows[row][input]);
            sums[row][0] = simd.mul_add_e_f32s(value, pair[0], sums[row][0]);
            sums[row][1] = simd.mul_add_e_f32s(value, pair[1], sums[row][1]);
        }
    }
    sums
}

/// As [`sums`], for contiguous rows, since twelve pointers to rows do not fit into the registers. These loops call no
/// closure: one that is not inlined would be compiled without the vector unit.
#[inline(always)]
fn sums_of_width<S: Simd, const ROWS: usize>(
    simd: S,
    weights: &[[f32; PANEL]; WIDTH],
    offset: usize,
    rows: &[[f32; WIDTH]; ROWS],
) -> [[S::f32s; 2]; ROWS] {
    let mut sums = [[simd.splat_f32s(0.0); 2]; ROWS];
    for input in 0..WIDTH {
        let pair = S::as_simd_f32s(&weights[input][offset..][..2 * S::F32_LANES]).0;
        for row in 0..ROWS {
            let value = simd.splat_f32s(rows[row][input]);
            sums[row][0] = simd.mul_add_e_f32s(value, pair[0], sums[row][0]);
            sums[row][1] = simd.mul_add_e_f32s(value, pair[1], sums[row][1]);
        }
    }
    sums
}

/// Sums of a row's elements under `map`, in sixteen lanes so that it becomes vector code.
#[inline(always)]
fn sum(row: &[f32], map: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; 16];
    let chunks = row.chunks_exact(16);
    let rest: f32 = chunks.remainder().iter().map(|x| map(*x)).sum();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += map(*x);
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Scales a row to length 1 (keeps a zero row).
#[inline(always)]
pub(crate) fn normalize(row: &mut [f32]) {
    let scale = 1.0 / sum(row, |x| x * x).sqrt().max(1e-12);
    row.iter_mut().for_each(|x| *x *= scale);
}

/// LayerNorm of a row (Ba, Kiros and Hinton 2016), ε = 1e-5.
#[inline(always)]
pub(crate) fn layer_norm(from: &[f32], weight: &[f32], bias: &[f32], to: &mut [f32]) {
    let len = from.len() as f32;
    let mean = sum(from, |x| x) / len;
    let scale = 1.0 / (sum(from, |x| (x - mean) * (x - mean)) / len + 1e-5).sqrt();
    for (((slot, x), weight), bias) in to.iter_mut().zip(from).zip(weight).zip(bias) {
        *slot = (x - mean) * scale * weight + bias;
    }
}

/// Depthwise convolution along the rows of one text, zero outside: `to[t] = Σ_i taps[i] ⊙ from[first + t + i − k/2]`,
/// for all rows of `to`.
#[inline(always)]
pub(crate) fn convolve<S: Simd>(simd: S, from: &[f32], taps: &[f32], width: usize, first: usize, to: &mut [f32]) {
    let (rows, kernel) = (from.len() / width, taps.len() / width);
    for (row, to) in to.chunks_exact_mut(width).enumerate() {
        // Taps inside the text.
        let centre = first + row;
        let (low, high) = ((kernel / 2).saturating_sub(centre), kernel.min(rows + kernel / 2 - centre));
        let taps = &taps[low * width..high * width];
        let from = &from[(centre + low - kernel / 2) * width..][..taps.len()];
        let (lanes, rest) = S::as_mut_simd_f32s(to);
        let whole = width - rest.len();
        for (at, slot) in (0..).step_by(S::F32_LANES).zip(lanes) {
            let mut sum = simd.splat_f32s(0.0);
            for (x, weight) in from.chunks_exact(width).zip(taps.chunks_exact(width)) {
                let (x, weight) =
                    (S::as_simd_f32s(&x[at..][..S::F32_LANES]).0, S::as_simd_f32s(&weight[at..][..S::F32_LANES]).0);
                sum = simd.add_f32s(sum, simd.mul_f32s(x[0], weight[0]));
            }
            *slot = sum;
        }
        for (at, slot) in (whole..).zip(rest) {
            *slot = from.chunks_exact(width).zip(taps.chunks_exact(width)).fold(0.0, |sum, (x, w)| sum + x[at] * w[at]);
        }
    }
}

/// Gated linear unit (Dauphin et al. 2017): `to = a ⊙ σ(b)` for rows `[a; b]`.
#[inline(always)]
pub(crate) fn gate(from: &[f32], hidden: usize, to: &mut [f32]) {
    for (to, from) in to.chunks_exact_mut(hidden).zip(from.chunks_exact(2 * hidden)) {
        let (a, b) = from.split_at(hidden);
        for ((slot, a), b) in to.iter_mut().zip(a).zip(b) {
            *slot = a / (1.0 + exp(-b));
        }
    }
}

/// eˣ to about 2 units in the last place, without branches; saturates at e^±87.
///
/// x = n·ln 2 + r with |r| ≤ ½ ln 2, eʳ by its Taylor polynomial of degree 7, 2ⁿ by the exponent's bits.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// Adding this leaves the nearest integer in the low bits of the mantissa.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, so that the difference stays exact (Cody and Waite 1980).
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let mut e = 1.0 / 5040.0;
    for term in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        e = e * r + term;
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()));
    e * power
}

/// Inner product of two rows of equal length.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    let (chunks_a, chunks_b) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = chunks_a.remainder().iter().zip(chunks_b.remainder()).map(|(x, y)| x * y).sum();
    for (chunk_a, chunk_b) in chunks_a.zip(chunks_b) {
        for ((lane, x), y) in lanes.iter_mut().zip(chunk_a).zip(chunk_b) {
            *lane += x * y;
        }
    }
    lanes.iter().sum::<f32>() + rest
}

#[inline(always)]
pub(crate) fn add_scaled(to: &mut [f32], row: &[f32], scale: f32) {
    to.iter_mut().zip(row).for_each(|(slot, x)| *slot += scale * x);
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;

    struct Run<'a>(&'a Linear, &'a [f32], &'a mut [f32], Into);

    impl WithSimd for Run<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            product(simd, self.0, self.1, self.2, self.3);
        }
    }

    /// Runs on every vector unit of this machine, and without one.
    fn on_all_units(mut run: impl FnMut(&dyn Fn(Run<'_>))) {
        run(&|product| Simd::vectorize(pulp::Scalar::new(), product));
        run(&|product| Arch::new().dispatch(product));
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            run(&|product| Simd::vectorize(simd, product));
        }
    }

    #[test]
    fn products_of_all_shapes() {
        for (rows, inputs, outputs) in [(1, 1, 1), (5, 7, 3), (13, 128, 64), (25, 30, 70), (6, 16, 256)] {
            let value = |i: usize| ((i * 37 % 101) as f32 - 50.0) / 50.0;
            let weights: Vec<f32> = (0..inputs * outputs).map(value).collect();
            let bias: Vec<f32> = (0..outputs).map(|i| value(i + 5)).collect();
            let from: Vec<f32> = (0..rows * inputs).map(|i| value(i + 9)).collect();
            let linear = Linear::new(outputs, inputs, &weights, &bias);
            for (into, was) in [(Into::Place, 0.0), (Into::Add, 0.5)] {
                on_all_units(|unit| {
                    let mut to = vec![0.5; rows * outputs];
                    unit(Run(&linear, &from, &mut to, into));
                    for (at, found) in to.iter().enumerate() {
                        let (row, column) = (at / outputs, at % outputs);
                        let products = (0..inputs).map(|i| from[row * inputs + i] * weights[column * inputs + i]);
                        let expected = products.sum::<f32>() + bias[column] + was;
                        assert!((found - expected).abs() < 1e-4, "{rows}×{inputs}×{outputs} {found} {expected}");
                    }
                });
            }
        }
    }

    #[test]
    fn exponentials() {
        for i in -8700..=8700 {
            let x = i as f32 / 100.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-6, "{x}");
        }
    }
}
