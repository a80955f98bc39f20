//! The flags of the servers.

use core::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

/// `mcp`.
#[derive(Clone, Debug, Args)]
pub struct McpArgs {
    /// Folders that the server answers about (default: the project around the current folder); nothing outside is read
    #[arg(value_name = "ROOT")]
    pub roots: Vec<PathBuf>,
    /// Answer about the projects of a group of the settings too, together with the roots given: `[groups] NAME = ["~/src/a",
    /// …]`; may come several times
    #[arg(long = "group", value_name = "NAME")]
    pub groups: Vec<String>,
    /// Answer over shards instead of folders: a JSON file with the replicas of each, {"shards": [["HOST:PORT", …], …]}, read
    /// again when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["roots", "groups"])]
    pub shards: Option<PathBuf>,
    /// A file with the token of the shards; else COLGREP_SHARD_TOKEN holds it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub shard_token_file: Option<PathBuf>,
}

/// `serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Folders that are served (default: the project around the current folder); nothing outside is read. With --shard a
    /// repository each, by its folder's name, or as NAME=PATH
    #[arg(value_name = "PATH")]
    pub roots: Vec<PathBuf>,
    /// Serve the projects of a group of the settings too, together with the paths given: `[groups] NAME = ["~/src/a", …]`;
    /// may come several times
    #[arg(long = "group", value_name = "NAME", help_heading = "Serving")]
    pub groups: Vec<String>,
    /// Serve the repositories as one shard: coordinators ask it (--shards), people and programs do not
    #[arg(long, conflicts_with_all = ["shards", "host", "timeout", "at_once"], help_heading = "Serving")]
    pub shard: bool,
    /// Answer over shards instead of folders: a JSON file with the replicas of each, {"shards": [["HOST:PORT", …], …]}, read
    /// again when it changes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["roots", "groups"], help_heading = "Serving")]
    pub shards: Option<PathBuf>,
    /// A file with the token of the shards; else COLGREP_SHARD_TOKEN holds it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Serving")]
    pub shard_token_file: Option<PathBuf>,
    /// Refuse requests that do not say which repositories their caller may see (header Colgrep-Repositories)
    #[arg(long, help_heading = "Serving")]
    pub rights: bool,
    /// Where to listen; port 0 takes a free one, localhost is 127.0.0.1. An address that other machines can reach needs a
    /// token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7345", value_parser = address, help_heading = "Serving")]
    pub listen: SocketAddr,
    /// A file with the token that requests have to bring (Authorization: Bearer TOKEN); else COLGREP_TOKEN holds it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Serving")]
    pub token_file: Option<PathBuf>,
    /// A name of this server beside localhost and its addresses, as a proxy in front has; can be repeated
    #[arg(long, value_name = "NAME", help_heading = "Serving")]
    pub host: Vec<String>,
    /// Seconds that a request may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30, help_heading = "Serving")]
    pub timeout: u64,
    /// Requests that are worked on at once (default: two a thread); 64 more wait, others are sent away
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
