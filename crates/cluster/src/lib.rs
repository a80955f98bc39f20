//! colgrep-cluster: remote shards.
//!
//! A process serves repositories as one shard ([`ShardServer`]). Another one searches many shards as if they were one
//! index ([`Cluster`]). They exchange frames: a length, and a message of `message.rs` in postcard. The ranking is that
//! of a single process, round by round ([`colgrep_search::rounds`]): to the coordinator, a remote shard is a
//! [`Shard`](colgrep_search::Shard) like any other.
//!
//! Failures are reported: a shard without a live replica is listed as missing, a slow replica is hedged by another one,
//! and a broken frame closes its connection. Each shard applies the caller's permissions to repositories before it
//! counts anything.

mod answer;
mod catalog;
mod check;
mod cluster;
mod coverage;
mod error;
mod fair_queue;
mod frame;
mod gathered;
mod message;
mod replica;
mod serve;
mod shard_addresses;
mod shard_client;

pub use catalog::{Catalog, Generation, HostedRepository};
pub use cluster::{Cluster, ClusterHealth, ClusterScope, ReplicaHealth, ShardHealth};
pub use coverage::{MissingShard, PartialRepository, ShardCoverage, UnservedRepository};
pub use error::{Error, Result};
pub use gathered::Gathered;
pub use message::{FileProgress, ServedRepository};
pub use replica::{Patience, Spent};
pub use serve::ShardServer;
pub use shard_addresses::ShardAddresses;
