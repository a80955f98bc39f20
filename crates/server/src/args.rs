//! The flags of the servers.

use core::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::log::LogFormat;

#[derive(Clone, Debug, Args)]
pub struct McpArgs {
    /// Folders to search (default: the current folder's project); nothing outside is read
    #[arg(value_name = "ROOT")]
    pub roots: Vec<PathBuf>,
    /// Also search the projects of a group from the settings: `[groups] NAME = ["~/src/a", …]` (repeatable)
    #[arg(long = "group", value_name = "NAME")]
    pub groups: Vec<String>,
    /// Search shards instead of folders: a JSON file with the replicas of each, {"shards": [["HOST:PORT", …], …]},
    /// reread when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["roots", "groups"])]
    pub shards: Option<PathBuf>,
    /// File with the shards' token (default: COLGREP_SHARD_TOKEN)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub shard_token_file: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Folders to serve (default: the current folder's project); nothing outside is read. With --shard, each is a
    /// repository, named after its folder or by NAME=PATH
    #[arg(value_name = "PATH")]
    pub roots: Vec<PathBuf>,
    /// Also serve the projects of a group from the settings: `[groups] NAME = ["~/src/a", …]` (repeatable)
    #[arg(long = "group", value_name = "NAME", help_heading = "Serving")]
    pub groups: Vec<String>,
    /// Serve the repositories as one shard, for coordinators (--shards) only
    #[arg(long, conflicts_with_all = ["shards", "host", "timeout", "at_once"], help_heading = "Serving")]
    pub shard: bool,
    /// File with the repositories of the shard instead, one NAME=PATH a line, reread when it changes: a repository that
    /// moves to another folder is served from the old one until the index of the new one is complete
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "shard", conflicts_with_all = ["roots", "groups"], help_heading = "Serving")]
    pub repositories: Option<PathBuf>,
    /// Search shards instead of folders: a JSON file with the replicas of each, {"shards": [["HOST:PORT", …], …]},
    /// reread when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["roots", "groups"], help_heading = "Serving")]
    pub shards: Option<PathBuf>,
    /// File with the shards' token (default: COLGREP_SHARD_TOKEN)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Serving")]
    pub shard_token_file: Option<PathBuf>,
    /// Require requests to name the repositories that their caller may see (header Colgrep-Repositories)
    #[arg(long, help_heading = "Serving")]
    pub rights: bool,
    /// Address to listen on; port 0 picks a free one, localhost is 127.0.0.1. An address that other machines can reach
    /// needs a token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7345", value_parser = address, help_heading = "Serving")]
    pub listen: SocketAddr,
    /// File with the token that requests must send (Authorization: Bearer TOKEN; default: COLGREP_TOKEN)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Serving")]
    pub token_file: Option<PathBuf>,
    /// Additional host name of this server, such as a proxy's (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Serving")]
    pub host: Vec<String>,
    /// Maximum time per request, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, help_heading = "Serving")]
    pub timeout: u64,
    /// Log to stderr: messages for people, or lines with time and level, also one for each request
    #[arg(long, value_name = "FORMAT", default_value = "plain", help_heading = "Serving")]
    pub log: LogFormat,
    /// Also log the query of each request (--log text or json)
    #[arg(long, help_heading = "Serving")]
    pub log_queries: bool,
    /// Concurrent requests (default: two per thread); 64 more wait, in a queue per caller, others are rejected
    #[arg(long, value_name = "N", help_heading = "Serving")]
    pub at_once: Option<usize>,
}

/// An address to listen on; no name is asked of a server of names.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.split_once(':') {
        Some(("localhost", port)) => format!("127.0.0.1:{port}"),
        _ => text.to_string(),
    };
    numbers.parse().map_err(|_| {
        "it is an address and a port, as 127.0.0.1:7345 (this machine alone), [::1]:7345, or 0.0.0.0:7345 (others too; \
         needs a token)"
            .to_string()
    })
}
