//! The bytes of a file that is written once: read whole where they are few, else mapped.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Deref;

use memmap2::Mmap;

/// A file up to this size is read whole: a search reads most of it, and nothing that happens to it then matters.
const KEPT_BYTES_MAX: u64 = 4 << 20;

/// Where a file's bytes are.
#[derive(Debug)]
pub(super) enum Bytes {
    /// In memory of our own.
    Kept(Vec<u8>),
    /// In the file.
    Mapped(Mmap, File),
}

impl Bytes {
    /// Those of a file as it is.
    ///
    /// # Errors
    /// When it can't be read.
    pub(super) fn of(mut file: File) -> io::Result<Bytes> {
        let size = file.metadata()?.len();
        if size <= KEPT_BYTES_MAX {
            let mut bytes = Vec::with_capacity(size as usize);
            file.read_to_end(&mut bytes)?;
            return Ok(Bytes::Kept(bytes));
        }
        // SAFETY: a file is never written again once it is complete, and is removed, not cut, when nothing names it any
        // more. What others do to it is looked for before each search ([`Bytes::is_whole`]).
        #[expect(unsafe_code, reason = "a memory map")]
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Bytes::Mapped(map, file))
    }

    /// Whether all of them can still be read. To read a part of a mapped file that was cut off ends the process by a
    /// signal.
    pub(super) fn is_whole(&self) -> bool {
        match self {
            Bytes::Kept(_) => true,
            Bytes::Mapped(map, file) => file.metadata().is_ok_and(|m| m.len() >= map.len() as u64),
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Kept(bytes) => bytes,
            Bytes::Mapped(map, _) => map,
        }
    }
}
