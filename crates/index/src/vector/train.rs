//! A codebook made from a store's own rows, where the model brings none.

use colgrep_encoder::Encoder;
use rayon::prelude::*;

use super::codebook::{Codebook, Codec, Lengths};
use super::math::{Random, normalise};
use super::panel::Panels;
use super::pool::{Row, pool};
use crate::error::Result;

/// Rounds of k-means: the first few do nearly all.
const ROUNDS: usize = 5;
/// Rows looked at for each centroid. FAISS warns below 39; the residual takes up what a coarser centroid leaves.
const ROWS_A_CENTROID: usize = 24;
/// Centroids at most. More make lists shorter and assignment dearer; 1,024 lists are short enough for 1 M units.
const CENTROIDS_MAX: usize = 1 << 10;
/// Rows whose residuals the levels are made from.
const LEVEL_ROWS: usize = 2_000;
const SEED: u64 = 0x00C0_16E9;

/// Number of centroids for a store of so many units with so many rows each: twice the root of its rows, as a power of
/// two. PLAID takes eight times as many; its stores are larger and its centroids are not kept with each project.
pub(crate) fn centroids_for(units: u64, rows: usize) -> usize {
    let root = (units as f64 * rows as f64).sqrt();
    let exponent = (2.0 * root).max(1.0).log2().round() as u32;
    (1usize << exponent.min(20)).clamp(8, CENTROIDS_MAX)
}

/// Number of rows to train so many centroids on.
pub(crate) fn rows_wanted(centroids: usize) -> usize {
    centroids * ROWS_A_CENTROID
}

/// A codebook of at most `centroids` centroids from sample rows: spherical k-means (Dhillon and Modha 2001) from
/// rows drawn by a fixed seed, then the levels that lose least of the residuals (Lloyd 1957), those of heads from heads.
/// The same rows in the same order give the same codebook.
///
/// # Errors
/// When the rows have components that are no numbers.
pub(crate) fn train(dimension: usize, rows: &[Row], centroids: usize, codec: &Codec) -> Result<Codebook> {
    let mut random = Random(SEED);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    let sample: Vec<&Row> = order.iter().take(rows_wanted(centroids)).map(|i| &rows[*i]).collect();
    let len = centroids.min(sample.len() / 2).max(1);
    let mut means: Vec<f32> = sample.iter().take(len).flat_map(|row| row.direction.iter().copied()).collect();
    means.resize(len * dimension, 0.0);
    for _ in 0..ROUNDS {
        let panels = Panels::new(dimension, &means);
        let assigned: Vec<usize> =
            sample.par_iter().map_init(Vec::new, |room, row| panels.nearest(&row.direction, len, room)).collect();
        let mut sums = vec![0.0f32; len * dimension];
        for (row, at) in sample.iter().zip(&assigned) {
            for (sum, x) in sums[at * dimension..(at + 1) * dimension].iter_mut().zip(&row.direction) {
                *sum += x;
            }
        }
        for sum in sums.chunks_exact_mut(dimension) {
            // A centroid without rows starts anew at one of them.
            if normalise(sum) == 0.0
                && let Some(row) = (!sample.is_empty()).then(|| sample[random.below(sample.len())])
            {
                sum.copy_from_slice(&row.direction);
            }
        }
        means = sums;
    }
    let panels = Panels::new(dimension, &means);
    let residuals = |head: bool| -> Vec<f32> {
        let (mut room, mut residuals) = (Vec::new(), Vec::new());
        for row in sample.iter().rev().filter(|row| row.head == head).take(LEVEL_ROWS) {
            let at = panels.nearest(&row.direction, len, &mut room);
            residuals.extend(row.direction.iter().zip(&means[at * dimension..]).map(|(x, c)| x - c));
        }
        residuals
    };
    let longest = rows.iter().map(|r| r.scale).fold(0.0f32, f32::max);
    let average = |head: bool| {
        let scales = || sample.iter().filter(|row| row.head == head).map(|row| row.scale);
        scales().sum::<f32>() / scales().count().max(1) as f32
    };
    // Rows to come may be longer.
    let max = if longest > 0.0 { 1.5 * longest } else { 1.0 };
    let lengths = Lengths { max, head: average(true), other: average(false) };
    let mut fine = [0.0; 16];
    fine.copy_from_slice(&levels(residuals(true), 16));
    Codebook::new(dimension, &means, &levels(residuals(false), 1 << codec.bits), &fine, lengths)
}

/// A codebook that a model can bring along, trained on texts like those it will encode.
///
/// # Errors
/// When the model can't be run or gives components that are no numbers.
pub fn train_codebook(encoder: &dyn Encoder, texts: &[&str], centroids: usize, codec: &Codec) -> Result<Codebook> {
    let pooled = |part: &[&str]| -> Result<Vec<Row>> {
        let documents = encoder.encode_documents(part)?;
        let similarity = f32::from(codec.similarity) / 100.0;
        Ok(documents.iter().flat_map(|d| pool(d, usize::from(codec.rows_max), similarity)).collect())
    };
    let rows: Result<Vec<Vec<Row>>> = texts.par_chunks(64).map(pooled).collect();
    train(encoder.dimension(), &rows?.concat(), centroids, codec)
}

/// `count` ascending values that stand for `values` with the least squared error, found from equal parts.
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
        let rows: Vec<Row> = (0..400)
            .map(|i| {
                let mut direction: Vec<f32> = (0..8).map(|c| f32::from(u8::from(c == i % 8)) + noise()).collect();
                normalise(&mut direction);
                Row { direction, scale: 2.0, head: false }
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
        let row = Row { direction: vec![0.6, 0.8], scale: 1.0, head: true };
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
