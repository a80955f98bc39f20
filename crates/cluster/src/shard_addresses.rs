//! The file that names the shards: `{"shards": [["127.0.0.1:4001", "127.0.0.1:4002"], …]}`, for each shard the
//! addresses of its replicas. It is read again when it changes.

use std::path::Path;

use colgrep_index::disk::read_regular;
use serde::Deserialize;

use crate::error::{Error, Result};

/// Maximum size of the file in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of shards, and of replicas of a shard.
const SHARDS_MAX: usize = 1_024;
const REPLICAS_MAX: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ShardAddresses {
    /// For each shard, the addresses of its replicas: host and port.
    pub shards: Vec<Vec<String>>,
}

impl ShardAddresses {
    /// Reads a file.
    ///
    /// # Errors
    /// When it can't be read, or names no shards.
    pub fn read(path: &Path) -> Result<ShardAddresses> {
        let bytes =
            read_regular(path, FILE_BYTES_MAX).map_err(|source| Error::File { path: path.to_path_buf(), source })?;
        ShardAddresses::parse(&bytes).map_err(|why| Error::NoShards { path: path.to_path_buf(), why })
    }

    fn parse(bytes: &[u8]) -> Result<ShardAddresses, String> {
        let places: ShardAddresses = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if places.shards.is_empty() {
            return Err("there is none".into());
        }
        // A shard may temporarily have no replica.
        if places.shards.iter().all(Vec::is_empty) {
            return Err("none has a replica".into());
        }
        if places.shards.len() > SHARDS_MAX {
            return Err(format!("{} are more than {SHARDS_MAX}", places.shards.len()));
        }
        for (at, replicas) in places.shards.iter().enumerate() {
            if replicas.len() > REPLICAS_MAX {
                return Err(format!("shard {} has {} replicas; {REPLICAS_MAX} may be", at + 1, replicas.len()));
            }
            let is_address = |address: &&String| {
                address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
            };
            if let Some(other) = replicas.iter().find(|address| !is_address(address)) {
                return Err(format!("{other:?} is not an address with a port"));
            }
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_lists_of_addresses() {
        let places = ShardAddresses::parse(br#"{"shards": [["127.0.0.1:4001", "[::1]:4002"], []]}"#).expect("shards");
        assert_eq!(places.shards, [vec!["127.0.0.1:4001".to_string(), "[::1]:4002".into()], vec![]]);
        for (text, why) in [
            ("{}", "missing field"),
            (r#"{"shards": []}"#, "there is none"),
            (r#"{"shards": [[]]}"#, "none has a replica"),
            (r#"{"shards": [[], []]}"#, "none has a replica"),
            (r#"{"shards": [["localhost"]]}"#, "is not an address"),
            (r#"{"shards": [[":80"]]}"#, "is not an address"),
            (r#"{"shards": ["a:1"]}"#, "invalid type"),
            ("{\"shards\": [[\"a:1\"]", "EOF"),
        ] {
            let said = ShardAddresses::parse(text.as_bytes()).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
