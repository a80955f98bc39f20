//! Why a search over shards gives no answer.

use std::path::PathBuf;

/// What functions of this crate give.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer.
///
/// The cause is the [`source`](std::error::Error::source) and no part of the message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file that names the shards can't be read.
    #[error("could not read the shards of {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file that names the shards says something else.
    #[error(
        "{} does not name shards: {why}; it looks so: {{\"shards\": [[\"127.0.0.1:4001\", \"127.0.0.1:4002\"]]}}, the replicas of \
         each shard",
        path.display()
    )]
    NoShards {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// No shard answers.
    #[error("none of {asked} shards answers: {why}")]
    NoneAnswers {
        /// Shards that were asked.
        asked: usize,
        /// Why the first does not.
        why: String,
    },
    /// Repositories of several shards have one name: whose file a path means, and whose a caller may see, can't be told.
    #[error("{}", twice(all))]
    Twice {
        /// Each such name, with the numbers of its shards, from 1.
        all: Vec<(String, Vec<usize>)>,
    },
    /// The shards say that the request can't be answered as it is.
    #[error("{0}")]
    Refused(String),
    /// The search failed here.
    #[error(transparent)]
    Engine(#[from] colgrep_engine::Error),
    /// No threads can be started.
    #[error("could not start threads for shards")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

fn twice(all: &[(String, Vec<usize>)]) -> String {
    let of = |(name, shards): &(String, Vec<usize>)| {
        let shards: Vec<String> = shards.iter().map(ToString::to_string).collect();
        format!("{name:?} (shards {})", shards.join(", "))
    };
    format!(
        "several shards serve a repository of one name: {}. Each belongs to one shard; if they are different ones, serve one \
         under another name: colgrep serve --shard OTHER=PATH",
        all.iter().map(of).collect::<Vec<_>>().join("; ")
    )
}
