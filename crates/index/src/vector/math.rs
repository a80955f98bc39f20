//! Dot products and norms that the compiler vectorises, and seeded random numbers.

/// Lanes of the running sums: four registers of four floats, which hides the latency of an addition.
const LANES: usize = 16;

/// Inner product. If lengths differ, the rest of the longer one is ignored.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (mut left, mut right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (x, y) in left.by_ref().zip(right.by_ref()) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let tail: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
        half /= 2;
    }
    sums[0] + tail
}

/// Length of a vector.
pub(crate) fn norm(a: &[f32]) -> f32 {
    dot(a, a).sqrt()
}

/// Scales `a` to length 1 and returns its old length; a zero or non-finite vector becomes zeros.
pub(crate) fn normalise(a: &mut [f32]) -> f32 {
    let length = norm(a);
    let factor = if length.is_finite() && length > 0.0 { 1.0 / length } else { 0.0 };
    for x in a.iter_mut() {
        *x = if factor == 0.0 { 0.0 } else { *x * factor };
    }
    if factor == 0.0 { 0.0 } else { length }
}

/// Pseudo-random numbers, the same for the same seed (splitmix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`; `n` is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn dot_is_the_sum_of_products(pairs in proptest::collection::vec((-2.0f32..2.0, -2.0f32..2.0), 0..150)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let naive: f64 = a.iter().zip(&b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - naive).abs() < 1e-3);
        }
    }

    #[test]
    fn what_has_no_direction_becomes_zeros() {
        for mut bad in [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0]] {
            assert_eq!(normalise(&mut bad), 0.0);
            assert_eq!(bad, [0.0, 0.0]);
        }
        let mut good = vec![3.0, 4.0];
        assert!(normalise(&mut good) == 5.0 && (good[0] - 0.6).abs() < 1e-6);
    }
}
