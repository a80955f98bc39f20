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
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file that names the shards is invalid.
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
    /// The token of the shards is empty.
    #[error("{place} holds no token; write the one that the shards were started with into it, or leave it out")]
    NoToken {
        /// Where it is from.
        place: String,
    },
    /// The tokens of the shards can't be understood.
    #[error("the tokens of the shards: {0}")]
    Tokens(String),
    /// No shard answers.
    #[error("none of {asked} shards answers: {why}")]
    NoneAnswers {
        /// Number of shards that were asked.
        asked: usize,
        /// Why the first one does not answer.
        why: String,
    },
    /// Several shards serve repositories of the same name, so paths and permissions would be ambiguous.
    #[error("{}", twice(all))]
    Twice {
        /// Each such name, with the numbers of its shards, from 1; none where the caller may not know them.
        all: Vec<(String, Vec<usize>)>,
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

fn twice(all: &[(String, Vec<usize>)]) -> String {
    let of = |(name, shards): &(String, Vec<usize>)| {
        let shards: Vec<String> = shards.iter().map(ToString::to_string).collect();
        if shards.is_empty() { format!("{name:?}") } else { format!("{name:?} (shards {})", shards.join(", ")) }
    };
    format!(
        "several shards serve a repository of one name: {}. Each belongs to one shard; if they are different ones, serve one \
         under another name: colgrep serve --shard OTHER=PATH",
        all.iter().map(of).collect::<Vec<_>>().join("; ")
    )
}
