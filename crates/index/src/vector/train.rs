//! Trains a codebook from a store's own rows, if the model brings none.

use colgrep_encoder::Encoder;
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

use super::codebook::{Codebook, Codec, RowLengths};
use super::math::{Random, normalise};
use super::panel::Panels;
use super::pool::{SplitRow, pool};
use crate::error::Result;

/// Rounds of k-means: the first few have nearly all of the effect.
const ROUNDS: usize = 5;
/// Training rows per centroid. FAISS warns below 39; here the residual makes up for coarser centroids.
const ROWS_A_CENTROID: usize = 24;
/// Maximum number of centroids. More make lists shorter but assignment more expensive; 1,024 lists are short enough for
/// 1 M units.
const CENTROIDS_MAX: usize = 1 << 10;
/// Rows whose residuals the levels are fitted to.
const LEVEL_ROWS: usize = 2_000;
const SEED: u64 = 0x00C0_16E9;

/// Number of centroids for a store of `units` with `rows` each: twice the root of its rows, as a power of
/// two. PLAID takes eight times as many; its stores are larger and its centroids are not kept with each project.
pub(crate) fn centroids_for(units: u64, rows: usize) -> usize {
    let root = (units as f64 * rows as f64).sqrt();
    let exponent = (2.0 * root).max(1.0).log2().round() as u32;
    (1usize << exponent.min(20)).clamp(8, CENTROIDS_MAX)
}

/// Number of rows to train `centroids` on.
pub(crate) fn rows_wanted(centroids: usize) -> usize {
    centroids * ROWS_A_CENTROID
}

/// Trains a codebook of at most `centroids` centroids on sample rows: k-means, then the levels with the least squared
/// error for the residuals (Lloyd 1957), heads separately. Deterministic for the same rows in the same order.
///
/// # Errors
/// When a component is not finite.
pub(crate) fn train(dimension: usize, rows: &[SplitRow], centroids: usize, codec: &Codec) -> Result<Codebook> {
    let mut random = Random(SEED);
    let sample = drawn(rows, rows_wanted(centroids), &mut random);
    let mut directions = Array2::zeros((sample.len(), dimension));
    for (mut to, row) in directions.outer_iter_mut().zip(&sample) {
        to.assign(&ArrayView1::from(&row.direction));
    }
    let len = centroids.min(sample.len() / 2).max(1);
    let means = k_means(&directions, len, &mut random);
    let residuals = |head| residuals(&directions, &means, &sample, head);
    let longest = rows.iter().map(|r| r.scale).fold(0.0f32, f32::max);
    let average = |head: bool| {
        let scales = || sample.iter().filter(|row| row.head == head).map(|row| row.scale);
        scales().sum::<f32>() / scales().count().max(1) as f32
    };
    // Future rows may be longer.
    let max = if longest > 0.0 { 1.5 * longest } else { 1.0 };
    let lengths = RowLengths { max, head: average(true), other: average(false) };
    let of = |head, bits: u8| levels(residuals(head), 1 << bits);
    Codebook::new(means.view(), &of(false, codec.bits), &of(true, codec.head_bits), lengths)
}

/// At most `count` of the rows, in random order.
fn drawn<'r>(rows: &'r [SplitRow], count: usize, random: &mut Random) -> Vec<&'r SplitRow> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    order.into_iter().take(count).map(|i| &rows[i]).collect()
}

/// Spherical k-means (Dhillon and Modha 2001), initialised with the first `len` rows: the centroids, one per row.
fn k_means(rows: &Array2<f32>, len: usize, random: &mut Random) -> Array2<f32> {
    let mut means = Array2::zeros((len, rows.ncols()));
    for (mut mean, row) in means.outer_iter_mut().zip(rows.outer_iter()) {
        mean.assign(&row);
    }
    for _ in 0..ROUNDS {
        let assigned = nearest(rows, &means);
        let mut sums = Array2::zeros(means.dim());
        for (row, at) in rows.outer_iter().zip(assigned) {
            let mut sum = sums.row_mut(at);
            sum += &row;
        }
        for mut sum in sums.outer_iter_mut() {
            // A centroid without rows restarts at one of them.
            if normalise(sum.as_slice_mut().expect("a row")) == 0.0 && rows.nrows() > 0 {
                sum.assign(&rows.row(random.below(rows.nrows())));
            }
        }
        means = sums;
    }
    means
}

/// The nearest centroid of each row, found on all cores.
fn nearest(rows: &Array2<f32>, means: &Array2<f32>) -> Vec<usize> {
    let panels = Panels::new(means.view());
    let of_row = |room: &mut Vec<f32>, i| {
        let row = rows.row(i);
        panels.nearest(row.to_slice().expect("a row"), means.nrows(), room)
    };
    (0..rows.nrows()).into_par_iter().map_init(Vec::new, of_row).collect()
}

/// Residuals of the last [`LEVEL_ROWS`] rows that are heads, or with `head` false of other rows, component after
/// component.
fn residuals(rows: &Array2<f32>, means: &Array2<f32>, sample: &[&SplitRow], head: bool) -> Vec<f32> {
    let (panels, mut room) = (Panels::new(means.view()), Vec::new());
    let of_kind = (0..sample.len()).rev().filter(|i| sample[*i].head == head).take(LEVEL_ROWS);
    let residual = |i| {
        let row = rows.row(i);
        let at = panels.nearest(row.to_slice().expect("a row"), means.nrows(), &mut room);
        &row - &means.row(at)
    };
    of_kind.flat_map(residual).collect()
}

/// Trains a codebook for a model to bring along, on texts like those it will encode.
///
/// # Errors
/// When the model can't be run or returns non-finite components.
pub fn train_codebook(encoder: &dyn Encoder, texts: &[&str], centroids: usize, codec: &Codec) -> Result<Codebook> {
    let pooled = |part: &[&str]| -> Result<Vec<SplitRow>> {
        let documents = encoder.encode_documents(part)?;
        let similarity = f32::from(codec.similarity) / 100.0;
        Ok(documents.iter().flat_map(|d| pool(d, usize::from(codec.rows_max), similarity)).collect())
    };
    let rows: Result<Vec<Vec<SplitRow>>> = texts.par_chunks(64).map(pooled).collect();
    train(encoder.dimension(), &rows?.concat(), centroids, codec)
}

/// `count` ascending levels for `values` with the least squared error: Lloyd's algorithm, begun with equal parts.
fn levels(mut values: Vec<f32>, count: usize) -> Vec<f32> {
    values.sort_unstable_by(f32::total_cmp);
    if values.is_empty() {
        return (0..count).map(|i| i as f32 / 1e3).collect();
    }
    let mut sums = vec![0.0f64];
    for value in &values {
        sums.push(sums[sums.len() - 1] + f64::from(*value));
    }
    let mut bounds: Vec<usize> = (0..=count).map(|i| i * values.len() / count).collect();
    let mut levels = vec![0.0f32; count];
    for _ in 0..12 {
        for i in 0..count {
            let (from, to) = (bounds[i], bounds[i + 1]);
            if from < to {
                levels[i] = ((sums[to] - sums[from]) / (to - from) as f64) as f32;
            } else if i > 0 {
                levels[i] = levels[i - 1];
            }
        }
        for i in 1..count {
            let middle = (levels[i - 1] + levels[i]) / 2.0;
            bounds[i] = values.partition_point(|v| *v < middle);
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_found() {
        let mut random = Random(1);
        let mut noise = || (random.below(1000) as f32 / 1000.0 - 0.5) * 0.2;
        let rows: Vec<SplitRow> = (0..400)
            .map(|i| {
                let mut direction: Vec<f32> = (0..8).map(|c| f32::from(u8::from(c == i % 8)) + noise()).collect();
                normalise(&mut direction);
                SplitRow { direction, scale: 2.0, head: false }
            })
            .collect();
        let book = train(8, &rows, 16, &Codec::default()).expect("a codebook");
        assert_eq!(book, train(8, &rows, 16, &Codec::default()).expect("the same"));
        let (mut row, mut error) = (vec![0.0; 8], 0.0);
        for r in &rows {
            let mut code = Vec::new();
            book.encode(r, &mut code, &mut Vec::new());
            book.direction(&code, false, &mut row);
            let length = book.scales()[usize::from(code[2])];
            error += row.iter().zip(&r.direction).map(|(x, y)| (x * length - y * 2.0).powi(2)).sum::<f32>() / 4.0;
        }
        assert!(error / 400.0 < 0.02, "{}", error / 400.0);
    }

    #[test]
    fn few_rows_or_none_are_enough() {
        let row = SplitRow { direction: vec![0.6, 0.8], scale: 1.0, head: true };
        for rows in [vec![], vec![row.clone()], vec![row; 3]] {
            let book = train(2, &rows, 64, &Codec::default()).expect("a codebook");
            assert!(!book.is_empty());
        }
        assert_eq!([0, 900, 10_000, u32::MAX.into()].map(|units| centroids_for(units, 6)), [8, 128, 512, 1024]);
    }

    #[test]
    fn levels_sit_in_the_clusters() {
        let values = (0..100).flat_map(|i| [0.0, 1.0, 5.0, 6.0].map(|v| v + 0.001 * i as f32)).collect();
        for (level, expected) in levels(values, 4).iter().zip([0.05, 1.05, 5.05, 6.05]) {
            assert!((level - expected).abs() < 0.1, "{level} {expected}");
        }
    }
}
