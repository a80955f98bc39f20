//! The objects of one repository in a store: its numbered manifests, and its blobs.
//!
//! A manifest is never replaced: the next one has the next number, and is put only if no object has that name, by a
//! conditional put or a hard link. Numbers of removed manifests are free again, so a writer checks that no greater one
//! exists.

use std::collections::HashMap;
use std::time::Duration;

use crate::address::REPOSITORIES;
use crate::error::{Error, Result};
use crate::hash::{Hasher, is_key, of_bytes};
use crate::manifest::{MANIFEST_BYTES_MAX, Manifest, PartRecord};
use crate::shelf::{ObjectDir, ReadExtent};

/// Manifests to keep besides the newest, so that their numbers are not reused soon.
const KEPT_MANIFESTS: usize = 8;
/// How often manifests are listed that are gone when they are read.
const TRIES: u32 = 100;
/// What a manifest's name begins with.
const MANIFEST: &str = "manifest-";
/// Longest readable part of a repository's folder.
const FOLDER_MAX: usize = 80;
/// Digits of a manifest's number.
const NUMBER_DIGITS: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedBlob {
    pub(crate) bytes: u64,
    /// When it was written, in seconds since 1970, by the store's clock.
    pub(crate) written: i64,
}

/// What a store has of a repository.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stock {
    pub(crate) blobs: HashMap<String, ListedBlob>,
    /// When the last object was written, in seconds since 1970: by the store's clock it is later than that.
    pub(crate) latest: i64,
}

impl Stock {
    /// Whether a blob is there with its size.
    pub(crate) fn has(&self, key: &str, bytes: u64) -> bool {
        self.blobs.get(key).is_some_and(|listed| listed.bytes == bytes)
    }
}

/// The newest manifest of a repository.
#[derive(Debug)]
pub(crate) struct Newest {
    /// The greatest number; 0 if there are no manifests.
    pub(crate) number: u64,
    /// The newest manifest that can be read.
    pub(crate) manifest: Option<Manifest>,
    /// What is wrong with newer ones.
    pub(crate) passed: Vec<Error>,
}

/// The folder of one repository in a store.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    all: ObjectDir,
    /// Manifests.
    own: ObjectDir,
    blobs: ObjectDir,
    name: String,
}

/// Whether a push writes files of such a name.
fn is_own(name: &str) -> bool {
    name.starts_with(MANIFEST) || is_key(name)
}

/// The folder of a repository: the readable part of its name, and a unique hash.
fn folder_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let readable: String = name.chars().map(plain).take(FOLDER_MAX).collect();
    format!("{}-{}", readable.trim_start_matches('.'), &of_bytes(name.as_bytes())[..16])
}

impl Bucket {
    /// The folder of the repository `name` in a store.
    pub(crate) fn new(store: &ObjectDir, name: &str) -> Bucket {
        let all = store.below(REPOSITORIES);
        let own = all.below(&folder_of(name));
        Bucket { blobs: own.below("blobs"), own, all, name: name.to_string() }
    }

    /// The repository's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How a blob is called in messages.
    pub(crate) fn place_of(&self, key: &str) -> String {
        self.blobs.place_of(key)
    }

    /// How the folder is called in messages.
    pub(crate) fn place(&self) -> &str {
        self.own.place()
    }

    fn manifest_name(number: u64) -> String {
        format!("{MANIFEST}{number:0NUMBER_DIGITS$}.json")
    }

    /// The number of a manifest's name.
    fn number(name: &str) -> Option<u64> {
        let digits = name.strip_prefix(MANIFEST)?.strip_suffix(".json")?;
        let is_number = digits.len() == NUMBER_DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|number| is_number && *number > 0)
    }

    /// The numbers of the manifests that are there, ascending.
    async fn numbers(&self) -> Result<Vec<u64>> {
        let entries = self.own.list().await?;
        let mut numbers: Vec<u64> = entries.iter().filter_map(|entry| Bucket::number(&entry.name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The newest manifest that can be read; damaged ones are passed over.
    ///
    /// # Errors
    /// Where all are damaged, one can't be read, it is of a newer layout, or others are always faster.
    pub(crate) async fn newest(&self) -> Result<Newest> {
        'anew: for _ in 0..TRIES {
            let numbers = self.numbers().await?;
            let last = numbers.last().copied().unwrap_or(0);
            let mut passed = Vec::new();
            for number in numbers.into_iter().rev() {
                match self.manifest(number).await {
                    Ok(Some(manifest)) => return Ok(Newest { number: last, manifest: Some(manifest), passed }),
                    // Newer ones came, and this one was removed.
                    Ok(None) => continue 'anew,
                    Err(error @ Error::DamagedManifest { .. }) => passed.push(error),
                    Err(error) => return Err(error),
                }
            }
            return match passed.into_iter().next() {
                Some(error) => Err(error),
                None => Ok(Newest { number: 0, manifest: None, passed: Vec::new() }),
            };
        }
        Err(Error::Races { place: self.place().to_string() })
    }

    /// The number of the newest manifest alone, where none can be read.
    pub(crate) async fn unreadable(&self) -> Result<Newest> {
        let number = self.numbers().await?.last().copied().unwrap_or(0);
        Ok(Newest { number, manifest: None, passed: Vec::new() })
    }

    /// The manifest with a number; none where it is gone.
    async fn manifest(&self, number: u64) -> Result<Option<Manifest>> {
        let name = Bucket::manifest_name(number);
        let place = self.own.place_of(&name);
        let mut bytes = Vec::new();
        let add = |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        let why = match self.own.read(&name, MANIFEST_BYTES_MAX, add).await {
            Err(Error::Gone { .. }) => return Ok(None),
            Err(error) => return Err(error),
            Ok(ReadExtent::Whole) => {
                let manifest = Manifest::read(&bytes, &place)?;
                if manifest.repository != self.name {
                    return Err(Error::OtherRepository { place, found: manifest.repository });
                }
                return Ok(Some(manifest));
            }
            Ok(ReadExtent::Longer) => format!("it is larger than {} MiB", MANIFEST_BYTES_MAX >> 20),
            Ok(ReadExtent::NoFile) => "it is not a regular file".to_string(),
        };
        Err(Error::DamagedManifest { place, why })
    }

    /// Moves the manifest on from `number`. Returns false where another one did that first.
    ///
    /// # Errors
    /// Where the store does not take it.
    pub(crate) async fn advance(&self, number: u64, manifest: &Manifest) -> Result<bool> {
        let next = Bucket::manifest_name(number + 1);
        if Bucket::number(&next).is_none() {
            let place = self.own.place_of(&Bucket::manifest_name(number));
            return Err(Error::DamagedManifest { place, why: "no number is greater; remove it".to_string() });
        }
        if !self.own.create(&next, manifest.sealed()).await? {
            return Ok(false);
        }
        Ok(self.numbers().await?.last() == Some(&(number + 1)))
    }

    /// Removes manifests far older than the newest. What can't be removed stays.
    pub(crate) async fn trim(&self) -> Result<()> {
        let numbers = self.numbers().await?;
        for number in numbers.iter().rev().skip(KEPT_MANIFESTS) {
            let _ = self.own.remove(&Bucket::manifest_name(*number)).await;
        }
        Ok(())
    }

    /// The blobs that are there.
    ///
    /// # Errors
    /// Where they can't be listed.
    pub(crate) async fn stock(&self) -> Result<Stock> {
        let (blobs, manifests) = (self.blobs.list().await?, self.own.list().await?);
        let manifests = manifests.iter().filter(|entry| Bucket::number(&entry.name).is_some());
        // What does not look like a blob is somebody else's.
        let blobs = || blobs.iter().filter(|entry| entry.is_file && is_key(&entry.name));
        let latest = manifests.chain(blobs()).map(|entry| entry.written).max().unwrap_or(0);
        let listed =
            |e: &crate::shelf::ListedObject| (e.name.clone(), ListedBlob { bytes: e.bytes, written: e.written });
        Ok(Stock { blobs: blobs().map(listed).collect(), latest })
    }

    /// Puts a blob of one piece.
    ///
    /// # Errors
    /// Where the store does not take it.
    pub(crate) async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        self.blobs.put(key, bytes).await
    }

    /// Puts a blob of many pieces, which `next` gives, each of the same size but the last.
    ///
    /// # Errors
    /// Where the store does not take it, and the errors of `next`.
    pub(crate) async fn put_pieces(
        &self,
        key: &str,
        next: impl FnMut() -> Result<Option<Vec<u8>>> + Send,
    ) -> Result<()> {
        self.blobs.put_pieces(key, next).await
    }

    /// Gives the pieces of a part's blob to `take`; returns what is wrong with it, if anything.
    pub(crate) async fn get_part(
        &self,
        part: &PartRecord,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<Option<&'static str>> {
        let (mut hasher, mut got) = (Hasher::new(), 0);
        let hashed = |bytes: &[u8]| {
            got += bytes.len() as u64;
            hasher.add(bytes);
            take(bytes)
        };
        let extent = self.get(part.key(), part.bytes, hashed).await?;
        Ok(match extent {
            ReadExtent::Longer => Some("it is longer than it should be"),
            ReadExtent::NoFile => Some("it is not a regular file"),
            ReadExtent::Whole if got < part.bytes => Some("it is cut"),
            ReadExtent::Whole if hasher.finish() != part.sha256 => Some("its SHA-256 is another"),
            ReadExtent::Whole => None,
        })
    }

    /// Checks the blobs of parts that a push relies upon, where reading them costs no transfer.
    ///
    /// # Errors
    /// [`Error::DamagedBlob`], and where one can't be read.
    pub(crate) async fn check(&self, parts: impl Iterator<Item = &PartRecord>) -> Result<()> {
        // A store in the network checks what it has by itself.
        for part in parts.filter(|_| self.blobs.is_on_disk()) {
            if let Some(why) = self.get_part(part, |_| Ok(())).await? {
                let place = self.place_of(part.key());
                return Err(Error::DamagedBlob { place, why: why.to_string(), tries: 1 });
            }
        }
        Ok(())
    }

    /// Gives the pieces of a blob to `take`, of `bytes` bytes at most.
    ///
    /// # Errors
    /// Where it can't be read, and those of `take`.
    pub(crate) async fn get(&self, key: &str, bytes: u64, take: impl FnMut(&[u8]) -> Result<()>) -> Result<ReadExtent> {
        self.blobs.read(key, bytes, take).await
    }

    /// Prepares the folder for a push, and marks it as not source in case it is inside a project.
    ///
    /// # Errors
    /// Where it can't be written.
    pub(crate) fn begin(&self) -> Result<()> {
        self.own.keep_out()
    }

    /// Refuses folders of this machine that are links, before anything is removed.
    ///
    /// # Errors
    /// Where one is.
    pub(crate) fn check_own(&self) -> Result<()> {
        [&self.all, &self.own, &self.blobs].into_iter().try_for_each(ObjectDir::check_own)
    }

    /// Removes what stopped pushes left half written; see [`Shelf::clear_unfinished`].
    pub(crate) fn clear_unfinished(&self, age: Duration) -> (u64, u64) {
        let (manifests, blobs) = (self.own.clear_unfinished(age, is_own), self.blobs.clear_unfinished(age, is_own));
        let ((files, bytes), (more, of_more)) = (manifests, blobs);
        (files + more, bytes + of_more)
    }

    /// Removes a blob; one that is gone is no error.
    pub(crate) async fn remove(&self, key: &str) -> Result<()> {
        self.blobs.remove(key).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use object_store::memory::InMemory;
    use object_store::path::Path;

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
        let bucket = Bucket::new(&ObjectDir::new(Arc::new(InMemory::new()), Path::default(), None, "memory"), "h/n");
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
