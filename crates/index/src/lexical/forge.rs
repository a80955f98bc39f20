//! Files with right checksums and any content: what tests and torture put in the place of files from elsewhere.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use tantivy::HasLen as _;
use tantivy::directory::{FileHandle as _, TerminatingWrite as _};

use super::commit;
use super::sealed::{Sealed, SealedWriter};
use crate::disk::Disk;

/// The content of a file of a segment.
///
/// # Errors
/// If it can't be read or is damaged.
pub fn unsealed(path: &Path) -> io::Result<Vec<u8>> {
    let sealed = Sealed::open(path)?;
    Ok(sealed.read_bytes(0..sealed.len())?.to_vec())
}

/// Replaces a file of a segment by one with this content and its checksums.
pub fn seal(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::remove_file(path)?;
    let mut writer = SealedWriter::new(Disk::default().create_new(path)?, path);
    writer.write_all(content)?;
    writer.terminate()
}

/// The content of a commit point, without its checksum.
pub fn unsealed_point(bytes: &[u8]) -> Option<&[u8]> {
    commit::unseal(bytes)
}

/// A commit point with this content and its checksum.
pub fn sealed_point(content: &[u8]) -> Vec<u8> {
    commit::seal(content)
}
