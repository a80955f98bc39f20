//! A token in a file.

use std::path::Path;

use anyhow::{Context as _, Result};
use colgrep_index::disk::read_regular;

/// The largest file of a token, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 10;

/// The untrimmed token in a file.
///
/// # Errors
/// When the file can't be read, is too large, or is not text.
pub fn token_in(path: &Path) -> Result<String> {
    let bytes = read_regular(path, FILE_BYTES_MAX)
        .with_context(|| format!("the token could not be read from {}", path.display()))?;
    String::from_utf8(bytes).ok().with_context(|| format!("{} holds no token in plain text", path.display()))
}
