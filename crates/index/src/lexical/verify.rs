//! Whether the index on disk is what was written.

use std::path::Path;

use tantivy::Index;
use tantivy::directory::MmapDirectory;

use super::directory::ReadDirectory;
use super::read::Lexical;
use crate::error::{Error, ErrorKind, Result};

impl Lexical {
    /// Reads every file of the newest commit in `folder` and checks its sum.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] where one is missing or damaged.
    pub(crate) fn verify(folder: &Path) -> Result<()> {
        let directory = ReadDirectory(MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?);
        let damaged = Index::open(directory)?.validate_checksum()?;
        match damaged.iter().next() {
            Some(file) => Err(Error::new(ErrorKind::Unusable, format!("index: {} is damaged", file.display()))),
            None => Ok(()),
        }
    }
}
