//! A cache of file texts that one search reads more than once, and a server again and again.

use std::fs::Metadata;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
#[cfg(unix)]
use std::time::{Duration, SystemTime};

use lru::LruCache;

use super::{hash, locate, text_of};
use crate::beneath::open_beneath;
use crate::disk::read_open;
use crate::error::{Error, Result};

/// Maximum size of cached texts, in bytes.
const BYTES_MAX: usize = 8 << 20;
/// A file that changed less than this ago is always read again: it may change once more within a tick of the clock that
/// stamps changes, and keep its size.
#[cfg(unix)]
const SETTLED: Duration = Duration::from_secs(2);

/// A cache of file texts, bounded in bytes. A text is reused if the file's identity, size and time of change are
/// unchanged.
#[derive(Debug, Default)]
pub struct TextCache {
    held: Mutex<CachedText>,
    /// The device that only this machine writes to.
    local: OnceLock<u64>,
}

#[derive(Debug)]
struct CachedText {
    texts: LruCache<String, (Stamp, Hashed)>,
    bytes: usize,
}

impl Default for CachedText {
    fn default() -> CachedText {
        CachedText { texts: LruCache::unbounded(), bytes: 0 }
    }
}

/// A text, and the hash of the bytes that it was read from.
type Hashed = (Arc<String>, u128);

/// Identity, size and times of a file, which change with its content.
type Stamp = [u64; 7];

#[cfg(unix)]
fn device(metadata: &Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::dev(metadata))
}

#[cfg(not(unix))]
fn device(_: &Metadata) -> Option<u64> {
    None
}

#[cfg(unix)]
fn stamp(metadata: &Metadata) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt as _;

    let changed = u64::try_from(metadata.mtime().max(metadata.ctime())).ok()?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let is_settled = now > Duration::from_secs(changed) + Duration::from_secs(1) + SETTLED;
    let [mtime, ctime] = [metadata.mtime() as u64, metadata.ctime() as u64];
    let [mtime_ns, ctime_ns] = [metadata.mtime_nsec() as u64, metadata.ctime_nsec() as u64];
    is_settled.then_some([metadata.dev(), metadata.ino(), metadata.size(), mtime, mtime_ns, ctime, ctime_ns])
}

/// On other systems the time of a change is unreliable, since programs may set it back.
#[cfg(not(unix))]
fn stamp(_: &Metadata) -> Option<Stamp> {
    None
}

impl TextCache {
    fn held(&self) -> MutexGuard<'_, CachedText> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Declares that no other machine changes files on the device of a folder, so that their metadata is valid without
    /// opening them.
    pub fn set_local(&self, folder: &Path) {
        if let Some(device) = folder.metadata().ok().as_ref().and_then(device) {
            let _ = self.local.set(device);
        }
    }

    /// As [`read_text`](super::read_text).
    pub fn text(&self, root: &Path, path: &str) -> Result<Arc<String>> {
        self.hashed(root, path).map(|(text, _)| text)
    }

    /// The same with the hash of its bytes, which the index compares with its own.
    pub fn hashed(&self, root: &Path, path: &str) -> Result<(Arc<String>, u128)> {
        let failed = |error| Error::io("read", &root.join(path), error);
        let (full, metadata) = locate(root, path).map_err(failed)?;
        let key = full.to_string_lossy();
        if self.local.get().is_some_and(|local| device(&metadata) == Some(*local))
            && let Some(text) = self.known(&key, stamp(&metadata))
        {
            return Ok(text);
        }
        let opened = open_beneath(root, path).map_err(failed)?;
        let stamp = stamp(&opened.1);
        if let Some(text) = self.known(&key, stamp) {
            return Ok(text);
        }
        let bytes = read_open(opened, u64::MAX).map_err(failed)?;
        let hash = hash(&bytes);
        let text = (Arc::new(text_of(path, &full, bytes)?), hash);
        if let Some(stamp) = stamp {
            self.held().add(key.into_owned(), stamp, &text);
        }
        Ok(text)
    }

    /// The text of a file that is still the same.
    fn known(&self, path: &str, stamp: Option<Stamp>) -> Option<Hashed> {
        let stamp = stamp?;
        let mut held = self.held();
        let (known, text) = held.texts.get(path)?;
        (*known == stamp).then(|| text.clone())
    }
}

impl CachedText {
    /// Adds a text, unless it exceeds the bound by itself.
    fn add(&mut self, key: String, stamp: Stamp, text: &Hashed) {
        let size = |key: &str, text: &str| key.len() + text.len() + size_of::<(String, Stamp, String)>();
        let own = size(&key, &text.0);
        if own > BYTES_MAX {
            return;
        }
        let replaced = self.texts.pop(&key).map_or(0, |(_, old)| size(&key, &old.0));
        self.bytes = self.bytes + own - replaced;
        self.texts.put(key, (stamp, text.clone()));
        while self.bytes > BYTES_MAX
            && let Some((key, (_, oldest))) = self.texts.pop_lru()
        {
            self.bytes -= size(&key, &oldest.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_again_where_its_file_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (texts, file) = (TextCache::default(), folder.path().join("a.rs"));
        let text = || texts.text(folder.path(), "a.rs").map(|text| text.to_string()).ok();
        for content in ["fn a() {}", "fn b() {}", "fn c() {}\n"] {
            std::fs::write(&file, content).expect("a file");
            assert_eq!(text().as_deref(), Some(content));
            assert_eq!(text().as_deref(), Some(content));
        }
        std::fs::remove_file(&file).expect("a file");
        assert_eq!(text(), None);
    }

    #[test]
    fn what_was_not_asked_for_goes_first() {
        let (mut held, text) = (CachedText::default(), (Arc::new("x".repeat(1 << 20)), 0));
        for at in 0..20 {
            held.add(at.to_string(), [at; 7], &text);
            held.add("first".to_string(), [at; 7], &text);
            assert!(held.bytes <= BYTES_MAX && held.texts.contains("first"), "{at}");
        }
        assert!(held.texts.contains("19") && !held.texts.contains("0") && held.texts.len() == 7);
        held.add("large".to_string(), [0; 7], &(Arc::new("x".repeat(BYTES_MAX)), 0));
        assert!(!held.texts.contains("large"), "larger than the bound");
    }
}
