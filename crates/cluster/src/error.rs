//! Errors of a search over shards.

use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer.
///
/// The cause is the [`source`](std::error::Error::source) and not part of the message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file that names the shards can't be read.
    #[error("could not read the shards of {}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// The file that names the shards is invalid.
    #[error(
        "{} does not name shards: {why}; it looks so: {{\"shards\": [[\"127.0.0.1:4001\", \"127.0.0.1:4002\"]]}}, the replicas of \
         each shard",
        path.display()
    )]
    NoShards { path: PathBuf, why: String },
    /// A file of tokens can't be read.
    #[error("the token could not be read from {}", path.display())]
    TokenFile { path: PathBuf, source: std::io::Error },
    #[error("{place} holds no token; write one into it, or leave it out")]
    NoToken { place: String },
    #[error("{place}: {why}")]
    BadToken { place: String, why: String },
    #[error("none of {asked} shards answers: {why}")]
    NoneAnswers {
        /// Number of shards that were asked.
        asked: usize,
        /// Why the first one does not answer.
        why: String,
    },
    /// A shard refused the request.
    #[error("{0}")]
    Refused(String),
    /// The search failed in this process.
    #[error(transparent)]
    Engine(#[from] colgrep_engine::Error),
    /// Threads can't be started.
    #[error("could not start threads for shards")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
