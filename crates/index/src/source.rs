//! A file of a project, read from disk: as text, or as units.

mod scan;
mod texts;

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use colgrep_syntax::language;
use colgrep_syntax::parse::{Parsed, parse_file_again};
use colgrep_syntax::read::{Skip, decode};
pub(crate) use scan::TextScan;
pub use texts::TextCache;
use xxhash_rust::xxh3::xxh3_128;

use crate::beneath::open_beneath;
use crate::disk::read_open;
use crate::error::{Error, Result};

/// Hash of a file's bytes.
pub fn hash(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// The full path and metadata of a file that the walk saw at `path` below `root`. An error if it, or a folder above it,
/// is a link by now. What is read is opened by [`open_beneath`]: by then the path may lead elsewhere.
fn locate(root: &Path, path: &str) -> io::Result<(PathBuf, Metadata)> {
    let mut full = root.to_path_buf();
    let mut last = None;
    for component in Path::new(path).components() {
        full.push(component);
        let metadata = full.symlink_metadata()?;
        if metadata.is_symlink() {
            return Err(io::Error::other("a link now, which is not followed"));
        }
        last = Some(metadata);
    }
    let metadata = last.map_or_else(|| full.symlink_metadata(), Ok)?;
    Ok((full, metadata))
}

/// The bytes of a file of a project, at most `bytes_max`. It is opened once, beneath the root and through no link.
///
/// # Errors
/// When it can't be read, is no regular file or is reached through a link, and [`io::ErrorKind::FileTooLarge`] if it has
/// more bytes.
pub fn read_file(root: &Path, path: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_open(open_beneath(root, path)?, bytes_max)
}

/// A file of the project as text, read again for output.
///
/// # Errors
/// When it can't be read, is reached through a link, or is no longer text.
pub fn read_text(root: &Path, path: &str) -> Result<String> {
    read_text_within(root, path, u64::MAX)
}

/// The same for at most `bytes_max` bytes.
///
/// # Errors
/// As [`read_text`], and with [`io::ErrorKind::FileTooLarge`] if it has more.
pub fn read_text_within(root: &Path, path: &str, bytes_max: u64) -> Result<String> {
    let full = root.join(path);
    let bytes = read_file(root, path, bytes_max).map_err(|e| Error::io("read", &full, e))?;
    text_of(path, &full, bytes)
}

fn text_of(path: &str, full: &Path, bytes: Vec<u8>) -> Result<String> {
    let no_text = |skip: Skip| Error::NoText { path: full.to_path_buf(), reason: skip.reason() };
    decode(path, bytes).map(|t| t.text).map_err(no_text)
}

/// The units of the file at `path` below `root`, provided its bytes still have the hash `expected`; `note` is what was
/// said of it when it was indexed.
pub(crate) fn read_units(root: &Path, path: &str, expected: u128, note: Option<&str>) -> Option<Parsed> {
    let bytes = read_file(root, path, u64::MAX).ok().filter(|bytes| hash(bytes) == expected)?;
    let language = language::of_file(path, &bytes);
    let text = decode(path, bytes).ok()?;
    Some(parse_file_again(path, &text.text, language, note))
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn what_became_a_link_is_not_followed() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (folder.path().join("root"), folder.path().join("elsewhere"));
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::create_dir_all(&elsewhere).unwrap();
        std::fs::write(root.join("a/b.rs"), "fn b() {}").unwrap();
        std::fs::write(elsewhere.join("b.rs"), "a secret").unwrap();
        assert_eq!(super::read_text(&root, "a/b.rs").unwrap(), "fn b() {}");
        std::fs::remove_file(root.join("a/b.rs")).unwrap();
        symlink(elsewhere.join("b.rs"), root.join("a/b.rs")).unwrap();
        let error = format!("{:?}", super::read_text(&root, "a/b.rs").unwrap_err());
        assert!(error.contains("a link now, which is not followed"), "{error}");
        std::fs::remove_dir_all(root.join("a")).unwrap();
        symlink(&elsewhere, root.join("a")).unwrap();
        assert!(super::read_text(&root, "a/b.rs").is_err());
        std::fs::remove_file(root.join("a")).unwrap();
        symlink("/dev/zero", root.join("a")).unwrap();
        assert!(super::read_text(&root, "a").is_err());
    }
}
