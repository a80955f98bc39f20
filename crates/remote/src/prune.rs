//! Pruning: removing blobs that no manifest names.
//!
//! A push may be about to name a blob that it has just put, or that the manifest before it named. The first is young, and
//! the second is named: what is old and named by nothing is no push's (see `push`).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::bucket::Bucket;
use crate::error::Result;

/// Removes the blobs that the newest manifest does not name and that are older than `age`. Returns how many, and their
/// bytes.
pub(crate) async fn prune(bucket: &Bucket, age: Duration) -> Result<(u64, u64)> {
    // The list comes first: what a push puts after it is not on it.
    let listed = bucket.blobs().await?;
    let newest = bucket.newest().await?;
    let Some(manifest) = newest.manifest else { return Ok((0, 0)) };
    let named = manifest.keys();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs().cast_signed());
    let (mut blobs, mut bytes) = (0, 0);
    for (key, listed) in listed {
        if named.contains_key(key.as_str()) || now - listed.written < age.as_secs().cast_signed() {
            continue;
        }
        bucket.remove(&key).await?;
        blobs += 1;
        bytes += listed.bytes;
    }
    Ok((blobs, bytes))
}
