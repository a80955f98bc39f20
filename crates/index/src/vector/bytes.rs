//! The bytes of a file that is written once: mapped, and read whole before a search where they are few.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::sync::OnceLock;

use memmap2::Mmap;

/// A file up to this size is read whole: a search reads most of it, and nothing that happens to it then matters.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// The bytes of a file. Only those that are read are fetched from the disk.
#[derive(Debug)]
pub(super) struct Bytes {
    /// In the file.
    map: Mmap,
    file: File,
    /// In memory of our own, once they were secured; none where the file was cut before.
    kept: OnceLock<Option<Vec<u8>>>,
}

impl Bytes {
    /// Those of a file as it is.
    ///
    /// # Errors
    /// When it can't be mapped.
    pub(super) fn of(file: File) -> io::Result<Bytes> {
        // SAFETY: a file is never written again once it is complete, and is removed, not cut, when nothing names it any
        // more. What others do to it is looked for before each search ([`Bytes::secure`]).
        #[expect(unsafe_code, reason = "a memory map")]
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Bytes { map, file, kept: OnceLock::new() })
    }

    /// Whether all of them can be read now. Few bytes are copied by this, and can be read from then on. To read a part
    /// of a mapped file that was cut off ends the process by a signal.
    pub(super) fn secure(&self) -> bool {
        if self.map.len() > KEPT_BYTES_MAX {
            return self.file.metadata().is_ok_and(|m| m.len() >= self.map.len() as u64);
        }
        self.kept.get_or_init(|| self.copy()).is_some()
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
