//! Pruning: removing blobs that no manifest names.
//!
//! A push may be about to name a blob that it has just put, or that the manifest before it named. The first is young,
//! and the second is named, so no push needs what is old and unnamed (see `push`).

use std::time::{Duration, SystemTime};

use crate::bucket::Bucket;
use crate::error::Result;
use crate::shelf::since_1970;

/// Removes the blobs that the newest manifest does not name and that are older than `age`. Returns how many, and their
/// bytes.
pub(crate) async fn prune(bucket: &Bucket, age: Duration) -> Result<(u64, u64)> {
    bucket.check_own()?;
    // The list comes first: what a push puts after it is not on it.
    let stock = bucket.stock().await?;
    let newest = bucket.newest().await?;
    let Some(manifest) = newest.manifest else { return Ok((0, 0)) };
    let named = manifest.keys();
    let now = since_1970(SystemTime::now());
    // A clock of this machine that is ahead would make everything old. The store's is later than its last object.
    let now = now.min(stock.latest);
    let (mut blobs, mut bytes) = bucket.clear_unfinished(age);
    for (key, listed) in stock.blobs {
        if named.contains(key.as_str()) || now - listed.written < age.as_secs().cast_signed() {
            continue;
        }
        bucket.remove(&key).await?;
        blobs += 1;
        bytes += listed.bytes;
    }
    Ok((blobs, bytes))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use object_store::local::LocalFileSystem;
    use object_store::path::Path as ObjectPath;

    use super::*;
    use crate::hash::of_bytes;
    use crate::manifest::Manifest;
    use crate::shelf::ObjectDir;

    const DAY: Duration = Duration::from_secs(86_400);

    fn bucket(folder: &Path) -> Bucket {
        let root = ObjectPath::from_absolute_path(folder).expect("a path");
        let place = folder.display().to_string();
        Bucket::new(&ObjectDir::new(Arc::new(LocalFileSystem::new()), root, Some(folder.to_path_buf()), &place), "h/n")
    }

    fn old(path: PathBuf, age: Duration) -> PathBuf {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, b"x").expect("a file");
        let file = File::options().write(true).open(&path).expect("a file");
        file.set_modified(SystemTime::now() - age).expect("a time");
        path
    }

    #[tokio::test]
    async fn what_pushes_left_goes_and_what_is_others_stays() {
        // Names that are encoded differently in an object's path.
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("its path").join("a b#c%");
        let bucket = bucket(&folder);
        bucket.begin().expect("a folder");
        assert!(bucket.advance(0, &Manifest::new("h/n")).await.expect("put"));
        let own = PathBuf::from(bucket.place());
        let hash = of_bytes(b"x");
        let goes = [
            format!("blobs/{hash}"),
            format!("blobs/{hash}-1f"),
            format!("blobs/{hash}-1f#1"),
            "manifest-0000000000000001.json#7".into(),
        ];
        let stays = [
            "blobs/README".to_string(),
            "blobs/thesis#1".to_string(),
            format!("blobs/{hash}.txt"),
            format!("blobs/inner/{hash}"),
            ".gitignore".into(),
        ];
        let goes = goes.map(|name| old(own.join(name), 3 * DAY));
        let stays = stays.map(|name| old(own.join(name), 3 * DAY));
        let young = old(own.join(format!("blobs/{}", of_bytes(b"y"))), DAY / 2);
        assert_eq!(prune(&bucket, 2 * DAY).await.expect("pruned"), (4, 4));
        assert!(goes.iter().all(|path| !path.exists()) && stays.iter().all(|path| path.exists()) && young.exists());
    }

    #[tokio::test]
    async fn a_clock_that_is_ahead_makes_nothing_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("its path");
        let bucket = bucket(&folder);
        assert!(bucket.advance(0, &Manifest::new("h/n")).await.expect("put"));
        // Seen from a machine whose clock is nine days ahead, all was written nine days ago.
        let own = PathBuf::from(bucket.place());
        let blob = old(own.join("blobs").join(of_bytes(b"x")), 9 * DAY);
        let manifest = File::options().write(true).open(own.join("manifest-0000000000000001.json")).expect("a file");
        manifest.set_modified(SystemTime::now() - 9 * DAY).expect("a time");
        assert_eq!(prune(&bucket, DAY).await.expect("pruned"), (0, 0));
        assert!(blob.exists());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn nothing_is_removed_through_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("its path");
        let bucket = bucket(&folder.join("share"));
        assert!(bucket.advance(0, &Manifest::new("h/n")).await.expect("put"));
        let victim = old(folder.join("victim").join(of_bytes(b"x")), 9 * DAY);
        std::os::unix::fs::symlink(folder.join("victim"), PathBuf::from(bucket.place()).join("blobs")).expect("a link");
        let refused = prune(&bucket, DAY).await.expect_err("a link");
        assert!(matches!(refused, crate::error::Error::Link { .. }) && victim.exists(), "{refused}");
    }
}
