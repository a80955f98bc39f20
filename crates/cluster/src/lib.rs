//! colgrep-cluster: shards behind a wire.
//!
//! A process serves some repositories as one shard ([`Server`]); another searches over many shards as if all were one
//! index ([`Cluster`]). Between them go frames: a length, and a message of `message.rs` in postcard. The ranking is that of
//! one process, round by round (`colgrep_search::shard`): the coordinator sees a [`Shard`](colgrep_search::Shard)
//! that happens to be elsewhere.
//!
//! What goes wrong is said: a shard without a living replica is missing in the answer and counted as missing, a late replica
//! is overtaken by another, a broken frame ends its connection. The repositories that a caller may see are decided in each
//! shard, before anything is counted.

mod answer;
mod check;
mod cluster;
mod error;
mod file;
mod frame;
mod gathered;
mod held;
mod message;
mod remote;
mod replica;
mod serve;
mod standing;
mod turn;

pub use cluster::{Cluster, Seen, SeenReplica, SeenShard, Wanted};
pub use error::{Error, Result};
pub use file::Places;
pub use gathered::Gathered;
pub use held::{Generation, Held, Repository};
pub use message::{KnownFiles, ServedRepository};
pub use replica::{Patience, Spent};
pub use serve::Server;
pub use standing::{Away, Partial, Standing, Unserved};
