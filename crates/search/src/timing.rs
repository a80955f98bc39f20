//! How long the parts of a search take.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Times of one search, in milliseconds of the clock. Words and meaning are looked for side by side, so their times
/// overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The ranking by words.
    pub lexical: f64,
    /// The ranking by meaning: encoding the query, finding the nearest, scoring what words found, full scores.
    pub semantic: f64,
    /// Making one score of both.
    pub fuse: f64,
    /// The stages, and the order.
    pub rank: f64,
    /// All of it, with what lies between.
    pub total: f64,
}

/// Does `work` and adds the time that it took to `sum`.
pub(super) fn timed<T>(sum: &mut f64, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *sum += started.elapsed().as_secs_f64() * 1e3;
    result
}
