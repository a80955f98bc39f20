//! Finds files with consecutive terms, by their positions.

use colgrep_core::UnitId;
use colgrep_core::bm25::Field as UnitField;
use colgrep_core::token::{Tokenizer, is_stop_word};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, TERMINATED, Term};

use super::read::{Lexical, LexicalSegment, key};
use crate::error::Result;
use crate::ids::FileId;

/// Maximum of terms of a text that are looked up: more do not make it more certain.
const TERMS_MAX: usize = 24;

/// Terms with their distances from the first.
pub type Run = Vec<(String, u32)>;

/// The terms of a text in the order typed, without stop words, which have no positions in an index.
pub fn run_of(text: &str, tokenizer: &mut Tokenizer) -> Run {
    let mut run = Run::new();
    let mut first = None;
    tokenizer.tokenize(text, |token| {
        if !token.compound && !is_stop_word(token.term) && run.len() < TERMS_MAX {
            let first = *first.get_or_insert(token.position);
            run.push((token.term.to_string(), (token.position - first) as u32));
        }
    });
    run
}

impl Lexical {
    /// The files with a unit where the terms of a run occur at their distances, whatever the punctuation between them;
    /// ascending.
    pub fn files_with_run(&self, run: &[(String, u32)]) -> Result<Vec<FileId>> {
        let mut files: Vec<FileId> = self.units_with_run(run)?.into_iter().map(|(_, file)| file).collect();
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }

    /// The units with such a run, ascending, each with its file.
    pub(super) fn units_with_run(&self, run: &[(String, u32)]) -> Result<Vec<(UnitId, FileId)>> {
        let mut units = Vec::new();
        let fields = UnitField::ALL.iter().zip(self.fields.unit);
        for (_, field) in fields.filter(|(of, _)| matches!(of, UnitField::Doc | UnitField::Body)) {
            for (s, segment) in self.segments.iter().enumerate() {
                each_with_run(segment, field, run, |doc| units.push((key(s, doc), segment.file(doc))))?;
            }
        }
        units.sort_unstable();
        units.dedup();
        Ok(units)
    }
}

/// Calls `visit` for every live document with the run.
fn each_with_run(
    segment: &LexicalSegment,
    field: Field,
    run: &[(String, u32)],
    mut visit: impl FnMut(DocId),
) -> Result<()> {
    let mut lists: Vec<(SegmentPostings, u32)> = Vec::with_capacity(run.len());
    for (term, distance) in run {
        let term = Term::from_field_text(field, term);
        let Some(list) = segment.postings(&term, IndexRecordOption::WithFreqsAndPositions)? else { return Ok(()) };
        lists.push((list, *distance));
    }
    // The rarest term leads.
    lists.sort_by_key(|(list, _)| list.doc_freq());
    let Some(((lead, lead_distance), others)) = lists.split_first_mut() else { return Ok(()) };
    let (mut starts, mut positions) = (Vec::new(), Vec::new());
    'documents: while lead.doc() != TERMINATED {
        let doc = lead.doc();
        for (list, _) in others.iter_mut() {
            if list.doc() < doc {
                list.seek(doc);
            }
            if list.doc() > doc {
                match list.doc() {
                    TERMINATED => return Ok(()),
                    next => lead.seek(next),
                };
                continue 'documents;
            }
        }
        if !segment.reader.is_deleted(doc) {
            lead.positions(&mut starts);
            starts.retain(|position| *position >= *lead_distance);
            starts.iter_mut().for_each(|position| *position -= *lead_distance);
            for (list, distance) in others.iter_mut() {
                list.positions(&mut positions);
                starts.retain(|start| positions.binary_search(&(start + *distance)).is_ok());
            }
            if !starts.is_empty() {
                visit(doc);
            }
        }
        lead.advance();
    }
    Ok(())
}
