//! Reads many files once, each into the same memory. The cache, which holds fewer bytes than most trees have, is neither
//! asked nor filled.

use std::io::{self, Read as _};
use std::path::Path;

use colgrep_syntax::read::{as_text, decode, is_notebook};

use crate::beneath::TreeFolder;

/// A folder whose files are read for a scan.
#[derive(Debug)]
pub(crate) struct TextScan {
    tree: TreeFolder,
}

impl TextScan {
    /// # Errors
    /// When there is no such folder.
    pub(crate) fn new(root: &Path) -> io::Result<TextScan> {
        Ok(TextScan { tree: TreeFolder::open(root)? })
    }

    /// Reads the file at `path` into `buffer`, and has `look` see its text.
    ///
    /// # Errors
    /// When it can't be read, is reached through a link, or is no text.
    pub(crate) fn look<T>(&self, path: &str, buffer: &mut Vec<u8>, look: impl FnOnce(&str) -> T) -> io::Result<T> {
        let (file, metadata) = self.tree.regular_file(Path::new(path))?;
        let no_text = || io::Error::from(io::ErrorKind::InvalidData);
        buffer.clear();
        buffer.try_reserve(metadata.len() as usize + 1)?;
        // What is appended meanwhile is not read.
        file.take(metadata.len()).read_to_end(buffer)?;
        if is_notebook(path) {
            let text = decode(path, buffer.clone()).map_err(|_| no_text())?;
            return Ok(look(&text.text));
        }
        as_text(buffer).map(|text| look(&text)).ok_or_else(no_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_seen_as_the_text_that_the_cache_has() {
        let folder = tempfile::tempdir().unwrap();
        let utf16 = "caf\u{e9}\n".encode_utf16().flat_map(u16::to_le_bytes);
        let files: [(&str, Vec<u8>); 5] = [
            ("a.txt", b"plain".to_vec()),
            ("latin.txt", b"caf\xe9".to_vec()),
            ("wide.txt", [0xFF, 0xFE].into_iter().chain(utf16).collect()),
            (
                "notes.ipynb",
                br#"{"cells": [{"cell_type": "code", "source": ["x = 1"], "outputs": ["hidden"]}]}"#.to_vec(),
            ),
            ("long.txt", vec![b'x'; 100_000]),
        ];
        let scan = TextScan::new(folder.path()).unwrap();
        let (cache, mut buffer) = (super::super::TextCache::default(), Vec::new());
        for (path, bytes) in &files {
            std::fs::write(folder.path().join(path), bytes).unwrap();
            let cached = cache.text(folder.path(), path).unwrap();
            assert_eq!(scan.look(path, &mut buffer, str::to_string).unwrap(), *cached, "{path}");
        }
        std::fs::write(folder.path().join("image"), [0, 159, 1, 0, 0]).unwrap();
        for path in ["image", "none", ".", "../a.txt"] {
            scan.look(path, &mut buffer, str::len).expect_err(path);
        }
    }
}
