//! The objects of one repository in a store: its numbered manifests, and its blobs.
//!
//! A manifest is never replaced: the next one has the next number, and is put only if no object has that name. Every kind
//! of store can do that, a folder by a hard link. The greatest number counts. A number that is free again since old
//! manifests were removed is below the greatest, so whoever puts one looks whether a greater one is there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};

use crate::error::{Error, Result};
use crate::hash::{is_hash, of_bytes};
use crate::manifest::Manifest;

/// Largest manifest that is read, in bytes.
const MANIFEST_BYTES_MAX: u64 = 32 << 20;
/// Manifests that stay behind the newest, so that a number is not free again soon.
const KEPT_MANIFESTS: usize = 8;
/// Longest readable part of a repository's folder.
const FOLDER_MAX: usize = 80;

/// A blob as the store lists it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    /// Its size.
    pub(crate) bytes: u64,
    /// When it was written, in seconds since 1970, by the store's clock.
    pub(crate) written: i64,
}

/// The newest manifest of a repository.
#[derive(Clone, Debug)]
pub(crate) struct Newest {
    /// Its number; 0 where there is none.
    pub(crate) number: u64,
    /// What it says; none where there is none.
    pub(crate) manifest: Option<Manifest>,
}

/// The folder of one repository in a store.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    store: Arc<dyn ObjectStore>,
    folder: Path,
    /// How it is called in messages.
    place: String,
}

/// The folder of a repository: what can be read of its name, and a hash that tells it from others.
fn folder_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let readable: String = name.chars().map(plain).take(FOLDER_MAX).collect();
    format!("{}-{}", readable.trim_start_matches('.'), &of_bytes(name.as_bytes())[..16])
}

impl Bucket {
    /// The folder of the repository `name` below `root` of a store that is called `place`.
    pub(crate) fn new(store: Arc<dyn ObjectStore>, root: &Path, place: &str, name: &str) -> Bucket {
        let folder = folder_of(name);
        let place = format!("{}/repositories/{folder}", place.trim_end_matches('/'));
        Bucket { store, folder: root.clone().join("repositories").join(folder), place }
    }

    /// How an object is called in messages.
    pub(crate) fn place_of(&self, object: &str) -> String {
        format!("{}/{object}", self.place)
    }

    /// How the folder is called in messages.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    fn manifest_name(number: u64) -> String {
        format!("manifest-{number:016}.json")
    }

    /// The numbers of the manifests that are there, ascending.
    async fn numbers(&self) -> Result<Vec<u64>> {
        let listed = self.store.list_with_delimiter(Some(&self.folder)).await;
        let objects = match listed {
            Err(StoreError::NotFound { .. }) => return Ok(Vec::new()),
            listed => listed.map_err(|e| Error::store("list", self.place.clone(), e))?.objects,
        };
        let number = |path: &Path| {
            let name = path.filename()?.strip_prefix("manifest-")?.strip_suffix(".json")?;
            name.parse::<u64>().ok().filter(|number| Bucket::manifest_name(*number) == path.filename().unwrap_or(""))
        };
        let mut numbers: Vec<u64> = objects.iter().filter_map(|object| number(&object.location)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The newest manifest.
    ///
    /// # Errors
    /// Where it can't be read, is damaged, or of a newer layout.
    pub(crate) async fn newest(&self) -> Result<Newest> {
        loop {
            let Some(number) = self.numbers().await?.last().copied() else {
                return Ok(Newest { number: 0, manifest: None });
            };
            match self.manifest(number).await? {
                Some(manifest) => return Ok(Newest { number, manifest: Some(manifest) }),
                // Newer ones came, and this one was removed.
                None => continue,
            }
        }
    }

    /// The number of the newest manifest alone, where that can't be read.
    pub(crate) async fn unreadable(&self) -> Result<Newest> {
        Ok(Newest { number: self.numbers().await?.last().copied().unwrap_or(0), manifest: None })
    }

    /// The manifest with a number; none where it is gone.
    async fn manifest(&self, number: u64) -> Result<Option<Manifest>> {
        let name = Bucket::manifest_name(number);
        let place = self.place_of(&name);
        let got = match self.store.get(&self.folder.clone().join(name)).await {
            Err(StoreError::NotFound { .. }) => return Ok(None),
            got => got.map_err(|e| Error::store("read", place.clone(), e))?,
        };
        let mut stream = got.into_stream();
        let mut bytes = Vec::new();
        while let Some(piece) = stream.next().await {
            bytes.extend_from_slice(&piece.map_err(|e| Error::store("read", place.clone(), e))?);
            if bytes.len() as u64 > MANIFEST_BYTES_MAX {
                let why = format!("it is larger than {} MiB", MANIFEST_BYTES_MAX >> 20);
                return Err(Error::DamagedManifest { place, why });
            }
        }
        Manifest::read(&bytes, &place).map(Some)
    }

    /// Whether the newest manifest still has this number.
    pub(crate) async fn is_newest(&self, number: u64) -> Result<bool> {
        Ok(self.numbers().await?.last().copied().unwrap_or(0) == number)
    }

    /// Moves the manifest on from `number`. Returns false where another one did that first.
    ///
    /// # Errors
    /// Where the store does not take it.
    pub(crate) async fn advance(&self, number: u64, manifest: &Manifest) -> Result<bool> {
        let name = Bucket::manifest_name(number + 1);
        let place = self.place_of(&name);
        let payload = PutPayload::from(manifest.sealed());
        let create = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&self.folder.clone().join(name), payload, create).await {
            Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => return Ok(false),
            put => put.map_err(|e| Error::store("write", place, e))?,
        };
        self.is_newest(number + 1).await
    }

    /// Removes manifests that are far behind the newest. What can't be removed stays.
    pub(crate) async fn trim(&self) -> Result<()> {
        let numbers = self.numbers().await?;
        for number in numbers.iter().rev().skip(KEPT_MANIFESTS) {
            let _ = self.store.delete(&self.folder.clone().join(Bucket::manifest_name(*number))).await;
        }
        Ok(())
    }

    fn blobs_folder(&self) -> Path {
        self.folder.clone().join("blobs")
    }

    fn blob(&self, key: &str) -> (Path, String) {
        (self.blobs_folder().join(key), self.place_of(&format!("blobs/{key}")))
    }

    /// The blobs that are there, by name.
    ///
    /// # Errors
    /// Where they can't be listed.
    pub(crate) async fn blobs(&self) -> Result<HashMap<String, Listed>> {
        let folder = self.blobs_folder();
        let listed = self.store.list(Some(&folder)).map_ok(|object| {
            let listed = Listed { bytes: object.size, written: object.last_modified.timestamp() };
            let name = object.location.filename()?;
            // What does not look like a blob, or lies deeper, is somebody else's.
            let hash = name.split('-').next().unwrap_or_default();
            (is_hash(hash) && object.location == folder.clone().join(name)).then(|| (name.to_string(), listed))
        });
        match listed.try_collect::<Vec<_>>().await {
            Err(StoreError::NotFound { .. }) => Ok(HashMap::new()),
            listed => {
                let listed = listed.map_err(|e| Error::store("list", self.place_of("blobs"), e))?;
                Ok(listed.into_iter().flatten().collect())
            }
        }
    }

    /// Puts a blob of one piece.
    ///
    /// # Errors
    /// Where the store does not take it.
    pub(crate) async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let (path, place) = self.blob(key);
        self.store.put(&path, bytes.into()).await.map_err(|e| Error::store("write", place, e))?;
        Ok(())
    }

    /// Puts a blob of many pieces, which `next` gives, each of the same size but the last.
    ///
    /// # Errors
    /// Where the store does not take it, and those of `next`.
    pub(crate) async fn put_pieces(
        &self,
        key: &str,
        mut next: impl FnMut() -> Result<Option<Vec<u8>>> + Send,
    ) -> Result<()> {
        let (path, place) = self.blob(key);
        let refused = |e| Error::store("write", place.clone(), e);
        let mut upload = self.store.put_multipart(&path).await.map_err(refused)?;
        let sent = async {
            while let Some(piece) = next()? {
                upload.put_part(piece.into()).await.map_err(refused)?;
            }
            upload.complete().await.map_err(refused).map(drop)
        };
        let sent = sent.await;
        if sent.is_err() {
            let _ = upload.abort().await;
        }
        sent
    }

    /// Gives the pieces of a blob to `take`.
    ///
    /// # Errors
    /// Where it can't be read, and those of `take`.
    pub(crate) async fn get(&self, key: &str, mut take: impl FnMut(&[u8]) -> Result<()> + Send) -> Result<()> {
        let (path, place) = self.blob(key);
        let refused = |e| Error::store("read", place.clone(), e);
        let mut stream = self.store.get(&path).await.map_err(refused)?.into_stream();
        while let Some(piece) = stream.next().await {
            take(&piece.map_err(refused)?)?;
        }
        Ok(())
    }

    /// Removes what stopped pushes left half written in a folder, if it is older than `age`; how many files. Stores show
    /// no such objects, and remove them themselves or not at all.
    pub(crate) fn clear_unfinished(&self, root: &std::path::Path, age: Duration) -> u64 {
        let folder = root.join(self.folder.as_ref());
        let is_left = |path: &std::path::Path| {
            let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('#'));
            let is_unfinished = name.is_some_and(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            let written = std::fs::symlink_metadata(path).ok().and_then(|m| m.modified().ok());
            is_unfinished && written.and_then(|at| at.elapsed().ok()).is_some_and(|old| old >= age)
        };
        let folders = [folder.join("blobs"), folder];
        let entries = folders.iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| is_left(path) && std::fs::remove_file(path).is_ok()).count() as u64
    }

    /// Removes a blob; one that is gone is no error.
    ///
    /// # Errors
    /// Where the store refuses.
    pub(crate) async fn remove(&self, key: &str) -> Result<()> {
        let (path, place) = self.blob(key);
        match self.store.delete(&path).await {
            Err(StoreError::NotFound { .. }) => Ok(()),
            removed => removed.map_err(|e| Error::store("remove", place, e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    #[test]
    fn folders_can_be_read_and_are_told_apart() {
        let folder = folder_of("github.com/owner/name");
        assert!(folder.starts_with("github.com_owner_name-") && !folder.contains('/'), "{folder}");
        assert_ne!(folder_of("a/b"), folder_of("a_b"));
        assert!(!folder_of("../..").starts_with('.'));
    }

    #[tokio::test]
    async fn of_all_who_move_on_from_one_manifest_one_does() {
        let bucket = Bucket::new(Arc::new(InMemory::new()), &Path::default(), "memory", "h/n");
        assert_eq!(bucket.newest().await.expect("empty").number, 0);
        let manifest = Manifest::new("h/n");
        for number in 0..30 {
            let tries = (0..3).map(|_| bucket.advance(number, &manifest));
            let won: Vec<bool> = futures_util::future::try_join_all(tries).await.expect("taken");
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
            bucket.trim().await.expect("trimmed");
        }
        assert_eq!(bucket.newest().await.expect("there").number, 30);
        // A number that is free again wins nothing.
        assert!(bucket.manifest(3).await.expect("gone").is_none());
        assert!(!bucket.advance(2, &manifest).await.expect("taken"));
        assert_eq!(bucket.newest().await.expect("there").number, 30);
    }
}
