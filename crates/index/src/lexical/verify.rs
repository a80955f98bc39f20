//! Verifies the index on disk.

use std::path::Path;

use super::commit::{is_segment_file, named_files};
use super::read::Lexical;
use super::sealed::Sealed;
use crate::error::{Error, ErrorKind, Result};

impl Lexical {
    /// Reads every file of the newest commit in `folder` and verifies its checksums.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] if one is missing or damaged.
    pub(crate) fn verify(folder: &Path) -> Result<()> {
        Self::damage(folder)?.into_iter().next().map_or(Ok(()), Err)
    }

    /// The damage of the newest commit in `folder`: one error per damaged file.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) fn damage(folder: &Path) -> Result<Vec<Error>> {
        let mut damage = Vec::new();
        // Opening finds missing files; the checksums find damage.
        let named = match Self::open(folder).and_then(|_| named_files(folder)) {
            Ok(named) => named,
            Err(error) if error.kind() == ErrorKind::Unusable => return Ok(vec![error]),
            Err(error) => return Err(error),
        };
        let entries = std::fs::read_dir(folder).map_err(|e| Error::io("read", folder, e))?;
        for name in entries.flatten().filter_map(|e| e.file_name().into_string().ok()) {
            if !is_segment_file(&name) || !named.contains(&name) {
                continue;
            }
            match Sealed::open(&folder.join(&name)).and_then(|file| file.verify()) {
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    damage.push(Error::Damaged { what: "index".into(), source: Some(error.into()) });
                }
                read => read.map_err(|e| Error::io("read", &folder.join(&name), e))?,
            }
        }
        Ok(damage)
    }
}
