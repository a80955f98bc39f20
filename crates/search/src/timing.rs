//! How long the parts of a search take.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Wall-clock times of one search, in milliseconds. The lexical and the semantic search run in parallel, so their times
/// overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The ranking by words.
    pub lexical: f64,
    /// The semantic ranking: encoding the query, finding the nearest units, scoring lexical results, full scores.
    pub semantic: f64,
    /// Making one score of both.
    pub fuse: f64,
    /// The stages, and the order.
    pub rank: f64,
    /// The whole search.
    pub total: f64,
}

/// Does `work` and adds the time that it took to `sum`.
pub(super) fn timed<T>(sum: &mut f64, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *sum += started.elapsed().as_secs_f64() * 1e3;
    result
}
