//! colgrep-cluster: remote shards.
//!
//! A process serves repositories as one shard ([`ShardServer`]); another one searches many shards as if they were one
//! index ([`Cluster`]), round by round ([`colgrep_search::rounds`]). To the coordinator, a remote shard is a
//! [`Shard`](colgrep_search::Shard) like any other.

mod answer;
mod backend;
mod catalog;
mod check;
mod cluster;
mod coverage;
mod error;
mod fair_queue;
mod foreign_text;
mod frame;
mod gathered;
mod handshake;
mod message;
mod replica;
mod serve;
mod shard_addresses;
mod shard_client;
mod strangers;
mod tokens;

pub use backend::{ClusterBackend, shown};
pub use catalog::{Catalog, Generation, HostedRepository, ShardLoad};
pub use cluster::{Cluster, ClusterHealth, ClusterScope, ReplicaHealth, ShardHealth};
pub use coverage::{MissingShard, PartialRepository, RepeatedRepository, ShardCoverage, UnservedRepository, in_shard};
pub use error::{Error, Result};
pub use gathered::Gathered;
pub use message::{FileProgress, LINES_MAX, LineFound, LinesFound, ServedRepository, VERSION};
pub use replica::{QuestionTraffic, ReplicaTimeouts};
pub use serve::ShardServer;
pub use shard_addresses::ShardAddresses;
pub use strangers::oldest_of_most;
pub use tokens::{AccessTokens, TokenRule, bearer};
