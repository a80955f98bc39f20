//! A file of a project, read from disk: as text, or as units.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, ErrorKind, Result};
use crate::language;
use crate::parse::{Parsed, parse};
use crate::read::decode;

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
    let bytes = std::fs::read(&full).map_err(|e| Error::io("read", &full, &e))?;
    decode(path, bytes)
        .map(|t| t.text)
        .map_err(|skip| Error::new(ErrorKind::Io, format!("{} is {}", full.display(), skip.reason())))
}

/// Parses by `language`, or by another grammar where that row has none; gives the language's name too.
pub(crate) fn parse_as(_path: &str, text: &str, language: &'static language::Language) -> (String, Parsed) {
    #[cfg(feature = "language-pack")]
    if let Some(tail) = language::is_unknown(language).then(|| crate::parse::pack::parse(_path, text)).flatten() {
        return tail;
    }
    (language.name.to_string(), parse(text, language))
}

/// The language of a file, by its path and first bytes.
pub(crate) fn detect(path: &str, bytes: &[u8]) -> &'static language::Language {
    language::detect(Path::new(path), &bytes[..bytes.len().min(64 << 10)])
}

/// The units of the file at `path` below `root`, provided its bytes still have the hash `expected`.
pub(crate) fn read_units(root: &Path, path: &str, expected: u128) -> Option<Parsed> {
    let bytes = std::fs::read(root.join(path)).ok().filter(|bytes| hash(bytes) == expected)?;
    let language = detect(path, &bytes);
    let text = decode(path, bytes).ok()?;
    Some(parse_as(path, &text.text, language).1)
}
