//! Files that can't match, by their signatures.

use std::collections::HashSet;
use std::ops::Range;

use rayon::prelude::*;
use tantivy::DocId;

use super::fields::{Info, SIGNATURE};
use super::read::{Lexical, SCAN_DOCS};
use crate::error::Result;
use crate::ids::FileId;
use crate::signature::Sought;

impl Lexical {
    /// The files whose signatures say that they hold nothing of what is sought. A file without a signature is not among
    /// them.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn without(&self, sought: &Sought) -> Result<HashSet<FileId>> {
        let mut files = HashSet::new();
        for segment in &self.segments {
            let Some(signatures) = segment.reader.fast_fields().column_opt::<u64>(SIGNATURE)? else { continue };
            let end = segment.reader.max_doc();
            let of_some = |docs: Range<DocId>| {
                let mut bits = Vec::new();
                let mut refused = Vec::new();
                let mut infos = vec![0; docs.len()];
                // Every document has exactly one value.
                segment.info.values.get_range(docs.start.into(), &mut infos);
                for (doc, _) in docs.zip(infos).filter(|(_, info)| Info(*info).is_file()) {
                    bits.clear();
                    bits.extend(signatures.values_for_doc(doc));
                    if !segment.reader.is_deleted(doc) && !sought.may_match(&bits) {
                        refused.push(segment.file(doc));
                    }
                }
                refused
            };
            let parts: Vec<u32> = (0..end).step_by(SCAN_DOCS).collect();
            let of_parts = parts.into_par_iter().map(|from| of_some(from..end.min(from + SCAN_DOCS as DocId)));
            of_parts.collect::<Vec<_>>().into_iter().for_each(|refused| files.extend(refused));
        }
        Ok(files)
    }
}
