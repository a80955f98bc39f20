//! Files that can't match, by their signatures.

use std::ops::Range;

use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use tantivy::DocId;

use super::fields::{Info, SIGNATURE};
use super::read::{Lexical, SCAN_DOCS};
use crate::error::Result;
use crate::signature::Sought;

impl Lexical {
    /// The numbers of the files whose signatures say that they hold nothing of what is sought. A file without a signature is
    /// not among them.
    ///
    /// # Errors
    /// When the index can't be read.
    pub fn without(&self, sought: &Sought) -> Result<FixedBitSet> {
        let mut files = FixedBitSet::new();
        for segment in &self.segments {
            let Some(signatures) = segment.reader.fast_fields().column_opt::<u64>(SIGNATURE)? else { continue };
            let end = segment.reader.max_doc();
            let of_some = |docs: Range<DocId>| {
                let mut refused = Vec::new();
                let mut infos = vec![0; docs.len()];
                // Every document has exactly one value.
                segment.info.values.get_range(docs.start.into(), &mut infos);
                for (doc, _) in docs.zip(infos).filter(|(_, info)| Info(*info).is_file()) {
                    let rows = signatures.index.value_row_ids(doc);
                    let word = |at: usize| signatures.values.get_val(rows.start + at as u32);
                    if !segment.reader.is_deleted(doc) && !sought.may_match_by(rows.len(), word) {
                        refused.push(segment.file(doc).0 as usize);
                    }
                }
                refused
            };
            let parts: Vec<u32> = (0..end).step_by(SCAN_DOCS).collect();
            let of_parts = parts.into_par_iter().map(|from| of_some(from..end.min(from + SCAN_DOCS as DocId)));
            for file in of_parts.collect::<Vec<_>>().concat() {
                files.grow_and_insert(file);
            }
        }
        Ok(files)
    }
}
