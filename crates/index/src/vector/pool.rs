//! Token pooling: fewer rows per document, by merging rows of nearly the same direction.

use colgrep_encoder::Multivector;

use super::math::{dot, norm, normalise};
use super::panel::ARCH;

/// Only this many rows, the longest, are considered: the others add little, and pooling is quadratic at worst.
const ROWS_LOOKED_AT: usize = 256;

/// A row, split into its direction (of unit length) and its length.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SplitRow {
    pub(crate) direction: Vec<f32>,
    pub(crate) scale: f32,
    pub(crate) head: bool,
}

/// Reduces the rows of a document: keeps its heads, merges other rows whose cosine is at least `similarity`, and keeps
/// at most `rows_max` of them.
///
/// Greedy clustering, longest rows first: each row joins the most similar leader if that is similar enough, else it
/// becomes a leader itself while there is room. Other rows are dropped: lengths are learned weights, and merging a
/// short row into a dissimilar group would only blur it. A group becomes the mean direction of its rows, weighted by
/// length, with the length of the longest, since MaxSim would have taken the best of them.
///
/// Merging similar token vectors is from Clavié, Chaffin and Adams, Reducing the Footprint of Multi-Vector Retrieval
/// with Minimal Performance Impact via Token Pooling (2024); leaders replace its hierarchical clusters, in a fifth of
/// the time.
pub(crate) fn pool(document: &Multivector, rows_max: usize, similarity: f32) -> Vec<SplitRow> {
    ARCH.dispatch(|| merged(document, rows_max, similarity))
}

#[inline(always)]
fn merged(document: &Multivector, rows_max: usize, similarity: f32) -> Vec<SplitRow> {
    let split = |row: &[f32], head: bool| {
        let mut direction = row.to_vec();
        let scale = normalise(&mut direction);
        SplitRow { direction, scale, head }
    };
    let mut heads: Vec<SplitRow> = document.rows().take(document.heads()).map(|row| split(row, true)).collect();
    // By length; stable for equal lengths. A row without a direction has length 0.
    let length = |row: &[f32]| Some(norm(row)).filter(|length| length.is_finite()).unwrap_or_default();
    let lengths = document.rows().skip(document.heads()).map(|row| (length(row), row));
    let mut rows: Vec<(f32, &[f32])> = lengths.filter(|row| row.0 > 0.0).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.truncate(ROWS_LOOKED_AT);
    let mut leaders: Vec<SplitRow> = Vec::with_capacity(rows_max);
    let mut sums: Vec<Vec<f32>> = Vec::with_capacity(rows_max);
    let mut direction = vec![0.0; document.dimension()];
    for (_, row) in rows {
        direction.copy_from_slice(row);
        let scale = normalise(&mut direction);
        let nearest = leaders
            .iter()
            .map(|leader| dot(&leader.direction, &direction))
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        match nearest {
            Some((at, cosine)) if cosine >= similarity => {
                for (sum, x) in sums[at].iter_mut().zip(&direction) {
                    *sum += x * scale;
                }
            }
            _ if leaders.len() >= rows_max => {}
            _ => {
                sums.push(direction.iter().map(|x| x * scale).collect());
                leaders.push(SplitRow { direction: direction.clone(), scale, head: false });
            }
        }
    }
    for (leader, mut sum) in leaders.iter_mut().zip(sums) {
        if normalise(&mut sum) > 0.0 {
            leader.direction = sum;
        }
    }
    heads.append(&mut leaders);
    heads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_rows_merge_and_heads_stay_as_they_are() {
        let values = vec![1.0, 0.0, 0.0, 0.0, 0.9, 0.1, 0.88, 0.12, 0.0, 0.5, 0.0, 0.0];
        let document = Multivector::from_values(2, 2, values);
        let pooled = pool(&document, 8, 0.95);
        assert_eq!(pooled.iter().map(|row| row.head).collect::<Vec<_>>(), [true, true, false, false]);
        assert_eq!((pooled[0].direction.clone(), pooled[0].scale, pooled[1].scale), (vec![1.0, 0.0], 1.0, 0.0));
        assert!(pooled[2].direction[1] > 0.1 && pooled[2].direction[1] < 0.15);
        assert_eq!(pooled[3].scale, 0.5);
        assert_eq!(pool(&document, 2, 2.0).len(), 4);
        assert_eq!(pool(&document, 0, 0.95).len(), 2);
        assert_eq!(pool(&document, 8, 2.0).len(), 5);
        assert_eq!(pool(&Multivector::default(), 8, 0.9), vec![]);
    }
}
