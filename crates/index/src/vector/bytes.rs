//! The bytes of a file that is written once: memory-mapped, and copied into memory before a search if the file is small
//! or a server keeps it open.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use memmap2::Mmap;

#[cfg(target_os = "linux")]
use super::cut_maps::MapGuard;

/// Files up to this size are copied: a search reads most of such a file anyway, and is then safe from changes of the
/// file.
const KEPT_BYTES_MAX: usize = 4 << 20;
/// A server copies files up to this size once they have been open for this long: it runs for hours, in which others may
/// truncate the file, and the pages would end up in memory anyway.
const SERVED_BYTES_MAX: usize = 64 << 20;
const SERVED_AFTER: Duration = Duration::from_secs(2);

/// The bytes of a file, fetched from the disk page by page on access.
#[derive(Debug)]
pub(super) struct Bytes {
    /// Guards the map, and is dropped before it.
    #[cfg(target_os = "linux")]
    guard: MapGuard,
    /// The mapped file.
    map: Mmap,
    file: File,
    /// Time of the last write when the file was opened. It must not change: the file is written once.
    written: Option<SystemTime>,
    opened: Instant,
    /// The copy in memory, once [`Bytes::secure`] made it; an inner `None` if the file had been truncated by then.
    kept: OnceLock<Option<Vec<u8>>>,
}

impl Bytes {
    /// Maps a file at its current length.
    ///
    /// # Errors
    /// When it can't be mapped.
    pub(super) fn of(file: File) -> io::Result<Bytes> {
        // SAFETY: the index never writes to a complete file, and removes it instead of truncating it when it is unused.
        // Changes by others are detected before each search ([`Bytes::secure`]).
        #[expect(unsafe_code, reason = "a memory map")]
        let map = unsafe { Mmap::map(&file) }?;
        let written = file.metadata()?.modified().ok();
        Ok(Bytes {
            #[cfg(target_os = "linux")]
            guard: MapGuard::of(&map),
            map,
            file,
            written,
            opened: Instant::now(),
            kept: OnceLock::new(),
        })
    }

    /// Whether the file was cut while it was read from the map, so that some of the bytes read were not from the file.
    pub(super) fn is_cut(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.kept.get().is_none() && self.guard.is_cut();
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Whether the file still has the length and the modification time that it had when it was opened. Copies a small
    /// file, and a larger one in a server, for later reads. Reading a truncated part of a mapped file would kill the
    /// process with a signal.
    pub(super) fn secure(&self) -> bool {
        self.secured(self.opened.elapsed() > SERVED_AFTER)
    }

    fn secured(&self, is_served: bool) -> bool {
        if let Some(kept) = self.kept.get() {
            return kept.is_some();
        }
        if self.is_cut() {
            return false;
        }
        let is_as_it_was = |m: std::fs::Metadata| m.len() == self.map.len() as u64 && m.modified().ok() == self.written;
        if !self.file.metadata().is_ok_and(is_as_it_was) {
            return false;
        }
        let most = if is_served { SERVED_BYTES_MAX } else { KEPT_BYTES_MAX };
        self.map.len() > most || self.kept.get_or_init(|| self.copy()).is_some()
    }

    fn copy(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.map.len());
        (&self.file).take(self.map.len() as u64).read_to_end(&mut bytes).ok()?;
        (bytes.len() == self.map.len()).then_some(bytes)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.kept.get().and_then(Option::as_deref).unwrap_or(&self.map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(path: &std::path::Path, content: &[u8]) -> Bytes {
        std::fs::write(path, content).expect("written");
        Bytes::of(File::open(path).expect("a file")).expect("a map")
    }

    #[test]
    fn a_server_reads_what_may_be_cut_under_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, content) = (folder.path().join("a"), vec![7; KEPT_BYTES_MAX + 1]);
        let bytes = mapped(&path, &content);
        assert!(bytes.secured(false) && bytes.kept.get().is_none(), "one search reads what it needs");
        assert!(bytes.secured(true));
        File::options().write(true).open(&path).and_then(|file| file.set_len(9)).expect("cut");
        assert!(bytes.secured(true) && bytes[..] == content[..]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_cut_while_it_is_mapped_is_damage_and_no_signal() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let bytes = mapped(&path, &vec![7; KEPT_BYTES_MAX + 1]);
        assert!(bytes.secured(false) && !bytes.is_cut());
        File::options().write(true).open(&path).and_then(|file| file.set_len(9)).expect("cut");
        assert_eq!(bytes.iter().filter(|byte| **byte == 7).count(), 9, "the rest reads as zeros");
        assert!(bytes.is_cut() && !bytes.secured(false));
        // Another map may take the same addresses.
        drop(bytes);
        assert!(!mapped(&path, &vec![7; KEPT_BYTES_MAX + 1]).is_cut());
    }

    #[test]
    fn a_file_that_was_written_again_is_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let bytes = mapped(&path, &vec![7; KEPT_BYTES_MAX + 1]);
        let file = File::options().write(true).open(&path).expect("a file");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("a time");
        assert!(!bytes.secured(false) && !bytes.secured(true));
    }
}
