//! A file of a project, read from disk: as text, or as units.

use std::path::Path;

use colgrep_syntax::language;
use colgrep_syntax::parse::{Parsed, parse_file};
use colgrep_syntax::read::decode;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Result};

/// Hash of a file's bytes.
pub fn hash(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// A file of the project, as text, read again for showing it.
///
/// # Errors
/// When it can't be read or holds no text any more.
pub fn read_text(root: &Path, path: &str) -> Result<String> {
    let full = root.join(path);
    let bytes = std::fs::read(&full).map_err(|e| Error::io("read", &full, e))?;
    decode(path, bytes).map(|t| t.text).map_err(|skip| Error::NoText { path: full, reason: skip.reason() })
}

/// The units of the file at `path` below `root`, provided its bytes still have the hash `expected`.
pub(crate) fn read_units(root: &Path, path: &str, expected: u128) -> Option<Parsed> {
    let bytes = std::fs::read(root.join(path)).ok().filter(|bytes| hash(bytes) == expected)?;
    let language = language::of_file(path, &bytes);
    let text = decode(path, bytes).ok()?;
    Some(parse_file(path, &text.text, language).1)
}
