//! Verifies the index on disk.

use std::path::Path;

use rayon::prelude::*;
use tantivy::postings::Postings as _;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, TERMINATED};

use super::commit::{is_segment_file, named_files};
use super::read::{Lexical, LexicalSegment, key};
use super::sealed::Sealed;
use crate::error::{Error, ErrorKind, Result, caught};
use crate::ids::FileId;

/// Maximum number of times that a term occurs in one document. No file has as many words.
const FREQUENCY_MAX: u32 = 1 << 26;

impl Lexical {
    /// Reads every file of the newest commit in `folder` and verifies its checksums.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] if one is missing or damaged.
    pub(crate) fn verify(folder: &Path) -> Result<()> {
        Self::damage(folder)?.into_iter().next().map_or(Ok(()), Err)
    }

    /// The damage of the newest commit in `folder`: one error per damaged file.
    pub(crate) fn damage(folder: &Path) -> Result<Vec<Error>> {
        let mut damage = Vec::new();
        // Opening finds missing files; the checksums find damage.
        let named = match caught(|| Self::open(folder)).flatten().and_then(|_| named_files(folder)) {
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

    /// Reads everything that searches read: terms, postings, positions, facts, stored documents. Checksums prove that
    /// files are as they were written; this finds content that no writer of ours writes. Panics where a reader does, so
    /// callers run it in [`caught`](crate::update::caught). `has_file` says whether the table has a file.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] if something makes no sense.
    pub(crate) fn read_through(&self, has_file: impl Fn(FileId) -> bool + Sync) -> Result<()> {
        let schema = self.searcher.schema();
        let fields =
            schema.fields().filter_map(|(field, entry)| Some((field, entry.field_type().get_index_record_option()?)));
        let fields: Vec<(Field, IndexRecordOption)> = fields.collect();
        for (s, segment) in self.segments.iter().enumerate() {
            fields.par_iter().try_for_each(|(field, option)| segment.read_terms(*field, *option))?;
            self.read_documents(s, segment, &has_file)?;
        }
        Ok(())
    }

    fn read_documents(&self, s: usize, segment: &LexicalSegment, has_file: &impl Fn(FileId) -> bool) -> Result<()> {
        if !segment.covers_all_documents() {
            return Err(Error::damaged("a column of the index has another number of documents"));
        }
        for doc in segment.reader.doc_ids_alive() {
            let key = key(s, doc);
            if segment.info(doc).is_file() {
                self.kept_imports(key)?;
            } else if has_file(segment.file(doc)) {
                self.unit(key)?;
            } else {
                return Err(Error::damaged("a unit of the index is of no file"));
            }
        }
        Ok(())
    }
}

impl LexicalSegment {
    fn read_terms(&self, field: Field, option: IndexRecordOption) -> Result<()> {
        let index = self.reader.inverted_index(field)?;
        let mut terms = index.terms().stream().map_err(tantivy::TantivyError::from)?;
        let (mut positions, mut left) = (Vec::new(), index.terms().num_terms());
        while terms.advance() {
            // A forged dictionary may have more paths than terms, without end.
            left = left.checked_sub(1).ok_or_else(|| Error::damaged("a dictionary of the index has too many terms"))?;
            let postings = index.read_postings_from_terminfo(terms.value(), option);
            let mut postings = postings.map_err(tantivy::TantivyError::from)?;
            let mut next = 0;
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                if doc < next || doc >= self.reader.max_doc() || postings.term_freq() > FREQUENCY_MAX {
                    return Err(Error::damaged("a list of the index names documents that it can't have"));
                }
                if option.has_positions() {
                    postings.positions(&mut positions);
                }
                next = doc + 1;
                postings.advance();
            }
        }
        Ok(())
    }
}
