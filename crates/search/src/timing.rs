//! Times of the parts of a search.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Wall-clock times of one search, in milliseconds. The lexical and the semantic search run in parallel, so their times
/// overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    pub lexical: f64,
    /// The semantic ranking: encoding the query, finding the nearest units, scoring lexical results, full scores.
    pub semantic: f64,
    pub fuse: f64,
    /// The stages, and sorting.
    pub rank: f64,
    /// The whole search.
    pub total: f64,
}

/// Runs `work` and adds its time to `sum`.
pub(super) fn timed<T>(sum: &mut f64, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *sum += started.elapsed().as_secs_f64() * 1e3;
    result
}
