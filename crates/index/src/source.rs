//! A file of a project, read from disk: as text, or as units.

use std::path::Path;

use colgrep_syntax::language;
use colgrep_syntax::parse::{Parsed, parse_file};
use colgrep_syntax::read::decode;
use xxhash_rust::xxh3::xxh3_128;

use crate::disk::read_regular;
use crate::error::{Error, Result};

/// Hash of a file's bytes.
pub fn hash(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// The bytes of a file that the walk saw at `path` below `root`. Meanwhile it, or a folder above it, may be a link that
/// leads elsewhere, or be a file that never ends: these are not read.
fn read(root: &Path, path: &str) -> std::io::Result<Vec<u8>> {
    let mut full = root.to_path_buf();
    for component in Path::new(path).components() {
        full.push(component);
        if full.is_symlink() {
            return Err(std::io::Error::other("a link now, which is not followed"));
        }
    }
    read_regular(&full, u64::MAX)
}

/// A file of the project, as text, read again for showing it.
///
/// # Errors
/// When it can't be read, is reached through a link, or holds no text any more.
pub fn read_text(root: &Path, path: &str) -> Result<String> {
    read_hashed(root, path).map(|(text, _)| text)
}

/// The same with the hash of its bytes, by which an index knows whether it is the text that it holds.
///
/// # Errors
/// As [`read_text`].
pub fn read_hashed(root: &Path, path: &str) -> Result<(String, u128)> {
    let full = root.join(path);
    let bytes = read(root, path).map_err(|e| Error::io("read", &full, e))?;
    let hash = hash(&bytes);
    let text = decode(path, bytes).map(|t| t.text);
    text.map(|text| (text, hash)).map_err(|skip| Error::NoText { path: full, reason: skip.reason() })
}

/// The units of the file at `path` below `root`, provided its bytes still have the hash `expected`.
pub(crate) fn read_units(root: &Path, path: &str, expected: u128) -> Option<Parsed> {
    let bytes = read(root, path).ok().filter(|bytes| hash(bytes) == expected)?;
    let language = language::of_file(path, &bytes);
    let text = decode(path, bytes).ok()?;
    Some(parse_file(path, &text.text, language).1)
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
